/* needlegrid summary: runs in figures. */
#include "cli_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/stats_effective.h"
#include "needlegrid/store_read.h"
#include "needlegrid/summary.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"run", "ID", NULL, "a run in it; default: all", true},
    {"scorer", "NAME", NULL, "by this scorer's verdicts (`needlegrid score`)", false},
    {"threshold", "P", "0.856", "effective length: the accuracy to hold, 0 to 1", false},
    {"base-share", "P", "0.85", "or the share of the shortest length's accuracy", false},
    {"resamples", "N", "10000", "of the bootstrap", false},
    {"seed", "N", "0", "of the bootstrap", false},
    {"format", "NAME", "text", "text, json or csv", false},
    {NULL, NULL, NULL, NULL, false},
};

struct format {
    const char *name;
    void (*header)(struct buf *out);
    void (*put)(struct buf *out, const struct summary *s);
    const char *first, *between, *last; /* around the runs */
};

static const struct format formats[] = {
    {"text", NULL, summary_text, "", "\n", ""},
    {"json", NULL, summary_json, "[", ",\n", "]\n"},
    {"csv", summary_csv_header, summary_csv, "", "", ""},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct job {
    const struct args *args;
    struct store *store;
    const struct format *format;
    struct summary_spec spec;
    int64_t *runs; /* [n_runs] */
    size_t n_runs, runs_cap;
    struct buf out;
};

static enum status add_run(struct job *j, int64_t run_id, struct error *e)
{
    enum status status =
        mem_grow(&j->runs, &j->runs_cap, j->n_runs + 1, sizeof(*j->runs), "run ids", e);

    if (status == OK)
        j->runs[j->n_runs++] = run_id;
    return status;
}

static enum status note_run(void *context, const struct run_record *run, struct error *e)
{
    return add_run(context, run->run_id, e);
}

static enum status find_runs(struct job *j, struct error *e)
{
    const char *db = args_get(j->args, "db");
    size_t n;
    const char *const *ids = args_all(j->args, "run", &n);

    for (size_t i = 0; i < n; i++) {
        int64_t id;
        if (parse_run(j->store, db, ids[i], &id, e) != OK || add_run(j, id, e) != OK ||
            check_verdicts(j->store, db, id, args_get(j->args, "scorer"), false, e) != OK)
            return e->code;
    }
    if (n == 0 && store_each_run(j->store, note_run, j, e) != OK)
        return e->code;
    if (j->n_runs == 0)
        return no_runs(db, e);
    return n > 0 ? OK : check_verdicts(j->store, db, 0, args_get(j->args, "scorer"), false, e);
}

static enum status read_options(struct job *j, struct error *e)
{
    const struct args *a = j->args;
    const char *format = args_get(a, "format");
    uint64_t resamples;

    if (parse_double("threshold", args_get(a, "threshold"), 0, 1, &j->spec.threshold, e) != OK ||
        parse_double("base-share", args_get(a, "base-share"), 0, 1, &j->spec.base_share, e) != OK ||
        parse_u64("resamples", args_get(a, "resamples"), 100, 1000000, &resamples, e) != OK ||
        parse_u64("seed", args_get(a, "seed"), 0, UINT64_MAX, &j->spec.seed, e) != OK)
        return e->code;
    j->spec.resamples = (size_t)resamples;
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (strcmp(format, formats[i].name) == 0)
            j->format = &formats[i];
    }
    return j->format
               ? OK
               : error_set(e, ERR_USAGE, "--format \"%s\": must be text, json or csv", format);
}

static enum status summarize(struct job *j, int64_t run_id, struct error *e)
{
    struct scores scores;
    struct summary summary;
    enum status status = scores_load(&scores, j->store, run_id, args_get(j->args, "scorer"), e);

    if (status != OK)
        return status;
    status = summary_make(&summary, &scores, &j->spec, e);
    if (status == OK) {
        j->format->put(&j->out, &summary);
        summary_release(&summary);
    }
    scores_release(&scores);
    return status;
}

static enum status summarize_all(struct job *j, struct error *e)
{
    if (j->format->header)
        j->format->header(&j->out);
    buf_puts(&j->out, j->format->first);
    for (size_t i = 0; i < j->n_runs; i++) {
        if (i > 0)
            buf_puts(&j->out, j->format->between);
        if (summarize(j, j->runs[i], e) != OK)
            return e->code;
    }
    buf_puts(&j->out, j->format->last);
    return OK;
}

static int run(const struct args *a, struct error *e)
{
    struct job j = {.args = a, .out = BUF_INIT(256 << 20)};
    int code = EXIT_USAGE;

    if (read_options(&j, e) == OK && store_open(&j.store, args_get(a, "db"), STORE_READ, e) == OK &&
        find_runs(&j, e) == OK && summarize_all(&j, e) == OK)
        code = write_stdout(&j.out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
    buf_release(&j.out);
    free(j.runs);
    store_close(j.store);
    return code;
}

const struct command command_summary = {
    .name = "summary",
    .positional = "",
    .summary = "accuracies with intervals, effective length, worst cell, what is not counted",
    .options = options,
    .examples = "  needlegrid summary --db results/demo.db\n"
                "  needlegrid summary --db results/demo.db --run 2 --format json\n",
    .run = run,
};
