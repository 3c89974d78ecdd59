/* Layouts of trials: budget, haystack, cuts, question. */
#include "trial_impl.h"

#include "needlegrid/mem.h"

#include <math.h>

size_t trial_fixed_tokens(const struct trial_builder *b)
{
    return b->opening.n + scene_tokens(&b->scene) + (size_t)b->tpl->max_tokens;
}

static enum status add(struct layout *l, const token_id *ids, size_t n, struct error *e)
{
    if (n == 0)
        return OK;
    if (mem_grow(&l->segments, &l->cap, l->n + 1, sizeof(*l->segments), "a prompt's parts", e) !=
        OK)
        return e->code;
    l->segments[l->n++] = (struct segment){ids, n};
    l->prompt_tokens += n;
    return OK;
}

/* The window's first `end` tokens, with the pieces between. */
static enum status add_haystack(const struct window *w, size_t end, struct layout *l,
                                struct error *e)
{
    size_t from = 0;

    for (size_t i = 0; i < l->n_cuts; i++) {
        struct segment piece = l->cuts[i].tokens;
        if (add(l, w->ids + from, l->cuts[i].at - from, e) != OK ||
            add(l, piece.ids, piece.n, e) != OK)
            return e->code;
        from = l->cuts[i].at;
    }
    l->haystack_tokens = end;
    l->stream = (struct segment){w->ids, w->n};
    return add(l, w->ids + from, end - from, e);
}

static enum status too_short(const struct trial_builder *b, size_t length, size_t need,
                             struct error *e)
{
    return error_set(e, ERR_USAGE,
                     "a context length of %zu tokens is too short for template %s: the minimum "
                     "is %zu",
                     length, b->tpl->name, need > b->minimum ? need : b->minimum);
}

static enum status lay_out_haystack(struct trial_builder *b, const struct trial_spec *spec,
                                    struct layout *l, struct error *e)
{
    size_t fixed = trial_fixed_tokens(b);
    struct window w;
    size_t budget;
    size_t end;

    if (spec->context_length < fixed + TRIAL_MIN_HAYSTACK)
        return too_short(b, spec->context_length, fixed + TRIAL_MIN_HAYSTACK, e);
    budget = spec->context_length - fixed;
    /* one token more, to see whether a character ends at the budget's end */
    if (haystack_window(b->haystack, spec->seed, spec->sample, budget + 1, &w, e) != OK)
        return e->code;
    end = window_end(&w, b->tokenizer, budget, TRIAL_SNAP_TOKENS);
    if (place_pieces(b, &w, end, spec->depth, l, e) != OK)
        return e->code;
    return add_haystack(&w, end, l, e);
}

static enum status lay_out_list(struct trial_builder *b, const struct trial_spec *spec,
                                struct layout *l, struct error *e)
{
    size_t fixed = trial_fixed_tokens(b);
    size_t least;

    if (list_minimum(&b->list, &b->maker, &b->scene, &least, e) != OK)
        return e->code;
    if (spec->context_length < fixed + least)
        return too_short(b, spec->context_length, fixed + least, e);
    if (list_make(&b->list, &b->maker, &b->scene, spec->context_length - fixed, &l->list, e) != OK)
        return e->code;
    l->haystack_tokens = l->list.n;
    return add(l, l->list.ids, l->list.n, e);
}

static enum status lay_out_context(struct trial_builder *b, const struct trial_spec *spec,
                                   struct layout *l, struct error *e)
{
    if (template_has_haystack(b->tpl))
        return lay_out_haystack(b, spec, l, e);
    if (b->tpl->kind != TASK_NO_CONTEXT)
        return lay_out_list(b, spec, l, e);
    if (spec->context_length < trial_fixed_tokens(b))
        return too_short(b, spec->context_length, trial_fixed_tokens(b), e);
    return OK;
}

/* Packed: the question about the needle at this depth. */
static enum status find_question(const struct trial_builder *b, double depth, size_t *out,
                                 struct error *e)
{
    *out = 0;
    if (b->options.n_depths == 0)
        return OK;
    while (*out < b->options.n_depths && b->options.depths[*out] != depth)
        ++*out;
    if (*out == b->options.n_depths)
        return error_set(e, ERR_USAGE, "depth %g: the packed prompts have no needle there", depth);
    return OK;
}

enum status trial_lay_out(struct trial_builder *b, const struct trial_spec *spec,
                          struct layout *out, struct error *e)
{
    const struct question *q;

    if (template_has_depth(b->tpl) && !(spec->depth >= 0 && spec->depth <= 100))
        return error_set(e, ERR_USAGE, "depth %g: it goes from 0 to 100 percent", spec->depth);
    out->n = 0;
    out->n_cuts = 0;
    out->list.n = 0;
    out->stream = (struct segment){NULL, 0};
    out->prompt_tokens = 0;
    out->haystack_tokens = 0;
    if (scene_make(&b->scene, &b->maker, spec->seed, spec->sample, e) != OK ||
        find_question(b, spec->depth, &out->question, e) != OK ||
        add(out, b->opening.ids, b->opening.n, e) != OK || lay_out_context(b, spec, out, e) != OK)
        return e->code;
    q = &b->scene.questions[out->question];
    return add(out, q->ids.ids, q->ids.n, e);
}
