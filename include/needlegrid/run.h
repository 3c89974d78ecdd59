/*
 * Running a sweep: each trial of a plan through a backend, scored, and stored before the next.
 *
 * Trials already in the store are skipped, so an interrupted run goes on where it stopped. Two
 * processes may run into one file: each trial is stored once, though both may have run it.
 *
 *     struct run_request r = {.sweep = &sweep, .backend = b, .store = s, ...};
 *     struct run_result result;
 *     if (run_sweep(&r, &result, e) != OK) ...
 */
#ifndef NEEDLEGRID_RUN_H
#define NEEDLEGRID_RUN_H

#include "needlegrid/backend.h"
#include "needlegrid/error.h"
#include "needlegrid/hash.h"
#include "needlegrid/plan.h"
#include "needlegrid/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What trial i of a plan is, whatever the model and the rule: trial_record.pair_key. */
NG_MUST_USE enum status run_pair_key(char out[HASH_HEX_SIZE], const struct sweep *sweep,
                                     const struct plan *plan, size_t item,
                                     const struct tokenizer *tokenizer, struct error *e);

struct run_progress {
    const char *model_name;
    const char *rule;
    size_t done; /* trials finished, those found in the store included */
    size_t total;
    size_t skipped; /* found in the store */
    size_t errors;
    double elapsed_s;
    double remaining_s; /* estimated from the tokens still to be evaluated; negative = unknown */
};

typedef void run_progress_fn(void *context, const struct run_progress *p);

struct run_request {
    const struct sweep *sweep;
    struct plan *plan;       /* made from the sweep with the backend's tokenizer */
    struct backend *backend; /* prepared for the longest length */
    struct store *store;
    const char *refusals;  /* scorer_spec.refusals: prompts/refusals.txt */
    bool attention_scores; /* each head's attention on the needles asked for is stored as well */
    const char *tool_version;
    const char *settings;      /* JSON: every option as given, stored with the run */
    run_progress_fn *progress; /* or NULL */
    void *progress_context;
};

struct run_result {
    int64_t run_id;
    size_t trials;             /* in the plan */
    size_t skipped;            /* found in the store */
    size_t errors;             /* trials without an outcome of the model's own */
    uint64_t prompt_tokens;    /* of the trials that ran */
    uint64_t evaluated_tokens; /* answers included */
    uint64_t reused_tokens;
    double seconds;
};

/*
 * ERR_INTERRUPTED after Ctrl-C, with every finished trial stored; *result is filled in any case
 * once the run's row exists.
 */
NG_MUST_USE enum status run_sweep(const struct run_request *r, struct run_result *result,
                                  struct error *e);

#endif
