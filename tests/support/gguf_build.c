#include "gguf_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "gguf_build: cannot %s\n", what);
    abort();
}

void gguf_build_init(struct gguf_build *b)
{
    *b = (struct gguf_build){
        .version = 3,
        .alignment = 32,
        .keys = BUF_INIT(MAX_BYTES),
        .tensors = BUF_INIT(MAX_BYTES),
        .data = BUF_INIT(MAX_BYTES),
    };
}

void gguf_build_release(struct gguf_build *b)
{
    buf_release(&b->keys);
    buf_release(&b->tensors);
    buf_release(&b->data);
}

void gguf_build_append_u32(struct buf *to, uint32_t v)
{
    buf_append(to, &v, sizeof(v));
}

void gguf_build_append_u64(struct buf *to, uint64_t v)
{
    buf_append(to, &v, sizeof(v));
}

void gguf_build_append_str(struct buf *to, const char *z)
{
    gguf_build_append_u64(to, strlen(z));
    buf_puts(to, z);
}

static void pad(struct buf *to, size_t alignment)
{
    while (to->len % alignment != 0)
        buf_putc(to, '\0');
}

void gguf_build_key(struct gguf_build *b, const char *key, uint32_t type)
{
    gguf_build_append_str(&b->keys, key);
    gguf_build_append_u32(&b->keys, type);
    b->n_keys++;
}

void gguf_build_alignment(struct gguf_build *b, uint32_t alignment)
{
    gguf_build_uint(b, "general.alignment", GGUF_U32, alignment);
    b->alignment = alignment;
}

void gguf_build_uint(struct gguf_build *b, const char *key, enum gguf_type type, uint64_t value)
{
    static const size_t sizes[] = {
        [GGUF_U8] = 1,  [GGUF_I8] = 1,   [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4,
        [GGUF_I32] = 4, [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8,
    };

    gguf_build_key(b, key, type);
    buf_append(&b->keys, &value, sizes[type]);
}

void gguf_build_f32(struct gguf_build *b, const char *key, float value)
{
    gguf_build_key(b, key, GGUF_F32);
    buf_append(&b->keys, &value, sizeof(value));
}

void gguf_build_f64(struct gguf_build *b, const char *key, double value)
{
    gguf_build_key(b, key, GGUF_F64);
    buf_append(&b->keys, &value, sizeof(value));
}

void gguf_build_string(struct gguf_build *b, const char *key, const char *value)
{
    gguf_build_key(b, key, GGUF_STRING);
    gguf_build_append_str(&b->keys, value);
}

void gguf_build_array(struct gguf_build *b, const char *key, enum gguf_type type, const void *data,
                      uint64_t n, size_t n_bytes)
{
    gguf_build_key(b, key, GGUF_ARRAY);
    gguf_build_append_u32(&b->keys, type);
    gguf_build_append_u64(&b->keys, n);
    buf_append(&b->keys, data, n_bytes);
}

void gguf_build_strings(struct gguf_build *b, const char *key, const char *const *values, size_t n)
{
    gguf_build_array(b, key, GGUF_STRING, NULL, n, 0);
    for (size_t i = 0; i < n; i++)
        gguf_build_append_str(&b->keys, values[i]);
}

void gguf_build_tensor_info(struct gguf_build *b, const char *name, uint32_t type, uint32_t n_dims,
                            const uint64_t *dims, uint64_t offset)
{
    gguf_build_append_str(&b->tensors, name);
    gguf_build_append_u32(&b->tensors, n_dims);
    for (uint32_t d = 0; d < n_dims; d++)
        gguf_build_append_u64(&b->tensors, dims[d]);
    gguf_build_append_u32(&b->tensors, type);
    gguf_build_append_u64(&b->tensors, offset);
    b->n_tensors++;
}

void gguf_build_tensor(struct gguf_build *b, const char *name, uint32_t type, uint32_t n_dims,
                       const uint64_t *dims, const void *data, size_t n_bytes)
{
    pad(&b->data, b->alignment);
    gguf_build_tensor_info(b, name, type, n_dims, dims, b->data.len);
    buf_append(&b->data, data, n_bytes);
}

static void assemble(const struct gguf_build *b, struct buf *out)
{
    buf_puts(out, "GGUF");
    gguf_build_append_u32(out, b->version);
    gguf_build_append_u64(out, b->n_tensors);
    gguf_build_append_u64(out, b->n_keys);
    buf_append(out, b->keys.data, b->keys.len);
    buf_append(out, b->tensors.data, b->tensors.len);
    if (b->data.len)
        pad(out, b->alignment);
    buf_append(out, b->data.data, b->data.len);
    need(b->keys.status == OK && b->tensors.status == OK && b->data.status == OK &&
             out->status == OK,
         "allocate the file");
}

uint8_t *gguf_build_bytes(const struct gguf_build *b, size_t *n)
{
    struct buf file = BUF_INIT(MAX_BYTES);
    uint8_t *bytes;

    assemble(b, &file);
    bytes = malloc(file.len);
    need(bytes != NULL, "allocate the file");
    memcpy(bytes, file.data, file.len);
    *n = file.len;
    buf_release(&file);
    return bytes;
}

void gguf_build_write(const struct gguf_build *b, const char *path)
{
    size_t n;
    uint8_t *bytes = gguf_build_bytes(b, &n);
    FILE *f = fopen(path, "wb");

    need(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, path);
    free(bytes);
}

const float gguf_small_norm[4] = {1.0f, -2.5f, 0.0f, 1e-3f};
const uint8_t gguf_small_quants[2 * 34] = {7, 0x3c, 1, 2, 3, [33] = 9, [34] = 8, [67] = 5};

void gguf_build_small(struct gguf_build *b)
{
    static const char *const tokens[] = {"<s>", "", "the", "\xc3\xa9"};
    static const int32_t kinds[] = {3, 1, 1, -1};
    static const uint16_t half[3] = {0x3c00, 0xbc00, 0};

    gguf_build_init(b);
    gguf_build_string(b, "general.architecture", "llama");
    gguf_build_alignment(b, 32);
    gguf_build_uint(b, "llama.block_count", GGUF_U32, 3);
    gguf_build_uint(b, "llama.context_length", GGUF_U64, 256);
    gguf_build_f32(b, "llama.rope.freq_base", 5e5f);
    gguf_build_uint(b, "tokenizer.ggml.add_bos_token", GGUF_BOOL, 1);
    gguf_build_strings(b, "tokenizer.ggml.tokens", tokens, 4);
    gguf_build_array(b, "tokenizer.ggml.token_type", GGUF_I32, kinds, 4, sizeof(kinds));
    gguf_build_tensor(b, "output_norm.weight", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                      sizeof(gguf_small_norm));
    gguf_build_tensor(b, "token_embd.weight", 8, 2, (uint64_t[]){32, 2}, gguf_small_quants,
                      sizeof(gguf_small_quants));
    gguf_build_tensor(b, "bias", TENSOR_F16, 4, (uint64_t[]){3, 1, 1, 1}, half, sizeof(half));
}
