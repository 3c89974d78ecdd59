/*
 * The scores of one run in memory: one item per trial that counts, by sample, length and depth, and
 * how many trials had which outcome. What statistics are made from.
 *
 *     struct scores s;
 *     if (scores_load(&s, store, run_id, NULL, e) != OK) ...
 *     for (size_t i = 0; i < s.n; i++)
 *         sum[s.items[i].length] += s.items[i].score;
 *     scores_release(&s);
 */
#ifndef NEEDLEGRID_SCORES_H
#define NEEDLEGRID_SCORES_H

#include "needlegrid/error.h"
#include "needlegrid/store_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCORE_NO_DEPTH UINT32_MAX

struct score {
    uint32_t sample, length, depth; /* indices; SCORE_NO_DEPTH where depth means nothing */
    double score;
    double logprob; /* NaN = none */
};

struct outcome_count {
    char name[32];
    bool counted;
    int64_t n;
};

struct scores {
    int64_t run_id;
    char *model, *rule, *task, *template_name, *haystack; /* "" if unknown */
    char *scorer;            /* the one asked for; NULL: each trial's own verdict */
    int64_t training_length; /* tokens; 0 if unknown */
    int64_t *lengths;        /* [n_lengths] tokens, rising; with those where no trial counts */
    size_t n_lengths;
    double *depths; /* [n_depths] percent, rising */
    size_t n_depths;
    size_t n_samples;    /* of trials that count: numbers 0 .. n_samples - 1, in their order */
    struct score *items; /* [n] in the order of length, depth, sample */
    size_t n;
    struct outcome_count *outcomes; /* [n_outcomes] in the order they turned up */
    size_t n_outcomes;
};

/* `scorer` as in trial_filter. run_id must exist: ERR_NOT_FOUND names it otherwise. */
NG_MUST_USE enum status scores_load(struct scores *out, struct store *s, int64_t run_id,
                                    const char *scorer, struct error *e);
void scores_release(struct scores *s);

#define SCORE_ALL_LENGTHS SIZE_MAX
/*
 * Per sample the sum and number of the scores at one length (an index), or at all: sum and count
 * [n_samples]. Returns how many samples have any; they come first, in order.
 */
size_t scores_by_sample(const struct scores *s, size_t length, double *sum, double *count);

#endif
