#include "needlegrid/attention_rule.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [ATTENTION_SOFTMAX] = "softmax",
    [ATTENTION_SSMAX] = "ssmax",
    [ATTENTION_SSMAX_FIXED] = "ssmax-fixed",
    [ATTENTION_SSMAX_BIAS] = "ssmax-bias",
};

enum { N_KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

#define RULES "softmax, ssmax, ssmax-fixed, ssmax-bias"

const char *attention_kind_name(enum attention_kind kind)
{
    return kind_names[kind];
}

static bool find_kind(const char *name, size_t n, enum attention_kind *out)
{
    for (int i = 0; i < N_KINDS; i++) {
        if (strlen(kind_names[i]) == n && memcmp(kind_names[i], name, n) == 0) {
            *out = (enum attention_kind)i;
            return true;
        }
    }
    return false;
}

/* One "s=0.2" of the list after the colon; *at moves past it. */
static bool parse_parameter(struct attention_choice *out, const char **at)
{
    char name = **at;
    char *end;
    float value;

    if ((name != 's' && name != 'b') || (*at)[1] != '=')
        return false;
    value = strtof(*at + 2, &end);
    if (end == *at + 2 || !isfinite(value) || (*end != '\0' && *end != ','))
        return false;
    *at = *end == ',' ? end + 1 : end;
    if (name == 's') {
        out->s = value;
        out->has_s = true;
    } else {
        out->b = value;
        out->has_b = true;
    }
    return true;
}

enum status attention_choice_parse(struct attention_choice *out, const char *text, struct error *e)
{
    size_t n = strcspn(text, ":");
    const char *at = text + n + (text[n] == ':');

    memset(out, 0, sizeof(*out));
    if (strcmp(text, "model") == 0) {
        out->from_model = true;
        return OK;
    }
    if (!find_kind(text, n, &out->kind))
        return error_set(e, ERR_USAGE, "unknown attention rule \"%s\"; rules: model, %s", text,
                         RULES);
    if (text[n] == ':' && *at == '\0')
        return error_set(e, ERR_USAGE, "attention rule \"%s\": nothing after the colon", text);
    while (*at) {
        if (!parse_parameter(out, &at))
            return error_set(e, ERR_USAGE,
                             "attention rule \"%s\": parameters are s=NUMBER and b=NUMBER", text);
    }
    if ((out->has_s && out->kind == ATTENTION_SOFTMAX) ||
        (out->has_b && out->kind != ATTENTION_SSMAX_BIAS))
        return error_set(e, ERR_USAGE, "attention rule \"%s\" has no such parameter", text);
    return OK;
}

double ssmax_neutral_scale(size_t length)
{
    return length < 2 ? 1.0 : (double)length / lgamma((double)length + 1);
}

/* The architecture's own key: "llama" + ".attention.rule". */
static enum status arch_key(char key[128], const struct gguf *g, const char *suffix,
                            struct error *e)
{
    struct str arch;
    enum status status = gguf_string(g, "general.architecture", &arch, e);

    if (status != OK)
        return status;
    if (snprintf(key, 128, "%.*s.%s", (int)(arch.n < 64 ? arch.n : 64), arch.p, suffix) >= 128)
        return error_set(e, ERR_FORMAT, "%s: architecture name too long", gguf_path(g));
    return OK;
}

static enum status model_kind(enum attention_kind *out, const struct gguf *g, struct error *e)
{
    char key[128];
    struct str name = {"softmax", 7};

    if (arch_key(key, g, "attention.rule", e) != OK || gguf_string_opt(g, key, &name, e) != OK)
        return e->code;
    if (!find_kind(name.p, name.n, out))
        return error_set(e, ERR_UNSUPPORTED, "%s: unknown attention rule \"%.*s\" in %s; rules: %s",
                         gguf_path(g), (int)(name.n < 64 ? name.n : 64), name.p, key, RULES);
    return OK;
}

/* Row `layer` of out [n_layer, n_head] from a tensor [n_head] of float32. */
static enum status load_row(float *out, const struct gguf *g, const char *what, size_t layer,
                            size_t n_head, struct error *e)
{
    char name[64];
    const struct gguf_tensor *t;

    snprintf(name, sizeof(name), "blk.%zu.attn_ssmax_%s.weight", layer, what);
    t = gguf_tensor(g, name);
    if (!t)
        return error_set(e, ERR_FORMAT, "%s: the model's attention rule needs tensor %s",
                         gguf_path(g), name);
    if (t->type != TENSOR_F32 || t->n_dims != 1 || t->dims[0] != n_head)
        return error_set(e, ERR_FORMAT, "%s: tensor %s must be F32 with %zu values (one per head)",
                         gguf_path(g), name, n_head);
    memcpy(out + layer * n_head, t->data, n_head * sizeof(*out));
    return OK;
}

static bool has_tensor(const struct gguf *g, const char *what)
{
    char name[64];

    snprintf(name, sizeof(name), "blk.0.attn_ssmax_%s.weight", what);
    return gguf_tensor(g, name) != NULL;
}

/* The shortest decimal that reads back as the same float: 0.3, not 0.300000012. */
static void print_float(char out[24], float f)
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, 24, "%.*g", digits, (double)f);
        if (strtof(out, NULL) == f)
            return;
    }
}

static void add_detail(struct attention_rule *r, const char *what, const char *text)
{
    size_t used = strlen(r->detail);

    snprintf(r->detail + used, sizeof(r->detail) - used, "%s%s %s", used ? ", " : "", what, text);
}

static enum status alloc_scales(float **out, const struct attention_rule *r, struct error *e)
{
    return mem_alloc(out, "the attention rule's scales", e, r->n_layer, r->n_head, sizeof(**out),
                     1);
}

/* One value for every layer and head. */
static enum status set_scales(float **out, struct attention_rule *r, const char *what, float value,
                              const char *origin, struct error *e)
{
    char number[24];
    char text[64];

    if (alloc_scales(out, r, e) != OK)
        return e->code;
    for (size_t i = 0; i < r->n_layer * r->n_head; i++)
        (*out)[i] = value;
    print_float(number, value);
    snprintf(text, sizeof(text), "%s (%s)", number, origin);
    add_detail(r, what, text);
    return OK;
}

/* The model's own, from one tensor a layer. */
static enum status load_scales(float **out, struct attention_rule *r, const struct gguf *g,
                               const char *what, struct error *e)
{
    if (alloc_scales(out, r, e) != OK)
        return e->code;
    for (size_t layer = 0; layer < r->n_layer; layer++) {
        if (load_row(*out, g, what, layer, r->n_head, e) != OK)
            return e->code;
    }
    add_detail(r, what, "learned per layer and head");
    return OK;
}

/* s where neither user nor model names one. */
static enum status set_neutral(struct attention_rule *r, const struct gguf *g,
                               size_t training_length, struct error *e)
{
    if (training_length < 2)
        return error_set(e, ERR_USAGE,
                         "%s does not say its context length, so there is no neutral scale: say "
                         "--attention %s:s=X",
                         gguf_path(g), attention_kind_name(r->kind));
    return set_scales(&r->scale, r, "scale", (float)ssmax_neutral_scale(training_length), "neutral",
                      e);
}

/* The user's s, else the model's, else neutral. */
static enum status choose_scale(struct attention_rule *r, const struct gguf *g, const float *given,
                                bool own, size_t training_length, struct error *e)
{
    if (given)
        return set_scales(&r->scale, r, "scale", *given, "as given", e);
    if (own || has_tensor(g, "scale"))
        return load_scales(&r->scale, r, g, "scale", e);
    return set_neutral(r, g, training_length, e);
}

static enum status choose_bias(struct attention_rule *r, const struct gguf *g, const float *given,
                               bool own, struct error *e)
{
    if (!given && (own || has_tensor(g, "bias")))
        return load_scales(&r->bias, r, g, "bias", e);
    return set_scales(&r->bias, r, "bias", given ? *given : 0.0f, given ? "as given" : "neutral",
                      e);
}

/* ssmax-fixed: one s, from the user, the model's key, or neutral. */
static enum status choose_fixed(struct attention_rule *r, const struct gguf *g, const float *given,
                                size_t training_length, struct error *e)
{
    char key[128];
    float s;

    if (given)
        return set_scales(&r->scale, r, "scale", *given, "as given", e);
    if (arch_key(key, g, "attention.ssmax_scale", e) != OK)
        return e->code;
    if (!gguf_has(g, key))
        return set_neutral(r, g, training_length, e);
    return gguf_f32(g, key, &s, e) == OK ? set_scales(&r->scale, r, "scale", s, "the model's", e)
                                         : e->code;
}

static enum status load_parameters(struct attention_rule *r, const struct gguf *g,
                                   const struct attention_choice *choice, bool own,
                                   size_t training_length, struct error *e)
{
    const float *s = choice->has_s && !choice->from_model ? &choice->s : NULL;
    const float *b = choice->has_b && !choice->from_model ? &choice->b : NULL;

    if (r->kind == ATTENTION_SOFTMAX)
        return OK;
    if (r->kind == ATTENTION_SSMAX_FIXED)
        return choose_fixed(r, g, s, training_length, e);
    if (choose_scale(r, g, s, own, training_length, e) != OK)
        return e->code;
    return r->kind == ATTENTION_SSMAX_BIAS ? choose_bias(r, g, b, own, e) : OK;
}

enum status attention_rule_load(struct attention_rule *out, const struct gguf *g,
                                const struct attention_choice *choice, size_t n_layer,
                                size_t n_head, size_t training_length, struct error *e)
{
    enum attention_kind own = ATTENTION_SOFTMAX;
    enum status status;

    memset(out, 0, sizeof(*out));
    status = model_kind(&own, g, e);
    if (status != OK)
        return status;
    out->kind = choice->from_model ? own : choice->kind;
    out->n_layer = n_layer;
    out->n_head = n_head;
    status = load_parameters(out, g, choice, out->kind == own, training_length, e);
    if (status != OK)
        attention_rule_release(out);
    return status;
}

void attention_rule_release(struct attention_rule *r)
{
    free(r->scale);
    free(r->bias);
    memset(r, 0, sizeof(*r));
}

float attention_multiplier(const struct attention_rule *r, size_t layer, size_t head, double ln_n)
{
    size_t i = layer * r->n_head + head;

    if (r->kind == ATTENTION_SOFTMAX)
        return 1.0f;
    return (float)((double)r->scale[i] * ln_n + (r->bias ? (double)r->bias[i] : 0.0));
}
