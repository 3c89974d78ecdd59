#include "gguf_impl.h"

#include "needlegrid/mem.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size; /* bytes of a scalar */
} types[] = {
    [GGUF_U8] = {"U8", 1},       [GGUF_I8] = {"I8", 1},     [GGUF_U16] = {"U16", 2},
    [GGUF_I16] = {"I16", 2},     [GGUF_U32] = {"U32", 4},   [GGUF_I32] = {"I32", 4},
    [GGUF_F32] = {"F32", 4},     [GGUF_BOOL] = {"BOOL", 1}, [GGUF_STRING] = {"STRING", 0},
    [GGUF_ARRAY] = {"ARRAY", 0}, [GGUF_U64] = {"U64", 8},   [GGUF_I64] = {"I64", 8},
    [GGUF_F64] = {"F64", 8},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

size_t gguf_scalar_size(enum gguf_type type)
{
    return (size_t)type < N_TYPES ? types[type].size : 0;
}

const char *gguf_type_name(enum gguf_type type)
{
    return (size_t)type < N_TYPES ? types[type].name : "unknown";
}

bool gguf_has(const struct gguf *g, const char *key)
{
    return gguf_index_find(&g->key_index, key) != NULL;
}

size_t gguf_key_count(const struct gguf *g)
{
    return g->n_keys;
}

struct str gguf_key_at(const struct gguf *g, size_t i)
{
    assert(i < g->n_keys);
    return g->keys[i].name;
}

static enum status find(const struct gguf *g, const char *key, const struct gguf_key **out,
                        struct error *e)
{
    *out = gguf_index_find(&g->key_index, key);
    return *out ? OK : error_set(e, ERR_NOT_FOUND, "%s: there is no key '%s'", g->path, key);
}

static enum status wrong_type(const struct gguf *g, const struct gguf_key *k, const char *key,
                              const char *wanted, struct error *e)
{
    return error_set(e, ERR_FORMAT, "%s: key '%s' is %s%s, but it should be %s", g->path, key,
                     k->is_array ? "an array of " : "", gguf_type_name(k->type), wanted);
}

static bool is_signed(enum gguf_type type)
{
    return type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64;
}

static bool is_integer(enum gguf_type type)
{
    return is_signed(type) || type == GGUF_U8 || type == GGUF_U16 || type == GGUF_U32 ||
           type == GGUF_U64;
}

enum status gguf_u32(const struct gguf *g, const char *key, uint32_t *out, struct error *e)
{
    const struct gguf_key *k;
    uint64_t v;
    enum status status = find(g, key, &k, e);

    if (status != OK)
        return status;
    if (k->is_array || !is_integer(k->type))
        return wrong_type(g, k, key, "an integer", e);
    v = gguf_load(k->data, k->n_bytes);
    if (is_signed(k->type) && v >> (8 * k->n_bytes - 1))
        return error_set(e, ERR_FORMAT, "%s: key '%s' is negative", g->path, key);
    if (v > UINT32_MAX)
        return error_set(e, ERR_FORMAT, "%s: key '%s' is %" PRIu64 ", which is too large", g->path,
                         key, v);
    *out = (uint32_t)v;
    return OK;
}

static float load_f32(const uint8_t *p)
{
    uint32_t bits = (uint32_t)gguf_load(p, 4);
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static double load_f64(const uint8_t *p)
{
    uint64_t bits = gguf_load(p, 8);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

enum status gguf_f32(const struct gguf *g, const char *key, float *out, struct error *e)
{
    const struct gguf_key *k;
    double v;
    enum status status = find(g, key, &k, e);

    if (status != OK)
        return status;
    if (k->is_array || (k->type != GGUF_F32 && k->type != GGUF_F64))
        return wrong_type(g, k, key, "F32 or F64", e);
    if (k->type == GGUF_F32) {
        *out = load_f32(k->data);
        return OK;
    }
    v = load_f64(k->data);
    if (isfinite(v) && fabs(v) > (double)FLT_MAX)
        return error_set(e, ERR_FORMAT, "%s: key '%s' is %g, which is too large", g->path, key, v);
    *out = (float)v;
    return OK;
}

enum status gguf_bool(const struct gguf *g, const char *key, bool *out, struct error *e)
{
    const struct gguf_key *k;
    enum status status = find(g, key, &k, e);

    if (status != OK)
        return status;
    if (k->is_array || k->type != GGUF_BOOL)
        return wrong_type(g, k, key, "BOOL", e);
    if (k->data[0] > 1)
        return error_set(e, ERR_FORMAT, "%s: key '%s' is a boolean of value %d, not 0 or 1",
                         g->path, key, k->data[0]);
    *out = k->data[0] == 1;
    return OK;
}

enum status gguf_string(const struct gguf *g, const char *key, struct str *out, struct error *e)
{
    const struct gguf_key *k;
    enum status status = find(g, key, &k, e);

    if (status != OK)
        return status;
    if (k->is_array || k->type != GGUF_STRING)
        return wrong_type(g, k, key, "STRING", e);
    out->p = (const char *)k->data;
    out->n = k->n_bytes;
    return OK;
}

enum status gguf_array(const struct gguf *g, const char *key, enum gguf_type type,
                       struct gguf_array *out, struct error *e)
{
    const struct gguf_key *k;
    enum status status = find(g, key, &k, e);

    if (status != OK)
        return status;
    if (!k->is_array || k->type != type) {
        char wanted[40];

        snprintf(wanted, sizeof(wanted), "an array of %s", gguf_type_name(type));
        return wrong_type(g, k, key, wanted, e);
    }
    for (size_t i = 0; type == GGUF_BOOL && i < k->n_bytes; i++) {
        if (k->data[i] > 1)
            return error_set(e, ERR_FORMAT, "%s: key '%s' holds a boolean of value %d, not 0 or 1",
                             g->path, key, k->data[i]);
    }
    *out = (struct gguf_array){.type = type, .n = k->n, .data = k->data, .n_bytes = k->n_bytes};
    return OK;
}

enum status gguf_u32_opt(const struct gguf *g, const char *key, uint32_t *out, struct error *e)
{
    return gguf_has(g, key) ? gguf_u32(g, key, out, e) : OK;
}

enum status gguf_f32_opt(const struct gguf *g, const char *key, float *out, struct error *e)
{
    return gguf_has(g, key) ? gguf_f32(g, key, out, e) : OK;
}

enum status gguf_bool_opt(const struct gguf *g, const char *key, bool *out, struct error *e)
{
    return gguf_has(g, key) ? gguf_bool(g, key, out, e) : OK;
}

enum status gguf_string_opt(const struct gguf *g, const char *key, struct str *out, struct error *e)
{
    return gguf_has(g, key) ? gguf_string(g, key, out, e) : OK;
}

/* The lengths were held against the file when it was opened. */
enum status gguf_array_strings(const struct gguf_array *a, struct str **out, struct error *e)
{
    const uint8_t *p = a->data;
    enum status status;

    assert(a->type == GGUF_STRING && a->n <= a->n_bytes / 8);
    status = mem_alloc(out, "an array of strings", e, (size_t)a->n, sizeof(**out), 1, 1);
    if (status != OK)
        return status;
    for (size_t i = 0; i < (size_t)a->n; i++) {
        size_t n = (size_t)gguf_load(p, 8);

        (*out)[i] = (struct str){(const char *)p + 8, n};
        p += 8 + n;
    }
    return OK;
}
