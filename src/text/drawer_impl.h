/*
 * Draws a sample's keys, values and fields, no string twice and none that stands in the haystack.
 *
 * What is drawn first does not depend on how much is drawn after it: a trial takes the first ones,
 * a haystack of needles goes on from there.
 */
#ifndef TEXT_DRAWER_IMPL_H
#define TEXT_DRAWER_IMPL_H

#include "string_pool_impl.h"

#include "needlegrid/rng.h"
#include "needlegrid/template.h"

struct occurrences;

/* How many keys of a prompt are what. */
struct draw_plan {
    size_t asked;   /* the first ones are asked for */
    size_t planted; /* all that stand in the prompt, or are at least asked for */
};

struct drawer {
    const struct prompt_template *tpl;
    const struct occurrences *in_text; /* [2 + n_fields]: of keys, value, fields; NULL = nothing */
    struct draw_plan plan;
    struct rng first; /* the first key and the first value */
    struct rng rest;
    struct string_set taken;
    struct string_pool pool; /* everything drawn */
    struct buf scratch;
    const char *key; /* the first ones, which distractors may be near to */
    const char *value;
    size_t n_keys;
    size_t n_values;
    size_t n_fields; /* of each field */
};

/* All zero to begin with; may be begun again, which ends the life of what was drawn. */
void drawer_begin(struct drawer *d, const struct prompt_template *tpl, struct draw_plan plan,
                  const struct occurrences *in_text, uint64_t seed, uint64_t sample);
void drawer_release(struct drawer *d);

/* The next key, or value, alone. Lives in the drawer. */
NG_MUST_USE enum status drawer_key(struct drawer *d, const char **out, struct error *e);
NG_MUST_USE enum status drawer_value(struct drawer *d, const char **out, struct error *e);

/* The next key with its values[tpl->values] and fields[tpl->n_fields]. */
NG_MUST_USE enum status drawer_next(struct drawer *d, const char **key, const char **values,
                                    const char **fields, struct error *e);

#endif
