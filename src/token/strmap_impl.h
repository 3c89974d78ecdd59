/*
 * A hash table from strings to token ids, for a set of ids known beforehand.
 *
 * The strings are not copied: `keys` is the array of all tokens' strings, indexed by id, and must
 * outlive the map.
 */
#ifndef NEEDLEGRID_STRMAP_IMPL_H
#define NEEDLEGRID_STRMAP_IMPL_H

#include "needlegrid/tokenizer.h"

struct strmap_slot {
    uint32_t hash;
    token_id id; /* TOKEN_NONE in an empty slot */
};

struct strmap {
    const struct str *keys;
    struct strmap_slot *slots; /* [mask + 1], a power of two, never more than half full */
    size_t mask;
};

/* Room for `max` ids. */
NG_MUST_USE enum status strmap_init(struct strmap *m, const struct str *keys, size_t max,
                                    struct error *e);
void strmap_release(struct strmap *m);

/* Adds keys[id]; of equal strings the first one added stays. */
void strmap_put(struct strmap *m, token_id id);

/* The id of the string, or TOKEN_NONE. */
token_id strmap_get(const struct strmap *m, struct str s);
/* The id of the string a followed by b, or TOKEN_NONE. */
token_id strmap_get_joined(const struct strmap *m, struct str a, struct str b);

#endif
