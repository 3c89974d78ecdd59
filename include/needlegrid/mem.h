/*
 * Memory: allocation that checks its products and names what it was for.
 *
 * Sizes come from files and flags, so no product of dimensions is formed without a check.
 * Each pointer handed out here is freed by the caller with free().
 *
 *     float *k;
 *     if (mem_alloc(&k, "the key cache", e, n_layer, n_ctx, dim, sizeof(*k)) != OK) ...
 */
#ifndef NEEDLEGRID_MEM_H
#define NEEDLEGRID_MEM_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>

/* a * b into *out; false (and *out untouched) if it does not fit. */
NG_MUST_USE bool size_mul(size_t a, size_t b, size_t *out);
NG_MUST_USE bool size_add(size_t a, size_t b, size_t *out);

/*
 * Zeroed memory of a * b * c * d bytes, aligned to 64, into *(void **)out. A product of 0 bytes
 * gives a valid pointer. On failure *out is NULL and the message names `what` and the size.
 */
NG_MUST_USE enum status mem_alloc(void *out, const char *what, struct error *e, size_t a, size_t b,
                                  size_t c, size_t d);

/*
 * Makes room for at least `need` elements of `size` bytes in *(void **)array, doubling *cap.
 * The contents stay; the new part is not zeroed.
 */
NG_MUST_USE enum status mem_grow(void *array, size_t *cap, size_t need, size_t size,
                                 const char *what, struct error *e);

/* A copy of n bytes with a NUL behind them; NULL and a message on failure. */
char *mem_strndup(const char *s, size_t n, struct error *e);

#endif
