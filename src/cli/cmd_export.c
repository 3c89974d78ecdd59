/* needlegrid export: a database as CSV. */
#include "cli_impl.h"

#include "needlegrid/csv.h"
#include "needlegrid/grid.h"
#include "needlegrid/store_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"format", "NAME", "trials",
     "trials (one row each), grid (rows depth, columns length), dump (canonical)", false},
    {"run", "ID", NULL, "one run; default: all (grid needs one if there are several)", false},
    {"scorer", "NAME", NULL, "by this scorer's verdicts (`needlegrid score`)", false},
    {NULL, NULL, NULL, NULL, false},
};

static enum status write_trial(void *context, const struct trial_row *row, struct error *e)
{
    struct buf *out = context;

    csv_trial_row(out, row);
    return out->len > 1 << 16 ? write_stdout(out, e) : buf_status(out, e);
}

static enum status export_trials(struct store *s, int64_t run_id, const char *scorer,
                                 struct error *e)
{
    struct trial_filter filter = {.run_id = run_id, .scorer = scorer};
    struct buf out = BUF_INIT(64 << 20);
    enum status status;

    csv_trial_header(&out);
    status = store_each_trial(s, &filter, write_trial, &out, e);
    if (status == OK)
        status = write_stdout(&out, e);
    buf_release(&out);
    return status;
}

static enum status export_grid(struct store *s, int64_t run_id, const char *scorer, const char *db,
                               struct error *e)
{
    struct buf out = BUF_INIT(64 << 20);
    enum status status;
    struct grid g;

    if ((run_id == 0 && only_run(s, db, &run_id, e) != OK) ||
        grid_load(&g, s, run_id, scorer, e) != OK)
        return e->code;
    csv_grid(&out, &g);
    status = write_stdout(&out, e);
    grid_release(&g);
    buf_release(&out);
    return status;
}

static enum status write_text(void *context, const char *text, size_t n, struct error *e)
{
    (void)context;
    if (fwrite(text, 1, n, stdout) != n)
        return error_set(e, ERR_IO, "cannot write to stdout: %s", strerror(errno));
    return OK;
}

static enum status export_dump(const struct args *a, struct store *s, struct error *e)
{
    if (args_get(a, "run"))
        return error_set(e, ERR_USAGE, "--format dump is of the whole database: no --run");
    if (args_get(a, "scorer"))
        return error_set(e, ERR_USAGE, "--format dump has every scorer's verdicts: no --scorer");
    return store_dump(s, write_text, NULL, e);
}

static enum status export(const struct args *a, struct store *s, struct error *e) {
    const char *format = args_get(a, "format"); const char *scorer = args_get(a, "scorer");
    const char *db = args_get(a, "db");
    const char *run = args_get(a, "run");
    int64_t run_id = 0;

    if (run && parse_run(s, db, run, &run_id, e) != OK) return e->code;
    if (strcmp(format, "dump") == 0) return export_dump(a, s, e);
    if (strcmp(format, "trials") != 0 && strcmp(format, "grid") != 0) return error_set(
        e, ERR_USAGE, "--format \"%s\": must be trials, grid or dump", format);
    if (check_verdicts(s, db, run_id, scorer, false, e) != OK) return e->code;
    return strcmp(format, "trials") == 0 ? export_trials(s, run_id, scorer, e)
                                         : export_grid(s, run_id, scorer, db, e);
}

static int run(const struct args *a, struct error *e)
{
    enum status status;
    struct store *s;

    if (store_open(&s, args_get(a, "db"), STORE_READ, e) != OK)
        return EXIT_USAGE;
    status = export(a, s, e);
    store_close(s);
    if (status == OK)
        return EXIT_PASSED;
    return status == ERR_IO ? EXIT_INCOMPLETE : EXIT_USAGE; /* stdout may be a full disk */
}

const struct command command_export = {
    .name = "export",
    .positional = "",
    .summary = "trials or a grid as CSV on stdout",
    .options = options,
    .examples = "  needlegrid export --db results/demo.db > trials.csv\n"
                "  needlegrid export --db results/demo.db --run 2 --format grid > grid.csv\n",
    .run = run,
};
