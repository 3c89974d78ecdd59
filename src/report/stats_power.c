#include "needlegrid/stats_power.h"

#include "needlegrid/distribution.h"
#include "needlegrid/stats_test.h"

#include <math.h>

double design_effect(const struct power_design *d)
{
    return 1 + (d->trials - 1) * d->icc;
}

/* Samples per run by the formula, not yet whole. */
static double needed(const struct power_design *d, double drop)
{
    double p = d->accuracy, q = p - drop, m = (p + q) / 2;
    double z = normal_quantile(1 - d->alpha / 2) * sqrt(2 * m * (1 - m)) +
               normal_quantile(POWER_TARGET) * sqrt(p * (1 - p) + q * (1 - q));

    return z * z / (drop * drop) * design_effect(d) / d->trials;
}

double samples_for_drop(const struct power_design *d, double drop)
{
    if (!(drop > 0 && drop <= d->accuracy))
        return 0;
    return fmax(ceil(needed(d, drop) - 1e-9), (double)sign_flip_min_samples(d->alpha));
}

double drop_for_samples(const struct power_design *d, size_t samples)
{
    double low = 0, high = d->accuracy;

    if (!(high > 0) || samples < sign_flip_min_samples(d->alpha) ||
        needed(d, high) > (double)samples)
        return NAN;
    /* The need falls as the drop grows wherever it is near one that matters: bisection. */
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (needed(d, middle) > (double)samples)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double estimate_icc(const double *sum, const double *count, size_t n)
{
    double total = 0, trials = 0, between = 0, p, m, independent, effect;

    for (size_t i = 0; i < n; i++) {
        total += sum[i];
        trials += count[i];
    }
    p = total / trials;
    if (n < 2 || !(p > 0 && p < 1))
        return NAN;
    m = trials / (double)n;
    if (m <= 1)
        return 0;
    /* The ratio estimator's variance between clusters: Cochran 1977, eq. 6.9 (no correction for a
     * finite population). */
    for (size_t i = 0; i < n; i++)
        between += (sum[i] - p * count[i]) * (sum[i] - p * count[i]);
    between /= (double)(n - 1);
    independent = p * (1 - p) * m;
    effect = between / independent;
    return fmin(1, fmax(0, (effect - 1) / (m - 1)));
}
