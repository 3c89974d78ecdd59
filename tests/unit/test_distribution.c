#include "needlegrid/distribution.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Relative error; values from R 4.2.2 with options(digits = 15). */
static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-10 * fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

/* pnorm(c(-1.96, -8, 3)); qnorm(c(.975, .8, .995, 1e-10, .5)) */
static void normal(void **state)
{
    (void)state;
    near(normal_cdf(-1.96), 2.49978951482204e-02);
    near(normal_cdf(-8), 6.22096057427178e-16);
    near(normal_cdf(3), 9.98650101968370e-01);
    near(normal_cdf(0), 0.5);
    near(normal_quantile(0.975), 1.959963984540054);
    near(normal_quantile(0.8), 0.841621233572914);
    near(normal_quantile(0.995), 2.575829303548900);
    near(normal_quantile(1e-10), -6.361340902404056);
    assert_true(fabs(normal_quantile(0.5)) < 1e-15);
}

/* qt(.975, c(1, 2, 3, 4, 5, 10, 19, 30, 99, 2047)); qt(.995, 4) */
static void student(void **state)
{
    static const struct {
        int64_t df;
        double t;
    } r[] = {
        {1, 12.70620473617469}, {2, 4.30265272974946},  {3, 3.18244630528371},
        {4, 2.77644510519779},  {5, 2.57058183563631},  {10, 2.22813885198627},
        {19, 2.09302405440831}, {30, 2.04227245630124}, {99, 1.98421695158642},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++)
        near(student_quantile(0.975, r[i].df), r[i].t);
    near(student_quantile(0.975, 2047), 1.96112355986338);
    near(student_quantile(0.995, 4), 4.60409487134999);
    assert_true(student_quantile(0.5, 7) < 1e-15);
    assert_true(fabs(student_quantile(0.975, INT64_MAX) - 1.959963984540054) < 1e-12);
}

/* pbinom(k, n, .5), dbinom(k, n, .5) */
static void coins(void **state)
{
    (void)state;
    near(coin_cdf(100, 300), 4.00743760826944e-09);
    near(coin_cdf(495000, 1000000), 7.69077752195353e-24);
    near(coin_cdf(0, 1000), 9.33263618503256e-302);
    near(coin_cdf(15, 31), 0.5);
    near(coin_pmf(500000, 1000000), 0.00079788436133175);
    near(coin_cdf(2, 4), 11.0 / 16);
    near(coin_cdf(3, 4), 15.0 / 16);
}

/* Against Pascal's triangle. */
static void coins_of_small_n(void **state)
{
    double row[61] = {1};

    (void)state;
    for (int n = 0; n <= 60; n++) {
        double below = 0;
        for (int k = n; k > 0 && n > 0; k--)
            row[k] = (row[k] + row[k - 1]) / 2;
        row[0] = ldexp(1, -n);
        for (int k = 0; k <= n; k++) {
            near(coin_pmf(k, n), row[k]);
            below += row[k];
            near(coin_cdf(k, n), below);
        }
    }
}

static void coins_at_the_edges(void **state)
{
    (void)state;
    assert_true(coin_pmf(0, 0) == 1);
    assert_true(coin_cdf(0, 0) == 1);
    assert_true(coin_pmf(-1, 5) == 0 && coin_pmf(6, 5) == 0);
    assert_true(coin_cdf(-1, 5) == 0);
    assert_true(coin_cdf(5, 5) == 1);
    assert_true(coin_cdf(0, 1000000) == 0); /* 2^-1000000 is no double */
    /* Stirling: 1 / sqrt(pi n / 2) less a 4n-th of it */
    near(coin_pmf(500000000, 1000000000), (1 - 2.5e-10) / sqrt(3.141592653589793 * 500000000));
    assert_true(fabs(coin_cdf(500000000, 1000000000) - 0.5) < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal),
        cmocka_unit_test(student),
        cmocka_unit_test(coins),
        cmocka_unit_test(coins_of_small_n),
        cmocka_unit_test(coins_at_the_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
