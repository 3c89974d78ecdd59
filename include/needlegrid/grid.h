/*
 * A grid: one run's accuracy by context length (columns) and depth (rows).
 *
 *     struct grid g;
 *     if (grid_load(&g, store, run_id, NULL, e) != OK) ...
 *     const struct grid_cell *c = grid_at(&g, row, column);
 *     grid_release(&g);
 */
#ifndef NEEDLEGRID_GRID_H
#define NEEDLEGRID_GRID_H

#include "needlegrid/error.h"
#include "needlegrid/store_read.h"

#include <stddef.h>
#include <stdint.h>

struct grid_cell {
    int64_t n; /* trials in the denominator; 0 = missing */
    int64_t hits;
    double score; /* sum */
    int64_t not_counted;
};

struct grid {
    int64_t run_id;
    char *title;             /* "run 1: model, rule" */
    char *detail;            /* "run 1: rule (scales), task, prompt, haystack, seed, isa" */
    int64_t training_length; /* tokens; 0 if unknown */
    int64_t *lengths;        /* [n_lengths], rising */
    size_t n_lengths;
    double *depths; /* [n_depths], percent, rising */
    size_t n_depths;
    struct grid_cell *cells; /* [n_depths, n_lengths] */
};

/* run_id must exist: ERR_NOT_FOUND names it otherwise. `scorer` as in trial_filter; it stands in
 * the title. */
NG_MUST_USE enum status grid_load(struct grid *out, struct store *s, int64_t run_id,
                                  const char *scorer, struct error *e);
void grid_release(struct grid *g);

const struct grid_cell *grid_at(const struct grid *g, size_t depth, size_t length);
/* Mean score of a cell in 0..1; NaN if missing. */
double grid_accuracy(const struct grid_cell *c);
/* All depths of one length together. */
struct grid_cell grid_column(const struct grid *g, size_t length);

#endif
