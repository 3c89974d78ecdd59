/*
 * Reading: walks over runs, trials and cells. Each is one SELECT and so sees one state of the
 * file, whoever writes meanwhile.
 */
#include "store_impl.h"

#include "needlegrid/buf.h"

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
    t->target_depth = read_double_or_nan(r);
    t->actual_depth = read_double_or_nan(r);
    t->sample = read_int(r);
    t->seed = read_u64(r);
    t->haystack_name = read_text(r);
    t->haystack_hash = read_text(r);
    t->prompt_tokens = read_int(r);
    t->haystack_tokens = read_int(r);
    t->max_tokens = read_int(r);
    t->question_at = read_int(r);
    t->needle_at = read_int(r);
    t->needle_tokens = read_int(r);
    t->needle_key = read_text(r);
    t->needles = read_text(r);
    t->n_expected = read_int(r);
    t->expected = read_text(r);
    t->decoys = read_text(r);
    t->absent = read_int(r) != 0;
    t->response = read_text(r);
    t->outcome = read_name(r);
    t->counted = read_int(r) != 0;
    t->scorer = read_text(r);
    t->scorer_hash = read_text(r);
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
    t->attention = NULL;
    t->n_attention = 0;
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
    row.rule_detail = read_text(&r);
    row.task = read_name(&r);
    row.template_name = read_text(&r);
    read_trial(&r, &row.trial);
    return w->row(w->context, &row, e);
}

void filter_sql(struct buf *sql, const struct trial_filter *filter)
{
    if (filter->run_id)
        buf_puts(sql, " AND t.run_id = ?1");
    if (filter->trial_id)
        buf_puts(sql, " AND t.trial_id = ?2");
}

void filter_bind(sqlite3_stmt *stmt, const struct trial_filter *filter)
{
    if (filter->run_id)
        sqlite3_bind_int64(stmt, 1, filter->run_id);
    if (filter->trial_id)
        sqlite3_bind_int64(stmt, 2, filter->trial_id);
    if (filter->scorer) /* out of range where the statement has none: no harm */
        sqlite3_bind_text(stmt, 3, filter->scorer, -1, SQLITE_STATIC);
}

#define TRIAL_BEGIN                                                                                \
    "SELECT t.trial_id, t.run_id, r.model_name, r.rule, r.rule_detail, r.task,"                    \
    " r.template_name, t.trial_key, t.pair_key,"                                                   \
    " t.context_length, t.target_depth, t.actual_depth, t.sample, t.seed, t.haystack_name,"        \
    " t.haystack_hash, t.prompt_tokens, t.haystack_tokens, t.max_tokens, t.question_at,"           \
    " t.needle_at, t.needle_tokens, t.needle_key, t.needles, t.n_expected, t.expected,"            \
    " t.decoys, t.absent, t.response, "
#define TRIAL_MIDDLE ", t.logprob, t.worst_rank, t.finish_reason, t.excerpt, "
#define TRIAL_END                                                                                  \
    ", t.latency_ms, t.evaluated_tokens, t.reused_tokens, t.tool_version, t.finished_at"           \
    " FROM trial AS t JOIN run AS r ON r.run_id = t.run_id"

static const char own_sql[] = TRIAL_BEGIN
    "t.outcome, t.counted, t.scorer, t.scorer_hash, t.score" TRIAL_MIDDLE "t.error" TRIAL_END;

static const char verdict_sql[] = TRIAL_BEGIN VERDICT_OUTCOME
    ", " VERDICT_COUNTED ", ?3, CASE WHEN " VERDICT_IS_OWN
    " THEN t.scorer_hash ELSE v.scorer_hash END, " VERDICT_SCORE TRIAL_MIDDLE
    "CASE WHEN " VERDICT_IS_OWN " THEN t.error WHEN v.trial_id IS NULL THEN 'not judged by ' || ?3"
    " ELSE v.error END" TRIAL_END VERDICT_JOIN;

enum status store_each_trial(struct store *s, const struct trial_filter *filter,
                             store_trial_fn *row, void *context, struct error *e)
{
    struct trial_walk walk = {row, context};
    struct buf sql = BUF_INIT(8192);
    sqlite3_stmt *stmt;
    enum status status;

    buf_puts(&sql, filter->scorer ? verdict_sql : own_sql);
    buf_puts(&sql, " WHERE true");
    filter_sql(&sql, filter);
    buf_puts(&sql, " ORDER BY t.run_id, t.context_length, t.target_depth, t.sample, t.trial_id");
    if ((status = buf_status(&sql, e)) == OK &&
        (status = store_prepare(s, &stmt, buf_str(&sql), e)) == OK) {
        filter_bind(stmt, filter);
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
    cell.target_depth = read_double_or_nan(&r);
    cell.n = read_int(&r);
    cell.hits = read_int(&r);
    cell.score = read_double(&r);
    cell.not_counted = read_int(&r);
    return w->row(w->context, &cell, e);
}

/* As the view `grid`, of another scorer's verdicts. */
static const char verdict_cells[] =
    "SELECT context_length, target_depth, sum(counted), sum(outcome = 'hit'),"
    " total(score) FILTER (WHERE counted), sum(1 - counted) FROM ("
    "SELECT t.context_length, t.target_depth, " VERDICT_COUNTED " AS counted, " VERDICT_OUTCOME
    " AS outcome, " VERDICT_SCORE " AS score FROM trial AS t" VERDICT_JOIN " WHERE t.run_id = ?1)"
    " GROUP BY context_length, target_depth ORDER BY context_length, target_depth";

enum status store_each_cell(struct store *s, int64_t run_id, const char *scorer, store_cell_fn *row,
                            void *context, struct error *e)
{
    static const char own_cells[] =
        "SELECT context_length, target_depth, n, hits, score, not_counted FROM grid"
        " WHERE run_id = ?1 ORDER BY context_length, target_depth";
    const struct trial_filter filter = {.run_id = run_id, .scorer = scorer};
    struct cell_walk walk = {row, context};
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, scorer ? verdict_cells : own_cells, e);

    if (status != OK)
        return status;
    filter_bind(stmt, &filter);
    return walk_rows(s, stmt, take_cell, &walk, e);
}
