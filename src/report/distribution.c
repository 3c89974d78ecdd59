#include "needlegrid/distribution.h"

#include <math.h>

static const double pi = 3.141592653589793;

double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.7071067811865476);
}

/* By bisection: slower than a rational approximation, and exact to the last bits. */
double normal_quantile(double p)
{
    double low = -40, high = 40;

    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (normal_cdf(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/*
 * P(|T| <= t) for whole degrees of freedom: Abramowitz, Stegun 1964, 26.7.3 (odd) and 26.7.4
 * (even), finite sums in the angle atan(t / sqrt(df)).
 */
static double student_within(double t, int64_t df)
{
    double angle = atan(t / sqrt((double)df)), sine = sin(angle), cosine = cos(angle);
    double term = df % 2 ? cosine : 1;
    double sum = df == 1 ? 0 : term;

    for (int64_t i = df % 2 ? 2 : 1; i <= df - 3; i += 2) {
        term *= (double)i / (double)(i + 1) * cosine * cosine;
        sum += term;
    }
    return df % 2 ? 2 / pi * (angle + sine * sum) : sine * sum;
}

double student_quantile(double p, int64_t df)
{
    double within = 2 * p - 1, low = 0, high = 1;

    if (df > 100000) /* differs from the normal by less than 1e-4 of itself */
        return normal_quantile(p);
    while (student_within(high, df) < within && high < 1e300)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (student_within(middle, df) < within)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/*
 * ln n! less Stirling's formula, and x ln(x/m) + m - x: a binomial probability made of these keeps
 * its digits where log-gammas of a million cancel. C. Loader, Fast and Accurate Computation of
 * Binomial Probabilities, 2000.
 */
static double stirling_error(int64_t n)
{
    double x = (double)n, x2 = x * x, factorial = 1;

    if (n > 15)
        return (1 / 12.0 -
                (1 / 360.0 - (1 / 1260.0 - (1 / 1680.0 - 1 / 1188.0 / x2) / x2) / x2) / x2) /
               x;
    for (int64_t i = 2; i <= n; i++)
        factorial *= (double)i;
    return log(factorial) - (x + 0.5) * log(x) + x - 0.5 * log(2 * pi);
}

static double deviance(double x, double m)
{
    double v = (x - m) / (x + m);
    double sum, term;

    if (fabs(x - m) > 0.1 * (x + m))
        return x * log(x / m) + m - x;
    sum = (x - m) * v;
    term = 2 * x * v;
    for (int i = 3; i < 1000; i += 2) {
        double before = sum;
        term *= v * v;
        sum += term / i;
        if (sum == before)
            break;
    }
    return sum;
}

double coin_pmf(int64_t k, int64_t n)
{
    double x = (double)k, rest = (double)(n - k), half = (double)n / 2;
    double log_p;

    if (k < 0 || k > n)
        return 0;
    if (k == 0 || k == n)
        return ldexp(1, n > 10000 ? -10000 : (int)-n);
    log_p = stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(x, half) -
            deviance(rest, half);
    return exp(log_p) * sqrt((double)n / (2 * pi * x * rest));
}

double coin_cdf(int64_t k, int64_t n)
{
    double term, sum = 0;

    if (k < 0)
        return 0;
    if (k >= n)
        return 1;
    if (k > n / 2) /* the upper tail is the smaller one */
        return 1 - coin_cdf(n - k - 1, n);
    term = coin_pmf(k, n);
    for (int64_t i = k; i >= 0 && sum + term != sum; i--) {
        sum += term;
        term *= (double)i / (double)(n - i + 1);
    }
    return sum;
}
