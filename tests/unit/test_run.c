/* The runner with a backend made for the test: what it stores, and going on after a failure. */
#include "needlegrid/run.h"

#include "../../src/backend/backend_impl.h"
#include "../support/scratch.h"

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
    if (r->n_prompt % 3 == 0)
        out->text.data[0] = out->text.data[0] == '9' ? '1' : '9';
    out->finish_reason = "stop";
    out->has_logprob = true;
    out->logprob = -0.25;
    out->worst_rank = 2;
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
    struct trial_filter all = {0, 0};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trial_is_scored_and_stored),
        cmocka_unit_test(what_is_stored_is_not_run_again),
        cmocka_unit_test(a_failure_keeps_what_was_done),
        cmocka_unit_test(progress_counts_to_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
