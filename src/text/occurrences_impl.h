/*
 * Which of a generator's strings stand in a haystack already, so that none of them is drawn.
 *
 * The text is read once, whatever its size and the number of keys. Strings of a list are found as
 * whole words; of random strings all that have the form are noted, in a set of bits by hash: at
 * worst one too many is not drawn.
 */
#ifndef TEXT_OCCURRENCES_IMPL_H
#define TEXT_OCCURRENCES_IMPL_H

#include "string_pool_impl.h"

#include "needlegrid/generator.h"
#include "needlegrid/haystack.h"

#include <stdbool.h>
#include <stdint.h>

struct occurrences {
    struct string_set list; /* of a list's strings */
    uint64_t *bits;         /* of random strings; NULL if the text has none */
    size_t n_bits;          /* a power of two */
};

NG_MUST_USE enum status occurrences_find(struct occurrences *o, const struct generator *g,
                                         const struct haystack *h, struct error *e);
void occurrences_release(struct occurrences *o);

/* True if this string of the generator may not be drawn. */
bool occurrences_has(const struct occurrences *o, const char *s, size_t n);

#endif
