#include "needlegrid/summary.h"

#include "needlegrid/mem.h"
#include "needlegrid/stats_bootstrap.h"
#include "needlegrid/stats_effective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 1 << 22 };

/* ---- accuracies ---- */

/* Mean score of the samples of one line, to see whether they are all alike. */
struct tally {
    double *sum, *count; /* [n_samples] */
};

/* Length or depth, by index, of an item. */
typedef uint32_t axis_fn(const struct score *item);

static uint32_t length_of(const struct score *item)
{
    return item->length;
}

static uint32_t depth_of(const struct score *item)
{
    return item->depth;
}

static uint32_t none_of(const struct score *item)
{
    (void)item;
    return 0;
}

/* The items of one line, index[first..first + n), as a line without an interval. */
static void fill_line(struct summary_line *line, const struct scores *s, const uint32_t *index,
                      size_t n, struct tally *t)
{
    double sum = 0, logprob = 0, first = NAN;
    size_t n_logprob = 0;

    for (size_t i = 0; i < n; i++) {
        const struct score *item = &s->items[index[i]];
        t->sum[item->sample] += item->score;
        t->count[item->sample] += 1;
        sum += item->score;
        if (!isnan(item->logprob)) {
            logprob += item->logprob;
            n_logprob++;
        }
    }
    line->n = (int64_t)n;
    line->accuracy = n ? sum / (double)n : NAN;
    line->logprob = n_logprob ? logprob / (double)n_logprob : NAN;
    line->alike = true;
    for (size_t i = 0; i < n; i++) {
        uint32_t sample = s->items[index[i]].sample;
        double mean = t->sum[sample] / t->count[sample];
        if (t->count[sample] == 0)
            continue; /* seen before */
        first = isnan(first) ? mean : first;
        line->alike = line->alike && fabs(mean - first) < 1e-12;
        line->n_samples++;
        t->sum[sample] = t->count[sample] = 0;
    }
}

/* All lines of an axis: the items are brought together by line, then each is filled. */
static enum status fill_axis(struct summary_line *lines, size_t n_lines, const struct scores *s,
                             axis_fn *axis, struct tally *t, struct error *e)
{
    size_t *start; /* [n_lines + 1] of each line in `index`; first shifted by one while filling */
    uint32_t *index = NULL;

    if (mem_alloc(&start, "an axis", e, n_lines + 2, sizeof(*start), 1, 1) != OK ||
        mem_alloc(&index, "an axis", e, s->n, sizeof(*index), 1, 1) != OK) {
        free(start);
        return e->code;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (axis(&s->items[i]) != SCORE_NO_DEPTH)
            start[axis(&s->items[i]) + 2]++;
    }
    for (size_t i = 2; i < n_lines + 2; i++)
        start[i] += start[i - 1];
    for (size_t i = 0; i < s->n; i++) {
        if (axis(&s->items[i]) != SCORE_NO_DEPTH)
            index[start[axis(&s->items[i]) + 1]++] = (uint32_t)i;
    }
    for (size_t i = 0; i < n_lines; i++)
        fill_line(&lines[i], s, index + start[i], start[i + 1] - start[i], t);
    free(start);
    free(index);
    return OK;
}

static enum status fill_lines(struct summary *out, struct error *e)
{
    const struct scores *s = out->scores;
    struct tally t = {NULL, NULL};
    enum status status;

    if ((status = mem_alloc(&out->lengths, "a summary", e, s->n_lengths, sizeof(*out->lengths), 1,
                            1)) == OK &&
        (status = mem_alloc(&out->depths, "a summary", e, s->n_depths, sizeof(*out->depths), 1,
                            1)) == OK &&
        (status = mem_alloc(&t.sum, "a summary", e, s->n_samples, sizeof(*t.sum), 1, 1)) == OK &&
        (status = mem_alloc(&t.count, "a summary", e, s->n_samples, sizeof(*t.count), 1, 1)) ==
            OK &&
        (status = fill_axis(out->lengths, s->n_lengths, s, length_of, &t, e)) == OK &&
        (status = fill_axis(out->depths, s->n_depths, s, depth_of, &t, e)) == OK)
        status = fill_axis(&out->overall, 1, s, none_of, &t, e);
    free(t.sum);
    free(t.count);
    return status;
}

/* ---- intervals ---- */

/* The figures of one resample: lengths, depths, overall, and both effective lengths. */
static void resample_figures(void *context, const double *totals, size_t n_columns, double *out,
                             size_t n_out)
{
    const struct summary *s = context;
    size_t n_lengths = s->scores->n_lengths;
    double sum = 0, n = 0;

    column_means(NULL, totals, n_columns, out, n_columns);
    for (size_t i = 0; i < n_lengths; i++) {
        sum += totals[2 * i];
        n += totals[2 * i + 1];
    }
    out[n_columns] = n > 0 ? sum / n : NAN;
    out[n_columns + 1] = (double)effective_absolute(out, n_lengths, s->spec.threshold);
    out[n_out - 1] = (double)effective_relative(out, n_lengths, s->spec.base_share);
}

static void set_interval(struct summary_line *line, struct interval resampled)
{
    if (line->n == 0)
        line->interval = (struct interval){NAN, NAN};
    else if (line->alike)
        line->interval = wilson_95_mean(line->accuracy, (int64_t)line->n_samples);
    else
        line->interval = resampled;
}

static void set_intervals(struct summary *out, const struct interval *i)
{
    const struct scores *s = out->scores;

    for (size_t l = 0; l < s->n_lengths; l++)
        set_interval(&out->lengths[l], *i++);
    for (size_t d = 0; d < s->n_depths; d++)
        set_interval(&out->depths[d], *i++);
    set_interval(&out->overall, *i++);
    out->absolute.low = (size_t)i->low;
    out->absolute.high = (size_t)i++->high;
    out->relative.low = (size_t)i->low;
    out->relative.high = (size_t)i->high;
}

static enum status find_intervals(struct summary *out, struct error *e)
{
    const struct scores *s = out->scores;
    struct bootstrap_spec spec = {out->spec.seed, out->spec.resamples, 0.95};
    size_t n_columns = s->n_lengths + s->n_depths, n_out = n_columns + 3;
    struct interval *intervals = NULL;
    struct clusters c;
    enum status status = clusters_init(&c, s->n_samples, n_columns, e);

    for (size_t i = 0; i < s->n && status == OK; i++) {
        const struct score *item = &s->items[i];
        clusters_add(&c, item->sample, item->length, item->score);
        if (item->depth != SCORE_NO_DEPTH)
            clusters_add(&c, item->sample, s->n_lengths + item->depth, item->score);
    }
    if (status == OK)
        status = mem_alloc(&intervals, "intervals", e, n_out, sizeof(*intervals), 1, 1);
    if (status == OK)
        status = bootstrap(&c, &spec, resample_figures, out, n_out, intervals, e);
    if (status == OK)
        set_intervals(out, intervals);
    free(intervals);
    clusters_release(&c);
    return status;
}

static enum status find_effective(struct summary *out, struct error *e)
{
    size_t n = out->scores->n_lengths;
    double *accuracy;

    if (mem_alloc(&accuracy, "accuracies", e, n, sizeof(*accuracy), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < n; i++)
        accuracy[i] = out->lengths[i].accuracy;
    out->absolute.at = effective_absolute(accuracy, n, out->spec.threshold);
    out->relative.at = effective_relative(accuracy, n, out->spec.base_share);
    free(accuracy);
    return OK;
}

/* ---- cells ---- */

struct cell {
    double sum;
    int64_t n;
};

static void look_for_worst(struct summary_cell *worst, const struct cell *cells, size_t n_lengths,
                           size_t n_depths)
{
    for (size_t i = 0; i < n_lengths * n_depths; i++) {
        double accuracy = cells[i].sum / (double)cells[i].n;
        if (cells[i].n == 0)
            continue;
        if (worst->n > 0 && fabs(accuracy - worst->accuracy) < 1e-12) {
            worst->others++;
        } else if (worst->n == 0 || accuracy < worst->accuracy) {
            *worst = (struct summary_cell){.length = i / n_depths,
                                           .depth = i % n_depths,
                                           .accuracy = accuracy,
                                           .interval = wilson_95_mean(accuracy, cells[i].n),
                                           .n = cells[i].n};
        }
    }
}

static enum status find_worst(struct summary *out, struct error *e)
{
    const struct scores *s = out->scores;
    size_t n_depths = s->n_depths + 1, n; /* the last: without a depth */
    struct cell *cells;

    if (!size_mul(s->n_lengths, n_depths, &n) || n > MAX_CELLS)
        return error_set(e, ERR_LIMIT, "run %lld has %zu lengths and %zu depths: too many",
                         (long long)s->run_id, s->n_lengths, s->n_depths);
    if (mem_alloc(&cells, "cells", e, n, sizeof(*cells), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < s->n; i++) {
        const struct score *item = &s->items[i];
        size_t depth = item->depth == SCORE_NO_DEPTH ? s->n_depths : item->depth;
        struct cell *cell = &cells[item->length * n_depths + depth];
        cell->sum += item->score;
        cell->n++;
    }
    look_for_worst(&out->worst, cells, s->n_lengths, n_depths);
    free(cells);
    return OK;
}

enum status summary_make(struct summary *out, const struct scores *scores,
                         const struct summary_spec *spec, struct error *e)
{
    enum status status;

    memset(out, 0, sizeof(*out));
    out->scores = scores;
    out->spec = *spec;
    for (size_t i = 0; i < scores->n_outcomes; i++)
        out->not_counted += scores->outcomes[i].counted ? 0 : scores->outcomes[i].n;
    if ((status = find_worst(out, e)) != OK || (status = fill_lines(out, e)) != OK ||
        (status = find_effective(out, e)) != OK || (status = find_intervals(out, e)) != OK)
        summary_release(out);
    return status;
}

void summary_release(struct summary *s)
{
    free(s->lengths);
    free(s->depths);
    memset(s, 0, sizeof(*s));
}
