#include "needlegrid/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(int64_t hits, int64_t n, double low, double high)
{
    struct interval i = wilson_95(hits, n);

    assert_true(fabs(i.low - low) < 0.00005);
    assert_true(fabs(i.high - high) < 0.00005);
}

/* R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3. */
static void newcombe_1998(void **state)
{
    (void)state;
    check(81, 263, 0.2553, 0.3662);
    check(15, 148, 0.0624, 0.1605);
    check(0, 20, 0.0000, 0.1611);
    check(1, 29, 0.0061, 0.1718);
}

/* 0 of n: the upper bound is z^2 / (n + z^2), by hand. */
static void closed_forms(void **state)
{
    const double z2 = 3.841458820694124;

    (void)state;
    check(0, 10, 0, z2 / (10 + z2));
    check(10, 10, 10 / (10 + z2), 1);
    check(5, 10, 0.2366, 0.7634);
    check(1, 1, 1 / (1 + z2), 1);
}

static void ends_are_exact(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 2000; n++) {
        assert_true(wilson_95(0, n).low == 0);
        assert_true(wilson_95(n, n).high == 1);
        assert_true(wilson_95(0, n).high < 1);
        assert_true(wilson_95(n, n).low > 0);
    }
}

static void mirrors(void **state)
{
    (void)state;
    for (int64_t hits = 0; hits <= 37; hits++) {
        struct interval a = wilson_95(hits, 37), b = wilson_95(37 - hits, 37);
        assert_true(fabs(a.low - (1 - b.high)) < 1e-12);
        assert_true(a.low <= (double)hits / 37 && (double)hits / 37 <= a.high);
    }
}

/* Counts of a doctored file stay within [0, 1]. */
static void nonsense(void **state)
{
    (void)state;
    check(0, 0, 0, 1);
    check(3, -1, 0, 1);
    check(11, 10, 10 / (10 + 3.841458820694124), 1);
    check(-1, 10, 0, 3.841458820694124 / (10 + 3.841458820694124));
    check(INT64_MAX, INT64_MAX, 1, 1);
}

/* A mean that is no count of hits: between its neighbours; outside of [0, 1] it is cut. */
static void of_a_mean(void **state)
{
    struct interval half = wilson_95_mean(0.5, 10), below = wilson_95(5, 11), over, cut;

    (void)state;
    assert_true(half.low == wilson_95(5, 10).low && half.high == wilson_95(5, 10).high);
    over = wilson_95_mean(5.5 / 11, 11);
    assert_true(below.low < over.low && over.low < wilson_95(6, 11).low);
    cut = wilson_95_mean(1.5, 4);
    assert_true(cut.low == wilson_95(4, 4).low && cut.high == 1);
    cut = wilson_95_mean(-1, 4);
    assert_true(cut.low == 0 && cut.high == wilson_95(0, 4).high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcombe_1998),  cmocka_unit_test(closed_forms),
        cmocka_unit_test(ends_are_exact), cmocka_unit_test(mirrors),
        cmocka_unit_test(nonsense),       cmocka_unit_test(of_a_mean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
