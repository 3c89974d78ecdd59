/*
 * Trials: what the protocol promises of every prompt, on many random specifications; then single
 * cases and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"
#include "needlegrid/rng.h"
#include "needlegrid/sentence.h"
#include "needlegrid/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the promises ---- */

static size_t count_word(const char *text, const char *word)
{
    size_t n = 0;
    size_t len = strlen(word);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    for (const char *p = text; (p = strstr(p, word)); p++)
        n += (p == text || !strchr(letters, p[-1])) && (!p[len] || !strchr(letters, p[len]));
    return n;
}

static void expect_budget(struct setup *s, const struct tokenizer *tok, const struct trial *t)
{
    size_t total = t->prompt.n + t->max_tokens;
    size_t budget = t->spec.context_length - (total - t->haystack_tokens);
    struct window w;
    struct error e;
    size_t bos = 0;
    size_t i = 0;

    assert_true(total <= t->spec.context_length);
    assert_int_equal(t->max_tokens, 16);
    assert_int_equal(t->haystack_tokens + 1 + t->needle_tokens, t->question_at);
    if (haystack_window(s->ht, t->spec.seed, t->spec.sample, budget + 3000, &w, &e) != OK)
        fail_msg("%s", e.message);
    while (i < w.n_boundaries && w.boundaries[i] <= t->haystack_tokens)
        i++;
    /* under by less than the sentence that did not fit; by less than a character if it was cut */
    if (w.boundaries[i - 1] == t->haystack_tokens)
        assert_true(i == w.n_boundaries || w.boundaries[i] > budget);
    else if (budget - t->haystack_tokens >= 4)
        fail_msg("length %zu, sample %llu, seed %llu: %zu of %zu tokens", t->spec.context_length,
                 (unsigned long long)t->spec.sample, (unsigned long long)t->spec.seed,
                 t->haystack_tokens, budget);
    for (size_t k = 0; k < t->prompt.n; k++)
        bos += t->prompt.ids[k] == tokenizer_bos(tok);
    assert_int_equal(bos, 1);
    assert_int_equal(t->prompt.ids[0], tokenizer_bos(tok));
    assert_int_equal(tokenizer_wants_bos(tok), 1);
}

static void expect_place(struct setup *s, const struct trial *t)
{
    size_t before = t->needle_at - 1; /* BOS */
    double wanted = t->spec.depth / 100 * (double)t->haystack_tokens;
    double distance = fabs(wanted - (double)before);
    double left;
    double right;
    struct window w;
    struct error e;
    size_t i = 0;

    assert_true(t->actual_depth == 100 * (double)before / (double)t->haystack_tokens);
    if (t->spec.depth == 0)
        assert_int_equal(before, 0);
    if (t->spec.depth == 100)
        assert_int_equal(before, t->haystack_tokens);
    if (haystack_window(s->ht, t->spec.seed, t->spec.sample, t->haystack_tokens, &w, &e) != OK)
        fail_msg("%s", e.message);
    while (i + 1 < w.n_boundaries && (double)w.boundaries[i + 1] <= wanted)
        i++;
    left = fabs(wanted - (double)w.boundaries[i]);
    right =
        fabs((double)(i + 1 < w.n_boundaries ? w.boundaries[i + 1] : t->haystack_tokens) - wanted);
    if (left > 511 && right > 511) /* no sentence ends near: the exact place, a character's start */
        assert_true(distance < 4);
    else /* the nearest sentence's end, so under a sentence away; half a token for rounding */
        assert_true(distance <= fmin(left, right) + 1);
}

static void expect_text(const struct tokenizer *tok, const struct trial *t, struct buf *text)
{
    char needle[100];
    char question[200];
    size_t n;

    decode_ids(tok, t->prompt.ids, t->prompt.n, text);
    assert_int_equal(utf8_invalid_at(text->data, text->len), text->len);
    assert_int_equal(count_text(text->data, t->expected[0]), 1);
    assert_int_equal(count_word(text->data, t->key), 3);
    n = (size_t)snprintf(
        question, sizeof(question),
        " What is the special magic %s number? The special magic %s number is: ", t->key, t->key);
    assert_true(text->len > n);
    assert_string_equal(text->data + text->len - n, question);
    snprintf(needle, sizeof(needle), " The special magic %s number is: %s.", t->key,
             t->expected[0]);
    decode_ids(tok, t->prompt.ids + t->needle_at, t->needle_tokens, text);
    assert_string_equal(text->data, needle);
    decode_ids(tok, t->answer.ids, t->answer.n, text);
    assert_string_equal(text->data, t->expected[0]);
}

/* ids[0..n) are the encodings of the sentences in their text; the last one may be cut. */
static void expect_sentences(const struct tokenizer *tok, const token_id *ids, size_t n,
                             struct buf *text)
{
    struct tokens again = {0};
    struct error e;
    size_t last = 0;

    decode_ids(tok, ids, n, text);
    assert_int_equal(utf8_invalid_at(buf_str(text), text->len), text->len);
    for (size_t at = 0, end; at < text->len; at = end) {
        end = sentence_end(text->data, text->len, at);
        last = again.n;
        if (tokenizer_encode(tok, text->data + at, end - at, TOKENIZE_PLAIN, &again, &e) != OK)
            fail_msg("%s", e.message);
    }
    if (n > 0 && strchr(".?!\"", text->data[text->len - 1]))
        last = n;
    assert_true(last <= n && (last < n || again.n == n));
    if (last > 0)
        assert_memory_equal(again.ids, ids, last * sizeof(token_id));
    tokens_release(&again);
}

static void expect_same(const struct trial *a, const struct trial *b)
{
    assert_int_equal(a->prompt.n, b->prompt.n);
    assert_memory_equal(a->prompt.ids, b->prompt.ids, a->prompt.n * sizeof(token_id));
    assert_int_equal(a->needle_at, b->needle_at);
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->expected[0], b->expected[0]);
    assert_true(a->actual_depth == b->actual_depth);
}

/* True if both prompts begin their haystacks alike. */
static bool same_haystack(const struct trial *a, const struct trial *b)
{
    size_t i = 1;
    size_t k = 1;

    for (int n = 0; n < 10; n++, i++, k++) {
        if (i == a->needle_at)
            i += a->needle_tokens;
        if (k == b->needle_at)
            k += b->needle_tokens;
        if (a->prompt.ids[i] != b->prompt.ids[k])
            return false;
    }
    return true;
}

enum { KINDS = 4, TRIALS_EACH = 2600 };

struct tally {
    size_t same_value;
    size_t same_haystack;
    size_t n;
};

static void check_one(struct setup *s, struct setup *other, const struct tokenizer *tok,
                      struct rng *r, struct tally *tally)
{
    /* lengths evenly over the powers of two */
    size_t length = (size_t)(64 * exp2(6 * rng_double(r)));
    double depth = rng_below(r, 8) == 0 ? (double)(50 * rng_below(r, 3)) : 100 * rng_double(r);
    uint64_t sample = rng_below(r, 1000);
    uint64_t seed = rng_next(r);
    struct trial a = build_trial(s->b, length, depth, sample, seed);
    struct trial b = {0};
    struct buf text = BUF_INIT(1 << 20);

    expect_text(tok, &a, &text);
    expect_budget(s, tok, &a);
    expect_place(s, &a);
    expect_sentences(tok, a.prompt.ids + 1, a.needle_at - 1, &text);
    expect_sentences(tok, a.prompt.ids + a.needle_at + a.needle_tokens,
                     a.question_at - a.needle_at - a.needle_tokens, &text);
    b = build_trial(other->b, length, depth, sample, seed);
    expect_same(&a, &b);
    trial_release(&b);
    b = build_trial(other->b, length, depth, sample, seed + 1);
    tally->n++;
    tally->same_value += strcmp(a.expected[0], b.expected[0]) == 0;
    tally->same_haystack += same_haystack(&a, &b);
    trial_release(&b);
    trial_release(&a);
    buf_release(&text);
}

static void promises_hold_for_random_trials(void **state)
{
    static const char *const names[KINDS] = {"essays", "prose", "noise", "mixed"};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct buf mixed = BUF_INIT(1 << 20);

    (void)state;
    write_mixed(&mixed);
    for (size_t k = 0; k < KINDS; k++) {
        const char *text = k == 3 ? buf_str(&mixed) : NULL;
        struct setup s = setup_open(names[k], text, tpl, f.t);
        struct setup other = setup_open(names[k], text, tpl, f.t);
        struct rng r = rng_make(2, "trials", k);
        struct tally tally = {0};
        for (int i = 0; i < TRIALS_EACH; i++)
            check_one(&s, &other, f.t, &r, &tally);
        assert_true(tally.same_value <= 1);
        /* noise has but five places to start; prose of two seeds can begin with the same words */
        assert_true(tally.same_haystack < tally.n * (k == 2 ? 30 : k == 3 ? 10 : 3) / 100);
        setup_close(&s);
        setup_close(&other);
    }
    buf_release(&mixed);
    template_free(tpl);
    fixture_close(&f);
}

/* ---- single cases ---- */

static void the_ends_are_exact(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s = setup_open("essays", NULL, tpl, f.t);

    (void)state;
    for (uint64_t sample = 0; sample < 20; sample++) {
        struct trial first = build_trial(s.b, 500, 0, sample, 1);
        struct trial last = build_trial(s.b, 500, 100, sample, 1);
        assert_int_equal(first.needle_at, 1);
        assert_true(first.actual_depth == 0);
        assert_int_equal(last.needle_at + last.needle_tokens, last.question_at);
        assert_true(last.actual_depth == 100);
        assert_int_equal(first.haystack_tokens, last.haystack_tokens);
        assert_memory_equal(first.prompt.ids + 1 + first.needle_tokens, last.prompt.ids + 1,
                            first.haystack_tokens * sizeof(token_id));
        trial_release(&first);
        trial_release(&last);
    }
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

static void lengths_share_their_beginning(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s = setup_open("prose", NULL, tpl, f.t);
    struct trial a = build_trial(s.b, 1000, 100, 4, 1);
    struct trial b = build_trial(s.b, 4000, 100, 4, 1);

    (void)state;
    assert_memory_equal(a.prompt.ids, b.prompt.ids, a.needle_at * sizeof(token_id));
    assert_string_equal(a.expected[0], b.expected[0]);
    trial_release(&a);
    trial_release(&b);
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

static const char small_template[] =
    "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key}: {value}.\","
    " \"question\": \" {key}?\", \"answer_prefix\": \" It is \", \"value\": {\"digits\": %d},"
    " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": %d, \"keys\": [\"Ulm\"]}";

static struct prompt_template *make_template(int digits, int max_tokens)
{
    char text[1000];
    struct prompt_template *t;
    struct error e;

    snprintf(text, sizeof(text), small_template, digits, max_tokens);
    if (template_parse(&t, text, strlen(text), "small.json", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

/* GPT-2's tokenizer joins a space and the digits behind it: the space is then the answer's. */
static void the_prompt_ends_where_the_answer_begins(void **state)
{
    struct small small = {"gpt-2",
                          {"\xc4\xa0"
                           "8"},
                          NULL,
                          {"\xc4\xa0 8"}};
    struct fixture f = fixture_open_small(&small);
    struct prompt_template *tpl = make_template(5, 8);
    struct setup s = setup_open("text", "Some words. And some more.", tpl, f.t);
    size_t joined = 0;

    (void)state;
    assert_false(tokenizer_wants_bos(f.t));
    for (uint64_t sample = 0; sample < 100; sample++) {
        struct trial t = build_trial(s.b, 64, 50, sample, 1);
        struct buf prompt = BUF_INIT(1000);
        bool eight = t.expected[0][0] == '8';
        char answer[32];
        decode_ids(f.t, t.prompt.ids, t.prompt.n, &prompt);
        assert_string_equal(prompt.data + prompt.len - (eight ? 6 : 7),
                            eight ? " It is" : " It is ");
        buf_clear(&prompt);
        decode_ids(f.t, t.answer.ids, t.answer.n, &prompt);
        snprintf(answer, sizeof(answer), "%s%s", eight ? " " : "", t.expected[0]);
        assert_string_equal(prompt.data, answer);
        assert_int_equal(t.answer.n, 5);
        assert_true(t.prompt.ids[0] != tokenizer_bos(f.t)); /* there is none */
        joined += eight;
        buf_release(&prompt);
        trial_release(&t);
    }
    assert_true(joined > 2);
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* ---- many needles ---- */

static struct prompt_template *open_prompt(const char *name)
{
    struct prompt_template *t;
    struct error e;

    if (template_open(&t, name, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

static const char two_hops[] =
    "{\"task\": \"t\", \"description\": \"d\", \"needle\": [\" {key} lives in the {house}.\","
    " \" The {house} has the number {value}.\"], \"question\": \" Which number has {key}?\","
    " \"answer_prefix\": \" {key} of the {house} has \", \"value\": {\"digits\": 5},"
    " \"fields\": {\"house\": \"words\"}, \"distractors\": 4, \"scorer\": \"number\","
    " \"stop\": [], \"max_tokens\": 8, \"keys\": {\"capitals\": 4}}";

/* Two needles have to be put together; the one with the value is at the depth. */
static void needles_with_fields(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = parse_template(two_hops);
    struct setup s = setup_open("essays", NULL, tpl, f.t);
    struct buf text = BUF_INIT(1 << 20);

    (void)state;
    for (uint64_t sample = 0; sample < 50; sample++) {
        struct trial t = build_trial(s.b, 900, 100, sample, 1);
        const struct planted *first = &t.needles[0];
        const struct planted *second = &t.needles[1];
        char house[64];
        const char *at;
        assert_int_equal(t.n_needles, 10);
        assert_int_equal(t.n_expected, 1);
        assert_int_equal(t.n_decoys, 4);
        assert_true(first->asked && second->asked && !t.needles[2].asked);
        assert_string_equal(first->value, "");
        assert_int_equal(first->value_tokens, 0);
        assert_int_equal(t.needle_at, second->at);
        assert_int_equal(second->at + second->n_tokens, t.question_at);
        decode_ids(f.t, t.prompt.ids + first->at, first->n_tokens, &text);
        at = strstr(text.data, " lives in the ");
        assert_non_null(at);
        snprintf(house, sizeof(house), "%.*s", (int)strcspn(at + 14, "."), at + 14);
        decode_ids(f.t, t.prompt.ids, t.prompt.n, &text);
        assert_int_equal(count_text(text.data, house), 3);
        trial_release(&t);
    }
    setup_close(&s);
    template_free(tpl);
    buf_release(&text);
    fixture_close(&f);
}

/* Distractors do not change what is asked for, nor each other. */
static void distractors_come_on_top(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup plain = setup_open("essays", NULL, tpl, f.t);
    struct trial few;
    struct trial many;
    struct error e;

    (void)state;
    for (uint64_t sample = 0; sample < 20; sample++) {
        struct trial alone = build_trial(plain.b, 1500, 50, sample, 3);
        struct trial_options o = {.distractors = 5};
        struct setup a;
        struct setup b;
        assert_int_equal(setup_try(&a, "essays", NULL, tpl, &o, f.t, &e), OK);
        o.distractors = 20;
        assert_int_equal(setup_try(&b, "essays", NULL, tpl, &o, f.t, &e), OK);
        few = build_trial(a.b, 1500, 50, sample, 3);
        many = build_trial(b.b, 1500, 50, sample, 3);
        assert_string_equal(few.key, alone.key);
        assert_string_equal(many.expected[0], alone.expected[0]);
        assert_int_equal(few.n_decoys, 5);
        assert_int_equal(many.n_decoys, 20);
        for (size_t i = 0; i < 5; i++)
            assert_string_equal(few.decoys[i], many.decoys[i]);
        assert_true(fabs(many.actual_depth - 50) < 10);
        trial_release(&alone);
        trial_release(&few);
        trial_release(&many);
        setup_close(&a);
        setup_close(&b);
    }
    setup_close(&plain);
    template_free(tpl);
    fixture_close(&f);
}

static size_t count_differences(const char *a, const char *b)
{
    size_t n = 0;

    for (size_t i = 0; a[i] && b[i]; i++)
        n += a[i] != b[i];
    return n + (strlen(a) != strlen(b) ? 100 : 0);
}

static void near_keys_and_values(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_prompt("uuid");
    struct setup s = setup_open("essays", NULL, tpl, f.t);

    (void)state;
    for (uint64_t sample = 0; sample < 50; sample++) {
        struct trial t = build_trial(s.b, 2000, 50, sample, 1);
        assert_int_equal(t.n_needles, 4);
        for (size_t i = 1; i < 4; i++) {
            assert_int_equal(count_differences(t.needles[i].key, t.key), 1);
            assert_int_equal(count_differences(t.needles[i].value, t.expected[0]), 1);
        }
        trial_release(&t);
    }
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* The prompts of one context differ in the question alone; each asks for the needle at its depth.
 */
static void packed_contexts(void **state)
{
    static const double depths[] = {0, 30, 60, 100};
    struct trial_options o = {.depths = depths, .n_depths = 4, .distractors = 2};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s;
    struct error e;
    struct trial_spec other = {1000, 50, 1, 1};
    struct trial t = {.key = NULL};

    (void)state;
    assert_int_equal(setup_try(&s, "essays", NULL, tpl, &o, f.t, &e), OK);
    for (uint64_t sample = 0; sample < 50; sample++) {
        struct trial first = build_trial(s.b, 1000, 0, sample, 1);
        for (size_t d = 1; d < 4; d++) {
            struct trial next = build_trial(s.b, 1000, depths[d], sample, 1);
            assert_int_equal(next.question_at, first.question_at);
            assert_memory_equal(next.prompt.ids, first.prompt.ids,
                                first.question_at * sizeof(token_id));
            assert_string_not_equal(next.key, first.key);
            assert_string_equal(next.expected[0], next.needles[d].value);
            assert_int_equal(next.needle_at, next.needles[d].at);
            assert_true(next.needles[d].asked && !next.needles[0].asked);
            assert_int_equal(next.n_decoys, 3 + 2);
            assert_true(fabs(next.actual_depth - depths[d]) < 12);
            trial_release(&next);
        }
        trial_release(&first);
    }
    assert_int_equal(trial_build(s.b, &other, &t, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "depth 50: the packed prompts have no needle there"));
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* What each word list promises: how often every word stands in it. */
static void lists_keep_their_counts(void **state)
{
    static const struct {
        const char *prompt;
        size_t length;
        size_t counts[3]; /* of the first three words asked for; 0 = any */
    } cases[] = {
        {"cwe", 20000, {30, 30, 30}},
        {"cwe", 700, {0, 0, 0}},
        {"fwe", 20000, {0, 0, 0}},
    };
    struct fixture f = fixture_open_tiny();
    struct buf text = BUF_INIT(1 << 20);

    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct prompt_template *tpl = open_prompt(cases[c].prompt);
        struct setup s = setup_open("none", NULL, tpl, f.t);
        struct trial t = build_trial(s.b, cases[c].length, (double)NAN, 3, 1);
        size_t counts[3];
        decode_ids(f.t, t.prompt.ids, t.question_at, &text);
        for (size_t i = 0; i < 3; i++) {
            counts[i] = count_word(text.data, t.expected[i]);
            assert_true(counts[i] >= 2);
            assert_true(cases[c].counts[i] == 0 || counts[i] == cases[c].counts[i]);
        }
        if (tpl->kind == TASK_FREQUENT_WORDS)
            assert_true(counts[0] > counts[1] && counts[1] > counts[2]);
        else
            assert_true(counts[0] == counts[1] && counts[1] == counts[2]);
        assert_true(t.prompt.n + t.max_tokens + 40 > cases[c].length);
        trial_release(&t);
        setup_close(&s);
        template_free(tpl);
    }
    buf_release(&text);
    fixture_close(&f);
}

/* ---- what is refused ---- */

static void expect_refused_spec(struct trial_builder *b, size_t length, double depth,
                                const char *message)
{
    struct trial_spec spec = {length, depth, 0, 1};
    struct trial t = {0};
    struct error e;

    assert_int_equal(trial_build(b, &spec, &t, &e), ERR_USAGE);
    assert_null(t.prompt.ids);
    if (!strstr(e.message, message))
        fail_msg("wanted \"%s\" in \"%s\"", message, e.message);
}

static void bad_specifications(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s = setup_open("essays", NULL, tpl, f.t);
    size_t minimum;
    struct error e;
    char message[100];
    struct trial t = {0};

    (void)state;
    assert_int_equal(trial_minimum_length(s.b, &minimum, &e), OK);
    snprintf(message, sizeof(message), "too short for template tokyo: the minimum is %zu", minimum);
    for (size_t n = 0; n < minimum; n++)
        expect_refused_spec(s.b, n, 50, message);
    for (uint64_t sample = 0; sample < 200; sample++) {
        t = build_trial(s.b, minimum, 50, sample, 1);
        assert_true(t.haystack_tokens > 0);
        trial_release(&t);
    }
    expect_refused_spec(s.b, 500, -0.1, "depth -0.1: it goes from 0 to 100");
    expect_refused_spec(s.b, 500, 100.5, "depth 100.5");
    expect_refused_spec(s.b, 500, (double)NAN, "it goes from 0 to 100");
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* One digit, so that a value is easily met by chance: it is not drawn then. */
static void a_value_in_the_haystack_is_not_drawn(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = make_template(1, 4);
    struct setup s = setup_open("text", "All of 1234 and 6789 but not the one between.", tpl, f.t);
    struct setup bad;
    struct error e;

    (void)state;
    for (uint64_t sample = 0; sample < 100; sample++) {
        struct trial t = build_trial(s.b, 100, 50, sample, 1);
        assert_string_equal(t.expected[0], "5");
        trial_release(&t);
    }
    setup_close(&s);
    assert_int_equal(setup_try(&bad, "text", "987654321", tpl, NULL, f.t, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "template small: the values run out: there are 9"));
    setup_close(&bad);
    template_free(tpl);
    fixture_close(&f);
}

/* "Oslo" stands in the text: no sample asks for it, and the others keep their keys. */
static void a_key_in_the_haystack_is_not_drawn(void **state)
{
    static const char text[] = "He went to Oslo. She did not, and stayed at home for a year.";
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct buf names = BUF_INIT(1000);
    size_t redrawn = 0;
    struct setup all = setup_open("text", "Nothing of the kind.", tpl, f.t);
    struct trial t = {0};
    struct haystack *h;
    struct haystack_tokens *ht;
    struct trial_builder *b;
    struct error e;

    (void)state;
    assert_int_equal(haystack_from_text(&h, "my.txt", text, strlen(text), &e), OK);
    assert_int_equal(haystack_tokenize(&ht, h, f.t, &e), OK);
    assert_int_equal(trial_builder_new(&b, tpl, NULL, ht, f.t, &e), OK);
    assert_int_equal(trial_skipped_keys(b, &names), 1);
    assert_string_equal(buf_str(&names), "Oslo");
    for (uint64_t sample = 0; sample < 1000; sample++) {
        struct trial_spec spec = {100, 50, sample, 0};
        struct trial other = build_trial(all.b, 100, 50, sample, 0);
        assert_int_equal(trial_build(b, &spec, &t, &e), OK);
        assert_string_not_equal(t.key, "Oslo");
        redrawn += strcmp(t.key, other.key) != 0;
        assert_true(strcmp(t.key, other.key) == 0 || strcmp(other.key, "Oslo") == 0);
        trial_release(&other);
    }
    assert_in_range(redrawn, 5, 35);
    setup_close(&all);
    trial_release(&t);
    buf_release(&names);
    trial_builder_free(b);
    haystack_tokens_free(ht);
    haystack_free(h);
    template_free(tpl);
    fixture_close(&f);
}

static void a_haystack_with_every_key_is_refused(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct buf text = BUF_INIT(10000);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct trial_builder *b;
    struct error e;

    (void)state;
    for (size_t i = 0; i < tpl->keys.n_list; i++)
        buf_printf(&text, "We went to %s. ", tpl->keys.list[i]);
    assert_int_equal(haystack_from_text(&h, "my.txt", text.data, text.len, &e), OK);
    assert_int_equal(haystack_tokenize(&ht, h, f.t, &e), OK);
    assert_int_equal(trial_builder_new(&b, tpl, NULL, ht, f.t, &e), ERR_FORMAT);
    assert_null(b);
    assert_non_null(strstr(e.message, "template tokyo: every key stands in the haystack"));
    haystack_tokens_free(ht);
    haystack_free(h);
    buf_release(&text);
    template_free(tpl);
    fixture_close(&f);
}

static void an_answer_longer_than_its_reserve(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = make_template(7, 6);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct trial_builder *b;
    struct error e;

    (void)state;
    assert_int_equal(haystack_from_text(&h, "t", "Text.", 5, &e), OK);
    assert_int_equal(haystack_tokenize(&ht, h, f.t, &e), OK);
    assert_int_equal(trial_builder_new(&b, tpl, NULL, ht, f.t, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "has 7 tokens, and max_tokens is 6"));
    haystack_tokens_free(ht);
    haystack_free(h);
    template_free(tpl);
    fixture_close(&f);
}

/* More keys than the list has, or than the haystack leaves. */
static void keys_run_out(void **state)
{
    struct trial_options o = {.distractors = 64};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s;
    struct error e;

    (void)state;
    assert_int_equal(setup_try(&s, "text", "Nothing.", tpl, &o, f.t, &e), OK);
    setup_close(&s);
    assert_int_equal(setup_try(&s, "text", "We went to Oslo.", tpl, &o, f.t, &e), ERR_USAGE);
    assert_string_equal(e.message,
                        "template tokyo: the keys run out: it has 65, 1 of them stand in the "
                        "haystack, and a prompt needs more than 64");
    setup_close(&s);
    o.distractors = 65;
    assert_int_equal(setup_try(&s, "text", "Nothing.", tpl, &o, f.t, &e), ERR_USAGE);
    assert_string_equal(e.message, "template tokyo: the keys run out: there are 65, and a prompt "
                                   "needs more than 65");
    setup_close(&s);
    o.distractors = 1000;
    assert_int_equal(setup_try(&s, "text", "Nothing.", tpl, &o, f.t, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "1001 needles: at most 1000"));
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* Strings of every generator that stand in the text are not drawn. */
static void nothing_is_drawn_that_stands_in_the_text(void **state)
{
    static const char form[] =
        "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key} is {value}.\","
        " \"question\": \" What is {key}?\", \"answer_prefix\": \" It is \", \"value\": %s,"
        " \"scorer\": \"contains\", \"stop\": [], \"max_tokens\": 40, \"keys\": [\"Ulm\"]}";
    static const char *const values[] = {"{\"digits\": 1}", "{\"letters\": 1}", "{\"capitals\": 1}",
                                         "[\"red\", \"green\", \"blue sky\"]"};
    static const char text[] = "Of 1 to 8 there are x23456789, and b c d e f g h i j k l m n o p q "
                               "r s t u v w x y z; B C D E F G H I J K L M N O P Q R S T U V W X Y "
                               "Z but no first one, a red or (blue sky).";
    static const char *const left[] = {NULL, "a", "A", "green"};
    struct fixture f = fixture_open_tiny();
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        char json[1000];
        struct prompt_template *tpl;
        struct setup s;
        snprintf(json, sizeof(json), form, values[i]);
        tpl = parse_template(json);
        if (left[i] && i != 1) {
            struct trial t;
            assert_int_equal(setup_try(&s, "text", text, tpl, NULL, f.t, &e), OK);
            t = build_trial(s.b, 200, 50, 7, 1);
            assert_string_equal(t.expected[0], left[i]);
            trial_release(&t);
        } else { /* "a" is there as well, and all digits are */
            assert_int_equal(setup_try(&s, "text", text, tpl, NULL, f.t, &e), ERR_USAGE);
            assert_non_null(strstr(e.message, "the values run out"));
        }
        setup_close(&s);
        template_free(tpl);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_hold_for_random_trials),
        cmocka_unit_test(the_ends_are_exact),
        cmocka_unit_test(lengths_share_their_beginning),
        cmocka_unit_test(the_prompt_ends_where_the_answer_begins),
        cmocka_unit_test(bad_specifications),
        cmocka_unit_test(a_value_in_the_haystack_is_not_drawn),
        cmocka_unit_test(a_key_in_the_haystack_is_not_drawn),
        cmocka_unit_test(a_haystack_with_every_key_is_refused),
        cmocka_unit_test(an_answer_longer_than_its_reserve),
        cmocka_unit_test(needles_with_fields),
        cmocka_unit_test(distractors_come_on_top),
        cmocka_unit_test(near_keys_and_values),
        cmocka_unit_test(packed_contexts),
        cmocka_unit_test(lists_keep_their_counts),
        cmocka_unit_test(keys_run_out),
        cmocka_unit_test(nothing_is_drawn_that_stands_in_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
