#include "needlegrid/plan.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- haystacks ---- */

static enum status start_building(struct plan_source *s, const struct sweep *sweep,
                                  const struct tokenizer *tokenizer, struct error *e)
{
    return trial_builder_new(&s->builder, sweep->tpl, s->tokens, tokenizer, e);
}

static enum status open_named(struct plan_source *s, const struct sweep *sweep, const char *name,
                              const struct tokenizer *tokenizer, struct error *e)
{
    if (haystack_open(&s->haystack, name, sweep->haystack_folder, e) != OK ||
        haystack_tokenize(&s->tokens, s->haystack, tokenizer, e) != OK)
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

    if (open_named(&p->sources[0], sweep, sweep->haystack, tokenizer, e) != OK)
        return e->code;
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

/* ---- items ---- */

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

static enum status alloc_items(struct plan *p, const struct sweep *sweep, struct error *e)
{
    size_t n;

    if (!size_mul(sweep->n_lengths, sweep->n_depths, &n) || !size_mul(n, sweep->samples, &n) ||
        n > 100 * 1000 * 1000)
        return error_set(e, ERR_USAGE,
                         "%zu lengths x %zu depths x %llu samples are too many trials",
                         sweep->n_lengths, sweep->n_depths, (unsigned long long)sweep->samples);
    return mem_alloc(&p->items, "the plan", e, n, sizeof(*p->items), 1, 1);
}

static enum status add_items(struct plan *p, const struct sweep *sweep, size_t length,
                             uint64_t sample, struct trial *t, struct error *e)
{
    for (size_t d = 0; d < sweep->n_depths; d++) {
        struct plan_item *item = &p->items[p->n];
        item->spec = (struct trial_spec){length, sweep->depths[d], sample, sweep->seed};
        item->source = source_of(p, length);
        if (trial_build(p->sources[item->source].builder, &item->spec, t, e) != OK)
            return e->code;
        item->needle_at = t->needle_at;
        item->prompt_tokens = t->prompt.n;
        p->n++;
    }
    return OK;
}

/* The walk over the prefix tree. Depth and length make the order total. */
static int walk_order(const void *a, const void *b)
{
    const struct plan_item *x = a;
    const struct plan_item *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->spec.sample != y->spec.sample)
        return x->spec.sample < y->spec.sample ? -1 : 1;
    if (x->needle_at != y->needle_at)
        return x->needle_at > y->needle_at ? -1 : 1;
    if (x->spec.context_length != y->spec.context_length)
        return x->spec.context_length < y->spec.context_length ? -1 : 1;
    return x->spec.depth < y->spec.depth ? -1 : x->spec.depth > y->spec.depth;
}

static size_t common_prefix(const struct tokens *a, const struct tokens *b)
{
    size_t n = 0;

    while (n < a->n && n < b->n && a->ids[n] == b->ids[n])
        n++;
    return n;
}

/* Builds the prompts in order and notes what neighbours share. */
static enum status measure_sharing(struct plan *p, struct error *e)
{
    struct trial t[2] = {{.needle_at = 0}, {.needle_at = 0}};
    enum status status = OK;

    for (size_t i = 0; i < p->n && status == OK; i++) {
        status = plan_build(p, i, &t[i % 2], e);
        if (status != OK)
            break;
        p->items[i].shared = i ? common_prefix(&t[0].prompt, &t[1].prompt) : 0;
        p->prompt_tokens += p->items[i].prompt_tokens;
        p->shared_tokens += p->items[i].shared;
    }
    trial_release(&t[0]);
    trial_release(&t[1]);
    return status;
}

enum status plan_make(struct plan *out, const struct sweep *sweep,
                      const struct tokenizer *tokenizer, struct error *e)
{
    struct trial t = {.needle_at = 0};
    enum status status;

    memset(out, 0, sizeof(*out));
    status = open_sources(out, sweep, tokenizer, e);
    if (status == OK)
        status = check_lengths(out, sweep, e);
    if (status == OK)
        status = alloc_items(out, sweep, e);
    for (size_t l = 0; l < sweep->n_lengths && status == OK; l++) {
        for (uint64_t s = 0; s < sweep->samples && status == OK; s++)
            status = add_items(out, sweep, sweep->lengths[l], s, &t, e);
    }
    trial_release(&t);
    if (status == OK) {
        qsort(out->items, out->n, sizeof(*out->items), walk_order);
        status = measure_sharing(out, e);
    }
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

const struct haystack_tokens *plan_haystack(const struct plan *p, size_t i)
{
    return p->sources[p->items[i].source].tokens;
}
