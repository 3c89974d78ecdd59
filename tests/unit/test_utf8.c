#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_first_and_last_of_each_length(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint32_t c;
    } cases[] = {
        {"\0", 1, 0},
        {"\x7F", 1, 0x7f},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7ff},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xd7ff},
        {"\xEE\x80\x80", 3, 0xe000},
        {"\xEF\xBF\xBF", 3, 0xffff},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10ffff},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t c = 12345;
        char out[4];
        assert_int_equal(utf8_decode(cases[i].bytes, cases[i].n, &c), cases[i].n);
        assert_int_equal(c, cases[i].c);
        assert_int_equal(utf8_encode(cases[i].c, out), cases[i].n);
        assert_memory_equal(out, cases[i].bytes, cases[i].n);
    }
}

static void test_malformed_sequences(void **state)
{
    static const char *const bad[] = {
        "\x80", /* a continuation byte alone */
        "\xBF",
        "\xC0\x80", /* overlong */
        "\xC1\xBF",
        "\xE0\x80\x80",
        "\xE0\x9F\xBF",
        "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF",
        "\xED\xA0\x80", /* the first and the last surrogate */
        "\xED\xBF\xBF",
        "\xF4\x90\x80\x80", /* past U+10FFFF */
        "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80\x80",
        "\xFC\x84\x80\x80\x80\x80",
        "\xFE",
        "\xFF",
        "\xC2\x41", /* a continuation byte is missing */
        "\xE2\x82\x41",
        "\xF0\x9F\x98\x41",
        "\xC2\xC2",
    };
    uint32_t c = 12345;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(utf8_decode(bad[i], strlen(bad[i]), &c), 0);
        assert_int_equal(utf8_invalid_at(bad[i], strlen(bad[i])), 0);
    }
    assert_int_equal(c, 12345);
}

/* Each valid character cut short, in memory of just that size. */
static void test_cut_sequences(void **state)
{
    static const char *const whole[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < COUNT(whole); i++) {
        for (size_t n = 1; n < strlen(whole[i]); n++) {
            char *cut = malloc(n);
            assert_non_null(cut);
            memcpy(cut, whole[i], n);
            assert_int_equal(utf8_decode(cut, n, &c), 0);
            assert_int_equal(utf8_invalid_at(cut, n), 0);
            free(cut);
        }
    }
}

static void test_round_trip_of_all_characters(void **state)
{
    size_t wrong = 0;

    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char out[4];
        uint32_t back = 0xffffffff;
        size_t n;
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        n = utf8_encode(c, out);
        wrong += utf8_decode(out, n, &back) != n || back != c;
    }
    assert_int_equal(wrong, 0);
}

static void test_invalid_at(void **state)
{
    static const char good[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\0z";

    (void)state;
    assert_int_equal(utf8_invalid_at(good, sizeof(good) - 1), sizeof(good) - 1);
    assert_int_equal(utf8_invalid_at("", 0), 0);
    assert_int_equal(utf8_invalid_at("abc\xFF", 4), 3);
    assert_int_equal(utf8_invalid_at("\xC3\xA9\xC3", 3), 2);
    assert_int_equal(utf8_invalid_at("ab\xED\xA0\x80", 5), 2);
}

static void test_is_start(void **state)
{
    (void)state;
    for (int b = 0; b < 256; b++)
        assert_int_equal(utf8_is_start((char)b), b < 0x80 || b > 0xbf);
}

static void cleaning_replaces_only_what_is_broken(void **state)
{
    struct buf b = BUF_INIT(100);

    (void)state;
    utf8_clean(&b, "a\xe4\xbd\xa0 \xe4\xbd z\xff", 10);
    assert_string_equal(buf_str(&b), "a\xe4\xbd\xa0 \xef\xbf\xbd\xef\xbf\xbd z\xef\xbf\xbd");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleaning_replaces_only_what_is_broken),
        cmocka_unit_test(test_first_and_last_of_each_length),
        cmocka_unit_test(test_malformed_sequences),
        cmocka_unit_test(test_cut_sequences),
        cmocka_unit_test(test_round_trip_of_all_characters),
        cmocka_unit_test(test_invalid_at),
        cmocka_unit_test(test_is_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
