/* needlegrid heatmap: grids of accuracy in the terminal. */
#include "cli_impl.h"

#include "needlegrid/grid.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/term.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"run", "ID", NULL, "a run in it; default: all", true},
    {"scorer", "NAME", NULL, "by this scorer's verdicts (`needlegrid score`)", false},
    {"color", "WHEN", "auto", "auto, always, 256 or never; NO_COLOR counts as never", false},
    {"n", NULL, NULL, "show hits/trials in each cell", false},
    {"interval", NULL, NULL, "show each cell's 95% Wilson interval", false},
    {"width", "COLUMNS", NULL, "to fit in; default: the terminal's, or 80", false},
    {NULL, NULL, NULL, NULL, false},
};

struct grids {
    struct grid *items; /* [n] */
    size_t n, cap;
    struct store *store;
    const char *scorer; /* NULL = the trials' own */
};

static enum status add_grid(struct grids *g, int64_t run_id, struct error *e)
{
    if (mem_grow(&g->items, &g->cap, g->n + 1, sizeof(*g->items), "grids", e) != OK ||
        grid_load(&g->items[g->n], g->store, run_id, g->scorer, e) != OK)
        return e->code;
    g->n++;
    return OK;
}

struct run_ids {
    int64_t *ids;
    size_t n, cap;
};

static enum status note_run(void *context, const struct run_record *run, struct error *e)
{
    struct run_ids *r = context;

    if (mem_grow(&r->ids, &r->cap, r->n + 1, sizeof(*r->ids), "run ids", e) != OK)
        return e->code;
    r->ids[r->n++] = run->run_id;
    return OK;
}

static enum status load_all(struct grids *g, struct error *e)
{
    struct run_ids runs = {.n = 0};
    enum status status = store_each_run(g->store, note_run, &runs, e);

    for (size_t i = 0; i < runs.n && status == OK; i++)
        status = add_grid(g, runs.ids[i], e);
    free(runs.ids);
    return status;
}

static enum status load_grids(struct grids *g, const struct args *a, struct error *e)
{
    size_t n;
    const char *const *ids = args_all(a, "run", &n);

    if (store_open(&g->store, args_get(a, "db"), STORE_READ, e) != OK)
        return e->code;
    if (n == 0)
        return check_verdicts(g->store, args_get(a, "db"), 0, g->scorer, false, e) == OK
                   ? load_all(g, e)
                   : e->code;
    for (size_t i = 0; i < n; i++) {
        int64_t id;
        if (parse_run(g->store, args_get(a, "db"), ids[i], &id, e) != OK ||
            check_verdicts(g->store, args_get(a, "db"), id, g->scorer, false, e) != OK ||
            add_grid(g, id, e) != OK)
            return e->code;
    }
    return OK;
}

static enum status read_color(const char *when, enum term_color *out, struct error *e)
{
    const char *no_color = getenv("NO_COLOR"); /* https://no-color.org */
    const char *colorterm = getenv("COLORTERM");
    bool truecolor =
        colorterm && (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0);

    if (strcmp(when, "never") == 0)
        *out = TERM_ASCII;
    else if (strcmp(when, "256") == 0)
        *out = TERM_256;
    else if (strcmp(when, "always") == 0)
        *out = TERM_TRUECOLOR;
    else if (strcmp(when, "auto") != 0)
        return error_set(e, ERR_USAGE, "--color \"%s\": must be auto, always, 256 or never", when);
    else if ((no_color && *no_color) || os_terminal_width(1) == 0)
        *out = TERM_ASCII;
    else
        *out = truecolor ? TERM_TRUECOLOR : TERM_256;
    return OK;
}

static enum status read_style(const struct args *a, struct term_style *style, struct error *e)
{
    uint64_t width = (uint64_t)os_terminal_width(1);

    if (width == 0)
        width = 80;
    if (args_get(a, "width") &&
        parse_u64("width", args_get(a, "width"), 20, 10000, &width, e) != OK)
        return e->code;
    style->width = (int)width;
    style->show_n = args_flag(a, "n");
    style->show_interval = args_flag(a, "interval");
    return read_color(args_get(a, "color"), &style->color, e);
}

static int run(const struct args *a, struct error *e)
{
    struct term_style style = {.color = TERM_ASCII};
    struct buf out = BUF_INIT(64 << 20);
    struct grids g = {.scorer = args_get(a, "scorer")};
    int code = EXIT_USAGE;

    if (read_style(a, &style, e) == OK && load_grids(&g, a, e) == OK) {
        if (g.n == 0)
            no_runs(args_get(a, "db"), e);
        else {
            term_heatmaps(&out, g.items, g.n, &style);
            code = write_stdout(&out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
        }
    }
    buf_release(&out);
    for (size_t i = 0; i < g.n; i++)
        grid_release(&g.items[i]);
    free(g.items);
    store_close(g.store);
    return code;
}

const struct command command_heatmap = {
    .name = "heatmap",
    .positional = "",
    .summary = "grids of accuracy by context length and depth, in the terminal",
    .options = options,
    .examples = "  needlegrid heatmap --db results/demo.db\n"
                "  needlegrid heatmap --db results/demo.db --run 2 --interval\n",
    .run = run,
};
