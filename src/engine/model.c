#include "model_impl.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What loading passes around. */
struct loader {
    struct model *m;
    const struct gguf *g;
    struct error *e;
    const struct gguf_tensor **taken; /* [n_taken] tensors that have found their place */
    size_t n_taken, cap_taken;
};

/* The tensor of this name, or NULL; noted as taken. */
static enum status take(struct loader *l, const char *name, const struct gguf_tensor **out)
{
    *out = gguf_tensor(l->g, name);
    if (!*out)
        return OK;
    if (mem_grow(&l->taken, &l->cap_taken, l->n_taken + 1, sizeof(*l->taken), "a list of tensors",
                 l->e) != OK)
        return l->e->code;
    l->taken[l->n_taken++] = *out;
    return OK;
}

static enum status find(const struct gguf_tensor **out, struct loader *l, const char *format, ...)
    NG_PRINTF(3, 4);

static enum status find(const struct gguf_tensor **out, struct loader *l, const char *format, ...)
{
    char name[64];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    if (take(l, name, out) != OK)
        return l->e->code;
    if (!*out)
        return error_set(l->e, ERR_FORMAT, "%s: tensor %s is missing", gguf_path(l->g), name);
    return OK;
}

/* A vector kept as float32, whatever float type the file has. */
static enum status load_vector(float **out, struct loader *l, const struct gguf_tensor *t, size_t n)
{
    enum status status;

    if (t->n_dims != 1 || t->dims[0] != n)
        return error_set(l->e, ERR_FORMAT, "%s: tensor %.*s must have %zu values", gguf_path(l->g),
                         (int)t->name.n, t->name.p, n);
    status = mem_alloc(out, "a norm's weights", l->e, n, sizeof(**out), 1, 1);
    if (status != OK)
        return status;
    switch (t->type) {
    case TENSOR_F32:
        memcpy(*out, t->data, n * sizeof(**out));
        return OK;
    case TENSOR_F16:
        l->m->kernels->widen_f16(*out, t->data, n);
        return OK;
    case TENSOR_BF16:
        l->m->kernels->widen_bf16(*out, t->data, n);
        return OK;
    default:
        return error_set(l->e, ERR_UNSUPPORTED, "%s: tensor %.*s must be F32, F16 or BF16",
                         gguf_path(l->g), (int)t->name.n, t->name.p);
    }
}

/*
 * The file's llama architecture rotates the neighbours (2i, 2i+1) of a head, the kernel the pairs
 * (i, i + n_rot/2). Rows of q and k are reordered alike, which leaves every q.k as it was.
 */
static size_t rotary_row(const void *context, size_t i)
{
    const struct model_config *c = context;
    size_t j = i % c->head_dim;
    size_t half = c->n_rot / 2;
    size_t from = j < half ? 2 * j : j < c->n_rot ? 2 * (j - half) + 1 : j;

    return i - j + from;
}

static enum status load_matrix(struct matrix *out, struct loader *l, const char *what, size_t layer,
                               size_t n_in, size_t n_out, matrix_row_fn *row_of)
{
    const struct gguf_tensor *t;
    enum status status = find(&t, l, "blk.%zu.%s.weight", layer, what);

    if (status != OK)
        return status;
    return matrix_pack(out, l->g, t, n_in, n_out, l->m->kernels->panel, row_of, &l->m->config,
                       l->e);
}

static enum status load_norm(float **out, struct loader *l, const char *what, size_t layer)
{
    const struct gguf_tensor *t;
    enum status status = find(&t, l, "blk.%zu.%s.weight", layer, what);

    return status == OK ? load_vector(out, l, t, l->m->config.dim) : status;
}

static enum status load_layer(struct loader *l, size_t i)
{
    const struct model_config *c = &l->m->config;
    struct layer *y = &l->m->layers[i];
    size_t q = c->n_head * c->head_dim;
    size_t kv = c->n_kv_head * c->head_dim;

    if (load_norm(&y->attn_norm, l, "attn_norm", i) != OK ||
        load_matrix(&y->qkv[PART_Q], l, "attn_q", i, c->dim, q, rotary_row) != OK ||
        load_matrix(&y->qkv[PART_K], l, "attn_k", i, c->dim, kv, rotary_row) != OK ||
        load_matrix(&y->qkv[PART_V], l, "attn_v", i, c->dim, kv, NULL) != OK ||
        load_matrix(&y->attn_out, l, "attn_output", i, q, c->dim, NULL) != OK ||
        load_norm(&y->ffn_norm, l, "ffn_norm", i) != OK ||
        load_matrix(&y->gate_up[PART_GATE], l, "ffn_gate", i, c->dim, c->n_ff, NULL) != OK ||
        load_matrix(&y->gate_up[PART_UP], l, "ffn_up", i, c->dim, c->n_ff, NULL) != OK ||
        load_matrix(&y->down, l, "ffn_down", i, c->n_ff, c->dim, NULL) != OK)
        return l->e->code;
    return OK;
}

/* Scales of SSMax lie idle when the user chose another rule; the model's own rule uses them all. */
static bool may_lie_idle(const struct str *name, const struct attention_choice *choice)
{
    static const char mark[] = ".attn_ssmax_";

    for (size_t i = 0; i + sizeof(mark) <= name->n; i++) {
        if (memcmp(name->p + i, mark, sizeof(mark) - 1) == 0)
            return !choice->from_model;
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const void *x = *(const struct gguf_tensor *const *)a;
    const void *y = *(const struct gguf_tensor *const *)b;

    return (x > y) - (x < y);
}

/* A tensor that is left over would have changed the output: better refused than run wrong. */
static enum status refuse_unknown_tensors(const struct loader *l,
                                          const struct attention_choice *choice)
{
    qsort(l->taken, l->n_taken, sizeof(*l->taken), by_address);
    for (size_t i = 0; i < gguf_tensor_count(l->g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(l->g, i);
        if (!bsearch(&t, l->taken, l->n_taken, sizeof(*l->taken), by_address) &&
            !may_lie_idle(&t->name, choice))
            return error_set(l->e, ERR_UNSUPPORTED,
                             "%s: tensor %.*s has no place in a llama model under rule %s",
                             gguf_path(l->g), (int)(t->name.n < 64 ? t->name.n : 64), t->name.p,
                             attention_kind_name(l->m->rule.kind));
    }
    return OK;
}

/* The rule read its tensors itself. */
static enum status take_rule_tensors(struct loader *l)
{
    const struct attention_rule *r = &l->m->rule;
    const struct gguf_tensor *t;
    char name[64];

    for (size_t i = 0; i < l->m->config.n_layer; i++) {
        snprintf(name, sizeof(name), "blk.%zu.attn_ssmax_scale.weight", i);
        if (r->scale && take(l, name, &t) != OK)
            return l->e->code;
        snprintf(name, sizeof(name), "blk.%zu.attn_ssmax_bias.weight", i);
        if (r->bias && take(l, name, &t) != OK)
            return l->e->code;
    }
    return OK;
}

static enum status load_ends(struct loader *l)
{
    struct model *m = l->m;
    const struct model_config *c = &m->config;
    const struct gguf_tensor *t;

    if (find(&t, l, "token_embd.weight") != OK ||
        matrix_pack(&m->embedding, l->g, t, c->dim, c->n_vocab, m->kernels->panel, NULL, NULL,
                    l->e) != OK ||
        find(&t, l, "output_norm.weight") != OK || load_vector(&m->output_norm, l, t, c->dim) != OK)
        return l->e->code;
    if (take(l, "rope_freqs.weight", &t) != OK)
        return l->e->code;
    if (t && load_vector(&m->rope_factors, l, t, c->n_rot / 2) != OK)
        return l->e->code;
    if (take(l, "output.weight", &t) != OK)
        return l->e->code;
    if (!t)
        return OK;
    return matrix_pack(&m->output, l->g, t, c->dim, c->n_vocab, m->kernels->panel, NULL, NULL,
                       l->e);
}

static enum status load_all(struct loader *l, const struct attention_choice *choice)
{
    struct model *m = l->m;
    const struct model_config *c = &m->config;

    if (mem_alloc(&m->layers, "the model's layers", l->e, c->n_layer, sizeof(*m->layers), 1, 1) !=
            OK ||
        attention_rule_load(&m->rule, l->g, choice, c->n_layer, c->n_head, c->training_length,
                            l->e) != OK ||
        load_ends(l) != OK)
        return l->e->code;
    for (size_t i = 0; i < c->n_layer; i++) {
        if (load_layer(l, i) != OK)
            return l->e->code;
    }
    if (take_rule_tensors(l) != OK)
        return l->e->code;
    return refuse_unknown_tensors(l, choice);
}

enum status model_open(struct model **out, const struct gguf *g,
                       const struct model_options *options, struct error *e)
{
    struct loader l = {.g = g, .e = e};
    enum status status;

    *out = NULL;
    status = mem_alloc(&l.m, "a model", e, 1, sizeof(*l.m), 1, 1);
    if (status != OK)
        return status;
    l.m->kernels = options->kernels;
    status = model_read_config(&l.m->config, g, e);
    if (options->rope_theta > 0)
        l.m->config.rope_theta = options->rope_theta;
    if (options->rope_scale > 0)
        l.m->config.rope_scale = options->rope_scale;
    if (status == OK)
        status = load_all(&l, &options->attention);
    free(l.taken);
    if (status != OK) {
        model_free(l.m);
        return status;
    }
    *out = l.m;
    return OK;
}

static void free_layer(struct layer *y)
{
    free(y->attn_norm);
    free(y->ffn_norm);
    for (size_t i = 0; i < N_QKV; i++)
        matrix_release(&y->qkv[i]);
    for (size_t i = 0; i < N_GATE_UP; i++)
        matrix_release(&y->gate_up[i]);
    matrix_release(&y->attn_out);
    matrix_release(&y->down);
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->layers && i < m->config.n_layer; i++)
        free_layer(&m->layers[i]);
    free(m->layers);
    attention_rule_release(&m->rule);
    matrix_release(&m->embedding);
    matrix_release(&m->output);
    free(m->output_norm);
    free(m->rope_factors);
    free(m);
}

const struct model_config *model_config(const struct model *m)
{
    return &m->config;
}

const struct attention_rule *model_rule(const struct model *m)
{
    return &m->rule;
}

const struct matrix *model_output(const struct model *m)
{
    return m->output.panels ? &m->output : &m->embedding;
}

double model_rope_frequency(const struct model *m, size_t i)
{
    const struct model_config *c = &m->config;
    double f = pow(c->rope_theta, -2.0 * (double)i / (double)c->n_rot) / c->rope_scale;

    return m->rope_factors ? f / (double)m->rope_factors[i] : f;
}
