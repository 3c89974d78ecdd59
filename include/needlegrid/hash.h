/*
 * SHA-256 (libcrypto) of bytes and of named fields.
 *
 * hash_field() hashes name and value with their lengths, so that no two lists of fields give the
 * same bytes. Keys of trials and runs are made this way.
 *
 *     struct hash *h;
 *     if (hash_new(&h, e) != OK) ...
 *     hash_field(h, "task", task, strlen(task));
 *     hash_hex(h, hex, e);
 *     hash_free(h);
 */
#ifndef NEEDLEGRID_HASH_H
#define NEEDLEGRID_HASH_H

#include "needlegrid/error.h"

#include <stddef.h>
#include <stdint.h>

#define HASH_HEX_SIZE 65 /* 64 lower-case hex digits and a NUL */

struct hash;

NG_MUST_USE enum status hash_new(struct hash **out, struct error *e);
void hash_free(struct hash *h);
void hash_bytes(struct hash *h, const void *data, size_t n);
void hash_field(struct hash *h, const char *name, const void *value, size_t n);
void hash_field_str(struct hash *h, const char *name, const char *value);
void hash_field_u64(struct hash *h, const char *name, uint64_t value);
/* %.17g of the value, so that equal numbers hash the same. */
void hash_field_f64(struct hash *h, const char *name, double value);

/* Writes the digest and starts afresh. */
NG_MUST_USE enum status hash_hex(struct hash *h, char hex[HASH_HEX_SIZE], struct error *e);

/* All in one. */
NG_MUST_USE enum status hash_memory(const void *data, size_t n, char hex[HASH_HEX_SIZE],
                                    struct error *e);
#endif
