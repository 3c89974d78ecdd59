/*
 * The store: one SQLite file that holds every run and every trial.
 *
 * WAL, application_id "NGRD", user_version migrations, one transaction a trial. A `run` is one
 * configuration under test (model, rule, task, template, haystack, seed, instruction set ...),
 * found again by its run_key; starting it again continues it. A trial is found by its trial_key,
 * which hashes all that affects prompt or answer; a key that already has an outcome of the model's
 * own is never written again, one that ended in an error is replaced. Several processes may write
 * one file.
 *
 * What the model was asked and said never changes; what other scorers say of it later is kept
 * beside (store_verdict.h), and so is the attention on the needle (store_attention.h).
 *
 * The views `trials` (one row a trial, run columns joined) and `grid` (one row a cell) are for
 * anyone with sqlite3; `sqlite3 FILE .schema` (src/store/schema.c) describes each column. A commit
 * survives kill -9; a power failure may take the last trials, which run again, never the file.
 *
 * One thread at a time uses a store; no walk's callback writes to the store it walks.
 *
 *     struct store *s;
 *     if (store_open(&s, "results/demo.db", STORE_WRITE, e) != OK) ...
 *     int64_t run_id;
 *     if (store_put_run(s, &run, &run_id, e) != OK) ...
 *     if (store_put_trial(s, run_id, &trial, e) != OK) ...
 *     store_close(s);
 */
#ifndef NEEDLEGRID_STORE_H
#define NEEDLEGRID_STORE_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_mode {
    STORE_READ,  /* the file must exist and is not changed; read-only folders will do */
    STORE_WRITE, /* made if missing, migrated if older */
};

struct store;

/*
 * Errors name the file: no such file (ERR_NOT_FOUND), not a needlegrid database (ERR_FORMAT), made
 * by a newer version (ERR_UNSUPPORTED, with both schema numbers), read-only or disk full (ERR_IO).
 */
NG_MUST_USE enum status store_open(struct store **out, const char *path, enum store_mode mode,
                                   struct error *e);
void store_close(struct store *s);

/* All strings borrowed from the caller; NULL is stored as NULL. */
struct run_record {
    int64_t run_id; /* out only */
    const char
        *run_key; /* hex SHA-256 of all that makes it this run (src/run/run.c: make_run_key) */
    const char *model_name;  /* general.name, or the file's name */
    const char *model_hash;  /* SHA-256 of the file */
    const char *backend;     /* "embedded" */
    const char *rule;        /* attention rule as run: "softmax", "ssmax", ... */
    const char *rule_detail; /* how the rule's scales came about, rope overrides: free text */
    const char *task;
    const char *template_name;
    const char *template_hash;
    const char *template_text;
    const char *haystack_name; /* as asked for */
    const char *tokenizer_hash;
    const char *isa;         /* instruction set of the kernels */
    int numerics;            /* revision of the engine's arithmetic */
    int64_t training_length; /* tokens; 0 if unknown */
    uint64_t seed;
    /* not part of the key */
    const char *model_path;
    const char *tool_version;
    const char *started_at; /* UTC, ISO 8601 */
    const char *settings;   /* JSON: every option as given */
};

struct attention_record;

struct trial_record {
    const char *trial_key; /* hex SHA-256 */
    const char *pair_key;  /* hex SHA-256: the same for every model and rule */
    int64_t context_length;
    double target_depth; /* percent; NaN where depth means nothing: NULL in the file */
    double actual_depth; /* percent; NaN likewise */
    int64_t sample;
    uint64_t seed;
    const char *haystack_name; /* the one in this prompt */
    const char *haystack_hash;
    int64_t prompt_tokens;
    int64_t haystack_tokens; /* of the prompt */
    int64_t max_tokens;      /* the generation reserve */
    int64_t question_at;     /* token index in the prompt */
    int64_t needle_at;       /* of the first needle asked for; 0 with needle_tokens 0: none */
    int64_t needle_tokens;
    const char *needle_key;
    const char *needles; /* JSON [[at,n,value_at,value_n,asked],...] in tokens, asked 0 or 1 */
    int64_t n_expected;
    const char *expected; /* the values asked for, joined by ", ": values have no commas */
    const char *decoys;   /* the values of the other needles, likewise; NULL = none */
    bool absent;          /* nothing was planted for the key that is asked for */
    const char *response; /* raw text of the answer */
    const char *outcome;  /* outcome_name() */
    bool counted;         /* in the denominator: outcome_counts() */
    const char *scorer;
    const char *scorer_hash; /* scorer_hash(): which rules, pattern and refusals judged */
    double score;
    bool has_logprob;
    double logprob;            /* mean natural-log probability per answer token, teacher-forced */
    int64_t worst_rank;        /* largest rank among them, 1 = all are the argmax; with logprob */
    const char *finish_reason; /* "stop", "length", ... */
    const char *excerpt;
    const char *error; /* message of a failed trial or scorer, or NULL */
    /* [n_attention] written with the trial; NULL when read: store_each_attention() */
    const struct attention_record *attention;
    size_t n_attention;
    /* timing and counters: not in the canonical dump */
    double latency_ms;
    int64_t evaluated_tokens;
    int64_t reused_tokens;
    const char *tool_version;
    const char *finished_at;
};

/* Finds the run by its key or inserts it. */
NG_MUST_USE enum status store_put_run(struct store *s, const struct run_record *run,
                                      int64_t *run_id, struct error *e);

/* True if the key has an outcome that counts (errors run again). */
NG_MUST_USE enum status store_has_trial(struct store *s, const char *trial_key, bool *done,
                                        struct error *e);
/* One transaction: the trial, its attention, and the end of what stood under its key. */
NG_MUST_USE enum status store_put_trial(struct store *s, int64_t run_id,
                                        const struct trial_record *trial, struct error *e);

#endif
