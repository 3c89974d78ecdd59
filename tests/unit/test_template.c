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
    assert_int_equal(t->kind, TASK_NEEDLES);
    assert_int_equal(t->n_needles, 1);
    assert_string_equal(t->needles[0], " The special magic {key} number is: {value}.");
    assert_string_equal(t->question, " What is the special magic {key} number?");
    assert_string_equal(t->answer_prefix, " The special magic {key} number is: ");
    assert_string_equal(t->scorer, "number");
    assert_int_equal(t->value.kind, GENERATE_DIGITS);
    assert_int_equal(t->value.length, 7);
    assert_int_equal(t->max_tokens, 16);
    assert_int_equal(t->n_stop, 2);
    assert_string_equal(t->stop[0], "\n");
    assert_string_equal(t->stop[1], ".");
    assert_int_equal(t->keys.n_list, 65);
    assert_string_equal(t->keys.list[0], "London");
    assert_string_equal(t->keys.list[64], "Helsinki");
    assert_int_equal(strlen(t->hash), 64);
    assert_non_null(strstr(t->text, "\"max_tokens\": 16"));
    template_free(t);
    template_free(NULL);
}

/* ---- filling ---- */

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
    struct prompt_template *t = open_tokyo();
    struct filling f = {.key = "Oslo", .value = "1234567"};
    struct buf b = BUF_INIT(1000);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_clear(&b);
        template_fill(&b, t, cases[i].pattern, &f);
        assert_string_equal(buf_str(&b), cases[i].want);
        assert_true(f.value_at == (i == 0 ? 7 : i == 4 ? 0 : SIZE_MAX));
        assert_true(f.key_at == (i == 0 ? 1 : i == 1 ? 0 : SIZE_MAX));
    }
    template_free(t);
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
    assert_int_equal(t->keys.n_list, 2);
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
    expect_bad("value", "{}", "$.value: must have one of \"digits\", \"letters\"");
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

/* ---- the kinds ---- */

/* The good template's text with `members` (", ..." or "") put behind it. */
static enum status parse_more(const char *members, struct prompt_template **out, struct error *e)
{
    struct buf b = BUF_INIT(1 << 16);
    enum status status;

    for (size_t i = 0; i < COUNT(good); i++)
        buf_printf(&b, "%s\"%s\": %s", b.len ? ", " : "{", good[i].name, good[i].value);
    buf_printf(&b, "%s}", members);
    status = template_parse(out, buf_str(&b), b.len, "folder/bad.json", e);
    buf_release(&b);
    return status;
}

static void defaults(void **state)
{
    struct prompt_template *t;
    struct error e;

    (void)state;
    assert_int_equal(parse_more("", &t, &e), OK);
    assert_int_equal(t->kind, TASK_NEEDLES);
    assert_null(t->haystack);
    assert_string_equal(t->preamble, "");
    assert_string_equal(t->answer_join, ", ");
    assert_int_equal(t->queries, 1);
    assert_int_equal(t->values, 1);
    assert_int_equal(t->distractors, 0);
    assert_false(t->near_keys || t->near_values);
    assert_null(t->pattern);
    template_free(t);
}

static void members_of_needles(void **state)
{
    static const struct {
        const char *members;
        const char *message; /* NULL = good */
    } cases[] = {
        {", \"queries\": 3, \"values\": 2, \"distractors\": 5", NULL},
        {", \"distractors\": 5, \"near\": [\"values\"]", NULL},
        {", \"fields\": {\"colour\": [\"red\", \"blue\"], \"word\": \"words\"}", NULL},
        {", \"haystack\": \"noise\", \"preamble\": \" Read this.\"", NULL},
        {", \"kind\": \"needles\"", NULL},
        {", \"kind\": \"needle\"", "$.kind: must be needles, chain"},
        {", \"kind\": 3", "$.kind: must be a string"},
        {", \"chains\": 3", "$.chains: not used by the kind \"needles\""},
        {", \"hop\": \"x\"", "$.hop: not used by the kind"},
        {", \"queries\": 0", "$.queries: must be a whole number from 1"},
        {", \"values\": 1001", "$.values: must be a whole number from 1 to 1000"},
        {", \"queries\": 1000, \"values\": 1000", "$: has about"},
        {", \"near\": \"keys\"", "$.near: must be an array"},
        {", \"near\": [\"values\", \"names\"]", "$.near[1]: must be \"keys\" or"},
        {", \"near\": [\"keys\"]", "$.near[0]: a list, or one character, has nothing near"},
        {", \"preamble\": \"{key}\"", "$.preamble: must have no fields"},
        {", \"preamble\": \"{x}\"", "$.preamble: unknown field {x}"},
        {", \"pattern\": \"x\"", "$.pattern: only the scorer regex has a pattern"},
        {", \"fields\": [1]", "$.fields: must be an object"},
        {", \"fields\": {\"key\": \"uuid\"}", "$.fields.key: this name has a meaning already"},
        {", \"fields\": {\"a\": \"uid\"}", "$.fields.a: must be an array of strings"},
        {", \"fields\": {\"a\": \"uuid\", \"a\": \"uuid\"}", "$.fields.a: given twice"},
        {", \"fields\": {\"a}\": \"uuid\"}", "no name for a field"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct prompt_template *t;
        struct error e = {OK, ""};
        enum status status = parse_more(cases[i].members, &t, &e);
        if (status != (cases[i].message ? ERR_FORMAT : OK) ||
            (cases[i].message && !strstr(e.message, cases[i].message)))
            fail_msg("%s: \"%s\"", cases[i].members, e.message);
        template_free(t);
    }
}

static void generators(void **state)
{
    static const struct {
        const char *value;
        const char *message;
    } cases[] = {
        {"\"uuid\"", NULL},
        {"\"words\"", NULL},
        {"{\"letters\": 5}", NULL},
        {"{\"capitals\": 18}", NULL},
        {"[\"red\", \"blue\"]", NULL},
        {"[\"red, dark\"]", "$.value[0]: must have no comma"},
        {"[]", "$.value: must have at least one"},
        {"[\"red\", \"red\"]", "$.value[1]: \"red\" stands twice among the value"},
        {"\"number\"", "$.value: must be an array of strings, \"words\""},
        {"7", "$.value: must be an array of strings"},
        {"{\"letters\": 19}", "$.value.letters: must be a whole number from 1 to 18"},
        {"{\"vowels\": 1}", "$.value: must have one of"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct prompt_template *t;
        struct error e;
        if (cases[i].message) {
            expect_bad("value", cases[i].value, cases[i].message);
            continue;
        }
        if (parse_with("value", cases[i].value, &t, &e) != OK)
            fail_msg("%s: %s", cases[i].value, e.message);
        template_free(t);
    }
}

static void several_needles(void **state)
{
    struct prompt_template *t;
    struct error e;

    (void)state;
    assert_int_equal(parse_with("needle", "[\" {key} is one.\", \" {key} has {value}.\"]", &t, &e),
                     OK);
    assert_int_equal(t->n_needles, 2);
    assert_int_equal(t->value_needle, 1);
    template_free(t);
    expect_bad("needle", "[]", "$.needle: must have at least one needle");
    expect_bad("needle", "[\"{key} {value}\", \"\"]", "$.needle[1]: must not be empty");
    expect_bad("needle", "[\"{key} {value}\", \"{value}\"]", "must have {value} exactly once");
    expect_bad("needle", "[\"{key}\", \"{x}\"]", "$.needle[1]: unknown field {x}");
}

/* Whole templates of the other kinds; %s stands for members more. */
static const char chain[] =
    "{\"kind\": \"chain\", \"task\": \"t\", \"description\": \"d\", \"needle\": \" {key} = "
    "{value}.\","
    " \"hop\": \" {key} = {previous}.\", \"question\": \" Who has {value}?\","
    " \"answer_prefix\": \" \", \"value\": {\"digits\": 5}, \"scorer\": \"all-of\", \"stop\": [],"
    " \"max_tokens\": 50, \"keys\": {\"capitals\": 3}%s}";
static const char list[] =
    "{\"kind\": \"common-words\", \"task\": \"t\", \"description\": \"d\","
    " \"needle\": \" {index}. {key}\", \"question\": \" Which?\", \"answer_prefix\": \" \","
    " \"scorer\": \"all-of\", \"stop\": [], \"max_tokens\": 99, \"keys\": \"words\"%s}";

/* `from`, if not NULL, is replaced by `to` first. */
static void expect_kind(const char *form, const char *from, const char *to, const char *members,
                        const char *message)
{
    struct prompt_template *t;
    struct error e = {OK, ""};
    struct buf text = BUF_INIT(10000);
    struct buf b = BUF_INIT(10000);
    const char *at;
    enum status status;

    buf_printf(&text, form, members);
    at = from ? strstr(buf_str(&text), from) : buf_str(&text) + text.len;
    assert_non_null(at);
    buf_append(&b, buf_str(&text), (size_t)(at - buf_str(&text)));
    if (from)
        buf_printf(&b, "%s%s", to, at + strlen(from));
    status = template_parse(&t, buf_str(&b), b.len, "f.json", &e);
    if (status != (message ? ERR_FORMAT : OK) || (message && !strstr(e.message, message)))
        fail_msg("%s: \"%s\", wanted \"%s\"", buf_str(&b), e.message, message ? message : "");
    template_free(t);
    buf_release(&text);
    buf_release(&b);
}

static void chains(void **state)
{
    (void)state;
    expect_kind(chain, NULL, NULL, "", NULL);
    expect_kind(chain, NULL, NULL, ", \"chains\": 3, \"hops\": 2", NULL);
    expect_kind(chain, NULL, NULL, ", \"values\": 3", "$.values: not used by the kind \"chain\"");
    expect_kind(chain, NULL, NULL, ", \"chains\": 900, \"hops\": 900", "$: has about");
    expect_kind(chain, "{key} = {value}", "{key} = {key}", "", "$.needle: must have {key} and");
    expect_kind(chain, " {key} = {value}", " {key} = {value} {previous}", "",
                "$.needle: must not have {previous}");
    expect_kind(chain, "= {previous}", "= {value}", "", "$.hop: must have {key} and {previous}");
    expect_kind(chain, "\"hop\": \" {key} = {previous}.\",", "", "", "$: \"hop\" is missing");
    expect_kind(chain, "has {value}", "has {key}", "", "$.question: must not have names");
    expect_kind(chain, "has {value}", "has it", "", "$.question: must have {value}");
    expect_kind(chain, "{\"capitals\": 3}", "[\"A\", \"B, C\"]", "",
                "$.keys[1]: must have no comma");
}

static void lists_of_words(void **state)
{
    (void)state;
    expect_kind(list, NULL, NULL, "", NULL);
    expect_kind(list, NULL, NULL, ", \"repeats\": {\"common\": 9, \"other\": 2}", NULL);
    expect_kind(list, NULL, NULL, ", \"repeats\": {\"common\": 3, \"other\": 3}",
                "$.repeats: \"common\" must be more than \"other\"");
    expect_kind(list, NULL, NULL, ", \"repeats\": [9]", "$.repeats: must be an object");
    expect_kind(list, NULL, NULL, ", \"repeats\": {\"rare\": 1}", "$.repeats.rare: unknown field");
    expect_kind(list, NULL, NULL, ", \"alpha\": 2", "$.alpha: not used by the kind");
    expect_kind(list, NULL, NULL, ", \"value\": \"uuid\"", "$.value: not used by the kind");
    expect_kind(list, "common-words", "frequent-words", ", \"alpha\": 1.5, \"filler\": \"...\"",
                NULL);
    expect_kind(list, "common-words", "frequent-words", ", \"alpha\": 1",
                "$.alpha: must be more than");
    expect_kind(list, "common-words", "frequent-words", ", \"alpha\": \"2\"",
                "$.alpha: must be a number");
    expect_kind(list, "{index}. {key}", "{key} {index}", "", "$.needle: must have {index} before");
    expect_kind(list, "{index}. {key}", "{index}", "", "$.needle: must have {key} exactly once");
    expect_kind(list, "{index}. {key}", "{value} {key}", "",
                "unknown field {value}: {key} and {index}");
    expect_kind(list, " Which?", " Which {key}?", "", "$.question: must have no fields");
}

static void patterns_of_regex(void **state)
{
    const char *from = "\"scorer\": \"all-of\"";

    (void)state;
    expect_kind(chain, from, "\"scorer\": \"regex\"", "", "$: \"pattern\" is missing");
    expect_kind(chain, from, "\"scorer\": \"regex\"", ", \"pattern\": \"[A-Z]{3}\"", NULL);
    expect_kind(chain, from, "\"scorer\": \"regex\"", ", \"pattern\": \"is ({value})+\"", NULL);
    expect_kind(chain, from, "\"scorer\": \"regex\"", ", \"pattern\": \"a(b\"",
                "f.json: $.pattern:");
    expect_kind(chain, from, "\"scorer\": \"regex\"", ", \"pattern\": \"\"",
                "$.pattern: must not be");
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
        cmocka_unit_test(the_shipped_template),     cmocka_unit_test(fields_are_filled),
        cmocka_unit_test(the_good_one_is_good),     cmocka_unit_test(every_field_must_be_there),
        cmocka_unit_test(every_field_has_its_type), cmocka_unit_test(lists_and_numbers),
        cmocka_unit_test(fields_in_patterns),       cmocka_unit_test(defaults),
        cmocka_unit_test(members_of_needles),       cmocka_unit_test(generators),
        cmocka_unit_test(several_needles),          cmocka_unit_test(chains),
        cmocka_unit_test(lists_of_words),           cmocka_unit_test(patterns_of_regex),
        cmocka_unit_test(fields_given_twice),       cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
