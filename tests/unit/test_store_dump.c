/*
 * The canonical dump: which columns, how they are written, and that it is the same for the same
 * trials.
 */
#include "needlegrid/store_read.h"

#include "../support/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum status append_text(void *context, const char *text, size_t n, struct error *e)
{
    (void)e;
    buf_append(context, text, n);
    return OK;
}

static const char *dump(struct store_fixture *f, struct buf *out)
{
    buf_clear(out);
    assert_int_equal(store_dump(f->store, append_text, out, &f->e), OK);
    assert_int_equal(buf_status(out, &f->e), OK);
    return buf_str(out);
}

/* A column added to the view must be put into the dump, or onto this list. */
static void dump_is_the_view_without_these(void **state)
{
    struct store_fixture *f = *state;
    struct buf view = BUF_INIT(10000), header = BUF_INIT(10000);

    fixture_query(
        f,
        "SELECT name FROM pragma_table_info('trials') WHERE name NOT IN ('trial_id', 'run_id',"
        " 'latency_ms', 'evaluated_tokens', 'reused_tokens', 'tool_version', 'finished_at')",
        0, &view);
    for (char *p = view.data; *p; p++)
        *p = *p == '|' ? ',' : *p;
    buf_putc(&view, '\n');
    assert_string_equal(dump(f, &header), buf_str(&view));
    buf_release(&view);
    buf_release(&header);
}

static void dump_exact(void **state)
{
    struct store_fixture *f = *state;
    struct buf out = BUF_INIT(10000), want = BUF_INIT(10000);
    struct sample_trial t;

    sample_trial(&t, 1);
    t.record.response = "a \"b\",\nc";
    t.record.excerpt = "";
    t.record.has_logprob = false;
    fixture_put(f, fixture_run(f, 1), &t);
    buf_printf(&want,
               "\"%s\",\"%s\",\"tiny\",\"c0ffee\",\"embedded\",\"ssmax\",\"scales of the file\","
               "\"generic\",1,256,\"single\",\"base\",\"7e3a\",\"essays\",\"4a75\",\"70ce\",256,"
               "50,48.5,1,\"18446744073709551615\",240,200,16,228,120,12,\"Tokyo\","
               "\"[[120,12,128,3,1],[60,12,68,3,0]]\",1,\"8106422\",\"3105577\",0,"
               "\"a \"\"b\"\",\nc\",\"hit\",1,\"number\",\"5c0e\",1,,,\"stop\",\"\",\n",
               t.key, t.pair);
    dump(f, &out);
    assert_string_equal(strchr(buf_str(&out), '\n') + 1, buf_str(&want));
    buf_release(&out);
    buf_release(&want);
}

static void fill_for_dump(struct store_fixture *f, bool backwards)
{
    for (int i = 0; i < 20; i++) {
        struct sample_trial t;
        sample_trial(&t, backwards ? 19 - i : i);
        t.record.logprob = -1.0 / 3;
        t.record.latency_ms = i;
        t.record.reused_tokens = i;
        t.record.finished_at = backwards ? "2026-01-01T00:00:00Z" : "2025-01-01T00:00:00Z";
        t.record.tool_version = backwards ? "v2" : "v1";
        fixture_put(f, fixture_run(f, t.record.sample % 2 ? 1 : 2), &t);
    }
}

static void dump_is_canonical(void **state)
{
    struct store_fixture *f = *state;
    struct store_fixture other;
    struct buf a = BUF_INIT(100000), b = BUF_INIT(100000);
    struct sample_trial t;

    scratch_init(&other.scratch);
    other.store = fixture_open(&other, "t.db", STORE_WRITE);
    fill_for_dump(f, false);
    fill_for_dump(&other, true);
    assert_string_equal(dump(f, &a), dump(&other, &b));
    assert_non_null(strstr(buf_str(&a), ",-0.33333333333333331,"));
    sample_trial(&t, 20);
    fixture_put(&other, fixture_run(&other, 1), &t);
    assert_string_not_equal(buf_str(&a), dump(&other, &b));
    store_close(other.store);
    scratch_release(&other.scratch);
    buf_release(&a);
    buf_release(&b);
}

static enum status refuse_text(void *context, const char *text, size_t n, struct error *e)
{
    (void)context;
    (void)text;
    (void)n;
    return error_set(e, ERR_IO, "pipe closed");
}

static void dump_reports_callback(void **state)
{
    struct store_fixture *f = *state;

    assert_int_equal(store_dump(f->store, refuse_text, NULL, &f->e), ERR_IO);
    assert_string_equal(f->e.message, "pipe closed");
}

#define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(dump_is_the_view_without_these),
        T(dump_exact),
        T(dump_is_canonical),
        T(dump_reports_callback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
