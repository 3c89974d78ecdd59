#include "store_fixture.h"

#include "needlegrid/store_read.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

int folder_setup(void **state)
{
    static struct store_fixture f;

    scratch_init(&f.scratch);
    f.store = NULL;
    *state = &f;
    return 0;
}

int store_setup(void **state)
{
    struct store_fixture *f;

    folder_setup(state);
    f = *state;
    return store_open(&f->store, fixture_path(f, "t.db"), STORE_WRITE, &f->e) == OK ? 0 : -1;
}

int store_teardown(void **state)
{
    struct store_fixture *f = *state;

    store_close(f->store);
    chmod(f->scratch.folder, 0755);
    scratch_release(&f->scratch);
    return 0;
}

int64_t fixture_run(struct store_fixture *f, int number)
{
    struct sample_run run;
    int64_t id;

    sample_run(&run, number);
    assert_int_equal(store_put_run(f->store, &run.record, &id, &f->e), OK);
    return id;
}

void fixture_put(struct store_fixture *f, int64_t run_id, const struct sample_trial *t)
{
    assert_int_equal(store_put_trial(f->store, run_id, &t->record, &f->e), OK);
}

const char *fixture_query(struct store_fixture *f, const char *sql, int column, struct buf *out)
{
    sqlite3_stmt *stmt;
    sqlite3 *db;

    buf_clear(out);
    assert_int_equal(sqlite3_open(fixture_path(f, "t.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, column);
        buf_printf(out, "%s%s", out->len ? "|" : "", text ? text : "NULL");
    }
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    sqlite3_close(db);
    return buf_str(out);
}

const char *fixture_path(struct store_fixture *f, const char *name)
{
    return scratch_path(&f->scratch, name);
}

struct store *fixture_open(struct store_fixture *f, const char *name, enum store_mode mode)
{
    struct store *s;

    if (store_open(&s, fixture_path(f, name), mode, &f->e) != OK)
        fail_msg("%s", f->e.message);
    return s;
}

void fixture_make(struct store_fixture *f, const char *name, int n_trials)
{
    struct store *s = fixture_open(f, name, STORE_WRITE);
    struct sample_run run;
    struct sample_trial t;
    int64_t run_id;

    sample_run(&run, 1);
    assert_int_equal(store_put_run(s, &run.record, &run_id, &f->e), OK);
    for (int i = 0; i < n_trials; i++) {
        sample_trial(&t, i);
        assert_int_equal(store_put_trial(s, run_id, &t.record, &f->e), OK);
    }
    store_close(s);
}

static enum status count_trial(void *context, const struct trial_row *row, struct error *e)
{
    (void)row;
    (void)e;
    ++*(int *)context;
    return OK;
}

int count_trials(struct store *s)
{
    const struct trial_filter all = {.run_id = 0};
    struct error e;
    int n = 0;

    return store_each_trial(s, &all, count_trial, &n, &e) == OK ? n : -1;
}
