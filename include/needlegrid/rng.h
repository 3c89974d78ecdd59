/*
 * Seeded random numbers, the same on every machine.
 *
 * A stream is named by a seed, a purpose and an index, so that the needle of sample 3 does not
 * depend on how many numbers the haystack of sample 2 drew.
 *
 *     struct rng r = rng_make(seed, "needle", sample);
 *     size_t city = rng_below(&r, n_cities);
 *
 * Generator: xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64.
 */
#ifndef NEEDLEGRID_RNG_H
#define NEEDLEGRID_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

struct rng rng_make(uint64_t seed, const char *purpose, uint64_t index);
uint64_t rng_next(struct rng *r);

/* Uniform in 0 .. n-1 without bias; n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Uniform in [0, 1), 53 bits. */
double rng_double(struct rng *r);

#endif
