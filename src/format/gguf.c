#include "gguf_impl.h"

#include "needlegrid/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_KEY_BYTES = 8 + 4 + 1, /* length of the name, type, one byte of value */
    SHOWN_NAME = 80,           /* bytes of a name shown in a message */
};

/* ---- the cursor ---- */

/* A name from a file may hold anything: keep the message one printable line. */
static void printable(char out[SHOWN_NAME], struct str s)
{
    size_t n = s.n < SHOWN_NAME - 4 ? s.n : SHOWN_NAME - 4;

    for (size_t i = 0; i < n; i++) {
        out[i] = s.p[i];
        if (out[i] < 0x20 || out[i] > 0x7e)
            out[i] = '?';
    }
    memcpy(out + n, n < s.n ? "..." : "", n < s.n ? 4 : 1);
}

/* "key 3 'general.name' ", "key 3 " before the name is read, "" in the header. */
static void describe(const struct gguf_reader *r, char *out, size_t size)
{
    char name[SHOWN_NAME];

    out[0] = '\0';
    if (!r->kind)
        return;
    if (!r->name.p) {
        snprintf(out, size, "%s %" PRIu64 " ", r->kind, r->index);
        return;
    }
    printable(name, r->name);
    snprintf(out, size, "%s %" PRIu64 " '%s' ", r->kind, r->index, name);
}

enum status gguf_fail(const struct gguf_reader *r, enum status code, const char *format, ...)
{
    char subject[SHOWN_NAME + 40];
    char text[300];
    va_list args;

    describe(r, subject, sizeof(subject));
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return error_set(r->e, code, "%s: %s%s", r->path, subject, text);
}

uint64_t gguf_load(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

enum status gguf_take(struct gguf_reader *r, const char *part, uint64_t n, const uint8_t **out)
{
    if (n > r->size - r->pos)
        return gguf_fail(r, ERR_FORMAT,
                         "%s needs %" PRIu64 " bytes at offset %zu, but the file ends at %zu: "
                         "it is cut or damaged, fetch it again",
                         part, n, r->pos, r->size);
    *out = r->data + r->pos;
    r->pos += (size_t)n;
    return OK;
}

enum status gguf_take_u32(struct gguf_reader *r, const char *part, uint32_t *out)
{
    const uint8_t *p = NULL;
    enum status status = gguf_take(r, part, 4, &p);

    if (status == OK)
        *out = (uint32_t)gguf_load(p, 4);
    return status;
}

enum status gguf_take_u64(struct gguf_reader *r, const char *part, uint64_t *out)
{
    const uint8_t *p = NULL;
    enum status status = gguf_take(r, part, 8, &p);

    if (status == OK)
        *out = gguf_load(p, 8);
    return status;
}

enum status gguf_take_str(struct gguf_reader *r, const char *part, struct str *out)
{
    const uint8_t *p = NULL;
    uint64_t n = 0;
    enum status status = gguf_take_u64(r, part, &n);

    if (status == OK)
        status = gguf_take(r, part, n, &p);
    if (status != OK)
        return status;
    out->p = (const char *)p;
    out->n = (size_t)n;
    return OK;
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b)
{
    const struct str *s = *(const struct str *const *)a;
    const struct str *t = *(const struct str *const *)b;
    int order = memcmp(s->p, t->p, s->n < t->n ? s->n : t->n);

    return order ? order : (s->n > t->n) - (s->n < t->n);
}

/* Sorted rather than hashed: no file can choose names that make it slow. */
enum status gguf_index_build(struct gguf_index *x, const void *items, size_t n, size_t item_size,
                             struct gguf_reader *r)
{
    enum status status =
        mem_alloc(&x->names, "the names in a GGUF file", r->e, n, sizeof(const struct str *), 1, 1);

    if (status != OK)
        return status;
    for (size_t i = 0; i < n; i++)
        x->names[i] = (const void *)((const char *)items + i * item_size);
    qsort(x->names, n, sizeof(const struct str *), compare_names);
    x->n = n;
    for (size_t i = 1; i < n; i++) {
        if (compare_names(&x->names[i - 1], &x->names[i]) != 0)
            continue;
        r->name = *x->names[i];
        r->index = (size_t)((const char *)x->names[i] - (const char *)items) / item_size;
        return gguf_fail(r, ERR_FORMAT, "has the name of another one");
    }
    return OK;
}

const void *gguf_index_find(const struct gguf_index *x, const char *name)
{
    struct str wanted = {name, strlen(name)};
    const struct str *key = &wanted;
    const struct str **found;

    found = bsearch(&key, x->names, x->n, sizeof(const struct str *), compare_names);
    return found ? *found : NULL;
}

bool str_eq(struct str s, const char *z)
{
    return s.n == strlen(z) && memcmp(s.p, z, s.n) == 0;
}

/* ---- keys ---- */

/* Strings lie one after the other: only a walk finds where the last one ends. */
static enum status skip_strings(struct gguf_reader *r, uint64_t n)
{
    struct str ignored;

    for (uint64_t i = 0; i < n; i++) {
        enum status status = gguf_take_str(r, "value", &ignored);

        if (status != OK)
            return status;
    }
    return OK;
}

static enum status read_array(struct gguf_reader *r, struct gguf_key *k)
{
    size_t start;
    size_t at_least;
    const uint8_t *p = NULL;
    uint32_t type = 0;
    enum status status = gguf_take_u32(r, "element type", &type);

    if (status == OK)
        status = gguf_take_u64(r, "element count", &k->n);
    if (status != OK)
        return status;
    if (type == GGUF_ARRAY)
        return gguf_fail(r, ERR_UNSUPPORTED, "is an array of arrays, which is not supported");
    k->is_array = true;
    k->type = (enum gguf_type)type;
    at_least = type == GGUF_STRING ? 8 : gguf_scalar_size(k->type);
    if (at_least == 0)
        return gguf_fail(r, ERR_FORMAT, "is an array of unknown type %" PRIu32, type);
    if (k->n > (r->size - r->pos) / at_least)
        return gguf_fail(r, ERR_FORMAT,
                         "claims %" PRIu64 " elements at offset %zu, but the file ends at %zu: "
                         "it is cut or damaged, fetch it again",
                         k->n, r->pos, r->size);
    start = r->pos;
    k->data = r->data + start;
    status =
        type == GGUF_STRING ? skip_strings(r, k->n) : gguf_take(r, "value", k->n * at_least, &p);
    k->n_bytes = r->pos - start;
    return status;
}

static enum status read_value(struct gguf_reader *r, struct gguf_key *k)
{
    struct str s;
    uint32_t type = 0;
    enum status status = gguf_take_u32(r, "type", &type);

    if (status != OK)
        return status;
    if (type == GGUF_ARRAY)
        return read_array(r, k);
    k->is_array = false;
    k->type = (enum gguf_type)type;
    k->n = 1;
    if (type == GGUF_STRING) {
        status = gguf_take_str(r, "value", &s);
        if (status == OK) {
            k->data = (const uint8_t *)s.p;
            k->n_bytes = s.n;
        }
        return status;
    }
    k->n_bytes = gguf_scalar_size(k->type);
    if (k->n_bytes == 0)
        return gguf_fail(r, ERR_FORMAT, "has the unknown type %" PRIu32, type);
    return gguf_take(r, "value", k->n_bytes, &k->data);
}

static enum status read_keys(struct gguf *g, struct gguf_reader *r, uint64_t n)
{
    size_t cap = 0;
    enum status status;

    if (n > (r->size - r->pos) / MIN_KEY_BYTES)
        return gguf_fail(r, ERR_FORMAT,
                         "claims %" PRIu64 " keys, more than fit in the %zu bytes from offset %zu "
                         "on: it is cut or damaged, fetch it again",
                         n, r->size - r->pos, r->pos);
    r->kind = "key";
    /* Grown as keys are read, so that memory follows what is there and not what is claimed. */
    for (r->index = 0; r->index < n; r->index++) {
        struct gguf_key k = {.name = {NULL, 0}};

        r->name.p = NULL;
        status = gguf_take_str(r, "name", &k.name);
        if (status != OK)
            return status;
        r->name = k.name;
        status = read_value(r, &k);
        if (status == OK)
            status = mem_grow(&g->keys, &cap, g->n_keys + 1, sizeof(*g->keys),
                              "the keys of a GGUF file", r->e);
        if (status != OK)
            return status;
        g->keys[g->n_keys++] = k;
    }
    return gguf_index_build(&g->key_index, g->keys, g->n_keys, sizeof(*g->keys), r);
}

/* ---- the file ---- */

static enum status read_version(struct gguf *g, struct gguf_reader *r)
{
    const uint8_t *magic = NULL;
    enum status status = gguf_take(r, "the magic number", 4, &magic);

    if (status == OK && memcmp(magic, "GGUF", 4) != 0)
        return gguf_fail(r, ERR_FORMAT, "not a GGUF file: it does not start with \"GGUF\"");
    if (status == OK)
        status = gguf_take_u32(r, "the version", &g->version);
    if (status != OK || g->version == 2 || g->version == 3)
        return status;
    /* Small numbers stand in the high half when they were written the other way round. */
    if (g->version != 0 && (g->version & 0xffff) == 0)
        return gguf_fail(r, ERR_UNSUPPORTED, "a big-endian GGUF file; convert it to little-endian");
    return gguf_fail(r, ERR_UNSUPPORTED,
                     "GGUF version %" PRIu32 ", but only 2 and 3 are supported; convert it again",
                     g->version);
}

static enum status read_file(struct gguf *g, struct error *e)
{
    struct gguf_reader r = {.data = g->data, .size = g->size, .path = g->path, .e = e};
    uint64_t n_tensors = 0;
    uint64_t n_keys = 0;
    enum status status = read_version(g, &r);

    if (status == OK)
        status = gguf_take_u64(&r, "the number of tensors", &n_tensors);
    if (status == OK)
        status = gguf_take_u64(&r, "the number of keys", &n_keys);
    if (status == OK)
        status = read_keys(g, &r, n_keys);
    return status == OK ? gguf_read_tensors(g, &r, n_tensors) : status;
}

static enum status new_gguf(struct gguf **out, const char *path, struct error *e)
{
    enum status status = mem_alloc(out, "a GGUF file", e, 1, sizeof(**out), 1, 1);

    if (status != OK)
        return status;
    (*out)->path = mem_strndup(path, strlen(path), e);
    return (*out)->path ? OK : ERR_NOMEM;
}

/* Hands g out if all went well, and frees it if not. */
static enum status finish(struct gguf **out, struct gguf *g, enum status status)
{
    if (status != OK) {
        gguf_close(g);
        g = NULL;
    }
    *out = g;
    return status;
}

enum status gguf_open(struct gguf **out, const char *path, struct error *e)
{
    struct gguf *g;
    enum status status = new_gguf(&g, path, e);

    if (status == OK)
        status = os_map_open(&g->map, path, e);
    if (status == OK) {
        g->data = g->map.data;
        g->size = g->map.size;
        status = read_file(g, e);
    }
    return finish(out, g, status);
}

enum status gguf_open_memory(struct gguf **out, const void *data, size_t n, const char *name,
                             struct error *e)
{
    struct gguf *g;
    enum status status = new_gguf(&g, name, e);

    if (status == OK) {
        g->data = data;
        g->size = n;
        status = read_file(g, e);
    }
    return finish(out, g, status);
}

void gguf_close(struct gguf *g)
{
    if (!g)
        return;
    os_map_close(&g->map);
    free(g->key_index.names);
    free(g->tensor_index.names);
    free(g->keys);
    free(g->tensors);
    free(g->path);
    free(g);
}

const char *gguf_path(const struct gguf *g)
{
    return g->path;
}

uint32_t gguf_version(const struct gguf *g)
{
    return g->version;
}

size_t gguf_file_size(const struct gguf *g)
{
    return g->size;
}
