#include "session_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t scratch_need(const struct model *m)
{
    size_t n = larger(attention_scratch(m), matrix_scratch(model_output(m)));

    for (size_t i = 0; i < m->config.n_layer; i++) {
        const struct layer *y = &m->layers[i];
        for (size_t j = 0; j < N_QKV; j++)
            n = larger(n, matrix_scratch(&y->qkv[j]));
        for (size_t j = 0; j < N_GATE_UP; j++)
            n = larger(n, matrix_scratch(&y->gate_up[j]));
        n = larger(n, larger(matrix_scratch(&y->attn_out), matrix_scratch(&y->down)));
    }
    return (n + 15) / 16 * 16;
}

size_t session_bytes_per_token(const struct model_config *c, const struct kernels *kernels)
{
    /* values are padded to whole panels */
    size_t value_dim = (c->head_dim + kernels->panel - 1) / kernels->panel * kernels->panel;
    size_t per_head = c->head_dim + value_dim;

    return c->n_layer * c->n_kv_head * per_head * sizeof(float);
}

static enum status alloc_cache(struct session *s, struct error *e)
{
    const struct model_config *c = &s->m->config;
    enum status status =
        mem_alloc(&s->cache, "the KV cache", e, c->n_layer, sizeof(*s->cache), 1, 1);

    for (size_t i = 0; i < c->n_layer && status == OK; i++) {
        status = mem_alloc(&s->cache[i].keys, "the KV cache (keys of one layer)", e, s->capacity,
                           c->n_kv_head * c->head_dim, sizeof(float), 1);
        if (status == OK)
            status =
                mem_alloc(&s->cache[i].values, "the KV cache (values of one layer)", e, s->capacity,
                          c->n_kv_head * dim_panels(s->m), s->m->kernels->panel, sizeof(float));
    }
    return status;
}

static enum status alloc_activations(struct session *s, struct error *e)
{
    const struct model_config *c = &s->m->config;
    const size_t rows = SESSION_CHUNK;
    const size_t f = sizeof(float);
    const char *what = "activations";

    if (mem_alloc(&s->x, what, e, rows, c->dim, f, 1) != OK ||
        mem_alloc(&s->normed, what, e, rows, c->dim, f, 1) != OK ||
        mem_alloc(&s->qkv, what, e, rows, qkv_width(c), f, 1) != OK ||
        mem_alloc(&s->mixed, what, e, rows, c->n_head * c->head_dim, f, 1) != OK ||
        mem_alloc(&s->gate_up, what, e, rows, 2 * c->n_ff, f, 1) != OK ||
        mem_alloc(&s->scratch, what, e, threads_count(s->threads), s->scratch_stride, f, 1) != OK)
        return e->code;
    return OK;
}

static enum status alloc_positions(struct session *s, struct error *e)
{
    size_t half = s->m->config.n_rot / 2;
    const char *what = "the table of rotary angles";

    if (mem_alloc(&s->tokens, "the cache's tokens", e, s->capacity, sizeof(*s->tokens), 1, 1) !=
            OK ||
        mem_alloc(&s->cos, what, e, s->capacity, half, sizeof(*s->cos), 1) != OK ||
        mem_alloc(&s->sin, what, e, s->capacity, half, sizeof(*s->sin), 1) != OK ||
        mem_alloc(&s->ln_n, what, e, s->capacity, sizeof(*s->ln_n), 1, 1) != OK)
        return e->code;
    return OK;
}

enum status session_new(struct session **out, const struct model *m, struct threads *threads,
                        size_t capacity, struct error *e)
{
    struct session *s;
    enum status status;

    *out = NULL;
    if (capacity < 1 || capacity > INT32_MAX / 2)
        return error_set(e, ERR_USAGE, "a context of %zu tokens: must be 1 to %d", capacity,
                         INT32_MAX / 2);
    status = mem_alloc(&s, "a session", e, 1, sizeof(*s), 1, 1);
    if (status != OK)
        return status;
    s->m = m;
    s->threads = threads;
    s->watched_position = SIZE_MAX;
    s->limit = capacity;
    s->capacity = (capacity + KEY_BLOCK - 1) / KEY_BLOCK * KEY_BLOCK;
    s->chunk = SESSION_CHUNK;
    s->scratch_stride = scratch_need(m);
    if (alloc_cache(s, e) != OK || alloc_positions(s, e) != OK || alloc_activations(s, e) != OK) {
        session_free(s);
        return error_prefix(e, "a context of %zu tokens needs %zu bytes of KV cache per token",
                            capacity, session_bytes_per_token(&m->config, m->kernels));
    }
    *out = s;
    return OK;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->cache && i < s->m->config.n_layer; i++) {
        free(s->cache[i].keys);
        free(s->cache[i].values);
    }
    free(s->cache);
    free(s->tokens);
    free(s->cos);
    free(s->sin);
    free(s->ln_n);
    free(s->x);
    free(s->normed);
    free(s->qkv);
    free(s->mixed);
    free(s->gate_up);
    free(s->scratch);
    free(s->watched);
    free(s->watch_scores);
    free(s->logits);
    free(s);
}

/* Angles in double: at position 10^5 a float's rounding would be a visible rotation. */
static void fill_angles(struct session *s, size_t n)
{
    size_t half = s->m->config.n_rot / 2;

    for (size_t i = 0; i < half && s->n_angles < n; i++) {
        double frequency = model_rope_frequency(s->m, i);
        for (size_t p = s->n_angles; p < n; p++) {
            s->cos[p * half + i] = (float)cos((double)p * frequency);
            s->sin[p * half + i] = (float)sin((double)p * frequency);
        }
    }
    for (size_t p = s->n_angles; p < n; p++)
        s->ln_n[p] = log((double)p + 1.0);
    if (n > s->n_angles)
        s->n_angles = n;
}

static enum status check_tokens(const struct session *s, const int32_t *tokens, size_t n,
                                struct error *e)
{
    if (n < 1 || n > s->limit)
        return error_set(e, ERR_LIMIT, "%zu tokens do not fit in a context of %zu", n, s->limit);
    for (size_t i = 0; i < n; i++) {
        if (tokens[i] < 0 || (size_t)tokens[i] >= s->m->config.n_vocab)
            return error_set(e, ERR_LIMIT, "token %d at %zu is not in the vocabulary of %zu",
                             tokens[i], i, s->m->config.n_vocab);
    }
    return OK;
}

static enum status reserve_logits(struct session *s, size_t n, struct error *e)
{
    if (n <= s->logits_cap)
        return OK;
    free(s->logits);
    s->logits_cap = 0;
    if (mem_alloc(&s->logits, "logits", e, n, s->m->config.n_vocab, sizeof(*s->logits), 1) != OK)
        return e->code;
    s->logits_cap = n;
    return OK;
}

static size_t common_prefix(const struct session *s, const int32_t *tokens, size_t most)
{
    size_t i = 0;

    if (most > s->n)
        most = s->n;
    while (i < most && s->tokens[i] == tokens[i])
        i++;
    return i;
}

enum status session_sync(struct session *s, const int32_t *tokens, size_t n, size_t n_logits,
                         struct error *e)
{
    size_t first_logit = n - n_logits;
    size_t reused;

    if (check_tokens(s, tokens, n, e) != OK)
        return e->code;
    if (n_logits < 1 || n_logits > n)
        return error_set(e, ERR_LIMIT, "logits of %zu of %zu positions", n_logits, n);
    if (reserve_logits(s, n_logits, e) != OK)
        return e->code;
    s->n_logits = 0;
    s->watched_position = first_logit;
    reused = common_prefix(s, tokens, first_logit);
    s->n = reused;
    fill_angles(s, n);
    while (s->n < n) {
        size_t count = n - s->n < s->chunk ? n - s->n : s->chunk;
        size_t end = s->n + count;
        size_t from = first_logit > s->n ? first_logit : s->n;
        float *logits =
            end > first_logit ? s->logits + (from - first_logit) * s->m->config.n_vocab : NULL;
        if (os_interrupted())
            return error_set(e, ERR_INTERRUPTED, "interrupted");
        forward(s, tokens + s->n, count, s->n, logits ? from - s->n : count, logits);
        memcpy(s->tokens + s->n, tokens + s->n, count * sizeof(*tokens));
        s->n = end;
        s->counters.evaluated += count;
    }
    s->counters.reused += reused;
    s->n_logits = n_logits;
    return OK;
}

const float *session_logits(const struct session *s, size_t i)
{
    return s->logits + i * s->m->config.n_vocab;
}

void session_forget(struct session *s)
{
    s->n = 0;
}

void session_set_chunk(struct session *s, size_t chunk)
{
    s->chunk = chunk < 1 ? 1 : chunk > SESSION_CHUNK ? SESSION_CHUNK : chunk;
}

struct session_counters session_counters(const struct session *s)
{
    return s->counters;
}
