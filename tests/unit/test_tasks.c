/*
 * What the protocol promises of every prompt, on random trials of every template that is shipped:
 * single needles, many, chains, lists of words, and the controls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"
#include "needlegrid/os.h"
#include "needlegrid/rng.h"
#include "needlegrid/utf8.h"

#include <math.h>
#include <stdlib.h>

enum { TRIALS_EACH = 600, MOST_DEPTHS = 5 };

/* A template with a haystack and options, twice: the same specification must give the same. */
struct subject {
    struct prompt_template *tpl;
    const struct tokenizer *tok;
    struct trial_options options;
    double depths[MOST_DEPTHS];
    struct setup a, b;
    size_t minimum;
    struct buf text; /* of the prompt */
    struct buf part;
};

/* How often a value stands in the text with no letter or digit at its ends. */
static size_t count_whole(const char *text, const char *value)
{
    static const char inner[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t len = strlen(value);
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, value)); p++)
        n += (p == text || !strchr(inner, p[-1])) && (!p[len] || !strchr(inner, p[len]));
    return n;
}

static void expect_budget(struct subject *s, const struct trial *t)
{
    token_id bos = tokenizer_bos(s->tok);
    size_t n = 0;

    assert_true(t->prompt.n + t->max_tokens <= t->spec.context_length);
    assert_int_equal(t->max_tokens, s->tpl->max_tokens);
    assert_true(t->answer.n <= t->max_tokens);
    for (size_t i = 0; i < t->prompt.n; i++)
        n += t->prompt.ids[i] == bos;
    assert_int_equal(n, 1);
    assert_int_equal(t->prompt.ids[0], bos);
    assert_int_equal(utf8_invalid_at(s->text.data, s->text.len), s->text.len);
}

/* What an answer is made of stands where it was planted and nowhere else. */
static void expect_counts(struct subject *s, const struct trial *t)
{
    for (size_t i = 0; i < t->n_expected; i++) {
        size_t n = count_whole(s->text.data, t->expected[i]);
        if (s->tpl->kind == TASK_NO_CONTEXT)
            assert_int_equal(n, 0);
        else if (s->tpl->kind == TASK_CHAIN) /* each name but the last hands its value on */
            assert_int_equal(n, i + 1 < t->n_expected ? 2 : 1);
        else if (s->tpl->kind == TASK_NEEDLES)
            assert_int_equal(n, 1);
        else
            assert_true(n >= 2);
        for (size_t k = 0; k < t->n_decoys; k++)
            assert_string_not_equal(t->expected[i], t->decoys[k]);
    }
    for (size_t i = 0; i < t->n_decoys && s->tpl->kind != TASK_CHAIN; i++)
        assert_int_equal(count_whole(s->text.data, t->decoys[i]), 1);
    assert_int_equal(t->absent, s->tpl->kind == TASK_ABSENT);
    if (t->absent) /* in the question alone, once in the prefix */
        assert_int_equal(count_whole(s->text.data, t->key), 2);
}

/* The words asked for come more often than all others, by brute force. */
static void expect_list(struct subject *s, const struct trial *t)
{
    const char *from;
    size_t least = SIZE_MAX;
    char word[64];

    decode_ids(s->tok, t->prompt.ids, t->question_at, &s->part);
    for (size_t i = 0; i < t->n_expected; i++) {
        size_t n = count_whole(s->part.data, t->expected[i]);
        least = n < least ? n : least;
    }
    from = s->part.data + strlen("<|bos|>") + strlen(s->tpl->preamble);
    for (size_t n; *from; from += n) {
        bool asked = false;
        from += strspn(from, " 0123456789.");
        n = strcspn(from, " ");
        if (n == 0)
            break;
        assert_true(n < sizeof(word));
        memcpy(word, from, n);
        word[n] = '\0';
        for (size_t i = 0; i < t->n_expected; i++)
            asked |= strcmp(word, t->expected[i]) == 0;
        if (!asked)
            assert_true(count_whole(s->part.data, word) < least);
    }
}

/* Spans point at what they say; needles apart; those of one key or chain in order. */
static void expect_spans(struct subject *s, const struct trial *t)
{
    for (size_t i = 0; i < t->n_needles; i++) {
        const struct planted *p = &t->needles[i];
        assert_true(p->at > 0 && p->at + p->n_tokens <= t->question_at);
        assert_true(p->value_at >= p->at && p->value_at + p->value_tokens <= p->at + p->n_tokens);
        decode_ids(s->tok, t->prompt.ids + p->at, p->n_tokens, &s->part);
        assert_int_equal(count_whole(s->part.data, p->value), 1);
        assert_int_equal(s->part.data[0], ' ');
        decode_ids(s->tok, t->prompt.ids + p->value_at, p->value_tokens, &s->part);
        assert_non_null(strstr(s->part.data, p->value));
        for (size_t k = 0; k < i; k++) {
            const struct planted *q = &t->needles[k];
            assert_true(q->at + q->n_tokens <= p->at || p->at + p->n_tokens <= q->at);
            assert_string_not_equal(p->value, q->value);
            if (s->tpl->kind == TASK_CHAIN && strcmp(p->key, q->key) == 0)
                assert_true(q->at < p->at);
            else if (s->tpl->values == 1)
                assert_string_not_equal(p->key, q->key);
        }
    }
}

/* Without its needles the prompt is opening, haystack, question. */
static void expect_haystack(struct subject *s, const struct trial *t)
{
    size_t planted = 0;
    size_t opening;
    struct window w;
    struct error e;

    for (size_t i = 0; i < t->n_needles; i++)
        planted += t->needles[i].n_tokens;
    opening = t->question_at - planted - t->haystack_tokens;
    if (haystack_window(s->a.ht, t->spec.seed, t->spec.sample, t->haystack_tokens + 600, &w, &e) !=
        OK)
        fail_msg("%s", e.message);
    for (size_t at = opening, hay = 0; hay < t->haystack_tokens; at++) {
        bool needle = false;
        for (size_t i = 0; i < t->n_needles && !needle; i++)
            if (t->needles[i].at == at) {
                at += t->needles[i].n_tokens - 1;
                needle = true;
            }
        if (!needle)
            assert_int_equal(t->prompt.ids[at], w.ids[hay++]);
    }
}

/* Every needle stands between two sentences. */
static void expect_places(struct subject *s, const struct trial *t)
{
    size_t opening = t->question_at - t->haystack_tokens;
    struct window w;
    struct error e;

    if (haystack_window(s->a.ht, t->spec.seed, t->spec.sample, t->haystack_tokens + 1, &w, &e) !=
        OK)
        fail_msg("%s", e.message);
    for (size_t i = 0; i < t->n_needles; i++)
        opening -= t->needles[i].n_tokens;
    for (size_t i = 0; i < t->n_needles; i++) {
        size_t hay = t->needles[i].at - opening;
        bool found = false;
        for (size_t k = 0; k < t->n_needles; k++)
            hay -= t->needles[k].at < t->needles[i].at ? t->needles[k].n_tokens : 0;
        for (size_t k = 0; k < w.n_boundaries && !found; k++)
            found = w.boundaries[k] == hay;
        assert_true(found || hay == t->haystack_tokens);
    }
}

static void expect_depth(struct subject *s, const struct trial *t)
{
    if (!template_has_depth(s->tpl)) {
        assert_true(isnan(t->actual_depth));
        return;
    }
    assert_true(t->actual_depth >= 0 && t->actual_depth <= 100);
    assert_true(t->needle_tokens > 0);
    if (t->spec.depth == 0)
        assert_true(t->actual_depth == 0);
    if (t->spec.depth == 100)
        assert_true(t->actual_depth == 100);
    /* one sentence has at most 200 tokens here; packed needles may have to give way to others */
    if (s->options.n_depths == 0)
        assert_true(fabs(t->actual_depth - t->spec.depth) / 100 * (double)t->haystack_tokens < 200);
}

static void expect_same(const struct trial *a, const struct trial *b)
{
    assert_int_equal(a->prompt.n, b->prompt.n);
    assert_memory_equal(a->prompt.ids, b->prompt.ids, a->prompt.n * sizeof(token_id));
    assert_int_equal(a->answer.n, b->answer.n);
    assert_memory_equal(a->answer.ids, b->answer.ids, a->answer.n * sizeof(token_id));
    assert_int_equal(a->n_needles, b->n_needles);
    for (size_t i = 0; i < a->n_needles; i++)
        assert_int_equal(a->needles[i].at, b->needles[i].at);
}

static bool same_prompt(const struct trial *a, const struct trial *b)
{
    return a->prompt.n == b->prompt.n &&
           memcmp(a->prompt.ids, b->prompt.ids, a->prompt.n * sizeof(token_id)) == 0;
}

static void check_one(struct subject *s, struct rng *r)
{
    size_t length = s->minimum + (size_t)((exp2(5 * rng_double(r)) - 1) * 60);
    double depth = rng_below(r, 8) == 0 ? (double)(50 * rng_below(r, 3)) : 100 * rng_double(r);
    uint64_t sample = rng_below(r, 1000);
    uint64_t seed = rng_next(r);
    struct trial a;
    struct trial b;

    if (s->options.n_depths)
        depth = s->depths[rng_below(r, s->options.n_depths)];
    a = build_trial(s->a.b, length, depth, sample, seed);
    decode_ids(s->tok, a.prompt.ids, a.prompt.n, &s->text);
    expect_budget(s, &a);
    expect_counts(s, &a);
    expect_spans(s, &a);
    expect_depth(s, &a);
    if (s->a.ht) {
        expect_haystack(s, &a);
        expect_places(s, &a);
    } else if (s->tpl->kind != TASK_NO_CONTEXT) {
        expect_list(s, &a);
    }
    b = build_trial(s->b.b, length, depth, sample, seed);
    expect_same(&a, &b);
    trial_release(&b);
    b = build_trial(s->b.b, length, depth, sample, seed + 1);
    if (s->tpl->kind != TASK_NO_CONTEXT) /* there are but 65 questions */
        assert_false(same_prompt(&a, &b));
    trial_release(&b);
    trial_release(&a);
}

/* Other options each time: distractors and packed needles, where the kind has them. */
static void open_subject(struct subject *s, const char *haystack, struct rng *r)
{
    bool many = s->tpl->kind == TASK_NEEDLES || s->tpl->kind == TASK_ABSENT;
    struct error e;

    s->options = trial_options_of(s->tpl);
    if (many && rng_below(r, 2))
        s->options.distractors = (size_t)rng_below(r, 9);
    if (s->tpl->kind == TASK_NEEDLES && s->tpl->queries == 1 && rng_below(r, 2)) {
        s->options.depths = s->depths;
        s->options.n_depths = 1 + (size_t)rng_below(r, MOST_DEPTHS);
        for (size_t i = 0; i < s->options.n_depths; i++)
            s->depths[i] = (double)(100 * i) / (double)MOST_DEPTHS;
    }
    if (setup_try(&s->a, haystack, NULL, s->tpl, &s->options, s->tok, &e) != OK ||
        setup_try(&s->b, haystack, NULL, s->tpl, &s->options, s->tok, &e) != OK ||
        trial_minimum_length(s->a.b, &s->minimum, &e) != OK)
        fail_msg("%s with %s: %s", s->tpl->name, haystack, e.message);
}

static void check_template(const char *name, const struct tokenizer *tok, size_t number)
{
    static const char *const haystacks[] = {"essays", "prose", "noise"};
    struct subject s = {.tok = tok, .text = BUF_INIT(1 << 20), .part = BUF_INIT(1 << 20)};
    struct rng r = rng_make(3, "tasks", number);
    struct error e;

    if (template_open(&s.tpl, name, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    for (size_t i = 0; i < 4; i++) {
        const char *own = s.tpl->haystack ? s.tpl->haystack : "essays";
        open_subject(&s, i == 0 ? own : haystacks[i - 1], &r);
        for (int k = 0; k < TRIALS_EACH / 4; k++)
            check_one(&s, &r);
        setup_close(&s.a);
        setup_close(&s.b);
    }
    template_free(s.tpl);
    buf_release(&s.text);
    buf_release(&s.part);
}

static void promises_hold_for_every_task(void **state)
{
    struct fixture f = fixture_open_tiny();
    char **names;
    size_t n;
    struct error e;

    (void)state;
    assert_int_equal(os_list(&names, &n, "prompts", ".json", &e), OK);
    assert_true(n * TRIALS_EACH >= 10000);
    for (size_t i = 0; i < n; i++) {
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        check_template(names[i], f.t, i);
    }
    os_names_free(names, n);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_hold_for_every_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
