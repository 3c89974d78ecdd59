/*
 * Writing runs and trials.
 *
 * A write takes the write lock before it reads: it is one statement outside of any transaction,
 * which SQLite makes one of its own, or begins with BEGIN IMMEDIATE. So a writer waits for the lock
 * (busy timeout) and never meets a snapshot that went stale (SQLITE_BUSY_SNAPSHOT).
 */
#include "store_impl.h"

#include "needlegrid/store_attention.h"

static enum status find_run(struct store *s, const char *run_key, int64_t *run_id, struct error *e)
{
    sqlite3_stmt *stmt;
    enum status status;
    int rc;

    *run_id = 0;
    if ((status = store_prepare(s, &stmt, "SELECT run_id FROM run WHERE run_key = ?", e)) != OK)
        return status;
    sqlite3_bind_text(stmt, 1, run_key, -1, SQLITE_STATIC);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *run_id = sqlite3_column_int64(stmt, 0);
    else if (rc != SQLITE_DONE)
        status = store_error(s, rc, e);
    sqlite3_finalize(stmt);
    return status;
}

static void bind_run(struct binder *b, const struct run_record *r)
{
    bind_text(b, r->run_key);
    bind_text(b, r->model_name);
    bind_text(b, r->model_hash);
    bind_text(b, r->backend);
    bind_text(b, r->rule);
    bind_text(b, r->rule_detail);
    bind_text(b, r->task);
    bind_text(b, r->template_name);
    bind_text(b, r->template_hash);
    bind_text(b, r->template_text);
    bind_text(b, r->haystack_name);
    bind_text(b, r->tokenizer_hash);
    bind_text(b, r->isa);
    bind_int(b, r->numerics);
    if (r->training_length)
        bind_int(b, r->training_length);
    else
        bind_null(b);
    bind_u64(b, r->seed);
    bind_text(b, r->model_path);
    bind_text(b, r->tool_version);
    bind_text(b, r->started_at);
    bind_text(b, r->settings);
}

enum status store_put_run(struct store *s, const struct run_record *run, int64_t *run_id,
                          struct error *e)
{
    static const char sql[] =
        "INSERT INTO run (run_key, model_name, model_hash, backend, rule, rule_detail, task,"
        " template_name, template_hash, template_text, haystack_name, tokenizer_hash, isa,"
        " numerics, training_length, seed, model_path, tool_version, started_at, settings)"
        " VALUES (?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?)"
        " ON CONFLICT (run_key) DO NOTHING";
    struct binder b = {NULL, 0, SQLITE_OK};
    enum status status = find_run(s, run->run_key, run_id, e);

    if (status != OK || *run_id)
        return status;
    if ((status = store_prepare(s, &b.stmt, sql, e)) != OK)
        return status;
    bind_run(&b, run);
    status = binder_finish(s, &b, e);
    sqlite3_finalize(b.stmt);
    /* Asked rather than sqlite3_last_insert_rowid(): another process may have been first. */
    return status == OK ? find_run(s, run->run_key, run_id, e) : status;
}

enum status store_has_trial(struct store *s, const char *trial_key, bool *done, struct error *e)
{
    static const char sql[] = "SELECT 1 FROM trial WHERE trial_key = ? AND counted = 1";
    enum status status = OK;
    int rc;

    *done = false;
    if (!s->has_trial && (status = store_prepare(s, &s->has_trial, sql, e)) != OK)
        return status;
    sqlite3_bind_text(s->has_trial, 1, trial_key, -1, SQLITE_STATIC);
    rc = sqlite3_step(s->has_trial);
    if (rc == SQLITE_ROW)
        *done = true;
    else if (rc != SQLITE_DONE)
        status = store_error(s, rc, e);
    sqlite3_reset(s->has_trial);
    sqlite3_clear_bindings(s->has_trial);
    return status;
}

static void bind_trial(struct binder *b, const struct trial_record *t)
{
    bind_text(b, t->trial_key);
    bind_text(b, t->pair_key);
    bind_int(b, t->context_length);
    bind_double(b, t->target_depth);
    bind_double(b, t->actual_depth);
    bind_int(b, t->sample);
    bind_u64(b, t->seed);
    bind_text(b, t->haystack_name);
    bind_text(b, t->haystack_hash);
    bind_int(b, t->prompt_tokens);
    bind_int(b, t->haystack_tokens);
    bind_int(b, t->max_tokens);
    bind_int(b, t->question_at);
    bind_int(b, t->needle_at);
    bind_int(b, t->needle_tokens);
    bind_text(b, t->needle_key);
    bind_text(b, t->needles);
    bind_int(b, t->n_expected);
    bind_text(b, t->expected);
    bind_text(b, t->decoys);
    bind_int(b, t->absent);
    bind_text(b, t->response);
    bind_text(b, t->outcome);
    bind_int(b, t->counted);
    bind_text(b, t->scorer);
    bind_text(b, t->scorer_hash);
    bind_double(b, t->score);
    if (t->has_logprob) {
        bind_double(b, t->logprob);
        bind_int(b, t->worst_rank);
    } else {
        bind_null(b);
        bind_null(b);
    }
    bind_text(b, t->finish_reason);
    bind_text(b, t->excerpt);
    bind_text(b, t->error);
    bind_double(b, t->latency_ms);
    bind_int(b, t->evaluated_tokens);
    bind_int(b, t->reused_tokens);
    bind_text(b, t->tool_version);
    bind_text(b, t->finished_at);
}

/* The lists are all columns but trial_id, in the order of bind_trial(), run_id last. */
static const char put_trial_sql[] =
    "INSERT INTO trial (trial_key, pair_key, context_length, target_depth, actual_depth, sample, "
    "seed,"
    " haystack_name, haystack_hash, prompt_tokens, haystack_tokens, max_tokens,"
    " question_at, needle_at, needle_tokens, needle_key, needles, n_expected, expected,"
    " decoys, absent, response, outcome, counted, scorer, scorer_hash, score, logprob,"
    " worst_rank, finish_reason, excerpt, error, latency_ms, evaluated_tokens,"
    " reused_tokens, tool_version, finished_at, run_id)"
    " VALUES (?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?,?,?, ?,?,?)"
    " ON CONFLICT (trial_key) DO UPDATE SET"
    " pair_key = excluded.pair_key, context_length = excluded.context_length,"
    " target_depth = excluded.target_depth, actual_depth = excluded.actual_depth,"
    " sample = excluded.sample, seed = excluded.seed,"
    " haystack_name = excluded.haystack_name, haystack_hash = excluded.haystack_hash,"
    " prompt_tokens = excluded.prompt_tokens, haystack_tokens = excluded.haystack_tokens,"
    " max_tokens = excluded.max_tokens, question_at = excluded.question_at,"
    " needle_at = excluded.needle_at, needle_tokens = excluded.needle_tokens,"
    " needle_key = excluded.needle_key, needles = excluded.needles,"
    " n_expected = excluded.n_expected, expected = excluded.expected,"
    " decoys = excluded.decoys, absent = excluded.absent, response = excluded.response,"
    " outcome = excluded.outcome, counted = excluded.counted, scorer = excluded.scorer,"
    " scorer_hash = excluded.scorer_hash, score = excluded.score,"
    " logprob = excluded.logprob, worst_rank = excluded.worst_rank,"
    " finish_reason = excluded.finish_reason, excerpt = excluded.excerpt,"
    " error = excluded.error, latency_ms = excluded.latency_ms,"
    " evaluated_tokens = excluded.evaluated_tokens,"
    " reused_tokens = excluded.reused_tokens, tool_version = excluded.tool_version,"
    " finished_at = excluded.finished_at, run_id = excluded.run_id"
    " WHERE counted = 0 RETURNING trial_id";

/* *trial_id is 0 if a trial that counts has the key already. */
static enum status insert_trial(struct store *s, int64_t run_id, const struct trial_record *trial,
                                int64_t *trial_id, struct error *e)
{
    struct binder b = {NULL, 0, SQLITE_OK};
    enum status status;
    int rc;

    *trial_id = 0;
    if (!s->put_trial && (status = store_prepare(s, &s->put_trial, put_trial_sql, e)) != OK)
        return status;
    b.stmt = s->put_trial;
    bind_trial(&b, trial);
    bind_int(&b, run_id);
    rc = b.rc == SQLITE_OK ? sqlite3_step(b.stmt) : b.rc;
    if (rc == SQLITE_ROW) { /* all is written by then */
        *trial_id = sqlite3_column_int64(b.stmt, 0);
        rc = sqlite3_step(b.stmt);
    }
    status = rc == SQLITE_DONE ? OK : store_error(s, rc, e);
    sqlite3_reset(b.stmt);
    sqlite3_clear_bindings(b.stmt);
    return status;
}

/* What a failed trial under the same key left behind. */
static enum status clear_trial(struct store *s, int64_t trial_id, struct error *e)
{
    static const char *const deletes[] = {"DELETE FROM attention WHERE trial_id = ?",
                                          "DELETE FROM verdict WHERE trial_id = ?"};
    enum status status = OK;

    for (size_t i = 0; i < sizeof(deletes) / sizeof(deletes[0]) && status == OK; i++) {
        struct binder b = {NULL, 0, SQLITE_OK};
        if ((status = store_prepare(s, &b.stmt, deletes[i], e)) != OK)
            break;
        bind_int(&b, trial_id);
        status = binder_finish(s, &b, e);
        sqlite3_finalize(b.stmt);
    }
    return status;
}

static enum status insert_attention(struct store *s, int64_t trial_id, const struct trial_record *t,
                                    struct error *e)
{
    static const char sql[] =
        "INSERT INTO attention (trial_id, layer, head, needle_mass, value_mass, entropy, max)"
        " VALUES (?,?,?,?,?, ?,?)";
    enum status status = OK;

    if (t->n_attention && !s->put_attention)
        status = store_prepare(s, &s->put_attention, sql, e);
    for (size_t i = 0; i < t->n_attention && status == OK; i++) {
        const struct attention_record *a = &t->attention[i];
        struct binder b = {s->put_attention, 0, SQLITE_OK};
        bind_int(&b, trial_id);
        bind_int(&b, a->layer);
        bind_int(&b, a->head);
        bind_double(&b, a->needle_mass);
        bind_double(&b, a->value_mass);
        bind_double(&b, a->entropy);
        bind_double(&b, a->max);
        status = binder_finish(s, &b, e);
    }
    return status;
}

enum status store_put_trial(struct store *s, int64_t run_id, const struct trial_record *trial,
                            struct error *e)
{
    enum status status = store_check_in_place(s, e);
    int64_t trial_id;

    if (status != OK || (status = store_execute(s, "BEGIN IMMEDIATE", e)) != OK)
        return status;
    status = insert_trial(s, run_id, trial, &trial_id, e);
    if (status == OK && trial_id) {
        if ((status = clear_trial(s, trial_id, e)) == OK)
            status = insert_attention(s, trial_id, trial, e);
    }
    return store_end(s, status, e);
}
