#include "needlegrid/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* From memory without a NUL behind it, so that sanitizers see a read past the end. */
static enum status parse(struct json **doc, const char *text, size_t n, struct error *e)
{
    char *copy = malloc(n ? n : 1);
    enum status status;

    assert_non_null(copy);
    memcpy(copy, text, n);
    status = json_parse(doc, copy, n, "x.json", e);
    free(copy);
    return status;
}

static struct json *parsed(const char *text)
{
    struct json *doc = NULL;
    struct error e;

    if (parse(&doc, text, strlen(text), &e) != OK)
        fail_msg("%s: %s", text, e.message);
    assert_non_null(doc);
    return doc;
}

static void assert_refused(const char *text, size_t n, const char *message)
{
    struct json *doc = NULL;
    struct error e;

    assert_int_equal(parse(&doc, text, n, &e), ERR_FORMAT);
    assert_int_equal(e.code, ERR_FORMAT);
    assert_null(doc);
    if (!strstr(e.message, message))
        fail_msg("\"%s\" does not say \"%s\"", e.message, message);
}

static void test_reads_each_type(void **state)
{
    struct json *doc = parsed("{\"s\": \"caf\\u00e9 \\ud83d\\ude00\", \"n\": -2.5e1, \"i\": 7,"
                              " \"t\": true, \"f\": false, \"z\": null, \"a\": [1, 2], \"o\": {}}");
    const struct json_node *root = json_root(doc);
    const char *s = NULL;
    double d = 0;
    int64_t i = 0;
    bool b = false;
    struct error e;

    (void)state;
    assert_true(json_is_object(root));
    assert_int_equal(json_get_string(doc, root, "s", &s, &e), OK);
    assert_string_equal(s, "café 😀");
    assert_int_equal(json_double(doc, json_member(root, "n"), &d, &e), OK);
    assert_true(d == -25.0);
    assert_int_equal(json_int(doc, json_member(root, "i"), 0, 10, &i, &e), OK);
    assert_int_equal(i, 7);
    assert_int_equal(json_bool(doc, json_member(root, "t"), &b, &e), OK);
    assert_true(b);
    assert_int_equal(json_bool(doc, json_member(root, "f"), &b, &e), OK);
    assert_false(b);
    assert_true(json_is_array(json_member(root, "a")));
    assert_true(json_is_object(json_member(root, "o")));
    assert_true(json_is_string(json_member(root, "s")));
    assert_true(json_is_number(json_member(root, "n")));
    assert_true(json_is_bool(json_member(root, "t")));
    assert_false(json_is_string(json_member(root, "z")));
    assert_null(json_member(root, "S")); /* case matters */
    assert_null(json_member(json_member(root, "a"), "s"));
    assert_null(json_first(json_member(root, "o")));
    assert_null(json_first(json_member(root, "s")));
    json_close(doc);
    json_close(NULL);
}

static void test_walks_arrays_and_objects(void **state)
{
    struct json *doc = parsed("{\"a\": [10, 20, 30], \"b\": 0}");
    const struct json_node *a = json_first(json_root(doc));
    int64_t v = 0;
    int64_t sum = 0;
    int n = 0;
    struct error e;

    (void)state;
    assert_string_equal(json_key(a), "a");
    assert_string_equal(json_key(json_next(a)), "b");
    assert_null(json_next(json_next(a)));
    for (const struct json_node *x = json_first(a); x; x = json_next(x), n++) {
        assert_null(json_key(x));
        assert_int_equal(json_int(doc, x, 0, 100, &v, &e), OK);
        sum += v;
    }
    assert_int_equal(n, 3);
    assert_int_equal(sum, 60);
    json_close(doc);
}

static void test_syntax_errors_name_file_and_line(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "x.json:1: not valid JSON"},
        {" ", "x.json:1:"},
        {"\n\n", "x.json:"},
        {"{", "x.json:1: not valid JSON"},
        {"{\n\"a\": 1,\n\"b\": ?\n}", "x.json:3: not valid JSON"},
        {"[1,\n2,\n]", "x.json:3:"},
        {"{\"a\" 1}", "x.json:1:"},
        {"{a: 1}", "x.json:1:"},
        {"{'a': 1}", "x.json:1:"},
        {"[1 2]", "x.json:1:"},
        {"\"open", "x.json:1:"},
        {"\"\\x\"", "x.json:1:"},
        {"\"\\u12\"", "x.json:1:"},
        {"\"\\ud83d\"", "x.json:1:"}, /* half of a surrogate pair */
        {"\"\\ud83d\\u0041\"", "x.json:1:"},
        {"\"\\ude00\"", "x.json:1:"},
        {"tru", "x.json:1:"},
        {"nul", "x.json:1:"},
        {"NaN", "x.json:1:"},
        {"-", "x.json:1:"},
        {"+1", "x.json:1:"},
        {"// no comments\n1", "x.json:1:"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].message);
}

/* A valid document, cut at each byte: refused, and nothing is read past its end. */
static void test_each_cut_is_refused(void **state)
{
    static const char whole[] = "{\"a\": [1, -2.5, \"x\\u00e9\\n\"], \"b\": {\"c\": true}}";

    (void)state;
    for (size_t n = 0; n < sizeof(whole) - 1; n++)
        assert_refused(whole, n, "x.json:1:");
    json_close(parsed(whole));
}

static void test_text_after_the_value(void **state)
{
    (void)state;
    assert_refused("{}\n\n}", 5, "x.json:3: text after the JSON value");
    assert_refused("1 2", 3, "x.json:1: text after the JSON value");
    assert_refused("{}{}", 4, "text after the JSON value");
    json_close(parsed("{} \r\n\t\n"));
    json_close(parsed(" \n{}"));
}

static void test_zero_characters(void **state)
{
    (void)state;
    assert_refused("{\n\"a\": \"b\\u0000c\"}", 18, "x.json:2: U+0000 is not allowed");
    assert_refused("\"a\0b\"", 5, "x.json:1: U+0000 is not allowed");
    assert_refused("{}\0", 3, "U+0000 is not allowed");
    assert_refused("\"\\\\\\u0000\"", 10, "U+0000 is not allowed");
    json_close(parsed("\"\\\\u0000\"")); /* a backslash, then letters */
}

static void test_control_characters(void **state)
{
    (void)state;
    assert_refused("{\n\"a\": \"b\nc\"}", 12, "x.json:2: control character 0x0a: write \\u000a");
    assert_refused("\"\t\"", 3, "x.json:1: control character 0x09");
    assert_refused("\"\\\"\x1f\"", 5, "x.json:1: control character 0x1f");
    assert_refused("[1,\v2]", 6, "x.json:1: control character 0x0b");
    assert_refused("1\x01", 2, "x.json:1: control character 0x01");
    json_close(parsed("\t[\r\n\"\\\"\", \"\\\\\",\n\"\x7f\"]\n"));
}

static void test_invalid_utf8(void **state)
{
    (void)state;
    assert_refused("\"\xFF\"", 3, "x.json:1: invalid UTF-8");
    assert_refused("{\n\n\"\xC3\": 1}", 9, "x.json:3: invalid UTF-8");
    assert_refused("\"\xED\xA0\x80\"", 5, "invalid UTF-8");
    assert_refused("\"\xC0\x80\"", 4, "invalid UTF-8");
}

static void nested(char *text, size_t depth)
{
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
}

static void test_deep_nesting(void **state)
{
    enum { DEEP = 200000 };
    char *text = malloc(2 * DEEP);
    struct json *doc;
    struct error e;

    (void)state;
    assert_non_null(text);
    nested(text, 900);
    assert_int_equal(parse(&doc, text, 1800, &e), OK);
    json_close(doc);
    nested(text, 2000);
    assert_refused(text, 4000, "x.json:1:");
    nested(text, DEEP);
    assert_refused(text, 2 * DEEP, "x.json:1:");
    free(text);
}

static void assert_path(const struct json *doc, const struct json_node *node, const char *path)
{
    char want[700];
    struct error e;

    assert_int_equal(json_error(doc, node, &e, "is %s", "odd"), ERR_FORMAT);
    snprintf(want, sizeof(want), "x.json: %s: is odd", path);
    assert_string_equal(e.message, want);
}

static void test_errors_name_the_path(void **state)
{
    struct json *doc =
        parsed("{\"first\": [[1], {\"x\": 2}], \"needle\": {\"keys\": [0, 1, true]}}");
    const struct json_node *root = json_root(doc);
    const struct json_node *first = json_member(root, "first");
    const struct json_node *keys = json_member(json_member(root, "needle"), "keys");

    (void)state;
    assert_path(doc, root, "$");
    assert_path(doc, first, "$.first");
    assert_path(doc, json_first(json_first(first)), "$.first[0][0]");
    assert_path(doc, json_member(json_next(json_first(first)), "x"), "$.first[1].x");
    assert_path(doc, json_next(json_next(json_first(keys))), "$.needle.keys[2]");
    json_close(doc);
}

/* A name longer than a path may be stands before the value that is wrong. */
static void test_path_behind_a_long_name(void **state)
{
    char text[1200] = "{\"";
    struct json *doc;

    (void)state;
    memset(text + 2, 'k', 1000);
    memcpy(text + 1002, "\": {\"a\": 1}, \"b\": 2}", sizeof("\": {\"a\": 1}, \"b\": 2}"));
    doc = parsed(text);
    assert_path(doc, json_member(json_root(doc), "b"), "$.b");
    json_close(doc);
}

static void test_type_errors(void **state)
{
    struct json *doc = parsed("{\"a\": \"x\", \"b\": 5}");
    const struct json_node *a = json_member(json_root(doc), "a");
    const struct json_node *b = json_member(json_root(doc), "b");
    const char *s;
    double d;
    int64_t i;
    bool t;
    struct error e;

    (void)state;
    assert_int_equal(json_string(doc, b, &s, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.b: must be a string");
    assert_int_equal(json_double(doc, a, &d, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.a: must be a number");
    assert_int_equal(json_int(doc, a, 1, 9, &i, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.a: must be a whole number from 1 to 9");
    assert_int_equal(json_bool(doc, b, &t, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.b: must be true or false");
    json_close(doc);
}

static void test_needed_members(void **state)
{
    struct json *doc = parsed("{\"a\": {\"x\": 1}}");
    const struct json_node *a = json_member(json_root(doc), "a");
    const struct json_node *node = a;
    const char *s;
    struct error e;

    (void)state;
    assert_int_equal(json_need(doc, a, "y", &node, &e), ERR_FORMAT);
    assert_null(node);
    assert_string_equal(e.message, "x.json: $.a: \"y\" is missing");
    assert_int_equal(json_need(doc, json_member(a, "x"), "y", &node, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.a.x: must be an object");
    assert_int_equal(json_get_string(doc, a, "x", &s, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.a.x: must be a string");
    assert_int_equal(json_need(doc, a, "x", &node, &e), OK);
    assert_non_null(node);
    json_close(doc);
}

static enum status int_of(const char *text, int64_t min, int64_t max, int64_t *out)
{
    struct json *doc = parsed(text);
    struct error e;
    enum status status = json_int(doc, json_root(doc), min, max, out, &e);

    json_close(doc);
    return status;
}

static void test_integers(void **state)
{
    int64_t v = 0;

    (void)state;
    assert_int_equal(int_of("1", 1, 1, &v), OK);
    assert_int_equal(int_of("0", 1, 9, &v), ERR_FORMAT);
    assert_int_equal(int_of("10", 1, 9, &v), ERR_FORMAT);
    assert_int_equal(int_of("1.5", 0, 9, &v), ERR_FORMAT);
    assert_int_equal(int_of("\"1\"", 0, 9, &v), ERR_FORMAT);
    assert_int_equal(int_of("1e3", 0, 1000, &v), OK);
    assert_true(v == 1000);
    assert_int_equal(int_of("-7", INT64_MIN, INT64_MAX, &v), OK);
    assert_true(v == -7);
    assert_int_equal(int_of("9007199254740991", INT64_MIN, INT64_MAX, &v), OK);
    assert_true(v == 9007199254740991);
    assert_int_equal(int_of("-9007199254740991", INT64_MIN, INT64_MAX, &v), OK);
    assert_true(v == -9007199254740991);
    /* 2^53 and 2^53 + 1 are one double: refused rather than guessed */
    assert_int_equal(int_of("9007199254740993", INT64_MIN, INT64_MAX, &v), ERR_FORMAT);
    assert_int_equal(int_of("9223372036854775808", INT64_MIN, INT64_MAX, &v), ERR_FORMAT);
    assert_int_equal(int_of("-1e300", INT64_MIN, INT64_MAX, &v), ERR_FORMAT);
    assert_int_equal(int_of("1e999", INT64_MIN, INT64_MAX, &v), ERR_FORMAT);
}

static void test_numbers_are_finite(void **state)
{
    struct json *doc = parsed("[1e999]");
    double d;
    struct error e;

    (void)state;
    assert_int_equal(json_double(doc, json_first(json_root(doc)), &d, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $[0]: is too large a number");
    json_close(doc);
}

static void test_only_known_fields(void **state)
{
    static const char *const known[] = {"a", "b", NULL};
    struct json *doc =
        parsed("{\"o\": {\"a\": 1, \"c\": 2}, \"p\": {\"b\": 1}, \"q\": {}, \"r\": [1]}");
    const struct json_node *root = json_root(doc);
    struct error e;

    (void)state;
    assert_int_equal(json_only(doc, json_member(root, "p"), known, &e), OK);
    assert_int_equal(json_only(doc, json_member(root, "q"), known, &e), OK);
    assert_int_equal(json_only(doc, json_member(root, "o"), known, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.o.c: unknown field");
    assert_int_equal(json_only(doc, json_member(root, "r"), known, &e), ERR_FORMAT);
    assert_string_equal(e.message, "x.json: $.r: must be an object");
    json_close(doc);
}

static void test_open(void **state)
{
    char path[] = "/tmp/test_json_XXXXXX";
    int fd = mkstemp(path);
    struct json *doc = NULL;
    struct error e;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"a\": 1}\n", 9), 9);
    assert_int_equal(json_open(&doc, path, &e), OK);
    assert_non_null(json_member(json_root(doc), "a"));
    json_close(doc);
    assert_int_equal(write(fd, "\n}\n", 3), 3);
    assert_int_equal(json_open(&doc, path, &e), ERR_FORMAT);
    assert_null(doc);
    assert_non_null(strstr(e.message, path));
    assert_non_null(strstr(e.message, ":3: text after"));
    assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
    assert_int_equal(json_open(&doc, path, &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, path));
    close(fd);
    unlink(path);
    assert_int_equal(json_open(&doc, path, &e), ERR_IO);
    assert_null(doc);
    assert_non_null(strstr(e.message, path));
}

static void test_quote_round_trip(void **state)
{
    static const char nasty[] = "a\"b\\c\n\t\r\b\x01\x1f\x7f/é😀";
    struct buf b = BUF_INIT(1000);
    struct json *doc = NULL;
    const char *back = NULL;
    struct error e;

    (void)state;
    json_quote(&b, nasty, sizeof(nasty) - 1);
    assert_int_equal(buf_status(&b, &e), OK);
    assert_int_equal(json_parse(&doc, buf_str(&b), b.len, "q", &e), OK);
    assert_int_equal(json_string(doc, json_root(doc), &back, &e), OK);
    assert_string_equal(back, nasty);
    json_close(doc);
    buf_clear(&b);
    json_quote(&b, "\0", 1);
    assert_string_equal(buf_str(&b), "\"\\u0000\"");
    buf_clear(&b);
    json_quote(&b, "", 0);
    assert_string_equal(buf_str(&b), "\"\"");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_each_type),
        cmocka_unit_test(test_walks_arrays_and_objects),
        cmocka_unit_test(test_syntax_errors_name_file_and_line),
        cmocka_unit_test(test_each_cut_is_refused),
        cmocka_unit_test(test_text_after_the_value),
        cmocka_unit_test(test_zero_characters),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_errors_name_the_path),
        cmocka_unit_test(test_path_behind_a_long_name),
        cmocka_unit_test(test_type_errors),
        cmocka_unit_test(test_needed_members),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_numbers_are_finite),
        cmocka_unit_test(test_only_known_fields),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_quote_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
