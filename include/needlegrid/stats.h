/*
 * Statistics of grids.
 */
#ifndef NEEDLEGRID_STATS_H
#define NEEDLEGRID_STATS_H

#include <stdint.h>

struct interval {
    double low;
    double high;
};

/*
 * Wilson score interval for hits of n at 95% (z = 1.959964), Wilson 1927 eq. 2; [0, 1] for n = 0.
 */
struct interval wilson_95(int64_t hits, int64_t n);

/* The same for a mean score in 0..1 that need not be hits over n. */
struct interval wilson_95_mean(double mean, int64_t n);

#endif
