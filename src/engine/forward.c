/*
 * The forward pass of the llama architecture over one chunk of tokens (Touvron et al. 2023):
 *
 *     x = embedding[token]
 *     each layer:  x += attn_out . attention(rope(q), rope(k), v),  q, k, v = qkv . norm(x)
 *                  x += down . (silu(gate . norm(x)) * up . norm(x))
 *     logits = output . norm(x)
 *
 * The last layer is carried on only for rows whose logits are wanted; its keys and values are
 * stored for all.
 */
#include "session_impl.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_TASK = 32 };

struct pass {
    struct session *s;
    const struct layer *layer;
    size_t layer_number;
    struct span span;
    const int32_t *tokens;
    const float *norm; /* weights of the norm at hand */
};

/* Runs `task` over the rows of the span, ROWS_PER_TASK at a time. */
static void over_rows(struct pass *p, threads_task *task)
{
    size_t n = p->span.to - p->span.from;

    threads_run(p->s->threads, (n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, task, p);
}

static struct span task_rows(const struct pass *p, size_t task)
{
    struct span rows = p->span;

    rows.from = p->span.from + task * ROWS_PER_TASK;
    if (rows.to - rows.from > ROWS_PER_TASK)
        rows.to = rows.from + ROWS_PER_TASK;
    return rows;
}

static void embed_rows(void *context, size_t task, size_t thread)
{
    const struct pass *p = context;
    const struct model *m = p->s->m;
    struct span rows = task_rows(p, task);

    (void)thread;
    for (size_t r = rows.from; r < rows.to; r++)
        matrix_row(&m->embedding, m->kernels, (size_t)p->tokens[r], p->s->x + r * m->config.dim);
}

static void norm_rows(void *context, size_t task, size_t thread)
{
    const struct pass *p = context;
    const struct model *m = p->s->m;
    size_t dim = m->config.dim;
    struct span rows = task_rows(p, task);

    (void)thread;
    for (size_t r = rows.from; r < rows.to; r++)
        m->kernels->rms_norm(p->s->normed + r * dim, p->s->x + r * dim, p->norm, dim,
                             m->config.norm_eps);
}

static void store_key(const struct session *s, struct layer_cache *cache, size_t head,
                      size_t position, const float *k)
{
    size_t panel = s->m->kernels->panel;
    size_t dim = s->m->config.head_dim;
    float *to =
        cache->keys + (head * s->capacity + position / panel * panel) * dim + position % panel;

    for (size_t d = 0; d < dim; d++)
        to[d * panel] = k[d];
}

static void store_value(const struct session *s, struct layer_cache *cache, size_t head,
                        size_t position, const float *v)
{
    size_t panel = s->m->kernels->panel;
    size_t dim = s->m->config.head_dim;

    for (size_t d = 0; d < dim; d += panel) {
        size_t n = dim - d < panel ? dim - d : panel;
        size_t row = head * dim_panels(s->m) + d / panel;
        memcpy(cache->values + (row * s->capacity + position) * panel, v + d, n * sizeof(*v));
    }
}

/* Rotates queries and keys, and puts keys and values into the cache. */
static void rotate_and_store_rows(void *context, size_t task, size_t thread)
{
    const struct pass *p = context;
    struct session *s = p->s;
    const struct model_config *c = &s->m->config;
    struct layer_cache *cache = &s->cache[p->layer_number];
    size_t half = c->n_rot / 2;
    struct span rows = task_rows(p, task);

    (void)thread;
    for (size_t r = rows.from; r < rows.to; r++) {
        size_t position = p->span.position + r;
        float *q = s->qkv + r * qkv_width(c);
        const float *k = q + c->n_head * c->head_dim;
        const float *v = k + c->n_kv_head * c->head_dim;
        for (size_t h = 0; h < c->n_head + c->n_kv_head; h++)
            s->m->kernels->rope(q + h * c->head_dim, s->cos + position * half,
                                s->sin + position * half, half);
        if (s->watched && position == s->watched_position)
            memcpy(s->watched + p->layer_number * c->n_head * c->head_dim, q,
                   c->n_head * c->head_dim * sizeof(*q));
        for (size_t h = 0; h < c->n_kv_head; h++) {
            store_key(s, cache, h, position, k + h * c->head_dim);
            store_value(s, cache, h, position, v + h * c->head_dim);
        }
    }
}

static void swiglu_rows(void *context, size_t task, size_t thread)
{
    const struct pass *p = context;
    const struct model *m = p->s->m;
    size_t n_ff = m->config.n_ff;
    struct span rows = task_rows(p, task);

    (void)thread;
    for (size_t r = rows.from; r < rows.to; r++) {
        float *gate = p->s->gate_up + r * 2 * n_ff;
        m->kernels->swiglu(gate, gate + n_ff, n_ff);
    }
}

/* out (+)= in x matrices; `in` and `out` point to row 0 of the chunk, the span's rows are run. */
static void project(const struct pass *p, const struct matrix *parts, size_t n_parts,
                    const float *in, size_t ld_in, float *out, size_t ld_out, bool add)
{
    struct session *s = p->s;
    struct linear l = {
        .kernels = s->m->kernels,
        .parts = parts,
        .n_parts = n_parts,
        .in = in + p->span.from * ld_in,
        .ld_in = ld_in,
        .out = out + p->span.from * ld_out,
        .ld_out = ld_out,
        .n_rows = p->span.to - p->span.from,
        .add = add,
        .scratch = s->scratch,
        .scratch_stride = s->scratch_stride,
    };

    linear_run(&l, s->threads);
}

static void norm(struct pass *p, const float *weights)
{
    p->norm = weights;
    over_rows(p, norm_rows);
}

/* x += attn_out . attention; rows before `needed` only fill the cache. */
static void attention_half(struct pass *p, size_t needed)
{
    struct session *s = p->s;
    const struct model_config *c = &s->m->config;
    size_t width = c->n_head * c->head_dim;

    norm(p, p->layer->attn_norm);
    project(p, p->layer->qkv, N_QKV, s->normed, c->dim, s->qkv, qkv_width(c), false);
    over_rows(p, rotate_and_store_rows);
    p->span.from = needed;
    if (needed == p->span.to)
        return;
    attention_forward(s, p->layer_number, p->span);
    project(p, &p->layer->attn_out, 1, s->mixed, width, s->x, c->dim, true);
}

static void feed_forward_half(struct pass *p)
{
    struct session *s = p->s;
    const struct model_config *c = &s->m->config;

    norm(p, p->layer->ffn_norm);
    project(p, p->layer->gate_up, N_GATE_UP, s->normed, c->dim, s->gate_up, 2 * c->n_ff, false);
    over_rows(p, swiglu_rows);
    project(p, &p->layer->down, 1, s->gate_up, 2 * c->n_ff, s->x, c->dim, true);
}

void forward(struct session *s, const int32_t *tokens, size_t n, size_t position,
             size_t first_logit, float *logits)
{
    const struct model *m = s->m;
    const struct model_config *c = &m->config;
    struct pass p = {.s = s, .tokens = tokens, .span = {position, 0, n}};

    over_rows(&p, embed_rows);
    for (size_t i = 0; i < c->n_layer; i++) {
        bool last = i + 1 == c->n_layer;
        p.layer = &m->layers[i];
        p.layer_number = i;
        attention_half(&p, last ? first_logit : 0);
        if (p.span.from < p.span.to)
            feed_forward_half(&p);
    }
    if (first_logit == n)
        return;
    norm(&p, m->output_norm);
    p.span = (struct span){position, 0, n - first_logit};
    project(&p, model_output(m), 1, s->normed + first_logit * c->dim, c->dim, logits, c->n_vocab,
            false);
}
