/*
 * Scoring: one outcome per trial, judged on the text of the answer.
 *
 * Order: hit, decoy, partial, refusal, wrong, empty (docs/protocol.md says what each means). The
 * first six are the model's doing and form the denominator; the rest are counted beside it.
 *
 *     struct scorer *s;
 *     struct scorer_spec spec = {.name = "number", .refusals = "prompts/refusals.txt"};
 *     if (scorer_new(&s, &spec, e) != OK) ...
 *     struct verdict v;
 *     if (scorer_judge(s, &answer, &truth, &v, e) != OK) ... // v is no-verdict, e says why
 *     scorer_free(s);
 *
 * scorer    a hit is                                                        score
 * number    the first number is an expected whole number                    1 for a hit, else 0
 * exact     the text, outer blanks off, is an expected value                1 for a hit, else 0
 * contains  an expected value stands in the text as a word or a number      1 for a hit, else 0
 * regex     see scorer_spec                                                 1 for a hit, else 0
 * all-of    every expected value stands in the text; some: partial          share of them
 * logprob   each token of the answer is the most probable (rank 1)          exp(mean log-prob.)
 */
#ifndef NEEDLEGRID_SCORE_H
#define NEEDLEGRID_SCORE_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
    OUTCOME_HIT,
    OUTCOME_DECOY,   /* another needle's whole value */
    OUTCOME_PARTIAL, /* starts as the answer does; of several values: some */
    OUTCOME_REFUSAL,
    OUTCOME_WRONG,
    OUTCOME_EMPTY,
    OUTCOME_LENGTH_STOPPED, /* nothing scorable before the token limit: a miss */
    /* not in the denominator */
    OUTCOME_TRUNCATED_BY_SERVER,
    OUTCOME_OVER_LENGTH,
    OUTCOME_TRANSPORT_ERROR,
    OUTCOME_SKIPPED,
    OUTCOME_NO_VERDICT, /* the scorer failed: no score, the response is kept */
    OUTCOME_COUNT
};

/* "hit", "over-length", ...: the names in the store and the reports. */
const char *outcome_name(enum outcome o);
/* True if the outcome is the model's and counts in the denominator. */
bool outcome_counts(enum outcome o);

struct scorer_spec {
    const char *name;
    /*
     * regex only, else NULL: PCRE2. Where it has "{value}", each value in turn is put there,
     * quoted, and a match is a hit (a decoy for another needle's). Otherwise its first match is
     * the answer and must be an expected value; \K leaves off what stands before.
     */
    const char *pattern;
    /* File with a PCRE2 pattern per line, "#" for comments: prompts/refusals.txt. NULL: no
     * refusal is known, and what would be one is `wrong`. */
    const char *refusals;
};

/* What the model said; strings and bytes are borrowed. */
struct answer {
    const char *response; /* [n] any bytes */
    size_t n;
    bool finish_length; /* it ended at the token limit */
    bool has_logprob;   /* of the expected answer, teacher-forced: */
    double logprob;     /* mean natural-log probability per token */
    int64_t worst_rank; /* largest rank of its tokens, 1 = the most probable */
};

/* What is right. */
struct truth {
    const char *const *expected; /* [n_expected] the values asked for */
    size_t n_expected;
    const char *const *decoys; /* [n_decoys] the values of all other needles in the prompt */
    size_t n_decoys;
    /* No needle has the key that was asked for: a refusal, or an answer that names no value, is
     * the hit; naming one is wrong, or decoy (false recall). `expected` may be empty. */
    bool absent;
};

struct verdict {
    enum outcome outcome;
    double score; /* 0 to 1 */
    size_t from;  /* the judged span in the raw response, bytes: the value, or the phrase of */
    size_t to;    /* refusal; from == to if there is none */
};

struct scorer;

/* ERR_USAGE: an unknown name (the list is told), a pattern missing, not wanted or wrong, a line of
 * the refusals that is no pattern. The strings of `spec` are not needed afterwards. */
NG_MUST_USE enum status scorer_new(struct scorer **out, const struct scorer_spec *spec,
                                   struct error *e);
void scorer_free(struct scorer *s);

/* The names of all scorers, NULL at the end. */
const char *const *scorer_names(void);
const char *scorer_name(const struct scorer *s);
const char *scorer_pattern(const struct scorer *s); /* or NULL */
/* SHA-256 in hex over the revision of the rules, name, pattern and refusals: what a verdict depends
 * on besides answer and truth. Borrowed from s. */
const char *scorer_hash(const struct scorer *s);

/*
 * Judges one answer. Reasoning is not scored: neither what comes before the last "</think>" nor
 * what follows a "<think>" that nothing closes. The rest is `empty` without any letter or digit,
 * `length-stopped` if the token limit was the reason.
 *
 * Numbers (number; contains and all-of where the value is one):
 * - Decimal digits of every script count. Between groups of three (and as in 81,06,422) there may
 *   be one kind of separator: comma, space, no-break or thin space, apostrophe, underscore, dot.
 * - Other whole numbers are other numbers: 91234567, 08106422, "1, 2", 8 1 0 6 4 2 2.
 * - A fraction other than zeros or a minus sign makes another number; a closing period does not.
 * - Digits that touch a Latin letter (x1234567, 1234567th, GPT4, 7-digit) are passed over, and
 *   so is a list marker ("1. ") if a number follows.
 * - `partial`: the first digit is right. An echo of the question has no number: `wrong`.
 * Words (contains, all-of): capitals do not matter, and no letter or digit touches either end,
 * but for scripts that put no space between words. `partial` (exact, contains): four characters of
 * the beginning, or all but one.
 *
 * On failure *out is no-verdict, score 0: ERR_LIMIT if a pattern backtracks without end, ERR_USAGE
 * if a value is nothing the scorer can compare with, or what it needs is missing (logprob). One
 * thread at a time uses a scorer.
 */
NG_MUST_USE enum status scorer_judge(struct scorer *s, const struct answer *answer,
                                     const struct truth *truth, struct verdict *out,
                                     struct error *e);

#endif
