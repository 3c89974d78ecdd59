#include "needlegrid/stats.h"

#include <math.h>

static const double z_95 = 1.959963984540054; /* the normal distribution's 97.5% point */

struct interval wilson_95(int64_t hits, int64_t n)
{
    double z2 = z_95 * z_95;
    struct interval i = {0, 1};
    double p, center, half, scale;

    if (n <= 0)
        return i;
    hits = hits < 0 ? 0 : hits > n ? n : hits;
    p = (double)hits / (double)n;
    scale = 1 / (1 + z2 / (double)n);
    center = scale * (p + z2 / (2 * (double)n));
    half = scale * z_95 * sqrt(p * (1 - p) / (double)n + z2 / (4 * (double)n * (double)n));
    /* At the ends the bound is 0 or 1 exactly, which the arithmetic misses by a rounding. */
    if (hits > 0)
        i.low = fmax(center - half, 0);
    if (hits < n)
        i.high = fmin(center + half, 1);
    return i;
}
