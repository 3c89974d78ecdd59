/*
 * Nothing was planted for the key: naming a value is the miss, a refusal the hit. And the refusals:
 * the file they come from. The tables were written before the code.
 */
#include "../support/score_fixture.h"
#include "../support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const number[] = {"8106422"};
static const char *const other_number[] = {"3105577"};
static const char *const word[] = {"lighthouse"};
static const char *const other_word[] = {"harbour"};

static const struct score_case absent_number[] = {
    {"I cannot find a number for Tokyo.", HIT, "I cannot", 0},
    {"There is no magic number for Tokyo.", HIT, "There is no", 0},
    {"None", HIT, "None", 0},
    {"the tide came in", HIT, NULL, 0}, /* names none */
    {"The special magic Tokyo number is", HIT, NULL, 0},
    {"GPT4 has no idea", HIT, NULL, 0},
    {"<think>Is it 1234567?</think>It is not mentioned.", HIT, "not mentioned", 0},
    {"3105577", DECOY, "3105577", 0},
    {"It may be 3,105,577.", DECOY, "3,105,577", 0},
    {"1234567", WRONG, "1234567", 0},
    {"The number is 1234567.", WRONG, "1234567", 0},
    {"I don't know, perhaps 1234567.", WRONG, "1234567", 0},
    {"-7", WRONG, "7", 0},
    {"", EMPTY, NULL, 0}, /* nothing was said at all */
    {"...", EMPTY, NULL, 0},
    {"<think>There is no number", EMPTY, NULL, 0},
};

static const struct score_case absent_word[] = {
    {"It is not mentioned.", HIT, "not mentioned", 0},
    {"I don't know.", HIT, "I don't know", 0},
    {"harbour", DECOY, "harbour", 0},
    {"I don't know, maybe the harbour", DECOY, "harbour", 0},
    {"windmill", WRONG, NULL, 0}, /* any word may be a value */
    {"", EMPTY, NULL, 0},
};

/* The value that would have been planted is given: naming it is no hit. */
static const struct score_case absent_drawn[] = {
    {"I don't know.", HIT, "I don't know", 0},
    {"lighthouse", WRONG, "lighthouse", 0},
    {"I don't know, the lighthouse?", WRONG, "lighthouse", 0},
    {"", EMPTY, NULL, 0},
};

/* The other values are numbers, so any number names a value. */
static const struct score_case absent_numbers[] = {
    {"There is no such number.", HIT, "There is no", 0},
    {"the tide", HIT, NULL, 0},
    {"There is no such number, but 1234567.", WRONG, "1234567", 0},
    {"There is no such number, but 3105577.", DECOY, "3105577", 0},
    {"", EMPTY, NULL, 0},
};

static const struct score_case absent_pattern[] = {
    {"There is no such number.", HIT, "There is no", 0},
    {"the tide", HIT, NULL, 0},
    {"It is 1234567.", WRONG, "1234567", 0},
    {"It is 3105577.", DECOY, "3105577", 0},
    {"", EMPTY, NULL, 0},
};

static const struct score_case absent_value_pattern[] = {
    {"There is no such number.", HIT, "There is no", 0},
    {"is 3105577", DECOY, "is 3105577", 0},
    {"is 8106422", WRONG, "is 8106422", 0},
    {"is 1234567", WRONG, NULL, 0},
    {"", EMPTY, NULL, 0},
};

static void check(const char *name, const char *pattern, struct truth truth,
                  const struct score_case *cases, size_t n)
{
    const struct score_table t = {{name, pattern, NULL}, truth};

    check_table(&t, cases, n);
}

static void test_number(void **state)
{
    (void)state;
    check("number", NULL, (struct truth){NULL, 0, other_number, 1, true}, LIST(absent_number));
    check("number", NULL, (struct truth){number, 1, other_number, 1, true}, LIST(absent_number));
}

static void test_words(void **state)
{
    const struct truth none = {NULL, 0, other_word, 1, true};
    const struct truth drawn = {word, 1, other_word, 1, true};
    const struct truth numbers = {NULL, 0, other_number, 1, true};

    (void)state;
    check("contains", NULL, none, LIST(absent_word));
    check("all-of", NULL, none, LIST(absent_word));
    check("contains", NULL, drawn, LIST(absent_drawn));
    check("all-of", NULL, drawn, LIST(absent_drawn));
    check("contains", NULL, numbers, LIST(absent_numbers));
    check("all-of", NULL, numbers, LIST(absent_numbers));
}

static const struct score_case absent_exact[] = {
    {"I don't know, maybe the harbour", HIT, "I don't know", 0}, /* not the whole text */
    {"harbour", DECOY, "harbour", 0},
    {"lighthouse", WRONG, "lighthouse", 0},
    {"light", WRONG, NULL, 0},
    {"windmill", WRONG, NULL, 0},
    {"", EMPTY, NULL, 0},
};

static void test_exact(void **state)
{
    (void)state;
    check("exact", NULL, (struct truth){word, 1, other_word, 1, true}, LIST(absent_exact));
}

static void test_regex(void **state)
{
    (void)state;
    check("regex", "\\d{7}", (struct truth){NULL, 0, other_number, 1, true}, LIST(absent_pattern));
    check("regex", "is {value}", (struct truth){number, 1, other_number, 1, true},
          LIST(absent_value_pattern));
}

/* A model that was cut before it said anything did not abstain. */
static void test_cut_answers_are_length_stopped(void **state)
{
    static const char *const texts[] = {"", "\n", "<think>There is no number for"};
    struct scorer *s = open_scorer("number", NULL);
    struct verdict v;
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct answer answer = {
            .response = texts[i], .n = strlen(texts[i]), .finish_length = true};
        for (int absent = 0; absent < 2; absent++) {
            const struct truth truth = {number, 1, NULL, 0, absent};
            assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), OK);
            assert_int_equal(v.outcome, OUTCOME_LENGTH_STOPPED);
            assert_true(v.score == 0);
        }
    }
    scorer_free(s);
}

/* ---- the file of refusals ---- */

static enum status open_with(const char *path, struct scorer **s, struct error *e)
{
    const struct scorer_spec spec = {"number", NULL, path};

    return scorer_new(s, &spec, e);
}

static void refused(const char *path, enum status status, const char *why)
{
    struct scorer *s = NULL;
    struct error e;

    assert_int_equal(open_with(path, &s, &e), status);
    assert_null(s);
    if (!strstr(e.message, why))
        fail_msg("wanted \"%s\" in \"%s\"", why, e.message);
}

static void write_refusals(struct scratch *f, const char *text)
{
    scratch_write(f, "r.txt", text, strlen(text));
}

static void test_bad_refusals_are_refused(void **state)
{
    struct scratch f;

    (void)state;
    scratch_init(&f);
    refused(scratch_path(&f, "none.txt"), ERR_IO, "none.txt");
    write_refusals(&f, "# fine\nnope\n\n(bad\n");
    refused(scratch_path(&f, "r.txt"), ERR_USAGE, "r.txt:4: ");
    write_refusals(&f, "nope\n\xFF\n");
    refused(scratch_path(&f, "r.txt"), ERR_USAGE, "r.txt:2: ");
    write_refusals(&f, "# only this\n \n");
    refused(scratch_path(&f, "r.txt"), ERR_USAGE, "no pattern");
    scratch_release(&f);
}

static void test_own_refusals(void **state)
{
    const struct truth truth = {number, 1, NULL, 0, false};
    struct scorer *s;
    struct scratch f;
    struct error e;

    (void)state;
    scratch_init(&f);
    write_refusals(&f, "# comment\r\n  \r\n\\bno idea\\b\r\nje ne sais pas");
    assert_int_equal(open_with(scratch_path(&f, "r.txt"), &s, &e), OK);
    assert_int_equal(judge_text(s, "No Idea.", 8, &truth).outcome, REFUSAL);
    assert_int_equal(judge_text(s, "Je ne sais pas", 14, &truth).outcome, REFUSAL);
    assert_int_equal(judge_text(s, "I don't know", 12, &truth).outcome, WRONG);
    assert_int_equal(judge_text(s, "# comment", 9, &truth).outcome, WRONG);
    scorer_free(s);
    assert_int_equal(open_with(NULL, &s, &e), OK);
    assert_int_equal(judge_text(s, "I don't know", 12, &truth).outcome, WRONG);
    scorer_free(s);
    scratch_release(&f);
}

static void test_refusals_that_never_end_give_no_verdict(void **state)
{
    const struct truth truth = {number, 1, NULL, 0, false};
    const struct answer answer = {.response = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", .n = 41};
    struct verdict v;
    struct scorer *s;
    struct scratch f;
    struct error e;

    (void)state;
    scratch_init(&f);
    write_refusals(&f, "^(a+)+$");
    assert_int_equal(open_with(scratch_path(&f, "r.txt"), &s, &e), OK);
    assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), ERR_LIMIT);
    assert_int_equal(v.outcome, OUTCOME_NO_VERDICT);
    scorer_free(s);
    scratch_release(&f);
}

/* ---- what a verdict depends on ---- */

static void test_hash_tells_scorers_apart(void **state)
{
    struct scratch f;
    struct scorer *s[6];
    struct error e;

    (void)state;
    scratch_init(&f);
    s[0] = open_scorer("number", NULL);
    s[1] = open_scorer("contains", NULL);
    s[2] = open_scorer("regex", "a");
    s[3] = open_scorer("regex", "b");
    assert_int_equal(open_with(NULL, &s[4], &e), OK);
    write_refusals(&f, "nope\n");
    assert_int_equal(open_with(scratch_path(&f, "r.txt"), &s[5], &e), OK);
    for (size_t i = 0; i < COUNT(s); i++) {
        assert_int_equal(strlen(scorer_hash(s[i])), 64);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(scorer_hash(s[i]), scorer_hash(s[j]));
    }
    scorer_free(s[4]);
    write_refusals(&f, "# the same in other words\nnope\n");
    assert_int_equal(open_with(scratch_path(&f, "r.txt"), &s[4], &e), OK);
    assert_string_equal(scorer_hash(s[4]), scorer_hash(s[5]));
    for (size_t i = 0; i < COUNT(s); i++)
        scorer_free(s[i]);
    scratch_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_regex),
        cmocka_unit_test(test_cut_answers_are_length_stopped),
        cmocka_unit_test(test_bad_refusals_are_refused),
        cmocka_unit_test(test_own_refusals),
        cmocka_unit_test(test_refusals_that_never_end_give_no_verdict),
        cmocka_unit_test(test_hash_tells_scorers_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
