#include "needlegrid/heads.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
    struct heads *h;
    const struct heads_filter *filter;
    size_t cap_heads, cap_tops, cap_fading;
    int64_t trial_id; /* the trial whose rows are coming in */
    size_t row;       /* of that trial: which head comes next */
    double trial_max; /* sum over its heads */
    double sharpest;
};

static struct fading_row *find_length(struct loading *l, int64_t length, struct error *e)
{
    struct heads *h = l->h;

    for (size_t i = 0; i < h->n_fading; i++) {
        if (h->fading[i].context_length == length)
            return &h->fading[i];
    }
    if (mem_grow(&h->fading, &l->cap_fading, h->n_fading + 1, sizeof(*h->fading), "context lengths",
                 e) != OK)
        return NULL;
    h->fading[h->n_fading] = (struct fading_row){.context_length = length};
    return &h->fading[h->n_fading++];
}

/* The trial's rows are all in: its largest weights join those of its length. */
static enum status end_trial(struct loading *l, struct error *e)
{
    struct fading_row *f;

    if (l->row == 0)
        return OK;
    f = find_length(l, l->h->tops[l->h->n_trials - 1].context_length, e);
    if (!f)
        return e->code;
    f->n_trials++;
    f->mean_max += l->trial_max / (double)l->row;
    f->top_max += l->sharpest;
    return OK;
}

static enum status begin_trial(struct loading *l, const struct attention_row *r, struct error *e)
{
    struct heads *h = l->h;
    struct top_head *top;

    if (end_trial(l, e) != OK ||
        mem_grow(&h->tops, &l->cap_tops, h->n_trials + 1, sizeof(*h->tops), "trials", e) != OK)
        return e->code;
    top = &h->tops[h->n_trials++];
    *top = (struct top_head){.trial_id = r->trial_id,
                             .context_length = r->context_length,
                             .target_depth = r->target_depth,
                             .sample = r->sample,
                             .needle_mass = -1};
    snprintf(top->outcome, sizeof(top->outcome), "%s", r->outcome);
    l->trial_id = r->trial_id;
    l->row = 0;
    l->trial_max = 0;
    l->sharpest = 0;
    return OK;
}

/* Heads come in the same order for every trial: the first one lays them out. */
static enum status add_head(struct loading *l, const struct attention_record *a, struct error *e)
{
    struct heads *h = l->h;
    struct head_mean *m;

    if (l->row == h->n_heads) {
        if (h->n_trials > 1)
            return error_set(e, ERR_FORMAT, "trial %lld has scores of more heads than the first",
                             (long long)l->trial_id);
        if (mem_grow(&h->heads, &l->cap_heads, h->n_heads + 1, sizeof(*h->heads), "heads", e) != OK)
            return e->code;
        h->heads[h->n_heads++] = (struct head_mean){.layer = a->layer, .head = a->head};
    }
    m = &h->heads[l->row++];
    if (m->layer != a->layer || m->head != a->head)
        return error_set(e, ERR_FORMAT, "trial %lld has scores of other heads than the first",
                         (long long)l->trial_id);
    m->needle_mass += a->needle_mass;
    m->value_mass += a->value_mass;
    m->max += a->max;
    m->entropy += a->entropy;
    l->trial_max += a->max;
    l->sharpest = a->max > l->sharpest ? a->max : l->sharpest;
    return OK;
}

static enum status take_row(void *context, const struct attention_row *r, struct error *e)
{
    struct loading *l = context;
    struct top_head *top;

    if (l->filter->context_length && r->context_length != l->filter->context_length)
        return OK;
    if ((l->h->n_trials == 0 || r->trial_id != l->trial_id) && begin_trial(l, r, e) != OK)
        return e->code;
    if (add_head(l, &r->a, e) != OK)
        return e->code;
    top = &l->h->tops[l->h->n_trials - 1];
    if (r->a.needle_mass > top->needle_mass) {
        top->needle_mass = r->a.needle_mass;
        top->value_mass = r->a.value_mass;
        top->layer = r->a.layer;
        top->head = r->a.head;
    }
    return OK;
}

static int by_needle_mass(const void *a, const void *b)
{
    const struct head_mean *x = a;
    const struct head_mean *y = b;

    if (x->needle_mass != y->needle_mass)
        return x->needle_mass > y->needle_mass ? -1 : 1;
    return x->layer != y->layer ? x->layer - y->layer : x->head - y->head;
}

static int by_length(const void *a, const void *b)
{
    int64_t x = ((const struct fading_row *)a)->context_length;
    int64_t y = ((const struct fading_row *)b)->context_length;

    return x < y ? -1 : x > y;
}

static void make_means(struct heads *h)
{
    double n = (double)h->n_trials;

    for (size_t i = 0; i < h->n_heads; i++) {
        h->heads[i].needle_mass /= n;
        h->heads[i].value_mass /= n;
        h->heads[i].max /= n;
        h->heads[i].entropy /= n;
    }
    for (size_t i = 0; i < h->n_fading; i++) {
        h->fading[i].mean_max /= (double)h->fading[i].n_trials;
        h->fading[i].top_max /= (double)h->fading[i].n_trials;
    }
    qsort(h->heads, h->n_heads, sizeof(*h->heads), by_needle_mass);
    qsort(h->fading, h->n_fading, sizeof(*h->fading), by_length);
}

enum status heads_load(struct heads *out, struct store *s, const struct heads_filter *filter,
                       struct error *e)
{
    struct trial_filter trials = {.run_id = filter->run_id, .trial_id = filter->trial_id};
    struct loading l = {.h = out, .filter = filter};
    enum status status;

    memset(out, 0, sizeof(*out));
    status = store_each_attention(s, &trials, take_row, &l, e);
    if (status == OK)
        status = end_trial(&l, e);
    if (status == OK && out->n_trials == 0)
        status = error_set(e, ERR_NOT_FOUND,
                           "no attention scores there: `needlegrid run --attention-scores` stores "
                           "them, for the trials that it runs, where a needle is asked for");
    if (status != OK) {
        heads_release(out);
        return status;
    }
    make_means(out);
    return OK;
}

void heads_release(struct heads *h)
{
    free(h->heads);
    free(h->tops);
    free(h->fading);
    memset(h, 0, sizeof(*h));
}

double fading_softmax(double n, double gap)
{
    return 1 / (1 + (n - 1) * exp(-gap));
}

double fading_ssmax(double n, double gap, double s)
{
    return 1 / (1 + (n - 1) * pow(n, -s * gap));
}
