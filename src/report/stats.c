#include "needlegrid/stats.h"

#include <math.h>

static const double z_95 = 1.959963984540054; /* the normal distribution's 97.5% point */

struct interval wilson_95_mean(double mean, int64_t n)
{
    double z2 = z_95 * z_95;
    struct interval i = {0, 1};
    double p, center, half, scale;

    if (n <= 0)
        return i;
    p = mean < 0 ? 0 : mean > 1 ? 1 : mean;
    scale = 1 / (1 + z2 / (double)n);
    center = scale * (p + z2 / (2 * (double)n));
    half = scale * z_95 * sqrt(p * (1 - p) / (double)n + z2 / (4 * (double)n * (double)n));
    /* At the ends the bound is 0 or 1 exactly, which the arithmetic misses by a rounding. */
    if (p > 0)
        i.low = fmax(center - half, 0);
    if (p < 1)
        i.high = fmin(center + half, 1);
    return i;
}

struct interval wilson_95(int64_t hits, int64_t n)
{
    return wilson_95_mean(n > 0 ? (double)hits / (double)n : 0, n);
}
