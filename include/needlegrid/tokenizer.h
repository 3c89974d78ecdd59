/*
 * Text to token ids and back.
 *
 * A tokenizer is loaded from a GGUF file (its weights are not touched), which may be closed
 * afterwards. From then on it is read-only: several threads may share one. Encoding adds no BOS or
 * EOS: whoever builds a prompt places them, once. Decoding is exact: the bytes of the ids one after
 * the other, with no space added or cleaned away.
 *
 *     struct tokenizer *t;
 *     if (tokenizer_from_gguf(&t, g, e) != OK) ...
 *     struct tokens ids = {0};
 *     if (tokenizer_encode(t, text, strlen(text), TOKENIZE_PLAIN, &ids, e) != OK) ...
 *     tokens_release(&ids);
 *     tokenizer_free(t);
 *
 * Supported: `tokenizer.ggml.model` = gpt2 (byte-level BPE) with `tokenizer.ggml.pre` = gpt-2,
 * llama-bpe or qwen2; any other is refused by name. Merges whose parts or result are not in the
 * vocabulary are passed over, as files with a cut vocabulary need it. Text is not normalised.
 */
#ifndef NEEDLEGRID_TOKENIZER_H
#define NEEDLEGRID_TOKENIZER_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"
#include "needlegrid/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t token_id;

#define TOKEN_NONE ((token_id)-1)

struct tokens {
    token_id *ids; /* owned: tokens_release() */
    size_t n;
    size_t cap;
};

void tokens_release(struct tokens *t);
NG_MUST_USE enum status tokens_append(struct tokens *t, const token_id *ids, size_t n,
                                      struct error *e);

enum tokenize {
    TOKENIZE_PLAIN,   /* names of control tokens in the text are ordinary text */
    TOKENIZE_SPECIAL, /* they become their token */
};

struct tokenizer;

NG_MUST_USE enum status tokenizer_from_gguf(struct tokenizer **out, const struct gguf *g,
                                            struct error *e);
void tokenizer_free(struct tokenizer *t);

/*
 * Appends the ids of the text, which must be valid UTF-8 (an error names the offset of the first
 * byte that is not). Tokens of the type "user defined" are matched in both modes. After an error
 * `out` holds what it held before.
 */
NG_MUST_USE enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n,
                                         enum tokenize mode, struct tokens *out, struct error *e);

/* Appends the bytes that the ids stand for; an id out of range is an error. */
NG_MUST_USE enum status tokenizer_decode(const struct tokenizer *t, const token_id *ids, size_t n,
                                         struct buf *out, struct error *e);

/* The bytes of one token; borrowed until tokenizer_free(). {NULL, 0} if id is out of range. */
struct str tokenizer_bytes(const struct tokenizer *t, token_id id);

size_t tokenizer_size(const struct tokenizer *t);  /* ids are 0 .. size-1 */
token_id tokenizer_bos(const struct tokenizer *t); /* TOKEN_NONE if the file names none */
token_id tokenizer_eos(const struct tokenizer *t);
/*
 * True if a prompt for this model starts with BOS: `tokenizer.ggml.add_bos_token`, or where that is
 * missing true for llama-bpe alone. Never true if the file names no BOS.
 */
bool tokenizer_wants_bos(const struct tokenizer *t);
/*
 * True for tokens that end a generation: EOS, `tokenizer.ggml.eot_token_id`, and control tokens
 * named <|im_end|>, <|eot_id|>, <|end|>, <|endoftext|> or </s>.
 */
bool tokenizer_is_end(const struct tokenizer *t, token_id id);

/*
 * SHA-256, in hex, over everything that affects the ids: vocabulary, types, merges, pre-tokenizer.
 * BOS and EOS do not: a base model and its chat model often differ in these alone. Borrowed until
 * tokenizer_free().
 */
const char *tokenizer_hash(const struct tokenizer *t);

#endif
