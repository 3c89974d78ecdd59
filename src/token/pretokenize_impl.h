/*
 * Cutting text into pre-tokens: the pieces over whose borders no merge goes.
 *
 * Which pattern a vocabulary was made with, the file says by name (`tokenizer.ggml.pre`).
 */
#ifndef NEEDLEGRID_PRETOKENIZE_IMPL_H
#define NEEDLEGRID_PRETOKENIZE_IMPL_H

#include "needlegrid/gguf.h"
#include "needlegrid/regex.h"

struct pretokenizer {
    const char *name;    /* static */
    bool ignore_merges;  /* a pre-token that is in the vocabulary is taken without merging */
    bool adds_bos;       /* where the file does not say */
    struct regex *regex; /* owned */
};

/* ERR_UNSUPPORTED, with the names there are, for any other. */
NG_MUST_USE enum status pretokenizer_init(struct pretokenizer *p, struct str name, struct error *e);
void pretokenizer_release(struct pretokenizer *p);

/* The end of the pre-token that starts at `start`; start < n, text as for regex_search(). */
NG_MUST_USE enum status pretokenizer_next(const struct pretokenizer *p, const char *text, size_t n,
                                          size_t start, size_t *end, struct error *e);

#endif
