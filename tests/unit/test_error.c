#include "needlegrid/error.h"

#include <stddef.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void test_set(void **state)
{
    struct error e;

    (void)state;
    assert_int_equal(error_set(&e, ERR_IO, "cannot open %s", "x.gguf"), ERR_IO);
    assert_int_equal(e.code, ERR_IO);
    assert_string_equal(e.message, "cannot open x.gguf");
}

static void test_prefix(void **state)
{
    struct error e;

    (void)state;
    error_set(&e, ERR_FORMAT, "%d%% of it", 5);
    assert_int_equal(error_prefix(&e, "model %s", "x"), ERR_FORMAT);
    assert_int_equal(error_prefix(&e, "run"), ERR_FORMAT);
    assert_string_equal(e.message, "run: model x: 5% of it");
}

/* Too long a message loses its end and nothing else. */
static void test_long_messages_are_cut(void **state)
{
    char fill[2 * sizeof(((struct error *)0)->message)];
    struct error e;

    (void)state;
    memset(fill, 'x', sizeof(fill) - 1);
    fill[sizeof(fill) - 1] = '\0';
    assert_int_equal(error_set(&e, ERR_USAGE, "%s", fill), ERR_USAGE);
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    assert_int_equal(error_prefix(&e, "ab"), ERR_USAGE);
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    assert_memory_equal(e.message, "ab: xxx", 7);
    assert_int_equal(error_prefix(&e, "%s", fill), ERR_USAGE);
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    assert_memory_equal(e.message, "xxxxx", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_long_messages_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
