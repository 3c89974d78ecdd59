/*
 * Inside the scorers. A scorer is one file with one `struct scorer_class`, listed in score.c.
 *
 * score.c takes the reasoning off, answers `empty` and, where a scorer found nothing to score,
 * `refusal`; a class decides between hit, decoy, partial and wrong on the text that is left.
 */
#ifndef NEEDLEGRID_SCORE_IMPL_H
#define NEEDLEGRID_SCORE_IMPL_H

#include "needlegrid/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A response and what it is held against. Only text[from..to) is scored. */
struct answer {
    const char *text; /* the raw response: offsets in verdicts count from here */
    size_t from;
    size_t to;
    const char *expected;
    const char *const *decoys; /* [n_decoys] */
    size_t n_decoys;
};

struct scorer_class {
    const char *name;
    /* Finds *out wrong, score 0, without a span; leaves it so if there is nothing to score. */
    enum status (*judge)(const struct answer *a, struct verdict *out, struct error *e);
};

extern const struct scorer_class scorer_number;

/*
 * Sets from and to: behind the last "</think>", and before a "<think>" that nothing closes, as
 * the model was cut while it reasoned.
 */
void answer_strip_reasoning(struct answer *a);

/* True if there is a letter or a digit of any script. */
bool answer_has_word(const struct answer *a);

/* True if there is a phrase of refusal ("I don't know", "not mentioned"), and where. */
bool answer_refuses(const struct answer *a, size_t *from, size_t *to);

/* The character at text[at], at < to, and its length; U+FFFD and 1 for a byte that is no UTF-8. */
uint32_t answer_char(const char *text, size_t at, size_t to, size_t *length);

/* True for A-Z, a-z and the accented letters of Latin scripts. */
bool is_latin_letter(uint32_t c);

#endif
