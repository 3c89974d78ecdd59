/* A summary as a table for people. */
#include "needlegrid/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* "97.3" of 0.973; rounded like C does. */
static void put_percent(char out[16], double share)
{
    snprintf(out, 16, "%.1f", 100 * share);
}

static void put_line(struct buf *out, const char *name, const struct summary_line *l)
{
    char accuracy[16], low[16], high[16], logprob[24] = "-";

    if (l->n == 0) {
        buf_printf(out, "%10s   missing%39s\n", name, "0");
        return;
    }
    put_percent(accuracy, l->accuracy);
    put_percent(low, l->interval.low);
    put_percent(high, l->interval.high);
    if (!isnan(l->logprob))
        snprintf(logprob, sizeof(logprob), "%.3f", l->logprob);
    buf_printf(out, "%10s %9s %8s - %5s%s %10zu %9" PRId64 " %10s\n", name, accuracy, low, high,
               l->alike ? "*" : " ", l->n_samples, l->n, logprob);
}

static void put_header(struct buf *out, const char *name)
{
    buf_printf(out, "\n%10s  accuracy  95%% interval     samples    trials  log-prob.\n", name);
}

static void put_lines(struct buf *out, const struct summary *s)
{
    char name[32];

    put_header(out, "tokens");
    for (size_t i = 0; i < s->scores->n_lengths; i++) {
        snprintf(name, sizeof(name), "%" PRId64, s->scores->lengths[i]);
        put_line(out, name, &s->lengths[i]);
    }
    put_line(out, "overall", &s->overall);
    if (s->scores->n_depths == 0)
        return;
    put_header(out, "depth");
    for (size_t i = 0; i < s->scores->n_depths; i++) {
        snprintf(name, sizeof(name), "%.1f%%", s->scores->depths[i]);
        put_line(out, name, &s->depths[i]);
    }
}

static void put_length(struct buf *out, const struct summary *s, size_t at)
{
    if (at == 0)
        buf_puts(out, "none");
    else
        buf_printf(out, "%" PRId64, s->scores->lengths[at - 1]);
}

static void put_effective(struct buf *out, const struct summary *s,
                          const struct summary_effective *f)
{
    put_length(out, s, f->at);
    if (f->at > 0)
        buf_puts(out, f->at == s->scores->n_lengths ? " tokens, the longest tried" : " tokens");
    buf_puts(out, " (95%: ");
    put_length(out, s, f->low);
    buf_puts(out, " to ");
    put_length(out, s, f->high);
    buf_puts(out, ")\n");
}

static void put_effective_lengths(struct buf *out, const struct summary *s)
{
    char threshold[16], base[16] = "missing";

    if (s->overall.n == 0)
        return;
    put_percent(threshold, s->spec.threshold);
    buf_printf(out, "\neffective length: every accuracy up to it at least\n  %s: ", threshold);
    put_effective(out, s, &s->absolute);
    if (!isnan(s->lengths[0].accuracy))
        put_percent(base, s->lengths[0].accuracy);
    buf_printf(out, "  %g x %s (at %" PRId64 "): ", s->spec.base_share, base,
               s->scores->lengths[0]);
    put_effective(out, s, &s->relative);
}

static void put_worst(struct buf *out, const struct summary *s)
{
    const struct summary_cell *w = &s->worst;
    char accuracy[16], low[16], high[16];

    if (w->n == 0)
        return;
    put_percent(accuracy, w->accuracy);
    put_percent(low, w->interval.low);
    put_percent(high, w->interval.high);
    buf_printf(out, "worst cell: %" PRId64 " tokens, ", s->scores->lengths[w->length]);
    if (w->depth < s->scores->n_depths)
        buf_printf(out, "depth %g%%: ", s->scores->depths[w->depth]);
    buf_printf(out, "%s (Wilson %s - %s), n %" PRId64, accuracy, low, high, w->n);
    if (w->others)
        buf_printf(out, "; %zu more like it", w->others);
    buf_putc(out, '\n');
}

/* The outcomes of one kind on one line: "300 hit, 12 wrong". */
static void put_outcomes(struct buf *out, const struct summary *s, bool counted)
{
    const char *separator = "";

    for (size_t i = 0; i < s->scores->n_outcomes; i++) {
        const struct outcome_count *o = &s->scores->outcomes[i];
        if (o->counted != counted)
            continue;
        buf_printf(out, "%s%" PRId64 " %s", separator, o->n, o->name);
        separator = ", ";
    }
}

static void put_counts(struct buf *out, const struct summary *s)
{
    buf_printf(out, "counted: %" PRId64, s->overall.n);
    if (s->overall.n > 0) {
        buf_puts(out, " (");
        put_outcomes(out, s, true);
        buf_putc(out, ')');
    }
    buf_printf(out, "\nnot counted: %" PRId64, s->not_counted);
    if (s->not_counted > 0) {
        buf_puts(out, " (");
        put_outcomes(out, s, false);
        buf_putc(out, ')');
    }
    buf_putc(out, '\n');
}

static bool any_alike(const struct summary *s)
{
    bool any = s->overall.n > 0 && s->overall.alike;

    for (size_t i = 0; i < s->scores->n_lengths; i++)
        any = any || (s->lengths[i].n > 0 && s->lengths[i].alike);
    for (size_t i = 0; i < s->scores->n_depths; i++)
        any = any || (s->depths[i].n > 0 && s->depths[i].alike);
    return any;
}

static void put_formulas(struct buf *out, const struct summary *s)
{
    buf_printf(out,
               "\naccuracy = sum of scores / trials that count, in percent\n"
               "log-prob. = mean natural logarithm per token of the right answer\n"
               "interval = percentiles, widened for few samples, of %zu resamples of the\n"
               "  samples (bootstrap, seed %" PRIu64 ")\n",
               s->spec.resamples, s->spec.seed);
    if (any_alike(s))
        buf_puts(out, "* all samples score alike: Wilson's interval with the samples as n\n");
}

void summary_text(struct buf *out, const struct summary *s)
{
    const struct scores *r = s->scores;

    buf_printf(out, "run %" PRId64 ": %s, %s\ntask %s, prompt %s, haystack %s, scorer %s\n",
               r->run_id, r->model, r->rule, r->task, r->template_name, r->haystack,
               r->scorer ? r->scorer : "as run");
    if (r->training_length > 0)
        buf_printf(out, "trained at %" PRId64 " tokens\n", r->training_length);
    put_lines(out, s);
    put_effective_lengths(out, s);
    put_worst(out, s);
    put_counts(out, s);
    put_formulas(out, s);
}
