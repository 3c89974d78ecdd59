#include "needlegrid/stats_effective.h"

/* 0.85 * 0.8 and 17 / 25 are the same number but for a rounding. */
static const double rounding = 1e-12;

size_t effective_absolute(const double *accuracy, size_t n, double threshold)
{
    size_t i = 0;

    while (i < n && accuracy[i] >= threshold - rounding)
        i++;
    return i;
}

size_t effective_relative(const double *accuracy, size_t n, double share)
{
    return n > 0 && accuracy[0] > 0 ? effective_absolute(accuracy, n, share * accuracy[0]) : 0;
}
