#include "needlegrid/stats_bootstrap.h"

#include "needlegrid/stats_effective.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct bootstrap_spec spec = {.seed = 1, .resamples = 20000, .confidence = 0.95};

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g, not %.17g", got, want);
}

/* Sums of scores and their number, sample by sample, as trials of 0, 1 and a rest. */
static void fill(struct clusters *c, const double *sums, const int *counts, size_t n)
{
    struct error e;

    assert_int_equal(clusters_init(c, n, 1, &e), OK);
    for (size_t i = 0; i < n; i++) {
        double left = sums[i];
        for (int k = 0; k < counts[i]; k++) {
            double score = left > 1 ? 1 : left;
            clusters_add(c, i, 0, score);
            left -= score;
        }
    }
}

static struct interval means(const struct clusters *c, const struct bootstrap_spec *s)
{
    struct interval out;
    struct error e;

    assert_int_equal(bootstrap(c, s, column_means, NULL, 1, &out, &e), OK);
    return out;
}

/* R 4.2.2: pnorm(-sqrt(n / (n - 1)) * qt(.975, n - 1)) */
static void tails(void **state)
{
    (void)state;
    near(bootstrap_tail(3, 0.95), 6.83413731194129e-08, 1e-16);
    near(bootstrap_tail(5, 0.95), 9.54100551882492e-04, 1e-13);
    near(bootstrap_tail(10, 0.95), 8.55063902440637e-03, 1e-12);
    near(bootstrap_tail(20, 0.95), 1.58808299203480e-02, 1e-12);
    near(bootstrap_tail(100, 0.95), 2.30643872070876e-02, 1e-12);
    near(bootstrap_tail(2048, 0.95), 0.025, 1e-4);
    assert_true(bootstrap_tail(1, 0.95) == 0);
    assert_true(bootstrap_tail(0, 0.95) == 0);
}

static const double sums[] = {11, 10, 7, 11, 3, 9, 11, 8, 2, 11};
static const int counts[] = {11, 11, 11, 11, 11, 11, 11, 10, 5, 11};

/*
 * scipy 1.10.1: bootstrap((sums, counts), lambda s, n, axis: s.sum(axis) / n.sum(axis),
 * paired=True, vectorized=True, n_resamples=400000, method='percentile',
 * confidence_level=1 - 2 * norm.cdf(-sqrt(10 / 9) * t.ppf(.975, 9))), and t.ppf(.9, 9).
 */
static void as_scipy_has_it(void **state)
{
    const struct bootstrap_spec eighty = {.seed = 1, .resamples = 20000, .confidence = 0.8};
    struct clusters c;
    struct interval i;

    (void)state;
    fill(&c, sums, counts, 10);
    i = means(&c, &spec);
    near(i.low, 0.599, 0.008);
    near(i.high, 0.9541, 0.008);
    i = means(&c, &eighty);
    near(i.low, 0.6863, 0.005);
    near(i.high, 0.9083, 0.005);
    clusters_release(&c);
}

/* The mouse data of Efron, Tibshirani 1993, table 2.1, over 200; scipy as above. */
static void of_mice(void **state)
{
    static const double treated[] = {.47, .985, .08, .19, .495, .705, .115};
    static const int one[] = {1, 1, 1, 1, 1, 1, 1};
    struct clusters c;
    struct interval i;

    (void)state;
    fill(&c, treated, one, 7);
    i = means(&c, &spec);
    near(i.low, 0.1605, 0.01);
    near(i.high, 0.7579, 0.01);
    clusters_release(&c);
}

static void same_seed_same_interval(void **state)
{
    struct bootstrap_spec few = {.seed = 5, .resamples = 999, .confidence = 0.95};
    struct interval a, b;
    struct clusters c;

    (void)state;
    fill(&c, sums, counts, 10);
    a = means(&c, &few);
    b = means(&c, &few);
    assert_true(a.low == b.low && a.high == b.high);
    few.seed = 6;
    b = means(&c, &few);
    assert_true(a.low != b.low || a.high != b.high);
    clusters_release(&c);
}

/* Two or three samples say so little that the interval spans all that resamples reach. */
static void few_samples(void **state)
{
    static const double s[] = {1, 6, 10};
    static const int n[] = {10, 10, 10};
    struct clusters c;
    struct interval i;

    (void)state;
    for (size_t k = 1; k <= 3; k++) {
        fill(&c, s, n, k);
        i = means(&c, &spec);
        near(i.low, 0.1, 1e-12);
        near(i.high, s[k - 1] / 10, 1e-12);
        clusters_release(&c);
    }
}

static void nothing_to_draw(void **state)
{
    struct interval out[2];
    struct clusters c;
    struct error e;

    (void)state;
    assert_int_equal(clusters_init(&c, 0, 2, &e), OK);
    assert_int_equal(bootstrap(&c, &spec, column_means, NULL, 2, out, &e), OK);
    assert_true(isnan(out[0].low) && isnan(out[0].high));
    clusters_release(&c);
}

/* A column that only some samples have: resamples without it are left out. */
static void column_with_holes(void **state)
{
    struct interval out[2];
    struct clusters c;
    struct error e;

    (void)state;
    assert_int_equal(clusters_init(&c, 4, 2, &e), OK);
    for (size_t i = 0; i < 4; i++)
        clusters_add(&c, i, 0, i < 2);
    clusters_add(&c, 3, 1, 1);
    clusters_add(&c, 3, 1, 0);
    assert_int_equal(bootstrap(&c, &spec, column_means, NULL, 2, out, &e), OK);
    assert_true(out[0].low == 0 && out[0].high == 1);
    assert_true(out[1].low == 0.5 && out[1].high == 0.5);
    clusters_release(&c);
}

/*
 * 20,000 samples in 2,048 groups: the interval has the width that the variance between samples
 * gives, 2 * 1.96 * sqrt(p (1 - p) / n), to 6% (its error is 1.6%, Monte Carlo adds 1%).
 */
static void many_samples_are_pooled(void **state)
{
    const struct bootstrap_spec few = {.seed = 1, .resamples = 5000, .confidence = 0.95};
    const size_t n = 20000;
    struct clusters c;
    struct interval i;
    struct error e;
    double width = 2 * 1.959964 * sqrt(0.2 * 0.8 / (double)n);

    (void)state;
    assert_int_equal(clusters_init(&c, n, 1, &e), OK);
    assert_int_equal(c.n, CLUSTERS_MAX);
    for (size_t k = 0; k < n; k++)
        clusters_add(&c, k, 0, k * 2654435761u % 1000 < 800);
    i = means(&c, &few);
    assert_true(fabs((i.high - i.low) / width - 1) < 0.06);
    assert_true(i.low < 0.8 && 0.8 < i.high);
    clusters_release(&c);
}

static void too_much_memory(void **state)
{
    struct bootstrap_spec huge = {.seed = 1, .resamples = SIZE_MAX / 4, .confidence = 0.95};
    struct interval out;
    struct clusters c;
    struct error e;

    (void)state;
    assert_int_equal(clusters_init(&c, 2, SIZE_MAX / 2, &e), ERR_NOMEM);
    assert_null(c.totals);
    fill(&c, sums, counts, 2);
    assert_int_equal(bootstrap(&c, &huge, column_means, NULL, 1, &out, &e), ERR_NOMEM);
    assert_non_null(strstr(e.message, "bootstrap"));
    clusters_release(&c);
}

/* ---- effective length ---- */

static void effective_lengths(void **state)
{
    static const double falls[] = {.96, .94, .92, .87, .85, .77};
    static const double recovers[] = {.96, .80, .96};
    static const double edge[] = {.856, 107 / 125.0, .855999};
    static const double missing[] = {.9, NAN, .9};

    (void)state;
    /* Llama3.1-8B: RULER's own table says 32K. */
    assert_int_equal(effective_absolute(falls, 6, EFFECTIVE_THRESHOLD), 4);
    assert_int_equal(effective_absolute(recovers, 3, EFFECTIVE_THRESHOLD), 1);
    assert_int_equal(effective_absolute(edge, 3, EFFECTIVE_THRESHOLD), 2);
    assert_int_equal(effective_absolute(missing, 3, EFFECTIVE_THRESHOLD), 1);
    assert_int_equal(effective_absolute(falls, 0, EFFECTIVE_THRESHOLD), 0);
    assert_int_equal(effective_absolute(falls, 6, 0), 6);
    assert_int_equal(effective_absolute(falls, 6, 1), 0);
}

static void effective_by_base(void **state)
{
    static const double low_base[] = {.8, .7, .68, .679};
    static const double zero[] = {0, 0}, missing[] = {NAN, .9};

    (void)state;
    assert_int_equal(effective_relative(low_base, 4, EFFECTIVE_BASE_SHARE), 3);
    assert_int_equal(effective_relative(low_base, 4, 1), 1);
    assert_int_equal(effective_relative(zero, 2, EFFECTIVE_BASE_SHARE), 0);
    assert_int_equal(effective_relative(missing, 2, EFFECTIVE_BASE_SHARE), 0);
    assert_int_equal(effective_relative(zero, 0, EFFECTIVE_BASE_SHARE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails),
        cmocka_unit_test(as_scipy_has_it),
        cmocka_unit_test(of_mice),
        cmocka_unit_test(same_seed_same_interval),
        cmocka_unit_test(few_samples),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(column_with_holes),
        cmocka_unit_test(many_samples_are_pooled),
        cmocka_unit_test(too_much_memory),
        cmocka_unit_test(effective_lengths),
        cmocka_unit_test(effective_by_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
