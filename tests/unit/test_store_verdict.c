/*
 * Verdicts of other scorers beside the trials' own, and the attention that is stored with a trial.
 */
#include "needlegrid/store_verdict.h"

#include "../support/store_fixture.h"

#include "needlegrid/buf.h"
#include "needlegrid/store_attention.h"
#include "needlegrid/store_score.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- four trials: 1 hit, 2 hit, 3 failed for transport, 4 without a verdict by `number` ---- */

static int64_t fill(struct store_fixture *f)
{
    int64_t run_id = fixture_run(f, 1);

    for (int i = 1; i <= 4; i++) {
        struct sample_trial t;
        sample_trial(&t, i);
        if (i == 3)
            sample_fail(&t);
        if (i == 4) {
            t.record.outcome = "no-verdict";
            t.record.counted = false;
            t.record.score = 0;
            t.record.error = "it backtracks";
        }
        fixture_put(f, run_id, &t);
    }
    return run_id;
}

/* `contains` says 1 is half right and fails on 2; 4 it was not asked. */
static const struct verdict_item items[] = {
    {1, "partial", true, 0.5, NULL},
    {2, "no-verdict", false, 0, "too long"},
};

static struct verdict_batch batch_of(const struct verdict_item *i, size_t n)
{
    return (struct verdict_batch){.scorer = "contains",
                                  .scorer_hash = "ab12",
                                  .tool_version = "v2",
                                  .scored_at = "2025-02-01T00:00:00Z",
                                  .items = i,
                                  .n = n};
}

static void put(struct store_fixture *f, const struct verdict_item *i, size_t n)
{
    struct verdict_batch b = batch_of(i, n);

    assert_int_equal(store_put_verdicts(f->store, &b, &f->e), OK);
}

static enum status list_verdict(void *context, const struct verdict_row *v, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld %s %s %s %s %d %g %s %s %s\n", (long long)v->item.trial_id, v->scorer,
               v->scorer_hash, v->pattern ? v->pattern : "-", v->item.outcome, v->item.counted,
               v->item.score, v->item.error ? v->item.error : "-", v->tool_version, v->scored_at);
    return OK;
}

static const char *verdicts(struct store_fixture *f, struct trial_filter filter, struct buf *out)
{
    buf_clear(out);
    assert_int_equal(store_each_verdict(f->store, &filter, list_verdict, out, &f->e), OK);
    return buf_str(out);
}

static void verdicts_round_trip(void **state)
{
    struct store_fixture *f = *state;
    struct verdict_batch b = batch_of(items, 2);
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fill(f);

    put(f, items, 2);
    b.scorer = "regex";
    b.pattern = "\\d+";
    b.n = 1;
    assert_int_equal(store_put_verdicts(f->store, &b, &f->e), OK);
    assert_string_equal(verdicts(f, (struct trial_filter){.run_id = run_id}, &out),
                        "1 contains ab12 - partial 1 0.5 - v2 2025-02-01T00:00:00Z\n"
                        "1 regex ab12 \\d+ partial 1 0.5 - v2 2025-02-01T00:00:00Z\n"
                        "2 contains ab12 - no-verdict 0 0 too long v2 2025-02-01T00:00:00Z\n");
    assert_string_equal(verdicts(f, (struct trial_filter){.trial_id = 1, .scorer = "regex"}, &out),
                        "1 regex ab12 \\d+ partial 1 0.5 - v2 2025-02-01T00:00:00Z\n");
    assert_string_equal(verdicts(f, (struct trial_filter){.run_id = run_id + 1}, &out), "");
    buf_release(&out);
}

static void judging_again_replaces(void **state)
{
    static const struct verdict_item again = {2, "hit", true, 1, NULL};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);

    fill(f);
    put(f, items, 2);
    put(f, &again, 1);
    assert_string_equal(verdicts(f, (struct trial_filter){.scorer = "contains"}, &out),
                        "1 contains ab12 - partial 1 0.5 - v2 2025-02-01T00:00:00Z\n"
                        "2 contains ab12 - hit 1 1 - v2 2025-02-01T00:00:00Z\n");
    buf_release(&out);
}

/* All or none, and the store works on. */
static void bad_verdicts_are_refused(void **state)
{
    static const struct {
        struct verdict_item item;
        const char *why;
    } bad[] = {
        {{99, "hit", true, 1, NULL}, "FOREIGN KEY"},
        {{2, "right", true, 1, NULL}, "outcome"},
        {{2, "no-verdict", true, 1, NULL}, "counted"},
        {{2, "hit", true, 1.5, NULL}, "score"},
    };
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);

    fill(f);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct verdict_item two[] = {items[0], bad[i].item};
        struct verdict_batch b = batch_of(two, 2);
        assert_int_equal(store_put_verdicts(f->store, &b, &f->e), ERR_FORMAT);
        assert_non_null(strstr(f->e.message, bad[i].why));
        assert_string_equal(verdicts(f, (struct trial_filter){.run_id = 0}, &out), "");
    }
    put(f, items, 2);
    buf_release(&out);
}

/* ---- reading by scorer ---- */

static enum status list_trial(void *context, const struct trial_row *row, struct error *e)
{
    const struct trial_record *t = &row->trial;

    (void)e;
    buf_printf(context, "%lld %s %s %s %d %g %s\n", (long long)row->trial_id, t->scorer,
               t->scorer_hash ? t->scorer_hash : "-", t->outcome, t->counted, t->score,
               t->error ? t->error : "-");
    return OK;
}

static const char *trials(struct store_fixture *f, const char *scorer, struct buf *out)
{
    const struct trial_filter filter = {.scorer = scorer};

    buf_clear(out);
    assert_int_equal(store_each_trial(f->store, &filter, list_trial, out, &f->e), OK);
    return buf_str(out);
}

static void trials_by_scorer(void **state)
{
    static const char own[] = "1 number 5c0e hit 1 1 -\n"
                              "2 number 5c0e hit 1 1 -\n"
                              "3 number 5c0e transport-error 0 0 connection refused\n"
                              "4 number 5c0e no-verdict 0 0 it backtracks\n";
    static const struct verdict_item number_too = {1, "wrong", true, 0, NULL};
    struct store_fixture *f = *state;
    struct verdict_batch b = batch_of(&number_too, 1);
    struct buf out = BUF_INIT(10000);

    fill(f);
    put(f, items, 2);
    assert_string_equal(trials(f, NULL, &out), own); /* the own verdict stays */
    assert_string_equal(trials(f, "number", &out), own);
    assert_string_equal(trials(f, "contains", &out),
                        "1 contains ab12 partial 1 0.5 -\n"
                        "2 contains ab12 no-verdict 0 0 too long\n"
                        "3 contains 5c0e transport-error 0 0 connection refused\n"
                        "4 contains - no-verdict 0 0 not judged by contains\n");
    b.scorer = "number"; /* judged again by the same name: the later verdict is read */
    assert_int_equal(store_put_verdicts(f->store, &b, &f->e), OK);
    assert_non_null(strstr(trials(f, "number", &out), "1 number ab12 wrong 1 0 -\n"));
    assert_string_equal(trials(f, NULL, &out), own);
    buf_release(&out);
}

static enum status list_cell(void *context, const struct cell_row *c, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld/%g n=%lld hits=%lld score=%g not=%lld\n",
               (long long)c->context_length, c->target_depth, (long long)c->n, (long long)c->hits,
               c->score, (long long)c->not_counted);
    return OK;
}

static const char *cells(struct store_fixture *f, int64_t run_id, const char *scorer,
                         struct buf *out)
{
    buf_clear(out);
    assert_int_equal(store_each_cell(f->store, run_id, scorer, list_cell, out, &f->e), OK);
    return buf_str(out);
}

static void cells_by_scorer(void **state)
{
    static const char own[] = "256/nan n=1 hits=1 score=1 not=0\n"
                              "256/50 n=2 hits=2 score=2 not=2\n";
    static const struct verdict_item hit = {4, "hit", true, 1, NULL};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fill(f);
    struct sample_trial t;

    sample_trial(&t, 5); /* of another run, and another cell */
    fixture_put(f, fixture_run(f, 2), &t);
    sample_trial(&t, 6);
    t.record.target_depth = NAN;
    fixture_put(f, run_id, &t);
    put(f, items, 2);
    assert_string_equal(cells(f, run_id, NULL, &out), own);
    assert_string_equal(cells(f, run_id, "number", &out), own);
    assert_string_equal(cells(f, run_id, "contains", &out), "256/nan n=0 hits=0 score=0 not=1\n"
                                                            "256/50 n=1 hits=0 score=0.5 not=3\n");
    put(f, &hit, 1);
    assert_string_equal(cells(f, run_id, "contains", &out), "256/nan n=0 hits=0 score=0 not=1\n"
                                                            "256/50 n=2 hits=1 score=1.5 not=2\n");
    buf_release(&out);
}

static enum status list_score(void *context, const struct score_row *r, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld:%s:%d:%g ", (long long)r->sample, r->outcome, r->counted, r->score);
    return OK;
}

static void scores_by_scorer(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fill(f);

    put(f, items, 2);
    assert_int_equal(store_each_score(f->store, run_id, NULL, list_score, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "1:hit:1:1 2:hit:1:1 3:transport-error:0:0 "
                                       "4:no-verdict:0:0 ");
    buf_clear(&out);
    assert_int_equal(store_each_score(f->store, run_id, "contains", list_score, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "1:partial:1:0.5 2:no-verdict:0:0 3:transport-error:0:0 "
                                       "4:no-verdict:0:0 ");
    buf_release(&out);
}

static void check_count(struct store_fixture *f, int64_t run_id, const char *scorer,
                        struct verdict_count want)
{
    struct verdict_count c;

    assert_int_equal(store_count_verdicts(f->store, run_id, scorer, &c, &f->e), OK);
    assert_memory_equal(&c, &want, sizeof(c));
}

static void verdicts_are_counted(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fill(f);

    check_count(f, run_id, "contains", (struct verdict_count){4, 0, 0, 3, 1});
    put(f, items, 2);
    check_count(f, run_id, "contains", (struct verdict_count){4, 1, 1, 1, 1});
    check_count(f, 0, "contains", (struct verdict_count){4, 1, 1, 1, 1});
    check_count(f, run_id, "number", (struct verdict_count){4, 2, 1, 0, 1});
    check_count(f, run_id, "exact", (struct verdict_count){4, 0, 0, 3, 1});
    check_count(f, run_id + 1, "contains", (struct verdict_count){0, 0, 0, 0, 0});
}

/* ---- what users complained of ---- */

/* An error runs again: what was said of the old answer is not said of the new one. */
static void resume_skips_cells_that_failed(void **state)
{
    static const struct verdict_item old = {4, "wrong", true, 0, NULL};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fill(f);
    struct sample_trial t;
    bool done;

    put(f, &old, 1);
    sample_trial(&t, 4);
    assert_int_equal(store_has_trial(f->store, t.key, &done, &f->e), OK);
    assert_false(done);
    fixture_put(f, run_id, &t);
    assert_int_equal(store_has_trial(f->store, t.key, &done, &f->e), OK);
    assert_true(done);
    assert_string_equal(verdicts(f, (struct trial_filter){.run_id = 0}, &out), "");
    buf_release(&out);
}

static void judge_failure_became_a_score(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);

    fill(f);
    put(f, items + 1, 1);
    assert_string_equal(
        fixture_query(f, "SELECT sum(counted) || ' ' || total(score) FROM verdict", 0, &out),
        "0 0.0");
    buf_release(&out);
}

/* Nor those that a server cut, that never arrived, or that were left out. */
static void over_long_prompts_scored_all_the_same(void **state)
{
    static const char *const outcomes[] = {"over-length", "truncated-by-server", "transport-error",
                                           "skipped", "no-verdict"};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fixture_run(f, 1);

    for (int i = 0; i < 5; i++) {
        struct sample_trial t;
        sample_trial(&t, i);
        sample_fail(&t);
        t.record.outcome = outcomes[i];
        fixture_put(f, run_id, &t);
    }
    assert_string_equal(cells(f, run_id, NULL, &out), "256/50 n=0 hits=0 score=0 not=5\n");
    assert_string_equal(cells(f, run_id, "contains", &out), "256/50 n=0 hits=0 score=0 not=5\n");
    buf_release(&out);
}

static void results_overwrite_each_other(void **state)
{
    struct store_fixture *f = *state;
    int64_t a = fixture_run(f, 1), b = fixture_run(f, 3); /* the same names, another run key */
    struct sample_trial t;

    assert_true(a != b);
    sample_trial(&t, 1);
    fixture_put(f, a, &t);
    sample_trial(&t, 2);
    fixture_put(f, b, &t);
    assert_int_equal(count_trials(f->store), 2);
}

/* ---- attention ---- */

static const struct attention_record heads[] = {
    {0, 0, 0.25, 0.125, 3.5, 0.0625},
    {0, 1, 1.0 / 3, 0, 0.1, 0.9},
    {1, 0, 0, 0, 5.5, 0.01},
    {1, 1, 0.5, 0.25, 1, 0.5},
};

static enum status list_head(void *context, const struct attention_row *r, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld %s %d.%d %.17g %g %g %g\n", (long long)r->trial_id, r->outcome,
               r->a.layer, r->a.head, r->a.needle_mass, r->a.value_mass, r->a.entropy, r->a.max);
    return OK;
}

static const char *attention(struct store_fixture *f, struct trial_filter filter, struct buf *out)
{
    buf_clear(out);
    assert_int_equal(store_each_attention(f->store, &filter, list_head, out, &f->e), OK);
    return buf_str(out);
}

static void attention_round_trip(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t;

    sample_trial(&t, 2);
    t.record.attention = heads;
    t.record.n_attention = 4;
    fixture_put(f, run_id, &t);
    sample_trial(&t, 1);
    fixture_put(f, run_id, &t);
    assert_string_equal(attention(f, (struct trial_filter){.run_id = run_id}, &out),
                        "1 hit 0.0 0.25 0.125 3.5 0.0625\n"
                        "1 hit 0.1 0.33333333333333331 0 0.1 0.9\n"
                        "1 hit 1.0 0 0 5.5 0.01\n"
                        "1 hit 1.1 0.5 0.25 1 0.5\n");
    assert_string_equal(attention(f, (struct trial_filter){.trial_id = 2}, &out), "");
    buf_release(&out);
}

/* A trial that counts keeps its attention; one that failed gives way with all it had. */
static void attention_goes_with_its_trial(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.attention = heads;
    t.record.n_attention = 2;
    sample_fail(&t);
    fixture_put(f, run_id, &t);
    sample_trial(&t, 1);
    t.record.attention = heads + 2;
    t.record.n_attention = 1;
    fixture_put(f, run_id, &t);
    t.record.attention = heads + 3;
    fixture_put(f, run_id, &t);
    assert_string_equal(attention(f, (struct trial_filter){.run_id = 0}, &out),
                        "1 hit 1.0 0 0 5.5 0.01\n");
    buf_release(&out);
}

/* One bad head, and neither trial nor heads are there. */
static void trial_and_attention_are_one_transaction(void **state)
{
    struct attention_record bad[] = {heads[0], {0, 0, 0.5, 0.5, 1, 1}};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000);
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.attention = bad;
    t.record.n_attention = 2;
    assert_int_equal(store_put_trial(f->store, run_id, &t.record, &f->e), ERR_FORMAT);
    bad[1] = (struct attention_record){0, 1, NAN, 0.5, 1, 1};
    assert_int_equal(store_put_trial(f->store, run_id, &t.record, &f->e), ERR_FORMAT);
    assert_non_null(strstr(f->e.message, "needle_mass"));
    assert_int_equal(count_trials(f->store), 0);
    assert_string_equal(attention(f, (struct trial_filter){.run_id = 0}, &out), "");
    bad[1].needle_mass = 0.5;
    fixture_put(f, run_id, &t);
    assert_int_equal(count_trials(f->store), 1);
    buf_release(&out);
}

/* ---- the dump ---- */

static enum status append_text(void *context, const char *text, size_t n, struct error *e)
{
    (void)e;
    buf_append(context, text, n);
    return OK;
}

static void dump_has_verdicts_and_attention(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(100000), want = BUF_INIT(10000);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.attention = heads + 1;
    t.record.n_attention = 1;
    fixture_put(f, fixture_run(f, 1), &t);
    put(f, items, 1);
    assert_int_equal(store_dump(f->store, append_text, &out, &f->e), OK);
    buf_printf(&want,
               "\n\ntrial_key,scorer,scorer_hash,pattern,outcome,counted,score,error\n"
               "\"%s\",\"contains\",\"ab12\",,\"partial\",1,0.5,\n"
               "\ntrial_key,layer,head,needle_mass,value_mass,entropy,max\n"
               "\"%s\",0,1,0.33333333333333331,0,0.10000000000000001,0.90000000000000002\n",
               t.key, t.key);
    assert_non_null(strstr(buf_str(&out), buf_str(&want)));
    fixture_put(f, fixture_run(f, 1), &t); /* the read is over: writing goes on */
    buf_release(&out);
    buf_release(&want);
}

#define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(verdicts_round_trip),
        T(judging_again_replaces),
        T(bad_verdicts_are_refused),
        T(trials_by_scorer),
        T(cells_by_scorer),
        T(scores_by_scorer),
        T(verdicts_are_counted),
        T(resume_skips_cells_that_failed),
        T(judge_failure_became_a_score),
        T(over_long_prompts_scored_all_the_same),
        T(results_overwrite_each_other),
        T(attention_round_trip),
        T(attention_goes_with_its_trial),
        T(trial_and_attention_are_one_transaction),
        T(dump_has_verdicts_and_attention),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
