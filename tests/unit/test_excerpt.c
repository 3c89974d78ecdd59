/*
 * Excerpts of prompts: bounded, valid UTF-8, with needle and question in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/trial_fixture.h"
#include "needlegrid/utf8.h"

static void excerpts_are_bounded(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct buf mixed = BUF_INIT(1 << 20);
    struct setup s;

    (void)state;
    write_mixed(&mixed);
    s = setup_open("mixed", buf_str(&mixed), tpl, f.t);
    for (uint64_t sample = 0; sample < 300; sample++) {
        struct trial t = build_trial(s.b, 100 + sample * 7, (double)(sample % 11) * 10, sample, 1);
        struct buf x = BUF_INIT(1 << 16);
        struct error e;
        size_t around = (size_t)sample % 60;
        assert_int_equal(trial_excerpt(&t, f.t, around, &x, &e), OK);
        assert_int_equal(utf8_invalid_at(buf_str(&x), x.len), x.len);
        assert_int_equal(count_text(buf_str(&x), t.expected[0]), 1);
        assert_non_null(strstr(buf_str(&x), " What is the special magic "));
        assert_true(x.len < 300 + 5 * (around + 20));
        assert_true(count_text(buf_str(&x), "[...]") <= 2);
        buf_release(&x);
        trial_release(&t);
    }
    setup_close(&s);
    buf_release(&mixed);
    template_free(tpl);
    fixture_close(&f);
}

static void a_wide_excerpt_is_the_prompt(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_tokyo();
    struct setup s = setup_open("essays", NULL, tpl, f.t);
    struct trial t = build_trial(s.b, 300, 50, 0, 1);
    struct buf x = BUF_INIT(1 << 16);
    struct buf whole = BUF_INIT(1 << 16);
    struct error e;

    (void)state;
    assert_int_equal(trial_excerpt(&t, f.t, 10000, &x, &e), OK);
    decode_ids(f.t, t.prompt.ids, t.prompt.n, &whole);
    assert_string_equal(buf_str(&x), buf_str(&whole));
    buf_release(&x);
    buf_release(&whole);
    trial_release(&t);
    setup_close(&s);
    template_free(tpl);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(excerpts_are_bounded),
        cmocka_unit_test(a_wide_excerpt_is_the_prompt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
