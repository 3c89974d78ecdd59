/*
 * What users of other tools reported about prompts, row by row of the table in the protocol, and
 * what is right here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"

#include <math.h>
#include <stdlib.h>

struct world {
    struct fixture f;
    struct prompt_template *tpl;
    struct setup s;
};

static void open_world(struct world *w, const char *haystack)
{
    w->f = fixture_open_tiny();
    w->tpl = open_tokyo();
    w->s = setup_open(haystack, NULL, w->tpl, w->f.t);
}

static void close_world(struct world *w)
{
    setup_close(&w->s);
    template_free(w->tpl);
    fixture_close(&w->f);
}

/* "The needle always lands at the start, since the period's token id differs." */
static void the_needle_goes_where_it_is_asked_to(void **state)
{
    struct small small = {"gpt-2", {"x."}, NULL, {"x ."}}; /* no token is a period alone */
    struct fixture f = fixture_open_small(&small);
    struct prompt_template *tpl = open_tokyo();
    struct buf text = BUF_INIT(1 << 16);
    struct setup s;

    (void)state;
    for (int i = 0; i < 500; i++)
        buf_puts(&text, "A box with an x. Another box. ");
    s = setup_open("boxes", text.data, tpl, f.t);
    for (double depth = 0; depth <= 100; depth += 10) {
        struct trial t = build_trial(s.b, 2000, depth, 1, 1);
        assert_true(fabs(t.actual_depth - depth) < 1);
        assert_int_equal(t.needle_at,
                         (size_t)(t.actual_depth / 100 * (double)t.haystack_tokens + 0.5));
        trial_release(&t);
    }
    setup_close(&s);
    template_free(tpl);
    buf_release(&text);
    fixture_close(&f);
}

/* "BOS encoded into the needle; three BOS in the prompt." */
static void one_bos_at_the_start(void **state)
{
    struct world w;
    struct trial t;

    (void)state;
    open_world(&w, "essays");
    t = build_trial(w.s.b, 1000, 50, 1, 1);
    assert_int_equal(t.prompt.ids[0], tokenizer_bos(w.f.t));
    for (size_t i = 1; i < t.prompt.n; i++)
        assert_int_not_equal(t.prompt.ids[i], tokenizer_bos(w.f.t));
    trial_release(&t);
    close_world(&w);
}

/* "Needle, question and output added on top of the length (32,082 for 32,000)." */
static void the_length_includes_everything(void **state)
{
    static const size_t lengths[] = {64, 100, 256, 1000, 1024, 4096, 32000};
    struct world w;

    (void)state;
    open_world(&w, "prose");
    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct trial t = build_trial(w.s.b, lengths[i], 50, 1, 1);
        assert_true(t.prompt.n + t.max_tokens <= lengths[i]);
        assert_true(t.prompt.n + t.max_tokens + 100 > lengths[i]); /* a sentence less at most */
        trial_release(&t);
    }
    close_world(&w);
}

/* "131,072 became 158k and was refused": lengths are in the tokens of the model's own tokenizer. */
static void lengths_are_in_the_models_own_tokens(void **state)
{
    struct small bytes = {"gpt-2", {NULL}, NULL, {NULL}};
    struct fixture f = fixture_open_small(&bytes);
    struct prompt_template *tpl = open_tokyo();
    struct setup s = setup_open("essays", NULL, tpl, f.t);
    struct trial t = build_trial(s.b, 3000, 50, 1, 1);
    struct buf text = BUF_INIT(1 << 16);

    (void)state;
    decode_ids(f.t, t.prompt.ids, t.prompt.n, &text);
    assert_int_equal(text.len, t.prompt.n); /* a token for each byte */
    assert_true(t.prompt.n + t.max_tokens <= 3000 && t.prompt.n > 2500);
    trial_release(&t);
    buf_release(&text);
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

/* "Hang below 4,096 tokens": an error that names the minimum. */
static void short_lengths_name_the_minimum(void **state)
{
    struct world w;
    struct trial_spec spec = {40, 50, 1, 1};
    struct trial t = {.key = NULL};
    struct error e;

    (void)state;
    open_world(&w, "essays");
    assert_int_equal(trial_build(w.s.b, &spec, &t, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "too short for template tokyo: the minimum is "));
    close_world(&w);
}

/* "--seed left the haystack byte-identical." */
static void the_seed_changes_needle_and_haystack(void **state)
{
    static const char *const haystacks[] = {"essays", "prose"};

    (void)state;
    for (size_t i = 0; i < COUNT(haystacks); i++) {
        struct world w;
        struct trial a;
        struct trial b;
        open_world(&w, haystacks[i]);
        a = build_trial(w.s.b, 500, 100, 0, 1);
        b = build_trial(w.s.b, 500, 100, 0, 2);
        assert_memory_not_equal(a.prompt.ids + 1, b.prompt.ids + 1, 20 * sizeof(token_id));
        assert_memory_not_equal(a.answer.ids, b.answer.ids, 7 * sizeof(token_id));
        trial_release(&a);
        trial_release(&b);
        close_world(&w);
    }
}

/* "A 100-city list with 69 unique names." */
static void a_key_listed_twice_is_refused(void **state)
{
    static const char text[] =
        "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key} {value}.\","
        " \"question\": \" {key}?\", \"answer_prefix\": \" \", \"value\": {\"digits\": 7},"
        " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": 9,"
        " \"keys\": [\"Oslo\", \"Rome\", \"Oslo\"]}";
    struct prompt_template *t;
    struct error e;

    (void)state;
    assert_int_equal(template_parse(&t, text, strlen(text), "t.json", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "$.keys[2]: \"Oslo\" stands twice"));
}

/* "Repeated filler": no sentence of a generated haystack comes twice. */
static void the_haystack_does_not_repeat(void **state)
{
    enum { N = 4000 };
    struct world w;
    struct window window;
    size_t twice = 0;
    struct error e;

    (void)state;
    open_world(&w, "prose");
    assert_int_equal(haystack_window(w.s.ht, 1, 1, N, &window, &e), OK);
    for (size_t i = 0; i + 1 < window.n_boundaries; i++) {
        size_t n = window.boundaries[i + 1] - window.boundaries[i];
        for (size_t k = 0; k < i; k++)
            twice += window.boundaries[k + 1] - window.boundaries[k] == n &&
                     memcmp(window.ids + window.boundaries[k], window.ids + window.boundaries[i],
                            n * sizeof(token_id)) == 0;
    }
    assert_true(window.n_boundaries > 40);
    assert_int_equal(twice, 0);
    close_world(&w);
}

/* "Saliency passes for retrieval": distractors have the form of the needle that is asked for. */
static void distractors_are_of_the_same_kind(void **state)
{
    struct trial_options o = {.distractors = 4};
    struct world w;
    struct setup s;
    struct trial t;
    struct buf text = BUF_INIT(1 << 16);
    struct error e;

    (void)state;
    open_world(&w, "essays");
    assert_int_equal(setup_try(&s, "essays", NULL, w.tpl, &o, w.f.t, &e), OK);
    t = build_trial(s.b, 1000, 50, 1, 1);
    decode_ids(w.f.t, t.prompt.ids, t.question_at, &text);
    assert_int_equal(count_text(text.data, " The special magic "), 5);
    assert_int_equal(count_text(text.data, t.key), 1);
    trial_release(&t);
    buf_release(&text);
    setup_close(&s);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_needle_goes_where_it_is_asked_to),
        cmocka_unit_test(one_bos_at_the_start),
        cmocka_unit_test(the_length_includes_everything),
        cmocka_unit_test(lengths_are_in_the_models_own_tokens),
        cmocka_unit_test(short_lengths_name_the_minimum),
        cmocka_unit_test(the_seed_changes_needle_and_haystack),
        cmocka_unit_test(a_key_listed_twice_is_refused),
        cmocka_unit_test(the_haystack_does_not_repeat),
        cmocka_unit_test(distractors_are_of_the_same_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
