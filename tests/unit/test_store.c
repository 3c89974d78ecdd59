/*
 * What is written is read back; what counts is kept; walks, cells and views say what they should.
 */
#include "needlegrid/store_read.h"

#include "../support/store_fixture.h"

#include "needlegrid/buf.h"
#include "needlegrid/score.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void same(const char *a, const char *b)
{
    if (!a || !b)
        assert_true(a == b);
    else
        assert_string_equal(a, b);
}

static void same_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

/* ---- runs ---- */

struct expected_run {
    const struct run_record *record;
    int seen;
};

static enum status check_run(void *context, const struct run_record *r, struct error *e)
{
    struct expected_run *x = context;
    const struct run_record *w = x->record;

    (void)e;
    x->seen++;
    same(r->run_key, w->run_key);
    same(r->model_name, w->model_name);
    same(r->model_hash, w->model_hash);
    same(r->backend, w->backend);
    same(r->rule, w->rule);
    same(r->rule_detail, w->rule_detail);
    same(r->task, w->task);
    same(r->template_name, w->template_name);
    same(r->template_hash, w->template_hash);
    same(r->template_text, w->template_text);
    same(r->haystack_name, w->haystack_name);
    same(r->tokenizer_hash, w->tokenizer_hash);
    same(r->isa, w->isa);
    assert_int_equal(r->numerics, w->numerics);
    assert_true(r->training_length == w->training_length);
    assert_true(r->seed == w->seed);
    same(r->model_path, w->model_path);
    same(r->tool_version, w->tool_version);
    same(r->started_at, w->started_at);
    same(r->settings, w->settings);
    return OK;
}

static void run_round_trip(void **state)
{
    struct store_fixture *f = *state;
    struct sample_run run;
    struct expected_run x = {&run.record, 0};

    sample_run(&run, 1);
    fixture_run(f, 1);
    assert_int_equal(store_each_run(f->store, check_run, &x, &f->e), OK);
    assert_int_equal(x.seen, 1);
}

static void run_with_nulls(void **state)
{
    struct store_fixture *f = *state;
    struct sample_run run;
    struct run_record bare = {0};
    struct expected_run x = {&bare, 0};
    int64_t id;

    sample_run(&run, 1);
    bare.run_key = run.key;
    bare.model_name = "m";
    bare.rule = "softmax";
    bare.task = "single";
    assert_int_equal(store_put_run(f->store, &bare, &id, &f->e), OK);
    assert_int_equal(store_each_run(f->store, check_run, &x, &f->e), OK);
    assert_int_equal(x.seen, 1);
    bare.model_name = NULL;
    run.key[0] = run.key[0] == 'a' ? 'b' : 'a';
    assert_int_equal(store_put_run(f->store, &bare, &id, &f->e), ERR_FORMAT);
    assert_non_null(strstr(f->e.message, "model_name"));
}

static void run_found_again(void **state)
{
    struct store_fixture *f = *state;
    int64_t first = fixture_run(f, 1);
    int64_t second = fixture_run(f, 2);

    assert_true(first > 0 && second != first);
    assert_true(fixture_run(f, 1) == first);
    assert_true(fixture_run(f, 2) == second);
}

/* ---- trials ---- */

struct expected_trials {
    const struct trial_record *record;
    int64_t run_id;
    int64_t trial_id;
    int seen;
};

static enum status check_trial(void *context, const struct trial_row *row, struct error *e)
{
    struct expected_trials *x = context;
    const struct trial_record *t = &row->trial, *w = x->record;

    (void)e;
    x->seen++;
    x->trial_id = row->trial_id;
    assert_true(row->run_id == x->run_id);
    same(row->model_name, "tiny");
    same(row->task, "single");
    same(t->trial_key, w->trial_key);
    same(t->pair_key, w->pair_key);
    assert_true(t->context_length == w->context_length);
    same_number(t->target_depth, w->target_depth);
    same_number(t->actual_depth, w->actual_depth);
    assert_true(t->sample == w->sample);
    assert_true(t->seed == w->seed);
    same(t->haystack_name, w->haystack_name);
    same(t->haystack_hash, w->haystack_hash);
    assert_true(t->prompt_tokens == w->prompt_tokens);
    assert_true(t->haystack_tokens == w->haystack_tokens);
    assert_true(t->max_tokens == w->max_tokens);
    assert_true(t->question_at == w->question_at);
    same(t->needles, w->needles);
    assert_true(t->n_expected == w->n_expected);
    same(t->decoys, w->decoys);
    assert_int_equal(t->absent, w->absent);
    same(t->scorer_hash, w->scorer_hash);
    assert_true(t->needle_at == w->needle_at);
    assert_true(t->needle_tokens == w->needle_tokens);
    same(t->needle_key, w->needle_key);
    same(t->expected, w->expected);
    same(t->response, w->response);
    same(t->outcome, w->outcome);
    assert_int_equal(t->counted, w->counted);
    same(t->scorer, w->scorer);
    assert_true(t->score == w->score);
    assert_int_equal(t->has_logprob, w->has_logprob);
    assert_true(t->logprob == (w->has_logprob ? w->logprob : 0));
    assert_true(t->worst_rank == (w->has_logprob ? w->worst_rank : 0));
    same(t->finish_reason, w->finish_reason);
    same(t->excerpt, w->excerpt);
    same(t->error, w->error);
    assert_true(t->latency_ms == w->latency_ms);
    assert_true(t->evaluated_tokens == w->evaluated_tokens);
    assert_true(t->reused_tokens == w->reused_tokens);
    same(t->tool_version, w->tool_version);
    same(t->finished_at, w->finished_at);
    return OK;
}

static int64_t expect_only(struct store_fixture *f, int64_t run_id, const struct sample_trial *t)
{
    struct expected_trials x = {&t->record, run_id, 0, 0};
    const struct trial_filter all = {.run_id = 0};

    assert_int_equal(store_each_trial(f->store, &all, check_trial, &x, &f->e), OK);
    assert_int_equal(x.seen, 1);
    return x.trial_id;
}

static void trial_round_trip(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.response = "a \"quoted\", line\nand \xe6\x9d\xb1\xe4\xba\xac \xff";
    t.record.target_depth = 100.0 / 3;
    t.record.logprob = -INFINITY;
    fixture_put(f, run_id, &t);
    expect_only(f, run_id, &t);
}

static void trial_without_depth(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    struct buf out = BUF_INIT(1000);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.target_depth = NAN;
    t.record.actual_depth = NAN;
    t.record.absent = true;
    t.record.n_expected = 0;
    t.record.expected = NULL;
    t.record.decoys = NULL;
    t.record.needles = NULL;
    fixture_put(f, run_id, &t);
    expect_only(f, run_id, &t);
    assert_string_equal(fixture_query(f, "SELECT target_depth IS NULL FROM trial", 0, &out), "1");
    buf_release(&out);
}

static bool has(struct store_fixture *f, const struct sample_trial *t)
{
    bool done;

    assert_int_equal(store_has_trial(f->store, t->key, &done, &f->e), OK);
    return done;
}

static void counted_trial_is_kept(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t, other;

    sample_trial(&t, 1);
    assert_false(has(f, &t));
    fixture_put(f, run_id, &t);
    assert_true(has(f, &t));
    sample_trial(&other, 1);
    other.record.response = "another answer";
    fixture_put(f, run_id, &other);
    sample_fail(&other);
    fixture_put(f, run_id, &other);
    expect_only(f, run_id, &t);
}

/* Every column differs, so that one left out of the update would show. */
static void failed_trial_is_replaced(void **state)
{
    struct store_fixture *f = *state;
    int64_t first_run = fixture_run(f, 1), run_id = fixture_run(f, 2), id;
    struct sample_trial t, failed = {0};

    sample_trial(&t, 1);
    failed.record = (struct trial_record){.trial_key = t.key, .pair_key = failed.pair};
    memset(failed.pair, 'a', HASH_HEX_SIZE - 1);
    failed.record.context_length = 1;
    failed.record.outcome = "skipped";
    failed.record.error = "interrupted";
    fixture_put(f, first_run, &failed);
    id = expect_only(f, first_run, &failed);
    assert_false(has(f, &t));
    fixture_put(f, run_id, &t);
    assert_true(expect_only(f, run_id, &t) == id);
    assert_true(has(f, &t));
}

static void refuse(struct store_fixture *f, int64_t run_id, const struct sample_trial *t,
                   const char *why)
{
    struct buf out = BUF_INIT(1000);

    assert_int_equal(store_put_trial(f->store, run_id, &t->record, &f->e), ERR_FORMAT);
    assert_non_null(strstr(f->e.message, "refuses the row"));
    assert_non_null(strstr(f->e.message, why));
    assert_string_equal(fixture_query(f, "SELECT count(*) FROM trial", 0, &out), "0");
    buf_release(&out);
}

static void bad_values_are_refused(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    struct sample_trial t;

#define REFUSE(field, value, why)                                                                  \
    do {                                                                                           \
        sample_trial(&t, 1);                                                                       \
        t.record.field = (value);                                                                  \
        refuse(f, run_id, &t, why);                                                                \
    } while (0)
    REFUSE(outcome, "Hit", "outcome");
    REFUSE(counted, false, "counted");
    REFUSE(outcome, "over-length", "counted");
    REFUSE(trial_key, "abc", "trial_key");
    REFUSE(pair_key, NULL, "pair_key");
    REFUSE(context_length, 0, "context_length");
    REFUSE(target_depth, 100.5, "target_depth");
    REFUSE(n_expected, -1, "n_expected");
    REFUSE(max_tokens, -1, "max_tokens");
    REFUSE(actual_depth, -1, "actual_depth");
    REFUSE(sample, -1, "sample");
    REFUSE(score, 1.5, "score");
    REFUSE(worst_rank, 0, "worst_rank");
    REFUSE(latency_ms, -1, "latency_ms");
#undef REFUSE
    sample_trial(&t, 1);
    refuse(f, run_id + 1, &t, "FOREIGN KEY");
    fixture_put(f, run_id, &t); /* the statement works on after a refusal */
}

static void schema_knows_every_outcome(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        struct sample_trial t;
        sample_trial(&t, i);
        t.record.outcome = outcome_name((enum outcome)i);
        t.record.counted = outcome_counts((enum outcome)i);
        fixture_put(f, run_id, &t);
    }
}

/* ---- walks ---- */

static enum status list_trial(void *context, const struct trial_row *row, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld:%lld/%g/%lld ", (long long)row->run_id,
               (long long)row->trial.context_length, row->trial.target_depth,
               (long long)row->trial.sample);
    return OK;
}

static void put_cell(struct store_fixture *f, int64_t run_id, int number, int64_t length,
                     double depth)
{
    struct sample_trial t;

    sample_trial(&t, number);
    t.record.context_length = length;
    t.record.target_depth = depth;
    fixture_put(f, run_id, &t);
}

static void walk_order_and_filters(void **state)
{
    struct store_fixture *f = *state;
    int64_t a = fixture_run(f, 1), b = fixture_run(f, 2);
    struct trial_filter filter = {.run_id = 0};
    struct buf out = BUF_INIT(1000);

    put_cell(f, b, 0, 256, 0);
    put_cell(f, a, 3, 512, 0);
    put_cell(f, a, 2, 256, 100);
    put_cell(f, a, 9, 256, 20);
    put_cell(f, a, 4, 256, 20);
    assert_int_equal(store_each_trial(f->store, &filter, list_trial, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "1:256/20/4 1:256/20/9 1:256/100/2 1:512/0/3 2:256/0/0 ");
    buf_clear(&out);
    filter.run_id = b;
    assert_int_equal(store_each_trial(f->store, &filter, list_trial, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "2:256/0/0 ");
    buf_clear(&out);
    filter.run_id = 0;
    filter.trial_id = 2;
    assert_int_equal(store_each_trial(f->store, &filter, list_trial, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "1:512/0/3 ");
    buf_clear(&out);
    filter.run_id = b; /* not the run of that trial */
    assert_int_equal(store_each_trial(f->store, &filter, list_trial, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "");
    buf_release(&out);
}

static enum status stop_at_once(void *context, const struct trial_row *row, struct error *e)
{
    (void)row;
    ++*(int *)context;
    return error_set(e, ERR_INTERRUPTED, "enough");
}

static void callback_ends_walk(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    const struct trial_filter all = {.run_id = 0};
    int rows = 0;

    put_cell(f, run_id, 1, 256, 0);
    put_cell(f, run_id, 2, 256, 0);
    assert_int_equal(store_each_trial(f->store, &all, stop_at_once, &rows, &f->e), ERR_INTERRUPTED);
    assert_int_equal(rows, 1);
    assert_string_equal(f->e.message, "enough");
    put_cell(f, run_id, 3, 256, 0);
}

static enum status list_cell(void *context, const struct cell_row *c, struct error *e)
{
    (void)e;
    buf_printf(context, "%lld/%g n=%lld hits=%lld score=%g not=%lld\n",
               (long long)c->context_length, c->target_depth, (long long)c->n, (long long)c->hits,
               c->score, (long long)c->not_counted);
    return OK;
}

static void fill_grid(struct store_fixture *f, int64_t run_id)
{
    struct sample_trial t;

    put_cell(f, run_id, 1, 512, 50);
    put_cell(f, run_id, 2, 256, 100);
    sample_trial(&t, 3);
    t.record.target_depth = 100;
    t.record.outcome = "partial";
    t.record.score = 0.25;
    t.record.logprob = -0.3;
    fixture_put(f, run_id, &t);
    sample_trial(&t, 4);
    t.record.target_depth = 100;
    sample_fail(&t);
    fixture_put(f, run_id, &t);
    sample_trial(&t, 5);
    t.record.target_depth = 0;
    sample_fail(&t);
    fixture_put(f, run_id, &t);
}

static void cells_add_up(void **state)
{
    struct store_fixture *f = *state;
    int64_t run_id = fixture_run(f, 1);
    struct buf out = BUF_INIT(1000);

    put_cell(f, fixture_run(f, 2), 100, 256, 100); /* of another run */
    fill_grid(f, run_id);
    assert_int_equal(store_each_cell(f->store, run_id, NULL, list_cell, &out, &f->e), OK);
    assert_string_equal(buf_str(&out), "256/0 n=0 hits=0 score=0 not=1\n"
                                       "256/100 n=2 hits=1 score=1.25 not=1\n"
                                       "512/50 n=1 hits=1 score=1 not=0\n");
    assert_string_equal(
        fixture_query(f,
                      "SELECT printf('%s %s %s %d %g %d %d %s %d %.3f', model, rule, task,"
                      " context_length, target_depth, n, hits, accuracy, not_counted,"
                      " mean_logprob) FROM grid WHERE run_id = 1",
                      0, &out),
        "tiny ssmax single 256 0 0 0  1 0.000|"
        "tiny ssmax single 256 100 2 1 0.625 1 -0.200|"
        "tiny ssmax single 512 50 1 1 1.0 0 -0.100");
    buf_release(&out);
}

/* Walks over a large file follow an index; the cells never touch the table. */
static void large_walks_follow_an_index(void **state)
{
    static const struct {
        const char *sql, *index;
    } walks[] = {
        {"SELECT * FROM grid WHERE run_id = ? ORDER BY context_length, target_depth",
         "COVERING INDEX trial_by_cell (run_id=?)"},
        {"SELECT t.sample, v.score, t.scorer FROM trial AS t LEFT JOIN verdict AS v"
         " ON v.trial_id = t.trial_id AND v.scorer = 'x' WHERE t.run_id = ?"
         " ORDER BY t.context_length, t.target_depth",
         "COVERING INDEX trial_by_cell (run_id=?)|SEARCH v USING PRIMARY KEY (trial_id=? AND"},
        {"SELECT * FROM trials ORDER BY run_id, context_length, target_depth, sample, trial_id",
         "INDEX trial_by_cell"},
        {"SELECT * FROM trials WHERE run_id = ?"
         " ORDER BY run_id, context_length, target_depth, sample, trial_id",
         "INDEX trial_by_cell (run_id=?)"},
        {"SELECT * FROM trials ORDER BY trial_key", "INDEX sqlite_autoindex_trial_1"},
    };
    struct store_fixture *f = *state;
    struct buf sql = BUF_INIT(1000), out = BUF_INIT(10000);

    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        buf_clear(&sql);
        buf_printf(&sql, "EXPLAIN QUERY PLAN %s", walks[i].sql);
        assert_non_null(strstr(fixture_query(f, buf_str(&sql), 3, &out), walks[i].index));
    }
    buf_release(&sql);
    buf_release(&out);
}

#define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(run_round_trip),
        T(run_with_nulls),
        T(run_found_again),
        T(trial_round_trip),
        T(trial_without_depth),
        T(counted_trial_is_kept),
        T(failed_trial_is_replaced),
        T(bad_values_are_refused),
        T(schema_knows_every_outcome),
        T(walk_order_and_filters),
        T(callback_ends_walk),
        T(cells_add_up),
        T(large_walks_follow_an_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
