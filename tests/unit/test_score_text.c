/*
 * The scorers exact, contains and all-of. The tables were written before the scorers: they are the
 * specification in cases.
 */
#include "../support/score_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const word[] = {"lighthouse"};
static const char *const other_words[] = {"harbour", "granary"};
static const char *const city_number[] = {"8106422"};
static const char *const other_numbers[] = {"3105577", "8999999"};

/* ---- exact: the whole text, letter for letter ---- */

static const struct score_case exact_word[] = {
    {"lighthouse", HIT, "lighthouse", 0},
    {" lighthouse", HIT, "lighthouse", 0},
    {"\n\tlighthouse \r\n", HIT, "lighthouse", 0},
    {"\xC2\xA0lighthouse\xE3\x80\x80", HIT, "lighthouse", 0}, /* no-break, ideographic space */
    {"<think>harbour?</think>\n\nlighthouse", HIT, "lighthouse", 0},
    {"harbour", DECOY, "harbour", 0},
    {" granary\n", DECOY, "granary", 0},
    {"<think>lighthouse</think>harbour", DECOY, "harbour", 0},
    {"lighthouse.", PARTIAL, "ligh", 0},
    {"lighthouse lighthouse", PARTIAL, "ligh", 0},
    {"light house", PARTIAL, "ligh", 0},
    {"light", PARTIAL, "ligh", 0},
    {"lighter", PARTIAL, "ligh", 0},
    {"lighthouse\xFF", PARTIAL, "ligh", 0},
    {"ligh", PARTIAL, "ligh", 0},
    {"lig", WRONG, NULL, 0},
    {"Lighthouse", WRONG, NULL, 0},
    {"LIGHTHOUSE", WRONG, NULL, 0},
    {"The lighthouse", WRONG, NULL, 0},
    {"the word is lighthouse", WRONG, NULL, 0},
    {"\"lighthouse\"", WRONG, NULL, 0},
    {"harbour.", WRONG, NULL, 0},
    {"\xFFlighthouse", WRONG, NULL, 0},
    {"What is the special word for Tokyo?", WRONG, NULL, 0},
    {"I don't know.", REFUSAL, "I don't know", 0},
    {"None", REFUSAL, "None", 0},
    {"", EMPTY, NULL, 0},
    {" \n", EMPTY, NULL, 0},
    {"...", EMPTY, NULL, 0},
    {"<think>lighthouse", EMPTY, NULL, 0},
};

static const struct score_case exact_short[] = {
    {"cat", HIT, "cat", 0},     {"ca", PARTIAL, "ca", 0}, {"car", PARTIAL, "ca", 0},
    {"cats", PARTIAL, "ca", 0}, {"c", WRONG, NULL, 0},    {"dog", WRONG, NULL, 0},
};

/* A value of one character has no beginning that is not all of it. */
static const struct score_case exact_letter[] = {
    {"B", HIT, "B", 0},
    {"BC", WRONG, NULL, 0},
    {"A", WRONG, NULL, 0},
};

/* Any of several values is the answer. */
static const struct score_case exact_any[] = {
    {"cat", HIT, "cat", 0},
    {"dog", HIT, "dog", 0},
    {"cat, dog", PARTIAL, "ca", 0},
};

/* ---- contains: as a word, whatever stands around it ---- */

static const struct score_case contains_word[] = {
    {"lighthouse", HIT, "lighthouse", 0},
    {"The special word is lighthouse.", HIT, "lighthouse", 0},
    {"Lighthouse", HIT, "Lighthouse", 0},
    {"THE LIGHTHOUSE!", HIT, "LIGHTHOUSE", 0},
    {"**lighthouse**", HIT, "lighthouse", 0},
    {"_lighthouse_", HIT, "lighthouse", 0},
    {"`lighthouse`", HIT, "lighthouse", 0},
    {"\"lighthouse\"", HIT, "lighthouse", 0},
    {"“lighthouse”", HIT, "lighthouse", 0},
    {"word=lighthouse;", HIT, "lighthouse", 0},
    {"the lighthouse's keeper", HIT, "lighthouse", 0},
    {"lighthouse-keeper", HIT, "lighthouse", 0},
    {"lighthouse¹", HIT, "lighthouse", 0},
    {"lighthouse😀", HIT, "lighthouse", 0},
    {"\xFFlighthouse\xFF", HIT, "lighthouse", 0},
    {"harbour, no, lighthouse", HIT, "lighthouse", 0},
    {"I cannot be sure, but: lighthouse", HIT, "lighthouse", 0},
    {"<think>harbour</think>lighthouse", HIT, "lighthouse", 0},
    {"答えはlighthouseです", HIT, "lighthouse", 0},
    {"harbour", DECOY, "harbour", 0},
    {"The Harbour.", DECOY, "Harbour", 0},
    {"<think>lighthouse</think>The granary", DECOY, "granary", 0},
    {"lighthouses", PARTIAL, "ligh", 0},
    {"lighthouse2", PARTIAL, "ligh", 0},
    {"The word is light", PARTIAL, "ligh", 0},
    {"LIGHT HOUSE", PARTIAL, "LIGH", 0},
    {"lig", WRONG, NULL, 0},
    {"alighthouse", WRONG, NULL, 0},
    {"2lighthouse", WRONG, NULL, 0},
    {"élighthouse", WRONG, NULL, 0},
    {"harbours", WRONG, NULL, 0},
    {"What is the special word for Tokyo?", WRONG, NULL, 0},
    {"the tide", WRONG, NULL, 0},
    {"I cannot find it.", REFUSAL, "I cannot", 0},
    {"The word is not mentioned.", REFUSAL, "not mentioned", 0},
    {"", EMPTY, NULL, 0},
    {"!", EMPTY, NULL, 0},
    {"<think>the lighthouse", EMPTY, NULL, 0},
};

static const struct score_case contains_number[] = {
    {"8106422", HIT, "8106422", 0},
    {"8,106,422", HIT, "8,106,422", 0},
    {"It is 8 106 422.", HIT, "8 106 422", 0},
    {"٨١٠٦٤٢٢", HIT, "٨١٠٦٤٢٢", 0},
    {"3105577 and 8106422", HIT, "8106422", 0},
    {"Of 12 numbers: 8106422", HIT, "8106422", 0},
    {"1. 8106422", HIT, "8106422", 0},
    {"3105577", DECOY, "3105577", 0},
    {"1234567 or 3,105,577", DECOY, "3,105,577", 0},
    {"81064229", PARTIAL, "81064229", 0},
    {"8,106", PARTIAL, "8,106", 0},
    {"8106422.5", PARTIAL, "8106422.5", 0},
    {"810", WRONG, NULL, 0},
    {"98106422", WRONG, NULL, 0},
    {"x8106422", WRONG, NULL, 0},
    {"-1234567", WRONG, NULL, 0},
    {"1234567", WRONG, NULL, 0},
    {"I don't know.", REFUSAL, "I don't know", 0},
    {"", EMPTY, NULL, 0},
};

static const struct score_case contains_phrase[] = {
    {"red lantern", HIT, "red lantern", 0},   {"A Red Lantern.", HIT, "Red Lantern", 0},
    {"red\nlantern", HIT, "red\nlantern", 0}, {"red  lantern", HIT, "red  lantern", 0},
    {"red-lantern", WRONG, NULL, 0},          {"redlantern", WRONG, NULL, 0},
    {"red lanterns", PARTIAL, "red ", 0},
};

static const struct score_case contains_uuid[] = {
    {"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", HIT, "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", 0},
    {"{1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED}", HIT, "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED", 0},
    {"1b9d6bcd-bbfd-4b2d", PARTIAL, "1b9d", 0},
    {"x1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", WRONG, NULL, 0},
    {"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed0", PARTIAL, "1b9d", 0},
    {"2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", WRONG, NULL, 0},
};

static const struct score_case contains_umlaut[] = {
    {"Löwenzahn", HIT, "Löwenzahn", 0}, {"der LÖWENZAHN blüht", HIT, "LÖWENZAHN", 0},
    {"Löwenzähne", PARTIAL, "Löwe", 0}, {"Lowenzahn", WRONG, NULL, 0},
    {"Löwenzahnä", PARTIAL, "Löwe", 0},
};

/* Scripts that put no space between words. */
static const struct score_case contains_japanese[] = {
    {"灯台", HIT, "灯台", 0},   {"答えは灯台です。", HIT, "灯台", 0},
    {"灯油", PARTIAL, "灯", 0}, {"港", DECOY, "港", 0},
    {"東京", WRONG, NULL, 0},
};

/* What means something in a regular expression is taken as it stands. */
static const struct score_case contains_marks[] = {
    {"It is a+b (c)*.", HIT, "a+b (c)*", 0},
    {"aab cc", WRONG, NULL, 0},
    {"a+b (d)", PARTIAL, "a+b ", 0},
};

static const struct score_case contains_end_quote[] = {
    {"it is x\\Ey.*z", HIT, "x\\Ey.*z", 0},
    {"xy--z", WRONG, NULL, 0},
};

/* ---- all-of: recall ---- */

static const char *const three[] = {"8106422", "3105577", "5550123"};
static const char *const seven[] = {"7777777"};

static const struct score_case all_of_three[] = {
    {"8106422, 3105577 and 5550123", HIT, "8106422, 3105577 and 5550123", 0},
    {"5550123 3105577 8106422", HIT, "5550123 3105577 8106422", 0},
    {"8106422,3105577,5550123", HIT, "8106422,3105577,5550123", 0},
    {"8,106,422; 3,105,577; 5,550,123.", HIT, "8,106,422; 3,105,577; 5,550,123", 0},
    {"1. 8106422\n2. 3105577\n3. 5550123", HIT, "8106422\n2. 3105577\n3. 5550123", 0},
    {"[8106422, 3105577, 5550123]", HIT, "8106422, 3105577, 5550123", 0},
    {"8106422 7777777 3105577 5550123", HIT, "8106422 7777777 3105577 5550123", 0},
    {"8106422", PARTIAL, "8106422", 1.0 / 3},
    {"It is 3105577.", PARTIAL, "3105577", 1.0 / 3},
    {"8106422 and 3105577", PARTIAL, "8106422 and 3105577", 2.0 / 3},
    {"8106422 8106422 8106422", PARTIAL, "8106422", 1.0 / 3},
    {"7777777 8106422", PARTIAL, "8106422", 1.0 / 3},
    {"81064223105577 5550123", PARTIAL, "5550123", 1.0 / 3},
    {"8106422 3105578 5550123", PARTIAL, "8106422 3105578 5550123", 2.0 / 3},
    {"I cannot find the third: 8106422, 3105577", PARTIAL, "8106422, 3105577", 2.0 / 3},
    {"<think>8106422</think>3105577", PARTIAL, "3105577", 1.0 / 3},
    {"7777777", DECOY, "7777777", 0},
    {"1234567, 7777777", DECOY, "7777777", 0},
    {"8106", WRONG, NULL, 0},
    {"1234567", WRONG, NULL, 0},
    {"the tide", WRONG, NULL, 0},
    {"I don't know any.", REFUSAL, "I don't know", 0},
    {"", EMPTY, NULL, 0},
    {"<think>8106422, 3105577, 5550123", EMPTY, NULL, 0},
};

/* The names of a chain of variables. */
static const char *const chain[] = {"KPRSM", "QZXWV"};
static const char *const other_chain[] = {"BNTDL"};

static const struct score_case all_of_words[] = {
    {"KPRSM, QZXWV", HIT, "KPRSM, QZXWV", 0},
    {"VAR QZXWV = VAR KPRSM", HIT, "QZXWV = VAR KPRSM", 0},
    {"kprsm and qzxwv", HIT, "kprsm and qzxwv", 0},
    {"VAR KPRSM = 12345", PARTIAL, "KPRSM", 0.5},
    {"KPRSM BNTDL", PARTIAL, "KPRSM", 0.5},
    {"BNTDL", DECOY, "BNTDL", 0},
    {"KPRSMQZXWV", WRONG, NULL, 0},
    {"KPRS", WRONG, NULL, 0},
};

static const struct score_case all_of_one[] = {
    {"8106422", HIT, "8106422", 0},
    {"8106", WRONG, NULL, 0},
    {"3105577", DECOY, "3105577", 0},
};

/* ---- the tables ---- */

#define TABLE_TEST(table, scorer, expected, n_expected, decoys, n_decoys)                          \
    static void test_##table(void **state)                                                         \
    {                                                                                              \
        const struct score_table t = {{scorer, NULL, NULL},                                        \
                                      {expected, n_expected, decoys, n_decoys, false}};            \
        (void)state;                                                                               \
        check_table(&t, table, COUNT(table));                                                      \
    }
#define ONE(name, text) static const char *const name[] = {text};

ONE(cat, "cat")
ONE(letter, "B")
ONE(phrase, "red lantern")
ONE(uuid, "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed")
ONE(umlaut, "Löwenzahn")
ONE(japanese, "灯台")
ONE(other_japanese, "港")
ONE(marks, "a+b (c)*")
ONE(end_quote, "x\\Ey.*z")
static const char *const pets[] = {"cat", "dog"};

TABLE_TEST(exact_word, "exact", word, 1, other_words, 2)
TABLE_TEST(exact_short, "exact", cat, 1, NULL, 0)
TABLE_TEST(exact_letter, "exact", letter, 1, NULL, 0)
TABLE_TEST(exact_any, "exact", pets, 2, NULL, 0)
TABLE_TEST(contains_word, "contains", word, 1, other_words, 2)
TABLE_TEST(contains_number, "contains", city_number, 1, other_numbers, 2)
TABLE_TEST(contains_phrase, "contains", phrase, 1, NULL, 0)
TABLE_TEST(contains_uuid, "contains", uuid, 1, NULL, 0)
TABLE_TEST(contains_umlaut, "contains", umlaut, 1, NULL, 0)
TABLE_TEST(contains_japanese, "contains", japanese, 1, other_japanese, 1)
TABLE_TEST(contains_marks, "contains", marks, 1, NULL, 0)
TABLE_TEST(contains_end_quote, "contains", end_quote, 1, NULL, 0)
TABLE_TEST(all_of_three, "all-of", three, 3, seven, 1)
TABLE_TEST(all_of_words, "all-of", chain, 2, other_chain, 1)
TABLE_TEST(all_of_one, "all-of", city_number, 1, other_numbers, 2)

/* An empty value would stand in every text. */
static void test_empty_values_are_refused(void **state)
{
    static const char *const names[] = {"exact", "contains", "all-of"};
    static const char *const empty[] = {"cat", ""};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct scorer *s = open_scorer(names[i], NULL);
        const struct answer answer = {.response = "cat", .n = 3};
        const struct truth truths[] = {
            {empty, 2, NULL, 0, false}, {empty, 1, empty, 2, false}, {NULL, 0, NULL, 0, false}};
        for (size_t j = 0; j < COUNT(truths); j++) {
            struct verdict v;
            struct error e;
            assert_int_equal(scorer_judge(s, &answer, &truths[j], &v, &e), ERR_USAGE);
            assert_int_equal(v.outcome, OUTCOME_NO_VERDICT);
            assert_true(v.score == 0);
        }
        scorer_free(s);
    }
}

/* Time must not grow with the square of the text's length. */
static void test_long_texts(void **state)
{
    enum { N = 1 << 20 };
    static char text[N];
    const struct truth truth = {LIST(word), LIST(other_words), false};
    static const char *const names[] = {"exact", "contains", "all-of"};

    (void)state;
    for (size_t i = 0; i + 5 <= N; i += 5)
        memcpy(text + i, "ligh ", 5);
    for (size_t i = 0; i < COUNT(names); i++) {
        struct scorer *s = open_scorer(names[i], NULL);
        struct verdict v = judge_text(s, text, N, &truth);
        assert_int_equal(v.outcome, i < 2 ? PARTIAL : WRONG);
        scorer_free(s);
    }
}

/* A prompt may hide thousands of other values. */
static void test_many_decoys(void **state)
{
    enum { N = 20000 };
    static char texts[N][24];
    static const char *decoy_list[N];
    static const char *const names[] = {"exact", "contains", "all-of"};
    const struct truth truth = {LIST(word), decoy_list, N, false};

    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof(texts[i]), "granary%d", i);
        decoy_list[i] = texts[i];
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        struct scorer *s = open_scorer(names[i], NULL);
        assert_int_equal(judge_text(s, "windmill", 8, &truth).outcome, WRONG);
        assert_int_equal(judge_text(s, "Lighthouse", 10, &truth).outcome, i ? HIT : WRONG);
        assert_int_equal(judge_text(s, "granary3", 8, &truth).outcome, DECOY);
        scorer_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_word),      cmocka_unit_test(test_exact_short),
        cmocka_unit_test(test_exact_letter),    cmocka_unit_test(test_exact_any),
        cmocka_unit_test(test_contains_word),   cmocka_unit_test(test_contains_number),
        cmocka_unit_test(test_contains_phrase), cmocka_unit_test(test_contains_uuid),
        cmocka_unit_test(test_contains_umlaut), cmocka_unit_test(test_contains_japanese),
        cmocka_unit_test(test_contains_marks),  cmocka_unit_test(test_contains_end_quote),
        cmocka_unit_test(test_all_of_three),    cmocka_unit_test(test_all_of_words),
        cmocka_unit_test(test_all_of_one),      cmocka_unit_test(test_empty_values_are_refused),
        cmocka_unit_test(test_long_texts),      cmocka_unit_test(test_many_decoys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
