/* Rows in and out: binding values, taking columns, walking results. */
#include "store_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep(struct binder *b, int rc)
{
    if (b->rc == SQLITE_OK)
        b->rc = rc;
}

void bind_text(struct binder *b, const char *text)
{
    keep(b, sqlite3_bind_text64(b->stmt, ++b->index, text, text ? strlen(text) : 0, SQLITE_STATIC,
                                SQLITE_UTF8));
}

void bind_int(struct binder *b, int64_t value)
{
    keep(b, sqlite3_bind_int64(b->stmt, ++b->index, value));
}

void bind_double(struct binder *b, double value)
{
    keep(b, sqlite3_bind_double(b->stmt, ++b->index, value)); /* SQLite makes NaN NULL */
}

void bind_null(struct binder *b)
{
    keep(b, sqlite3_bind_null(b->stmt, ++b->index));
}

void bind_u64(struct binder *b, uint64_t value)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRIu64, value);

    keep(b, sqlite3_bind_text(b->stmt, ++b->index, text, n, SQLITE_TRANSIENT));
}

enum status binder_finish(struct store *s, struct binder *b, struct error *e)
{
    enum status status = OK;

    if (b->rc == SQLITE_OK)
        b->rc = sqlite3_step(b->stmt);
    if (b->rc != SQLITE_DONE)
        status = store_error(s, b->rc, e);
    sqlite3_reset(b->stmt);
    sqlite3_clear_bindings(b->stmt);
    return status;
}

const char *read_text(struct reader *r)
{
    return (const char *)sqlite3_column_text(r->stmt, r->index++);
}

const char *read_name(struct reader *r)
{
    const char *text = read_text(r);

    return text ? text : "";
}

int64_t read_int(struct reader *r)
{
    return sqlite3_column_int64(r->stmt, r->index++);
}

double read_double(struct reader *r)
{
    return sqlite3_column_double(r->stmt, r->index++);
}

double read_double_or_nan(struct reader *r)
{
    bool null = next_is_null(r);
    double value = read_double(r);

    return null ? NAN : value;
}

uint64_t read_u64(struct reader *r)
{
    return strtoull(read_name(r), NULL, 10);
}

bool next_is_null(const struct reader *r)
{
    return sqlite3_column_type(r->stmt, r->index) == SQLITE_NULL;
}

enum status walk_rows(struct store *s, sqlite3_stmt *stmt, take_row_fn *take, void *walk,
                      struct error *e)
{
    enum status status = OK;
    int rc;

    while (status == OK && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        status = rc == SQLITE_ROW ? take(stmt, walk, e) : store_error(s, rc, e);
    sqlite3_finalize(stmt);
    return status;
}
