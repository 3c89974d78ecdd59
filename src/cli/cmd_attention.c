/* needlegrid attention: how much each head attends to the needle, and how attention fades. */
#include "cli_impl.h"

#include "needlegrid/heads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"run", "ID", NULL, "a run in it; needed if there are several", false},
    {"trial", "ID", NULL, "one trial only", false},
    {"context-length", "TOKENS", NULL, "trials of this length only", false},
    {"top", "N", "25", "list at most so many heads", false},
    {"csv", "TABLE", NULL, "one table as CSV: heads, trials, lengths or formula", false},
    {NULL, NULL, NULL, NULL, false},
};

/* The paper's figure 1: all inputs -2, the last +3, s = 0.43. */
#define FIGURE_GAP 5.0
#define FIGURE_S 0.43

static void csv_heads(struct buf *out, const struct heads *h)
{
    buf_puts(out, "layer,head,needle_mass,value_mass,max,entropy,trials\n");
    for (size_t i = 0; i < h->n_heads; i++) {
        const struct head_mean *m = &h->heads[i];
        buf_printf(out, "%d,%d,%.9g,%.9g,%.9g,%.9g,%zu\n", m->layer, m->head, m->needle_mass,
                   m->value_mass, m->max, m->entropy, h->n_trials);
    }
}

static void csv_trials(struct buf *out, const struct heads *h)
{
    buf_puts(out, "trial_id,context_length,target_depth,sample,outcome,layer,head,needle_mass,"
                  "value_mass\n");
    for (size_t i = 0; i < h->n_trials; i++) {
        const struct top_head *t = &h->tops[i];
        buf_printf(out, "%lld,%lld,", (long long)t->trial_id, (long long)t->context_length);
        if (!isnan(t->target_depth))
            buf_printf(out, "%g", t->target_depth);
        buf_printf(out, ",%lld,%s,%d,%d,%.9g,%.9g\n", (long long)t->sample, t->outcome, t->layer,
                   t->head, t->needle_mass, t->value_mass);
    }
}

static void csv_lengths(struct buf *out, const struct heads *h)
{
    buf_puts(out, "context_length,trials,mean_max,sharpest_head_max\n");
    for (size_t i = 0; i < h->n_fading; i++) {
        const struct fading_row *f = &h->fading[i];
        buf_printf(out, "%lld,%zu,%.9g,%.9g\n", (long long)f->context_length, f->n_trials,
                   f->mean_max, f->top_max);
    }
}

static void csv_formula(struct buf *out)
{
    buf_puts(out, "n,softmax,ssmax\n");
    for (int i = 0; i <= 20; i++) {
        double n = ldexp(1, i);
        buf_printf(out, "%.0f,%.9g,%.9g\n", n, fading_softmax(n, FIGURE_GAP),
                   fading_ssmax(n, FIGURE_GAP, FIGURE_S));
    }
}

static void text_heads(struct buf *out, const struct heads *h, size_t most)
{
    buf_printf(out,
               "heads by needle score: attention from the prompt's last token, mean of %zu "
               "trials\n\n",
               h->n_trials);
    buf_puts(out, "rank  layer  head  on needle  on value  largest  entropy\n");
    for (size_t i = 0; i < h->n_heads && i < most; i++) {
        const struct head_mean *m = &h->heads[i];
        buf_printf(out, "%4zu  %5d  %4d  %9.4f  %8.4f  %7.4f  %7.3f\n", i + 1, m->layer, m->head,
                   m->needle_mass, m->value_mass, m->max, m->entropy);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The quartiles of the top scores of the trials with this outcome. */
static void text_outcome(struct buf *out, const struct heads *h, const char *outcome,
                         double *scores)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n_trials; i++) {
        if (strcmp(h->tops[i].outcome, outcome) == 0)
            scores[n++] = h->tops[i].needle_mass;
    }
    qsort(scores, n, sizeof(*scores), by_value);
    buf_printf(out, "%-20s  %6zu  %7.4f  %8.4f  %6.4f  %8.4f  %7.4f\n", outcome, n, scores[0],
               scores[n / 4], scores[n / 2], scores[n - 1 - n / 4], scores[n - 1]);
}

static enum status text_outcomes(struct buf *out, const struct heads *h, struct error *e)
{
    double *scores = calloc(h->n_trials, sizeof(*scores));

    if (!scores)
        return error_set(e, ERR_NOMEM, "cannot allocate memory for %zu scores", h->n_trials);
    buf_puts(out, "\ntop needle score of each trial, by outcome\n\n"
                  "outcome               trials  lowest  quartile  median  quartile  highest\n");
    for (size_t i = 0; i < h->n_trials; i++) {
        size_t first = 0;
        while (strcmp(h->tops[first].outcome, h->tops[i].outcome) != 0)
            first++;
        if (first == i)
            text_outcome(out, h, h->tops[i].outcome, scores);
    }
    free(scores);
    return OK;
}

static void text_lengths(struct buf *out, const struct heads *h)
{
    buf_puts(out, "\nlargest weight by context length, mean over trials\n\n"
                  "tokens  trials  mean of heads  sharpest head\n");
    for (size_t i = 0; i < h->n_fading; i++) {
        const struct fading_row *f = &h->fading[i];
        buf_printf(out, "%6lld  %6zu  %13.4f  %13.4f\n", (long long)f->context_length, f->n_trials,
                   f->mean_max, f->top_max);
    }
}

static enum status append_table(struct buf *out, const struct heads *h, const char *table,
                                size_t most, struct error *e)
{
    if (!table) {
        text_heads(out, h, most);
        if (text_outcomes(out, h, e) != OK)
            return e->code;
        text_lengths(out, h);
    } else if (strcmp(table, "heads") == 0) {
        csv_heads(out, h);
    } else if (strcmp(table, "trials") == 0) {
        csv_trials(out, h);
    } else {
        csv_lengths(out, h);
    }
    return buf_status(out, e);
}

static enum status read_filter(const struct args *a, struct store *s, struct heads_filter *f,
                               struct error *e)
{
    const char *db = args_get(a, "db");
    uint64_t trial = 0;
    size_t *length = NULL;
    size_t n = 0;

    if (args_get(a, "trial")) {
        if (parse_u64("trial", args_get(a, "trial"), 1, INT64_MAX, &trial, e) != OK)
            return e->code;
    } else if (args_get(a, "run")) {
        if (parse_run(s, db, args_get(a, "run"), &f->run_id, e) != OK)
            return e->code;
    } else if (only_run(s, db, &f->run_id, e) != OK) {
        return e->code;
    }
    f->trial_id = (int64_t)trial;
    if (!args_get(a, "context-length"))
        return OK;
    if (parse_lengths("context-length", args_get(a, "context-length"), &length, &n, e) == OK) {
        f->context_length = (int64_t)length[0];
        if (n > 1)
            error_set(e, ERR_USAGE, "--context-length takes one length");
    }
    free(length);
    return n == 1 ? OK : e->code;
}

static enum status show(const struct args *a, struct buf *out, struct error *e)
{
    struct heads_filter filter = {.run_id = 0};
    struct store *s = NULL;
    struct heads h;
    enum status status;
    uint64_t most;

    if (parse_u64("top", args_get(a, "top"), 1, 1000000, &most, e) != OK)
        return e->code;
    status = store_open(&s, args_get(a, "db"), STORE_READ, e);
    if (status == OK)
        status = read_filter(a, s, &filter, e);
    if (status == OK && (status = heads_load(&h, s, &filter, e)) == OK) {
        status = append_table(out, &h, args_get(a, "csv"), (size_t)most, e);
        heads_release(&h);
    }
    store_close(s);
    return status;
}

static enum status check_table(const char *table, struct error *e)
{
    static const char *const tables[] = {"heads", "trials", "lengths", "formula"};

    for (size_t i = 0; table && i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (strcmp(table, tables[i]) == 0)
            return OK;
    }
    return table ? error_set(e, ERR_USAGE,
                             "--csv \"%s\": must be heads, trials, lengths or formula", table)
                 : OK;
}

static int run(const struct args *a, struct error *e)
{
    struct buf out = BUF_INIT(256 << 20);
    const char *table = args_get(a, "csv");
    enum status status = check_table(table, e);
    int code = EXIT_USAGE;

    if (status == OK && table && strcmp(table, "formula") == 0)
        csv_formula(&out);
    else if (status == OK)
        status = show(a, &out, e);
    if (status == OK)
        code = write_stdout(&out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
    buf_release(&out);
    return code;
}

const struct command command_attention = {
    .name = "attention",
    .positional = "",
    .summary = "attention on the needle by head, and how attention fades with length",
    .options = options,
    .examples = "  needlegrid attention --db results/mine.db --run 2 --context-length 4k\n"
                "  needlegrid attention --csv formula > fading.csv\n",
    .run = run,
};
