#include "needlegrid/stats_bootstrap.h"

#include "needlegrid/distribution.h"
#include "needlegrid/mem.h"
#include "needlegrid/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status clusters_init(struct clusters *c, size_t n_samples, size_t n_columns, struct error *e)
{
    memset(c, 0, sizeof(*c));
    c->n = n_samples < CLUSTERS_MAX ? n_samples : CLUSTERS_MAX;
    c->n_columns = n_columns;
    return mem_alloc(&c->totals, "sums per sample", e, c->n, n_columns, 2, sizeof(*c->totals));
}

void clusters_release(struct clusters *c)
{
    free(c->totals);
    memset(c, 0, sizeof(*c));
}

void clusters_add(struct clusters *c, size_t sample, size_t column, double score)
{
    double *total = &c->totals[(sample % c->n * c->n_columns + column) * 2];

    total[0] += score;
    total[1] += 1;
}

void column_means(void *context, const double *totals, size_t n_columns, double *out, size_t n_out)
{
    (void)context;
    (void)n_out;
    for (size_t i = 0; i < n_columns; i++)
        out[i] = totals[2 * i + 1] > 0 ? totals[2 * i] / totals[2 * i + 1] : NAN;
}

double bootstrap_tail(size_t n, double confidence)
{
    double t;

    if (n < 2)
        return 0;
    t = student_quantile(0.5 + confidence / 2, (int64_t)n - 1);
    return normal_cdf(-sqrt((double)n / (double)(n - 1)) * t);
}

/* ---- resampling ---- */

struct work {
    uint32_t *times; /* [n] how often each sample was drawn */
    double *totals;  /* [2 * n_columns] of one resample */
    double *figures; /* [n_out, resamples] */
    double *row;     /* [n_out] of one resample */
};

static enum status work_init(struct work *w, const struct clusters *c, size_t resamples,
                             size_t n_out, struct error *e)
{
    const char *what = "the resamples of a bootstrap";

    if (mem_alloc(&w->times, what, e, c->n, sizeof(*w->times), 1, 1) != OK ||
        mem_alloc(&w->totals, what, e, c->n_columns, 2, sizeof(*w->totals), 1) != OK ||
        mem_alloc(&w->row, what, e, n_out, sizeof(*w->row), 1, 1) != OK ||
        mem_alloc(&w->figures, what, e, n_out, resamples, sizeof(*w->figures), 1) != OK)
        return e->code;
    return OK;
}

static void work_release(struct work *w)
{
    free(w->times);
    free(w->totals);
    free(w->figures);
    free(w->row);
}

static void draw_samples(struct work *w, const struct clusters *c, struct rng *r)
{
    size_t width = 2 * c->n_columns;

    memset(w->times, 0, c->n * sizeof(*w->times));
    memset(w->totals, 0, width * sizeof(*w->totals));
    for (size_t i = 0; i < c->n; i++)
        w->times[rng_below(r, c->n)]++;
    for (size_t i = 0; i < c->n; i++) {
        const double *from = &c->totals[i * width];
        double times = w->times[i];
        for (size_t j = 0; times > 0 && j < width; j++)
            w->totals[j] += times * from[j];
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct interval percentile(double *figures, size_t n, double tail)
{
    size_t kept = 0, k;

    for (size_t i = 0; i < n; i++) {
        if (!isnan(figures[i]))
            figures[kept++] = figures[i];
    }
    if (kept == 0)
        return (struct interval){NAN, NAN};
    qsort(figures, kept, sizeof(*figures), by_value);
    k = (size_t)((double)(kept + 1) * tail);
    k = k < 1 ? 1 : k > (kept + 1) / 2 ? (kept + 1) / 2 : k;
    return (struct interval){figures[k - 1], figures[kept - k]};
}

enum status bootstrap(const struct clusters *c, const struct bootstrap_spec *spec,
                      bootstrap_fn *figures, void *context, size_t n_out, struct interval *out,
                      struct error *e)
{
    struct rng r = rng_make(spec->seed, "bootstrap", 0);
    double tail = bootstrap_tail(c->n, spec->confidence);
    struct work w = {NULL, NULL, NULL, NULL};
    enum status status = work_init(&w, c, spec->resamples, n_out, e);

    for (size_t b = 0; b < spec->resamples && status == OK; b++) {
        if (c->n > 0)
            draw_samples(&w, c, &r);
        figures(context, w.totals, c->n_columns, w.row, n_out);
        for (size_t i = 0; i < n_out; i++)
            w.figures[i * spec->resamples + b] = w.row[i];
    }
    for (size_t i = 0; i < n_out && status == OK; i++)
        out[i] = percentile(&w.figures[i * spec->resamples], spec->resamples, tail);
    work_release(&w);
    return status;
}
