#include "scene_impl.h"

#include "needlegrid/mem.h"
#include "word_impl.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PIECE = 1 << 20 }; /* bytes of a needle or question */

/* ---- memory ---- */

static void clear(struct scene *s)
{
    for (size_t i = 0; i < s->n_pieces; i++)
        tokens_release(&s->pieces[i].ids);
    for (size_t i = 0; i < s->n_questions; i++) {
        tokens_release(&s->questions[i].ids);
        tokens_release(&s->questions[i].answer);
        free(s->questions[i].expected);
    }
    s->n_pieces = 0;
    s->n_questions = 0;
    s->n_words = 0;
    s->made = false;
}

void scene_release(struct scene *s)
{
    clear(s);
    drawer_release(&s->drawer);
    free(s->values);
    free(s->fields);
    free(s->pieces);
    free(s->questions);
    free(s->words);
    *s = (struct scene){.made = false};
}

size_t scene_tokens(const struct scene *s)
{
    size_t longest = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->n_pieces; i++)
        n += s->pieces[i].ids.n;
    for (size_t i = 0; i < s->n_questions; i++)
        longest = s->questions[i].ids.n > longest ? s->questions[i].ids.n : longest;
    return n + longest;
}

/* ---- encoding ---- */

static enum status encode(const struct scene_maker *m, const struct buf *text, struct tokens *out,
                          struct error *e)
{
    if (buf_status(text, e) != OK)
        return error_prefix(e, "template %s", m->tpl->name);
    return tokenizer_encode(m->tokenizer, text->data, text->len, TOKENIZE_PLAIN, out, e);
}

/* What answers are made of: values, or where there are none the names or words. */
static const struct generator *answers_of(const struct prompt_template *t)
{
    return t->kind == TASK_CHAIN || t->kind == TASK_COMMON_WORDS || t->kind == TASK_FREQUENT_WORDS
               ? &t->keys
               : &t->value;
}

/* How often a value stands in a text; words of a list and names count as whole words only. */
static size_t count(const struct generator *g, const struct buf *text, const char *value)
{
    bool whole =
        g->kind == GENERATE_LIST || g->kind == GENERATE_LETTERS || g->kind == GENERATE_CAPITALS;
    size_t len = strlen(value);
    size_t n = 0;

    for (size_t at = 0; at < text->len; at++) {
        const char *p;
        if (whole) {
            at += find_word(text->data + at, text->len - at, value, len);
            n += at < text->len;
            continue;
        }
        p = strstr(text->data + at, value);
        if (!p)
            break;
        n++;
        at = (size_t)(p - text->data);
    }
    return n;
}

/* The tokens that hold bytes from..to-1 of the text that `ids` encode. */
static void find_span(const struct tokenizer *t, const struct tokens *ids, size_t from, size_t to,
                      size_t *at, size_t *n)
{
    size_t byte = 0;

    *at = 0;
    *n = 0;
    for (size_t i = 0; i < ids->n && byte < to; i++) {
        byte += tokenizer_bytes(t, ids->ids[i]).n;
        if (byte <= from)
            continue;
        if (*n == 0)
            *at = i;
        ++*n;
    }
}

/* ---- needles ---- */

static struct piece *add_piece(struct scene *s, struct error *e)
{
    if (mem_grow(&s->pieces, &s->pieces_cap, s->n_pieces + 1, sizeof(*s->pieces), "needles", e) !=
        OK)
        return NULL;
    s->pieces[s->n_pieces] = (struct piece){.value = ""};
    return &s->pieces[s->n_pieces++];
}

/* Fills and encodes a pattern; `answer` is the value or name in it that counts, or NULL. */
static enum status encode_piece(struct piece *p, const struct scene_maker *m, const char *pattern,
                                struct filling *f, const char *answer, struct error *e)
{
    struct buf text = BUF_INIT(MAX_PIECE);
    enum status status;
    size_t at;

    template_fill(&text, m->tpl, pattern, f);
    at = m->tpl->kind == TASK_CHAIN ? f->key_at : f->value_at;
    status = encode(m, &text, &p->ids, e);
    if (status == OK && answer && count(answers_of(m->tpl), &text, answer) != 1)
        status = error_set(e, ERR_USAGE,
                           "template %s: the value %s stands twice in the needle \"%s\": take more "
                           "digits or other words",
                           m->tpl->name, answer, buf_str(&text));
    if (status == OK && answer) {
        p->value = answer;
        find_span(m->tokenizer, &p->ids, at, at + strlen(answer), &p->value_at, &p->value_tokens);
    }
    buf_release(&text);
    return status;
}

/* The needles of the key just drawn. */
static enum status plant_key(struct scene *s, const struct scene_maker *m, const char *key,
                             size_t group, struct rng *places, struct error *e)
{
    const struct prompt_template *t = m->tpl;

    for (size_t i = 0; i < t->n_needles; i++) {
        bool has_value = i == t->value_needle;
        for (size_t v = 0; v < (has_value ? t->values : 1); v++) {
            struct filling f = {.key = key, .value = s->values[v], .fields = s->fields};
            struct piece *p = add_piece(s, e);
            if (!p)
                return e->code;
            p->key = key;
            p->group = group;
            p->asked = group < m->plan.asked;
            p->main = has_value && v == 0 && (m->packed ? p->asked : group == 0);
            p->place = rng_double(places);
            if (encode_piece(p, m, t->needles[i], &f, has_value ? s->values[v] : NULL, e) != OK)
                return e->code;
        }
    }
    return OK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* A chain's statements, in their order along the haystack. */
static enum status plant_chain(struct scene *s, const struct scene_maker *m, size_t group,
                               struct rng *rng, struct error *e)
{
    const struct prompt_template *t = m->tpl;
    double places[TEMPLATE_MAX_NEEDLES + 1];
    const char *previous = NULL;
    const char *value;

    for (size_t i = 0; i <= t->hops; i++)
        places[i] = rng_double(rng);
    qsort(places, t->hops + 1, sizeof(*places), by_size);
    for (size_t i = 0; i <= t->hops; i++) {
        struct filling f = {.previous = previous};
        struct piece *p = add_piece(s, e);
        if (!p || drawer_key(&s->drawer, &f.key, e) != OK ||
            (i == 0 && drawer_value(&s->drawer, &value, e) != OK))
            return e->code;
        f.value = value;
        p->key = value;
        p->group = group;
        p->asked = group == 0;
        p->place = places[i];
        if (encode_piece(p, m, i ? t->hop : t->needles[0], &f, f.key, e) != OK)
            return e->code;
        previous = f.key;
    }
    return OK;
}

/* ---- questions ---- */

static struct question *add_question(struct scene *s, size_t n_expected, struct error *e)
{
    struct question *q;

    if (mem_grow(&s->questions, &s->questions_cap, s->n_questions + 1, sizeof(*s->questions),
                 "questions", e) != OK)
        return NULL;
    q = &s->questions[s->n_questions];
    *q = (struct question){.key = NULL};
    if (mem_alloc(&q->expected, "expected values", e, n_expected, sizeof(*q->expected), 1, 1) != OK)
        return NULL;
    s->n_questions++;
    return q;
}

/* "a", "a and b", "a, b, and c" */
static void put_list(struct buf *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_puts(out, n > 2 ? ", " : " ");
        if (i > 0 && i + 1 == n)
            buf_puts(out, "and ");
        buf_puts(out, names[i]);
    }
}

static enum status check_question(const struct scene_maker *m, const struct question *q,
                                  const struct buf *text, struct error *e)
{
    for (size_t i = 0; i < q->n_expected; i++)
        if (count(answers_of(m->tpl), text, q->expected[i]) != 0)
            return error_set(e, ERR_USAGE,
                             "template %s: the value %s stands in the question \"%s\": take more "
                             "digits or other words",
                             m->tpl->name, q->expected[i], buf_str(text));
    return OK;
}

/*
 * The prompt ends where the ids of "question prefix" and "question prefix answer" part: what
 * follows there is the answer. `text` holds the former and gets the latter.
 */
static enum status split_answer(const struct scene_maker *m, struct question *q, struct buf *text,
                                struct error *e)
{
    struct tokens whole = {0};
    size_t common = 0;
    enum status status;

    for (size_t i = 0; i < q->n_expected; i++) {
        buf_puts(text, i ? m->tpl->answer_join : "");
        buf_puts(text, q->expected[i]);
    }
    status = encode(m, text, &whole, e);
    while (status == OK && common < q->ids.n && common < whole.n &&
           q->ids.ids[common] == whole.ids[common])
        common++;
    if (status == OK) {
        q->ids.n = common;
        status = tokens_append(&q->answer, whole.ids + common, whole.n - common, e);
    }
    if (status == OK && q->answer.n > (size_t)m->tpl->max_tokens)
        status = error_set(e, ERR_USAGE,
                           "template %s: the answer %s has %zu tokens, and max_tokens is %d",
                           m->tpl->name, q->expected[0], q->answer.n, m->tpl->max_tokens);
    tokens_release(&whole);
    return status;
}

static enum status encode_question(const struct scene_maker *m, struct question *q,
                                   struct filling *f, struct error *e)
{
    struct buf text = BUF_INIT(MAX_PIECE);
    enum status status;

    template_fill(&text, m->tpl, m->tpl->question, f);
    template_fill(&text, m->tpl, m->tpl->answer_prefix, f);
    status = encode(m, &text, &q->ids, e);
    if (status == OK)
        status = check_question(m, q, &text, e);
    if (status == OK && q->n_expected > 0)
        status = split_answer(m, q, &text, e);
    buf_release(&text);
    return status;
}

/* Asks for the pieces of the groups from..to-1. */
static enum status ask_groups(struct scene *s, const struct scene_maker *m, size_t from, size_t to,
                              const char *key, const char *const *fields, struct error *e)
{
    struct filling f = {.key = key, .value = key, .fields = fields};
    struct question *q = add_question(s, s->n_pieces, e);

    if (!q)
        return e->code;
    for (size_t i = 0; i < s->n_pieces; i++) {
        const struct piece *p = &s->pieces[i];
        if (p->group < from || p->group >= to || p->value_tokens == 0)
            continue;
        if (!q->key)
            q->key = p->key;
        q->expected[q->n_expected++] = p->value;
    }
    return encode_question(m, q, &f, e);
}

/* ---- the kinds ---- */

/* Draws and plants every key; packed ones are asked for one by one, the others all together. */
static enum status make_needles(struct scene *s, const struct scene_maker *m, struct error *e)
{
    struct rng places = rng_make(s->seed, "places", s->sample);
    struct buf names = BUF_INIT(MAX_PIECE);
    const char **keys = NULL;
    enum status status = mem_alloc(&keys, "keys", e, m->plan.planted + 1, sizeof(*keys), 1, 1);

    for (size_t i = 0; status == OK && i < m->plan.planted; i++) {
        status = drawer_next(&s->drawer, &keys[i], s->values, s->fields, e);
        if (status == OK)
            status = plant_key(s, m, keys[i], i, &places, e);
        if (status == OK && m->packed && i < m->plan.asked)
            status = ask_groups(s, m, i, i + 1, keys[i], s->fields, e);
        if (status == OK && !m->packed && i + 1 == m->plan.asked) {
            put_list(&names, keys, m->plan.asked);
            status = buf_status(&names, e);
            if (status == OK)
                status = ask_groups(s, m, 0, m->plan.asked, buf_str(&names), s->fields, e);
        }
    }
    if (status == OK && s->n_questions > 0 && !m->packed)
        s->questions[0].key = keys[0];
    buf_release(&names);
    free(keys);
    return status;
}

static enum status make_chains(struct scene *s, const struct scene_maker *m, struct error *e)
{
    struct rng places = rng_make(s->seed, "places", s->sample);

    for (size_t i = 0; i < m->tpl->chains; i++) {
        if (plant_chain(s, m, i, &places, e) != OK)
            return e->code;
        if (i == 0 && ask_groups(s, m, 0, 1, s->pieces[0].key, NULL, e) != OK)
            return e->code;
    }
    return OK;
}

/* The key that is asked for is drawn and not planted; distractors are. */
static enum status make_absent(struct scene *s, const struct scene_maker *m, struct error *e)
{
    struct rng places = rng_make(s->seed, "places", s->sample);
    struct filling f = {.fields = s->fields};
    struct question *q;
    const char *key;

    if (drawer_next(&s->drawer, &f.key, s->values, s->fields, e) != OK)
        return e->code;
    q = add_question(s, 1, e);
    if (!q)
        return e->code;
    q->key = f.key;
    if (m->tpl->kind == TASK_NO_CONTEXT)
        q->expected[q->n_expected++] = s->values[0];
    if (encode_question(m, q, &f, e) != OK)
        return e->code;
    for (size_t i = 1; i < m->plan.planted; i++)
        if (drawer_next(&s->drawer, &key, s->values, s->fields, e) != OK ||
            plant_key(s, m, key, i, &places, e) != OK)
            return e->code;
    return OK;
}

static enum status make_list(struct scene *s, const struct scene_maker *m, struct error *e)
{
    struct filling f = {.key = NULL};
    struct question *q = add_question(s, m->tpl->queries, e);

    if (!q || scene_need_words(s, m->tpl->queries, e) != OK)
        return e->code;
    memcpy(q->expected, s->words, m->tpl->queries * sizeof(*q->expected));
    q->n_expected = m->tpl->queries;
    return encode_question(m, q, &f, e);
}

enum status scene_need_words(struct scene *s, size_t n, struct error *e)
{
    if (mem_grow(&s->words, &s->words_cap, n, sizeof(*s->words), "words", e) != OK)
        return e->code;
    for (; s->n_words < n; s->n_words++)
        if (drawer_key(&s->drawer, &s->words[s->n_words], e) != OK)
            return e->code;
    return OK;
}

static enum status make(struct scene *s, const struct scene_maker *m, struct error *e)
{
    switch (m->tpl->kind) {
    case TASK_NEEDLES:
        return make_needles(s, m, e);
    case TASK_CHAIN:
        return make_chains(s, m, e);
    case TASK_COMMON_WORDS:
    case TASK_FREQUENT_WORDS:
        return make_list(s, m, e);
    case TASK_ABSENT:
    case TASK_NO_CONTEXT:
        return make_absent(s, m, e);
    }
    return OK;
}

enum status scene_make(struct scene *s, const struct scene_maker *m, uint64_t seed, uint64_t sample,
                       struct error *e)
{
    if (s->made && s->seed == seed && s->sample == sample)
        return OK;
    clear(s);
    s->seed = seed;
    s->sample = sample;
    if (!s->values &&
        (mem_alloc(&s->values, "values", e, m->tpl->values, sizeof(*s->values), 1, 1) != OK ||
         mem_alloc(&s->fields, "fields", e, m->tpl->n_fields + 1, sizeof(*s->fields), 1, 1) != OK))
        return e->code;
    drawer_begin(&s->drawer, m->tpl, m->plan, m->in_text, seed, sample);
    if (make(s, m, e) != OK)
        return e->code;
    s->made = true;
    return OK;
}
