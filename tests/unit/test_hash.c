#include "needlegrid/hash.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_sha256(const char *data, size_t n, const char *want)
{
    char hex[HASH_HEX_SIZE];
    struct error e;

    assert_int_equal(hash_memory(data, n, hex, &e), OK);
    assert_string_equal(hex, want);
}

/* FIPS 180-4, and NIST's example of a million times "a". */
static void test_known_digests(void **state)
{
    char *a = malloc(1000000);

    (void)state;
    assert_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_sha256(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_sha256("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_non_null(a);
    memset(a, 'a', 1000000);
    assert_sha256(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(a);
}

static struct hash *new_hash(void)
{
    struct hash *h = NULL;
    struct error e;

    assert_int_equal(hash_new(&h, &e), OK);
    assert_non_null(h);
    return h;
}

static void test_pieces_and_a_fresh_start(void **state)
{
    struct hash *h = new_hash();
    char hex[HASH_HEX_SIZE];
    struct error e;

    (void)state;
    for (int i = 0; i < 2; i++) {
        hash_bytes(h, "a", 1);
        hash_bytes(h, "", 0);
        hash_bytes(h, NULL, 0);
        hash_bytes(h, "bc", 2);
        assert_int_equal(hash_hex(h, hex, &e), OK);
        assert_string_equal(hex,
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
    hash_free(h);
    hash_free(NULL);
}

struct field {
    const char *name;
    const char *value;
};

static void digest_of(const struct field *fields, size_t n, char hex[HASH_HEX_SIZE])
{
    struct hash *h = new_hash();
    struct error e;

    for (size_t i = 0; i < n; i++)
        hash_field_str(h, fields[i].name, fields[i].value);
    assert_int_equal(hash_hex(h, hex, &e), OK);
    hash_free(h);
}

/* Lists of fields whose names and values join to the same text. */
static void test_fields_do_not_run_together(void **state)
{
    static const struct field lists[][2] = {
        {{"ab", "c"}, {"d", "e"}}, {{"a", "bc"}, {"d", "e"}}, {{"ab", "cd"}, {"", "e"}},
        {{"abcde", ""}, {"", ""}}, {{"", ""}, {"", "abcde"}}, {{"d", "e"}, {"ab", "c"}},
        {{"ab", "c"}, {"de", ""}},
    };
    enum { N = sizeof(lists) / sizeof(lists[0]) };
    char hex[N + 1][HASH_HEX_SIZE];

    (void)state;
    for (size_t i = 0; i < N; i++)
        digest_of(lists[i], 2, hex[i]);
    digest_of(lists[0], 1, hex[N]);
    for (size_t i = 0; i < N + 1; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hex[i], hex[j]);
}

/* The bytes that stand for a field never change: stored keys depend on them. */
static void test_the_form_of_a_field_is_pinned(void **state)
{
    static const char bytes[] = "\4\0\0\0\0\0\0\0"
                                "\6\0\0\0\0\0\0\0"
                                "task"
                                "single";
    char want[HASH_HEX_SIZE];
    char hex[HASH_HEX_SIZE];
    struct error e;

    (void)state;
    assert_int_equal(hash_memory(bytes, sizeof(bytes) - 1, want, &e), OK);
    digest_of(&(struct field){"task", "single"}, 1, hex);
    assert_string_equal(hex, want);
}

static void number_digest(double d, uint64_t u, bool is_double, char hex[HASH_HEX_SIZE])
{
    struct hash *h = new_hash();
    struct error e;

    if (is_double)
        hash_field_f64(h, "x", d);
    else
        hash_field_u64(h, "x", u);
    assert_int_equal(hash_hex(h, hex, &e), OK);
    hash_free(h);
}

static void test_numbers(void **state)
{
    char a[HASH_HEX_SIZE];
    char b[HASH_HEX_SIZE];

    (void)state;
    number_digest(0.1 + 0.2, 0, true, a);
    number_digest(0.3, 0, true, b); /* differ in the last bit */
    assert_string_not_equal(a, b);
    number_digest(0.0, 0, true, a);
    number_digest(-0.0, 0, true, b);
    assert_string_equal(a, b);
    number_digest(25.0, 0, true, a);
    number_digest(0, 25, false, b);
    assert_string_equal(a, b);
    number_digest(0, UINT64_MAX, false, a);
    digest_of(&(struct field){"x", "18446744073709551615"}, 1, b);
    assert_string_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_digests),
        cmocka_unit_test(test_pieces_and_a_fresh_start),
        cmocka_unit_test(test_fields_do_not_run_together),
        cmocka_unit_test(test_the_form_of_a_field_is_pinned),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
