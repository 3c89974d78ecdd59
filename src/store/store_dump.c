/*
 * The canonical dump: trials, verdicts, attention, as they are whoever wrote them, and when.
 */
#include "store_impl.h"

#include "needlegrid/buf.h"

enum { DUMP_ROW_BYTES = 1 << 30 };

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
static const char trials_sql[] =
    "SELECT trial_key, pair_key, model, model_hash, backend, rule, rule_detail, isa, numerics,"
    " training_length, task, template, template_hash, haystack, haystack_hash, tokenizer_hash,"
    " context_length, target_depth, actual_depth, sample, seed, prompt_tokens, haystack_tokens,"
    " max_tokens, question_at, needle_at, needle_tokens, needle_key, needles, n_expected, expected,"
    " decoys, absent, response, outcome, counted, scorer, scorer_hash, score, logprob, worst_rank,"
    " finish_reason, excerpt, error FROM trials ORDER BY trial_key";

/* The cross joins keep SQLite to the order of the keys, which is that of an index. */
static const char verdicts_sql[] =
    "SELECT t.trial_key, v.scorer, v.scorer_hash, v.pattern, v.outcome, v.counted, v.score, v.error"
    " FROM trial AS t CROSS JOIN verdict AS v ON v.trial_id = t.trial_id"
    " ORDER BY t.trial_key, v.scorer";

static const char attention_sql[] =
    "SELECT t.trial_key, a.layer, a.head, a.needle_mass, a.value_mass, a.entropy, a.max"
    " FROM trial AS t CROSS JOIN attention AS a ON a.trial_id = t.trial_id"
    " ORDER BY t.trial_key, a.layer, a.head";

static enum status send_header(struct dump *d, sqlite3_stmt *stmt, struct error *e)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        buf_printf(&d->row, i ? ",%s" : "%s", sqlite3_column_name(stmt, i));
    return send_row(d, e);
}

/* A header and the rows; `optional` ones begin with an empty line and are left out if empty. */
static enum status dump_rows(struct store *s, struct dump *d, const char *sql, bool optional,
                             struct error *e)
{
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, sql, e);
    int rc;

    if (status != OK)
        return status;
    if (optional) {
        rc = sqlite3_step(stmt);
        sqlite3_reset(stmt);
        if (rc != SQLITE_ROW) {
            sqlite3_finalize(stmt);
            return rc == SQLITE_DONE ? OK : store_error(s, rc, e);
        }
        status = send_row(d, e);
    }
    if (status == OK)
        status = send_header(d, stmt, e);
    if (status == OK)
        return walk_rows(s, stmt, take_dump_row, d, e);
    sqlite3_finalize(stmt);
    return status;
}

enum status store_dump(struct store *s, store_text_fn *text, void *context, struct error *e)
{
    struct dump d = {text, context, BUF_INIT(DUMP_ROW_BYTES)};
    enum status status = store_execute(s, "BEGIN", e); /* one state of the file for all */

    if (status != OK)
        return status;
    if ((status = dump_rows(s, &d, trials_sql, false, e)) == OK &&
        (status = dump_rows(s, &d, verdicts_sql, true, e)) == OK)
        status = dump_rows(s, &d, attention_sql, true, e);
    buf_release(&d.row);
    return store_end(s, status, e);
}
