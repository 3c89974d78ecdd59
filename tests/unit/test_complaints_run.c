/*
 * What users of other tools complained of in runs and their results, each as the test that would
 * have caught it.
 */
#include "needlegrid/run.h"

#include "../../src/backend/backend_impl.h"
#include "../support/store_fixture.h"

#include "needlegrid/grid.h"
#include "needlegrid/score.h"
#include "needlegrid/stats_effective.h"
#include "needlegrid/summary.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

/* ---- a backend that gives the right answer ---- */

struct fake {
    struct backend base;
    size_t calls;
    size_t fail_at; /* call number; 0 = never */
};

static enum status fake_complete(struct backend *b, const struct completion_request *r,
                                 struct completion *out, struct error *e)
{
    struct fake *f = (struct fake *)b;

    if (++f->calls == f->fail_at)
        return error_set(e, ERR_IO, "429 too many requests");
    buf_clear(&out->text);
    out->finish_reason = "stop";
    out->evaluated = r->n_prompt;
    return tokenizer_decode(b->info.tokenizer, r->answer, r->n_answer, &out->text, e);
}

/* ---- a small sweep ---- */

static const size_t lengths[] = {256, 300};
static const double depths[] = {0, 100};

enum { N_TRIALS = 2 * 2 * 2 };

struct job {
    struct gguf *g;
    struct tokenizer *tokenizer;
    struct prompt_template *tpl;
    struct sweep sweep;
    struct fake backend;
    struct store *store; /* borrowed */
    struct run_result result;
    struct error e;
};

static void parse(struct job *j, const char *text)
{
    template_free(j->tpl);
    j->tpl = NULL;
    if (template_parse(&j->tpl, text, strlen(text), "test.json", &j->e) != OK)
        fail_msg("%s", j->e.message);
    j->sweep.tpl = j->tpl;
}

static const char plain[] =
    "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" The {key} number is: {value}.\","
    " \"question\": \" What is the {key} number?\", \"answer_prefix\": \" It is \","
    " \"value\": {\"digits\": 7}, \"scorer\": \"number\", \"stop\": [\".\"], \"max_tokens\": 16,"
    " \"keys\": [\"Ulm\", \"Bonn\", \"Kiel\"]}";

static void job_open(struct job *j, struct store *store)
{
    *j = (struct job){.store = store};
    if (gguf_open(&j->g, "models/tiny-ssmax.gguf", &j->e) != OK ||
        tokenizer_from_gguf(&j->tokenizer, j->g, &j->e) != OK)
        fail_msg("%s", j->e.message);
    j->sweep = (struct sweep){.haystack = "essays",
                              .haystack_folder = "haystacks",
                              .lengths = lengths,
                              .n_lengths = 2,
                              .depths = depths,
                              .n_depths = 2,
                              .samples = 2};
    parse(j, plain);
    j->backend.base.complete = fake_complete;
    j->backend.base.info = (struct backend_info){.kind = "fake",
                                                 .model_path = "fake.gguf",
                                                 .model_name = "fake",
                                                 .model_hash = "0a",
                                                 .rule = "softmax",
                                                 .rule_detail = "",
                                                 .isa = "generic",
                                                 .numerics = 1,
                                                 .tokenizer = j->tokenizer};
}

static void job_close(struct job *j)
{
    template_free(j->tpl);
    tokenizer_free(j->tokenizer);
    gguf_close(j->g);
}

static enum status run(struct job *j)
{
    struct plan plan;
    struct run_request r = {.sweep = &j->sweep,
                            .plan = &plan,
                            .backend = &j->backend.base,
                            .store = j->store,
                            .tool_version = "test",
                            .settings = "{}"};
    enum status status;

    if (plan_make(&plan, &j->sweep, j->tokenizer, &j->e) != OK)
        fail_msg("%s", j->e.message);
    status = run_sweep(&r, &j->result, &j->e);
    plan_release(&plan);
    return status;
}

/* Runs, and expects so many of N_TRIALS to be found in the store. */
static void expect_found(struct job *j, size_t found, const char *what)
{
    if (run(j) != OK)
        fail_msg("%s: %s", what, j->e.message);
    if (j->result.skipped != found)
        fail_msg("%s: %zu trials were skipped", what, j->result.skipped);
}

static void execute(struct store_fixture *f, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(fixture_path(f, "t.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* ---- resume ignores needle, question or template ---- */

static const struct {
    const char *from, *to;
} edits[] = {
    {"The {key} number is", "The {key} code is"},
    {"What is the", "Say the"},
    {"It is ", "It is: "},
    {"7}", "6}"},
    {"number\",", "contains\","},
    {"[\".\"]", "[]"},
    {": 16", ": 15"},
    {"Kiel", "Trier"},
    {"\"d\"", "\"e\""},
};

static void test_resume_ignores_needle_or_question(void **state)
{
    struct store_fixture *f = *state;
    struct job j;

    job_open(&j, f->store);
    expect_found(&j, 0, "first");
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        struct buf text = BUF_INIT(2000);
        const char *at = strstr(plain, edits[i].from);
        assert_non_null(at);
        buf_append(&text, plain, (size_t)(at - plain));
        buf_printf(&text, "%s%s", edits[i].to, at + strlen(edits[i].from));
        parse(&j, buf_str(&text));
        expect_found(&j, 0, edits[i].to);
        buf_release(&text);
    }
    parse(&j, plain);
    expect_found(&j, N_TRIALS, "the first again");
    job_close(&j);
}

static void test_resume_ignores_the_rest_of_the_setting(void **state)
{
    static const size_t distractors = 1;
    struct store_fixture *f = *state;
    struct job j;
    struct backend_info info;
    struct sweep sweep;

    job_open(&j, f->store);
    info = j.backend.base.info;
    sweep = j.sweep;
    expect_found(&j, 0, "first");
#define CHANGED(what, assignment)                                                                  \
    do {                                                                                           \
        assignment;                                                                                \
        expect_found(&j, 0, what);                                                                 \
        j.backend.base.info = info;                                                                \
        j.sweep = sweep;                                                                           \
    } while (0)
    CHANGED("seed", j.sweep.seed = 1);
    CHANGED("haystack", j.sweep.haystack = "prose");
    CHANGED("distractors", j.sweep.distractors = &distractors);
    CHANGED("packed", j.sweep.packed = true);
    CHANGED("model", j.backend.base.info.model_hash = "0b");
    CHANGED("rule", j.backend.base.info.rule = "ssmax");
    CHANGED("scale", j.backend.base.info.rule_detail = "s 0.5");
    CHANGED("instructions", j.backend.base.info.isa = "avx2");
    CHANGED("arithmetic", j.backend.base.info.numerics = 2);
#undef CHANGED
    expect_found(&j, N_TRIALS, "the first again");
    job_close(&j);
}

/* ---- resume skips cells that failed ---- */

static void test_resume_skips_what_failed(void **state)
{
    static const char *const failures[] = {"truncated-by-server", "over-length", "transport-error",
                                           "skipped", "no-verdict"};
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(1000);
    struct job j;

    job_open(&j, f->store);
    expect_found(&j, 0, "first");
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        struct buf sql = BUF_INIT(1000);
        buf_printf(&sql,
                   "UPDATE trial SET outcome = '%s', counted = 0, score = 0 WHERE trial_id ="
                   " (SELECT trial_id FROM trial ORDER BY trial_key LIMIT 1 OFFSET %zu)",
                   failures[i], i);
        execute(f, buf_str(&sql));
        expect_found(&j, N_TRIALS - 1, failures[i]);
        assert_string_equal(
            fixture_query(f, "SELECT count(*) || ' ' || sum(counted) FROM trial", 0, &out), "8 8");
        buf_release(&sql);
    }
    buf_release(&out);
    job_close(&j);
}

/* ---- resume scans every file ---- */

static void test_resume_scans_everything(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(1000);

    fixture_query(f, "EXPLAIN QUERY PLAN SELECT 1 FROM trial WHERE trial_key = 'a' AND counted = 1",
                  3, &out);
    assert_non_null(strstr(buf_str(&out), "SEARCH trial USING INDEX"));
    assert_non_null(strstr(buf_str(&out), "trial_key=?"));
    buf_release(&out);
}

/* ---- interrupted runs start again; a 429 aborts the run and loses results ---- */

static void test_interrupted_runs_start_again(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(1000);
    struct job j;

    job_open(&j, f->store);
    for (size_t done = 0; done + 1 < N_TRIALS; done++) { /* each time one trial, then the failure */
        j.backend.calls = 0;
        j.backend.fail_at = 2;
        assert_int_equal(run(&j), ERR_IO);
        assert_non_null(strstr(j.e.message, "429 too many requests"));
        assert_int_equal(j.result.skipped, done);
        assert_int_equal(j.backend.calls, 2);
    }
    assert_string_equal(fixture_query(f, "SELECT count(*) FROM trial", 0, &out), "7");
    j.backend.fail_at = 0;
    expect_found(&j, N_TRIALS - 1, "the rest");
    assert_string_equal(
        fixture_query(f, "SELECT count(*) || ' ' || sum(score) FROM trial", 0, &out), "8 8.0");
    buf_release(&out);
    job_close(&j);
}

/* ---- results overwrite each other ---- */

static void test_results_overwrite_each_other_as_names_collide(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(1000);
    struct job j;
    int64_t first;

    job_open(&j, f->store);
    expect_found(&j, 0, "first");
    first = j.result.run_id;
    j.backend.base.info.model_hash = "0b"; /* of the same name, path, rule, prompt, seed */
    expect_found(&j, 0, "second");
    assert_int_not_equal(j.result.run_id, first);
    assert_string_equal(
        fixture_query(f, "SELECT count(*) FROM trial GROUP BY run_id ORDER BY run_id", 0, &out),
        "8|8");
    assert_string_equal(fixture_query(f, "SELECT count(DISTINCT model_name) FROM run", 0, &out),
                        "1");
    buf_release(&out);
    job_close(&j);
}

/* ---- over-long or cut prompts scored all the same ---- */

/* Two hits and a miss, and beside them one trial of the outcome with another length and depth. */
static int64_t fill_store(struct store_fixture *f, const char *outcome)
{
    int64_t run_id = fixture_run(f, 1);

    for (int i = 0; i < 5; i++) {
        struct sample_trial t;
        sample_trial(&t, i);
        if (i == 2) {
            t.record.outcome = "wrong";
            t.record.score = 0;
        }
        if (i >= 3) {
            sample_fail(&t);
            t.record.outcome = outcome;
        }
        if (i == 4)
            t.record.context_length = 512;
        fixture_put(f, run_id, &t);
    }
    return run_id;
}

static void expect_not_in_grid(struct store_fixture *f, int64_t run_id)
{
    struct grid g;

    assert_int_equal(grid_load(&g, f->store, run_id, NULL, &f->e), OK);
    assert_true(grid_at(&g, 0, 0)->n == 3 && grid_at(&g, 0, 0)->not_counted == 1);
    assert_true(fabs(grid_accuracy(grid_at(&g, 0, 0)) - 2 / 3.0) < 1e-12);
    assert_true(grid_at(&g, 0, 1)->n == 0 && grid_at(&g, 0, 1)->not_counted == 1);
    assert_true(isnan(grid_accuracy(grid_at(&g, 0, 1)))); /* no zero */
    grid_release(&g);
}

static void expect_not_in_summary(struct store_fixture *f, int64_t run_id, const char *outcome)
{
    static const struct summary_spec spec = {EFFECTIVE_THRESHOLD, EFFECTIVE_BASE_SHARE, 200, 0};
    struct scores scores;
    struct summary s;
    struct buf text = BUF_INIT(1 << 16);
    struct buf want = BUF_INIT(100);

    assert_int_equal(scores_load(&scores, f->store, run_id, NULL, &f->e), OK);
    assert_int_equal(summary_make(&s, &scores, &spec, &f->e), OK);
    assert_int_equal(s.overall.n, 3);
    assert_true(fabs(s.overall.accuracy - 2 / 3.0) < 1e-12);
    assert_true(s.lengths[1].n == 0 && isnan(s.lengths[1].accuracy));
    assert_int_equal(s.not_counted, 2);
    summary_text(&text, &s);
    buf_printf(&want, "not counted: 2 (2 %s)", outcome);
    assert_non_null(strstr(buf_str(&text), buf_str(&want)));
    buf_release(&text);
    buf_release(&want);
    summary_release(&s);
    scores_release(&scores);
}

static void expect_not_scored(struct store_fixture *f, enum outcome o)
{
    int64_t run_id = fill_store(f, outcome_name(o));
    struct sample_trial t;
    bool done;

    assert_false(outcome_counts(o));
    expect_not_in_grid(f, run_id);
    expect_not_in_summary(f, run_id, outcome_name(o));
    sample_trial(&t, 3);
    assert_int_equal(store_has_trial(f->store, t.key, &done, &f->e), OK);
    assert_false(done); /* it runs again */
    sample_trial(&t, 9);
    t.record.outcome = outcome_name(o); /* nor can it get into the denominator by mistake */
    assert_int_equal(store_put_trial(f->store, run_id, &t.record, &f->e), ERR_FORMAT);
}

static void test_over_long_prompts_are_scored_all_the_same(void **state)
{
    expect_not_scored(*state, OUTCOME_OVER_LENGTH);
}

static void test_server_cut_the_prompt_to_2050_tokens(void **state)
{
    expect_not_scored(*state, OUTCOME_TRUNCATED_BY_SERVER);
}

static void test_transport_errors_are_scored_as_misses(void **state)
{
    expect_not_scored(*state, OUTCOME_TRANSPORT_ERROR);
}

static void test_skipped_trials_are_scored_as_misses(void **state)
{
    expect_not_scored(*state, OUTCOME_SKIPPED);
}

/* The embedded engine refuses a prompt that is longer than it was prepared for; it cuts nothing. */
static void test_over_long_prompts_are_cut(void **state)
{
    const struct embedded_options o = {
        .model_path = "models/tiny-ssmax.gguf", .attention = "model", .isa = "generic"};
    struct completion c = {.text = BUF_INIT(1000)};
    struct backend *b;
    token_id prompt[40] = {0};
    struct completion_request r = {.prompt = prompt, .n_prompt = 40, .max_tokens = 2};
    struct error e;

    (void)state;
    assert_int_equal(embedded_open(&b, &o, &e), OK);
    assert_int_equal(backend_prepare(b, 32, &e), OK);
    assert_int_not_equal(backend_complete(b, &r, &c, &e), OK);
    assert_non_null(strstr(e.message, "40"));
    r.n_prompt = 30;
    assert_int_equal(backend_complete(b, &r, &c, &e), OK);
    assert_int_equal(c.evaluated + c.reused >= 30, 1);
    buf_release(&c.text);
    backend_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_resume_ignores_needle_or_question),
        T(test_resume_ignores_the_rest_of_the_setting),
        T(test_resume_skips_what_failed),
        T(test_resume_scans_everything),
        T(test_interrupted_runs_start_again),
        T(test_results_overwrite_each_other_as_names_collide),
        T(test_over_long_prompts_are_scored_all_the_same),
        T(test_server_cut_the_prompt_to_2050_tokens),
        T(test_transport_errors_are_scored_as_misses),
        T(test_skipped_trials_are_scored_as_misses),
        cmocka_unit_test(test_over_long_prompts_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
