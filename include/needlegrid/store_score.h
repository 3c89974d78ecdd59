/*
 * A run's scores without its texts: what statistics need of a trial, read off an index, so that a
 * million trials take about a second.
 */
#ifndef NEEDLEGRID_STORE_SCORE_H
#define NEEDLEGRID_STORE_SCORE_H

#include "needlegrid/store_read.h"

#include <stdbool.h>
#include <stdint.h>

struct score_row {
    int64_t context_length;
    double target_depth; /* percent or NaN */
    int64_t sample;
    const char *outcome;
    bool counted;
    double score;
    double logprob; /* NaN = none */
};

typedef enum status store_score_fn(void *context, const struct score_row *row, struct error *e);

/* In the order of context length, depth (NaN first), sample. `scorer` as in trial_filter. */
NG_MUST_USE enum status store_each_score(struct store *s, int64_t run_id, const char *scorer,
                                         store_score_fn *row, void *context, struct error *e);

#endif
