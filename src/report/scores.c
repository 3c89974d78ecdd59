#include "needlegrid/scores.h"

#include "needlegrid/mem.h"
#include "needlegrid/store_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIALS = 1 << 30 }; /* indices are 32 bits */

/* What the store says, before samples and depths have indices. */
struct loading {
    struct scores *scores;
    bool found;
    int64_t *samples; /* [n of scores->items] as stored */
    double *depths;   /* likewise; NaN = none */
    size_t items_cap, samples_cap, depths_cap, lengths_cap, outcomes_cap;
};

static char *copy(const char *text, struct error *e)
{
    return mem_strndup(text ? text : "", text ? strlen(text) : 0, e);
}

static enum status take_run(void *context, const struct run_record *run, struct error *e)
{
    struct loading *l = context;
    struct scores *s = l->scores;

    if (run->run_id != s->run_id || l->found)
        return OK;
    l->found = true;
    s->training_length = run->training_length;
    if (!(s->model = copy(run->model_name, e)) || !(s->rule = copy(run->rule, e)) ||
        !(s->task = copy(run->task, e)) || !(s->template_name = copy(run->template_name, e)) ||
        !(s->haystack = copy(run->haystack_name, e)))
        return e->code;
    return OK;
}

static enum status count_outcome(struct loading *l, const struct score_row *row, struct error *e)
{
    struct scores *s = l->scores;
    struct outcome_count *o = s->outcomes;
    size_t i = 0, n = strlen(row->outcome);

    if (n >= sizeof(o->name))
        return error_set(e, ERR_FORMAT, "run %lld holds an unknown outcome \"%.40s\"",
                         (long long)s->run_id, row->outcome);
    while (i < s->n_outcomes &&
           (o[i].counted != row->counted || strcmp(o[i].name, row->outcome) != 0))
        i++;
    if (i == s->n_outcomes) {
        if (mem_grow(&s->outcomes, &l->outcomes_cap, i + 1, sizeof(*o), "outcomes", e) != OK)
            return e->code;
        s->outcomes[i] = (struct outcome_count){.counted = row->counted};
        memcpy(s->outcomes[i].name, row->outcome, n + 1);
        s->n_outcomes++;
    }
    s->outcomes[i].n++;
    return OK;
}

static enum status note_length(struct loading *l, int64_t length, struct error *e)
{
    struct scores *s = l->scores;

    if (s->n_lengths > 0 && s->lengths[s->n_lengths - 1] == length)
        return OK; /* they come in order */
    if (mem_grow(&s->lengths, &l->lengths_cap, s->n_lengths + 1, sizeof(*s->lengths), "lengths",
                 e) != OK)
        return e->code;
    s->lengths[s->n_lengths++] = length;
    return OK;
}

static enum status take_score(void *context, const struct score_row *row, struct error *e)
{
    struct loading *l = context;
    struct scores *s = l->scores;
    size_t need = s->n + 1;

    if (count_outcome(l, row, e) != OK || note_length(l, row->context_length, e) != OK)
        return e->code;
    if (!row->counted)
        return OK;
    if (need > MAX_TRIALS)
        return error_set(e, ERR_LIMIT, "run %lld has more than %d trials", (long long)s->run_id,
                         MAX_TRIALS);
    if (mem_grow(&s->items, &l->items_cap, need, sizeof(*s->items), "scores", e) != OK ||
        mem_grow(&l->samples, &l->samples_cap, need, sizeof(*l->samples), "scores", e) != OK ||
        mem_grow(&l->depths, &l->depths_cap, need, sizeof(*l->depths), "scores", e) != OK)
        return e->code;
    l->samples[s->n] = row->sample;
    l->depths[s->n] = row->target_depth;
    s->items[s->n++] = (struct score){
        .length = (uint32_t)(s->n_lengths - 1), .score = row->score, .logprob = row->logprob};
    return OK;
}

static int by_sample(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int by_depth(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The distinct values of a sorted array, in place; returns how many. */
static size_t unique(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    char *at = array;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || compare(at + i * size, at + (kept - 1) * size) != 0)
            memmove(at + kept++ * size, at + i * size, size);
    }
    return kept;
}

static enum status index_samples(struct loading *l, struct error *e)
{
    struct scores *s = l->scores;
    int64_t *distinct;

    if (mem_alloc(&distinct, "samples", e, s->n, sizeof(*distinct), 1, 1) != OK)
        return e->code;
    if (s->n > 0)
        memcpy(distinct, l->samples, s->n * sizeof(*distinct));
    qsort(distinct, s->n, sizeof(*distinct), by_sample);
    s->n_samples = unique(distinct, s->n, sizeof(*distinct), by_sample);
    for (size_t i = 0; i < s->n; i++) {
        const int64_t *at =
            bsearch(&l->samples[i], distinct, s->n_samples, sizeof(*distinct), by_sample);
        s->items[i].sample = (uint32_t)(at - distinct);
    }
    free(distinct);
    return OK;
}

static enum status index_depths(struct loading *l, struct error *e)
{
    struct scores *s = l->scores;
    size_t n = 0;

    if (mem_alloc(&s->depths, "depths", e, s->n, sizeof(*s->depths), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < s->n; i++) {
        if (!isnan(l->depths[i]))
            s->depths[n++] = l->depths[i];
    }
    qsort(s->depths, n, sizeof(*s->depths), by_depth);
    s->n_depths = unique(s->depths, n, sizeof(*s->depths), by_depth);
    for (size_t i = 0; i < s->n; i++) {
        const double *at = isnan(l->depths[i]) ? NULL
                                               : bsearch(&l->depths[i], s->depths, s->n_depths,
                                                         sizeof(*s->depths), by_depth);
        s->items[i].depth = at ? (uint32_t)(at - s->depths) : SCORE_NO_DEPTH;
    }
    return OK;
}

static enum status load(struct loading *l, struct store *store, struct error *e)
{
    struct scores *s = l->scores;
    enum status status = store_each_run(store, take_run, l, e);

    if (status == OK && !l->found)
        return error_set(e, ERR_NOT_FOUND, "no run %lld in this database", (long long)s->run_id);
    if (status == OK)
        status = store_each_score(store, s->run_id, s->scorer, take_score, l, e);
    if (status == OK)
        status = index_samples(l, e);
    return status == OK ? index_depths(l, e) : status;
}

enum status scores_load(struct scores *out, struct store *s, int64_t run_id, const char *scorer,
                        struct error *e)
{
    struct loading l = {.scores = out};
    enum status status = OK;

    memset(out, 0, sizeof(*out));
    out->run_id = run_id;
    if (scorer && !(out->scorer = copy(scorer, e)))
        status = e->code;
    if (status == OK)
        status = load(&l, s, e);
    free(l.samples);
    free(l.depths);
    if (status != OK)
        scores_release(out);
    return status;
}

void scores_release(struct scores *s)
{
    free(s->model);
    free(s->rule);
    free(s->task);
    free(s->template_name);
    free(s->haystack);
    free(s->scorer);
    free(s->lengths);
    free(s->depths);
    free(s->items);
    free(s->outcomes);
    memset(s, 0, sizeof(*s));
}

size_t scores_by_sample(const struct scores *s, size_t length, double *sum, double *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_samples; i++)
        sum[i] = count[i] = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (length == SCORE_ALL_LENGTHS || s->items[i].length == length) {
            sum[s->items[i].sample] += s->items[i].score;
            count[s->items[i].sample] += 1;
        }
    }
    for (size_t i = 0; i < s->n_samples; i++) {
        if (count[i] > 0) {
            sum[kept] = sum[i];
            count[kept++] = count[i];
        }
    }
    return kept;
}
