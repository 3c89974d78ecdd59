/*
 * Regular expressions: what matches, what is refused, and that no pattern hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "needlegrid/regex.h"

#include <stdlib.h>
#include <string.h>

static struct regex *compile(const char *pattern)
{
    struct regex *re;
    struct error e;

    if (regex_compile(&re, pattern, &e) != OK)
        fail_msg("%s", e.message);
    return re;
}

/* Searches text[start..n) and holds the answer against the span; from > to stands for none. */
static void expect_search(const char *pattern, const char *text, size_t n, size_t start,
                          size_t from, size_t to)
{
    struct regex *re = compile(pattern);
    struct error e;
    bool found;
    size_t got_from = 0;
    size_t got_to = 0;

    if (regex_search(re, text, n, start, &found, &got_from, &got_to, &e) != OK)
        fail_msg("%s", e.message);
    assert_int_equal(found, from <= to);
    if (found) {
        assert_int_equal(got_from, from);
        assert_int_equal(got_to, to);
    }
    regex_free(re);
}

static void finds_spans(void **state)
{
    (void)state;
    expect_search("\\d+", "is 2601815.", 11, 0, 3, 10);
    expect_search("\\d+", "is 2601815.", 11, 5, 5, 10);
    expect_search("x", "is 2601815.", 11, 0, 1, 0);
    expect_search("a", "", 0, 0, 1, 0);
    expect_search("a", NULL, 0, 0, 1, 0);
    expect_search("a", "a", 1, 1, 1, 0);
    expect_search("b", "a\0b", 3, 0, 2, 3);
    expect_search("\\x00", "a\0b", 3, 0, 1, 2);
}

static void sees_the_text_before_start(void **state)
{
    (void)state;
    expect_search("(?<=a)b", "ab", 2, 1, 1, 2);
    expect_search("\\bb", "ab", 2, 1, 1, 0);
    expect_search("^b", "ab", 2, 1, 1, 0);
}

static void knows_unicode(void **state)
{
    (void)state;
    expect_search("\\p{L}+", "1\xc3\xa9\xe6\xbc\xa2", 6, 0, 1, 6); /* é, a Han character */
    expect_search("^.$", "\xf0\x9f\x98\x80", 4, 0, 0, 4);
    expect_search("\\d", "\xd9\xa3", 2, 0, 0, 2); /* Arabic-Indic digit three */
    expect_search("(?i)\xc3\x89", "\xc3\xa9", 2, 0, 0, 2);
}

static void a_loop_over_matches_ends(void **state)
{
    static const char text[] = "aab\xc3\xa9 a";
    struct regex *re = compile("a*");
    struct error e;
    size_t at = 0;
    size_t to;
    size_t n_matches = 0;
    bool found;

    (void)state;
    while (regex_search(re, text, strlen(text), at, &found, &at, &to, &e) == OK && found) {
        assert_true(to > at);
        at = to;
        n_matches++;
    }
    assert_int_equal(n_matches, 2);
    regex_free(re);
}

static void bad_patterns_are_named(void **state)
{
    static const char *const patterns[] = {"a(b", "[z-a]", "a\\C", "\xff", "(?<n>a)(?<n>b)"};
    struct regex *re;
    struct error e;

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        assert_int_equal(regex_compile(&re, patterns[i], &e), ERR_USAGE);
        assert_null(re);
        assert_non_null(strstr(e.message, patterns[i]));
        assert_non_null(strstr(e.message, "at byte"));
    }
    assert_int_equal(regex_compile(&re, "a(b", &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "at byte 3: missing closing parenthesis"));
    regex_free(NULL);
}

static void invalid_utf8_is_refused(void **state)
{
    struct regex *re = compile("b");
    struct error e;
    bool found = true;
    size_t from;
    size_t to;

    (void)state;
    assert_int_equal(regex_search(re, "ab\xc3", 3, 0, &found, &from, &to, &e), ERR_FORMAT);
    assert_false(found);
    assert_non_null(strstr(e.message, "at byte 2"));
    regex_free(re);
}

static void catastrophic_backtracking_is_a_limit(void **state)
{
    static const char *const patterns[] = {"(a+)+$", "(a|a)*$", "(?:a?){64}(?:a){64}$"};
    char text[64];

    (void)state;
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '!';
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct regex *re = compile(patterns[i]);
        struct error e;
        bool found = true;
        size_t from;
        size_t to;

        assert_int_equal(regex_search(re, text, sizeof(text), 0, &found, &from, &to, &e),
                         ERR_LIMIT);
        assert_false(found);
        assert_non_null(strstr(e.message, patterns[i]));
        regex_free(re);
    }
}

/* Each turn of the group keeps a state: more than the 32 KiB of stack that JIT code gets. */
static void long_repeats_of_a_group_match(void **state)
{
    size_t n = 100000;
    char *text = malloc(n);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', n);
    expect_search("^(?:(a)|b)*$", text, n, 0, 0, n);
    free(text);
}

/* 20 million turns need more memory than a search may have. */
static void endless_repeats_of_a_group_are_a_limit(void **state)
{
    size_t n = 20000000;
    char *text = malloc(n);
    struct regex *re = compile("^(?:(a)|b)*$");
    struct error e;
    bool found;
    size_t from;
    size_t to;

    (void)state;
    assert_non_null(text);
    memset(text, 'a', n);
    assert_int_equal(regex_search(re, text, n, 0, &found, &from, &to, &e), ERR_LIMIT);
    regex_free(re);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_spans),
        cmocka_unit_test(sees_the_text_before_start),
        cmocka_unit_test(knows_unicode),
        cmocka_unit_test(a_loop_over_matches_ends),
        cmocka_unit_test(bad_patterns_are_named),
        cmocka_unit_test(invalid_utf8_is_refused),
        cmocka_unit_test(catastrophic_backtracking_is_a_limit),
        cmocka_unit_test(long_repeats_of_a_group_match),
        cmocka_unit_test(endless_repeats_of_a_group_are_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
