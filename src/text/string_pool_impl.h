/*
 * Strings that live together, and a set of strings known by their hashes.
 */
#ifndef TEXT_STRING_POOL_IMPL_H
#define TEXT_STRING_POOL_IMPL_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_block;

/* All zero to begin with. */
struct string_pool {
    struct pool_block *blocks;
};

/* A copy that lives until the pool is released; NULL and a message without memory. */
const char *string_pool_add(struct string_pool *p, const char *s, size_t n, struct error *e);
void string_pool_release(struct string_pool *p);

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ ; never 0 */
uint64_t string_hash(const char *s, size_t n);

/* Hashes of strings, open-addressed; all zero to begin with. */
struct string_set {
    uint64_t *slots;
    size_t n_slots; /* a power of two */
    size_t n;
};

bool string_set_has(const struct string_set *s, uint64_t hash);
NG_MUST_USE enum status string_set_add(struct string_set *s, uint64_t hash, struct error *e);
/* Empties it; keeps the memory. */
void string_set_clear(struct string_set *s);
void string_set_release(struct string_set *s);

#endif
