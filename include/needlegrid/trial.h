/*
 * Trials: from a specification to the token ids of a prompt.
 *
 * A prompt is [BOS] haystack-before needle haystack-after question answer-prefix, joined as token
 * ids and never encoded again as a whole. Its length is a budget that includes everything:
 * prompt_tokens + max_tokens <= context_length, and at most one haystack sentence less. A sentence
 * longer than TRIAL_SNAP_TOKENS is cut where the budget ends, between two characters.
 *
 * The prompt ends where the answer's first token begins: it is the longest common prefix of the
 * ids of "question answer_prefix" and of "question answer_prefix value", so that tokenizers which
 * join a space to a digit get the prompt they were trained on.
 *
 *     struct trial_builder *b;
 *     if (trial_builder_new(&b, template, haystack_tokens, tokenizer, e) != OK) ...
 *     struct trial t = {0};
 *     if (trial_build(b, &spec, &t, e) != OK) ...
 *     trial_release(&t);
 */
#ifndef NEEDLEGRID_TRIAL_H
#define NEEDLEGRID_TRIAL_H

#include "needlegrid/error.h"
#include "needlegrid/haystack.h"
#include "needlegrid/template.h"
#include "needlegrid/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TRIAL_REVISION = 1,      /* goes up whenever the same inputs would give another prompt */
    TRIAL_SNAP_TOKENS = 512, /* how far a sentence's end is looked for */
    TRIAL_MIN_HAYSTACK = 4,  /* tokens: those of one character, at most */
};

struct trial_spec {
    size_t context_length; /* tokens, everything included */
    double depth;          /* percent of the haystack's tokens before the needle, 0 to 100 */
    uint64_t sample;
    uint64_t seed;
};

struct trial {
    struct trial_spec spec;
    struct needle needle;
    struct tokens prompt;   /* owned */
    struct tokens answer;   /* owned: the expected answer's ids, as they follow the prompt */
    size_t max_tokens;      /* the generation reserve */
    size_t haystack_tokens; /* tokens of haystack in the prompt */
    size_t needle_at;       /* index of the needle's first token in the prompt */
    size_t needle_tokens;   /* how many tokens the needle has */
    size_t question_at;     /* index of the question's first token in the prompt */
    double actual_depth;    /* percent */
};

struct trial_builder;

/*
 * Borrows all three until freed. Keys that stand in the haystack's text as words are not drawn; it
 * is an error if all do.
 */
NG_MUST_USE enum status trial_builder_new(struct trial_builder **out,
                                          const struct prompt_template *tpl,
                                          struct haystack_tokens *haystack,
                                          const struct tokenizer *tokenizer, struct error *e);
void trial_builder_free(struct trial_builder *b);

/* Appends the keys that are not drawn, with commas, and returns how many there are. */
size_t trial_skipped_keys(const struct trial_builder *b, struct buf *names);

/*
 * The context length that a prompt of any key needs, TRIAL_MIN_HAYSTACK included: below it, some
 * samples do not fit. Each key is measured with a few values; a tokenizer that joins digits can
 * still need a token or two more for another value, and trial_build() then says so.
 */
NG_MUST_USE enum status trial_minimum_length(struct trial_builder *b, size_t *out, struct error *e);

/*
 * Builds one trial into *out, which is zeroed or was built before (its memory is used again; on
 * failure it is released). Too short a context length is ERR_USAGE and names the minimum. What
 * makes the answer ambiguous is an error too: the value stands in the haystack or twice in needle
 * and question, or BOS stands in the text.
 */
NG_MUST_USE enum status trial_build(struct trial_builder *b, const struct trial_spec *spec,
                                    struct trial *out, struct error *e);
void trial_release(struct trial *t);

/*
 * Appends a bounded excerpt of the prompt's text: the start, the needle and the question, each with
 * about `around` bytes of what stands beside it, with " [...] " where something was left out.
 * Valid UTF-8 if the prompt's text is.
 */
NG_MUST_USE enum status trial_excerpt(const struct trial *t, const struct tokenizer *tokenizer,
                                      size_t around, struct buf *out, struct error *e);

#endif
