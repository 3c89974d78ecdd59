/* The runner with a backend made for the test: what it stores, and going on after a failure. */
#include "needlegrid/run.h"
#include "needlegrid/store_attention.h"

#include "../../src/backend/backend_impl.h"
#include "../support/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Answers rightly, every third time wrongly, and fails at call number `fail_at`. */
struct fake {
    struct backend base;
    size_t calls;
    size_t fail_at; /* 0 = never */
    struct attention_score seen;
};

static enum status fake_prepare(struct backend *b, size_t max_context, struct error *e)
{
    (void)b;
    (void)max_context;
    (void)e;
    return OK;
}

static enum status fake_complete(struct backend *b, const struct completion_request *r,
                                 struct completion *out, struct error *e)
{
    struct fake *f = (struct fake *)b;
    enum status status;

    if (++f->calls == f->fail_at)
        return error_set(e, ERR_IO, "the line went dead");
    buf_clear(&out->text);
    status = tokenizer_decode(b->info.tokenizer, r->answer, r->n_answer, &out->text, e);
    /* by the prompt's length, so that the same trial gets the same answer in any order */
    if (out->text.len == 0)
        buf_puts(&out->text, "I cannot tell.");
    else if (r->n_prompt % 3 == 0)
        out->text.data[0] = out->text.data[0] == '9' ? '1' : '9';
    out->finish_reason = "stop";
    out->has_logprob = true;
    out->logprob = -0.25;
    out->worst_rank = 2;
    if (r->n_needles > 0) {
        f->seen = (struct attention_score){
            .layer = 2,
            .head = 1,
            .needle_mass = (double)(r->needles[0].to - r->needles[0].from),
            .value_mass = (double)(r->values[0].to - r->values[0].from),
            .max = (double)r->n_needles,
            .entropy = (double)r->n_values,
        };
        out->attention = &f->seen;
        out->n_attention = 1;
    }
    out->evaluated = r->n_prompt;
    out->reused = 0;
    out->latency_ms = 1;
    return status;
}

struct fixture {
    struct scratch scratch;
    struct gguf *g;
    struct tokenizer *tokenizer;
    struct prompt_template *tpl;
    struct sweep sweep;
    struct plan plan;
    struct fake backend;
    bool attention_scores;
};

static const size_t lengths[] = {256, 512};
static const double depths[] = {0, 50, 100};

enum { N_TRIALS = 2 * 3 * 4 };

static void open_fixture(struct fixture *f)
{
    struct error e;

    memset(f, 0, sizeof(*f));
    scratch_init(&f->scratch);
    if (gguf_open(&f->g, "models/tiny-ssmax.gguf", &e) != OK ||
        tokenizer_from_gguf(&f->tokenizer, f->g, &e) != OK ||
        template_open(&f->tpl, "tokyo", "prompts", &e) != OK)
        fail_msg("%s", e.message);
    f->sweep = (struct sweep){.tpl = f->tpl,
                              .haystack = "prose",
                              .haystack_folder = "haystacks",
                              .lengths = lengths,
                              .n_lengths = 2,
                              .depths = depths,
                              .n_depths = 3,
                              .samples = 4,
                              .seed = 1};
    if (plan_make(&f->plan, &f->sweep, f->tokenizer, &e) != OK)
        fail_msg("%s", e.message);
    f->backend.base.prepare = fake_prepare;
    f->backend.base.complete = fake_complete;
    f->backend.base.info = (struct backend_info){.kind = "fake",
                                                 .model_path = "fake.gguf",
                                                 .model_name = "fake",
                                                 .model_hash = tokenizer_hash(f->tokenizer),
                                                 .rule = "softmax",
                                                 .rule_detail = "",
                                                 .isa = "generic",
                                                 .numerics = 1,
                                                 .training_length = 256,
                                                 .tokenizer = f->tokenizer};
}

static void close_fixture(struct fixture *f)
{
    plan_release(&f->plan);
    template_free(f->tpl);
    tokenizer_free(f->tokenizer);
    gguf_close(f->g);
    scratch_release(&f->scratch);
}

static enum status run(struct fixture *f, struct run_result *result, run_progress_fn *progress,
                       void *context, struct error *e)
{
    struct run_request r = {.sweep = &f->sweep,
                            .plan = &f->plan,
                            .backend = &f->backend.base,
                            .refusals = "prompts/refusals.txt",
                            .attention_scores = f->attention_scores,
                            .tool_version = "test",
                            .settings = "{}",
                            .progress = progress,
                            .progress_context = context};
    enum status status;

    if (store_open(&r.store, scratch_path(&f->scratch, "run.db"), STORE_WRITE, e) != OK)
        fail_msg("%s", e->message);
    status = run_sweep(&r, result, e);
    store_close(r.store);
    return status;
}

struct tally {
    size_t n, hits, partial;
};

static enum status count_trial(void *context, const struct trial_row *row, struct error *e)
{
    const struct trial_record *t = &row->trial;
    struct tally *c = context;

    (void)e;
    c->n++;
    c->hits += strcmp(t->outcome, "hit") == 0;
    assert_true(t->counted);
    assert_int_equal(t->score, strcmp(t->outcome, "hit") == 0);
    assert_int_equal(strcmp(t->outcome, "hit") == 0, t->prompt_tokens % 3 != 0);
    assert_true(t->prompt_tokens + 16 <= t->context_length);
    assert_int_equal(strlen(t->expected), 7);
    assert_non_null(strstr(t->excerpt, t->needle_key));
    assert_int_equal(t->worst_rank, 2);
    return OK;
}

static struct tally tally(struct fixture *f)
{
    struct trial_filter all = {.run_id = 0};
    struct tally c = {0, 0, 0};
    struct store *s;
    struct error e;

    assert_int_equal(store_open(&s, scratch_path(&f->scratch, "run.db"), STORE_READ, &e), OK);
    assert_int_equal(store_each_trial(s, &all, count_trial, &c, &e), OK);
    store_close(s);
    return c;
}

static void every_trial_is_scored_and_stored(void **state)
{
    struct run_result result;
    struct fixture f;
    struct error e;

    (void)state;
    open_fixture(&f);
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    assert_int_equal(result.trials, N_TRIALS);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(result.errors, 0);
    assert_int_equal(tally(&f).n, N_TRIALS);
    assert_in_range(tally(&f).hits, 1, N_TRIALS - 1);
    close_fixture(&f);
}

static void what_is_stored_is_not_run_again(void **state)
{
    struct run_result result;
    struct fixture f;
    struct error e;
    int64_t id;

    (void)state;
    open_fixture(&f);
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    id = result.run_id;
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    assert_int_equal(result.run_id, id);
    assert_int_equal(result.skipped, N_TRIALS);
    assert_int_equal(f.backend.calls, N_TRIALS);
    /* another rule is another run */
    f.backend.base.info.rule = "ssmax";
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    assert_int_not_equal(result.run_id, id);
    assert_int_equal(result.skipped, 0);
    assert_int_equal(tally(&f).n, 2 * N_TRIALS);
    close_fixture(&f);
}

static void a_failure_keeps_what_was_done(void **state)
{
    struct run_result result;
    struct fixture f;
    struct error e;

    (void)state;
    open_fixture(&f);
    f.backend.fail_at = 10;
    assert_int_equal(run(&f, &result, NULL, NULL, &e), ERR_IO);
    assert_non_null(strstr(e.message, "the line went dead"));
    assert_int_equal(tally(&f).n, 9);
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    assert_int_equal(result.skipped, 9);
    assert_int_equal(tally(&f).n, N_TRIALS);
    close_fixture(&f);
}

struct seen {
    size_t calls, last;
    double last_remaining_s;
};

static void note_progress(void *context, const struct run_progress *p)
{
    struct seen *s = context;

    assert_int_equal(p->total, N_TRIALS);
    assert_true(s->calls == 0 ? p->done == 0 : p->done == s->last + 1);
    s->last = p->done;
    s->last_remaining_s = p->remaining_s;
    s->calls++;
}

static void progress_counts_to_the_end(void **state)
{
    struct run_result result;
    struct seen seen = {0, 0, -1};
    struct fixture f;
    struct error e;

    (void)state;
    open_fixture(&f);
    assert_int_equal(run(&f, &result, note_progress, &seen, &e), OK);
    assert_int_equal(seen.last, N_TRIALS);
    assert_true(seen.last_remaining_s >= 0 && seen.last_remaining_s < 1e-3);
    close_fixture(&f);
}

/* ---- other tasks ---- */

/* The fixture's sweep for another prompt. */
static void plan_again(struct fixture *f, const char *prompt)
{
    struct error e;

    plan_release(&f->plan);
    template_free(f->tpl);
    if (template_open(&f->tpl, prompt, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    f->sweep.tpl = f->tpl;
    f->sweep.haystack = NULL;
    if (plan_make(&f->plan, &f->sweep, f->tokenizer, &e) != OK)
        fail_msg("%s", e.message);
}

static size_t count_of(const char *s, char c)
{
    size_t n = 0;

    for (; *s; s++)
        n += *s == c;
    return n;
}

typedef void expect_fn(const struct trial_row *row);

static enum status check_row(void *context, const struct trial_row *row, struct error *e)
{
    expect_fn *expect = *(expect_fn **)context;

    (void)e;
    expect(row);
    return OK;
}

/* Runs the sweep; `expect` sees every row, of which there are n. */
static void expect_rows(struct fixture *f, size_t n, expect_fn *expect)
{
    struct trial_filter all = {0};
    struct run_result result;
    struct store *s;
    struct error e;

    if (run(f, &result, NULL, NULL, &e) != OK)
        fail_msg("%s", e.message);
    assert_int_equal(result.trials, n);
    assert_int_equal(result.skipped, 0);
    all.run_id = result.run_id;
    assert_int_equal(store_open(&s, scratch_path(&f->scratch, "run.db"), STORE_READ, &e), OK);
    assert_int_equal(store_each_trial(s, &all, check_row, &expect, &e), OK);
    store_close(s);
}

static void expect_packed(const struct trial_row *row)
{
    const struct trial_record *t = &row->trial;

    assert_string_equal(row->task, "single-packed");
    assert_int_equal(t->n_expected, 1);
    assert_int_equal(strlen(t->decoys), 7 + 2 + 7);
    assert_null(strstr(t->decoys, t->expected));
    assert_int_equal(count_of(t->needles, '['), 1 + 3);
    assert_true(t->target_depth == 0 || t->target_depth == 50 || t->target_depth == 100);
    if (t->target_depth != 50)
        assert_true(t->actual_depth == t->target_depth);
}

static void packed_trials_are_a_task_of_their_own(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.sweep.packed = true;
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, expect_packed);
    close_fixture(&f);
}

static void expect_absent(const struct trial_row *row)
{
    const struct trial_record *t = &row->trial;

    assert_true(t->absent);
    assert_true(isnan(t->target_depth) && isnan(t->actual_depth));
    assert_int_equal(t->n_expected, 0);
    assert_string_equal(t->expected, "");
    assert_int_equal(strlen(t->decoys), 3 * 7 + 2 * 2);
    assert_int_equal(t->needle_tokens, 0);
    assert_string_equal(t->outcome, "hit"); /* it said that it cannot tell */
}

static void expect_no_context(const struct trial_row *row)
{
    const struct trial_record *t = &row->trial;

    assert_false(t->absent);
    assert_string_equal(t->haystack_name, "none");
    assert_int_equal(t->haystack_tokens, 0);
    assert_true(isnan(t->target_depth));
    assert_int_equal(strlen(t->expected), 7);
    assert_string_equal(t->needles, "[]");
    assert_null(t->decoys);
    assert_true(t->prompt_tokens < 40);
}

static void controls_have_no_depth(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    plan_again(&f, "absent");
    expect_rows(&f, 2 * 4, expect_absent);
    plan_again(&f, "no-context");
    expect_rows(&f, 2 * 4, expect_no_context);
    close_fixture(&f);
}

static void expect_values(const struct trial_row *row)
{
    const struct trial_record *t = &row->trial;

    assert_int_equal(t->n_expected, 4);
    assert_int_equal(strlen(t->expected), 4 * 7 + 3 * 2);
    assert_string_equal(t->scorer, "all-of");
    assert_true(t->score > 0.7);
}

static void several_values_are_expected(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    plan_again(&f, "multi-value");
    expect_rows(&f, N_TRIALS, expect_values);
    plan_again(&f, "multi-query");
    expect_rows(&f, N_TRIALS, expect_values);
    close_fixture(&f);
}

static void expect_bounded(const struct trial_row *row)
{
    assert_true(row->trial.decoys == NULL || strlen(row->trial.decoys) < 64 * 40);
}

/* A haystack of needles has more decoys than are worth keeping. */
static void decoys_are_bounded(void **state)
{
    static const size_t longer[] = {4096};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.sweep.lengths = longer;
    f.sweep.n_lengths = 1;
    plan_again(&f, "niah_multikey_2");
    expect_rows(&f, 3 * 4, expect_bounded);
    close_fixture(&f);
}

static void any(const struct trial_row *row)
{
    assert_true(row->trial.counted);
}

/* Whatever changes the prompts makes other trials of them. */
static void options_are_part_of_the_keys(void **state)
{
    static const size_t two = 2;
    static const double other_depths[] = {0, 25, 100};
    struct fixture f;
    struct run_result result;
    struct error e;

    (void)state;
    open_fixture(&f);
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, any);
    f.sweep.distractors = &two;
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, any);
    f.sweep.packed = true;
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, any);
    f.sweep.depths = other_depths; /* the needle at 25 is in the prompts of the other depths too */
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, any);
    f.sweep.packed = false; /* one depth in three is new */
    plan_again(&f, "tokyo");
    assert_int_equal(run(&f, &result, NULL, NULL, &e), OK);
    assert_int_equal(result.skipped, N_TRIALS * 2 / 3);
    close_fixture(&f);
}

/* ---- attention ---- */

static enum status count_attention(void *context, const struct attention_row *row, struct error *e)
{
    (void)e;
    ++*(size_t *)context;
    assert_int_equal(row->a.layer, 2);
    assert_int_equal(row->a.head, 1);
    assert_true(row->a.needle_mass == 16); /* tokens of the needle, of its number; how many */
    assert_true(row->a.value_mass == 7);
    assert_true(row->a.max == 4 || row->a.max == 1);
    assert_true(row->a.entropy == row->a.max);
    return OK;
}

static size_t attention_rows(struct fixture *f)
{
    struct trial_filter all = {0};
    struct store *s;
    struct error e;
    size_t n = 0;

    assert_int_equal(store_open(&s, scratch_path(&f->scratch, "run.db"), STORE_READ, &e), OK);
    assert_int_equal(store_each_attention(s, &all, count_attention, &n, &e), OK);
    store_close(s);
    return n;
}

/* It is looked for on all needles that are asked for, and nowhere if none is. */
static void attention_is_stored_if_wanted(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    plan_again(&f, "multi-key");
    expect_rows(&f, N_TRIALS, any);
    assert_int_equal(attention_rows(&f), 0);
    f.attention_scores = true;
    plan_again(&f, "tokyo");
    expect_rows(&f, N_TRIALS, any);
    assert_int_equal(attention_rows(&f), N_TRIALS);
    plan_again(&f, "multi-query");
    expect_rows(&f, N_TRIALS, any);
    plan_again(&f, "absent");
    expect_rows(&f, 2 * 4, any);
    assert_int_equal(attention_rows(&f), 2 * N_TRIALS);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trial_is_scored_and_stored),
        cmocka_unit_test(what_is_stored_is_not_run_again),
        cmocka_unit_test(a_failure_keeps_what_was_done),
        cmocka_unit_test(progress_counts_to_the_end),
        cmocka_unit_test(packed_trials_are_a_task_of_their_own),
        cmocka_unit_test(controls_have_no_depth),
        cmocka_unit_test(several_values_are_expected),
        cmocka_unit_test(decoys_are_bounded),
        cmocka_unit_test(options_are_part_of_the_keys),
        cmocka_unit_test(attention_is_stored_if_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
