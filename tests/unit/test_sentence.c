/*
 * Where sentences end: a table of texts with a bar at each place, and properties on random text.
 */
#include "needlegrid/rng.h"
#include "needlegrid/sentence.h"
#include "needlegrid/utf8.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The text of `marked` without its bars must split exactly where they stand. */
static void expect_split(const char *marked)
{
    char text[400];
    char got[500];
    size_t n = 0;
    size_t g = 0;

    for (const char *p = marked; *p; p++)
        if (*p != '|')
            text[n++] = *p;
    for (size_t at = 0; at < n;) {
        size_t end = sentence_end(text, n, at);
        assert_true(end > at && end <= n);
        memcpy(got + g, text + at, end - at);
        g += end - at;
        at = end;
        if (at < n)
            got[g++] = '|';
    }
    got[g] = '\0';
    assert_string_equal(got, marked);
}

static void expect_splits(const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect_split(list[i]);
}

static void latin_marks(void **state)
{
    static const char *const cases[] = {
        " One.| Two!| Three?| Four",
        " The space goes with the next.| So it is.",
        " No end at all",
        " What?!| Indeed...| Then it went on.",
        " Wait\xe2\x80\xa6| There it is.",
        " It trailed off... and went on.",
        " See 3.14 and a.b and www.site.org for it.| Done.",
        " .| A",
        ".",
        " Version 2.0.| 3 days later.",
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void closing_quotes_and_brackets(void **state)
{
    static const char *const cases[] = {
        " \"Go home.\"| She went.",
        " \"Will it hold?\" he asked.| \"No!\" they cried.| So be it.",
        " (It was late.)| He slept [badly.]| Well.",
        " \xe2\x80\x9cGo.\xe2\x80\x9d| \xe2\x80\x9cWhy?\xe2\x80\x9d she said.| Oh.",
        " \xc2\xab Oui.\xc2\xbb| Il part.",
        " 'Yes.'| 'No.'| Silence.",
        " He said \"stop.\"| (Nobody did.)| It ended.",
        " \"He called, 'Stop!'\"| Nobody did.",
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void abbreviations_end_nothing(void **state)
{
    static const char *const cases[] = {
        " Mr. Smith met Mrs. Jones and Dr. Brown in St. Mary's.| They left.",
        " Some fruit, e.g. Apples, i.e. The usual.| Eat it.",
        " Prof. Gray wrote to Capt. Hall (cf. Vol. 3, No. 4, pp. 5).| He answered.",
        " I said no. 5 was wrong.| I said no.| Five was wrong.",
        " J. R. R. Tolkien and E. Nesbit wrote.| We read.",
        " The U.S. Army moved.| It stopped.",
        " So am I.| You too.",
        " He likes jam, bread, etc.| She does not.",
        " He likes jam etc. and bread.| She does not.",
        " (Mr. Smith came.)| \"Dr. Brown left.\"| End.",
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void a_lower_case_letter_goes_on(void **state)
{
    static const char *const cases[] = {
        " \"Oh!\" \xc3\xa9mile said.| Next.",
        " \xd0\x94\xd0\xb0! \xd1\x81\xd0\xba\xd0\xb0\xd0\xb7\xd0\xb0\xd0\xbb.| \xd0\x94\xd0\xb0.",
        " Was it? (perhaps not) Yes.| Good.",
        " One.| 1 is a digit.",
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void chinese_and_japanese(void **state)
{
    static const char *const cases[] = {
        /* ideographic full stop, fullwidth ! and ?, with and without closing brackets */
        " \xe4\xbb\x8a\xe3\x80\x82|\xe6\x98\x8e\xef\xbc\x81|\xe5\x90\x8e\xef\xbc\x9f",
        " \xe3\x80\x8c\xe4\xbb\x8a\xe3\x80\x82\xe3\x80\x8d|\xe6\x98\x8e",
        " \xe4\xbb\x8a\xef\xbc\x81\xef\xbc\x9f|\xe6\x98\x8e",
        " \xe4\xbb\x8a\xe3\x80\x82| \xe6\x98\x8e",
        " \xe4\xbb\x8a\xe3\x80\x82|abc",
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void other_scripts(void **state)
{
    static const char *const cases[] = {
        " \xe0\xa4\x95\xe0\xa5\xa4| \xe0\xa4\x96",         /* danda */
        " \xd9\x85\xd8\x9f| \xd9\x86",                     /* Arabic question mark */
        " \xce\x91\xce\xb2.| \xce\x91 \xce\xb2. \xce\xb2", /* Greek goes on in lower case */
    };

    (void)state;
    expect_splits(cases, COUNT(cases));
}

static void random_text_splits_between_characters(void **state)
{
    static const char often[] = " .!?\"')(aAbZ1. Mr";
    char text[4 * 60];

    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        struct rng r = rng_make(1, "sentences", i);
        size_t n = 0;
        size_t chars = 1 + (size_t)rng_below(&r, 60);

        for (size_t k = 0; k < chars; k++) {
            uint32_t cp = 0x2000 + (uint32_t)rng_below(&r, 0x1100);
            if (rng_below(&r, 4) > 0)
                text[n++] = often[rng_below(&r, sizeof(often) - 1)];
            else
                n += utf8_encode(cp, text + n);
        }
        for (size_t at = 0, end; at < n; at = end) {
            end = sentence_end(text, n, at);
            assert_true(end > at && end <= n);
            assert_true(end == n || utf8_is_start(text[end]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latin_marks),
        cmocka_unit_test(closing_quotes_and_brackets),
        cmocka_unit_test(abbreviations_end_nothing),
        cmocka_unit_test(a_lower_case_letter_goes_on),
        cmocka_unit_test(chinese_and_japanese),
        cmocka_unit_test(other_scripts),
        cmocka_unit_test(random_text_splits_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
