/*
 * Prompt templates: the shipped one, and what is wrong with bad ones, by file and JSON path.
 */
#include "../support/scratch.h"
#include "needlegrid/template.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct prompt_template *open_tokyo(void)
{
    struct prompt_template *t;
    struct error e;

    if (template_open(&t, "tokyo", "prompts", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

static void the_shipped_template(void **state)
{
    struct prompt_template *t = open_tokyo();

    (void)state;
    assert_string_equal(t->name, "tokyo");
    assert_string_equal(t->task, "single");
    assert_string_equal(t->needle, " The special magic {key} number is: {value}.");
    assert_string_equal(t->question, " What is the special magic {key} number?");
    assert_string_equal(t->answer_prefix, " The special magic {key} number is: ");
    assert_string_equal(t->scorer, "number");
    assert_int_equal(t->value_digits, 7);
    assert_int_equal(t->max_tokens, 16);
    assert_int_equal(t->n_stop, 2);
    assert_string_equal(t->stop[0], "\n");
    assert_string_equal(t->stop[1], ".");
    assert_int_equal(t->n_keys, 65);
    assert_string_equal(t->keys[0], "London");
    assert_string_equal(t->keys[64], "Helsinki");
    assert_int_equal(strlen(t->hash), 64);
    assert_non_null(strstr(t->text, "\"max_tokens\": 16"));
    template_free(t);
    template_free(NULL);
}

/* ---- drawing and filling ---- */

static void draws_are_named_by_seed_and_sample(void **state)
{
    struct prompt_template *t = open_tokyo();
    size_t seen[65] = {0};
    size_t same = 0;

    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        struct needle a = template_draw(t, NULL, 1, i);
        struct needle b = template_draw(t, NULL, 1, i);
        struct needle c = template_draw(t, NULL, 2, i);
        assert_ptr_equal(a.key, b.key);
        assert_string_equal(a.value, b.value);
        assert_int_equal(strlen(a.value), 7);
        assert_int_equal(strspn(a.value, "0123456789"), 7);
        assert_true(a.value[0] != '0');
        same += strcmp(a.value, c.value) == 0;
        for (size_t k = 0; k < t->n_keys; k++)
            seen[k] += t->keys[k] == a.key;
    }
    assert_true(same <= 1);
    for (size_t k = 0; k < t->n_keys; k++) /* 77 are expected; the deviation is 9 */
        assert_true(seen[k] > 30 && seen[k] < 130);
    template_free(t);
}

static void fields_are_filled(void **state)
{
    static const struct {
        const char *pattern;
        const char *want;
    } cases[] = {
        {" {key}: {value}.", " Oslo: 1234567."},
        {"{key}{key}", "OsloOslo"},
        {"", ""},
        {"no field", "no field"},
        {"{value}", "1234567"},
        {"}{", "}{"},
    };
    struct needle n = {"Oslo", "1234567"};
    struct buf b = BUF_INIT(1000);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_clear(&b);
        template_fill(&b, cases[i].pattern, &n);
        assert_string_equal(buf_str(&b), cases[i].want);
    }
    buf_release(&b);
}

/* ---- bad templates ---- */

struct field {
    const char *name;
    const char *value;
};

static const struct field good[] = {
    {"task", "\"single\""},
    {"description", "\"d\""},
    {"needle", "\" The {key} number is {value}.\""},
    {"question", "\" What is the {key} number?\""},
    {"answer_prefix", "\" It is \""},
    {"value", "{\"digits\": 5}"},
    {"scorer", "\"number\""},
    {"stop", "[\".\"]"},
    {"max_tokens", "8"},
    {"keys", "[\"Ulm\", \"Bern\"]"},
};

/* The good template with the field `name` set to `value`, left out if that is NULL. */
static enum status parse_with(const char *name, const char *value, struct prompt_template **out,
                              struct error *e)
{
    struct buf b = BUF_INIT(1 << 16);
    enum status status;
    bool known = false;

    for (size_t i = 0; i < COUNT(good); i++) {
        bool changed = strcmp(good[i].name, name) == 0;
        known |= changed;
        if (!changed || value)
            buf_printf(&b, "%s\"%s\": %s", b.len ? ", " : "{", good[i].name,
                       changed ? value : good[i].value);
    }
    if (!known)
        buf_printf(&b, ", \"%s\": %s", name, value);
    buf_puts(&b, "}");
    status = template_parse(out, buf_str(&b), b.len, "folder/bad.json", e);
    buf_release(&b);
    return status;
}

static void expect_bad(const char *name, const char *value, const char *message)
{
    struct prompt_template *t;
    struct error e = {OK, ""};

    assert_int_equal(parse_with(name, value, &t, &e), ERR_FORMAT);
    assert_null(t);
    if (strncmp(e.message, "folder/bad.json: $", 18) != 0 || !strstr(e.message, message))
        fail_msg("%s = %s: wanted \"%s\" in \"%s\"", name, value ? value : "(none)", message,
                 e.message);
}

static void the_good_one_is_good(void **state)
{
    struct prompt_template *t;
    struct error e;

    (void)state;
    if (parse_with("task", "\"x\"", &t, &e) != OK)
        fail_msg("%s", e.message);
    assert_string_equal(t->name, "bad");
    assert_int_equal(t->n_keys, 2);
    template_free(t);
}

static void every_field_must_be_there(void **state)
{
    char message[64];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(message, sizeof(message), "$: \"%s\" is missing", good[i].name);
        expect_bad(good[i].name, NULL, message);
    }
    expect_bad("value", "{}", "$.value: \"digits\" is missing");
}

static void every_field_has_its_type(void **state)
{
    static const char *const wrong[] = {"null", "true", "[1]", "{\"a\": 1}", "\"\"", "1.5", "-1"};
    char message[64];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t k = 0; k < COUNT(wrong); k++) {
            if (strcmp(good[i].name, "answer_prefix") == 0 && strcmp(wrong[k], "\"\"") == 0)
                continue; /* may be empty */
            snprintf(message, sizeof(message), "$.%s", good[i].name);
            expect_bad(good[i].name, wrong[k], message);
        }
    }
}

static void lists_and_numbers(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *message;
    } cases[] = {
        {"value", "{\"digits\": 0}", "$.value.digits: must be a whole number from 1 to 18"},
        {"value", "{\"digits\": 19}", "$.value.digits"},
        {"value", "{\"digits\": \"7\"}", "$.value.digits"},
        {"value", "{\"digits\": 7, \"letters\": 1}", "$.value.letters: unknown field"},
        {"max_tokens", "0", "$.max_tokens: must be a whole number"},
        {"max_tokens", "1e9", "$.max_tokens"},
        {"stop", "[\".\", 3]", "$.stop[1]: must be a string"},
        {"stop", "[\"\"]", "$.stop[0]: must not be empty"},
        {"keys", "[]", "$.keys: must have at least one key"},
        {"keys", "[\"A\", \"\"]", "$.keys[1]: must not be empty"},
        {"keys", "[\"A\", 7]", "$.keys[1]: must be a string"},
        {"keys", "[\"A\", \"B\", \"C\", \"A\"]", "$.keys[3]: \"A\" stands twice"},
        {"keys", "[\"A\", \"B\", \"C\", \"A\"]", "the first is [0]"},
        {"keys", "[\"A\", \" B\"]", "$.keys[1]: must have no"},
        {"keys", "[\"{key}\"]", "$.keys[0]: must have no braces"},
        {"extra", "1", "$.extra: unknown field"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_bad(cases[i].name, cases[i].value, cases[i].message);
}

static void fields_in_patterns(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *message;
    } cases[] = {
        {"needle", "\"{key} {value} {city}\"", "$.needle: unknown field {city}"},
        {"needle", "\"{key} {value} {\"", "$.needle: unknown field {"},
        {"needle", "\"{key} {value} { key}\"", "$.needle: unknown field { key}"},
        {"needle", "\"{key}\"", "$.needle: must have {value} exactly once"},
        {"needle", "\"{key} {value} {value}\"", "$.needle: must have {value} exactly once"},
        {"needle", "\"{value}\"", "$.needle: must have {key}"},
        {"question", "\"What is it?\"", "$.question: must have {key}"},
        {"question", "\"{key}? {value}\"", "$.question: must not have {value}"},
        {"answer_prefix", "\"{value}\"", "$.answer_prefix: must not have {value}"},
        {"answer_prefix", "\"{Key}\"", "$.answer_prefix: unknown field {Key}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_bad(cases[i].name, cases[i].value, cases[i].message);
}

static void fields_given_twice(void **state)
{
    static const char text[] = "{\"task\": \"a\", \"task\": \"b\"}";
    struct prompt_template *t;
    struct error e;

    (void)state;
    assert_int_equal(template_parse(&t, text, strlen(text), "f.json", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "f.json: $.task: given twice"));
}

static void files(void **state)
{
    struct scratch s;
    struct prompt_template *t;
    struct error e;

    (void)state;
    scratch_init(&s);
    assert_int_equal(template_open(&t, "none", s.folder, &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "/none.json"));
    assert_int_equal(template_open(&t, "none.json", s.folder, &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "no prompt template none.json"));
    scratch_write(&s, "half.json", "{\"task\":\n", 9);
    assert_int_equal(template_open(&t, "half", s.folder, &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "half.json:"));
    scratch_write(&s, "array.json", "[1]", 3);
    assert_int_equal(template_open(&t, scratch_path(&s, "array.json"), "", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "array.json: $: must be an object"));
    assert_int_equal(template_open(&t, "prompts/tokyo.json", "nowhere", &e), OK);
    assert_string_equal(t->name, "tokyo");
    template_free(t);
    scratch_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_template),
        cmocka_unit_test(draws_are_named_by_seed_and_sample),
        cmocka_unit_test(fields_are_filled),
        cmocka_unit_test(the_good_one_is_good),
        cmocka_unit_test(every_field_must_be_there),
        cmocka_unit_test(every_field_has_its_type),
        cmocka_unit_test(lists_and_numbers),
        cmocka_unit_test(fields_in_patterns),
        cmocka_unit_test(fields_given_twice),
        cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
