#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static const size_t TERA = (size_t)1 << 40;

static void test_checked_arithmetic(void **state)
{
    size_t out = 7;

    (void)state;
    assert_false(size_mul(TERA, TERA, &out));
    assert_false(size_mul(SIZE_MAX, 2, &out));
    assert_false(size_mul(SIZE_MAX / 2 + 1, 2, &out));
    assert_false(size_add(SIZE_MAX, 1, &out));
    assert_false(size_add(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, &out));
    assert_true(size_mul(0, SIZE_MAX, &out));
    assert_true(out == 0);
    assert_true(size_mul(SIZE_MAX, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_true(size_mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &out));
    assert_true(out == 0xffffffff00000000u);
    assert_true(size_add(SIZE_MAX, 0, &out));
    assert_true(out == SIZE_MAX);
}

/* A key cache of a million tokens in 80 layers is far from an overflow. */
static void test_a_million_tokens_in_80_layers(void **state)
{
    size_t out = 80;

    (void)state;
    assert_true(size_mul(out, (size_t)1 << 20, &out));
    assert_true(size_mul(out, 8 * 128, &out));
    assert_true(size_mul(out, sizeof(float), &out));
    assert_true(out == 343597383680u);
}

static void test_alloc_is_zeroed_and_aligned(void **state)
{
    struct error e;

    (void)state;
    for (size_t n = 0; n < 200; n += 13) {
        unsigned char *p = NULL;
        assert_int_equal(mem_alloc(&p, "a test", &e, n, 1, 1, 1), OK);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 255, n);
        free(p);
    }
}

static void test_alloc_uses_all_four_factors(void **state)
{
    float *p = NULL;
    struct error e;

    (void)state;
    assert_int_equal(mem_alloc(&p, "a test", &e, 2, 3, 5, sizeof(*p)), OK);
    for (int i = 0; i < 30; i++)
        p[i] = 1.0f; /* under a sanitizer, all of them are there */
    free(p);
}

/* The name and the size stand in the message, and the pointer is NULL. */
static void assert_refused(size_t a, size_t b, size_t c, size_t d, const char *size)
{
    int here;
    void *p = &here;
    struct error e;

    assert_int_equal(mem_alloc(&p, "the key cache", &e, a, b, c, d), ERR_NOMEM);
    assert_int_equal(e.code, ERR_NOMEM);
    assert_null(p);
    assert_non_null(strstr(e.message, "the key cache"));
    assert_non_null(strstr(e.message, size));
}

static void test_alloc_refuses_overflow(void **state)
{
    (void)state;
    assert_refused(TERA, TERA, 1, 1, "PiB");
    assert_refused(1, TERA, TERA, 1, "PiB");
    assert_refused(1, 1, TERA, TERA, "PiB");
    assert_refused(TERA, TERA, TERA, TERA, "PiB");
    assert_refused((size_t)1 << 32, (size_t)1 << 32, 1, 1, "1.638e+04 PiB");
    assert_refused(SIZE_MAX, 1, 1, 1, "PiB");
    assert_refused(SIZE_MAX - 32, 1, 1, 1, "PiB");
}

static void test_grow_keeps_and_doubles(void **state)
{
    int *list = NULL;
    size_t cap = 0;
    struct error e;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        size_t before = cap;
        assert_int_equal(mem_grow(&list, &cap, (size_t)i + 1, sizeof(*list), "a list", &e), OK);
        assert_true(cap > (size_t)i);
        assert_true(cap == before || cap >= 2 * before);
        list[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    assert_int_equal(mem_grow(&list, &cap, 100000, sizeof(*list), "a list", &e), OK);
    assert_true(cap >= 100000);
    assert_int_equal(list[999], 999);
    free(list);
}

static void test_grow_refuses_overflow_and_keeps_the_array(void **state)
{
    double *list = NULL;
    size_t cap = 0;
    size_t before;
    struct error e;

    (void)state;
    assert_int_equal(mem_grow(&list, &cap, 3, sizeof(*list), "a list", &e), OK);
    list[2] = 2.5;
    before = cap;
    assert_int_equal(mem_grow(&list, &cap, SIZE_MAX / 4, sizeof(*list), "the pearls", &e),
                     ERR_NOMEM);
    assert_non_null(strstr(e.message, "the pearls"));
    assert_int_equal(mem_grow(&list, &cap, SIZE_MAX, 1, "the pearls", &e), ERR_NOMEM);
    assert_int_equal(cap, before);
    assert_true(list[2] == 2.5);
    free(list);
}

static void test_strndup(void **state)
{
    struct error e;
    char *s = mem_strndup("needle", 4, &e);
    char *none = mem_strndup(NULL, 0, &e);

    (void)state;
    assert_string_equal(s, "need");
    assert_string_equal(none, "");
    free(s);
    free(none);
    assert_null(mem_strndup("x", SIZE_MAX, &e));
    assert_int_equal(e.code, ERR_NOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checked_arithmetic),
        cmocka_unit_test(test_a_million_tokens_in_80_layers),
        cmocka_unit_test(test_alloc_is_zeroed_and_aligned),
        cmocka_unit_test(test_alloc_uses_all_four_factors),
        cmocka_unit_test(test_alloc_refuses_overflow),
        cmocka_unit_test(test_grow_keeps_and_doubles),
        cmocka_unit_test(test_grow_refuses_overflow_and_keeps_the_array),
        cmocka_unit_test(test_strndup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
