#include "needlegrid/stats_power.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct power_design design(double accuracy, double trials, double icc, double alpha)
{
    return (struct power_design){accuracy, trials, icc, alpha};
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-8 * fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

/* R 4.2.2: power.prop.test(p1 = .95, p2 = .85, power = .8)$n = 140.095, ... */
static void samples(void **state)
{
    struct power_design d;

    (void)state;
    d = design(.95, 1, 0, .05);
    assert_true(samples_for_drop(&d, .1) == 141);
    d = design(.5, 1, 0, .05);
    assert_true(samples_for_drop(&d, .1) == 388); /* 387.339 */
    d = design(1, 1, 0, .05);
    assert_true(samples_for_drop(&d, .2) == 35); /* 34.117 */
    d = design(.9, 1, 0, .05 / 7);
    assert_true(samples_for_drop(&d, .2) == 99); /* 98.281, sig.level = .05 / 7 */
}

/* R: uniroot(function(d) power.prop.test(n = 50, p1 = .9, p2 = .9 - d)$power - .8, c(.01, .8),
 * tol = 1e-13)$root, and n = 1000, p1 = .95 */
static void drops(void **state)
{
    struct power_design d = design(.9, 1, 0, .05);

    (void)state;
    near(drop_for_samples(&d, 50), 0.22688717431);
    d = design(.95, 1, 0, .05);
    near(drop_for_samples(&d, 1000), 0.0309768636234918);
}

/* Eleven depths: between an eleventh of the samples and all of them. */
static void depths_and_their_likeness(void **state)
{
    struct power_design apart = design(.95, 11, 0, .05), one = design(.95, 11, 1, .05);
    struct power_design between = design(.95, 11, .3, .05);

    (void)state;
    near(design_effect(&apart), 1);
    near(design_effect(&one), 11);
    near(design_effect(&between), 4);
    assert_true(samples_for_drop(&one, .1) == 141);
    assert_true(samples_for_drop(&apart, .1) == 13);   /* 140.095 / 11 */
    assert_true(samples_for_drop(&between, .1) == 51); /* 140.095 * 4 / 11 */
    assert_true(drop_for_samples(&apart, 20) < drop_for_samples(&between, 20));
    assert_true(drop_for_samples(&between, 20) < drop_for_samples(&one, 20));
}

/* The one is the other's inverse. */
static void there_and_back(void **state)
{
    (void)state;
    for (int p = 2; p <= 10; p++) {
        for (size_t n = 6; n < 5000; n = n * 3 / 2) {
            struct power_design d = design(p / 10.0, 5, .2, .05);
            double drop = drop_for_samples(&d, n);
            if (isnan(drop))
                continue;
            assert_true(samples_for_drop(&d, drop) <= (double)n);
            assert_true(samples_for_drop(&d, drop * 0.99) >= (double)n);
        }
    }
}

static void nothing_can_be_seen(void **state)
{
    struct power_design d = design(.95, 11, 1, .05), never = design(0, 11, 1, .05);

    (void)state;
    assert_true(isnan(drop_for_samples(&d, 5))); /* 2^(1 - 5) > 0.05 */
    assert_true(drop_for_samples(&d, 8) < .95);
    assert_true(isnan(drop_for_samples(&d, 0)));
    assert_true(isnan(drop_for_samples(&never, 1000)));
    d = design(.2, 11, 1, .05);
    assert_true(isnan(drop_for_samples(&d, 20))); /* 0.2 to 0 takes 36 */
    assert_true(samples_for_drop(&d, .3) == 0);
    assert_true(samples_for_drop(&d, 0) == 0);
    assert_true(samples_for_drop(&d, -.1) == 0);
    d = design(1, 1000, 0, .05);
    assert_true(samples_for_drop(&d, 1) == 6); /* the test's floor, not the formula's 1 */
}

/* R: power.prop.test(p1 = .95, p2 = .9499, power = .8)$n; uniroot as above with n = 1e6 */
static void large_counts(void **state)
{
    struct power_design d = design(.95, 1, 0, .05);

    (void)state;
    assert_true(fabs(samples_for_drop(&d, 1e-4) - 74634993) < 2);
    near(drop_for_samples(&d, 1000000), 0.000867043555282);
}

/*
 * R: p <- sum(s) / sum(n); m <- mean(n); b <- sum((s - p * n)^2) / 9;
 * (b / (p * (1 - p) * m) - 1) / (m - 1)
 */
static void likeness_of_trials(void **state)
{
    static const double s[] = {11, 10, 7, 11, 3, 9, 11, 8, 2, 11};
    static const double n[] = {11, 11, 11, 11, 11, 11, 11, 10, 5, 11};
    static const double ones[] = {1, 1, 1, 1}, fours[] = {4, 4, 4, 4};
    static const double whole[] = {0, 4, 4, 0}, even[] = {2, 2, 2, 2}, single[] = {1, 0, 1, 1};

    (void)state;
    near(estimate_icc(s, n, 10), 0.348682197908);
    assert_true(estimate_icc(whole, fours, 4) == 1);
    assert_true(estimate_icc(even, fours, 4) == 0);
    assert_true(estimate_icc(single, ones, 4) == 0);
    assert_true(isnan(estimate_icc(fours, fours, 4)));
    assert_true(isnan(estimate_icc(s, n, 1)));
    assert_true(isnan(estimate_icc(s, n, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(drops),
        cmocka_unit_test(depths_and_their_likeness),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(nothing_can_be_seen),
        cmocka_unit_test(large_counts),
        cmocka_unit_test(likeness_of_trials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
