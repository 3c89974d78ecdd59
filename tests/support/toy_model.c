#include "toy_model.h"

#include "needlegrid/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct toy toy_default = {
    .n_layer = 2,
    .dim = 32,
    .n_ff = 40,
    .n_head = 4,
    .n_kv_head = 2,
    .n_vocab = 50,
    .type = TENSOR_F32,
    .context_length = 64,
};

struct maker {
    struct gguf_build *b;
    struct rng rng;
    uint32_t type;
};

/* A float's upper half: bfloat16 by truncation. */
static uint16_t to_bf16(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return (uint16_t)(u >> 16);
}

/* Truncation to half precision; for magnitudes that are normal there, zero below. */
static uint16_t to_f16(float f)
{
    uint32_t u;
    int exponent;

    memcpy(&u, &f, sizeof(u));
    exponent = (int)(u >> 23 & 0xff) - 112;
    if (exponent <= 0)
        return (uint16_t)(u >> 16 & 0x8000);
    return (uint16_t)((u >> 16 & 0x8000) | (uint32_t)exponent << 10 | (u >> 13 & 0x3ff));
}

static void add(struct maker *m, const char *name, uint32_t type, uint64_t cols, uint64_t rows,
                double mean, double spread)
{
    uint64_t dims[2] = {cols, rows};
    size_t n = (size_t)(cols * rows);
    float *f = calloc(n, sizeof(*f));
    uint16_t *h = calloc(n, sizeof(*h));

    if (!f || !h)
        abort();
    for (size_t i = 0; i < n; i++) {
        f[i] = (float)(mean + spread * (2 * rng_double(&m->rng) - 1));
        h[i] = type == TENSOR_F16 ? to_f16(f[i]) : to_bf16(f[i]);
    }
    if (type == TENSOR_F32)
        gguf_build_tensor(m->b, name, type, rows > 1 ? 2 : 1, dims, f, n * sizeof(*f));
    else
        gguf_build_tensor(m->b, name, type, rows > 1 ? 2 : 1, dims, h, n * sizeof(*h));
    free(f);
    free(h);
}

static void add_matrix(struct maker *m, uint32_t layer, const char *what, uint64_t n_in,
                       uint64_t n_out)
{
    char name[64];

    snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, what);
    add(m, name, m->type, n_in, n_out, 0, 0.4);
}

static void add_vector(struct maker *m, uint32_t layer, const char *what, uint64_t n, double mean)
{
    char name[64];

    snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, what);
    add(m, name, TENSOR_F32, n, 1, mean, 0.3);
}

static void add_layer(struct maker *m, const struct toy *t, uint32_t i)
{
    uint64_t kv = t->dim / t->n_head * t->n_kv_head;

    add_vector(m, i, "attn_norm", t->dim, 1);
    add_matrix(m, i, "attn_q", t->dim, t->dim);
    add_matrix(m, i, "attn_k", t->dim, kv);
    add_matrix(m, i, "attn_v", t->dim, kv);
    add_matrix(m, i, "attn_output", t->dim, t->dim);
    add_vector(m, i, "ffn_norm", t->dim, 1);
    add_matrix(m, i, "ffn_gate", t->dim, t->n_ff);
    add_matrix(m, i, "ffn_up", t->dim, t->n_ff);
    add_matrix(m, i, "ffn_down", t->n_ff, t->dim);
    if (t->scale)
        add_vector(m, i, "attn_ssmax_scale", t->n_head, 0.4);
    if (t->bias)
        add_vector(m, i, "attn_ssmax_bias", t->n_head, 0.2);
}

static void add_keys(struct gguf_build *b, const struct toy *t)
{
    gguf_build_string(b, "general.architecture", "llama");
    gguf_build_uint(b, "llama.block_count", GGUF_U32, t->n_layer);
    gguf_build_uint(b, "llama.embedding_length", GGUF_U32, t->dim);
    gguf_build_uint(b, "llama.feed_forward_length", GGUF_U32, t->n_ff);
    gguf_build_uint(b, "llama.attention.head_count", GGUF_U32, t->n_head);
    gguf_build_uint(b, "llama.attention.head_count_kv", GGUF_U32, t->n_kv_head);
    gguf_build_uint(b, "llama.rope.dimension_count", GGUF_U32,
                    t->n_rot ? t->n_rot : t->dim / t->n_head);
    gguf_build_f32(b, "llama.rope.freq_base", 10000);
    gguf_build_f32(b, "llama.attention.layer_norm_rms_epsilon", t->eps != 0 ? t->eps : 1e-5f);
    if (t->context_length)
        gguf_build_uint(b, "llama.context_length", GGUF_U32, t->context_length);
    if (t->rule)
        gguf_build_string(b, "llama.attention.rule", t->rule);
    if (t->rope_factor != 0) {
        gguf_build_string(b, "llama.rope.scaling.type", "linear");
        gguf_build_f32(b, "llama.rope.scaling.factor", t->rope_factor);
    }
}

void toy_build(struct gguf_build *b, const struct toy *t)
{
    struct maker m = {.b = b, .rng = rng_make(1, "toy", 0), .type = t->type};

    add_keys(b, t);
    add(&m, "token_embd.weight", t->type, t->dim, t->n_vocab, 0, 1);
    add(&m, "output_norm.weight", TENSOR_F32, t->dim, 1, 1, 0.3);
    if (t->untied)
        add(&m, "output.weight", t->type, t->dim, t->n_vocab, 0, 1);
    for (uint32_t i = 0; i < t->n_layer; i++)
        add_layer(&m, t, i);
}

void toy_write(const struct toy *t, const char *path)
{
    struct gguf_build b;

    gguf_build_init(&b);
    toy_build(&b, t);
    gguf_build_write(&b, path);
    gguf_build_release(&b);
}
