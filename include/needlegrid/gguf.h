/*
 * Reading GGUF, versions 2 and 3, little-endian.
 *
 * Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The file is mapped read-only
 * and private; every length, count and offset is held against the bytes that remain before it is
 * used, so a cut or hostile file gives an error and never a wild read; names that come twice are
 * refused. Names and strings are views into the map: not NUL-terminated, borrowed until
 * gguf_close().
 *
 *     struct gguf *g;
 *     if (gguf_open(&g, "models/tiny-ssmax.gguf", e) != OK) ...
 *     uint32_t n_layer;
 *     if (gguf_u32(g, "llama.block_count", &n_layer, e) != OK) ...
 *     const struct gguf_tensor *t = gguf_tensor(g, "token_embd.weight");
 *     gguf_close(g);
 */
#ifndef NEEDLEGRID_GGUF_H
#define NEEDLEGRID_GGUF_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gguf_type {
    GGUF_U8 = 0,
    GGUF_I8 = 1,
    GGUF_U16 = 2,
    GGUF_I16 = 3,
    GGUF_U32 = 4,
    GGUF_I32 = 5,
    GGUF_F32 = 6,
    GGUF_BOOL = 7,
    GGUF_STRING = 8,
    GGUF_ARRAY = 9,
    GGUF_U64 = 10,
    GGUF_I64 = 11,
    GGUF_F64 = 12,
};

/* The tensor types of ggml by their number in the file; others are kept as numbers. */
enum tensor_type {
    TENSOR_F32 = 0,
    TENSOR_F16 = 1,
    TENSOR_BF16 = 30,
};

struct str {
    const char *p; /* n bytes, no NUL behind them */
    size_t n;
};

bool str_eq(struct str s, const char *z);

struct gguf_tensor {
    struct str name;
    uint32_t n_dims;  /* 1 to 4 */
    uint64_t dims[4]; /* fastest first, as in the file; 1 beyond n_dims */
    uint32_t type;    /* enum tensor_type, or another number of ggml or none of it */
    const void *data; /* aligned to 8 in the file; NULL if ggml does not know the type */
    size_t n_bytes;   /* 0 if ggml does not know the type */
};

struct gguf_array {
    enum gguf_type type; /* never GGUF_ARRAY: arrays of arrays are refused */
    uint64_t n;
    const uint8_t *data; /* strings lie one after the other: walk them with gguf_array_strings() */
    size_t n_bytes;
};

struct gguf;

NG_MUST_USE enum status gguf_open(struct gguf **out, const char *path, struct error *e);
/*
 * The same on bytes the caller keeps until gguf_close(), aligned to 8 if tensors are read in
 * place; `name` stands for the path in messages.
 */
NG_MUST_USE enum status gguf_open_memory(struct gguf **out, const void *data, size_t n,
                                         const char *name, struct error *e);
void gguf_close(struct gguf *g);

const char *gguf_path(const struct gguf *g);
uint32_t gguf_version(const struct gguf *g);
size_t gguf_file_size(const struct gguf *g);

bool gguf_has(const struct gguf *g, const char *key);
/* Names of keys in the order of the file; i below the count. */
size_t gguf_key_count(const struct gguf *g);
struct str gguf_key_at(const struct gguf *g, size_t i);

/*
 * Typed getters. A missing key is ERR_NOT_FOUND, another type or a value out of range
 * ERR_FORMAT, each with file and key. gguf_u32 takes any integer type whose value fits;
 * gguf_f32 takes F32 and F64.
 */
NG_MUST_USE enum status gguf_u32(const struct gguf *g, const char *key, uint32_t *out,
                                 struct error *e);
NG_MUST_USE enum status gguf_f32(const struct gguf *g, const char *key, float *out,
                                 struct error *e);
NG_MUST_USE enum status gguf_bool(const struct gguf *g, const char *key, bool *out,
                                  struct error *e);
NG_MUST_USE enum status gguf_string(const struct gguf *g, const char *key, struct str *out,
                                    struct error *e);
NG_MUST_USE enum status gguf_array(const struct gguf *g, const char *key, enum gguf_type type,
                                   struct gguf_array *out, struct error *e);

/* The same, but a missing key leaves *out as the caller set it. */
NG_MUST_USE enum status gguf_u32_opt(const struct gguf *g, const char *key, uint32_t *out,
                                     struct error *e);
NG_MUST_USE enum status gguf_f32_opt(const struct gguf *g, const char *key, float *out,
                                     struct error *e);
NG_MUST_USE enum status gguf_bool_opt(const struct gguf *g, const char *key, bool *out,
                                      struct error *e);
NG_MUST_USE enum status gguf_string_opt(const struct gguf *g, const char *key, struct str *out,
                                        struct error *e);

/* Splits an array of strings into a new array of a->n views; caller frees *out. */
NG_MUST_USE enum status gguf_array_strings(const struct gguf_array *a, struct str **out,
                                           struct error *e);

/* Tensors in the order of the file; i below the count. */
size_t gguf_tensor_count(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
/* NULL if there is none. */
const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name);
/* "F32", "Q4_K", ...; "type 99" for a number ggml does not name. */
const char *gguf_tensor_type_name(uint32_t type, char buffer[24]);

/* Tells the kernel that a tensor's bytes, copied elsewhere, may leave memory. */
void gguf_forget(const struct gguf *g, const struct gguf_tensor *t);

#endif
