/*
 * Scoring: one outcome per trial, judged on the text of the answer.
 *
 * Order: hit, decoy, partial, refusal, wrong, empty (docs/protocol.md says what each means). The
 * first six are the model's doing and form the denominator; the rest are counted beside it.
 *
 *     struct scorer *s;
 *     if (scorer_new(&s, "number", e) != OK) ...
 *     struct verdict v;
 *     if (scorer_judge(s, response, n, "8106422", NULL, 0, &v, e) != OK) ...
 *     scorer_free(s);
 */
#ifndef NEEDLEGRID_SCORE_H
#define NEEDLEGRID_SCORE_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>

enum outcome {
    OUTCOME_HIT,
    OUTCOME_DECOY,   /* another needle's whole value */
    OUTCOME_PARTIAL, /* another number that starts as the answer does, at least the first digit */
    OUTCOME_REFUSAL,
    OUTCOME_WRONG,
    OUTCOME_EMPTY,
    OUTCOME_LENGTH_STOPPED, /* nothing scorable before the token limit: a miss */
    /* not in the denominator */
    OUTCOME_TRUNCATED_BY_SERVER,
    OUTCOME_OVER_LENGTH,
    OUTCOME_TRANSPORT_ERROR,
    OUTCOME_SKIPPED,
    OUTCOME_COUNT
};

/* "hit", "over-length", ...: the names in the store and the reports. */
const char *outcome_name(enum outcome o);
/* True if the outcome is the model's and counts in the denominator. */
bool outcome_counts(enum outcome o);

/*
 * The outcome of a trial whose text was judged `judged` and whose generation ended at the token
 * limit: length-stopped if nothing scorable stood in the text (a model cut inside its reasoning,
 * or blanks up to the limit), else as judged.
 */
enum outcome outcome_after_stop(enum outcome judged, bool length_stopped);

struct verdict {
    enum outcome outcome;
    double score; /* 1 for a hit, else 0 */
    size_t from;  /* the judged span in the raw response, bytes: the number, or the phrase of */
    size_t to;    /* refusal; from == to if there is none */
};

struct scorer;

/* Scorers: number. An unknown name is refused with the list. */
NG_MUST_USE enum status scorer_new(struct scorer **out, const char *name, struct error *e);
void scorer_free(struct scorer *s);

/*
 * Judges response[0..n), which may be any bytes. Reasoning is not scored: neither what comes
 * before the last "</think>" nor what follows a "<think>" that nothing closes. The rest is `empty`
 * without any letter or digit.
 *
 * number: the first number must be the expected whole number.
 * - Decimal digits of every script count. Between groups of three (and as in 81,06,422) there may
 *   be one kind of separator: comma, space, no-break or thin space, apostrophe, underscore, dot.
 * - Other whole numbers are other numbers: 91234567, 08106422, "1, 2", 8 1 0 6 4 2 2.
 * - A fraction other than zeros or a minus sign makes another number; a closing period does not.
 * - Digits that touch a Latin letter (x1234567, 1234567th, GPT4, 7-digit) are passed over, and
 *   so is a list marker ("1. ") if a number follows.
 * - `partial`: the first digit is right. `refusal`: there is no number, but a phrase of refusal.
 *   An echo of the question has no number: `wrong`.
 *
 * `decoys` [n_decoys] are the values of the other needles in the prompt. ERR_USAGE if `expected`
 * or a decoy is nothing the scorer can compare with.
 */
NG_MUST_USE enum status scorer_judge(struct scorer *s, const char *response, size_t n,
                                     const char *expected, const char *const *decoys,
                                     size_t n_decoys, struct verdict *out, struct error *e);

#endif
