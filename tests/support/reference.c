#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct net {
    const struct gguf *g;
    size_t n_layer, dim, n_ff, n_head, n_kv, head_dim, n_rot, n_vocab;
    double eps, theta, rope_scale;
    int ssmax; /* 0 softmax, 1 ssmax, 2 ssmax-bias */
};

static void need(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "reference: %s\n", what);
        abort();
    }
}

static size_t get_u32(const struct gguf *g, const char *key)
{
    struct error e;
    uint32_t v;

    need(gguf_u32(g, key, &v, &e) == OK, key);
    return v;
}

static double get_f32(const struct gguf *g, const char *key)
{
    struct error e;
    float v;

    need(gguf_f32(g, key, &v, &e) == OK, key);
    return (double)v;
}

/* 1 sign bit, `e` exponent bits, `f` fraction bits: IEEE 754 by its definition. */
static double decode_float(unsigned bits, int e, int f)
{
    int exponent = (int)(bits >> f & ((1u << e) - 1));
    double fraction = ldexp((double)(bits & ((1u << f) - 1)), -f);
    int bias = (1 << (e - 1)) - 1;
    double v = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);

    return bits >> (e + f) & 1 ? -v : v;
}

/* 16-bit tensors widened once and kept to the end of the program. */
static struct widened {
    const void *from;
    float *to;
} widened[256];

static const float *widen(const struct gguf_tensor *t)
{
    const uint16_t *in = t->data;
    size_t n = t->n_bytes / 2;
    size_t slot = 0;

    while (widened[slot].to)
        slot = (slot + 1) % 256;
    widened[slot].from = t->data;
    widened[slot].to = calloc(n, sizeof(float));
    need(widened[slot].to != NULL, "memory");
    for (size_t i = 0; i < n; i++)
        widened[slot].to[i] =
            (float)(t->type == TENSOR_F16 ? decode_float(in[i], 5, 10) : decode_float(in[i], 8, 7));
    return widened[slot].to;
}

static const float *tensor(const struct gguf *g, const char *name)
{
    const struct gguf_tensor *t = gguf_tensor(g, name);

    need(t != NULL, name);
    if (t->type == TENSOR_F32)
        return t->data;
    need(t->type == TENSOR_F16 || t->type == TENSOR_BF16, name);
    for (size_t i = 0; i < 256; i++) {
        if (widened[i].from == t->data)
            return widened[i].to;
    }
    return widen(t);
}

/* Before another file may be mapped to the same place. */
static void forget_widened(void)
{
    for (size_t i = 0; i < 256; i++) {
        free(widened[i].to);
        widened[i] = (struct widened){NULL, NULL};
    }
}

static const float *layer_tensor(const struct net *m, size_t layer, const char *what)
{
    char name[64];

    snprintf(name, sizeof(name), "blk.%zu.%s.weight", layer, what);
    return tensor(m->g, name);
}

static void read_net(struct net *m, const struct gguf *g)
{
    struct str rule = {"softmax", 7};
    struct error e;

    m->g = g;
    m->n_layer = get_u32(g, "llama.block_count");
    m->dim = get_u32(g, "llama.embedding_length");
    m->n_ff = get_u32(g, "llama.feed_forward_length");
    m->n_head = get_u32(g, "llama.attention.head_count");
    m->n_kv = get_u32(g, "llama.attention.head_count_kv");
    m->head_dim = m->dim / m->n_head;
    m->n_rot = get_u32(g, "llama.rope.dimension_count");
    m->n_vocab = (size_t)gguf_tensor(g, "token_embd.weight")->dims[1];
    m->eps = get_f32(g, "llama.attention.layer_norm_rms_epsilon");
    m->theta = get_f32(g, "llama.rope.freq_base");
    m->rope_scale =
        gguf_has(g, "llama.rope.scaling.factor") ? get_f32(g, "llama.rope.scaling.factor") : 1;
    need(gguf_string_opt(g, "llama.attention.rule", &rule, &e) == OK, "rule");
    m->ssmax = str_eq(rule, "ssmax") ? 1 : str_eq(rule, "ssmax-bias") ? 2 : 0;
}

/* y[n_out] = W x, W [n_out, n_in] */
static void multiply(double *y, const float *w, const double *x, size_t n_out, size_t n_in)
{
    for (size_t i = 0; i < n_out; i++) {
        y[i] = 0;
        for (size_t j = 0; j < n_in; j++)
            y[i] += (double)w[i * n_in + j] * x[j];
    }
}

static void rms_norm(double *y, const double *x, const float *w, size_t n, double eps)
{
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] * x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] / sqrt(mean + eps) * (double)w[i];
}

/* Pairs of neighbours turn by position * theta^(-2i/d). */
static void rotate(double *x, const struct net *m, size_t position)
{
    for (size_t i = 0; i < m->n_rot; i += 2) {
        double angle =
            (double)position / m->rope_scale * pow(m->theta, -(double)i / (double)m->n_rot);
        double a = x[i];
        double b = x[i + 1];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + 1] = a * sin(angle) + b * cos(angle);
    }
}

/* exp(c z_i) / sum_j exp(c z_j), with n^(s z) = exp(s ln(n) z): SSMax as the paper writes it. */
static void scalable_softmax(double *z, size_t n, double s, double b, int ssmax)
{
    double max = -INFINITY;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (ssmax)
            z[i] = z[i] * (s * log((double)n) + b);
        max = z[i] > max ? z[i] : max;
    }
    for (size_t i = 0; i < n; i++)
        sum += exp(z[i] - max);
    for (size_t i = 0; i < n; i++)
        z[i] = exp(z[i] - max) / sum;
}

struct state {
    double *x;       /* [n, dim] */
    double *q;       /* [n, n_head * head_dim] */
    double *k;       /* [n, n_kv * head_dim] */
    double *v;       /* the same */
    double *z;       /* [n] */
    double *weights; /* [n_layer, n_head, n] of the last position, or NULL */
    size_t n;
};

static void attend(const struct net *m, struct state *s, size_t layer, size_t t, double *out)
{
    const float *scale = m->ssmax ? layer_tensor(m, layer, "attn_ssmax_scale") : NULL;
    const float *bias = m->ssmax == 2 ? layer_tensor(m, layer, "attn_ssmax_bias") : NULL;
    size_t d = m->head_dim;

    for (size_t h = 0; h < m->n_head; h++) {
        size_t kv = h / (m->n_head / m->n_kv);
        const double *q = s->q + (t * m->n_head + h) * d;
        for (size_t j = 0; j <= t; j++) {
            s->z[j] = 0;
            for (size_t i = 0; i < d; i++)
                s->z[j] += q[i] * s->k[(j * m->n_kv + kv) * d + i] / sqrt((double)d);
        }
        scalable_softmax(s->z, t + 1, scale ? (double)scale[h] : 0, bias ? (double)bias[h] : 0,
                         m->ssmax);
        if (s->weights && t + 1 == s->n)
            memcpy(s->weights + (layer * m->n_head + h) * s->n, s->z, s->n * sizeof(*s->z));
        for (size_t i = 0; i < d; i++) {
            out[h * d + i] = 0;
            for (size_t j = 0; j <= t; j++)
                out[h * d + i] += s->z[j] * s->v[(j * m->n_kv + kv) * d + i];
        }
    }
}

static void project_qkv(const struct net *m, struct state *s, size_t layer, size_t n,
                        double *normed)
{
    size_t d = m->head_dim;

    for (size_t t = 0; t < n; t++) {
        double *q = s->q + t * m->n_head * d;
        double *k = s->k + t * m->n_kv * d;
        rms_norm(normed, s->x + t * m->dim, layer_tensor(m, layer, "attn_norm"), m->dim, m->eps);
        multiply(q, layer_tensor(m, layer, "attn_q"), normed, m->n_head * d, m->dim);
        multiply(k, layer_tensor(m, layer, "attn_k"), normed, m->n_kv * d, m->dim);
        multiply(s->v + t * m->n_kv * d, layer_tensor(m, layer, "attn_v"), normed, m->n_kv * d,
                 m->dim);
        for (size_t h = 0; h < m->n_head; h++)
            rotate(q + h * d, m, t);
        for (size_t h = 0; h < m->n_kv; h++)
            rotate(k + h * d, m, t);
    }
}

static void feed_forward(const struct net *m, size_t layer, double *x, double *normed, double *gate,
                         double *up, double *out)
{
    rms_norm(normed, x, layer_tensor(m, layer, "ffn_norm"), m->dim, m->eps);
    multiply(gate, layer_tensor(m, layer, "ffn_gate"), normed, m->n_ff, m->dim);
    multiply(up, layer_tensor(m, layer, "ffn_up"), normed, m->n_ff, m->dim);
    for (size_t i = 0; i < m->n_ff; i++)
        gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    multiply(out, layer_tensor(m, layer, "ffn_down"), gate, m->dim, m->n_ff);
    for (size_t i = 0; i < m->dim; i++)
        x[i] += out[i];
}

static double *doubles(size_t n)
{
    double *p = calloc(n ? n : 1, sizeof(*p));

    need(p != NULL, "memory");
    return p;
}

static void run(const struct gguf *g, const int32_t *tokens, size_t n, size_t n_logits,
                double *logits, double *weights)
{
    struct net m;
    struct state s;
    double *normed, *mixed, *out, *gate, *up;
    const float *embedding = tensor(g, "token_embd.weight");
    const float *output = gguf_tensor(g, "output.weight") ? tensor(g, "output.weight") : embedding;

    read_net(&m, g);
    s.weights = weights;
    s.n = n;
    s.x = doubles(n * m.dim);
    s.q = doubles(n * m.n_head * m.head_dim);
    s.k = doubles(n * m.n_kv * m.head_dim);
    s.v = doubles(n * m.n_kv * m.head_dim);
    s.z = doubles(n);
    normed = doubles(m.dim);
    mixed = doubles(m.n_head * m.head_dim);
    out = doubles(m.dim);
    gate = doubles(m.n_ff);
    up = doubles(m.n_ff);
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < m.dim; i++)
            s.x[t * m.dim + i] = (double)embedding[(size_t)tokens[t] * m.dim + i];
    }
    for (size_t layer = 0; layer < m.n_layer; layer++) {
        project_qkv(&m, &s, layer, n, normed);
        /* after the last layer only the positions asked for are looked at */
        for (size_t t = layer + 1 < m.n_layer ? 0 : n - n_logits; t < n; t++) {
            attend(&m, &s, layer, t, mixed);
            multiply(out, layer_tensor(&m, layer, "attn_output"), mixed, m.dim,
                     m.n_head * m.head_dim);
            for (size_t i = 0; i < m.dim; i++)
                s.x[t * m.dim + i] += out[i];
            feed_forward(&m, layer, s.x + t * m.dim, normed, gate, up, out);
        }
    }
    for (size_t t = n - n_logits; t < n; t++) {
        rms_norm(normed, s.x + t * m.dim, tensor(g, "output_norm.weight"), m.dim, m.eps);
        multiply(logits + (t - (n - n_logits)) * m.n_vocab, output, normed, m.n_vocab, m.dim);
    }
    free(s.x);
    free(s.q);
    free(s.k);
    free(s.v);
    free(s.z);
    free(normed);
    free(mixed);
    free(out);
    free(gate);
    free(up);
    forget_widened();
}

void reference_logits(const struct gguf *g, const int32_t *tokens, size_t n, size_t n_logits,
                      double *logits)
{
    run(g, tokens, n, n_logits, logits, NULL);
}

void reference_attention(const struct gguf *g, const int32_t *tokens, size_t n, double *weights)
{
    double *logits = doubles((size_t)gguf_tensor(g, "token_embd.weight")->dims[1]);

    run(g, tokens, n, 1, logits, weights);
    free(logits);
}
