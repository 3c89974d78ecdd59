/*
 * The plan of a sweep: every trial, in the order that reuses the most of the KV cache.
 *
 * The prompts of a sweep form a prefix tree: those of one sample share the haystack up to the first
 * place where their needles differ, and those with the same needles there share these and more. A
 * walk over that tree (layout_compare) evaluates each of its edges once, and the session's cache
 * does the rest. Samples follow one another, so that a haystack is made once.
 *
 *     struct plan p;
 *     if (plan_make(&p, &sweep, tokenizer, e) != OK) ...
 *     for (size_t i = 0; i < p.n; i++)
 *         plan_build(&p, i, &trial, e);
 *     plan_release(&p);
 */
#ifndef NEEDLEGRID_PLAN_H
#define NEEDLEGRID_PLAN_H

#include "needlegrid/error.h"
#include "needlegrid/haystack.h"
#include "needlegrid/template.h"
#include "needlegrid/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to sweep over, the model apart. */
struct sweep {
    const struct prompt_template *tpl;
    const char *haystack; /* as haystack_open() takes it, or "needles"; NULL = sweep_haystack() */
    const char *haystack_field;  /* of a .jsonl haystack; NULL = "text" */
    const char *haystack_folder; /* where the shipped ones lie */
    enum haystack_fill fill;
    const size_t *distractors; /* instead of the template's; NULL = those */
    bool packed;               /* one prompt with a needle at each depth, a question for each */
    const size_t *lengths;     /* [n_lengths] tokens, rising */
    size_t n_lengths;
    const double *depths; /* [n_depths] percent, rising; one of NaN stands for tasks without */
    size_t n_depths;
    uint64_t samples;
    uint64_t seed;
};

/* The haystack asked for, else the template's, else "essays"; "none" for tasks without one. */
const char *sweep_haystack(const struct sweep *s);
/* How many depths the task is swept over: 1 where depth means nothing. */
size_t sweep_depths(const struct sweep *s);
/* The task as results are stored: the template's, with "-d6" behind for 6 distractors where that is
 * not its own number, and "-packed" if it is. */
void sweep_task(const struct sweep *s, struct buf *out);

struct plan_item {
    struct trial_spec spec; /* depth is NaN where it means nothing */
    size_t source;          /* index into the plan's sources */
    size_t shared;          /* tokens in common with the item before */
    size_t prompt_tokens;
};

/* One haystack in use: the one asked for, or its substitute where that is too short. */
struct plan_source {
    struct haystack *haystack; /* NULL for a shuffled one, which stands on the first, and none */
    struct haystack_tokens *tokens; /* NULL = the task has no haystack */
    struct trial_builder *builder;
};

struct plan {
    struct plan_item *items; /* [n] in order */
    size_t n;
    struct plan_source sources[2]; /* 0: as asked for; 1: the substitute, if any */
    size_t substitute_from;        /* lengths from here on use it, tokens; 0 = none do */
    uint64_t prompt_tokens;        /* of all trials */
    uint64_t shared_tokens;        /* of these, found in the cache */
};

/*
 * A length under the minimum is ERR_USAGE and names the minimum; nothing is planned then. Borrows
 * the sweep's template and depths, and the tokenizer, until plan_release().
 */
NG_MUST_USE enum status plan_make(struct plan *out, const struct sweep *sweep,
                                  const struct tokenizer *tokenizer, struct error *e);
void plan_release(struct plan *p);

/* Builds the trial of item i into *out (zeroed, or built before: its memory is used again). */
NG_MUST_USE enum status plan_build(struct plan *p, size_t i, struct trial *out, struct error *e);

/* The haystack of item i, by name and hash; "none" and "" without one. Borrowed from the plan. */
const char *plan_haystack_name(const struct plan *p, size_t i);
const char *plan_haystack_hash(const struct plan *p, size_t i);

#endif
