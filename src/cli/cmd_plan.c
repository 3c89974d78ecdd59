/* needlegrid plan: how many samples a question needs. */
#include "cli_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/scores.h"
#include "needlegrid/stats_power.h"
#include "needlegrid/stats_test.h"
#include "needlegrid/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct option options[] = {
    {"power", NULL, NULL, "what drop N samples can see, and how many a drop needs", false},
    {"samples", "N", NULL, "haystacks and needles; default: 5, or the run's", false},
    {"depths", "N", NULL, "trials of a sample at one length; default: 11, or the run's", false},
    {"accuracy", "P", NULL, "before the drop, 0 to 1; default: 0.95", false},
    {"drop", "D", "0.1", "to be seen, 0 to 1: 0.1 is ten points", false},
    {"alpha", "A", "0.05", "chance of a false alarm, two-sided, of all tests together", false},
    {"tests", "N", NULL, "tests that share alpha (Holm); default: 1, or the run's lengths + 1",
     false},
    {"db", "FILE", "needlegrid.db", "the database of --run", false},
    {"run", "ID", NULL, "a run to take accuracies and the variance between samples from", false},
    {NULL, NULL, NULL, NULL, false},
};

struct question {
    const struct args *args;
    uint64_t samples; /* 0 = not said; so below */
    uint64_t depths;
    uint64_t tests;
    double accuracy; /* NaN = not said */
    double drop;
    double alpha;
    struct buf out;
};

/* ---- reading the options ---- */

static enum status read_count(const struct args *a, const char *name, uint64_t *out,
                              struct error *e)
{
    *out = 0;
    return args_get(a, name) ? parse_u64(name, args_get(a, name), 1, 1000000, out, e) : OK;
}

static enum status read_question(struct question *q, struct error *e)
{
    const struct args *a = q->args;

    q->accuracy = NAN;
    if (read_count(a, "samples", &q->samples, e) != OK ||
        read_count(a, "depths", &q->depths, e) != OK ||
        read_count(a, "tests", &q->tests, e) != OK ||
        (args_get(a, "accuracy") &&
         parse_double("accuracy", args_get(a, "accuracy"), 0.001, 1, &q->accuracy, e) != OK) ||
        parse_double("drop", args_get(a, "drop"), 0.0001, 1, &q->drop, e) != OK ||
        parse_double("alpha", args_get(a, "alpha"), 1e-9, 0.5, &q->alpha, e) != OK)
        return e->code;
    if (args_get(a, "run") && !isnan(q->accuracy))
        return error_set(e, ERR_USAGE, "--accuracy comes from the run: say --run or --accuracy");
    return OK;
}

/* ---- the table ---- */

static void put_title(struct question *q, uint64_t samples, uint64_t tests)
{
    char heading[32];

    snprintf(heading, sizeof(heading), "samples for %.4g", 100 * q->drop);
    buf_printf(&q->out,
               "two runs of %" PRIu64 " samples each, on different seeds: the smallest drop that is"
               " found\nwith a chance of %.0f%% at two-sided alpha %g",
               samples, 100 * POWER_TARGET, q->alpha);
    if (tests > 1)
        buf_printf(&q->out, ", which %" PRIu64 " tests share (Holm):\n%.3g each", tests,
                   q->alpha / (double)tests);
    buf_printf(&q->out, "\n\n%-16s %8s %13s %5s  %13s %15s\n", "", "accuracy", "trials/sample",
               "icc", "smallest drop", heading);
}

static void put_row(struct question *q, const char *name, const struct power_design *d,
                    size_t samples, const char *mark)
{
    double least = drop_for_samples(d, samples), need = samples_for_drop(d, q->drop);

    buf_printf(&q->out, "%-16s %8.1f %13.4g %5.2f%-1s", name, 100 * d->accuracy, d->trials, d->icc,
               mark);
    if (isnan(least))
        buf_printf(&q->out, " %13s", "none");
    else
        buf_printf(&q->out, " %13.1f", 100 * least);
    if (need > 0)
        buf_printf(&q->out, " %15.0f\n", need);
    else
        buf_printf(&q->out, " %15s\n", "-");
}

static void put_notes(struct question *q, uint64_t tests, bool assumed)
{
    buf_printf(&q->out,
               "\naccuracy and drops in points. icc: how alike the trials of a sample are: 1 = a\n"
               "sample counts once, however many its depths; 0 = each of its trials counts.\n"
               "Runs on the same seeds pair up and as a rule show smaller drops, but their\n"
               "sign-flip test needs %zu samples to find anything: fewer are not planned for.\n"
               "Formula: Fleiss 1981, two proportions, times the design effect\n"
               "1 + (trials/sample - 1) icc.\n",
               sign_flip_min_samples(q->alpha / (double)tests));
    if (assumed)
        buf_puts(&q->out, "* 1 assumed: the samples are too few, or all right, or all wrong\n");
}

/* Without a run: the two ends of what may be. */
static enum status answer_alone(struct question *q, struct error *e)
{
    static const double iccs[] = {1, 0.5, 0.2, 0};
    static const char *const names[] = {"a sample as one", "", "", "depths apart"};
    uint64_t samples = q->samples ? q->samples : 5, tests = q->tests ? q->tests : 1;
    struct power_design d = {
        .accuracy = isnan(q->accuracy) ? 0.95 : q->accuracy,
        .trials = q->depths ? (double)q->depths : 11,
        .alpha = q->alpha / (double)tests,
    };

    put_title(q, samples, tests);
    for (size_t i = 0; i < sizeof(iccs) / sizeof(iccs[0]); i++) {
        d.icc = iccs[i];
        put_row(q, names[i], &d, (size_t)samples, "");
    }
    put_notes(q, tests, false);
    return buf_status(&q->out, e);
}

/* ---- from a run ---- */

struct sums {
    double *sum, *count; /* [n_samples] */
};

/* One length, or all; returns true if the icc had to be assumed. */
static bool put_measured(struct question *q, const struct scores *s, size_t length, struct sums *v,
                         size_t samples, double alpha)
{
    size_t n = scores_by_sample(s, length, v->sum, v->count);
    double sum = 0, count = 0;
    struct power_design d = {.alpha = alpha};
    char name[32] = "overall";
    bool assumed;

    if (length != SCORE_ALL_LENGTHS)
        snprintf(name, sizeof(name), "%" PRId64, s->lengths[length]);
    for (size_t i = 0; i < n; i++) {
        sum += v->sum[i];
        count += v->count[i];
    }
    if (n == 0) {
        buf_printf(&q->out, "%-16s  missing\n", name);
        return false;
    }
    d.accuracy = sum / count;
    d.trials = count / (double)n;
    d.icc = estimate_icc(v->sum, v->count, n);
    assumed = isnan(d.icc);
    if (assumed)
        d.icc = 1;
    if (q->depths)
        d.trials = (double)q->depths * (length == SCORE_ALL_LENGTHS ? (double)s->n_lengths : 1);
    put_row(q, name, &d, samples, assumed ? "*" : "");
    return assumed;
}

static enum status answer_from(struct question *q, const struct scores *s, struct error *e)
{
    uint64_t samples = q->samples ? q->samples : s->n_samples;
    uint64_t tests = q->tests ? q->tests : s->n_lengths + 1;
    double alpha = q->alpha / (double)tests;
    struct sums v = {NULL, NULL};
    bool assumed = false;

    if (s->n == 0)
        return error_set(e, ERR_NOT_FOUND, "run %" PRId64 " has no trial that counts", s->run_id);
    if (mem_alloc(&v.sum, "samples", e, s->n_samples, sizeof(*v.sum), 1, 1) != OK ||
        mem_alloc(&v.count, "samples", e, s->n_samples, sizeof(*v.count), 1, 1) != OK) {
        free(v.sum);
        return e->code;
    }
    buf_printf(&q->out, "from run %" PRId64 ": %s, %s, %zu samples\n", s->run_id, s->model, s->rule,
               s->n_samples);
    put_title(q, samples, tests);
    for (size_t i = 0; i < s->n_lengths; i++)
        assumed |= put_measured(q, s, i, &v, (size_t)samples, alpha);
    assumed |= put_measured(q, s, SCORE_ALL_LENGTHS, &v, (size_t)samples, alpha);
    put_notes(q, tests, assumed);
    free(v.sum);
    free(v.count);
    return buf_status(&q->out, e);
}

static enum status answer_from_run(struct question *q, struct error *e)
{
    const char *db = args_get(q->args, "db");
    enum status status;
    struct scores scores;
    struct store *s;
    int64_t run_id;

    if (store_open(&s, db, STORE_READ, e) != OK)
        return e->code;
    status = parse_run(s, db, args_get(q->args, "run"), &run_id, e);
    if (status == OK)
        status = scores_load(&scores, s, run_id, NULL, e);
    store_close(s);
    if (status != OK)
        return status;
    status = answer_from(q, &scores, e);
    scores_release(&scores);
    return status;
}

static int run(const struct args *a, struct error *e)
{
    struct question q = {.args = a, .out = BUF_INIT(16 << 20)};
    int code = EXIT_USAGE;

    if (!args_flag(a, "power")) {
        error_set(e, ERR_USAGE,
                  "say --power for samples and drops; what a sweep would run is shown "
                  "by `needlegrid run --dry-run`");
        return EXIT_USAGE;
    }
    if (read_question(&q, e) == OK &&
        (args_get(a, "run") ? answer_from_run(&q, e) : answer_alone(&q, e)) == OK)
        code = write_stdout(&q.out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
    buf_release(&q.out);
    return code;
}

const struct command command_plan = {
    .name = "plan",
    .positional = "",
    .summary = "what drop in accuracy so many samples can see",
    .options = options,
    .examples = "  needlegrid plan --power --samples 20 --depths 11 --accuracy 0.95 --drop 0.1\n"
                "  needlegrid plan --power --db results/demo.db --run 1\n",
    .run = run,
};
