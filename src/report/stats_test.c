#include "needlegrid/stats_test.h"

#include "needlegrid/distribution.h"
#include "needlegrid/mem.h"
#include "needlegrid/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXACT_SIGNS = 20, /* 2^20 arrangements are gone through in milliseconds */
    EXACT_WAYS = 1 << EXACT_SIGNS,
};

/* Sums of the same numbers in another order differ by rounding, and are ties all the same. */
static const double tie = 1e-10;

double mcnemar_exact(int64_t only_a, int64_t only_b)
{
    int64_t less = only_a < only_b ? only_a : only_b;

    return fmin(1, 2 * coin_cdf(less, only_a + only_b));
}

static double monte_carlo_p(size_t extreme, size_t draws)
{
    return ((double)extreme + 1) / ((double)draws + 1);
}

/* ---- sign flips ---- */

/* How many assignments of signs to d[0..n), none of them 0, bring |sum| to `least`. */
static size_t count_signs(const double *d, size_t n, double sum, double least)
{
    if (n == 0)
        return fabs(sum) >= least;
    return count_signs(d + 1, n - 1, sum + d[0], least) +
           count_signs(d + 1, n - 1, sum - d[0], least);
}

static double draw_signs(const double *d, size_t n, struct rng *r)
{
    uint64_t bits = 0;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        bits = i % 64 ? bits >> 1 : rng_next(r);
        sum += bits & 1 ? d[i] : -d[i];
    }
    return sum;
}

double sign_flip_test(const double *differences, size_t n, const struct resampling *r)
{
    struct rng rng = rng_make(r->seed, "sign-flip", 0);
    double nonzero[EXACT_SIGNS];
    double sum = 0, size = 0, least;
    size_t extreme = 0, n_nonzero = 0;

    for (size_t i = 0; i < n; i++) {
        sum += differences[i];
        size += fabs(differences[i]);
        if (differences[i] != 0 && n_nonzero++ < EXACT_SIGNS)
            nonzero[n_nonzero - 1] = differences[i];
    }
    least = fabs(sum) - tie * size;
    if (n_nonzero <= EXACT_SIGNS)
        return ldexp((double)count_signs(nonzero, n_nonzero, 0, least), -(int)n_nonzero);
    for (size_t i = 0; i < r->n; i++)
        extreme += fabs(draw_signs(differences, n, &rng)) >= least;
    return monte_carlo_p(extreme, r->n);
}

size_t sign_flip_min_samples(double alpha)
{
    return alpha >= 1 ? 1 : (size_t)ceil(1 - log2(alpha) - 1e-12);
}

/* ---- permutations ---- */

struct division {
    const double *all; /* [n] less their mean, so that a part's sum alone tells the difference */
    size_t n;
    size_t part; /* how many of them make up the first run */
    double least;
};

/* Ways to choose `left` more of all[at..n), given the sum so far, that bring |sum| to `least`. */
static size_t count_divisions(const struct division *v, size_t at, size_t left, double sum)
{
    if (left == 0)
        return fabs(sum) >= v->least;
    if (v->n - at < left)
        return 0;
    return count_divisions(v, at + 1, left - 1, sum + v->all[at]) +
           count_divisions(v, at + 1, left, sum);
}

/* n over k, or EXACT_WAYS + 1 if it is more than that. */
static size_t ways(size_t n, size_t k)
{
    double product = 1;

    for (size_t i = 1; i <= k && product <= EXACT_WAYS; i++)
        product = product * (double)(n - k + i) / (double)i;
    return product > EXACT_WAYS ? EXACT_WAYS + 1 : (size_t)(product + 0.5);
}

/* Shuffles the first `part` places (Fisher, Yates) and sums them. */
static double draw_division(double *all, size_t n, size_t part, struct rng *r)
{
    double sum = 0;

    for (size_t i = 0; i < part; i++) {
        size_t j = i + (size_t)rng_below(r, n - i);
        double swap = all[i];
        all[i] = all[j];
        all[j] = swap;
        sum += all[i];
    }
    return sum;
}

static double permute(double *all, size_t n, size_t part, const struct resampling *r)
{
    struct rng rng = rng_make(r->seed, "permutation", 0);
    struct division v = {all, n, part, 0};
    double sum = 0, size = 0;
    size_t extreme = 0, total = ways(n, part);

    for (size_t i = 0; i < n; i++) {
        size += fabs(all[i]);
        sum += i < part ? all[i] : 0;
    }
    v.least = fabs(sum) - tie * size;
    if (total <= EXACT_WAYS)
        return (double)count_divisions(&v, 0, part, 0) / (double)total;
    for (size_t i = 0; i < r->n; i++)
        extreme += fabs(draw_division(all, n, part, &rng)) >= v.least;
    return monte_carlo_p(extreme, r->n);
}

enum status permutation_test(const double *a, size_t n_a, const double *b, size_t n_b,
                             const struct resampling *r, double *p, struct error *e)
{
    const double *first = n_a <= n_b ? a : b, *second = n_a <= n_b ? b : a;
    size_t part = n_a <= n_b ? n_a : n_b, n;
    double mean = 0;
    double *all;

    *p = 1;
    if (part == 0)
        return OK;
    if (!size_add(n_a, n_b, &n))
        return error_set(e, ERR_LIMIT, "too many samples for a permutation test");
    if (mem_alloc(&all, "the samples of a permutation test", e, n, sizeof(*all), 1, 1) != OK)
        return e->code;
    memcpy(all, first, part * sizeof(*all));
    memcpy(all + part, second, (n - part) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        mean += all[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        all[i] -= mean;
    *p = permute(all, n, part, r);
    free(all);
    return OK;
}

/* ---- several tests ---- */

void holm_adjust(const double *p, size_t n, double *adjusted)
{
    double before = 0;
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN; /* not placed yet */
        left += isnan(p[i]) ? 0 : 1;
    }
    /* Selection by rank: n is a handful of lengths. */
    for (; left > 0; left--) {
        size_t smallest = n;
        for (size_t i = 0; i < n; i++) {
            if (isnan(adjusted[i]) && !isnan(p[i]) && (smallest == n || p[i] < p[smallest]))
                smallest = i;
        }
        before = fmin(1, fmax(before, p[smallest] * (double)left));
        adjusted[smallest] = before;
    }
}
