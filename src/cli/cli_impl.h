/*
 * The command line: one struct per command, one table of options per command. Parsing, `--help`
 * and the defaults all come from the table.
 */
#ifndef NEEDLEGRID_CLI_IMPL_H
#define NEEDLEGRID_CLI_IMPL_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* docs/protocol.md, "Exit status"; 1 is kept for gates */
enum exit_code { EXIT_PASSED = 0, EXIT_USAGE = 2, EXIT_INCOMPLETE = 3 };

struct option {
    const char *name;     /* without the dashes */
    const char *argument; /* what stands for its value in the help; NULL for a flag */
    const char *fallback; /* its value when not given; NULL = none */
    const char *help;
    bool repeatable;
};

struct args;

struct command {
    const char *name;
    const char *positional; /* shown in the usage line, e.g. "MODEL"; "" = none */
    size_t min_positional, max_positional;
    const char *summary;
    const char *examples;         /* lines for the end of the help */
    const struct option *options; /* ended by a NULL name */
    /* Returns an exit code; on one other than 0 with e->code set, main prints the message. */
    int (*run)(const struct args *a, struct error *e);
};

extern const struct command command_run, command_heatmap, command_summary, command_show,
    command_export, command_attention, command_score, command_plan, command_info, command_list,
    command_reconstruct;

extern const char needlegrid_version[];

/* ---- options.c ---- */

/* Parses argv after the command's name, and --config's file beneath it. Caller frees with
 * args_free(). */
NG_MUST_USE enum status args_parse(struct args **out, const struct command *c, int argc,
                                   char **argv, struct error *e);
void args_free(struct args *a);
bool args_wants_help(const struct args *a);
void print_help(const struct command *c);

/* The value (the last one given, or the fallback); NULL if there is none. Borrowed from `a`. */
const char *args_get(const struct args *a, const char *name);
bool args_flag(const struct args *a, const char *name);
/* All values of a repeatable option: *n of them, borrowed. */
const char *const *args_all(const struct args *a, const char *name, size_t *n);
size_t args_positional_count(const struct args *a);
const char *args_positional(const struct args *a, size_t i);
/* Every option with its value as one JSON object, and back. `name` stands for it in messages. */
void args_json(const struct args *a, struct buf *out);
NG_MUST_USE enum status args_from_json(struct args **out, const struct command *c, const char *text,
                                       const char *name, struct error *e);

/* ---- numbers.c: each error names option and text ---- */

/* "256", "4k", "128K" (x 1024), "1M"; lists "256,1k"; ranges "1k:8k:4" (from, to, how many).
 * Sorted, unique. */
NG_MUST_USE enum status parse_lengths(const char *option, const char *text, size_t **out, size_t *n,
                                      struct error *e);
/* Percent, 0 to 100: "0,50,100" or "0:100:11". Sorted, unique. */
NG_MUST_USE enum status parse_depths(const char *option, const char *text, double **out, size_t *n,
                                     struct error *e);
NG_MUST_USE enum status parse_u64(const char *option, const char *text, uint64_t min, uint64_t max,
                                  uint64_t *out, struct error *e);
NG_MUST_USE enum status parse_double(const char *option, const char *text, double min, double max,
                                     double *out, struct error *e);

/* ---- runs.c ---- */

struct store;

/* The run that --run's text names; ERR_NOT_FOUND, naming the runs there are, if it is not in `db`.
 */
NG_MUST_USE enum status parse_run(struct store *store, const char *db, const char *text,
                                  int64_t *out, struct error *e);
/* The database's run, if it has just one. */
NG_MUST_USE enum status only_run(struct store *store, const char *db, int64_t *out,
                                 struct error *e);

/* ---- verdicts.c ---- */

/*
 * That --scorer's NAME, if there is one, has judged trials of the run (0 = all). ERR_NOT_FOUND if
 * it has judged none, or, unless `failures_too`, could not judge any; says on stderr how many
 * trials have no verdict by it.
 */
NG_MUST_USE enum status check_verdicts(struct store *store, const char *db, int64_t run_id,
                                       const char *scorer, bool failures_too, struct error *e);

NG_MUST_USE enum status parse_trial(const char *text, int64_t *out, struct error *e);
/* ERR_NOT_FOUND, with the way to make or find one. */
enum status no_runs(const char *db, struct error *e);
enum status no_trial(const char *db, int64_t trial_id, struct error *e);

/* ---- paths.c ---- */

/*
 * The folder that holds prompts/, haystacks/ and models/: --data if given, else beside the program
 * or in PREFIX/share/needlegrid. Caller frees.
 */
NG_MUST_USE enum status data_folder(const char *given, char **out, struct error *e);
/* "folder/name" in fresh memory; caller frees; NULL and an error without memory. */
char *path_join(const char *folder, const char *name, struct error *e);

/* Writes the buffer to stdout; ERR_IO if it cannot be written whole. */
NG_MUST_USE enum status write_stdout(struct buf *b, struct error *e);
/* ERR_IO if what was printed so far did not reach its place, e.g. a full disk. */
NG_MUST_USE enum status flush_stdout(struct error *e);

#endif
