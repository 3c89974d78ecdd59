#include "needlegrid/plan.h"

#include "needlegrid/layout.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sweep ---- */

const char *sweep_haystack(const struct sweep *s)
{
    if (!template_has_haystack(s->tpl))
        return "none";
    return s->haystack ? s->haystack : s->tpl->haystack ? s->tpl->haystack : "essays";
}

size_t sweep_depths(const struct sweep *s)
{
    return template_has_depth(s->tpl) ? s->n_depths : 1;
}

void sweep_task(const struct sweep *s, struct buf *out)
{
    buf_puts(out, s->tpl->task);
    if (s->distractors && *s->distractors != s->tpl->distractors)
        buf_printf(out, "-d%zu", *s->distractors);
    if (s->packed)
        buf_printf(out, "-packed");
}

static struct trial_options options_of(const struct sweep *s)
{
    struct trial_options o = trial_options_of(s->tpl);

    if (s->distractors)
        o.distractors = *s->distractors;
    if (s->packed) {
        o.depths = s->depths;
        o.n_depths = s->n_depths;
    }
    return o;
}

/* ---- haystacks ---- */

static enum status start_building(struct plan_source *s, const struct sweep *sweep,
                                  const struct tokenizer *tokenizer, struct error *e)
{
    struct trial_options o = options_of(sweep);

    return trial_builder_new(&s->builder, sweep->tpl, &o, s->tokens, tokenizer, e);
}

static enum status open_haystack(struct haystack **out, const struct sweep *sweep, const char *name,
                                 struct error *e)
{
    struct trial_options o = options_of(sweep);

    if (strcmp(name, "needles") == 0)
        return haystack_of_needles(out, sweep->tpl, trial_asked_keys(sweep->tpl, &o),
                                   trial_planted_keys(sweep->tpl, &o), e);
    if (sweep->haystack_field && os_has_suffix(name, ".jsonl"))
        return haystack_open_jsonl(out, name, sweep->haystack_field, e);
    return haystack_open(out, name, sweep->haystack_folder, e);
}

static enum status open_named(struct plan_source *s, const struct sweep *sweep, const char *name,
                              const struct tokenizer *tokenizer, struct error *e)
{
    if (template_has_haystack(sweep->tpl) &&
        (open_haystack(&s->haystack, sweep, name, e) != OK ||
         haystack_tokenize(&s->tokens, s->haystack, tokenizer, e) != OK))
        return e->code;
    return start_building(s, sweep, tokenizer, e);
}

static void close_source(struct plan_source *s)
{
    trial_builder_free(s->builder);
    haystack_tokens_free(s->tokens);
    haystack_free(s->haystack);
}

/* The haystack asked for, and a substitute for the lengths that it is too short for. */
static enum status open_sources(struct plan *p, const struct sweep *sweep,
                                const struct tokenizer *tokenizer, struct error *e)
{
    enum haystack_use use = HAYSTACK_AS_ASKED;

    if (open_named(&p->sources[0], sweep, sweep_haystack(sweep), tokenizer, e) != OK)
        return e->code;
    if (!p->sources[0].tokens)
        return OK;
    for (size_t i = 0; i < sweep->n_lengths && use == HAYSTACK_AS_ASKED; i++) {
        if (haystack_choose(p->sources[0].tokens, sweep->lengths[i], sweep->fill, &use, e) != OK)
            return e->code;
        if (use != HAYSTACK_AS_ASKED)
            p->substitute_from = sweep->lengths[i];
    }
    if (use == HAYSTACK_PROSE)
        return open_named(&p->sources[1], sweep, "prose", tokenizer, e);
    if (use == HAYSTACK_SHUFFLED) {
        if (haystack_shuffled(&p->sources[1].tokens, p->sources[0].tokens, e) != OK)
            return e->code;
        return start_building(&p->sources[1], sweep, tokenizer, e);
    }
    return OK;
}

static size_t source_of(const struct plan *p, size_t length)
{
    return p->substitute_from && length >= p->substitute_from ? 1 : 0;
}

static enum status check_lengths(struct plan *p, const struct sweep *sweep, struct error *e)
{
    for (size_t i = 0; i < sweep->n_lengths; i++) {
        size_t minimum;
        struct trial_builder *b = p->sources[source_of(p, sweep->lengths[i])].builder;
        if (trial_minimum_length(b, &minimum, e) != OK)
            return e->code;
        if (sweep->lengths[i] < minimum)
            return error_set(e, ERR_USAGE,
                             "context length %zu is too short: the minimum for prompt \"%s\" with "
                             "this tokenizer is %zu tokens",
                             sweep->lengths[i], sweep->tpl->name, minimum);
    }
    return OK;
}

/* ---- items ---- */

/* The trials of one sample in one haystack, laid out to be sorted. */
struct laid_out {
    struct plan_item item;
    struct layout layout;
};

struct group {
    struct laid_out *trials; /* [cap], the first n in use */
    size_t n;
    struct tokens last; /* the last prompt of the group before */
};

static enum status alloc_items(struct plan *p, struct group *g, const struct sweep *sweep,
                               struct error *e)
{
    enum { MOST = 10 * 1000 * 1000 };
    size_t depths = sweep_depths(sweep);
    size_t each;
    size_t n;

    if (!size_mul(sweep->n_lengths, depths, &each) || !size_mul(each, sweep->samples, &n) ||
        n > MOST)
        return error_set(e, ERR_USAGE,
                         "%zu lengths x %zu depths x %llu samples are too many trials: at most %d",
                         sweep->n_lengths, depths, (unsigned long long)sweep->samples, MOST);
    if (mem_alloc(&p->items, "the plan", e, n, sizeof(*p->items), 1, 1) != OK)
        return e->code;
    return mem_alloc(&g->trials, "the plan", e, each, sizeof(*g->trials), 1, 1);
}

static enum status lay_out_length(struct plan *p, struct group *g, const struct sweep *sweep,
                                  size_t length, uint64_t sample, struct error *e)
{
    size_t source = source_of(p, length);

    for (size_t d = 0; d < sweep_depths(sweep); d++) {
        struct laid_out *t = &g->trials[g->n++];
        double depth = template_has_depth(sweep->tpl) ? sweep->depths[d] : (double)NAN;
        t->item =
            (struct plan_item){.spec = {length, depth, sample, sweep->seed}, .source = source};
        if (trial_lay_out(p->sources[source].builder, &t->item.spec, &t->layout, e) != OK)
            return e->code;
        t->item.prompt_tokens = t->layout.prompt_tokens;
    }
    return OK;
}

/* Depth and length make the order total: NaN comes with NaN alone. */
static int walk_order(const void *a, const void *b)
{
    const struct laid_out *x = a;
    const struct laid_out *y = b;
    int order = layout_compare(&x->layout, &y->layout);

    if (order != 0)
        return order;
    if (x->item.spec.context_length != y->item.spec.context_length)
        return x->item.spec.context_length < y->item.spec.context_length ? -1 : 1;
    return x->item.spec.depth < y->item.spec.depth ? -1 : x->item.spec.depth > y->item.spec.depth;
}

/* The longest first: a haystack that grew would move in memory. */
static enum status add_group(struct plan *p, struct group *g, const struct sweep *sweep,
                             size_t source, uint64_t sample, struct error *e)
{
    struct segment last = {g->last.ids, g->last.n};
    struct layout before = {.segments = &last, .n = 1};
    const struct layout *previous = &before;

    g->n = 0;
    for (size_t l = sweep->n_lengths; l > 0; l--)
        if (source_of(p, sweep->lengths[l - 1]) == source &&
            lay_out_length(p, g, sweep, sweep->lengths[l - 1], sample, e) != OK)
            return e->code;
    if (g->n == 0)
        return OK;
    qsort(g->trials, g->n, sizeof(*g->trials), walk_order);
    for (size_t i = 0; i < g->n; i++) {
        struct laid_out *t = &g->trials[i];
        t->item.shared = layout_common(previous, &t->layout);
        previous = &t->layout;
        p->prompt_tokens += t->item.prompt_tokens;
        p->shared_tokens += t->item.shared;
        p->items[p->n++] = t->item;
    }
    g->last.n = 0;
    return layout_join(previous, &g->last, e);
}

static void group_release(struct group *g, size_t n)
{
    for (size_t i = 0; g->trials && i < n; i++)
        layout_release(&g->trials[i].layout);
    free(g->trials);
    tokens_release(&g->last);
}

static enum status add_items(struct plan *p, const struct sweep *sweep, struct error *e)
{
    struct group g = {.n = 0};
    enum status status = alloc_items(p, &g, sweep, e);

    for (size_t source = 0; source < 2; source++)
        for (uint64_t sample = 0; sample < sweep->samples && status == OK; sample++)
            status = add_group(p, &g, sweep, source, sample, e);
    group_release(&g, sweep->n_lengths * sweep_depths(sweep));
    return status;
}

enum status plan_make(struct plan *out, const struct sweep *sweep,
                      const struct tokenizer *tokenizer, struct error *e)
{
    enum status status;

    memset(out, 0, sizeof(*out));
    status = open_sources(out, sweep, tokenizer, e);
    if (status == OK)
        status = check_lengths(out, sweep, e);
    if (status == OK)
        status = add_items(out, sweep, e);
    if (status != OK)
        plan_release(out);
    return status;
}

void plan_release(struct plan *p)
{
    close_source(&p->sources[1]); /* it may borrow from the first */
    close_source(&p->sources[0]);
    free(p->items);
    memset(p, 0, sizeof(*p));
}

enum status plan_build(struct plan *p, size_t i, struct trial *out, struct error *e)
{
    const struct plan_item *item = &p->items[i];

    return trial_build(p->sources[item->source].builder, &item->spec, out, e);
}

const char *plan_haystack_name(const struct plan *p, size_t i)
{
    const struct haystack_tokens *ht = p->sources[p->items[i].source].tokens;

    return ht ? haystack_tokens_name(ht) : "none";
}

const char *plan_haystack_hash(const struct plan *p, size_t i)
{
    const struct haystack_tokens *ht = p->sources[p->items[i].source].tokens;

    return ht ? haystack_tokens_hash(ht) : "";
}
