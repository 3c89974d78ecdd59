#include "needlegrid/trial.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PIECE = 1 << 20 }; /* bytes of a needle or question */

struct trial_builder {
    const struct prompt_template *tpl;
    struct haystack_tokens *haystack;
    const struct tokenizer *tokenizer;
    bool wants_bos;
    size_t minimum; /* context length */
    bool *skip;     /* [tpl->n_keys] keys that stand in the haystack and are not drawn */
    size_t n_skip;
    uint64_t *numbers; /* all digit strings as long as a value in the haystack's text; sorted */
    size_t n_numbers;
    size_t numbers_cap;
};

/* What a sample's prompt has besides the haystack. */
struct pieces {
    struct needle needle;
    struct tokens needle_ids;
    struct tokens question_ids; /* with the answer prefix, up to the answer's first token */
    struct tokens answer_ids;
};

static void pieces_release(struct pieces *p)
{
    tokens_release(&p->needle_ids);
    tokens_release(&p->question_ids);
    tokens_release(&p->answer_ids);
}

/* ---- encoding needle and question ---- */

static size_t count(const struct buf *text, const char *word)
{
    size_t n = 0;

    for (const char *p = buf_str(text); (p = strstr(p, word)); p++)
        n++;
    return n;
}

static enum status encode(const struct trial_builder *b, const struct buf *text, struct tokens *out,
                          struct error *e)
{
    if (buf_status(text, e) != OK)
        return error_prefix(e, "template %s", b->tpl->name);
    return tokenizer_encode(b->tokenizer, text->data, text->len, TOKENIZE_PLAIN, out, e);
}

static enum status encode_needle(const struct trial_builder *b, struct pieces *p, struct error *e)
{
    struct buf text = BUF_INIT(MAX_PIECE);
    enum status status;

    template_fill(&text, b->tpl->needle, &p->needle);
    status = encode(b, &text, &p->needle_ids, e);
    if (status == OK && count(&text, p->needle.value) != 1)
        status = error_set(e, ERR_USAGE,
                           "template %s: the value %s stands twice in the needle \"%s\": take more "
                           "digits or other words",
                           b->tpl->name, p->needle.value, buf_str(&text));
    buf_release(&text);
    return status;
}

/*
 * The prompt ends where the ids of "question prefix" and "question prefix value" part: what
 * follows there is the answer.
 */
static enum status encode_question(const struct trial_builder *b, struct pieces *p, struct error *e)
{
    struct buf text = BUF_INIT(MAX_PIECE);
    struct tokens with_value = {0};
    struct tokens *q = &p->question_ids;
    size_t common = 0;
    enum status status;

    template_fill(&text, b->tpl->question, &p->needle);
    template_fill(&text, b->tpl->answer_prefix, &p->needle);
    status = encode(b, &text, q, e);
    if (status == OK && count(&text, p->needle.value) != 0)
        status = error_set(e, ERR_USAGE,
                           "template %s: the value %s stands in the question \"%s\": take more "
                           "digits or other words",
                           b->tpl->name, p->needle.value, buf_str(&text));
    buf_puts(&text, p->needle.value);
    if (status == OK)
        status = encode(b, &text, &with_value, e);
    while (status == OK && common < q->n && common < with_value.n &&
           q->ids[common] == with_value.ids[common])
        common++;
    if (status == OK) {
        q->n = common;
        status = tokens_append(&p->answer_ids, with_value.ids + common, with_value.n - common, e);
    }
    tokens_release(&with_value);
    buf_release(&text);
    return status;
}

static enum status make_pieces(const struct trial_builder *b, const struct needle *needle,
                               struct pieces *p, struct error *e)
{
    p->needle = *needle;
    if (encode_needle(b, p, e) != OK || encode_question(b, p, e) != OK)
        return e->code;
    if (p->answer_ids.n > (size_t)b->tpl->max_tokens)
        return error_set(e, ERR_USAGE,
                         "template %s: the answer %s has %zu tokens, and max_tokens is %d",
                         b->tpl->name, needle->value, p->answer_ids.n, b->tpl->max_tokens);
    return OK;
}

/* Tokens of the context length that are not the haystack's. */
static size_t fixed_tokens(const struct trial_builder *b, const struct pieces *p)
{
    return (size_t)b->wants_bos + p->needle_ids.n + p->question_ids.n + (size_t)b->tpl->max_tokens;
}

/* ---- the builder ---- */

static enum status measure(struct trial_builder *b, struct error *e)
{
    enum { VALUES_EACH = 4 };
    size_t n = b->tpl->n_keys * VALUES_EACH;

    for (size_t i = 0; i < n; i++) {
        struct needle needle = template_draw(b->tpl, NULL, 0, i);
        struct pieces p = {0};
        enum status status;
        size_t need;

        needle.key = b->tpl->keys[i / VALUES_EACH];
        status = make_pieces(b, &needle, &p, e);
        need = fixed_tokens(b, &p) + TRIAL_MIN_HAYSTACK;
        pieces_release(&p);
        if (status != OK)
            return status;
        if (need > b->minimum)
            b->minimum = need;
    }
    return OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return (*x > *y) - (*x < *y);
}

/* Every run of as many digits as a value has, also within longer ones. */
static enum status find_numbers(struct trial_builder *b, struct error *e)
{
    struct str text = haystack_text(haystack_tokens_source(b->haystack));
    size_t digits = (size_t)b->tpl->value_digits;
    uint64_t over = 1; /* 10^digits */
    uint64_t number = 0;
    size_t run = 0;

    for (size_t i = 0; i < digits; i++)
        over *= 10;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            run = 0;
            number = 0;
            continue;
        }
        number = (number * 10 + (uint64_t)(text.p[i] - '0')) % over;
        run++;
        if (run < digits || number < over / 10) /* values do not start with 0 */
            continue;
        if (mem_grow(&b->numbers, &b->numbers_cap, b->n_numbers + 1, sizeof(*b->numbers),
                     "the numbers of a haystack", e) != OK)
            return e->code;
        b->numbers[b->n_numbers++] = number;
    }
    if (b->n_numbers > 0)
        qsort(b->numbers, b->n_numbers, sizeof(*b->numbers), compare_numbers);
    return OK;
}

/* A key that stands in the text would have two places to be asked about. */
static enum status find_usable_keys(struct trial_builder *b, struct error *e)
{
    const struct haystack *h = haystack_tokens_source(b->haystack);

    if (mem_alloc(&b->skip, "a template's keys", e, b->tpl->n_keys, sizeof(*b->skip), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < b->tpl->n_keys; i++) {
        b->skip[i] = haystack_must_lack(h, b->tpl->keys[i], e) != OK;
        b->n_skip += b->skip[i];
    }
    if (b->n_skip == b->tpl->n_keys)
        return error_prefix(e, "template %s: every key stands in the haystack; the last one",
                            b->tpl->name);
    return OK;
}

enum status trial_builder_new(struct trial_builder **out, const struct prompt_template *tpl,
                              struct haystack_tokens *haystack, const struct tokenizer *tokenizer,
                              struct error *e)
{
    struct trial_builder *b;

    *out = NULL;
    if (mem_alloc(&b, "a builder of prompts", e, 1, 1, 1, sizeof(*b)) != OK)
        return e->code;
    b->tpl = tpl;
    b->haystack = haystack;
    b->tokenizer = tokenizer;
    b->wants_bos = tokenizer_wants_bos(tokenizer) && tokenizer_bos(tokenizer) != TOKEN_NONE;
    if (find_usable_keys(b, e) != OK || find_numbers(b, e) != OK || measure(b, e) != OK) {
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
    free(b->numbers);
    free(b->skip);
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
    const char *separator = "";

    for (size_t i = 0; i < b->tpl->n_keys; i++) {
        if (!b->skip[i])
            continue;
        buf_printf(names, "%s%s", separator, b->tpl->keys[i]);
        separator = ", ";
    }
    return b->n_skip;
}

/* ---- one trial ---- */

static enum status check_spec(const struct trial_builder *b, const struct trial_spec *spec,
                              const struct pieces *p, struct error *e)
{
    size_t need = fixed_tokens(b, p) + TRIAL_MIN_HAYSTACK;
    uint64_t value = strtoull(p->needle.value, NULL, 10);

    if (!(spec->depth >= 0 && spec->depth <= 100))
        return error_set(e, ERR_USAGE, "depth %g: it goes from 0 to 100 percent", spec->depth);
    if (spec->context_length < need)
        return error_set(e, ERR_USAGE,
                         "a context length of %zu tokens is too short for template %s: the minimum "
                         "is %zu",
                         spec->context_length, b->tpl->name, need > b->minimum ? need : b->minimum);
    if (b->n_numbers > 0 &&
        bsearch(&value, b->numbers, b->n_numbers, sizeof(*b->numbers), compare_numbers))
        return error_set(e, ERR_USAGE,
                         "the value %s of seed %llu, sample %llu stands in haystack %s too: take "
                         "another seed or more digits",
                         p->needle.value, (unsigned long long)spec->seed,
                         (unsigned long long)spec->sample, haystack_tokens_name(b->haystack));
    return OK;
}

/* [BOS] hay[0..at) needle hay[at..end) question, into out->prompt. */
static enum status join(const struct trial_builder *b, const struct window *w, size_t at,
                        size_t end, const struct pieces *p, struct trial *out, struct error *e)
{
    token_id bos = tokenizer_bos(b->tokenizer);
    struct tokens *t = &out->prompt;

    if ((b->wants_bos && tokens_append(t, &bos, 1, e) != OK) ||
        tokens_append(t, w->ids, at, e) != OK)
        return e->code;
    out->needle_at = t->n;
    if (tokens_append(t, p->needle_ids.ids, p->needle_ids.n, e) != OK ||
        tokens_append(t, w->ids + at, end - at, e) != OK)
        return e->code;
    out->question_at = t->n;
    return tokens_append(t, p->question_ids.ids, p->question_ids.n, e);
}

/* Text is encoded without control tokens, so this holds unless the tokenizer is at fault. */
static enum status check_bos(const struct trial_builder *b, const struct tokens *prompt,
                             struct error *e)
{
    token_id bos = tokenizer_bos(b->tokenizer);
    size_t n = 0;

    for (size_t i = 0; i < prompt->n; i++)
        n += prompt->ids[i] == bos;
    if (n != (size_t)b->wants_bos)
        return error_set(e, ERR_UNSUPPORTED, "the prompt has BOS %zu times, where %d is right", n,
                         (int)b->wants_bos);
    return OK;
}

static enum status build(struct trial_builder *b, const struct trial_spec *spec, struct pieces *p,
                         struct trial *out, struct error *e)
{
    struct window w;
    size_t budget;
    size_t end;
    size_t at;

    if (check_spec(b, spec, p, e) != OK)
        return e->code;
    budget = spec->context_length - fixed_tokens(b, p);
    /* one token more, to see whether a character ends at the budget's end */
    if (haystack_window(b->haystack, spec->seed, spec->sample, budget + 1, &w, e) != OK)
        return e->code;
    end = window_end(&w, b->tokenizer, budget, TRIAL_SNAP_TOKENS);
    at = (size_t)(spec->depth / 100 * (double)end + 0.5);
    at = window_snap(&w, b->tokenizer, at < end ? at : end, end, TRIAL_SNAP_TOKENS);
    if (join(b, &w, at, end, p, out, e) != OK || check_bos(b, &out->prompt, e) != OK ||
        tokens_append(&out->answer, p->answer_ids.ids, p->answer_ids.n, e) != OK)
        return e->code;
    out->needle_tokens = p->needle_ids.n;
    out->haystack_tokens = end;
    out->actual_depth = 100 * (double)at / (double)end;
    return OK;
}

enum status trial_build(struct trial_builder *b, const struct trial_spec *spec, struct trial *out,
                        struct error *e)
{
    struct pieces p = {0};
    struct needle needle = template_draw(b->tpl, b->skip, spec->seed, spec->sample);
    struct tokens prompt = out->prompt;
    struct tokens answer = out->answer;
    enum status status;

    prompt.n = 0;
    answer.n = 0;
    *out = (struct trial){.spec = *spec,
                          .needle = needle,
                          .prompt = prompt,
                          .answer = answer,
                          .max_tokens = (size_t)b->tpl->max_tokens};
    status = make_pieces(b, &needle, &p, e);
    if (status == OK)
        status = build(b, spec, &p, out, e);
    pieces_release(&p);
    if (status != OK)
        trial_release(out);
    return status;
}

void trial_release(struct trial *t)
{
    tokens_release(&t->prompt);
    tokens_release(&t->answer);
    *t = (struct trial){0};
}
