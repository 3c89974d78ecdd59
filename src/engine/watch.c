/*
 * Looking at attention: one position's weights over the keys it sees, recomputed from the query
 * that was kept and the keys in the cache. The forward pass never holds these weights in one place.
 */
#include "session_impl.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <string.h>

enum status session_watch_attention(struct session *s, struct error *e)
{
    const struct model_config *c = &s->m->config;

    if (s->watched)
        return OK;
    s->watched_position = SIZE_MAX;
    if (!s->watch_scores &&
        mem_alloc(&s->watch_scores, "attention scores", e, threads_count(s->threads), s->capacity,
                  sizeof(float), 1) != OK)
        return e->code;
    return mem_alloc(&s->watched, "watched queries", e, c->n_layer, c->n_head * c->head_dim,
                     sizeof(float), 1);
}

struct watch {
    const struct session *s;
    const struct token_span *spans;
    size_t n_spans;
    struct head_attention *heads; /* [n_layer, n_head] */
    double *mass;                 /* [n_layer, n_head, n_spans] */
};

/* scores[n] = q . k under the rule, in nats. */
static void head_scores(const struct session *s, size_t layer, size_t head, float *scores, size_t n)
{
    const struct model_config *c = &s->m->config;
    const struct kernels *k = s->m->kernels;
    const float *q = s->watched + (layer * c->n_head + head) * c->head_dim;
    size_t kv_head = head / (c->n_head / c->n_kv_head);
    const float *keys = s->cache[layer].keys + kv_head * s->capacity * c->head_dim;
    float m = attention_multiplier(&s->m->rule, layer, head, s->ln_n[s->watched_position]);

    for (size_t j = 0; j < n; j += k->panel)
        k->gemm(1, k->panel, c->head_dim, q, c->head_dim, keys + j * c->head_dim, scores + j, 0,
                false);
    k->scale(scores, (float)((double)m / sqrt((double)c->head_dim)), n);
}

/* Turns scores into e^(score - max), and returns their sum; *moment = sum of e^z z, z = score -
 * max. */
static double exponentiate(float *scores, size_t n, double *moment)
{
    double max = -INFINITY;
    double sum = 0;

    *moment = 0;
    for (size_t j = 0; j < n; j++)
        max = (double)scores[j] > max ? (double)scores[j] : max;
    for (size_t j = 0; j < n; j++) {
        double z = (double)scores[j] - max;
        double weight = exp(z);
        scores[j] = (float)weight;
        sum += weight;
        *moment += weight * z;
    }
    return sum;
}

static void watch_head(void *context, size_t task, size_t thread)
{
    const struct watch *w = context;
    const struct session *s = w->s;
    float *scores = s->watch_scores + thread * s->capacity;
    size_t n = s->watched_position + 1;
    double moment;
    double sum;

    head_scores(s, task / s->m->config.n_head, task % s->m->config.n_head, scores, n);
    sum = exponentiate(scores, n, &moment);
    w->heads[task].max = 1 / sum;
    w->heads[task].entropy = log(sum) - moment / sum; /* -sum p ln p, p = e^z / sum */
    for (size_t i = 0; i < w->n_spans; i++) {
        double mass = 0;
        for (size_t j = w->spans[i].from; j < w->spans[i].to && j < n; j++)
            mass += (double)scores[j];
        w->mass[task * w->n_spans + i] = mass / sum;
    }
}

enum status session_attention(struct session *s, const struct token_span *spans, size_t n_spans,
                              struct head_attention *heads, double *mass, struct error *e)
{
    struct watch w = {s, spans, n_spans, heads, mass};

    if (!s->watched || s->watched_position >= s->n)
        return error_set(e, ERR_USAGE, "attention was not watched");
    threads_run(s->threads, s->m->config.n_layer * s->m->config.n_head, watch_head, &w);
    return OK;
}
