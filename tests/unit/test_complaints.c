/*
 * What users of other tools complained of in prompts, each as the test that would have caught it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"
#include "needlegrid/os.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the shipped prompts ---- */

static struct prompt_template *open_template(const char *name)
{
    struct prompt_template *t;
    struct error e;

    if (template_open(&t, name, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

/* In the haystack it is made for. */
static struct setup open_setup(const struct prompt_template *tpl, const struct fixture *f)
{
    return setup_open(tpl->haystack ? tpl->haystack : "essays", NULL, tpl, f->t);
}

typedef void check_fn(const struct fixture *f, const struct prompt_template *tpl, struct setup *s);

/* Calls `check` for each prompt in prompts/. */
static void each_prompt(check_fn *check)
{
    struct fixture f = fixture_open_tiny();
    char **names;
    size_t n;
    struct error e;

    assert_int_equal(os_list(&names, &n, "prompts", ".json", &e), OK);
    assert_true(n > 10);
    for (size_t i = 0; i < n; i++) {
        struct prompt_template *tpl;
        struct setup s;
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        tpl = open_template(names[i]);
        s = open_setup(tpl, &f);
        check(&f, tpl, &s);
        setup_close(&s);
        template_free(tpl);
    }
    os_names_free(names, n);
    fixture_close(&f);
}

static size_t minimum_of(struct setup *s)
{
    size_t minimum;
    struct error e;

    if (trial_minimum_length(s->b, &minimum, &e) != OK)
        fail_msg("%s", e.message);
    return minimum;
}

/* ---- needle always lands at the start, since the period's token id differs ---- */

/* Where a sentence has ended, near the depth, and reported as it is. */
static void expect_depths(const struct fixture *f, struct setup *s, size_t length)
{
    struct buf text = BUF_INIT(1 << 20);

    for (double depth = 10; depth < 100; depth += 20) {
        struct trial t = build_trial(s->b, length, depth, 3, 1);
        size_t bos = tokenizer_wants_bos(f->t);
        size_t before = t.needle_at - bos;
        decode_ids(f->t, t.prompt.ids + bos, before, &text);
        if (!strchr(".?!\"", text.data[text.len - 1]))
            fail_msg("depth %g: the needle splits a sentence: %s", depth,
                     text.data + text.len - 20);
        assert_true(fabs(t.actual_depth - depth) < 5);
        assert_true(t.actual_depth == 100 * (double)before / (double)t.haystack_tokens);
        trial_release(&t);
    }
    buf_release(&text);
}

static void test_needle_lands_at_the_start_as_the_period_differs(void **state)
{
    static const struct small joined = {"qwen2", {".\""}, NULL, {". \""}};
    struct fixture fixtures[] = {fixture_open_tiny(), fixture_open_small(&joined)};
    struct prompt_template *tpl = open_tokyo();
    struct buf quotes = BUF_INIT(1 << 20);

    (void)state;
    for (size_t i = 0; i < 300; i++)
        buf_printf(&quotes, "\"Row %zu went by.\" ", i);
    for (size_t i = 0; i < COUNT(fixtures); i++) {
        struct setup essays = setup_open("essays", NULL, tpl, fixtures[i].t);
        struct setup quoted = setup_open("quotes", buf_str(&quotes), tpl, fixtures[i].t);
        expect_depths(&fixtures[i], &essays, 6000);
        expect_depths(&fixtures[i], &quoted, 3000);
        setup_close(&essays);
        setup_close(&quoted);
    }
    /* with the second vocabulary, the period's own token never ends a sentence of the quotes */
    EXPECT_IDS(&fixtures[1], "a.\"", TOKENIZE_PLAIN, 'a', 256);
    buf_release(&quotes);
    template_free(tpl);
    fixture_close(&fixtures[0]);
    fixture_close(&fixtures[1]);
}

/* ---- BOS encoded into the needle; three BOS in the prompt ---- */

static size_t count_id(const token_id *ids, size_t n, token_id id)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += ids[i] == id;
    return found;
}

static void one_bos(const struct fixture *f, const struct prompt_template *tpl, struct setup *s)
{
    struct trial t = build_trial(s->b, minimum_of(s) + 300, 50, 1, 1);
    token_id bos = tokenizer_bos(f->t);

    (void)tpl;
    assert_true(tokenizer_wants_bos(f->t));
    assert_int_equal(t.prompt.ids[0], bos);
    assert_int_equal(count_id(t.prompt.ids, t.prompt.n, bos), 1);
    assert_int_equal(count_id(t.answer.ids, t.answer.n, bos), 0);
    trial_release(&t);
}

static void test_three_bos_in_the_prompt(void **state)
{
    (void)state;
    each_prompt(one_bos);
}

/* Its name in a text is text. */
static void test_bos_encoded_into_the_needle(void **state)
{
    static const char text[] =
        "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" %s {key}: {value}.\","
        " \"question\": \" %s {key}?\", \"answer_prefix\": \" It is \", \"value\": {\"digits\": 7},"
        " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": 8, \"keys\": [\"Ulm\", \"Bonn\"]}";
    struct fixture f = fixture_open_tiny();
    struct str name = tokenizer_bytes(f.t, tokenizer_bos(f.t));
    struct buf json = BUF_INIT(1000);
    struct buf hay = BUF_INIT(1000);
    char bos[64];

    (void)state;
    snprintf(bos, sizeof(bos), "%.*s", (int)name.n, name.p);
    assert_true(strlen(bos) > 3);
    buf_printf(&json, text, bos, bos);
    buf_printf(&hay, "First words. %s Then some more. And then %s came. The end.", bos, bos);
    {
        struct prompt_template *tpl = parse_template(buf_str(&json));
        struct setup s = setup_open("text", buf_str(&hay), tpl, f.t);
        for (uint64_t sample = 0; sample < 20; sample++) {
            struct trial t = build_trial(s.b, 400, 50, sample, 1);
            assert_int_equal(count_id(t.prompt.ids, t.prompt.n, tokenizer_bos(f.t)), 1);
            trial_release(&t);
        }
        setup_close(&s);
        template_free(tpl);
    }
    buf_release(&json);
    buf_release(&hay);
    fixture_close(&f);
}

/* ---- lengths sized with another model's tokenizer, or chars/4 ---- */

static void test_lengths_in_tokens_of_another_model(void **state)
{
    static const struct small bytes = {"qwen2", {NULL}, NULL, {NULL}};
    struct fixture fixtures[] = {fixture_open_tiny(), fixture_open_small(&bytes)};
    struct prompt_template *tpl = open_tokyo();
    struct buf text = BUF_INIT(1 << 20);
    size_t n_bytes[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct setup s = setup_open("essays", NULL, tpl, fixtures[i].t);
        struct trial t = build_trial(s.b, 4000, 50, 1, 1);
        struct tokens again = {0};
        struct error e;
        size_t bos = tokenizer_wants_bos(fixtures[i].t);
        decode_ids(fixtures[i].t, t.prompt.ids + bos, t.prompt.n - bos, &text);
        n_bytes[i] = text.len;
        assert_int_equal(
            tokenizer_encode(fixtures[i].t, text.data, text.len, TOKENIZE_PLAIN, &again, &e), OK);
        assert_true(again.n + bos + t.max_tokens <= 4000 && again.n > 3700);
        tokens_release(&again);
        trial_release(&t);
        setup_close(&s);
    }
    /* one of the two would be far off with the other's tokens, and both with four bytes each */
    assert_true(n_bytes[1] < 4000 && n_bytes[0] > 3 * n_bytes[1] / 2);
    buf_release(&text);
    template_free(tpl);
    fixture_close(&fixtures[0]);
    fixture_close(&fixtures[1]);
}

/* ---- needle, question and output added on top of the length ---- */

static void within_budget(const struct fixture *f, const struct prompt_template *tpl,
                          struct setup *s)
{
    static const size_t more[] = {0, 1, 50, 777, 3000};
    size_t minimum = minimum_of(s);

    (void)f;
    for (size_t i = 0; i < COUNT(more); i++) {
        size_t length = minimum + more[i];
        for (uint64_t sample = 0; sample < 5; sample++) {
            struct trial_spec spec = {length, 50, sample, 1};
            struct trial t = {0};
            struct error e;
            if (trial_build(s->b, &spec, &t, &e) != OK) { /* the minimum can be a token short */
                assert_true(more[i] < 2 && e.code == ERR_USAGE);
                continue;
            }
            if (t.prompt.n + t.max_tokens > length)
                fail_msg("%s: %zu + %zu tokens for %zu", tpl->name, t.prompt.n, t.max_tokens,
                         length);
            assert_int_equal(t.max_tokens, tpl->max_tokens);
            if (tpl->kind != TASK_NO_CONTEXT)
                assert_true(t.prompt.n + t.max_tokens + 150 > length);
            trial_release(&t);
        }
    }
}

static void test_needle_question_and_output_on_top(void **state)
{
    (void)state;
    each_prompt(within_budget);
}

/* ---- limit ignores the generation budget ---- */

static struct prompt_template *template_of(int max_tokens)
{
    static const char form[] =
        "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key}: {value}.\","
        " \"question\": \" {key}?\", \"answer_prefix\": \" It is \", \"value\": {\"digits\": 7},"
        " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": %d, \"keys\": [\"Ulm\"]}";
    char text[1000];

    snprintf(text, sizeof(text), form, max_tokens);
    return parse_template(text);
}

static void test_limit_ignores_the_generation_budget(void **state)
{
    struct fixture f = fixture_open_tiny();
    size_t haystack_tokens[2];
    size_t minimum[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct prompt_template *tpl = template_of(i ? 1000 : 10);
        struct setup s = setup_open("essays", NULL, tpl, f.t);
        struct trial t = build_trial(s.b, 2000, 50, 1, 1);
        struct trial_spec spec = {minimum_of(&s) - 1, 50, 1, 1};
        struct error e;
        haystack_tokens[i] = t.haystack_tokens;
        minimum[i] = minimum_of(&s);
        assert_true(t.prompt.n + (i ? 1000 : 10) <= 2000);
        assert_int_equal(trial_build(s.b, &spec, &t, &e), ERR_USAGE); /* before any request */
        trial_release(&t);
        setup_close(&s);
        template_free(tpl);
    }
    assert_int_equal(minimum[1], minimum[0] + 990);
    assert_in_range(haystack_tokens[0] - haystack_tokens[1], 990 - 100, 990 + 100);
    fixture_close(&f);
}

/* ---- hang below 4,096 tokens, or for 12 hours ---- */

static void short_lengths_end(const struct fixture *f, const struct prompt_template *tpl,
                              struct setup *s)
{
    size_t minimum = minimum_of(s);
    const size_t lengths[] = {0, 1, 2, (size_t)tpl->max_tokens, minimum / 2, minimum - 1};
    char words[32];

    (void)f;
    assert_true(minimum < 4096);
    snprintf(words, sizeof(words), "minimum is %zu", minimum);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct trial_spec spec = {lengths[i], 50, 0, 1};
        struct trial t = {0};
        struct error e = {OK, ""};
        if (trial_build(s->b, &spec, &t, &e) == OK) { /* a short key needs less than the longest */
            assert_true(t.prompt.n + t.max_tokens <= lengths[i]);
            trial_release(&t);
            continue;
        }
        assert_int_equal(e.code, ERR_USAGE);
        if (!strstr(e.message, words))
            fail_msg("%s: wanted \"%s\" in \"%s\"", tpl->name, words, e.message);
    }
}

static void test_hang_below_4096_tokens(void **state)
{
    (void)state;
    each_prompt(short_lengths_end);
}

/* Texts that a search for a boundary or for more text could go round in for ever. */
static void test_hang_for_12_hours(void **state)
{
    static const char *const texts[] = {
        "a", ".", "a.", "!!! ??? ...", "no end of a sentence", "\xe3\x80\x82"};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct setup s = setup_open("text", texts[i], tpl, f.t);
        for (double depth = 0; depth <= 100; depth += 25) {
            struct trial t = build_trial(s.b, 5000, depth, 0, 1);
            assert_true(t.prompt.n + t.max_tokens <= 5000);
            assert_true(fabs(t.actual_depth - depth) < 15);
            trial_release(&t);
        }
        setup_close(&s);
    }
    template_free(tpl);
    fixture_close(&f);
}

/* ---- chat template of another model ---- */

/* Nothing stands in the prompt but what the template's file says, and it can be looked at. */
static void no_foreign_turns(const struct fixture *f, const struct prompt_template *tpl,
                             struct setup *s)
{
    static const char *const turns[] = {"[INST]",      "<|",         "<s>",     "### ",
                                        "Human:",      "Assistant:", "<<SYS>>", "USER:",
                                        "<start_of_t", "<bos>",      "[/INST]", "system\n"};
    struct trial t = build_trial(s->b, minimum_of(s) + 300, 50, 1, 1);
    struct buf text = BUF_INIT(1 << 20);
    struct buf shown = BUF_INIT(1 << 20);
    struct error e;
    size_t n = 40;

    decode_ids(f->t, t.prompt.ids + 1, t.prompt.n - 1, &text);
    for (size_t i = 0; i < COUNT(turns); i++)
        assert_null(strstr(text.data, turns[i]));
    assert_memory_equal(text.data, tpl->preamble, strlen(tpl->preamble));
    assert_int_equal(trial_excerpt(&t, f->t, 200, &shown, &e), OK);
    assert_true(text.len > n && shown.len > n);
    assert_string_equal(shown.data + shown.len - n, text.data + text.len - n);
    buf_release(&text);
    buf_release(&shown);
    trial_release(&t);
}

static void test_chat_template_of_another_model(void **state)
{
    (void)state;
    each_prompt(no_foreign_turns);
}

/* ---- --seed left the haystack byte-identical ---- */

static bool same_start(struct haystack_tokens *ht, uint64_t a, uint64_t b, uint64_t sample)
{
    token_id first[50];
    struct window w;
    struct error e;

    if (haystack_window(ht, a, sample, 50, &w, &e) != OK)
        fail_msg("%s", e.message);
    memcpy(first, w.ids, sizeof(first));
    if (haystack_window(ht, b, sample, 50, &w, &e) != OK)
        fail_msg("%s", e.message);
    return memcmp(first, w.ids, sizeof(first)) == 0;
}

static void test_seed_left_the_haystack_identical(void **state)
{
    static const char *const haystacks[] = {"essays", "prose"};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_template("multi-key");

    (void)state;
    for (size_t i = 0; i < COUNT(haystacks); i++) {
        struct setup s = setup_open(haystacks[i], NULL, tpl, f.t);
        size_t same_key = 0;
        size_t same_place = 0;
        for (uint64_t sample = 0; sample < 10; sample++) {
            struct trial a = build_trial(s.b, 1000, 50, sample, 0);
            struct buf values = BUF_INIT(1000);
            struct trial b;
            size_t at = a.needles[1].at;
            for (size_t k = 0; k < a.n_needles; k++)
                buf_printf(&values, "%s,", a.needles[k].value);
            buf_printf(&values, "%s", a.key);
            b = build_trial(s.b, 1000, 50, sample, 1);
            for (size_t k = 0; k < b.n_needles; k++)
                assert_null(strstr(values.data, b.needles[k].value));
            same_key += strcmp(strrchr(values.data, ',') + 1, b.key) == 0;
            same_place += b.needles[1].at == at;
            assert_false(same_start(s.ht, 0, 1, sample));
            assert_true(same_start(s.ht, 1, 1, sample));
            buf_release(&values);
            trial_release(&a);
            trial_release(&b);
        }
        assert_true(same_key < 3 && same_place < 3);
        setup_close(&s);
    }
    template_free(tpl);
    fixture_close(&f);
}

/* ---- 100-city list with 69 unique names ---- */

static void test_100_cities_69_of_them_unique(void **state)
{
    static const char twice[] =
        "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key}: {value}.\","
        " \"question\": \" {key}?\", \"answer_prefix\": \" It is \", \"value\": {\"digits\": 7},"
        " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": 8,"
        " \"keys\": [\"Ulm\", \"Bonn\", \"Kiel\", \"Bonn\"]}";
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl;
    struct trial_options o = {.distractors = 63};
    struct setup s;
    struct trial t;
    struct error e;

    (void)state;
    assert_int_equal(template_parse(&tpl, twice, strlen(twice), "twice.json", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "\"Bonn\" stands twice"));
    tpl = open_tokyo();
    assert_int_equal(setup_try(&s, "prose", NULL, tpl, &o, f.t, &e), OK);
    for (uint64_t sample = 0; sample < 5; sample++) {
        t = build_trial(s.b, 6000, 50, sample, 1);
        assert_int_equal(t.n_needles, 64);
        for (size_t i = 0; i < t.n_needles; i++) {
            for (size_t k = 0; k < i; k++) {
                assert_string_not_equal(t.needles[i].key, t.needles[k].key);
                assert_string_not_equal(t.needles[i].value, t.needles[k].value);
            }
        }
        trial_release(&t);
    }
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* ---- saliency passes for retrieval ---- */

/* A needle that is the one strange sentence is found by its strangeness: others look like it. */
static void test_saliency_passes_for_retrieval(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_template("multi-key");
    struct setup s = open_setup(tpl, &f);
    struct trial t = build_trial(s.b, 1000, 50, 0, 1);
    struct buf text = BUF_INIT(1000);

    (void)state;
    assert_true(t.n_needles > 3 && t.n_decoys == t.n_needles - 1);
    for (size_t i = 0; i < t.n_needles; i++) {
        const struct planted *p = &t.needles[i];
        char want[100];
        snprintf(want, sizeof(want), " The special magic %s number is: %s.", p->key, p->value);
        decode_ids(f.t, t.prompt.ids + p->at, p->n_tokens, &text);
        assert_string_equal(text.data, want);
        assert_int_equal(strlen(p->value), strlen(t.expected[0]));
    }
    buf_release(&text);
    trial_release(&t);
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needle_lands_at_the_start_as_the_period_differs),
        cmocka_unit_test(test_three_bos_in_the_prompt),
        cmocka_unit_test(test_bos_encoded_into_the_needle),
        cmocka_unit_test(test_lengths_in_tokens_of_another_model),
        cmocka_unit_test(test_needle_question_and_output_on_top),
        cmocka_unit_test(test_limit_ignores_the_generation_budget),
        cmocka_unit_test(test_hang_below_4096_tokens),
        cmocka_unit_test(test_hang_for_12_hours),
        cmocka_unit_test(test_chat_template_of_another_model),
        cmocka_unit_test(test_seed_left_the_haystack_identical),
        cmocka_unit_test(test_100_cities_69_of_them_unique),
        cmocka_unit_test(test_saliency_passes_for_retrieval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
