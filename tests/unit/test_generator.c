/* Generators: every string has its form, all of them come up, near ones differ in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "needlegrid/generator.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";
static const char small[] = "abcdefghijklmnopqrstuvwxyz";
static const char capital[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char hex[] = "0123456789abcdef";

/* The string, in place of what `out` held. */
static const char *draw(const struct generator *g, struct rng *r, struct buf *out)
{
    buf_clear(out);
    generator_draw(g, r, out);
    assert_int_equal(out->status, OK);
    return buf_str(out);
}

static bool is_made_of(const char *s, size_t n, const char *set)
{
    return strlen(s) == n && strspn(s, set) == n;
}

static void expect_uuid(const char *s)
{
    assert_int_equal(strlen(s), 36);
    for (size_t i = 0; i < 36; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            assert_int_equal(s[i], '-');
        else
            assert_non_null(strchr(hex, s[i]));
    }
    assert_int_equal(s[14], '4');
    assert_non_null(strchr("89ab", s[19]));
}

static void forms(void **state)
{
    struct generator g = {.kind = GENERATE_DIGITS, .length = 7};
    struct rng r = rng_make(1, "test", 0);
    struct buf b = BUF_INIT(100);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        g.kind = GENERATE_DIGITS;
        assert_true(is_made_of(draw(&g, &r, &b), 7, digits));
        assert_true(buf_str(&b)[0] != '0');
        g.kind = GENERATE_LETTERS;
        assert_true(is_made_of(draw(&g, &r, &b), 7, small));
        g.kind = GENERATE_CAPITALS;
        assert_true(is_made_of(draw(&g, &r, &b), 7, capital));
        g.kind = GENERATE_UUID;
        expect_uuid(draw(&g, &r, &b));
        g.kind = GENERATE_WORDS;
        draw(&g, &r, &b);
        assert_int_equal(strspn(buf_str(&b), "abcdefghijklmnopqrstuvwxyz-"), b.len);
        assert_non_null(strchr(buf_str(&b), '-'));
        assert_ptr_equal(strchr(buf_str(&b), '-'), strrchr(buf_str(&b), '-'));
    }
    buf_release(&b);
}

/* The expected number of each is 1000; the deviation is about 30. */
static void all_are_as_likely(void **state)
{
    char *list[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I"};
    struct generator g = {.kind = GENERATE_LIST, .list = list, .n_list = 9};
    struct generator one = {.kind = GENERATE_DIGITS, .length = 1};
    struct rng r = rng_make(2, "test", 0);
    struct buf b = BUF_INIT(100);
    size_t seen[9] = {0};
    size_t seen_digits[10] = {0};

    (void)state;
    for (int i = 0; i < 9000; i++) {
        seen[draw(&g, &r, &b)[0] - 'A']++;
        seen_digits[draw(&one, &r, &b)[0] - '0']++;
    }
    for (size_t i = 0; i < 9; i++) {
        assert_in_range(seen[i], 850, 1150);
        assert_in_range(seen_digits[i + 1], 850, 1150);
    }
    assert_int_equal(seen_digits[0], 0);
    buf_release(&b);
}

static void counts(void **state)
{
    struct generator g = {.kind = GENERATE_DIGITS, .length = 3};

    (void)state;
    assert_true(generator_count(&g) == 900);
    g.kind = GENERATE_LETTERS;
    assert_true(generator_count(&g) == 26 * 26 * 26);
    g.kind = GENERATE_UUID;
    assert_true(generator_count(&g) > 1e36);
    g.kind = GENERATE_WORDS;
    assert_true(generator_count(&g) > 100000);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* 20,000 draws of so many pairs come twice as often as chance has it: no pair is listed twice. */
static void pairs_of_words_are_unique(void **state)
{
    enum { N = 20000 };
    struct generator g = {.kind = GENERATE_WORDS};
    struct rng r = rng_make(4, "test", 0);
    char **all = calloc(N, sizeof(*all));
    double expected = (double)N * N / 2 / generator_count(&g);
    size_t twice = 0;

    (void)state;
    assert_non_null(all);
    for (size_t i = 0; i < N; i++) {
        struct buf b = BUF_INIT(100);
        draw(&g, &r, &b);
        all[i] = b.data;
    }
    qsort(all, N, sizeof(*all), by_text);
    for (size_t i = 1; i < N; i++)
        twice += strcmp(all[i - 1], all[i]) == 0;
    assert_true((double)twice > expected * 0.85 && (double)twice < expected * 1.15);
    for (size_t i = 0; i < N; i++)
        free(all[i]);
    free(all);
}

static size_t differences(const char *a, const char *b)
{
    size_t n = 0;

    assert_int_equal(strlen(a), strlen(b));
    for (size_t i = 0; a[i]; i++)
        n += a[i] != b[i];
    return n;
}

static void near_ones_differ_in_one_place(void **state)
{
    static const enum generator_kind kinds[] = {GENERATE_DIGITS, GENERATE_LETTERS,
                                                GENERATE_CAPITALS, GENERATE_UUID};
    struct rng r = rng_make(3, "test", 0);
    struct buf like = BUF_INIT(100);
    struct buf near = BUF_INIT(100);

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct generator g = {.kind = kinds[k], .length = 2 + k};
        for (int i = 0; i < 500; i++) {
            draw(&g, &r, &like);
            buf_clear(&near);
            generator_near(&g, buf_str(&like), &r, &near);
            assert_int_equal(differences(buf_str(&like), buf_str(&near)), 1);
            assert_int_equal(buf_str(&like)[0], buf_str(&near)[0]);
            if (g.kind == GENERATE_UUID)
                expect_uuid(buf_str(&near));
        }
    }
    buf_release(&like);
    buf_release(&near);
}

static void near_words_have_the_same_noun(void **state)
{
    struct generator g = {.kind = GENERATE_WORDS};
    struct generator list = {.kind = GENERATE_LIST};
    struct generator one = {.kind = GENERATE_DIGITS, .length = 1};
    struct rng r = rng_make(3, "test", 0);
    struct buf near = BUF_INIT(100);

    (void)state;
    generator_near(&g, "silver-kettle", &r, &near);
    assert_string_equal(strchr(buf_str(&near), '-'), "-kettle");
    buf_clear(&near);
    generator_near(&list, "Oslo", &r, &near);
    generator_near(&one, "7", &r, &near);
    assert_int_equal(near.len, 0);
    buf_release(&near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(all_are_as_likely),
        cmocka_unit_test(counts),
        cmocka_unit_test(pairs_of_words_are_unique),
        cmocka_unit_test(near_ones_differ_in_one_place),
        cmocka_unit_test(near_words_have_the_same_noun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
