#include "needlegrid/stats_test.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct resampling draws = {.seed = 1, .n = 20000};

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-10 * fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

/* R 4.2.2: binom.test(b, b + c)$p.value */
static void mcnemar(void **state)
{
    (void)state;
    /* Agresti, Categorical Data Analysis (2002), table 10.1: approval of the prime minister */
    near(mcnemar_exact(150, 86), 3.71593613957143e-05);
    near(mcnemar_exact(59, 6), 4.96465032712862e-12);
    near(mcnemar_exact(1, 6), 0.125);
    near(mcnemar_exact(5, 9), 0.4239501953125);
    near(mcnemar_exact(6, 1), mcnemar_exact(1, 6));
    near(mcnemar_exact(498500, 501500), 0.00270865530605975);
    near(mcnemar_exact(495000, 505000), 1.53815550439071e-23);
    assert_true(mcnemar_exact(3, 3) == 1);
    assert_true(mcnemar_exact(0, 1) == 1);
    assert_true(mcnemar_exact(0, 0) == 1);
    near(mcnemar_exact(0, 6), 0.03125);
}

/*
 * Darwin's maize, Fisher 1935, section 21: 863 of 32768 arrangements of signs reach the sum by
 * each tail. Also scipy 1.10.1: permutation_test((d,), np.sum, permutation_type='samples',
 * n_resamples=np.inf).pvalue = 0.05267333984375.
 */
static void sign_flip_of_fisher(void **state)
{
    static const double d[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};

    (void)state;
    assert_true(sign_flip_test(d, 15, &draws) == 2 * 863.0 / 32768);
}

/* Thirds and elevenths have no exact double: a tie is a tie. scipy as above: 0.25. */
static void sign_flip_ties(void **state)
{
    static const double d[] = {1 / 11.0, -2 / 11.0, 3 / 11.0, 0, 5 / 11.0, 1 / 11.0, 1 / 11.0};

    (void)state;
    near(sign_flip_test(d, 7, &draws), 0.25);
}

static void sign_flip_bounds(void **state)
{
    static const double ones[40] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double zeros[3] = {0, 0, 0};

    (void)state;
    assert_true(sign_flip_test(ones, 0, &draws) == 1);
    assert_true(sign_flip_test(zeros, 3, &draws) == 1);
    assert_true(sign_flip_test(ones, 1, &draws) == 1);
    assert_true(sign_flip_test(ones, 6, &draws) == 2.0 / 64);
    assert_true(sign_flip_test(ones, 20, &draws) == 2.0 / (1 << 20));
    /* Never 0: the observed arrangement is one of those drawn. */
    assert_true(sign_flip_test(ones, 40, &draws) == 1.0 / 20001);
}

/* 21 differences are drawn, 20 of them gone through: the same data but for one near 0. */
static void sign_flip_drawn_as_exact(void **state)
{
    static const double d[21] = {3, -1, 2, 2, -2, 1, 4, -3, 1, 1,    -1,
                                 2, -4, 3, 1, -2, 2, 1, -1, 3, 1e-12};
    const struct resampling many = {.seed = 7, .n = 200000}, other = {.seed = 8, .n = 200000};
    double exact = sign_flip_test(d, 20, &draws), drawn = sign_flip_test(d, 21, &many);

    (void)state;
    /* five standard errors, sqrt(p (1 - p) / 200,000) */
    assert_true(fabs(drawn - exact) < 5 * sqrt(exact * (1 - exact) / 200000));
    assert_true(sign_flip_test(d, 21, &many) == drawn);
    assert_true(sign_flip_test(d, 21, &other) != drawn);
}

static double permuted(const double *a, size_t n_a, const double *b, size_t n_b,
                       const struct resampling *r)
{
    struct error e;
    double p;

    assert_int_equal(permutation_test(a, n_a, b, n_b, r, &p, &e), OK);
    return p;
}

/*
 * The mouse data of Efron, Tibshirani 1993, table 2.1. Counted in Python over
 * itertools.combinations(range(16), 7): 3184 of 11440 have |difference| >= 30.63.
 */
static void permutation_of_mice(void **state)
{
    static const double treated[] = {94, 197, 16, 38, 99, 141, 23};
    static const double control[] = {52, 104, 146, 10, 51, 30, 40, 27, 46};

    (void)state;
    near(permuted(treated, 7, control, 9, &draws), 3184.0 / 11440);
    near(permuted(control, 9, treated, 7, &draws), 3184.0 / 11440);
}

/* As above: 3 of 126, with ties among fifths. */
static void permutation_ties(void **state)
{
    static const double a[] = {1, 1, 1, .8}, b[] = {.2, .4, .6, .8, 0};

    (void)state;
    near(permuted(a, 4, b, 5, &draws), 3.0 / 126);
}

static void permutation_bounds(void **state)
{
    double high[30], low[30];

    (void)state;
    for (int i = 0; i < 30; i++) {
        high[i] = 1;
        low[i] = 0.001 * i;
    }
    assert_true(permuted(high, 0, low, 5, &draws) == 1);
    assert_true(permuted(high, 5, low, 0, &draws) == 1);
    assert_true(permuted(high, 5, high, 5, &draws) == 1);
    near(permuted(high, 4, low, 4, &draws), 2.0 / 70);
    near(permuted(high, 1, low, 30, &draws), 1.0 / 31);
    assert_true(permuted(high, 30, low, 30, &draws) == 1.0 / 20001);
}

/* 13 and 12 samples: 5,200,300 divisions, drawn; near the exact p by another way of counting. */
static void permutation_drawn(void **state)
{
    static const double a[] = {1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1};
    static const double b[] = {0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0};
    const struct resampling many = {.seed = 3, .n = 100000};
    double p = permuted(a, 13, b, 12, &many);

    (void)state;
    /* Of zeros and ones it is hypergeometric. R: k <- 0:13
     * sum(dhyper(k, 15, 10, 13)[abs(k - 7.8) >= 2.2 - 1e-9]) */
    assert_true(fabs(p - 0.110701305693902) < 5 * sqrt(0.1107 * 0.8893 / 100000));
    assert_true(permuted(a, 13, b, 12, &many) == p);
}

/* R: p.adjust(c(.01, .04, .03, .005), "holm"), p.adjust(c(.2, .001, .9, .02, .02, .5), "holm") */
static void holm(void **state)
{
    static const double p[] = {.01, .04, .03, .005}, want[] = {.03, .06, .06, .02};
    static const double q[] = {.2, .001, .9, .02, .02, .5}, wanted[] = {.6, .006, 1, .1, .1, 1};
    double out[6];

    (void)state;
    holm_adjust(p, 4, out);
    for (int i = 0; i < 4; i++)
        near(out[i], want[i]);
    holm_adjust(q, 6, out);
    for (int i = 0; i < 6; i++)
        near(out[i], wanted[i]);
}

static void holm_without_a_test(void **state)
{
    const double p[] = {NAN, .01, NAN, .03};
    double out[4];

    (void)state;
    holm_adjust(p, 4, out);
    assert_true(isnan(out[0]) && isnan(out[2]));
    near(out[1], .02);
    near(out[3], .03);
    holm_adjust(p, 1, out);
    assert_true(isnan(out[0]));
    holm_adjust(p, 0, out);
}

static void min_samples(void **state)
{
    (void)state;
    assert_int_equal(sign_flip_min_samples(0.05), 6);
    assert_int_equal(sign_flip_min_samples(2.0 / 64), 6);
    assert_int_equal(sign_flip_min_samples(2.0 / 64 - 1e-9), 7);
    assert_int_equal(sign_flip_min_samples(0.05 / 7), 9);
    assert_int_equal(sign_flip_min_samples(0.5), 2);
    assert_int_equal(sign_flip_min_samples(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcnemar),
        cmocka_unit_test(sign_flip_of_fisher),
        cmocka_unit_test(sign_flip_ties),
        cmocka_unit_test(sign_flip_bounds),
        cmocka_unit_test(sign_flip_drawn_as_exact),
        cmocka_unit_test(permutation_of_mice),
        cmocka_unit_test(permutation_ties),
        cmocka_unit_test(permutation_bounds),
        cmocka_unit_test(permutation_drawn),
        cmocka_unit_test(holm),
        cmocka_unit_test(holm_without_a_test),
        cmocka_unit_test(min_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
