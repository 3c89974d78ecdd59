/*
 * Verdicts: what scorers said of stored responses later, without inference.
 *
 * A trial's own verdict stays as it was. Each scorer has at most one verdict of a trial; judging
 * again replaces it. store_each_trial() and store_each_cell() read them by the scorer's name.
 *
 *     struct verdict_batch b = {.scorer = "contains", .items = items, .n = n, ...};
 *     if (store_put_verdicts(s, &b, e) != OK) ...
 */
#ifndef NEEDLEGRID_STORE_VERDICT_H
#define NEEDLEGRID_STORE_VERDICT_H

#include "needlegrid/store_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verdict_item {
    int64_t trial_id;
    const char *outcome; /* outcome_name(); "no-verdict" where the scorer failed */
    bool counted;        /* outcome_counts() */
    double score;
    const char *error; /* why there is no verdict, or NULL */
};

/* One scorer's verdicts; strings borrowed. */
struct verdict_batch {
    const char *scorer;
    const char *scorer_hash;
    const char *pattern;              /* of `regex`, else NULL */
    const char *tool_version;         /* not in the canonical dump */
    const char *scored_at;            /* UTC, ISO 8601; not in the canonical dump */
    const struct verdict_item *items; /* [n] */
    size_t n;
};

/* In one transaction: all or none. */
NG_MUST_USE enum status store_put_verdicts(struct store *s, const struct verdict_batch *b,
                                           struct error *e);

struct verdict_row {
    const char *scorer;
    const char *scorer_hash;
    const char *pattern;
    const char *tool_version;
    const char *scored_at;
    struct verdict_item item;
};

typedef enum status store_verdict_fn(void *context, const struct verdict_row *row, struct error *e);

/* The stored verdicts, not the trials' own, in the order of trial, scorer. filter->scorer NULL =
 * all. */
NG_MUST_USE enum status store_each_verdict(struct store *s, const struct trial_filter *filter,
                                           store_verdict_fn *row, void *context, struct error *e);

/* How the trials of a run (0 = all) stand with a scorer, by the rule of trial_filter.scorer. */
struct verdict_count {
    int64_t trials;
    int64_t judged;  /* with an outcome of the model's own */
    int64_t failed;  /* no-verdict: the scorer was tried */
    int64_t missing; /* never tried */
    int64_t other;   /* not counted for another reason: transport-error, ... */
};

NG_MUST_USE enum status store_count_verdicts(struct store *s, int64_t run_id, const char *scorer,
                                             struct verdict_count *out, struct error *e);

#endif
