#include "needlegrid/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* The first outputs of xoshiro256** from the state 1, 2, 3, 4 (the authors' C code). */
static void test_reference_outputs(void **state)
{
    static const uint64_t want[] = {11520u,
                                    0u,
                                    1509978240u,
                                    1215971899390074240u,
                                    1216172134540287360u,
                                    607988272756665600u,
                                    16172922978634559625u,
                                    8476171486693032832u,
                                    10595114339597558777u,
                                    2904607092377533576u};
    struct rng r = {{1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_true(rng_next(&r) == want[i]);
}

/*
 * Values from a second implementation. They must never change: every needle and haystack of every
 * stored run follows from them.
 */
static void test_streams_are_pinned(void **state)
{
    static const struct {
        uint64_t seed;
        const char *purpose;
        uint64_t index;
        uint64_t want[3];
    } cases[] = {
        {0, "needle", 0, {0xd2c5b852de650d58u, 0x28caa59c0533355u, 0xc45aecc1120ad47au}},
        {42, "needle", 3, {0x98972f0747f0ea90u, 0xe5b87ad2718e6bc8u, 0x9c07dd5d1746a2dfu}},
        {42, "haystack", 3, {0x8854793e468a3603u, 0x3afb5539e5fadf32u, 0x86ebfdc8df896f33u}},
        {UINT64_MAX,
         "",
         UINT64_MAX,
         {0xad5ab2c2429ff3c6u, 0x2b82e89c22d7abfeu, 0x66400ec628211f0bu}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rng r = rng_make(cases[i].seed, cases[i].purpose, cases[i].index);
        for (size_t j = 0; j < 3; j++)
            assert_true(rng_next(&r) == cases[i].want[j]);
    }
}

static void test_streams_differ_by_each_part_of_their_name(void **state)
{
    struct rng a = rng_make(1, "needle", 0);
    struct rng again = rng_make(1, "needle", 0);
    const struct rng others[] = {rng_make(2, "needle", 0), rng_make(1, "haystack", 0),
                                 rng_make(1, "needle", 1), rng_make(0, "needle", 1),
                                 rng_make(1, "", 0)};

    (void)state;
    assert_memory_equal(&a, &again, sizeof(a));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_memory_not_equal(&a, &others[i], sizeof(a));
}

static void test_below_stays_below(void **state)
{
    static const uint64_t limits[] = {1,         2, 3, 7, 65, 1000, 9000000, UINT64_MAX / 2 + 2,
                                      UINT64_MAX};
    struct rng r = rng_make(7, "below", 0);

    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        for (int j = 0; j < 1000; j++)
            assert_true(rng_below(&r, limits[i]) < limits[i]);
}

/* Chi-squared over 7 cells of 70,000 draws: 99.9% of fair generators stay under 22.5. */
static void test_below_is_even(void **state)
{
    enum { CELLS = 7, DRAWS = 70000 };
    const double each = (double)DRAWS / CELLS;
    struct rng r = rng_make(11, "even", 0);
    int counts[CELLS] = {0};
    double chi_squared = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++)
        counts[rng_below(&r, CELLS)]++;
    for (int i = 0; i < CELLS; i++)
        chi_squared += (counts[i] - each) * (counts[i] - each) / each;
    assert_true(chi_squared < 22.5);
}

/* With n just over 2^63 plain modulo would favour the lower half two to one. */
static void test_below_has_no_bias_at_large_n(void **state)
{
    const uint64_t n = (UINT64_MAX / 4) * 3;
    struct rng r = rng_make(5, "bias", 0);
    int low = 0;

    (void)state;
    for (int i = 0; i < 30000; i++)
        low += rng_below(&r, n) < n / 3;
    assert_in_range(low, 9600, 10400); /* 10,000 is fair (sd 82), plain modulo gives 15,000 */
}

static void test_double_range_and_mean(void **state)
{
    enum { DRAWS = 100000 };
    struct rng r = rng_make(3, "double", 0);
    double sum = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double x = rng_double(&r);
        assert_true(x >= 0.0 && x < 1.0);
        sum += x;
    }
    assert_true(sum / DRAWS > 0.495 && sum / DRAWS < 0.505);
}

/* All ones must give the largest double below 1, not 1. */
static void test_double_at_the_top(void **state)
{
    /* rng_next() = rotl(s1 * 5, 7) * 9; this s1 makes it UINT64_MAX. */
    struct rng r = {{0, 0x4fc71c71c71c71c7u, 0, 0}};
    struct rng same = r;

    (void)state;
    assert_true(rng_next(&same) == UINT64_MAX);
    assert_true(rng_double(&r) == 1.0 - 0x1p-53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_outputs),
        cmocka_unit_test(test_streams_are_pinned),
        cmocka_unit_test(test_streams_differ_by_each_part_of_their_name),
        cmocka_unit_test(test_below_stays_below),
        cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_below_has_no_bias_at_large_n),
        cmocka_unit_test(test_double_range_and_mean),
        cmocka_unit_test(test_double_at_the_top),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
