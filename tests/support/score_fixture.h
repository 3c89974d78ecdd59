/*
 * Tables of answers and the verdicts they must get.
 *
 *     static const char *const expected[] = {"lighthouse"};
 *     static const struct score_case cases[] = {{"A Lighthouse.", OUTCOME_HIT, "Lighthouse", 0}};
 *     struct score_table t = {.spec = {.name = "contains"}, .truth = {expected, 1, ...}};
 *     check_table(&t, cases, COUNT(cases));
 */
#ifndef NEEDLEGRID_TEST_SCORE_FIXTURE_H
#define NEEDLEGRID_TEST_SCORE_FIXTURE_H

#include "needlegrid/score.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LIST(a) (a), COUNT(a)

#define HIT OUTCOME_HIT
#define DECOY OUTCOME_DECOY
#define PARTIAL OUTCOME_PARTIAL
#define REFUSAL OUTCOME_REFUSAL
#define WRONG OUTCOME_WRONG
#define EMPTY OUTCOME_EMPTY

struct score_case {
    const char *response;
    enum outcome want;
    const char *span; /* the judged bytes; NULL if there are none */
    double score;     /* 0: 1 for a hit, else 0 */
};

struct score_table {
    struct scorer_spec spec; /* without refusals: those of prompts/ */
    struct truth truth;
};

/* The scorer `name` with the refusals of prompts/; `pattern` may be NULL. */
struct scorer *open_scorer(const char *name, const char *pattern);
/* What it says of a text, which must be judged without an error. */
struct verdict judge_text(struct scorer *s, const char *response, size_t n,
                          const struct truth *truth);
/* The same by scorer `name`, of one expected value. */
struct verdict judge_one(const char *name, const char *response, const char *expected);
/* Fails the test, with each case that differs, unless all are judged as they should be. */
void check_table(const struct score_table *t, const struct score_case *cases, size_t n);

#endif
