/*
 * The distributions that tests and intervals stand on.
 *
 * Relative errors are under 1e-10, tails included; nothing overflows for counts up to 1e9.
 */
#ifndef NEEDLEGRID_DISTRIBUTION_H
#define NEEDLEGRID_DISTRIBUTION_H

#include <stdint.h>

/* P(Z <= x) of the standard normal distribution, and the x of a probability in (0, 1). */
double normal_cdf(double x);
double normal_quantile(double p);

/* The x with P(T <= x) = p, Student's t with `df` degrees of freedom, 0.5 <= p < 1, df >= 1. */
double student_quantile(double p, int64_t df);

/* P(X = k) and P(X <= k) for X ~ Binomial(n, 1/2), n >= 0. */
double coin_pmf(int64_t k, int64_t n);
double coin_cdf(int64_t k, int64_t n);

#endif
