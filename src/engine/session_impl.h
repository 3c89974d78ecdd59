/* The inside of a session, shared by its cache, forward pass and attention. */
#ifndef NEEDLEGRID_SESSION_IMPL_H
#define NEEDLEGRID_SESSION_IMPL_H

#include "model_impl.h"

#include "needlegrid/session.h"

/*
 * Attention walks the keys in blocks that start at fixed absolute positions, so that every query
 * sums in the same order whoever asks.
 */
enum {
    KEY_BLOCK = 128,     /* keys; a multiple of every panel width */
    ATTENTION_ROWS = 48, /* rows of queries (tokens x heads of a group) in one tile */
};

/*
 * One layer's cache. Keys lie in panels, ready to be the second factor of q.k; values in panels of
 * dimensions, ready to be the second factor of p.v.
 */
struct layer_cache {
    float *keys;   /* [n_kv_head, capacity / panel, head_dim, panel] */
    float *values; /* [n_kv_head, n_dim_panels, capacity, panel] */
};

struct session {
    const struct model *m;
    struct threads *threads;
    size_t capacity; /* tokens, a multiple of KEY_BLOCK */
    size_t limit;    /* tokens, as asked for */
    size_t chunk;    /* tokens evaluated together */

    int32_t *tokens; /* [capacity]; the first n are in the cache */
    size_t n;
    struct layer_cache *cache; /* [n_layer] */

    float *cos;   /* [capacity, n_rot / 2]; rows below n_angles are filled */
    float *sin;   /* the same */
    double *ln_n; /* [capacity] ln(position + 1) */
    size_t n_angles;

    /* activations of one chunk of R = SESSION_CHUNK tokens */
    float *x;       /* [R, dim] residual stream */
    float *normed;  /* [R, dim] */
    float *qkv;     /* [R, (n_head + 2 n_kv_head) * head_dim] */
    float *mixed;   /* [R, n_head * head_dim] attention's output */
    float *gate_up; /* [R, 2 * n_ff] */
    float *scratch; /* [threads, scratch_stride] */
    size_t scratch_stride;

    float *watched; /* [n_layer, n_head * head_dim] rotated queries, or NULL: not watching */
    size_t watched_position; /* whose queries these are; SIZE_MAX before a watched sync */
    float *watch_scores;     /* [threads, capacity] */

    float *logits; /* [logits_cap, n_vocab] */
    size_t logits_cap;
    size_t n_logits;
    struct session_counters counters;
};

/* Rows of a chunk that a layer still needs, and where the chunk stands. */
struct span {
    size_t position; /* absolute position of row 0 */
    size_t from;     /* first row needed */
    size_t to;       /* one past the last */
};

static inline size_t qkv_width(const struct model_config *c)
{
    return (c->n_head + 2 * c->n_kv_head) * c->head_dim;
}

static inline size_t dim_panels(const struct model *m)
{
    return (m->config.head_dim + m->kernels->panel - 1) / m->kernels->panel;
}

/* Floats of scratch that a thread needs for attention. */
size_t attention_scratch(const struct model *m);

/* s->mixed[from..to) = attention of the queries in s->qkv over the layer's cache. */
void attention_forward(struct session *s, size_t layer, struct span span);

/*
 * Runs tokens[0..n) at positions position.. through the model and into the cache, n <= chunk.
 * Logits of rows first_logit.. (n = none) go to `logits` [n - first_logit, n_vocab].
 */
void forward(struct session *s, const int32_t *tokens, size_t n, size_t position,
             size_t first_logit, float *logits);

#endif
