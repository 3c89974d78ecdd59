/* Scores alone: the index trial_by_cell holds all these columns, so the table is never read. */
#include "store_impl.h"

#include "needlegrid/store_score.h"

struct score_walk {
    store_score_fn *row;
    void *context;
};

static enum status take_score(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct score_walk *w = walk;
    struct reader r = {stmt, 0};
    struct score_row row;

    row.context_length = read_int(&r);
    row.target_depth = read_double_or_nan(&r);
    row.sample = read_int(&r);
    row.outcome = read_name(&r);
    row.counted = read_int(&r) != 0;
    row.score = read_double(&r);
    row.logprob = read_double_or_nan(&r);
    return w->row(w->context, &row, e);
}

enum status store_each_score(struct store *s, int64_t run_id, const char *scorer,
                             store_score_fn *row, void *context, struct error *e)
{
    static const char own[] =
        "SELECT context_length, target_depth, sample, outcome, counted, score, logprob FROM trial"
        " WHERE run_id = ?1 ORDER BY context_length, target_depth, sample";
    static const char other[] =
        "SELECT t.context_length, t.target_depth, t.sample, " VERDICT_OUTCOME ", " VERDICT_COUNTED
        ", " VERDICT_SCORE ", t.logprob FROM trial AS t" VERDICT_JOIN
        " WHERE t.run_id = ?1 ORDER BY t.context_length, t.target_depth, t.sample";
    const struct trial_filter filter = {.run_id = run_id, .scorer = scorer};
    struct score_walk walk = {row, context};
    sqlite3_stmt *stmt;
    enum status status = store_prepare(s, &stmt, scorer ? other : own, e);

    if (status != OK)
        return status;
    filter_bind(stmt, &filter);
    return walk_rows(s, stmt, take_score, &walk, e);
}
