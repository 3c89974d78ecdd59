#include "needlegrid/grid.h"

#include "needlegrid/buf.h"
#include "needlegrid/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CELLS = 1 << 22, /* of a grid: more can neither be drawn nor read */
    TITLE_BYTES = 4096,
};

/* What the store says of one run, before it is a grid. */
struct loading {
    struct grid *grid;
    const char *scorer;
    bool found;
    struct cell_row *rows; /* in the order of length, depth */
    size_t n_rows;
    size_t rows_cap;
};

/* What tells this run from others; the legend's line. */
static void describe_run(struct buf *out, const struct run_record *run)
{
    buf_printf(out, "run %" PRId64 ": %s", run->run_id, run->rule);
    if (run->rule_detail && *run->rule_detail)
        buf_printf(out, " (%s)", run->rule_detail);
    buf_printf(out, ", task %s, prompt %s, haystack %s, seed %" PRIu64, run->task,
               run->template_name ? run->template_name : "-",
               run->haystack_name ? run->haystack_name : "-", run->seed);
    if (run->isa)
        buf_printf(out, ", %s", run->isa);
}

static enum status take_run(void *context, const struct run_record *run, struct error *e)
{
    struct buf title = BUF_INIT(TITLE_BYTES);
    struct loading *l = context;
    enum status status;

    if (run->run_id != l->grid->run_id || l->found)
        return OK;
    l->found = true;
    l->grid->training_length = run->training_length;
    buf_printf(&title, "run %" PRId64 ": %s, %s", run->run_id, run->model_name, run->rule);
    if (l->scorer)
        buf_printf(&title, ", scorer %s", l->scorer);
    status = buf_status(&title, e);
    if (status == OK && !(l->grid->title = mem_strndup(buf_str(&title), title.len, e)))
        status = e->code;
    buf_clear(&title);
    if (status == OK)
        describe_run(&title, run);
    if (status == OK && !(l->grid->detail = mem_strndup(buf_str(&title), title.len, e)))
        status = e->code;
    buf_release(&title);
    return status;
}

static enum status take_cell(void *context, const struct cell_row *row, struct error *e)
{
    struct loading *l = context;
    enum status status =
        mem_grow(&l->rows, &l->rows_cap, l->n_rows + 1, sizeof(*l->rows), "the cells of a grid", e);

    if (status == OK)
        l->rows[l->n_rows++] = *row;
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y)) /* trials without a depth come first */
        return (isnan(y) != 0) - (isnan(x) != 0);
    return (x > y) - (x < y);
}

/* The lengths come sorted; the depths of all lengths are put together. */
static enum status find_axes(struct grid *g, const struct loading *l, struct error *e)
{
    enum status status;
    size_t n = 0;

    if ((status = mem_alloc(&g->lengths, "the lengths of a grid", e, l->n_rows, sizeof(*g->lengths),
                            1, 1)) != OK ||
        (status = mem_alloc(&g->depths, "the depths of a grid", e, l->n_rows, sizeof(*g->depths), 1,
                            1)) != OK)
        return status;
    for (size_t i = 0; i < l->n_rows; i++) {
        if (i == 0 || l->rows[i].context_length != l->rows[i - 1].context_length)
            g->lengths[g->n_lengths++] = l->rows[i].context_length;
        g->depths[i] = l->rows[i].target_depth;
    }
    qsort(g->depths, l->n_rows, sizeof(*g->depths), by_value);
    for (size_t i = 0; i < l->n_rows; i++) {
        if (i == 0 || by_value(&g->depths[i], &g->depths[n - 1]) != 0)
            g->depths[n++] = g->depths[i];
    }
    g->n_depths = n;
    return OK;
}

static enum status fill_cells(struct grid *g, const struct loading *l, struct error *e)
{
    enum status status;
    size_t column = 0, n_cells;

    if (!size_mul(g->n_depths, g->n_lengths, &n_cells) || n_cells > MAX_CELLS)
        return error_set(e, ERR_LIMIT, "run %lld has %zu lengths and %zu depths: too many to show",
                         (long long)g->run_id, g->n_lengths, g->n_depths);
    status = mem_alloc(&g->cells, "a grid", e, n_cells, sizeof(*g->cells), 1, 1);
    if (status != OK)
        return status;
    for (size_t i = 0; i < l->n_rows; i++) {
        const struct cell_row *r = &l->rows[i];
        const double *depth =
            bsearch(&r->target_depth, g->depths, g->n_depths, sizeof(*g->depths), by_value);
        while (g->lengths[column] != r->context_length)
            column++;
        g->cells[(size_t)(depth - g->depths) * g->n_lengths + column] =
            (struct grid_cell){r->n, r->hits, r->score, r->not_counted};
    }
    return OK;
}

enum status grid_load(struct grid *out, struct store *s, int64_t run_id, const char *scorer,
                      struct error *e)
{
    struct loading l = {.grid = out, .scorer = scorer};
    enum status status;

    memset(out, 0, sizeof(*out));
    out->run_id = run_id;
    if ((status = store_each_run(s, take_run, &l, e)) != OK)
        goto out;
    if (!l.found) {
        status = error_set(e, ERR_NOT_FOUND, "no run %lld in this database", (long long)run_id);
        goto out;
    }
    if ((status = store_each_cell(s, run_id, scorer, take_cell, &l, e)) != OK ||
        (status = find_axes(out, &l, e)) != OK || (status = fill_cells(out, &l, e)) != OK)
        goto out;
out:
    free(l.rows);
    if (status != OK)
        grid_release(out);
    return status;
}

void grid_release(struct grid *g)
{
    free(g->title);
    free(g->detail);
    free(g->lengths);
    free(g->depths);
    free(g->cells);
    memset(g, 0, sizeof(*g));
}

const struct grid_cell *grid_at(const struct grid *g, size_t depth, size_t length)
{
    return &g->cells[depth * g->n_lengths + length];
}

double grid_accuracy(const struct grid_cell *c)
{
    return c->n > 0 ? c->score / (double)c->n : NAN;
}

struct grid_cell grid_column(const struct grid *g, size_t length)
{
    struct grid_cell sum = {0, 0, 0, 0};

    for (size_t d = 0; d < g->n_depths; d++) {
        const struct grid_cell *c = grid_at(g, d, length);
        sum.n += c->n;
        sum.hits += c->hits;
        sum.score += c->score;
        sum.not_counted += c->not_counted;
    }
    return sum;
}
