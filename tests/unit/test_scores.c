#include "needlegrid/scores.h"

#include "../support/store_fixture.h"

#include "needlegrid/store_score.h"
#include "needlegrid/store_verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void put(struct store_fixture *f, int64_t run, int number, int64_t length, double depth,
                int64_t sample, bool hit)
{
    struct sample_trial t;

    sample_trial(&t, number);
    t.record.context_length = length;
    t.record.target_depth = t.record.actual_depth = depth;
    t.record.sample = sample;
    t.record.logprob = -number;
    if (!hit) {
        t.record.outcome = "wrong";
        t.record.score = 0;
        t.record.has_logprob = false;
    }
    fixture_put(f, run, &t);
}

static void fail_trial(struct store_fixture *f, int64_t run, int number, int64_t length)
{
    struct sample_trial t;

    sample_trial(&t, number);
    sample_fail(&t);
    t.record.context_length = length;
    t.record.sample = 1000;
    fixture_put(f, run, &t);
}

static struct scores load(struct store_fixture *f, int64_t run, const char *scorer)
{
    struct scores s;

    if (scores_load(&s, f->store, run, scorer, &f->e) != OK)
        fail_msg("%s", f->e.message);
    return s;
}

/* Lengths, depths and samples get their indices in order, whatever the numbers. */
static void by_length_depth_sample(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    struct scores s;

    put(f, run, 1, 512, 100, 70, true);
    put(f, run, 2, 256, 12.5, 70, false);
    put(f, run, 3, 256, 0, 9, true);
    put(f, fixture_run(f, 2), 4, 128, 50, 1, true);
    s = load(f, run, NULL);
    assert_string_equal(s.model, "tiny");
    assert_string_equal(s.rule, "ssmax");
    assert_string_equal(s.task, "single");
    assert_string_equal(s.template_name, "base");
    assert_string_equal(s.haystack, "essays");
    assert_null(s.scorer);
    assert_int_equal(s.training_length, 256);
    assert_int_equal(s.n_lengths, 2);
    assert_true(s.lengths[0] == 256 && s.lengths[1] == 512);
    assert_int_equal(s.n_depths, 3);
    assert_true(s.depths[0] == 0 && s.depths[1] == 12.5 && s.depths[2] == 100);
    assert_int_equal(s.n_samples, 2);
    assert_int_equal(s.n, 3);
    assert_true(s.items[0].length == 0 && s.items[0].depth == 0 && s.items[0].sample == 0);
    assert_true(s.items[0].score == 1 && s.items[0].logprob == -3);
    assert_true(s.items[1].length == 0 && s.items[1].depth == 1 && s.items[1].sample == 1);
    assert_true(s.items[1].score == 0 && isnan(s.items[1].logprob));
    assert_true(s.items[2].length == 1 && s.items[2].depth == 2 && s.items[2].sample == 1);
    scores_release(&s);
}

/* What is not counted is counted beside; its length stands, its sample does not. */
static void not_counted(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    struct scores s;

    put(f, run, 1, 256, 0, 0, true);
    put(f, run, 2, 256, 0, 1, false);
    put(f, run, 3, 256, 50, 1, false);
    fail_trial(f, run, 4, 256);
    fail_trial(f, run, 5, 1024);
    s = load(f, run, NULL);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.n_samples, 2);
    assert_int_equal(s.n_lengths, 2);
    assert_true(s.lengths[1] == 1024);
    assert_int_equal(s.n_outcomes, 3);
    for (size_t i = 0; i < s.n_outcomes; i++) {
        const struct outcome_count *o = &s.outcomes[i];
        int64_t want = strcmp(o->name, "hit") == 0 ? 1 : 2;
        assert_int_equal(o->n, want);
        assert_int_equal(o->counted, strcmp(o->name, "transport-error") != 0);
    }
    scores_release(&s);
}

static void without_a_depth(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    struct scores s;

    put(f, run, 1, 256, NAN, 0, true);
    put(f, run, 2, 256, 50, 0, true);
    s = load(f, run, NULL);
    assert_int_equal(s.n_depths, 1);
    assert_int_equal(s.n, 2);
    assert_true(s.items[0].depth == SCORE_NO_DEPTH);
    assert_true(s.items[1].depth == 0);
    scores_release(&s);
}

/* Another scorer's verdicts instead of the trials' own; one it has not judged is not counted. */
static void of_another_scorer(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    const struct verdict_item items[] = {{1, "wrong", true, 0, NULL}, {2, "hit", true, 1, NULL}};
    const struct verdict_batch b = {
        .scorer = "contains", .scorer_hash = "c0", .items = items, .n = 2};
    struct scores s;

    put(f, run, 1, 256, 0, 0, true);
    put(f, run, 2, 256, 50, 0, true);
    put(f, run, 3, 256, 100, 0, true);
    assert_int_equal(store_put_verdicts(f->store, &b, &f->e), OK);
    s = load(f, run, "contains");
    assert_string_equal(s.scorer, "contains");
    assert_int_equal(s.n, 2);
    assert_true(s.items[0].score == 0 && s.items[1].score == 1);
    assert_int_equal(s.n_outcomes, 3);
    scores_release(&s);
    s = load(f, run, "number"); /* the trials' own */
    assert_int_equal(s.n, 3);
    scores_release(&s);
}

static void sums_by_sample(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    double sum[3], count[3];
    struct scores s;

    put(f, run, 1, 256, 0, 0, true);
    put(f, run, 2, 256, 50, 0, false);
    put(f, run, 3, 256, 0, 2, true);
    put(f, run, 4, 512, 0, 1, true);
    s = load(f, run, NULL);
    assert_int_equal(scores_by_sample(&s, 0, sum, count), 2);
    assert_true(sum[0] == 1 && count[0] == 2 && sum[1] == 1 && count[1] == 1);
    assert_int_equal(scores_by_sample(&s, 1, sum, count), 1);
    assert_true(sum[0] == 1 && count[0] == 1);
    assert_int_equal(scores_by_sample(&s, SCORE_ALL_LENGTHS, sum, count), 3);
    assert_true(sum[1] == 1 && count[1] == 1);
    scores_release(&s);
}

static void no_trials(void **state)
{
    struct store_fixture *f = *state;
    struct scores s = load(f, fixture_run(f, 1), NULL);

    assert_int_equal(s.n, 0);
    assert_int_equal(s.n_lengths, 0);
    assert_int_equal(s.n_samples, 0);
    scores_release(&s);
}

static void no_such_run(void **state)
{
    struct store_fixture *f = *state;
    struct scores s;

    fixture_run(f, 1);
    assert_int_equal(scores_load(&s, f->store, 7, NULL, &f->e), ERR_NOT_FOUND);
    assert_string_equal(f->e.message, "no run 7 in this database");
    assert_null(s.items);
}

static enum status stop(void *context, const struct score_row *row, struct error *e)
{
    ++*(int *)context;
    return error_set(e, ERR_LIMIT, "stopped at sample %d", (int)row->sample);
}

static void a_walk_can_be_ended(void **state)
{
    struct store_fixture *f = *state;
    int64_t run = fixture_run(f, 1);
    int n = 0;

    put(f, run, 1, 256, 0, 5, true);
    put(f, run, 2, 256, 0, 4, true);
    assert_int_equal(store_each_score(f->store, run, NULL, stop, &n, &f->e), ERR_LIMIT);
    assert_int_equal(n, 1);
    assert_string_equal(f->e.message, "stopped at sample 4");
}

#define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(by_length_depth_sample), T(not_counted), T(without_a_depth), T(of_another_scorer),
        T(sums_by_sample),         T(no_trials),   T(no_such_run),     T(a_walk_can_be_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
