/*
 * Shared by the files of the store.
 */
#ifndef NEEDLEGRID_STORE_IMPL_H
#define NEEDLEGRID_STORE_IMPL_H

#include "needlegrid/os.h"
#include "needlegrid/store_read.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    STORE_APPLICATION_ID = 0x4E475244, /* "NGRD" */
    STORE_VERSION = 1,                 /* user_version of the newest schema */
};

struct store {
    sqlite3 *db;
    char *path;              /* as the user gave it */
    struct os_stamp stamp;   /* which file that was, when opened for writing */
    sqlite3_stmt *has_trial; /* prepared at first use */
    sqlite3_stmt *put_trial;
    sqlite3_stmt *put_attention;
};

/* store_steps[v]: the statements, NULL at the end, that bring a file from version v to v + 1. */
extern const char *const *const store_steps[STORE_VERSION];

/* The error of a failed SQLite call: names the file, the cause and the way out. */
enum status store_error(struct store *s, int rc, struct error *e);

/* SQLite writes on into a file that has lost its name; this tells. */
NG_MUST_USE enum status store_check_in_place(struct store *s, struct error *e);

NG_MUST_USE enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                                      struct error *e);

/* Runs statements that give no rows. */
NG_MUST_USE enum status store_execute(struct store *s, const char *sql, struct error *e);
/* COMMIT if `status` is OK, else ROLLBACK, which keeps `e`; returns what became of it. */
NG_MUST_USE enum status store_end(struct store *s, enum status status, struct error *e);

/* ---- store_row.c ---- */

/* Binds one value after the other and keeps the first failure. */
struct binder {
    sqlite3_stmt *stmt;
    int index;
    int rc;
};

/* The text stays the caller's, who keeps it until the statement is reset; NULL binds NULL. */
void bind_text(struct binder *b, const char *text);
void bind_int(struct binder *b, int64_t value);
void bind_double(struct binder *b, double value); /* NaN binds NULL */
void bind_null(struct binder *b);
void bind_u64(struct binder *b, uint64_t value); /* as decimal text */
/* Runs a bound statement that gives no rows and makes it ready for the next use. */
NG_MUST_USE enum status binder_finish(struct store *s, struct binder *b, struct error *e);

/* Takes one column after the other off the current row. */
struct reader {
    sqlite3_stmt *stmt;
    int index;
};

/* NULL for NULL; valid until the next step. */
const char *read_text(struct reader *r);
/* For columns that our schema never leaves NULL, though a doctored file might. */
const char *read_name(struct reader *r);
int64_t read_int(struct reader *r);
double read_double(struct reader *r);
double read_double_or_nan(struct reader *r);
uint64_t read_u64(struct reader *r);
bool next_is_null(const struct reader *r);

/* Hands the current row to the caller of a walk. */
typedef enum status take_row_fn(sqlite3_stmt *stmt, void *walk, struct error *e);

/* Steps to the end of a bound statement and finalizes it. */
NG_MUST_USE enum status walk_rows(struct store *s, sqlite3_stmt *stmt, take_row_fn *take,
                                  void *walk, struct error *e);

/* ---- another scorer's verdicts ---- */

/*
 * `trial AS t` with the verdicts of scorer ?3 beside it. A trial's own verdict stands in where the
 * scorer has the same name, or where there was nothing to judge (transport-error, ...).
 */
#define VERDICT_JOIN " LEFT JOIN verdict AS v ON v.trial_id = t.trial_id AND v.scorer = ?3"
#define VERDICT_IS_OWN                                                                             \
    "(v.trial_id IS NULL AND (t.scorer IS ?3 OR (t.counted = 0 AND t.outcome <> 'no-verdict')))"
#define VERDICT_OUTCOME                                                                            \
    "CASE WHEN " VERDICT_IS_OWN " THEN t.outcome ELSE coalesce(v.outcome, 'no-verdict') END"
#define VERDICT_COUNTED                                                                            \
    "CASE WHEN " VERDICT_IS_OWN " THEN t.counted ELSE coalesce(v.counted, 0) END"
#define VERDICT_SCORE "CASE WHEN " VERDICT_IS_OWN " THEN t.score ELSE coalesce(v.score, 0.0) END"

/* Appends " AND t.run_id = ?1" and " AND t.trial_id = ?2" as the filter wants. */
struct buf;
void filter_sql(struct buf *sql, const struct trial_filter *filter);
/* Binds ?1, ?2 and ?3, those that are there. */
void filter_bind(sqlite3_stmt *stmt, const struct trial_filter *filter);

#endif
