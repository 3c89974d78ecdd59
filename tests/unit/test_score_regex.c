/* The scorer regex, and logprob, which judges no text. The tables were written before the code. */
#include "../support/score_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const number[] = {"8106422"};
static const char *const other[] = {"3105577"};
static const char *const blue[] = {"blue"};
static const char *const green[] = {"green"};

static void check(const char *pattern, struct truth truth, const struct score_case *cases, size_t n)
{
    const struct score_table t = {{"regex", pattern, NULL}, truth};

    check_table(&t, cases, n);
}

/* ---- a pattern with {value} must match with an expected value in its place ---- */

static const struct score_case with_value[] = {
    {"The magic number: 8106422.", HIT, "magic number: 8106422", 0},
    {"MAGIC NUMBER 8106422", HIT, "MAGIC NUMBER 8106422", 0},
    {"magic number 3105577, magic number 8106422", HIT, "magic number 8106422", 0},
    {"\xFF magic number 8106422 \xC3", HIT, "magic number 8106422", 0},
    {"<think>magic number 3105577</think>magic number 8106422", HIT, "magic number 8106422", 0},
    {"magic number 3105577", DECOY, "magic number 3105577", 0},
    {"<think>magic number 8106422</think>magic number 3105577", DECOY, "magic number 3105577", 0},
    {"8106422", WRONG, NULL, 0},
    {"magic number 81064221", WRONG, NULL, 0},
    {"magic number", WRONG, NULL, 0},
    {"There is no magic number.", REFUSAL, "There is no", 0},
    {"", EMPTY, NULL, 0},
    {"<think>magic number 8106422", EMPTY, NULL, 0},
};

static void test_with_value(void **state)
{
    (void)state;
    check("(?i)\\bmagic number:? {value}\\b", (struct truth){number, 1, other, 1, false},
          LIST(with_value));
}

/* Values are quoted: nothing in them is a pattern or a field. */
static void test_values_are_quoted(void **state)
{
    static const struct {
        const char *value, *hit, *wrong;
    } rows[] = {
        {"a.b", "<a.b>", "<axb>"},           {"x\\Ey", "<x\\Ey>", "<xy>"},
        {"{value}", "<{value}>", "<value>"}, {"{key}", "<{key}>", "<key>"},
        {"a b#c", "<a b#c>", "<ab>"},        {"(?i)q", "<(?i)q>", "<Q>"},
        {"灯台", "<灯台>", "<灯>"},          {"[a-z]+$", "<[a-z]+$>", "<abc>"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct truth truth = {&rows[i].value, 1, NULL, 0, false};
        const struct score_case cases[] = {{rows[i].hit, HIT, rows[i].hit, 0},
                                           {rows[i].wrong, WRONG, NULL, 0}};
        check("<{value}>", truth, LIST(cases));
        check("(?x) <  {value}  > # with comments", truth, LIST(cases));
    }
}

static const struct score_case twice[] = {
    {"blue and blue", HIT, "blue and blue", 0},
    {"blue and green", WRONG, NULL, 0},
};

static void test_value_more_than_once(void **state)
{
    (void)state;
    check("{value} and {value}", (struct truth){blue, 1, NULL, 0, false}, LIST(twice));
}

/* ---- without it, the first match is the answer ---- */

static const struct score_case extracted[] = {
    {"The answer is blue.", HIT, "blue", 0},
    {"The answer is blue, not green", HIT, "blue", 0},
    {"green? No: the answer is blue", HIT, "blue", 0},
    {"the answer is green", DECOY, "green", 0},
    {"the answer is green. No, the answer is blue", DECOY, "green", 0},
    {"the answer is blu", PARTIAL, "blu", 0},
    {"the answer is blues", PARTIAL, "blues", 0},
    {"the answer is Blue", WRONG, "Blue", 0},
    {"the answer is red", WRONG, "red", 0},
    {"blue", WRONG, NULL, 0},
    {"I don't know the answer", REFUSAL, "I don't know", 0},
    {"?", EMPTY, NULL, 0},
};

static void test_extracted(void **state)
{
    (void)state;
    check("answer is \\K\\w+", (struct truth){blue, 1, green, 1, false}, LIST(extracted));
}

/* ---- patterns that are none, or that never end ---- */

static void refused(const char *name, const char *pattern, const char *why)
{
    const struct scorer_spec spec = {name, pattern, NULL};
    struct scorer *s = NULL;
    struct error e;

    assert_int_equal(scorer_new(&s, &spec, &e), ERR_USAGE);
    assert_null(s);
    if (!strstr(e.message, why))
        fail_msg("wanted \"%s\" in \"%s\"", why, e.message);
}

static void test_bad_patterns_are_refused(void **state)
{
    (void)state;
    refused("regex", "(", "\"(\"");
    refused("regex", "({value}", "at byte");
    refused("regex", "", "needs a pattern");
    refused("regex", NULL, "needs a pattern");
    refused("number", "\\d+", "takes no pattern");
    refused("logprob", "\\d+", "takes no pattern");
}

static void never_ends(const char *pattern)
{
    struct scorer *s = open_scorer("regex", pattern);
    const struct truth truth = {blue, 1, NULL, 0, false};
    struct verdict v = {OUTCOME_HIT, 1, 0, 1};
    struct answer answer;
    char text[4000];
    struct error e;

    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 6, "!blue!", 6);
    answer = (struct answer){.response = text, .n = sizeof(text)};
    assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, "backtracks too much"));
    assert_int_equal(v.outcome, OUTCOME_NO_VERDICT);
    assert_true(v.score == 0 && v.from == v.to);
    assert_false(outcome_counts(v.outcome));
    answer = (struct answer){.response = "blue", .n = 4}; /* the scorer works on */
    assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), OK);
    scorer_free(s);
}

static void test_catastrophic_patterns_give_no_verdict(void **state)
{
    (void)state;
    never_ends("^(a+)+$");
    never_ends("(a|aa)+{value}$");
    never_ends("^(?:\\w|a+)*$");
}

/* ---- logprob ---- */

static const struct {
    double logprob;
    int64_t rank;
    enum outcome want;
    double score;
    const char *response;
} logprobs[] = {
    {-0.1, 1, HIT, 0.90483741803595957316, "8106422"},
    {0, 1, HIT, 1, "8106422"},
    {-0.6931471805599453, 1, HIT, 0.5, ""},
    {-0.6931471805599453, 1, HIT, 0.5, "I don't know"},
    {-0.6931471805599453, 2, WRONG, 0.5, "8106422"},
    {-0.6931471805599453, 2, WRONG, 0.5, ""},
    {-2.3025850929940457, 151936, WRONG, 0.1, "I don't know"},
    {-1e308, 9, WRONG, 0, "8106422"},
    {1e-16, 1, HIT, 1, "8106422"}, /* rounding may leave a mean just above 0 */
};

static void test_logprob(void **state)
{
    struct scorer *s = open_scorer("logprob", NULL);
    const struct truth truth = {number, 1, other, 1, false};
    struct verdict v;
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(logprobs); i++) {
        const struct answer answer = {.response = logprobs[i].response,
                                      .n = strlen(logprobs[i].response),
                                      .finish_length = true,
                                      .has_logprob = true,
                                      .logprob = logprobs[i].logprob,
                                      .worst_rank = logprobs[i].rank};
        assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), OK);
        assert_int_equal(v.outcome, logprobs[i].want);
        assert_true(fabs(v.score - logprobs[i].score) < 1e-15);
        assert_true(v.score <= 1);
        assert_int_equal(v.from, v.to);
    }
    scorer_free(s);
}

static void no_logprob(struct scorer *s, const struct answer *answer, bool absent)
{
    const struct truth truth = {number, 1, NULL, 0, absent};
    struct verdict v;
    struct error e;

    assert_int_equal(scorer_judge(s, answer, &truth, &v, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "logprob"));
    assert_int_equal(v.outcome, OUTCOME_NO_VERDICT);
    assert_true(v.score == 0);
}

static void test_logprob_needs_one(void **state)
{
    struct scorer *s = open_scorer("logprob", NULL);
    const struct answer none = {.response = "8106422", .n = 7};
    const struct answer nan = {.has_logprob = true, .logprob = NAN, .worst_rank = 1};
    const struct answer no_rank = {.has_logprob = true, .logprob = -1, .worst_rank = 0};
    const struct answer good = {.has_logprob = true, .logprob = -1, .worst_rank = 1};

    (void)state;
    no_logprob(s, &none, false);
    no_logprob(s, &nan, false);
    no_logprob(s, &no_rank, false);
    no_logprob(s, &good, true); /* there is no answer to force */
    scorer_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_value),
        cmocka_unit_test(test_values_are_quoted),
        cmocka_unit_test(test_value_more_than_once),
        cmocka_unit_test(test_extracted),
        cmocka_unit_test(test_bad_patterns_are_refused),
        cmocka_unit_test(test_catastrophic_patterns_give_no_verdict),
        cmocka_unit_test(test_logprob),
        cmocka_unit_test(test_logprob_needs_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
