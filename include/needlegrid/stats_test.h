/*
 * Is the difference between two runs more than chance? All p-values are two-sided.
 *
 * mcnemar_exact() takes trials for independent, and depths of one sample are not: with several
 * trials per sample it is too sure of itself. The tests by sample hold then too; they decide.
 *
 *     double p;
 *     p = sign_flip_test(differences, n_samples, &(struct resampling){.seed = 0, .n = 100000});
 */
#ifndef NEEDLEGRID_STATS_TEST_H
#define NEEDLEGRID_STATS_TEST_H

#include "needlegrid/error.h"

#include <stddef.h>
#include <stdint.h>

/* Monte Carlo, where there are too many arrangements (over 2^20) to go through them all. */
struct resampling {
    uint64_t seed;
    size_t n; /* draws */
};

/*
 * Paired trials, right in one run and wrong in the other: the exact binomial test of McNemar 1947,
 * min(1, 2 P(X <= min(only_a, only_b))), X ~ Binomial(only_a + only_b, 1/2). Counts >= 0.
 */
double mcnemar_exact(int64_t only_a, int64_t only_b);

/*
 * Paired samples: Fisher's randomization test (The Design of Experiments, 1935, section 21) of
 * differences[n], a sample's summed score in one run less that in the other on the same trials.
 * If the runs are alike each difference might as well have the other sign: p is the share of sign
 * assignments whose |sum| is at least the observed one. Exact up to 20 differences other than 0;
 * beyond, (count + 1) / (draws + 1) (Phipson, Smyth 2010).
 */
double sign_flip_test(const double *differences, size_t n, const struct resampling *r);

/*
 * Unpaired samples: Pitman's permutation test (1937) of the difference between the means of
 * a[n_a] and b[n_b], a sample's mean score each: the share of ways to divide all samples into
 * n_a and n_b with at least the observed |difference|. Exact or Monte Carlo as above. *p is 1 if
 * either run is empty.
 */
NG_MUST_USE enum status permutation_test(const double *a, size_t n_a, const double *b, size_t n_b,
                                         const struct resampling *r, double *p, struct error *e);

/*
 * Several tests at once, by Holm 1979: adjusted[i] <= alpha is a finding, and the chance of even
 * one false finding stays under alpha. The k-th smallest p times (n - k + 1), never less than the
 * one before, at most 1. A NaN was not tested: it stays, and does not count in n.
 */
void holm_adjust(const double *p, size_t n, double *adjusted);

/*
 * The smallest p-value that the sign-flip test can give, 2^(1 - n_samples): below this many
 * samples it finds nothing at level alpha, however large the drop.
 */
size_t sign_flip_min_samples(double alpha);

#endif
