/*
 * Attention over the cache, tile by tile with online softmax (Dao et al. 2022; Milakov, Gimelshein
 * 2018): memory for scores is one tile's, whatever the context length.
 *
 * A tile is a run of tokens times the query heads that share one key head. It walks the keys in
 * blocks at fixed absolute positions; a row takes part in a block only if it sees a key of it.
 */
#include "session_impl.h"

#include <math.h>
#include <string.h>

/* Multiply-adds below which waking the other threads costs more than they save (performance.md). */
enum { MIN_SHARED_WORK = 1 << 22 };

struct attention_work {
    struct session *s;
    size_t layer;
    struct span span;
    size_t tile_tokens; /* tokens per tile */
    size_t n_tiles;     /* per key head */
};

/* One tile's memory, carved out of a thread's scratch. */
struct tile {
    size_t n_rows;   /* tokens x group */
    size_t group;    /* query heads per key head */
    size_t position; /* absolute position of the first token */
    float *q;        /* [n_rows, head_dim] scaled queries; row = token * group + head */
    float *scores;   /* [n_rows, KEY_BLOCK] */
    float *out;      /* [n_rows, head_dim] */
    float *max;      /* [n_rows] */
    float *sum;      /* [n_rows] */
};

static size_t group_size(const struct model *m)
{
    return m->config.n_head / m->config.n_kv_head;
}

static size_t tile_tokens(const struct model *m)
{
    size_t group = group_size(m);

    return group < ATTENTION_ROWS ? ATTENTION_ROWS / group : 1;
}

size_t attention_scratch(const struct model *m)
{
    size_t rows = tile_tokens(m) * group_size(m);

    return rows * (2 * m->config.head_dim + KEY_BLOCK + 2);
}

static void carve(struct tile *t, const struct model *m, float *scratch)
{
    size_t rows = tile_tokens(m) * t->group;

    t->q = scratch;
    t->scores = t->q + rows * m->config.head_dim;
    t->out = t->scores + rows * KEY_BLOCK;
    t->max = t->out + rows * m->config.head_dim;
    t->sum = t->max + rows;
}

/*
 * Copies the tile's queries and scales them: by the rule's multiplier, by 1/sqrt(head_dim)
 * (Vaswani et al. 2017, eq. 1), and by log2 e because the softmax kernel works in base 2.
 */
static void gather_queries(const struct attention_work *w, struct tile *t, size_t kv_head,
                           size_t row)
{
    const struct session *s = w->s;
    const struct model_config *c = &s->m->config;
    float base = (float)(1.4426950408889634 / sqrt((double)c->head_dim));

    for (size_t i = 0; i < t->n_rows; i++) {
        size_t token = i / t->group;
        size_t head = kv_head * t->group + i % t->group;
        const float *q = s->qkv + (row + token) * qkv_width(c) + head * c->head_dim;
        float m =
            base * attention_multiplier(&s->m->rule, w->layer, head, s->ln_n[t->position + token]);
        memcpy(t->q + i * c->head_dim, q, c->head_dim * sizeof(*q));
        s->m->kernels->scale(t->q + i * c->head_dim, m, c->head_dim);
        t->max[i] = -INFINITY;
        t->sum[i] = 0;
    }
    memset(t->out, 0, t->n_rows * c->head_dim * sizeof(*t->out));
}

/* scores[first.., n_keys] = q . k for the keys from `key` on. */
static void score_block(const struct session *s, const struct tile *t, const float *keys,
                        size_t first, size_t key, size_t n_keys)
{
    const struct kernels *k = s->m->kernels;
    size_t dim = s->m->config.head_dim;

    for (size_t j = 0; j < n_keys; j += k->panel)
        k->gemm(t->n_rows - first, k->panel, dim, t->q + first * dim, dim, keys + (key + j) * dim,
                t->scores + first * KEY_BLOCK + j, KEY_BLOCK, false);
}

/* out[first.., :] += p . v for the keys from `key` on. */
static void mix_block(const struct session *s, const struct tile *t, const float *values,
                      size_t first, size_t key, size_t n_keys)
{
    const struct kernels *k = s->m->kernels;
    size_t dim = s->m->config.head_dim;

    for (size_t d = 0; d < dim; d += k->panel) {
        size_t n = dim - d < k->panel ? dim - d : k->panel;
        k->gemm(t->n_rows - first, n, n_keys, t->scores + first * KEY_BLOCK, KEY_BLOCK,
                values + d * s->capacity + key * k->panel, t->out + first * dim + d, dim, true);
    }
}

static void attend_block(const struct session *s, const struct tile *t, const float *keys,
                         const float *values, size_t key)
{
    const struct kernels *k = s->m->kernels;
    size_t dim = s->m->config.head_dim;
    size_t last = t->position + t->n_rows / t->group; /* one past the last token */
    size_t n_keys = last - key < KEY_BLOCK ? last - key : KEY_BLOCK;
    size_t first = key > t->position ? (key - t->position) * t->group : 0;

    score_block(s, t, keys, first, key, n_keys);
    for (size_t i = first; i < t->n_rows; i++) {
        size_t sees = t->position + i / t->group + 1 - key;
        float factor = k->softmax(t->scores + i * KEY_BLOCK, sees < n_keys ? sees : n_keys, n_keys,
                                  &t->max[i], &t->sum[i]);
        if (factor != 1.0f)
            k->scale(t->out + i * dim, factor, dim);
    }
    mix_block(s, t, values, first, key, n_keys);
}

static void scatter_output(const struct attention_work *w, const struct tile *t, size_t kv_head,
                           size_t row)
{
    const struct session *s = w->s;
    const struct model_config *c = &s->m->config;

    for (size_t i = 0; i < t->n_rows; i++) {
        size_t head = kv_head * t->group + i % t->group;
        float *to = s->mixed + ((row + i / t->group) * c->n_head + head) * c->head_dim;
        s->m->kernels->scale(t->out + i * c->head_dim, 1.0f / t->sum[i], c->head_dim);
        memcpy(to, t->out + i * c->head_dim, c->head_dim * sizeof(*to));
    }
}

/* Later tokens see more keys: the longest tiles go first, so that threads end together. */
static void attend_tile(void *context, size_t task, size_t thread)
{
    const struct attention_work *w = context;
    const struct session *s = w->s;
    const struct model_config *c = &s->m->config;
    const struct layer_cache *cache = &s->cache[w->layer];
    size_t kv_head = task % c->n_kv_head;
    size_t row = w->span.from + (w->n_tiles - 1 - task / c->n_kv_head) * w->tile_tokens;
    size_t n = w->span.to - row < w->tile_tokens ? w->span.to - row : w->tile_tokens;
    struct tile t = {.group = group_size(s->m), .position = w->span.position + row};
    const float *keys = cache->keys + kv_head * s->capacity * c->head_dim;
    const float *values =
        cache->values + kv_head * dim_panels(s->m) * s->capacity * s->m->kernels->panel;

    t.n_rows = n * t.group;
    carve(&t, s->m, s->scratch + thread * s->scratch_stride);
    gather_queries(w, &t, kv_head, row);
    for (size_t key = 0; key < t.position + n; key += KEY_BLOCK)
        attend_block(s, &t, keys, values, key);
    scatter_output(w, &t, kv_head, row);
}

void attention_forward(struct session *s, size_t layer, struct span span)
{
    const struct model_config *c = &s->m->config;
    struct attention_work w = {.s = s, .layer = layer, .span = span};
    size_t n_tasks;

    w.tile_tokens = tile_tokens(s->m);
    w.n_tiles = (span.to - span.from + w.tile_tokens - 1) / w.tile_tokens;
    n_tasks = w.n_tiles * c->n_kv_head;
    if ((span.to - span.from) * (span.position + span.to) * c->n_head * c->head_dim <
        MIN_SHARED_WORK) {
        for (size_t i = 0; i < n_tasks; i++)
            attend_tile(&w, i, 0);
        return;
    }
    threads_run(s->threads, n_tasks, attend_tile, &w);
}
