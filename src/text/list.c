#include "list_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRY = 1 << 16 }; /* bytes */

/* ---- entries as tokens ---- */

static void table_release(struct text_table *t)
{
    tokens_release(&t->ids);
    free(t->ends);
    *t = (struct text_table){.n = 0};
}

void list_maker_release(struct list_maker *l)
{
    table_release(&l->heads);
    table_release(&l->tails);
    free(l->order);
    *l = (struct list_maker){.made = false};
}

static size_t table_from(const struct text_table *t, size_t i)
{
    return i ? t->ends[i - 1] : 0;
}

static size_t table_length(const struct text_table *t, size_t i)
{
    return t->ends[i] - table_from(t, i);
}

/* An entry is cut before the space before its word, where no token reaches over. */
static size_t head_length(const char *pattern)
{
    size_t word = (size_t)(strstr(pattern, "{key}") - pattern);
    size_t at = word;

    while (at > 0 && pattern[at] != ' ')
        at--;
    return pattern[at] == ' ' ? at : word;
}

/* Appends the text of one half of the pattern. */
static enum status add_text(struct text_table *t, const struct scene_maker *m, bool head,
                            const char *word, struct error *e)
{
    const char *pattern = m->tpl->needles[0];
    size_t cut = head_length(pattern);
    struct filling f = {.key = word, .index = t->n + 1};
    struct buf part = BUF_INIT(MAX_ENTRY);
    struct buf text = BUF_INIT(MAX_ENTRY);
    enum status status;

    buf_append(&part, pattern + (head ? 0 : cut), head ? cut : strlen(pattern) - cut);
    template_fill(&text, m->tpl, buf_str(&part), &f);
    status = buf_status(&text, e);
    if (status == OK)
        status = mem_grow(&t->ends, &t->cap, t->n + 1, sizeof(*t->ends), "a list of words", e);
    if (status == OK)
        status =
            tokenizer_encode(m->tokenizer, buf_str(&text), text.len, TOKENIZE_PLAIN, &t->ids, e);
    if (status == OK)
        t->ends[t->n++] = t->ids.n;
    buf_release(&part);
    buf_release(&text);
    return status;
}

static enum status need(struct list_maker *l, const struct scene_maker *m, struct scene *s,
                        size_t n_entries, size_t n_words, struct error *e)
{
    if (!l->made || l->seed != s->seed || l->sample != s->sample) {
        l->tails.n = 0;
        l->tails.ids.n = 0;
        l->made = true;
        l->seed = s->seed;
        l->sample = s->sample;
    }
    if (scene_need_words(s, n_words, e) != OK)
        return e->code;
    while (l->heads.n < n_entries)
        if (add_text(&l->heads, m, true, "", e) != OK)
            return e->code;
    if (l->tails.n == 0 && add_text(&l->tails, m, false, m->tpl->filler, e) != OK)
        return e->code;
    while (l->tails.n < n_words + 1)
        if (add_text(&l->tails, m, false, s->words[l->tails.n - 1], e) != OK)
            return e->code;
    return OK;
}

/* ---- which words, how often ---- */

/* Words from..to-1 (of tails) each `times` times. */
static enum status put(struct list_maker *l, size_t from, size_t to, size_t times, struct error *e)
{
    size_t n = l->n_order + (to - from) * times;

    if (mem_grow(&l->order, &l->order_cap, n + 1, sizeof(*l->order), "a list of words", e) != OK)
        return e->code;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < times; k++)
            l->order[l->n_order++] = (uint32_t)i;
    return OK;
}

/* A list of at most `size` entries, at least four for each word asked for. */
static enum status count_common(struct list_maker *l, const struct prompt_template *t, size_t size,
                                struct error *e)
{
    size_t common = size / (2 * t->queries);
    size_t other;
    size_t n_other;

    if (common > t->common_repeats)
        common = t->common_repeats;
    other = t->other_repeats * common / t->common_repeats;
    if (other == 0)
        other = 1;
    n_other = (size - common * t->queries) / other;
    if (put(l, 1, 1 + t->queries, common, e) != OK)
        return e->code;
    return put(l, 1 + t->queries, 1 + t->queries + n_other, other, e);
}

static size_t times_of_rank(const struct prompt_template *t, size_t size, size_t rank)
{
    return (size_t)((double)size * pow((double)rank, -t->alpha));
}

/* The first rank stands `size` times in the list. */
static enum status count_frequent(struct list_maker *l, const struct prompt_template *t,
                                  size_t size, struct error *e)
{
    size_t first = t->filler[0] ? 0 : 1; /* of tails */
    size_t times;

    for (size_t rank = 1; (times = times_of_rank(t, size, rank)) > 0; rank++)
        if (put(l, first + rank - 1, first + rank, times, e) != OK)
            return e->code;
    return OK;
}

/* Fills the order, not yet shuffled; *tokens gets what the list would have. */
static enum status count_words(struct list_maker *l, const struct scene_maker *m, struct scene *s,
                               size_t size, size_t *tokens, struct error *e)
{
    enum status status;

    l->n_order = 0;
    status = m->tpl->kind == TASK_COMMON_WORDS ? count_common(l, m->tpl, size, e)
                                               : count_frequent(l, m->tpl, size, e);
    /* the last word put in has the largest index */
    if (status == OK)
        status = need(l, m, s, l->n_order, l->order[l->n_order - 1], e);
    if (status != OK)
        return status;
    *tokens = l->heads.ends[l->n_order - 1];
    for (size_t i = 0; i < l->n_order; i++)
        *tokens += table_length(&l->tails, l->order[i]);
    return OK;
}

/* The smallest list that has an answer: what is asked for stands there twice at least. */
static size_t smallest(const struct prompt_template *t)
{
    size_t size = 1;

    if (t->kind == TASK_COMMON_WORDS)
        return 4 * t->queries;
    while (times_of_rank(t, size, t->queries + (t->filler[0] != '\0')) < 2)
        size++;
    return size;
}

/* Frequent words: the last rank asked for comes more often than the next one. */
static bool is_clear(const struct prompt_template *t, size_t size)
{
    size_t last = t->queries + (t->filler[0] != '\0');

    return t->kind == TASK_COMMON_WORDS ||
           times_of_rank(t, size, last) > times_of_rank(t, size, last + 1);
}

enum status list_minimum(struct list_maker *l, const struct scene_maker *m, struct scene *s,
                         size_t *out, struct error *e)
{
    return count_words(l, m, s, smallest(m->tpl), out, e);
}

/* The largest size whose list has at most `budget` tokens; the smallest one has. */
static enum status find_size(struct list_maker *l, const struct scene_maker *m, struct scene *s,
                             size_t budget, size_t *out, struct error *e)
{
    size_t low = smallest(m->tpl);
    size_t high = 0; /* too large; 0 = not known yet */
    size_t tokens = 1;

    if (count_words(l, m, s, low, &tokens, e) != OK)
        return e->code;
    while (high == 0 || high - low > 1) {
        size_t size = low + (high - low) / 2;
        size_t n;
        /* not far beyond, as each word more has to be drawn */
        if (high == 0)
            size = low + 1 + (size_t)(1.05 * (double)low * ((double)budget / (double)tokens - 1));
        if (count_words(l, m, s, size, &n, e) != OK)
            return e->code;
        if (n <= budget) {
            low = size;
            tokens = n;
        } else {
            high = size;
        }
    }
    while (!is_clear(m->tpl, low))
        low--;
    *out = low;
    return OK;
}

/* Appends text i of the table; all its texts may be empty. */
static enum status add_entry(const struct text_table *t, size_t i, struct tokens *out,
                             struct error *e)
{
    size_t n = table_length(t, i);

    return n ? tokens_append(out, t->ids.ids + table_from(t, i), n, e) : OK;
}

static void shuffle(struct list_maker *l, struct rng *r)
{
    for (size_t i = l->n_order; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i);
        uint32_t swap = l->order[i - 1];
        l->order[i - 1] = l->order[j];
        l->order[j] = swap;
    }
}

enum status list_make(struct list_maker *l, const struct scene_maker *m, struct scene *s,
                      size_t budget, struct tokens *out, struct error *e)
{
    struct rng r = rng_make(s->seed, "list", s->sample);
    size_t size = 0;
    size_t tokens = 0;

    if (find_size(l, m, s, budget, &size, e) != OK || count_words(l, m, s, size, &tokens, e) != OK)
        return e->code;
    shuffle(l, &r);
    for (size_t i = 0; i < l->n_order; i++) {
        if (add_entry(&l->heads, i, out, e) != OK ||
            add_entry(&l->tails, l->order[i], out, e) != OK)
            return e->code;
    }
    return OK;
}
