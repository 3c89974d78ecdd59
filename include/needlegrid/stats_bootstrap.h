/*
 * Bootstrap over samples (Efron 1979; by cluster: Davison, Hinkley 1997, section 3.8).
 *
 * Trials of one sample share haystack and needle, so whole samples are drawn, with replacement, as
 * many as there are. What is drawn are sums per sample, not trials, so a million trials cost what
 * their samples cost; samples over CLUSTERS_MAX are pooled, by number, into that many groups,
 * which stand for samples (a group of independent samples is one draw too; an interval's width is
 * then off by about 1.6%).
 *
 *     struct clusters c;
 *     if (clusters_init(&c, n_samples, n_columns, e) != OK) ...
 *     clusters_add(&c, sample, column, score);
 *     if (bootstrap(&c, &spec, column_mean, NULL, n_columns, intervals, e) != OK) ...
 *     clusters_release(&c);
 */
#ifndef NEEDLEGRID_STATS_BOOTSTRAP_H
#define NEEDLEGRID_STATS_BOOTSTRAP_H

#include "needlegrid/error.h"
#include "needlegrid/stats.h"

#include <stddef.h>
#include <stdint.h>

enum { CLUSTERS_MAX = 2048 };

struct clusters {
    size_t n;         /* samples, or groups of them */
    size_t n_columns; /* what is summed: lengths, depths, ... */
    double *totals;   /* [n, 2 * n_columns]: per column the sum of scores, then their number */
};

NG_MUST_USE enum status clusters_init(struct clusters *c, size_t n_samples, size_t n_columns,
                                      struct error *e);
void clusters_release(struct clusters *c);
/* One trial's score; `sample` counts from 0. */
void clusters_add(struct clusters *c, size_t sample, size_t column, double score);

struct bootstrap_spec {
    uint64_t seed;
    size_t resamples;
    double confidence; /* 0.95 */
};

/*
 * Computes n_out figures from the totals [2 * n_columns] of one resample; NaN where the resample
 * has none (a column without trials), which the interval leaves out.
 */
typedef void bootstrap_fn(void *context, const double *totals, size_t n_columns, double *out,
                          size_t n_out);
/* A bootstrap_fn: each column's sum over its number. */
void column_means(void *context, const double *totals, size_t n_columns, double *out, size_t n_out);

/*
 * Percentile intervals: of B sorted figures the k-th smallest and k-th largest, k = floor((B + 1)
 * q) (Efron, Tibshirani 1993, p. 160). q is bootstrap_tail(): the plain percentile interval is too
 * narrow for few samples. {NaN, NaN} if no resample had a figure.
 */
NG_MUST_USE enum status bootstrap(const struct clusters *c, const struct bootstrap_spec *spec,
                                  bootstrap_fn *figures, void *context, size_t n_out,
                                  struct interval *out, struct error *e);

/*
 * The share cut off at each end: q = Phi(-sqrt(n / (n - 1)) t), t the quantile of Student's
 * distribution with n - 1 degrees of freedom. It makes up for the resamples' variance, which is
 * (n - 1) / n of what it should be, and for its being an estimate (Hesterberg, What Teachers Should
 * Know About the Bootstrap, 2015, section 3.3: "expanded percentile"). 0 for n = 1.
 */
double bootstrap_tail(size_t n, double confidence);

#endif
