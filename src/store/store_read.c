/*
 * Reading: walks over runs, trials and cells, and the canonical dump. Each is one SELECT and so
 * sees one state of the file, whoever writes meanwhile.
 */
#include "store_impl.h"

#include "needlegrid/buf.h"

#include <stdlib.h>
#include <string.h>

enum { DUMP_ROW_BYTES = 1 << 30 };

/* Takes one column after the other off the current row. */
struct reader {
    sqlite3_stmt *stmt;
    int index;
};

/* NULL for NULL; valid until the next step. */
static const char *read_text(struct reader *r)
{
    return (const char *)sqlite3_column_text(r->stmt, r->index++);
}

/* For columns that our schema never leaves NULL, though a doctored file might. */
static const char *read_name(struct reader *r)
{
    const char *text = read_text(r);

    return text ? text : "";
}

static int64_t read_int(struct reader *r)
{
    return sqlite3_column_int64(r->stmt, r->index++);
}

static double read_double(struct reader *r)
{
    return sqlite3_column_double(r->stmt, r->index++);
}

static uint64_t read_u64(struct reader *r)
{
    return strtoull(read_name(r), NULL, 10);
}

static bool next_is_null(const struct reader *r)
{
    return sqlite3_column_type(r->stmt, r->index) == SQLITE_NULL;
}

/* Hands the current row to the caller of a walk. */
typedef enum status take_row_fn(sqlite3_stmt *stmt, void *walk, struct error *e);

/* Steps to the end of a bound statement and finalizes it. */
static enum status walk_rows(struct store *s, sqlite3_stmt *stmt, take_row_fn *take, void *walk,
                             struct error *e)
{
    enum status status = OK;
    int rc;

    while (status == OK && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        status = rc == SQLITE_ROW ? take(stmt, walk, e) : store_error(s, rc, e);
    sqlite3_finalize(stmt);
    return status;
}

struct run_walk {
    store_run_fn *row;
    void *context;
};

static enum status take_run(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct run_walk *w = walk;
    struct reader r = {stmt, 0};
    struct run_record run;

    run.run_id = read_int(&r);
    run.run_key = read_name(&r);
    run.model_name = read_name(&r);
    run.model_hash = read_text(&r);
    run.backend = read_text(&r);
    run.rule = read_name(&r);
    run.rule_detail = read_text(&r);
    run.task = read_name(&r);
    run.template_name = read_text(&r);
    run.template_hash = read_text(&r);
    run.template_text = read_text(&r);
    run.haystack_name = read_text(&r);
    run.tokenizer_hash = read_text(&r);
    run.isa = read_text(&r);
    run.numerics = (int)read_int(&r);
    run.training_length = read_int(&r); /* NULL reads as 0 */
    run.seed = read_u64(&r);
    run.model_path = read_text(&r);
    run.tool_version = read_text(&r);
    run.started_at = read_text(&r);
    run.settings = read_text(&r);
    return w->row(w->context, &run, e);
}

enum status store_each_run(struct store *s, store_run_fn *row, void *context, struct error *e)
{
    static const char sql[] =
        "SELECT run_id, run_key, model_name, model_hash, backend, rule, rule_detail, task,"
        " template_name, template_hash, template_text, haystack_name, tokenizer_hash, isa,"
        " numerics, training_length, seed, model_path, tool_version, started_at, settings"
        " FROM run ORDER BY run_id";
    struct run_walk walk = {row, context};
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, sql, e);

    return status == OK ? walk_rows(s, stmt, take_run, &walk, e) : status;
}

static void read_trial(struct reader *r, struct trial_record *t)
{
    t->trial_key = read_name(r);
    t->pair_key = read_name(r);
    t->context_length = read_int(r);
    t->target_depth = read_double(r);
    t->actual_depth = read_double(r);
    t->sample = read_int(r);
    t->seed = read_u64(r);
    t->haystack_name = read_text(r);
    t->haystack_hash = read_text(r);
    t->prompt_tokens = read_int(r);
    t->needle_at = read_int(r);
    t->needle_tokens = read_int(r);
    t->needle_key = read_text(r);
    t->expected = read_text(r);
    t->response = read_text(r);
    t->outcome = read_name(r);
    t->counted = read_int(r) != 0;
    t->scorer = read_text(r);
    t->score = read_double(r);
    t->has_logprob = !next_is_null(r);
    t->logprob = read_double(r);
    t->worst_rank = read_int(r);
    t->finish_reason = read_text(r);
    t->excerpt = read_text(r);
    t->error = read_text(r);
    t->latency_ms = read_double(r);
    t->evaluated_tokens = read_int(r);
    t->reused_tokens = read_int(r);
    t->tool_version = read_text(r);
    t->finished_at = read_text(r);
}

struct trial_walk {
    store_trial_fn *row;
    void *context;
};

static enum status take_trial(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct trial_walk *w = walk;
    struct reader r = {stmt, 0};
    struct trial_row row;

    row.trial_id = read_int(&r);
    row.run_id = read_int(&r);
    row.model_name = read_name(&r);
    row.rule = read_name(&r);
    row.task = read_name(&r);
    read_trial(&r, &row.trial);
    return w->row(w->context, &row, e);
}

enum status store_each_trial(struct store *s, const struct trial_filter *filter,
                             store_trial_fn *row, void *context, struct error *e)
{
    struct trial_walk walk = {row, context};
    struct buf sql = BUF_INIT(4096);
    sqlite3_stmt *stmt;
    enum status status;

    buf_puts(&sql, "SELECT trial_id, run_id, model, rule, task, trial_key, pair_key,"
                   " context_length, target_depth, actual_depth, sample, seed, haystack,"
                   " haystack_hash, prompt_tokens, needle_at, needle_tokens, needle_key, expected,"
                   " response, outcome, counted, scorer, score, logprob, worst_rank,"
                   " finish_reason, excerpt, error, latency_ms, evaluated_tokens, reused_tokens,"
                   " tool_version, finished_at FROM trials WHERE true");
    if (filter->run_id)
        buf_puts(&sql, " AND run_id = ?1");
    if (filter->trial_id)
        buf_puts(&sql, " AND trial_id = ?2");
    buf_puts(&sql, " ORDER BY run_id, context_length, target_depth, sample, trial_id");
    if ((status = buf_status(&sql, e)) == OK &&
        (status = store_prepare(s, &stmt, buf_str(&sql), e)) == OK) {
        if (filter->run_id)
            sqlite3_bind_int64(stmt, 1, filter->run_id);
        if (filter->trial_id)
            sqlite3_bind_int64(stmt, 2, filter->trial_id);
        status = walk_rows(s, stmt, take_trial, &walk, e);
    }
    buf_release(&sql);
    return status;
}

struct cell_walk {
    store_cell_fn *row;
    void *context;
};

static enum status take_cell(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct cell_walk *w = walk;
    struct reader r = {stmt, 0};
    struct cell_row cell;

    cell.context_length = read_int(&r);
    cell.target_depth = read_double(&r);
    cell.n = read_int(&r);
    cell.hits = read_int(&r);
    cell.score = read_double(&r);
    cell.not_counted = read_int(&r);
    return w->row(w->context, &cell, e);
}

enum status store_each_cell(struct store *s, int64_t run_id, store_cell_fn *row, void *context,
                            struct error *e)
{
    static const char sql[] =
        "SELECT context_length, target_depth, n, hits, score, not_counted FROM grid"
        " WHERE run_id = ? ORDER BY context_length, target_depth";
    struct cell_walk walk = {row, context};
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, sql, e);

    if (status != OK)
        return status;
    sqlite3_bind_int64(stmt, 1, run_id);
    return walk_rows(s, stmt, take_cell, &walk, e);
}

struct dump {
    store_text_fn *text;
    void *context;
    struct buf row;
};

static enum status send_row(struct dump *d, struct error *e)
{
    enum status status;

    buf_putc(&d->row, '\n');
    if ((status = buf_status(&d->row, e)) == OK)
        status = d->text(d->context, buf_str(&d->row), d->row.len, e);
    buf_clear(&d->row);
    return status;
}

static void dump_text(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_putc(out, '"');
}

static enum status take_dump_row(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    struct reader r = {stmt, 0};
    struct dump *d = walk;

    for (int n = sqlite3_column_count(stmt); r.index < n;) {
        if (r.index)
            buf_putc(&d->row, ',');
        switch (sqlite3_column_type(stmt, r.index)) {
        case SQLITE_NULL:
            r.index++;
            break;
        case SQLITE_INTEGER:
            buf_printf(&d->row, "%lld", (long long)read_int(&r));
            break;
        case SQLITE_FLOAT:
            buf_printf(&d->row, "%.17g", read_double(&r));
            break;
        default:
            dump_text(&d->row, read_name(&r));
        }
    }
    return send_row(d, e);
}

/* All of the view but trial_id, run_id, latency_ms, the token counters, tool_version and time. */
static const char dump_sql[] =
    "SELECT trial_key, pair_key, model, model_hash, backend, rule, rule_detail, isa, numerics,"
    " training_length, task, template, template_hash, haystack, haystack_hash, tokenizer_hash,"
    " context_length, target_depth, actual_depth, sample, seed, prompt_tokens, needle_at,"
    " needle_tokens, needle_key, expected, response, outcome, counted, scorer, score, logprob,"
    " worst_rank, finish_reason, excerpt, error FROM trials ORDER BY trial_key";

enum status store_dump(struct store *s, store_text_fn *text, void *context, struct error *e)
{
    struct dump d = {text, context, BUF_INIT(DUMP_ROW_BYTES)};
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, dump_sql, e);

    if (status != OK)
        return status;
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        buf_printf(&d.row, i ? ",%s" : "%s", sqlite3_column_name(stmt, i));
    if ((status = send_row(&d, e)) == OK)
        status = walk_rows(s, stmt, take_dump_row, &d, e);
    else
        sqlite3_finalize(stmt);
    buf_release(&d.row);
    return status;
}
