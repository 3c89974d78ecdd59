/*
 * Reading the store: walks over runs, trials and cells, and the canonical dump.
 *
 * Each walk calls `row` once per row, in a stable order, with strings that live until it returns; a
 * status other than OK from it ends the walk and is returned.
 *
 *     struct trial_filter f = {.run_id = 2};
 *     if (store_each_trial(s, &f, print_trial, &out, e) != OK) ...
 */
#ifndef NEEDLEGRID_STORE_READ_H
#define NEEDLEGRID_STORE_READ_H

#include "needlegrid/error.h"
#include "needlegrid/store.h"

#include <stddef.h>
#include <stdint.h>

typedef enum status store_run_fn(void *context, const struct run_record *run, struct error *e);
NG_MUST_USE enum status store_each_run(struct store *s, store_run_fn *row, void *context,
                                       struct error *e);

struct trial_row {
    int64_t trial_id;
    int64_t run_id;
    const char *model_name;
    const char *rule;
    const char *rule_detail;
    const char *task;
    const char *template_name;
    struct trial_record trial;
};

typedef enum status store_trial_fn(void *context, const struct trial_row *row, struct error *e);

struct trial_filter {
    int64_t run_id;   /* 0 = all */
    int64_t trial_id; /* 0 = all */
    /*
     * Whose verdict outcome, counted, scorer, scorer_hash, score and error are: NULL = the trial's
     * own. Where that scorer has not judged: the trial's own if it has the same name or is not
     * counted, else no-verdict, with an error that says so.
     */
    const char *scorer;
};

/* In the order of run, context length, depth (NaN first), sample. */
NG_MUST_USE enum status store_each_trial(struct store *s, const struct trial_filter *filter,
                                         store_trial_fn *row, void *context, struct error *e);

/* One cell of a run's grid. */
struct cell_row {
    int64_t context_length;
    double target_depth; /* NaN: trials without a depth */
    int64_t n;           /* trials that count */
    int64_t hits;
    double score; /* sum of the scores */
    int64_t not_counted;
};

typedef enum status store_cell_fn(void *context, const struct cell_row *row, struct error *e);

/* In the order of context length, depth (NaN first). `scorer` as in trial_filter. */
NG_MUST_USE enum status store_each_cell(struct store *s, int64_t run_id, const char *scorer,
                                        store_cell_fn *row, void *context, struct error *e);

/*
 * The canonical dump: the `trials` view without trial_id, run_id, times, token counters and tool
 * version, as CSV ordered by trial_key; then, where there are any, the verdicts and the attention,
 * each behind an empty line. Text is always quoted, NULL is empty, floats are %.17g.
 * Two files with the same dump hold the same trials. `text` is called once per line.
 */
typedef enum status store_text_fn(void *context, const char *text, size_t n, struct error *e);
NG_MUST_USE enum status store_dump(struct store *s, store_text_fn *text, void *context,
                                   struct error *e);

#endif
