/*
 * Opens any bytes as GGUF and reads all that the reader then offers: each key through each getter,
 * each array of each type, the first and last byte of each string and tensor.
 */
#include "needlegrid/gguf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const void *data, size_t n)
{
    const uint8_t *p = data;

    if (n == 0)
        return;
    sink ^= p[0];
    sink ^= p[n - 1];
}

static void read_scalars(const struct gguf *g, const char *key)
{
    struct error e;
    struct str s;
    uint32_t u;
    float f;
    bool flag;

    if (gguf_string(g, key, &s, &e) == OK)
        touch(s.p, s.n);
    if (gguf_u32(g, key, &u, &e) == OK)
        touch(&u, sizeof(u));
    if (gguf_f32(g, key, &f, &e) == OK)
        touch(&f, sizeof(f));
    if (gguf_bool(g, key, &flag, &e) == OK && flag)
        touch(key, 1);
}

static void read_arrays(const struct gguf *g, const char *key)
{
    struct gguf_array a;
    struct str *strings;
    struct error e;

    for (int type = GGUF_U8; type <= GGUF_F64; type++) {
        if (gguf_array(g, key, (enum gguf_type)type, &a, &e) != OK)
            continue;
        touch(a.data, a.n_bytes);
        if (type != GGUF_STRING || gguf_array_strings(&a, &strings, &e) != OK)
            continue;
        for (size_t i = 0; i < (size_t)a.n; i++)
            touch(strings[i].p, strings[i].n);
        free(strings);
    }
}

static void read_key(const struct gguf *g, struct str name)
{
    char *key = malloc(name.n + 1);

    if (!key)
        return;
    memcpy(key, name.p, name.n);
    key[name.n] = '\0';
    read_scalars(g, key);
    read_arrays(g, key);
    free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf *g;
    struct error e;
    char buffer[24];

    if (gguf_open_memory(&g, data, size, "fuzz.gguf", &e) != OK)
        return 0;
    for (size_t i = 0; i < gguf_key_count(g); i++)
        read_key(g, gguf_key_at(g, i));
    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);

        touch(t->name.p, t->name.n);
        touch(t->data, t->n_bytes);
        touch(gguf_tensor_type_name(t->type, buffer), 1);
    }
    gguf_close(g);
    return 0;
}
