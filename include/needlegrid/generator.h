/*
 * Generators: where the keys and values of needles come from.
 *
 * In a template: {"digits": 7} (the first is not 0), {"letters": 5}, {"capitals": 3}, "uuid",
 * "words" (an adjective and a noun, "silver-kettle") or a list of strings.
 *
 *     struct rng r = rng_make(seed, "needle", sample);
 *     generator_draw(&g, &r, &text);
 */
#ifndef NEEDLEGRID_GENERATOR_H
#define NEEDLEGRID_GENERATOR_H

#include "needlegrid/buf.h"
#include "needlegrid/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { GENERATOR_MAX_LENGTH = 18 }; /* digits or letters */

enum generator_kind {
    GENERATE_LIST,
    GENERATE_DIGITS,
    GENERATE_LETTERS,
    GENERATE_CAPITALS,
    GENERATE_UUID,
    GENERATE_WORDS,
};

struct generator {
    enum generator_kind kind;
    size_t length; /* of digits and letters */
    char **list;   /* [n_list] unique; owned by the template */
    size_t n_list;
};

/* Appends one string, each of all there are as likely as another. */
void generator_draw(const struct generator *g, struct rng *r, struct buf *out);

/* How many different strings there are; a double, as uuids are many. */
double generator_count(const struct generator *g);

/*
 * Appends a string that differs from `like`, one of the generator's, in one character behind the
 * first; of words, in the adjective. Lists have none: nothing is appended then, and for one
 * character.
 */
void generator_near(const struct generator *g, const char *like, struct rng *r, struct buf *out);

#endif
