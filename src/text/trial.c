#include "trial_impl.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

struct trial_options trial_options_of(const struct prompt_template *tpl)
{
    return (struct trial_options){.distractors = tpl->distractors};
}

size_t trial_asked_keys(const struct prompt_template *tpl, const struct trial_options *o)
{
    return o->n_depths ? o->n_depths : tpl->queries;
}

size_t trial_planted_keys(const struct prompt_template *tpl, const struct trial_options *o)
{
    return trial_asked_keys(tpl, o) + o->distractors;
}

static enum status check_options(const struct prompt_template *tpl, const struct trial_options *o,
                                 struct error *e)
{
    bool has_distractors = tpl->kind == TASK_NEEDLES || tpl->kind == TASK_ABSENT;

    if (o->distractors > 0 && !has_distractors)
        return error_set(e, ERR_USAGE, "template %s: its kind of task has no distractors",
                         tpl->name);
    if (o->n_depths > 0 && (tpl->kind != TASK_NEEDLES || tpl->queries > 1))
        return error_set(e, ERR_USAGE,
                         "template %s cannot be packed: that needs needles which are asked for one "
                         "by one",
                         tpl->name);
    if (has_distractors && trial_planted_keys(tpl, o) * tpl->values > TEMPLATE_MAX_NEEDLES)
        return error_set(e, ERR_USAGE, "template %s: %zu needles: at most %d can be had", tpl->name,
                         trial_planted_keys(tpl, o) * tpl->values, TEMPLATE_MAX_NEEDLES);
    return OK;
}

/* ---- the builder ---- */

/* Both halves end at a place where no token reaches over: the text begins with a space. */
static enum status encode_opening(struct trial_builder *b, struct error *e)
{
    const char *preamble = b->tpl->preamble;

    b->bos = tokenizer_wants_bos(b->tokenizer) ? tokenizer_bos(b->tokenizer) : TOKEN_NONE;
    if (b->bos != TOKEN_NONE && tokens_append(&b->opening, &b->bos, 1, e) != OK)
        return e->code;
    return tokenizer_encode(b->tokenizer, preamble, strlen(preamble), TOKENIZE_PLAIN, &b->opening,
                            e);
}

static enum status every_key(const struct trial_builder *b, struct error *e)
{
    const struct haystack *h = haystack_tokens_source(b->haystack);
    const struct generator *keys = &b->tpl->keys;

    if (haystack_must_lack(h, keys->list[keys->n_list - 1], e) != OK)
        return error_prefix(e, "template %s: every key stands in the haystack; the last one",
                            b->tpl->name);
    return OK;
}

/* A key that stands in the text would have two places to be asked about. */
static enum status find_usable(struct trial_builder *b, struct error *e)
{
    const struct prompt_template *t = b->tpl;
    size_t n = 2 + t->n_fields;

    if (mem_alloc(&b->in_text, "what stands in a haystack", e, n, sizeof(*b->in_text), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; b->haystack && i < n; i++) {
        const struct generator *g = i == 0 ? &t->keys : i == 1 ? &t->value : &t->fields[i - 2].from;
        if (occurrences_find(&b->in_text[i], g, haystack_tokens_source(b->haystack), e) != OK)
            return e->code;
    }
    if (t->keys.kind == GENERATE_LIST && b->in_text[0].list.n == t->keys.n_list)
        return every_key(b, e);
    return OK;
}

/* Ten for each key of a list, so that hardly one is missed; fewer where each has much to encode. */
static size_t samples_to_measure(const struct trial_builder *b)
{
    size_t n = b->tpl->keys.kind == GENERATE_LIST ? 10 * b->tpl->keys.n_list : 200;
    size_t most = 20000 / (b->maker.plan.planted * (b->tpl->values + b->tpl->n_needles));

    n = n < most ? n : most;
    return n > 8 ? n : 8;
}

/*
 * One needle and question: the longest sum, as measured on many samples. Several of them: the
 * longest of each.
 */
static enum status measure(struct trial_builder *b, struct error *e)
{
    size_t n = samples_to_measure(b);
    size_t needle = 0;
    size_t rest = 0;

    for (uint64_t i = 0; i < n; i++) {
        struct scene *s = &b->scene;
        size_t need = 0;
        size_t pieces = 0;
        if (scene_make(s, &b->maker, 0, i, e) != OK)
            return e->code;
        if (!template_has_haystack(b->tpl) && b->tpl->kind != TASK_NO_CONTEXT &&
            list_minimum(&b->list, &b->maker, s, &need, e) != OK)
            return e->code;
        for (size_t k = 0; k < s->n_pieces; k++) {
            pieces += s->pieces[k].ids.n;
            needle = s->pieces[k].ids.n > needle ? s->pieces[k].ids.n : needle;
        }
        need += trial_fixed_tokens(b) + (template_has_haystack(b->tpl) ? TRIAL_MIN_HAYSTACK : 0);
        rest = need - pieces > rest ? need - pieces : rest;
        need = s->n_pieces > 1 ? rest + s->n_pieces * needle : need;
        b->minimum = need > b->minimum ? need : b->minimum;
    }
    return OK;
}

static enum status prepare(struct trial_builder *b, struct error *e)
{
    b->maker = (struct scene_maker){
        .tpl = b->tpl,
        .tokenizer = b->tokenizer,
        .plan = {trial_asked_keys(b->tpl, &b->options), trial_planted_keys(b->tpl, &b->options)},
        .packed = b->options.n_depths > 0,
        .in_text = NULL,
    };
    if (check_options(b->tpl, &b->options, e) != OK || encode_opening(b, e) != OK ||
        find_usable(b, e) != OK)
        return e->code;
    b->maker.in_text = b->in_text;
    return measure(b, e);
}

enum status trial_builder_new(struct trial_builder **out, const struct prompt_template *tpl,
                              const struct trial_options *options, struct haystack_tokens *haystack,
                              const struct tokenizer *tokenizer, struct error *e)
{
    struct trial_builder *b;

    *out = NULL;
    if (mem_alloc(&b, "a builder of prompts", e, 1, 1, 1, sizeof(*b)) != OK)
        return e->code;
    b->tpl = tpl;
    b->options = options ? *options : trial_options_of(tpl);
    b->haystack = template_has_haystack(tpl) ? haystack : NULL;
    b->tokenizer = tokenizer;
    if (prepare(b, e) != OK) {
        trial_builder_free(b);
        return e->code;
    }
    *out = b;
    return OK;
}

void trial_builder_free(struct trial_builder *b)
{
    if (!b)
        return;
    for (size_t i = 0; b->in_text && i < 2 + b->tpl->n_fields; i++)
        occurrences_release(&b->in_text[i]);
    free(b->in_text);
    tokens_release(&b->opening);
    scene_release(&b->scene);
    list_maker_release(&b->list);
    layout_release(&b->layout);
    free(b);
}

enum status trial_minimum_length(struct trial_builder *b, size_t *out, struct error *e)
{
    (void)e;
    *out = b->minimum;
    return OK;
}

size_t trial_skipped_keys(const struct trial_builder *b, struct buf *names)
{
    const struct generator *keys = &b->tpl->keys;
    const char *separator = "";

    for (size_t i = 0; i < keys->n_list; i++) {
        if (!occurrences_has(&b->in_text[0], keys->list[i], strlen(keys->list[i])))
            continue;
        buf_printf(names, "%s%s", separator, keys->list[i]);
        separator = ", ";
    }
    return b->in_text[0].list.n;
}

/* ---- one trial ---- */

/* Text is encoded without control tokens, so this holds unless the tokenizer is at fault. */
static enum status check_bos(const struct trial_builder *b, const struct tokens *prompt,
                             struct error *e)
{
    token_id bos = tokenizer_bos(b->tokenizer);
    size_t wanted = b->bos != TOKEN_NONE;
    size_t n = 0;

    for (size_t i = 0; i < prompt->n; i++)
        n += prompt->ids[i] == bos;
    if (n != wanted)
        return error_set(e, ERR_UNSUPPORTED, "the prompt has BOS %zu times, where %zu is right", n,
                         wanted);
    return OK;
}

/* The needles in the order of the scene, with their places in the prompt. */
static enum status note_needles(const struct trial_builder *b, struct trial *t, struct error *e)
{
    const struct layout *l = &b->layout;
    size_t before = b->opening.n; /* tokens that are no haystack */

    if (mem_alloc(&t->needles, "needles", e, b->scene.n_pieces, sizeof(*t->needles), 1, 1) != OK)
        return e->code;
    t->n_needles = b->scene.n_pieces;
    for (size_t i = 0; i < l->n_cuts; i++) {
        const struct piece *p = &b->scene.pieces[l->cuts[i].piece];
        size_t at = before + l->cuts[i].at;
        t->needles[l->cuts[i].piece] = (struct planted){
            .key = p->key,
            .value = p->value,
            .at = at,
            .n_tokens = p->ids.n,
            .value_at = at + p->value_at,
            .value_tokens = p->value_tokens,
            .asked = p->asked && (b->options.n_depths == 0 || p->group == l->question),
        };
        before += p->ids.n;
    }
    return OK;
}

/* The main needle is the one at the trial's depth; where there is none, the first one asked for. */
static void note_main(const struct trial_builder *b, struct trial *t)
{
    const struct layout *l = &b->layout;
    size_t main = SIZE_MAX;

    t->actual_depth = (double)NAN;
    for (size_t i = t->n_needles; i > 0; i--) {
        const struct piece *p = &b->scene.pieces[i - 1];
        if (t->needles[i - 1].asked && (p->main || main == SIZE_MAX || !b->scene.pieces[main].main))
            main = i - 1;
    }
    if (main == SIZE_MAX)
        return;
    t->needle_at = t->needles[main].at;
    t->needle_tokens = t->needles[main].n_tokens;
    for (size_t i = 0; i < l->n_cuts && b->scene.pieces[main].main; i++)
        if (l->cuts[i].piece == main)
            t->actual_depth = 100 * (double)l->cuts[i].at / (double)l->haystack_tokens;
}

static void copy_expected(const struct question *q, struct trial *t)
{
    memcpy(t->expected, q->expected, q->n_expected * sizeof(*t->expected));
    t->n_expected = q->n_expected;
}

/* The values of the needles that are not asked for, then those of a haystack of needles. */
static enum status note_values(const struct trial_builder *b, const struct trial_spec *spec,
                               struct trial *t, struct error *e)
{
    const struct question *q = &b->scene.questions[b->layout.question];
    struct window w = {.values = NULL};

    if (b->haystack && haystack_window(b->haystack, spec->seed, spec->sample,
                                       b->layout.haystack_tokens, &w, e) != OK)
        return e->code;
    if (mem_alloc(&t->expected, "expected values", e, q->n_expected, sizeof(*t->expected), 1, 1) !=
            OK ||
        mem_alloc(&t->decoys, "decoys", e, t->n_needles + (w.values ? w.n_boundaries : 0),
                  sizeof(*t->decoys), 1, 1) != OK)
        return e->code;
    copy_expected(q, t);
    for (size_t i = 0; i < t->n_needles; i++)
        if (!t->needles[i].asked && t->needles[i].value_tokens > 0)
            t->decoys[t->n_decoys++] = t->needles[i].value;
    for (size_t i = 0; w.values && i + 1 < w.n_boundaries; i++) /* whole ones */
        if (w.values[i])
            t->decoys[t->n_decoys++] = w.values[i];
    t->key = q->key;
    return tokens_append(&t->answer, q->answer.ids, q->answer.n, e);
}

static enum status build(struct trial_builder *b, const struct trial_spec *spec, struct trial *t,
                         struct error *e)
{
    const struct layout *l = &b->layout;

    if (trial_lay_out(b, spec, &b->layout, e) != OK || layout_join(l, &t->prompt, e) != OK ||
        check_bos(b, &t->prompt, e) != OK || note_needles(b, t, e) != OK)
        return e->code;
    note_main(b, t);
    if (note_values(b, spec, t, e) != OK)
        return e->code;
    t->spec = *spec;
    t->absent = b->tpl->kind == TASK_ABSENT;
    t->max_tokens = (size_t)b->tpl->max_tokens;
    t->haystack_tokens = l->haystack_tokens;
    t->question_at = l->prompt_tokens - b->scene.questions[l->question].ids.n;
    return OK;
}

static void release_lists(struct trial *t)
{
    free(t->expected);
    free(t->decoys);
    free(t->needles);
}

enum status trial_build(struct trial_builder *b, const struct trial_spec *spec, struct trial *out,
                        struct error *e)
{
    struct tokens prompt = out->prompt;
    struct tokens answer = out->answer;

    release_lists(out);
    prompt.n = 0;
    answer.n = 0;
    *out = (struct trial){.prompt = prompt, .answer = answer};
    if (build(b, spec, out, e) != OK) {
        trial_release(out);
        return e->code;
    }
    return OK;
}

void trial_release(struct trial *t)
{
    tokens_release(&t->prompt);
    tokens_release(&t->answer);
    release_lists(t);
    *t = (struct trial){.key = NULL};
}
