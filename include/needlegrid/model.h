/*
 * A decoder-only transformer, loaded from GGUF and ready to run. Read-only once open.
 *
 * Architecture `llama`: RMSNorm, rotary positions on neighbouring pairs, grouped-query attention,
 * SwiGLU, tied or untied output. Weights F32, F16 or BF16. They are packed once into the panels
 * of the chosen kernels, tensor by tensor, and the file's pages given back: memory holds them once.
 *
 *     struct model_options o = {.kernels = kernels};
 *     attention_choice_parse(&o.attention, "model", e);
 *     struct model *m;
 *     if (model_open(&m, g, &o, e) != OK) ...
 *     model_free(m);
 */
#ifndef NEEDLEGRID_MODEL_H
#define NEEDLEGRID_MODEL_H

#include "needlegrid/attention_rule.h"
#include "needlegrid/error.h"
#include "needlegrid/gguf.h"
#include "needlegrid/kernel.h"

#include <stddef.h>

/* Grows when the engine's arithmetic changes, so that stored trials are not taken for new ones. */
enum { ENGINE_NUMERICS = 1 };

struct model_config {
    size_t n_layer;
    size_t dim;       /* width of the residual stream */
    size_t n_ff;      /* width of the feed-forward network */
    size_t n_head;    /* query heads */
    size_t n_kv_head; /* key and value heads; n_head is a multiple */
    size_t head_dim;  /* of queries, keys and values */
    size_t n_rot;     /* dimensions of a head that rotate, even */
    size_t n_vocab;
    size_t training_length; /* tokens: llama.context_length */
    float norm_eps;
    double rope_theta; /* base of the rotary frequencies, as run */
    double rope_scale; /* positions are divided by it, as run */
};

struct model_options {
    const struct kernels *kernels;
    struct attention_choice attention;
    double rope_theta; /* 0 = the model's own */
    double rope_scale; /* 0 = the model's own; positions are divided by it */
};

struct model;

enum { MODEL_NAME_SIZE = 200 };

/*
 * general.name, or the file's name without folder; control characters and broken UTF-8, which must
 * not reach a terminal, become '?'.
 */
NG_MUST_USE enum status model_name(char out[MODEL_NAME_SIZE], const struct gguf *g,
                                   struct error *e);

/* Reads the dimensions alone, without a look at the weights. */
NG_MUST_USE enum status model_read_config(struct model_config *out, const struct gguf *g,
                                          struct error *e);

/* `g` may be closed afterwards. */
NG_MUST_USE enum status model_open(struct model **out, const struct gguf *g,
                                   const struct model_options *options, struct error *e);
void model_free(struct model *m);

const struct model_config *model_config(const struct model *m);
const struct attention_rule *model_rule(const struct model *m);

#endif
