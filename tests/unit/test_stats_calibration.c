/*
 * Do intervals cover and tests err as often as they say? By simulation of runs in which a sample's
 * trials are alike with a known intra-class correlation: with probability icc one draw decides all
 * of a sample's trials, else each its own. Seeds are fixed, so the figures below are the same
 * everywhere; the bounds say what is promised, about three standard errors wide.
 */
#include "needlegrid/distribution.h"
#include "needlegrid/rng.h"
#include "needlegrid/stats_bootstrap.h"
#include "needlegrid/stats_power.h"
#include "needlegrid/stats_test.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { MAX_SAMPLES = 100, DEPTHS = 11 };

struct world {
    double accuracy, icc;
    size_t samples;
};

/* Right or wrong for each depth of one sample; returns the hits. */
static double draw_trials(const struct world *w, struct rng *r, bool right[DEPTHS])
{
    bool alike = rng_double(r) < w->icc;
    double hits = 0;

    for (int d = 0; d < DEPTHS; d++) {
        right[d] = alike && d > 0 ? right[0] : rng_double(r) < w->accuracy;
        hits += right[d];
    }
    return hits;
}

static double draw_sample(const struct world *w, struct rng *r)
{
    bool right[DEPTHS];

    return draw_trials(w, r, right);
}

/* ---- the bootstrap interval ---- */

static struct interval interval_of(const double *hits, size_t n, uint64_t seed)
{
    const struct bootstrap_spec spec = {.seed = seed, .resamples = 1000, .confidence = 0.95};
    struct interval out;
    struct clusters c;
    struct error e;

    assert_int_equal(clusters_init(&c, n, 1, &e), OK);
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; d < DEPTHS; d++)
            clusters_add(&c, i, 0, d < hits[i]);
    }
    assert_int_equal(bootstrap(&c, &spec, column_means, NULL, 1, &out, &e), OK);
    clusters_release(&c);
    return out;
}

static double coverage(const struct world *w, int runs)
{
    struct rng r = rng_make(11, "coverage", w->samples);
    double hits[MAX_SAMPLES];
    int covered = 0;

    for (int run = 0; run < runs; run++) {
        struct interval i;
        for (size_t s = 0; s < w->samples; s++)
            hits[s] = draw_sample(w, &r);
        i = interval_of(hits, w->samples, (uint64_t)run);
        covered += i.low <= w->accuracy && w->accuracy <= i.high;
    }
    return (double)covered / runs;
}

static void check_coverage(struct world w, double low, double high)
{
    double c = coverage(&w, 500);

    print_message("# accuracy %g, icc %g, %zu samples: covered %.3f\n", w.accuracy, w.icc,
                  w.samples, c);
    if (c < low || c > high)
        fail_msg("covered %.3f, not %.3f to %.3f", c, low, high);
}

/* 95% is promised where samples differ evenly. */
static void intervals_cover(void **state)
{
    (void)state;
    check_coverage((struct world){.5, .3, 5}, .92, 1);
    check_coverage((struct world){.5, .3, 20}, .92, .98);
    check_coverage((struct world){.8, 0, 20}, .92, .98);
    check_coverage((struct world){.8, 1, 20}, .92, .98);
    check_coverage((struct world){.8, .3, 100}, .92, .98);
}

/*
 * Where a few samples fail as a whole and all others hardly at all, most runs have too few of the
 * former to show it. docs/protocol.md says so; the plain percentile interval covers 3 points less.
 */
static void intervals_of_rare_failures(void **state)
{
    (void)state;
    check_coverage((struct world){.8, .3, 20}, .87, .95);
    check_coverage((struct world){.95, .1, 50}, .89, .96);
    check_coverage((struct world){.95, .3, 20}, .82, .92);
}

/* ---- false alarms and power ---- */

enum test { SIGN_FLIP, PERMUTATION, MCNEMAR };

/* One comparison of a run of w with one whose accuracy is `drop` less. */
static double compare(enum test test, const struct world *w, double drop, struct rng *r)
{
    const struct resampling draws = {.seed = rng_next(r), .n = 999};
    struct world after = *w;
    double a[MAX_SAMPLES], b[MAX_SAMPLES], difference[MAX_SAMPLES], p;
    bool before_right[DEPTHS], after_right[DEPTHS];
    int64_t only_before = 0, only_after = 0;
    struct error e;

    after.accuracy -= drop;
    for (size_t s = 0; s < w->samples; s++) {
        a[s] = draw_trials(w, r, before_right);
        b[s] = draw_trials(&after, r, after_right);
        difference[s] = a[s] - b[s];
        for (int d = 0; d < DEPTHS; d++) {
            only_before += before_right[d] && !after_right[d];
            only_after += after_right[d] && !before_right[d];
        }
    }
    if (test == SIGN_FLIP)
        return sign_flip_test(difference, w->samples, &draws);
    if (test == MCNEMAR)
        return mcnemar_exact(only_before, only_after);
    assert_int_equal(permutation_test(a, w->samples, b, w->samples, &draws, &p, &e), OK);
    return p;
}

static double alarms(enum test test, const struct world *w, double drop, double alpha, int runs)
{
    struct rng r = rng_make(12, "alarms", (uint64_t)test);
    int n = 0;

    for (int run = 0; run < runs; run++)
        n += compare(test, w, drop, &r) <= alpha;
    return (double)n / runs;
}

/* At most 5%, to three standard errors; and not far less, or the test would be blunt. */
static void false_alarms(void **state)
{
    static const struct world worlds[] = {
        {.8, .3, 12},
        {.8, .3, 30},
        {.5, 1, 30},
        {.9, 0, 30},
    };
    static const char *const names[] = {"sign flip", "permutation"};

    (void)state;
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        for (int test = SIGN_FLIP; test <= PERMUTATION; test++) {
            double rate = alarms((enum test)test, &worlds[i], 0, .05, 1000);
            print_message("# %s, accuracy %g, icc %g, %zu samples: false alarms %.3f\n",
                          names[test], worlds[i].accuracy, worlds[i].icc, worlds[i].samples, rate);
            assert_true(rate <= .05 + .021);
            assert_true(rate >= .02);
        }
    }
}

/* Why McNemar does not decide: trials of one sample are alike, and it takes them for independent.
 */
static void mcnemar_needs_independent_trials(void **state)
{
    const struct world apart = {.8, 0, 30}, alike = {.8, .5, 30};

    (void)state;
    assert_true(alarms(MCNEMAR, &apart, 0, .05, 1000) <= .05 + .021);
    assert_true(alarms(MCNEMAR, &alike, 0, .05, 1000) > .2);
}

/* Six lengths without a difference: one or more false findings in at most 5% of the comparisons. */
static void holm_holds_the_family(void **state)
{
    const struct world w = {.8, .3, 12};
    struct rng r = rng_make(13, "holm", 0);
    int raw = 0, family = 0;

    (void)state;
    for (int run = 0; run < 400; run++) {
        double p[6], adjusted[6], least = 1, least_adjusted = 1;
        for (int l = 0; l < 6; l++) {
            p[l] = compare(SIGN_FLIP, &w, 0, &r);
            least = fmin(least, p[l]);
        }
        holm_adjust(p, 6, adjusted);
        for (int l = 0; l < 6; l++)
            least_adjusted = fmin(least_adjusted, adjusted[l]);
        raw += least <= .05;
        family += least_adjusted <= .05;
    }
    assert_true(family <= .05 * 400 + 13); /* three standard errors */
    assert_true(raw > .15 * 400);          /* what it is for */
}

/* The drop that is said to be seen in 80% of comparisons is seen in 70% to 88%. */
static void power_is_as_planned(void **state)
{
    static const struct world worlds[] = {{.9, .3, 30}, {.95, 0, 20}, {.8, 1, 80}};

    (void)state;
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        const struct world *w = &worlds[i];
        struct power_design d = {w->accuracy, DEPTHS, w->icc, .05};
        double drop = drop_for_samples(&d, w->samples);
        double seen = alarms(PERMUTATION, w, drop, .05, 600);
        print_message("# accuracy %g, icc %g, %zu samples: a drop of %.3f is seen in %.3f\n",
                      w->accuracy, w->icc, w->samples, drop, seen);
        assert_true(seen > .70 && seen < .88);
    }
}

/* The estimate of icc is right on average, to 0.05. */
static void icc_is_estimated(void **state)
{
    static const double iccs[] = {0, .1, .5, 1};
    struct rng r = rng_make(14, "icc", 0);
    double count[50];

    (void)state;
    for (int i = 0; i < 50; i++)
        count[i] = DEPTHS;
    for (size_t k = 0; k < 4; k++) {
        const struct world w = {.8, iccs[k], 50};
        double sum = 0;
        for (int run = 0; run < 200; run++) {
            double hits[50];
            for (size_t s = 0; s < 50; s++)
                hits[s] = draw_sample(&w, &r);
            sum += estimate_icc(hits, count, 50);
        }
        assert_true(fabs(sum / 200 - iccs[k]) < .05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover),       cmocka_unit_test(intervals_of_rare_failures),
        cmocka_unit_test(false_alarms),          cmocka_unit_test(mcnemar_needs_independent_trials),
        cmocka_unit_test(holm_holds_the_family), cmocka_unit_test(power_is_as_planned),
        cmocka_unit_test(icc_is_estimated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
