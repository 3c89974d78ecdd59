/*
 * Special tokens: names in the text that become their token before any pattern or merge sees them.
 *
 * Control tokens are looked for with TOKENIZE_SPECIAL, user-defined ones always. The longest name
 * is taken first over the whole text, then the next in what is left: the order of llama.cpp
 * (tokenizer_st_partition() in src/llama-vocab.cpp), of names of one length the lower id first.
 */
#ifndef NEEDLEGRID_SPECIAL_IMPL_H
#define NEEDLEGRID_SPECIAL_IMPL_H

#include "vocab_impl.h"

struct special {
    struct str text; /* borrowed from the vocabulary */
    token_id id;
    bool always; /* user-defined: looked for in plain text too */
};

struct specials {
    struct special *list; /* [n], in the order they are taken */
    size_t n;
    const struct special **by_text; /* [n], into list, in the order of their bytes */
    bool starts[2][256];            /* [mode][byte]: some name looked for starts with the byte */
};

/* text[from..to), which is the token `id`, or ordinary text if id is TOKEN_NONE. */
struct fragment {
    size_t from;
    size_t to;
    token_id id;
};

struct fragments {
    struct fragment *list; /* owned: fragments_release() */
    size_t n;
    size_t cap;
};

/* The vocabulary stays in place while the specials are used. */
NG_MUST_USE enum status specials_init(struct specials *s, const struct vocab *v, struct error *e);
void specials_release(struct specials *s);

/* Cuts the text into fragments that together are all of it, none of them empty. */
NG_MUST_USE enum status specials_split(const struct specials *s, const char *text, size_t n,
                                       enum tokenize mode, struct fragments *out, struct error *e);
void fragments_release(struct fragments *f);

#endif
