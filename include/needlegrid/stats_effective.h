/*
 * Effective length: how long a context may be before the model loses things in it.
 *
 * The longest length that holds the threshold together with every shorter one that was tried: a
 * model that fails at 4k and recovers at 8k has not got 8k. Accuracies are in the order of rising
 * lengths; the result counts how many of them hold, so 0 is "none" and n "all that were tried".
 * A missing accuracy (NaN) does not hold.
 */
#ifndef NEEDLEGRID_STATS_EFFECTIVE_H
#define NEEDLEGRID_STATS_EFFECTIVE_H

#include <stddef.h>

/* RULER (Hsieh et al. 2024): Llama2-7B's average at 4k, 85.6%, is the line to pass. */
#define EFFECTIVE_THRESHOLD 0.856
/* NoLiMa (Modarressi et al. 2025): 85% of the base score. */
#define EFFECTIVE_BASE_SHARE 0.85

/* accuracy >= threshold */
size_t effective_absolute(const double *accuracy, size_t n, double threshold);

/*
 * accuracy >= share * base, the base being the accuracy at the shortest length tried. (NoLiMa takes
 * the best of 250, 500 and 1000 tokens, which a sweep need not hold.) None if the base is 0.
 */
size_t effective_relative(const double *accuracy, size_t n, double share);

#endif
