/* The inside of a model. */
#ifndef NEEDLEGRID_MODEL_IMPL_H
#define NEEDLEGRID_MODEL_IMPL_H

#include "matrix_impl.h"

#include "needlegrid/model.h"

enum qkv_part { PART_Q, PART_K, PART_V, N_QKV };
enum gate_up_part { PART_GATE, PART_UP, N_GATE_UP };

struct layer {
    float *attn_norm;                 /* [dim] */
    struct matrix qkv[N_QKV];         /* [n_head * head_dim | n_kv_head * head_dim | same, dim] */
    struct matrix attn_out;           /* [dim, n_head * head_dim] */
    float *ffn_norm;                  /* [dim] */
    struct matrix gate_up[N_GATE_UP]; /* [n_ff | n_ff, dim] */
    struct matrix down;               /* [dim, n_ff] */
};

struct model {
    struct model_config config;
    struct attention_rule rule;
    const struct kernels *kernels;
    struct matrix embedding; /* [n_vocab, dim] */
    struct layer *layers;    /* [n_layer] */
    float *output_norm;      /* [dim] */
    struct matrix output;    /* [n_vocab, dim]; no panels if tied to the embedding */
    float *rope_factors;     /* [n_rot / 2] divisors of the frequencies, or NULL */
};

const struct matrix *model_output(const struct model *m);

/* Angle of pair i at position 0 -> 1, in radians: theta^(-2i/n_rot) / scale / factor. */
double model_rope_frequency(const struct model *m, size_t i);

#endif
