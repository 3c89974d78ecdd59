#include "gguf_impl.h"

#include "needlegrid/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8, /* length of the name, n_dims, one dim, type, offset */
    DEFAULT_ALIGNMENT = 32,               /* bytes */
};

/*
 * Values in a block and bytes of a block, by the number in the file. Sizes from the block structs
 * of ggml/src/ggml-common.h, numbers from enum ggml_type of ggml/include/ggml.h; the holes are
 * types that ggml has withdrawn.
 */
static const struct {
    const char *name;
    uint32_t values;
    uint32_t bytes;
} types[] = {
    [0] = {"F32", 1, 4},         [1] = {"F16", 1, 2},         [2] = {"Q4_0", 32, 18},
    [3] = {"Q4_1", 32, 20},      [6] = {"Q5_0", 32, 22},      [7] = {"Q5_1", 32, 24},
    [8] = {"Q8_0", 32, 34},      [9] = {"Q8_1", 32, 36},      [10] = {"Q2_K", 256, 84},
    [11] = {"Q3_K", 256, 110},   [12] = {"Q4_K", 256, 144},   [13] = {"Q5_K", 256, 176},
    [14] = {"Q6_K", 256, 210},   [15] = {"Q8_K", 256, 292},   [16] = {"IQ2_XXS", 256, 66},
    [17] = {"IQ2_XS", 256, 74},  [18] = {"IQ3_XXS", 256, 98}, [19] = {"IQ1_S", 256, 50},
    [20] = {"IQ4_NL", 32, 18},   [21] = {"IQ3_S", 256, 110},  [22] = {"IQ2_S", 256, 82},
    [23] = {"IQ4_XS", 256, 136}, [24] = {"I8", 1, 1},         [25] = {"I16", 1, 2},
    [26] = {"I32", 1, 4},        [27] = {"I64", 1, 8},        [28] = {"F64", 1, 8},
    [29] = {"IQ1_M", 256, 56},   [30] = {"BF16", 1, 2},       [34] = {"TQ1_0", 256, 54},
    [35] = {"TQ2_0", 256, 66},   [39] = {"MXFP4", 32, 17},
};

static bool is_known(uint32_t type)
{
    return type < sizeof(types) / sizeof(types[0]) && types[type].name;
}

const char *gguf_tensor_type_name(uint32_t type, char buffer[24])
{
    if (is_known(type))
        return types[type].name;
    snprintf(buffer, 24, "type %" PRIu32, type);
    return buffer;
}

static enum status read_dims(struct gguf_reader *r, struct gguf_tensor *t, uint64_t *n_values)
{
    enum status status = gguf_take_u32(r, "number of dimensions", &t->n_dims);

    if (status != OK)
        return status;
    if (t->n_dims < 1 || t->n_dims > 4)
        return gguf_fail(r, ERR_FORMAT, "has %" PRIu32 " dimensions, not 1 to 4", t->n_dims);
    *n_values = 1;
    for (uint32_t d = 0; d < 4; d++) {
        t->dims[d] = 1;
        if (d < t->n_dims)
            status = gguf_take_u64(r, "dimension", &t->dims[d]);
        if (status != OK)
            return status;
        if (t->dims[d] == 0)
            return gguf_fail(r, ERR_FORMAT, "has a dimension of 0");
        /* Within int64_t, which those who walk a tensor count in. */
        if (t->dims[d] > INT64_MAX / *n_values)
            return gguf_fail(r, ERR_FORMAT, "has more than 2^63 values");
        *n_values *= t->dims[d];
    }
    return OK;
}

static enum status size_tensor(struct gguf_reader *r, struct gguf_tensor *t, uint64_t n_values)
{
    uint64_t n_blocks;

    if (!is_known(t->type))
        return OK;
    if (t->dims[0] % types[t->type].values != 0)
        return gguf_fail(r, ERR_FORMAT, "has rows of %" PRIu64 " values, but %s comes in %" PRIu32,
                         t->dims[0], types[t->type].name, types[t->type].values);
    n_blocks = n_values / types[t->type].values;
    if (n_blocks > SIZE_MAX / types[t->type].bytes)
        return gguf_fail(r, ERR_FORMAT, "has more than 2^64 bytes");
    t->n_bytes = (size_t)n_blocks * types[t->type].bytes;
    return OK;
}

static enum status read_tensor(struct gguf_reader *r, struct gguf_placed *p)
{
    uint64_t n_values = 0;
    enum status status;

    r->name.p = NULL;
    status = gguf_take_str(r, "name", &p->tensor.name);
    if (status != OK)
        return status;
    r->name = p->tensor.name;
    status = read_dims(r, &p->tensor, &n_values);
    if (status == OK)
        status = gguf_take_u32(r, "type", &p->tensor.type);
    if (status == OK)
        status = gguf_take_u64(r, "offset", &p->offset);
    return status == OK ? size_tensor(r, &p->tensor, n_values) : status;
}

/*
 * The format asks for a multiple of 8, which also lets every scalar type be read in place; a power
 * of two, as ggml demands.
 */
static enum status read_alignment(const struct gguf *g, uint32_t *out, struct error *e)
{
    enum status status;

    *out = DEFAULT_ALIGNMENT;
    status = gguf_u32_opt(g, "general.alignment", out, e);
    if (status == OK && (*out < 8 || (*out & (*out - 1)) != 0))
        return error_set(e, ERR_FORMAT,
                         "%s: general.alignment is %" PRIu32 ", not a power of two from 8 on",
                         g->path, *out);
    return status;
}

/* The data section starts at the first aligned byte from r->pos on. */
static enum status place_data(struct gguf *g, struct gguf_reader *r)
{
    uint32_t alignment = 0;
    size_t padding;
    size_t room; /* bytes of the data section */
    enum status status = read_alignment(g, &alignment, r->e);

    if (status != OK)
        return status;
    padding = (alignment - r->pos % alignment) % alignment;
    room = padding < r->size - r->pos ? r->size - r->pos - padding : 0;
    for (size_t i = 0; i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i].tensor;
        uint64_t offset = g->tensors[i].offset;

        r->index = i;
        r->name = t->name;
        if (offset % alignment != 0)
            return gguf_fail(r, ERR_FORMAT,
                             "has the offset %" PRIu64 ", not a multiple of the alignment %" PRIu32,
                             offset, alignment);
        if (offset > room || t->n_bytes > room - offset)
            return gguf_fail(r, ERR_FORMAT,
                             "needs %zu bytes at offset %" PRIu64 " of the data, which starts at "
                             "%zu and has %zu: the file is cut or damaged, fetch it again",
                             t->n_bytes, offset, r->pos + padding, room);
        if (is_known(t->type))
            t->data = r->data + r->pos + padding + offset;
    }
    return OK;
}

enum status gguf_read_tensors(struct gguf *g, struct gguf_reader *r, uint64_t n)
{
    size_t cap = 0;
    enum status status;

    r->kind = NULL;
    if (n > (r->size - r->pos) / MIN_TENSOR_BYTES)
        return gguf_fail(r, ERR_FORMAT,
                         "claims %" PRIu64 " tensors, more than fit in the %zu bytes from offset "
                         "%zu on: it is cut or damaged, fetch it again",
                         n, r->size - r->pos, r->pos);
    r->kind = "tensor";
    for (r->index = 0; r->index < n; r->index++) {
        struct gguf_placed p = {.offset = 0};

        status = read_tensor(r, &p);
        if (status == OK)
            status = mem_grow(&g->tensors, &cap, g->n_tensors + 1, sizeof(*g->tensors),
                              "the tensors of a GGUF file", r->e);
        if (status != OK)
            return status;
        g->tensors[g->n_tensors++] = p;
    }
    status = place_data(g, r);
    if (status != OK)
        return status;
    return gguf_index_build(&g->tensor_index, g->tensors, g->n_tensors, sizeof(*g->tensors), r);
}

size_t gguf_tensor_count(const struct gguf *g)
{
    return g->n_tensors;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i)
{
    assert(i < g->n_tensors);
    return &g->tensors[i].tensor;
}

const struct gguf_tensor *gguf_tensor(const struct gguf *g, const char *name)
{
    return gguf_index_find(&g->tensor_index, name);
}

void gguf_forget(const struct gguf *g, const struct gguf_tensor *t)
{
    if (g->map.data && t->data)
        os_map_forget(&g->map, t->data, t->n_bytes);
}
