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

struct verdict {
    enum outcome outcome;
    double score;  /* 1 for a hit, else 0 */
    size_t from;   /* the scored span of the response, bytes; from == to if none */
    size_t to;
};

struct scorer;

/* Scorers: number. An unknown name is refused with the list. */
NG_MUST_USE enum status scorer_new(struct scorer **out, const char *name, struct error *e);
void scorer_free(struct scorer *s);

/*
 * number: the first whole number in the response, thousands separators (comma, space, thin and
 * no-break spaces, apostrophe, underscore, dot before groups of three) removed, Unicode decimal
 * digits folded, must equal the expected one. A response that only repeats the question has no
 * number and is `wrong`; one without any letter or digit is `empty`. `decoys` are the values of
 * the other needles in the prompt.
 */
NG_MUST_USE enum status scorer_judge(struct scorer *s, const char *response, size_t n,
                                     const char *expected, const char *const *decoys,
                                     size_t n_decoys, struct verdict *out, struct error *e);

#endif
