#include "needlegrid/buf.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void test_empty(void **state)
{
    struct buf b = BUF_INIT(10);
    struct error e;

    (void)state;
    assert_string_equal(buf_str(&b), "");
    assert_int_equal(buf_status(&b, &e), OK);
    buf_clear(&b);
    buf_append(&b, NULL, 0);
    buf_puts(&b, "");
    assert_string_equal(buf_str(&b), "");
    assert_int_equal(b.len, 0);
    buf_release(&b);
    buf_release(&b);
}

static void test_appends(void **state)
{
    struct buf b = BUF_INIT(1000);
    struct error e;

    (void)state;
    buf_puts(&b, "one ");
    buf_putc(&b, '2');
    buf_printf(&b, " %s-%d", "three", 4);
    buf_append(&b, "\0z", 2);
    assert_int_equal(buf_status(&b, &e), OK);
    assert_int_equal(b.len, 15);
    assert_memory_equal(b.data, "one 2 three-4\0z", 16); /* the NUL behind it too */
    buf_release(&b);
    assert_null(b.data);
}

static void test_grows_and_keeps_the_contents(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    struct error e;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        buf_printf(&b, "%05d", i);
        assert_true(b.cap > b.len);
    }
    assert_int_equal(buf_status(&b, &e), OK);
    assert_int_equal(b.len, 100000);
    assert_memory_equal(b.data, "0000000001", 10);
    assert_string_equal(b.data + 99995, "19999");
    buf_release(&b);
}

/* The limit itself fits, one byte more does not, and what was there stays. */
static void test_limit(void **state)
{
    struct buf b = BUF_INIT(5);
    struct error e;

    (void)state;
    buf_puts(&b, "12345");
    assert_int_equal(buf_status(&b, &e), OK);
    buf_putc(&b, '6');
    assert_string_equal(buf_str(&b), "12345");
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_non_null(strstr(e.message, "5 bytes"));
    buf_release(&b);
}

static void test_the_first_failure_is_kept(void **state)
{
    struct buf b = BUF_INIT(5);
    struct error e;

    (void)state;
    buf_puts(&b, "abc");
    buf_puts(&b, "too long");
    buf_puts(&b, "d"); /* would fit */
    buf_printf(&b, "%d", 1);
    buf_putc(&b, 'e');
    assert_string_equal(buf_str(&b), "abc");
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    buf_clear(&b);
    assert_int_equal(buf_status(&b, &e), OK);
    buf_puts(&b, "d");
    assert_string_equal(buf_str(&b), "d");
    buf_release(&b);
}

static void test_printf_at_the_limit(void **state)
{
    struct buf b = BUF_INIT(4);
    struct error e;

    (void)state;
    buf_printf(&b, "%d", 1234);
    assert_string_equal(buf_str(&b), "1234");
    assert_int_equal(buf_status(&b, &e), OK);
    buf_clear(&b);
    buf_printf(&b, "%d", 12345);
    assert_string_equal(buf_str(&b), "");
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    buf_release(&b);
}

static void test_limit_zero(void **state)
{
    struct buf b = BUF_INIT(0);
    struct error e;

    (void)state;
    buf_puts(&b, "");
    assert_int_equal(buf_status(&b, &e), OK);
    buf_putc(&b, 'x');
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    buf_release(&b);
}

/* Sizes near SIZE_MAX neither wrap around nor loop for ever. */
static void test_absurd_sizes(void **state)
{
    struct buf b = BUF_INIT(SIZE_MAX);
    struct error e;

    (void)state;
    buf_puts(&b, "abc");
    buf_append(&b, "x", SIZE_MAX - 3);
    assert_int_equal(buf_status(&b, &e), ERR_NOMEM);
    assert_string_equal(buf_str(&b), "abc");
    buf_clear(&b);
    buf_puts(&b, "abc");
    buf_append(&b, "x", SIZE_MAX);
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    assert_string_equal(buf_str(&b), "abc");
    buf_clear(&b);
    buf_append(&b, "x", SIZE_MAX / 2 + 1);
    assert_int_equal(buf_status(&b, &e), ERR_NOMEM);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_grows_and_keeps_the_contents),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_the_first_failure_is_kept),
        cmocka_unit_test(test_printf_at_the_limit),
        cmocka_unit_test(test_limit_zero),
        cmocka_unit_test(test_absurd_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
