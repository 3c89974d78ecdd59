/*
 * Byte-pair merging: from the bytes of one pre-token to token ids.
 *
 * Always the pair of neighbours whose merge has the lowest rank is merged, the leftmost of equal
 * ones first, until no neighbours have a merge (Sennrich, Haddow, Birch 2016,
 * https://arxiv.org/abs/1508.07909). All on ids: a table keyed by pairs of ids gives rank and
 * result, a heap gives the next merge, so n bytes take O(n log n).
 */
#ifndef NEEDLEGRID_BPE_IMPL_H
#define NEEDLEGRID_BPE_IMPL_H

#include "needlegrid/tokenizer.h"

struct bpe_merge {
    token_id left; /* TOKEN_NONE in an empty slot */
    token_id right;
    token_id result;
    uint32_t rank;
};

struct bpe {
    token_id byte_ids[256];   /* TOKEN_NONE where the vocabulary has no such token */
    struct bpe_merge *merges; /* [mask + 1], a power of two, never more than half full */
    size_t mask;
};

/* Working memory of one encoding, reused from one pre-token to the next. All zero at first. */
struct bpe_scratch {
    struct bpe_symbol *symbols;
    size_t symbols_cap;
    struct bpe_candidate *heap;
    size_t heap_cap;
    size_t heap_n;
};

void bpe_scratch_release(struct bpe_scratch *s);

/* Room for `max` merges; the caller fills byte_ids. */
NG_MUST_USE enum status bpe_init(struct bpe *b, size_t max, struct error *e);
void bpe_release(struct bpe *b);
/* Of two merges of the same pair the first one added stays. */
void bpe_add(struct bpe *b, token_id left, token_id right, token_id result, uint32_t rank);

/* Appends the ids of one pre-token. */
NG_MUST_USE enum status bpe_encode(const struct bpe *b, struct bpe_scratch *s, struct str word,
                                   struct tokens *out, struct error *e);

#endif
