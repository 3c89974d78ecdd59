/*
 * Contexts that are a list of words and nothing else, as in RULER's common and frequent words
 * (cwe, fwe): as many entries as the budget holds, shuffled.
 *
 * Common words: each word asked for stands common_repeats times in the list, every other one
 * other_repeats times; where that is too much for the budget, both in proportion less. Frequent
 * words: the word of rank k stands floor(S k^-alpha) times, S as large as fits.
 */
#ifndef TEXT_LIST_IMPL_H
#define TEXT_LIST_IMPL_H

#include "scene_impl.h"

/* Texts as tokens, one behind the other. */
struct text_table {
    struct tokens ids;
    size_t *ends; /* [n] */
    size_t n, cap;
};

/* All zero to begin with. */
struct list_maker {
    struct text_table heads; /* of entry i: what stands before its word */
    struct text_table tails; /* the filler's, then of word i: the word and what stands behind */
    uint64_t seed;           /* whose words the tails are */
    uint64_t sample;
    bool made;
    uint32_t *order; /* the entries' words, as indices into tails */
    size_t n_order, order_cap;
};

void list_maker_release(struct list_maker *l);

/* The tokens of the shortest list for this scene. */
NG_MUST_USE enum status list_minimum(struct list_maker *l, const struct scene_maker *m,
                                     struct scene *s, size_t *out, struct error *e);

/* Appends a list of at most `budget` tokens. */
NG_MUST_USE enum status list_make(struct list_maker *l, const struct scene_maker *m,
                                  struct scene *s, size_t budget, struct tokens *out,
                                  struct error *e);

#endif
