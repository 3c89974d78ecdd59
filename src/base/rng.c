#include "needlegrid/rng.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* FNV-1a, 64 bits. */
static uint64_t hash_string(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return h;
}

struct rng rng_make(uint64_t seed, const char *purpose, uint64_t index)
{
    uint64_t state = seed;
    struct rng r;

    state = splitmix64(&state) ^ hash_string(purpose);
    state = splitmix64(&state) ^ index;
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix64(&state);
    return r;
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *r)
{
    uint64_t result = rotate_left(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;

    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate_left(r->s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t reject_under = (0 - n) % n; /* 2^64 mod n */
    uint64_t x;

    do
        x = rng_next(r);
    while (x < reject_under);
    return x % n;
}

double rng_double(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
