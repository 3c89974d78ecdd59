#include "needlegrid/store_attention.h"

#include "store_impl.h"

#include "needlegrid/buf.h"

struct attention_walk {
    store_attention_fn *row;
    void *context;
};

static enum status take_attention(sqlite3_stmt *stmt, void *walk, struct error *e)
{
    const struct attention_walk *w = walk;
    struct reader r = {stmt, 0};
    struct attention_row row;

    row.trial_id = read_int(&r);
    row.run_id = read_int(&r);
    row.context_length = read_int(&r);
    row.prompt_tokens = read_int(&r);
    row.target_depth = read_double_or_nan(&r);
    row.sample = read_int(&r);
    row.outcome = read_name(&r);
    row.counted = read_int(&r) != 0;
    row.a.layer = (int)read_int(&r);
    row.a.head = (int)read_int(&r);
    row.a.needle_mass = read_double(&r);
    row.a.value_mass = read_double(&r);
    row.a.entropy = read_double(&r);
    row.a.max = read_double(&r);
    return w->row(w->context, &row, e);
}

enum status store_each_attention(struct store *s, const struct trial_filter *filter,
                                 store_attention_fn *row, void *context, struct error *e)
{
    struct attention_walk walk = {row, context};
    struct buf sql = BUF_INIT(4096);
    sqlite3_stmt *stmt;
    enum status status;

    buf_puts(&sql, "SELECT t.trial_id, t.run_id, t.context_length, t.prompt_tokens,"
                   " t.target_depth, t.sample, t.outcome, t.counted, a.layer, a.head,"
                   " a.needle_mass, a.value_mass, a.entropy, a.max"
                   " FROM trial AS t CROSS JOIN attention AS a ON a.trial_id = t.trial_id"
                   " WHERE true");
    filter_sql(&sql, filter);
    buf_puts(&sql, " ORDER BY t.run_id, t.context_length, t.target_depth, t.sample, t.trial_id,"
                   " a.layer, a.head");
    if ((status = buf_status(&sql, e)) == OK &&
        (status = store_prepare(s, &stmt, buf_str(&sql), e)) == OK) {
        filter_bind(stmt, filter);
        status = walk_rows(s, stmt, take_attention, &walk, e);
    }
    buf_release(&sql);
    return status;
}
