/*
 * What users of other tools complained of in haystacks: filler that repeats, so that prefix caches
 * inflate the speed and a strange sentence is found by its strangeness.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"
#include "needlegrid/plan.h"
#include "needlegrid/sentence.h"

#include <stdlib.h>

static int by_text(const void *a, const void *b)
{
    const struct str *x = a;
    const struct str *y = b;
    int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

    return order != 0 ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* How many sentences of the text have stood in it before. */
static size_t repeated_sentences(const struct buf *text)
{
    enum { MOST = 4000 };
    static struct str sentences[MOST];
    size_t n = 0;
    size_t repeated = 0;

    for (size_t at = 0, end; at < text->len && n < MOST; at = end) {
        end = sentence_end(text->data, text->len, at);
        sentences[n++] = (struct str){text->data + at, end - at};
    }
    assert_true(n > 100);
    qsort(sentences, n, sizeof(*sentences), by_text);
    for (size_t i = 1; i < n; i++)
        repeated += by_text(&sentences[i - 1], &sentences[i]) == 0;
    return repeated;
}

static size_t common_prefix(const struct trial *a, const struct trial *b)
{
    size_t n = 0;

    while (n < a->prompt.n && n < b->prompt.n && a->prompt.ids[n] == b->prompt.ids[n])
        n++;
    return n;
}

static void test_repeated_filler_inflates_the_speed(void **state)
{
    static const char *const haystacks[] = {"essays", "prose"};
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct buf text = BUF_INIT(1 << 20);

    (void)state;
    for (size_t i = 0; i < COUNT(haystacks); i++) {
        struct setup s = setup_open(haystacks[i], NULL, tpl, f.t);
        struct trial a = build_trial(s.b, 12000, 100, 0, 1);
        decode_ids(f.t, a.prompt.ids + 1, a.haystack_tokens, &text);
        assert_int_equal(repeated_sentences(&text), 0);
        for (uint64_t sample = 1; sample < 10; sample++) { /* a cache helps by a few words */
            struct trial b = build_trial(s.b, 12000, 100, sample, 1);
            assert_true(common_prefix(&a, &b) < 20);
            trial_release(&b);
        }
        trial_release(&a);
        setup_close(&s);
    }
    buf_release(&text);
    template_free(tpl);
    fixture_close(&f);
}

/* A text that is too short is not gone round unless that is asked for. */
static void test_repeated_filler_by_default(void **state)
{
    static const size_t lengths[] = {512, 32768};
    static const double depth = 100;
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct sweep sweep = {.tpl = tpl,
                          .haystack_folder = "haystacks",
                          .lengths = lengths,
                          .n_lengths = 2,
                          .depths = &depth,
                          .n_depths = 1,
                          .samples = 1};
    struct buf text = BUF_INIT(1 << 20);
    struct plan p;
    struct error e;

    (void)state;
    assert_string_equal(sweep_haystack(&sweep), "essays");
    assert_int_equal(plan_make(&p, &sweep, f.t, &e), OK);
    assert_int_equal(p.n, 2);
    for (size_t i = 0; i < p.n; i++) {
        struct trial t = {0};
        assert_int_equal(plan_build(&p, i, &t, &e), OK);
        if (t.spec.context_length == 32768) {
            assert_string_equal(plan_haystack_name(&p, i), "prose"); /* said in the trial's row */
            decode_ids(f.t, t.prompt.ids + 1, t.haystack_tokens, &text);
            assert_int_equal(repeated_sentences(&text), 0);
        }
        trial_release(&t);
    }
    plan_release(&p);
    buf_release(&text);
    template_free(tpl);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_filler_inflates_the_speed),
        cmocka_unit_test(test_repeated_filler_by_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
