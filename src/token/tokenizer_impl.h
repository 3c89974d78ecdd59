/*
 * The tokenizer's parts. load.c reads them from a file, tokenizer.c encodes and decodes with them.
 */
#ifndef NEEDLEGRID_TOKENIZER_IMPL_H
#define NEEDLEGRID_TOKENIZER_IMPL_H

#include "bpe_impl.h"
#include "pretokenize_impl.h"
#include "special_impl.h"
#include "strmap_impl.h"
#include "vocab_impl.h"

#include "needlegrid/hash.h"

struct tokenizer {
    struct vocab vocab;
    struct specials specials;
    struct bpe bpe;
    struct pretokenizer pre;
    struct strmap words; /* whole pre-tokens, filled only if pre.ignore_merges */
    token_id bos;        /* TOKEN_NONE if the file names none */
    token_id eos;
    bool wants_bos;
    bool *is_end; /* [vocab.n] */
    char hash[HASH_HEX_SIZE];
};

#endif
