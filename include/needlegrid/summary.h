/*
 * A run in figures: accuracy per length, per depth and overall with intervals, effective length,
 * the worst cell, and what is not counted.
 *
 * Accuracy is the sum of scores over n, the trials that count. Intervals are by bootstrap over
 * samples. Where all samples score alike (all right, say, or there is but one) resamples show no
 * doubt at all, and the interval is Wilson's with the samples as n.
 *
 *     struct summary s;
 *     if (summary_make(&s, &scores, &spec, e) != OK) ...
 *     summary_text(&out, &s);
 *     summary_release(&s);
 */
#ifndef NEEDLEGRID_SUMMARY_H
#define NEEDLEGRID_SUMMARY_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"
#include "needlegrid/scores.h"
#include "needlegrid/stats.h"

#include <stddef.h>
#include <stdint.h>

struct summary_spec {
    double threshold;  /* EFFECTIVE_THRESHOLD */
    double base_share; /* EFFECTIVE_BASE_SHARE */
    size_t resamples;  /* 10,000 */
    uint64_t seed;     /* of the bootstrap */
};

struct summary_line {
    double accuracy; /* 0..1; NaN if no trial counts, and so is its interval */
    struct interval interval;
    int64_t n;        /* trials that count */
    size_t n_samples; /* with such a trial */
    double logprob;   /* mean over the trials that have one; NaN if none has */
    bool alike;       /* every sample scores the same: the interval is Wilson's */
};

/* Counts of lengths, as of effective_absolute(): lengths[at - 1] tokens, 0 = none. */
struct summary_effective {
    size_t at;
    size_t low, high;
};

struct summary_cell {
    size_t length, depth; /* indices; depth == n_depths: without one */
    double accuracy;
    struct interval interval; /* Wilson's */
    int64_t n;
    size_t others; /* cells just as bad */
};

struct summary {
    const struct scores *scores; /* borrowed */
    struct summary_spec spec;
    struct summary_line *lengths; /* [n_lengths] */
    struct summary_line *depths;  /* [n_depths] */
    struct summary_line overall;
    struct summary_effective absolute, relative;
    struct summary_cell worst; /* n == 0: there is no cell */
    int64_t not_counted;
};

NG_MUST_USE enum status summary_make(struct summary *out, const struct scores *scores,
                                     const struct summary_spec *spec, struct error *e);
void summary_release(struct summary *s);

/* A table for people, 80 columns unless a name is longer. */
void summary_text(struct buf *out, const struct summary *s);
/* One object; a number that is not there is null. */
void summary_json(struct buf *out, const struct summary *s);
/* Rows of accuracies, one per length, depth and overall; an empty field is not there. */
void summary_csv_header(struct buf *out);
void summary_csv(struct buf *out, const struct summary *s);

#endif
