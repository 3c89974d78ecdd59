#include "needlegrid/store_verdict.h"

#include "store_impl.h"

#include "needlegrid/buf.h"

/* ---- writing ---- */

static enum status insert_items(struct store *s, sqlite3_stmt *stmt, const struct verdict_batch *v,
                                struct error *e)
{
    enum status status = OK;

    for (size_t i = 0; i < v->n && status == OK; i++) {
        const struct verdict_item *item = &v->items[i];
        struct binder b = {stmt, 0, SQLITE_OK};
        bind_int(&b, item->trial_id);
        bind_text(&b, v->scorer);
        bind_text(&b, v->scorer_hash);
        bind_text(&b, v->pattern);
        bind_text(&b, item->outcome);
        bind_int(&b, item->counted);
        bind_double(&b, item->score);
        bind_text(&b, item->error);
        bind_text(&b, v->tool_version);
        bind_text(&b, v->scored_at);
        status = binder_finish(s, &b, e);
    }
    return status;
}

enum status store_put_verdicts(struct store *s, const struct verdict_batch *b, struct error *e)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO verdict (trial_id, scorer, scorer_hash, pattern, outcome, counted,"
        " score, error, tool_version, scored_at) VALUES (?,?,?,?,?, ?,?,?,?,?)";
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, sql, e);

    if (status != OK)
        return status;
    if ((status = store_execute(s, "BEGIN IMMEDIATE", e)) == OK)
        status = store_end(s, insert_items(s, stmt, b, e), e);
    sqlite3_finalize(stmt);
    return status;
}

/* ---- reading ---- */

struct verdict_walk {
    store_verdict_fn *row;
    void *context;
};

static enum status take_verdict(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct verdict_walk *w = walk;
    struct reader r = {stmt, 0};
    struct verdict_row row;

    row.item.trial_id = read_int(&r);
    row.scorer = read_name(&r);
    row.scorer_hash = read_text(&r);
    row.pattern = read_text(&r);
    row.item.outcome = read_name(&r);
    row.item.counted = read_int(&r) != 0;
    row.item.score = read_double(&r);
    row.item.error = read_text(&r);
    row.tool_version = read_text(&r);
    row.scored_at = read_text(&r);
    return w->row(w->context, &row, e);
}

enum status store_each_verdict(struct store *s, const struct trial_filter *filter,
                               store_verdict_fn *row, void *context, struct error *e)
{
    struct verdict_walk walk = {row, context};
    struct buf sql = BUF_INIT(4096);
    sqlite3_stmt *stmt;
    enum status status;

    buf_puts(&sql, "SELECT v.trial_id, v.scorer, v.scorer_hash, v.pattern, v.outcome, v.counted,"
                   " v.score, v.error, v.tool_version, v.scored_at"
                   " FROM verdict AS v JOIN trial AS t ON t.trial_id = v.trial_id WHERE true");
    filter_sql(&sql, filter);
    if (filter->scorer)
        buf_puts(&sql, " AND v.scorer = ?3");
    buf_puts(&sql, " ORDER BY v.trial_id, v.scorer");
    if ((status = buf_status(&sql, e)) == OK &&
        (status = store_prepare(s, &stmt, buf_str(&sql), e)) == OK) {
        filter_bind(stmt, filter);
        status = walk_rows(s, stmt, take_verdict, &walk, e);
    }
    buf_release(&sql);
    return status;
}

static enum status take_count(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    struct verdict_count *c = walk;
    struct reader r = {stmt, 0};

    (void)e;
    c->trials = read_int(&r);
    c->judged = read_int(&r);
    c->failed = read_int(&r);
    c->missing = read_int(&r);
    c->other = c->trials - c->judged - c->failed - c->missing;
    return OK;
}

enum status store_count_verdicts(struct store *s, int64_t run_id, const char *scorer,
                                 struct verdict_count *out, struct error *e)
{
    const struct trial_filter filter = {.run_id = run_id, .scorer = scorer};
    struct buf sql = BUF_INIT(4096);
    sqlite3_stmt *stmt;
    enum status status;

    *out = (struct verdict_count){0};
    buf_puts(&sql, "SELECT count(*), sum(" VERDICT_COUNTED "),"
                   " sum(" VERDICT_OUTCOME " = 'no-verdict'"
                   "   AND (v.trial_id IS NOT NULL OR t.scorer IS ?3)),"
                   " sum(v.trial_id IS NULL AND NOT " VERDICT_IS_OWN ")"
                   " FROM trial AS t" VERDICT_JOIN " WHERE true");
    filter_sql(&sql, &filter);
    if ((status = buf_status(&sql, e)) == OK &&
        (status = store_prepare(s, &stmt, buf_str(&sql), e)) == OK) {
        filter_bind(stmt, &filter);
        status = walk_rows(s, stmt, take_count, out, e);
    }
    buf_release(&sql);
    return status;
}
