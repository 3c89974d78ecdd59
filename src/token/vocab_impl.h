/*
 * The vocabulary: for each id its type and the bytes it stands for.
 *
 * Files write a byte-level token with one printable character for each byte (a space is "Ġ"), as
 * GPT-2 began it: https://github.com/openai/gpt-2/blob/master/src/encoder.py.
 */
#ifndef NEEDLEGRID_VOCAB_IMPL_H
#define NEEDLEGRID_VOCAB_IMPL_H

#include "needlegrid/tokenizer.h"

/* As in `tokenizer.ggml.token_type`. */
enum token_type {
    TOKEN_UNDEFINED = 0,
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN = 2,
    TOKEN_CONTROL = 3,
    TOKEN_USER_DEFINED = 4,
    TOKEN_UNUSED = 5,
    TOKEN_BYTE = 6,
};

struct vocab {
    size_t n;
    struct str *bytes; /* [n], into arena */
    uint8_t *types;    /* [n], enum token_type */
    bool *is_word;     /* [n]: written byte-level, so that ordinary text can become it */
    char *arena;
};

/* `texts` are the tokens as the file writes them, [n]; copied. */
NG_MUST_USE enum status vocab_init(struct vocab *v, const struct str *texts, const uint8_t *types,
                                   size_t n, struct error *e);
void vocab_release(struct vocab *v);

/* The character that stands for a byte, as UTF-8; returns its length. */
size_t vocab_write_byte(unsigned char byte, char out[4]);

#endif
