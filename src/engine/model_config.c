/* The dimensions of a model, from the keys of its GGUF file. */
#include "needlegrid/model.h"

#include "needlegrid/utf8.h"

#include <stdio.h>
#include <string.h>

/* Dimensions past these are no model of today; under them no product below overflows 64 bits. */
enum {
    MAX_LAYERS = 4096,
    MAX_HEADS = 4096,
    MAX_WIDTH = 1 << 20,
    MAX_VOCABULARY = 1 << 24,
};

static enum status need(size_t *out, const struct gguf *g, const char *key, size_t max,
                        struct error *e)
{
    uint32_t v;
    enum status status = gguf_u32(g, key, &v, e);

    if (status != OK)
        return status;
    if (v < 1 || v > max)
        return error_set(e, ERR_FORMAT, "%s: %s is %u, must be 1 to %zu", gguf_path(g), key, v,
                         max);
    *out = v;
    return OK;
}

static enum status check_architecture(const struct gguf *g, struct error *e)
{
    struct str arch;
    enum status status = gguf_string(g, "general.architecture", &arch, e);

    if (status != OK)
        return status;
    if (!str_eq(arch, "llama"))
        return error_set(e, ERR_UNSUPPORTED,
                         "%s: architecture \"%.*s\" is not supported; this version runs: llama",
                         gguf_path(g), (int)(arch.n < 64 ? arch.n : 64), arch.p);
    if (gguf_has(g, "llama.expert_count")) {
        uint32_t n = 0;
        if (gguf_u32(g, "llama.expert_count", &n, e) != OK)
            return e->code;
        if (n > 0)
            return error_set(e, ERR_UNSUPPORTED, "%s: mixture-of-experts models are not supported",
                             gguf_path(g));
    }
    return OK;
}

static enum status read_heads(struct model_config *c, const struct gguf *g, struct error *e)
{
    uint32_t kv = (uint32_t)c->n_head;
    uint32_t dim;
    uint32_t value_dim;
    uint32_t rot;

    if (gguf_u32_opt(g, "llama.attention.head_count_kv", &kv, e) != OK)
        return e->code;
    if (kv < 1 || c->n_head % kv != 0)
        return error_set(e, ERR_FORMAT, "%s: %zu query heads cannot share %u key heads",
                         gguf_path(g), c->n_head, kv);
    c->n_kv_head = kv;
    dim = (uint32_t)(c->dim / c->n_head);
    if (gguf_u32_opt(g, "llama.attention.key_length", &dim, e) != OK)
        return e->code;
    value_dim = dim;
    if (gguf_u32_opt(g, "llama.attention.value_length", &value_dim, e) != OK)
        return e->code;
    rot = dim;
    if (gguf_u32_opt(g, "llama.rope.dimension_count", &rot, e) != OK)
        return e->code;
    if (dim < 1 || dim > MAX_WIDTH || value_dim != dim || rot > dim || rot % 2 != 0)
        return error_set(e, ERR_FORMAT,
                         "%s: head of %u dimensions, values of %u, %u of them rotating: must be "
                         "equal, and an even number rotating",
                         gguf_path(g), dim, value_dim, rot);
    c->head_dim = dim;
    c->n_rot = rot;
    return OK;
}

static enum status read_rope(struct model_config *c, const struct gguf *g, struct error *e)
{
    struct str type = {"linear", 6}; /* older files have a factor and no type */
    float theta = 10000.0f;
    float factor = 0.0f; /* none */

    if (gguf_f32_opt(g, "llama.rope.freq_base", &theta, e) != OK ||
        gguf_string_opt(g, "llama.rope.scaling.type", &type, e) != OK ||
        gguf_f32_opt(g, "llama.rope.scale_linear", &factor, e) != OK ||
        gguf_f32_opt(g, "llama.rope.scaling.factor", &factor, e) != OK)
        return e->code;
    if (!str_eq(type, "none") && !str_eq(type, "linear"))
        return error_set(e, ERR_UNSUPPORTED,
                         "%s: rope scaling \"%.*s\" is not supported; this version runs: linear",
                         gguf_path(g), (int)(type.n < 64 ? type.n : 64), type.p);
    if (factor == 0.0f)
        factor = 1.0f;
    if (!(theta >= 1.0f && theta <= 1e12f) || !(factor > 0.0f && factor <= 1e6f))
        return error_set(e, ERR_FORMAT, "%s: rope base %g or scaling factor %g out of range",
                         gguf_path(g), (double)theta, (double)factor);
    c->rope_theta = (double)theta;
    c->rope_scale = str_eq(type, "linear") ? (double)factor : 1.0;
    return OK;
}

static enum status read_vocabulary(struct model_config *c, const struct gguf *g, struct error *e)
{
    const struct gguf_tensor *t = gguf_tensor(g, "token_embd.weight");

    if (!t)
        return error_set(e, ERR_FORMAT, "%s: no tensor token_embd.weight: a vocabulary-only file?",
                         gguf_path(g));
    if (t->n_dims != 2 || t->dims[0] != c->dim || t->dims[1] < 1 || t->dims[1] > MAX_VOCABULARY)
        return error_set(e, ERR_FORMAT, "%s: token_embd.weight must be [%zu, vocabulary]",
                         gguf_path(g), c->dim);
    c->n_vocab = (size_t)t->dims[1];
    return OK;
}

enum status model_name(char out[MODEL_NAME_SIZE], const struct gguf *g, struct error *e)
{
    const char *slash = strrchr(gguf_path(g), '/');
    const char *file = slash ? slash + 1 : gguf_path(g);
    struct str name = {file, strlen(file)};
    size_t n = 0;

    if (gguf_string_opt(g, "general.name", &name, e) != OK)
        return e->code;
    if (name.n == 0)
        name = (struct str){file, strlen(file)};
    for (size_t i = 0; i < name.n && n + 5 < MODEL_NAME_SIZE;) {
        uint32_t cp;
        size_t length = utf8_decode(name.p + i, name.n - i, &cp);
        if (length == 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) {
            out[n++] = '?';
            i += length ? length : 1;
            continue;
        }
        memcpy(out + n, name.p + i, length);
        n += length;
        i += length;
    }
    out[n] = '\0';
    return OK;
}

enum status model_read_config(struct model_config *out, const struct gguf *g, struct error *e)
{
    uint32_t length = 0;

    memset(out, 0, sizeof(*out));
    if (check_architecture(g, e) != OK ||
        need(&out->n_layer, g, "llama.block_count", MAX_LAYERS, e) != OK ||
        need(&out->dim, g, "llama.embedding_length", MAX_WIDTH, e) != OK ||
        need(&out->n_ff, g, "llama.feed_forward_length", MAX_WIDTH, e) != OK ||
        need(&out->n_head, g, "llama.attention.head_count", MAX_HEADS, e) != OK ||
        read_heads(out, g, e) != OK || read_rope(out, g, e) != OK ||
        gguf_u32_opt(g, "llama.context_length", &length, e) != OK ||
        gguf_f32(g, "llama.attention.layer_norm_rms_epsilon", &out->norm_eps, e) != OK)
        return e->code;
    if (!(out->norm_eps > 0.0f && out->norm_eps < 1.0f))
        return error_set(e, ERR_FORMAT, "%s: norm epsilon %g must be over 0 and under 1",
                         gguf_path(g), (double)out->norm_eps);
    out->training_length = length;
    return read_vocabulary(out, g, e);
}
