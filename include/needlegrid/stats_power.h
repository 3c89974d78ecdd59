/*
 * What a comparison of two runs can see: the smallest drop found with a chance of 80%, and how many
 * samples a given drop needs.
 *
 * Both runs have `samples` samples of `trials` trials each. Trials of one sample are alike with
 * intra-class correlation `icc`, so n trials tell as much as n / (1 + (trials - 1) icc) independent
 * ones (Kish 1965, design effect). 1 is the cautious end: a sample counts once, however many depths
 * it has. On two proportions, then (Fleiss 1981; R's power.prop.test):
 *
 *     n = (z(1 - alpha/2) sqrt(2 m (1 - m)) + z(power) sqrt(p (1 - p) + q (1 - q)))^2 / (p - q)^2
 *
 * p before, q = p - drop after, m their mean. This is for runs on different seeds. On the same
 * seeds the trials pair up, and a drop this large is seen at least as often.
 */
#ifndef NEEDLEGRID_STATS_POWER_H
#define NEEDLEGRID_STATS_POWER_H

#include <stddef.h>

#define POWER_TARGET 0.8

struct power_design {
    double accuracy; /* of the run before, in 0..1 */
    double trials;   /* per sample, >= 1: its depths */
    double icc;      /* 0..1 */
    double alpha;    /* two-sided, per test */
};

double design_effect(const struct power_design *d);

/*
 * Samples per run that see this drop, whole, and no fewer than a test by sample needs to find
 * anything (sign_flip_min_samples); 0 if the drop is not in (0, accuracy].
 */
double samples_for_drop(const struct power_design *d, double drop);

/* The smallest drop that `samples` samples see; NaN if they see not even a drop to 0. */
double drop_for_samples(const struct power_design *d, size_t samples);

/*
 * What the samples of a run say of icc: sum[i] of count[i] > 0 scores each. The variance between
 * samples of the mean, against p (1 - p) / trials if all trials were independent; cut to 0..1.
 * NaN if nothing can be said: fewer than 2 samples, or all trials right or all wrong. With one
 * trial a sample it is 0.
 */
double estimate_icc(const double *sum, const double *count, size_t n);

#endif
