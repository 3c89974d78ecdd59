/*
 * Inside the GGUF reader: the cursor that holds every length against the bytes that remain, the
 * list of names, and the opened file.
 *
 * gguf.c opens and reads the keys, gguf_key.c answers for them, gguf_tensor.c knows tensors.
 */
#ifndef NEEDLEGRID_GGUF_IMPL_H
#define NEEDLEGRID_GGUF_IMPL_H

#include "needlegrid/gguf.h"
#include "needlegrid/os.h"

/* Reads forward; kind, index and name say in messages what is being read. */
struct gguf_reader {
    const uint8_t *data;
    size_t size; /* bytes */
    size_t pos;
    const char *path;
    const char *kind; /* "key" or "tensor"; NULL in the header */
    uint64_t index;
    struct str name; /* p == NULL until it is read */
    struct error *e;
};

/* Little-endian, n of 1 to 8 bytes. */
uint64_t gguf_load(const uint8_t *p, size_t n);

/* ERR_FORMAT, with the offset and `part` (of kind and name), if fewer than n bytes remain. */
NG_MUST_USE enum status gguf_take(struct gguf_reader *r, const char *part, uint64_t n,
                                  const uint8_t **out);
NG_MUST_USE enum status gguf_take_u32(struct gguf_reader *r, const char *part, uint32_t *out);
NG_MUST_USE enum status gguf_take_u64(struct gguf_reader *r, const char *part, uint64_t *out);
NG_MUST_USE enum status gguf_take_str(struct gguf_reader *r, const char *part, struct str *out);

/* Fills r->e with "path: kind index 'name' " before the message. */
enum status gguf_fail(const struct gguf_reader *r, enum status code, const char *format, ...)
    NG_PRINTF(3, 4);

/* Pointers to the names of an array of structs whose first member is their name, sorted. */
struct gguf_index {
    const struct str **names;
    size_t n;
};

/* `items` stays in place while the index is used. A name that comes twice is ERR_FORMAT. */
NG_MUST_USE enum status gguf_index_build(struct gguf_index *x, const void *items, size_t n,
                                         size_t item_size, struct gguf_reader *r);
/* The struct of that name, or NULL. */
const void *gguf_index_find(const struct gguf_index *x, const char *name);

/* One key and its value; a scalar is kept as n == 1 element. */
struct gguf_key {
    struct str name; /* first: see struct gguf_index */
    bool is_array;
    enum gguf_type type; /* of the value, or of the elements of an array */
    uint64_t n;
    const uint8_t *data; /* a scalar string's bytes start after its length */
    size_t n_bytes;
};

struct gguf_placed {
    struct gguf_tensor tensor; /* first, as its name is its first: see struct gguf_index */
    uint64_t offset;           /* bytes from the start of the data section */
};

struct gguf {
    char *path;
    struct os_map map; /* data == NULL if the bytes are the caller's */
    const uint8_t *data;
    size_t size; /* bytes */
    uint32_t version;
    struct gguf_key *keys;
    size_t n_keys;
    struct gguf_placed *tensors;
    size_t n_tensors;
    struct gguf_index key_index;
    struct gguf_index tensor_index;
};

/* Bytes of one scalar; 0 for strings, arrays and unknown types. */
size_t gguf_scalar_size(enum gguf_type type);
/* "U32", ...; for messages. */
const char *gguf_type_name(enum gguf_type type);

/* Reads n descriptions of tensors at r and places their data; the keys are read before. */
NG_MUST_USE enum status gguf_read_tensors(struct gguf *g, struct gguf_reader *r, uint64_t n);

#endif
