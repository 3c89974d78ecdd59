/*
 * Builds GGUF files for tests: good ones, and bad ones by appending to `keys` and `tensors`.
 *
 *     struct gguf_build b;
 *     gguf_build_init(&b);
 *     gguf_build_string(&b, "general.architecture", "llama");
 *     gguf_build_uint(&b, "llama.block_count", GGUF_U32, 3);
 *     gguf_build_tensor(&b, "output_norm.weight", TENSOR_F32, 1, (uint64_t[]){4}, norm, 16);
 *     bytes = gguf_build_bytes(&b, &n); ... free(bytes);
 *     gguf_build_release(&b);
 *
 * Ends the test program if memory or disk fail. Numbers are written as the machine has them,
 * which is little-endian.
 */
#ifndef NEEDLEGRID_TESTS_GGUF_BUILD_H
#define NEEDLEGRID_TESTS_GGUF_BUILD_H

#include "needlegrid/buf.h"
#include "needlegrid/gguf.h"

struct gguf_build {
    uint32_t version;   /* 3 */
    uint32_t alignment; /* bytes; 32 */
    uint64_t n_keys;    /* as the header will claim */
    uint64_t n_tensors;
    struct buf keys;    /* names and values */
    struct buf tensors; /* descriptions */
    struct buf data;    /* from the start of the data section on; no padding at the end */
};

void gguf_build_init(struct gguf_build *b);
void gguf_build_release(struct gguf_build *b);

/* Sets the alignment and writes general.alignment; before the first tensor. */
void gguf_build_alignment(struct gguf_build *b, uint32_t alignment);

/* Any integer type, or GGUF_BOOL. */
void gguf_build_uint(struct gguf_build *b, const char *key, enum gguf_type type, uint64_t value);
void gguf_build_f32(struct gguf_build *b, const char *key, float value);
void gguf_build_f64(struct gguf_build *b, const char *key, double value);
void gguf_build_string(struct gguf_build *b, const char *key, const char *value);
void gguf_build_array(struct gguf_build *b, const char *key, enum gguf_type type, const void *data,
                      uint64_t n, size_t n_bytes);
void gguf_build_strings(struct gguf_build *b, const char *key, const char *const *values, size_t n);
void gguf_build_tensor(struct gguf_build *b, const char *name, uint32_t type, uint32_t n_dims,
                       const uint64_t *dims, const void *data, size_t n_bytes);

/* The parts of the above, for files that are wrong. */
void gguf_build_key(struct gguf_build *b, const char *key, uint32_t type);
void gguf_build_append_u32(struct buf *to, uint32_t v);
void gguf_build_append_u64(struct buf *to, uint64_t v);
void gguf_build_append_str(struct buf *to, const char *z);
void gguf_build_tensor_info(struct gguf_build *b, const char *name, uint32_t type, uint32_t n_dims,
                            const uint64_t *dims, uint64_t offset);

/* A model in small: keys of most types, an array of strings, three tensors; two of them hold: */
extern const float gguf_small_norm[4];          /* output_norm.weight, F32 [4] */
extern const uint8_t gguf_small_quants[2 * 34]; /* token_embd.weight, Q8_0 [32, 2] */
void gguf_build_small(struct gguf_build *b);

/* The file, allocated to its exact size, so that a read past its end is seen; caller frees. */
uint8_t *gguf_build_bytes(const struct gguf_build *b, size_t *n);
void gguf_build_write(const struct gguf_build *b, const char *path);

#endif
