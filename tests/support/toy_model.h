/*
 * Small random llama models as GGUF files, for what the shipped models do not have: shared key
 * heads, an output matrix of their own, 16-bit weights, linear rope scaling, scales with a bias.
 */
#ifndef NEEDLEGRID_TEST_TOY_MODEL_H
#define NEEDLEGRID_TEST_TOY_MODEL_H

#include "gguf_build.h"

#include <stdbool.h>
#include <stdint.h>

struct toy {
    uint32_t n_layer, dim, n_ff, n_head, n_kv_head, n_vocab; /* head dimension: dim / n_head */
    uint32_t n_rot;                                          /* 0 = the whole head */
    uint32_t type;           /* of the matrices: TENSOR_F32, F16 or BF16 */
    bool untied;             /* an output.weight */
    const char *rule;        /* llama.attention.rule, or NULL for no key */
    bool scale, bias;        /* tensors attn_ssmax_scale, attn_ssmax_bias */
    float rope_factor;       /* 0 = no scaling keys */
    uint32_t context_length; /* 0 = no key */
    float eps;               /* 0 = 1e-5 */
};

/* 2 layers of 4 heads of 8, 2 key heads, 50 tokens, F32, tied, softmax. */
extern const struct toy toy_default;

/* Keys and tensors into b (initialised); more may be added before it is written. */
void toy_build(struct gguf_build *b, const struct toy *t);
void toy_write(const struct toy *t, const char *path);

#endif
