/*
 * What users of other tools complained of in scoring, each as the test that would have caught it.
 */
#include "../support/score_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum outcome number_outcome(const char *response, const char *expected)
{
    return judge_one("number", response, expected).outcome;
}

static void test_4_comma_183_is_not_4183(void **state)
{
    static const char *const same[] = {
        "4183",      "4,183",     "4 183", "4'183", "4.183", "4_183", "The answer is 4,183.",
        "**4,183**", "４，１８３"};

    (void)state;
    for (size_t i = 0; i < COUNT(same); i++) {
        if (number_outcome(same[i], "4183") != HIT)
            fail_msg("\"%s\" is no hit for 4183", same[i]);
        assert_int_equal(number_outcome(same[i], "418"), PARTIAL);
    }
    assert_int_equal(number_outcome("4183", "4,183"), HIT);
    assert_int_equal(judge_one("contains", "about 4,183 of them", "4183").outcome, HIT);
    assert_int_equal(judge_one("all-of", "about 4,183 of them", "4183").outcome, HIT);
}

static void test_a_comma_taken_for_the_number(void **state)
{
    static const char *const none[] = {",", ", ", ",,,", ".", "-", "$", "+,", "(,)", ", ."};

    (void)state;
    for (size_t i = 0; i < COUNT(none); i++)
        assert_int_equal(number_outcome(none[i], "4183"), EMPTY);
    assert_int_equal(number_outcome("Well, that is, the number, 4183", "4183"), HIT);
    assert_int_equal(number_outcome("Well, ", "4183"), WRONG);
}

/* 132 of 14,042 verdicts differed. */
static void test_think_text_scored(void **state)
{
    static const char *const names[] = {"number", "contains", "all-of", "exact"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *n = names[i];
        assert_int_equal(judge_one(n, "<think>4183</think>17", "4183").outcome, WRONG);
        assert_int_equal(judge_one(n, "<think>17</think>4183", "4183").outcome, HIT);
        assert_int_equal(judge_one(n, "17</think>4183", "4183").outcome, HIT);
        assert_int_equal(judge_one(n, "<think>4183", "4183").outcome, EMPTY);
        assert_int_equal(judge_one(n, "<think>a</think><think>4183</think>17", "4183").outcome,
                         WRONG);
    }
}

/* The raw text stays: the verdict's span counts from its start. */
static void test_think_text_is_kept(void **state)
{
    const char *raw = "<think>17</think> 4183";
    struct verdict v = judge_one("number", raw, "4183");

    (void)state;
    assert_int_equal(v.from, strlen("<think>17</think> "));
    assert_int_equal(v.to, strlen(raw));
}

static void test_judge_failure_became_a_score(void **state)
{
    struct scorer *s = open_scorer("regex", "^(\\w+\\s?)*$");
    const char *expected = "4183";
    const struct truth truth = {.expected = &expected, .n_expected = 1};
    enum { N = 60 };
    char text[N + 1] = "";
    struct verdict v = {OUTCOME_HIT, 1, 0, 0};
    struct answer answer = {.response = text, .n = N};
    struct error e;

    (void)state;
    memset(text, 'a', N);
    text[N - 1] = '!';
    assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), ERR_LIMIT);
    assert_string_equal(outcome_name(v.outcome), "no-verdict");
    assert_false(outcome_counts(v.outcome));
    assert_true(v.score == 0);
    scorer_free(s);
}

/* Accuracy was the share of answers of exactly as many tokens as the needle. */
static void test_whole_needle_match(void **state)
{
    static const char tale[] =
        "The special magic Tokyo number is: 4183. It stands in the middle of the text, where the "
        "author tells of the harbour, and I am quite sure of it.";
    static const char *const good[] = {"4183", "The special magic Tokyo number is: 4183.", tale};

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(number_outcome(good[i], "4183"), HIT);
    assert_int_equal(number_outcome("The special magic Tokyo number is: 4184.", "4183"), PARTIAL);
}

/* A longer number that has the answer in it is another number. */
static void test_digits_inside_other_digits(void **state)
{
    (void)state;
    assert_int_equal(number_outcome("91234567", "1234567"), WRONG);
    assert_int_equal(number_outcome("12345678", "1234567"), PARTIAL);
    assert_int_equal(judge_one("contains", "91234567", "1234567").outcome, WRONG);
    assert_int_equal(judge_one("all-of", "91234567", "1234567").outcome, WRONG);
}

static void test_echo_of_the_question(void **state)
{
    static const char *const names[] = {"number", "exact", "contains", "all-of"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(judge_one(names[i], "What is the special magic Tokyo number?", "4183").score ==
                    0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_4_comma_183_is_not_4183),
        cmocka_unit_test(test_a_comma_taken_for_the_number),
        cmocka_unit_test(test_think_text_scored),
        cmocka_unit_test(test_think_text_is_kept),
        cmocka_unit_test(test_judge_failure_became_a_score),
        cmocka_unit_test(test_whole_needle_match),
        cmocka_unit_test(test_digits_inside_other_digits),
        cmocka_unit_test(test_echo_of_the_question),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
