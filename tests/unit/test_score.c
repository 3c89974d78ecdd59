/*
 * The table below was written before the scorer: it is the specification in cases. Unless a case
 * says otherwise, 8106422 is expected, and 3105577 and 8999999 are values of other needles.
 */
#include "../support/score_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const decoys[] = {"3105577", "8999999"};

/* Here the last member is the expected value; NULL: 8106422. */
struct number_case {
    const char *response;
    enum outcome want;
    const char *span; /* the scored bytes; NULL if there are none */
    const char *expected;
};

/* ---- right answers ---- */

static const struct number_case plain_hits[] = {
    /* base models: the answer follows the prefix, then the text goes on */
    {"8106422", HIT, "8106422", NULL},
    {" 8106422", HIT, "8106422", NULL},
    {"8106422.", HIT, "8106422", NULL},
    {"8106422. The special magic Paris number is: 3105577.", HIT, "8106422", NULL},
    {"8106422\n\nThe tide came in at noon and the boats rose.", HIT, "8106422", NULL},
    {"8106422.The sun", HIT, "8106422", NULL},
    {"8106422 8106422 8106422", HIT, "8106422", NULL},
    {" 8106422, 8106422, 8106422", HIT, "8106422", NULL},
    {": 8106422", HIT, "8106422", NULL},
    {"\n\n8106422\n", HIT, "8106422", NULL},
    {"\t8106422\t", HIT, "8106422", NULL},
    {"8106422</s>", HIT, "8106422", NULL},
    {"8106422<|im_end|>", HIT, "8106422", NULL},
    {"8106422\r\nQuestion: what else?", HIT, "8106422", NULL},
    /* chat models */
    {"The special magic Tokyo number is 8106422.", HIT, "8106422", NULL},
    {"The special magic Tokyo number is: 8106422", HIT, "8106422", NULL},
    {"The special magic Tokyo number mentioned in the text is **8106422**.", HIT, "8106422", NULL},
    {"**8106422**", HIT, "8106422", NULL},
    {"*8106422*", HIT, "8106422", NULL},
    {"_8106422_", HIT, "8106422", NULL},
    {"__8106422__", HIT, "8106422", NULL},
    {"`8106422`", HIT, "8106422", NULL},
    {"```\n8106422\n```", HIT, "8106422", NULL},
    {"\"8106422\"", HIT, "8106422", NULL},
    {"'8106422'", HIT, "8106422", NULL},
    {"“8106422”", HIT, "8106422", NULL},
    {"«8106422»", HIT, "8106422", NULL},
    {"(8106422)", HIT, "8106422", NULL},
    {"[8106422]", HIT, "8106422", NULL},
    {"8106422!", HIT, "8106422", NULL},
    {"8106422?", HIT, "8106422", NULL},
    {"8106422;", HIT, "8106422", NULL},
    {"8106422, as the text says.", HIT, "8106422", NULL},
    {"8106422, not 3105577.", HIT, "8106422", NULL},
    {"Tokyo: 8106422\nParis: 3105577", HIT, "8106422", NULL},
    {"Answer: 8106422", HIT, "8106422", NULL},
    {"Answer:8106422", HIT, "8106422", NULL},
    {"Answer:-8106422", HIT, "8106422", NULL},
    {"Tokyo = 8106422", HIT, "8106422", NULL},
    {"Tokyo=8106422", HIT, "8106422", NULL},
    {"Tokyo - 8106422", HIT, "8106422", NULL},
    {"Tokyo-8106422", HIT, "8106422", NULL},
    {"Tokyo – 8106422", HIT, "8106422", NULL},
    {"Tokyo—8106422", HIT, "8106422", NULL},
    {"The number is...8106422", HIT, "8106422", NULL},
    {"The number is…8106422…", HIT, "8106422", NULL},
    {"- 8106422", HIT, "8106422", NULL},
    {"* 8106422", HIT, "8106422", NULL},
    {"# 8106422", HIT, "8106422", NULL},
    {"#8106422", HIT, "8106422", NULL},
    {"№8106422", HIT, "8106422", NULL},
    {"+8106422", HIT, "8106422", NULL},
    {"$8106422$", HIT, "8106422", NULL},
    {"\\boxed{8106422}", HIT, "8106422", NULL},
    {"\\[\\boxed{8106422}\\]", HIT, "8106422", NULL},
    {"<answer>8106422</answer>", HIT, "8106422", NULL},
    {"<b>8106422</b>", HIT, "8106422", NULL},
    {"{\"answer\": 8106422}", HIT, "8106422", NULL},
    {"{\"city\":\"Tokyo\",\"number\":\"8106422\"}", HIT, "8106422", NULL},
    {"| Tokyo | 8106422 |", HIT, "8106422", NULL},
    {"8106422 (see the middle of the text) [1]", HIT, "8106422", NULL},
    {"8106422¹", HIT, "8106422", NULL},
    {"8106422/3105577", HIT, "8106422", NULL},
    {"8106422 or 3105577", HIT, "8106422", NULL},
    {"8106422,3105577,8999999", HIT, "8106422", NULL},
    {"8106422 - that is the number", HIT, "8106422", NULL},
    {"8106422 😀", HIT, "8106422", NULL},
    /* said in spite of a phrase of refusal: the number is judged first */
    {"I cannot be certain, but it is 8106422.", HIT, "8106422", NULL},
    {"There is no doubt: 8106422.", HIT, "8106422", NULL},
    {"Sorry for the wait! It's 8106422.", HIT, "8106422", NULL},
    /* scripts that put no space between words */
    {"东京的特殊数字是8106422。", HIT, "8106422", NULL},
    {"東京の魔法の数字は8106422です。", HIT, "8106422", NULL},
    {"도쿄의 숫자는 8106422입니다", HIT, "8106422", NULL},
    {"ตัวเลขคือ8106422ครับ", HIT, "8106422", NULL},
    /* other expected values */
    {"7", HIT, "7", "7"},
    {"8.", HIT, "8", "8"},
    {"42", HIT, "42", "42"},
    {"The number is 123456789012345678.", HIT, "123456789012345678", "123456789012345678"},
    {"0042", HIT, "0042", "0042"},
    {"8106422", HIT, "8106422", "8,106,422"},
    {"8106422", HIT, "8106422", " 8106422 "},
};

static const struct number_case grouped_hits[] = {
    {"8,106,422", HIT, "8,106,422", NULL},
    {"The number is 8,106,422.", HIT, "8,106,422", NULL},
    {"**8,106,422**", HIT, "8,106,422", NULL},
    {"$8,106,422", HIT, "8,106,422", NULL},
    {"8,106,422, that is", HIT, "8,106,422", NULL},
    {"8 106 422", HIT, "8 106 422", NULL},
    {"8 106 422.", HIT, "8 106 422", NULL},
    {"8 106 422 is the number", HIT, "8 106 422", NULL},
    {"8\xC2\xA0"
     "106\xC2\xA0"
     "422",
     HIT,
     "8\xC2\xA0"
     "106\xC2\xA0"
     "422",
     NULL}, /* no-break space */
    {"8\xE2\x80\xAF"
     "106\xE2\x80\xAF"
     "422",
     HIT,
     "8\xE2\x80\xAF"
     "106\xE2\x80\xAF"
     "422",
     NULL}, /* narrow no-break space */
    {"8\xE2\x80\x89"
     "106\xE2\x80\x89"
     "422",
     HIT,
     "8\xE2\x80\x89"
     "106\xE2\x80\x89"
     "422",
     NULL}, /* thin space */
    {"8.106.422", HIT, "8.106.422", NULL},
    {"8.106.422.", HIT, "8.106.422", NULL},
    {"8'106'422", HIT, "8'106'422", NULL},
    {"8’106’422", HIT, "8’106’422", NULL},
    {"'8'106'422'", HIT, "8'106'422", NULL},
    {"8_106_422", HIT, "8_106_422", NULL},
    {"8{,}106{,}422", HIT, "8{,}106{,}422", NULL},
    {"\\boxed{8\\,106\\,422}", HIT, "8\\,106\\,422", NULL},
    {"81,06,422", HIT, "81,06,422", NULL}, /* Indian grouping */
    {"8,106,422, 3,105,577", HIT, "8,106,422", NULL},
    {"1,234,567", HIT, "1,234,567", "1234567"},
    {"4,183", HIT, "4,183", "4183"},
    {"12,345,678", HIT, "12,345,678", "12345678"},
    {"123,456,789", HIT, "123,456,789", "123456789"},
    {"1,23,45,678", HIT, "1,23,45,678", "12345678"},
    {"8106422.0", HIT, "8106422.0", NULL}, /* a float as programs print it */
    {"8,106,422.00", HIT, "8,106,422.00", NULL},
    {"8.106.422,00", HIT, "8.106.422,00", NULL},
};

static const struct number_case unicode_hits[] = {
    {"٨١٠٦٤٢٢", HIT, "٨١٠٦٤٢٢", NULL}, /* Arabic-Indic */
    {"الرقم هو ٨١٠٦٤٢٢.", HIT, "٨١٠٦٤٢٢", NULL},
    {"٨٬١٠٦٬٤٢٢", HIT, "٨٬١٠٦٬٤٢٢", NULL}, /* Arabic thousands separator */
    {"۸۱۰۶۴۲۲", HIT, "۸۱۰۶۴۲۲", NULL},     /* Persian */
    {"८१०६४२२", HIT, "८१०६४२२", NULL},     /* Devanagari */
    {"संख्या ८१,०६,४२२ है।", HIT, "८१,०६,४२२", NULL},
    {"৮১০৬৪২২", HIT, "৮১০৬৪২২", NULL},               /* Bengali */
    {"๘๑๐๖๔๒๒", HIT, "๘๑๐๖๔๒๒", NULL},               /* Thai */
    {"８１０６４２２", HIT, "８１０６４２２", NULL}, /* full width */
    {"８，１０６，４２２", HIT, "８，１０６，４２２", NULL},
    {"答えは８１０６４２２です", HIT, "８１０６４２２", NULL},
    {"𝟖𝟏𝟎𝟔𝟒𝟐𝟐", HIT, "𝟖𝟏𝟎𝟔𝟒𝟐𝟐", NULL}, /* mathematical bold */
    {"8106422", HIT, "8106422", "٨١٠٦٤٢٢"},
};

/* ---- reasoning ---- */

static const struct number_case reasoning[] = {
    {"<think>It may be 3105577.</think>8106422", HIT, "8106422", NULL},
    {"<think>\n3105577? no.\n</think>\n\nThe number is 8106422.", HIT, "8106422", NULL},
    {"<think>8106422</think>3105577", DECOY, "3105577", NULL},
    {"<think>8106422</think>I don't know.", REFUSAL, "I don't know", NULL},
    {"<think>8106422</think>", EMPTY, NULL, NULL},
    {"<think>8106422</think>\n\n", EMPTY, NULL, NULL},
    {"<think></think>8106422", HIT, "8106422", NULL},
    {"<think>a</think>3105577<think>b</think>8106422", HIT, "8106422", NULL},
    {"it may be 3105577</think>8106422", HIT, "8106422", NULL}, /* opened in the prompt */
    {"</think></think>8106422", HIT, "8106422", NULL},
    {"<think>The text says 8106422, so", EMPTY, NULL, NULL},
    {"<think>", EMPTY, NULL, NULL},
    {"<think>a</think><think>8106422", EMPTY, NULL, NULL},
    {"8106422<think>3105577", HIT, "8106422", NULL},
    {"<think>8106422</think", EMPTY, NULL, NULL},
    {"<thinking hard> 8106422", HIT, "8106422", NULL},
};

/* ---- other needles ---- */

static const struct number_case other_needles[] = {
    {"3105577", DECOY, "3105577", NULL},
    {"The special magic Tokyo number is 3,105,577.", DECOY, "3,105,577", NULL},
    {"3 105 577", DECOY, "3 105 577", NULL},
    {"8999999", DECOY, "8999999", NULL}, /* before partial */
    {"3105577, or 8106422", DECOY, "3105577", NULL},
    {"Not 3105577 but 8106422.", DECOY, "3105577", NULL},
    {"٣١٠٥٥٧٧", DECOY, "٣١٠٥٥٧٧", NULL},
    {"There is no Tokyo number, but Paris has 3105577.", DECOY, "3105577", NULL},
    {"310557", WRONG, "310557", NULL},
    {"31055770", WRONG, "31055770", NULL},
    {"89999999", PARTIAL, "89999999", NULL},
};

/* ---- starts as the answer does ---- */

static const struct number_case partials[] = {
    {"8", PARTIAL, "8", NULL},
    {"81", PARTIAL, "81", NULL},
    {"810642", PARTIAL, "810642", NULL}, /* the right answer, cut */
    {"8,106,", PARTIAL, "8,106", NULL},
    {"8,106,42", PARTIAL, "8,106", NULL},
    {"The number is 81064", PARTIAL, "81064", NULL},
    {"8106423", PARTIAL, "8106423", NULL},
    {"8000000.", PARTIAL, "8000000", NULL},
    {"81064220", PARTIAL, "81064220", NULL},
    {"81064228106422", PARTIAL, "81064228106422", NULL},
    {"8 1 0 6 4 2 2", PARTIAL, "8", NULL}, /* seven numbers */
    {"8-1-0-6-4-2-2", PARTIAL, "8", NULL},
    {"810-6422", PARTIAL, "810", NULL},
    {"8106 422", PARTIAL, "8106", NULL}, /* no grouping by three */
    {"8106,422", PARTIAL, "8106", NULL},
    {"8, 106, 422", PARTIAL, "8", NULL},   /* a list */
    {"8,106 422", PARTIAL, "8,106", NULL}, /* two kinds of separators */
    {"8,106\n422", PARTIAL, "8,106", NULL},
    {"8,106,4222", PARTIAL, "8,106", NULL},
    {"8,106,422,31", PARTIAL, "8,106,422", NULL}, /* grouping gone wrong: not that number */
    {"8106422.5", PARTIAL, "8106422.5", NULL},
    {"8,106,422.5", PARTIAL, "8,106,422.5", NULL},
    {"8.106.422,5", PARTIAL, "8.106.422,5", NULL},
    {"8.106422", PARTIAL, "8.106422", NULL},
    {"8106.422", PARTIAL, "8106.422", NULL},
    {"٨١٠٦٤٢٢٫٥", PARTIAL, "٨١٠٦٤٢٢٫٥", NULL},
    {"-8106422", PARTIAL, "8106422", NULL}, /* a minus sign makes another number */
    {"The number is -8106422.", PARTIAL, "8106422", NULL},
    {"The number is −8106422.", PARTIAL, "8106422", NULL},
    {"(-8106422)", PARTIAL, "8106422", NULL},
    {"8 million", PARTIAL, "8", NULL},
    {"8, then 8106422", PARTIAL, "8", NULL},
    {"8th 81", PARTIAL, "81", NULL},
    {"1, 2", PARTIAL, "1", "12"}, /* two numbers, of which the first starts as 12 does */
    {"1,2", PARTIAL, "1", "12"},
    {"1 2", PARTIAL, "1", "12"},
    {"12345678", PARTIAL, "12345678", "1234567"},
    {"8. Sorry.", PARTIAL, "8", NULL}, /* a list marker with no number behind it is the answer */
};

/* ---- wrong ---- */

static const struct number_case wrong[] = {
    {"1234567", WRONG, "1234567", NULL},
    {"The special magic Tokyo number is 1234567.", WRONG, "1234567", NULL},
    {"91234567", WRONG, "91234567", "1234567"},
    {"98106422", WRONG, "98106422", NULL},
    {"08106422", WRONG, "08106422", NULL},
    {"9,8106,422", WRONG, "9", NULL},
    {"42", WRONG, "42", "0042"},
    {"2, 1", WRONG, "2", "12"},
    {"6422", WRONG, "6422", NULL},                 /* the end of the answer is not its start */
    {"Section 3 says 8106422.", WRONG, "3", NULL}, /* the first number is the answer */
    {"Section 3.2 says 8106422.", WRONG, "3.2", NULL},
    {"0.8106422", WRONG, "0.8106422", NULL},
    {"2024-05-01: 8106422", WRONG, "2024", NULL},
    {"12:30", WRONG, "12", NULL},
    {"0", WRONG, "0", NULL},
    {"00000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
     WRONG,
     "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
     NULL},
    {"I don't know, perhaps 1234567.", WRONG, "1234567", NULL},
    /* no number at all */
    {"What is the special magic Tokyo number?", WRONG, NULL, NULL},
    {"The special magic Tokyo number is", WRONG, NULL, NULL},
    {"The special magic Tokyo number is:", WRONG, NULL, NULL},
    {"Tokyo", WRONG, NULL, NULL},
    {"the tide", WRONG, NULL, NULL},
    {"eight million", WRONG, NULL, NULL},
    {"東京", WRONG, NULL, NULL},
    {"é", WRONG, NULL, NULL},
    {"Ω", WRONG, NULL, NULL},
    {"Knowing is hard.", WRONG, NULL, NULL},
    {"Nonetheless, the bridge held.", WRONG, NULL, NULL},
    /* digits that touch Latin letters are part of a name, an ordinal or a unit */
    {"x8106422", WRONG, NULL, NULL},
    {"8106422th", WRONG, NULL, NULL},
    {"8106422x", WRONG, NULL, NULL},
    {"8,106,422th", WRONG, NULL, NULL},
    {"é8106422", WRONG, NULL, NULL},
    {"a1b2c3", WRONG, NULL, NULL},
    {"8e6", WRONG, NULL, NULL},
    {"0x8106422", WRONG, NULL, NULL},
    {"d8106422-1a2b", WRONG, NULL, NULL},
};

/* ---- numbers that are not the answer are passed over ---- */

static const struct number_case passed_over[] = {
    {"GPT4 says 8106422", HIT, "8106422", NULL},
    {"Qwen2.5 says 8106422", HIT, "8106422", NULL},
    {"The 3rd needle: 8106422", HIT, "8106422", NULL},
    {"The 7-digit number is 8106422.", HIT, "8106422", NULL},
    {"It has 7B parameters; 8106422", HIT, "8106422", NULL},
    {"1. 8106422", HIT, "8106422", NULL},
    {"1. Tokyo: 8106422", HIT, "8106422", NULL},
    {"1) Tokyo: 8106422", HIT, "8106422", NULL},
    {"Here it is:\n\n1. **Tokyo**: 8106422\n2. **Paris**: 3105577", HIT, "8106422", NULL},
    {"  8. The number is 3105577", DECOY, "3105577", NULL},
    {"12. 8106422", HIT, "8106422", NULL},
    {"１．８１０６４２２", WRONG, "１．８１０６４２２", NULL}, /* a decimal, in full width */
    {"Number 1. 8106422", WRONG, "1", NULL},                   /* not at the start of a line */
    {"123. 8106422", WRONG, "123", NULL},
};

/* ---- refusals ---- */

static const struct number_case refusals[] = {
    {"I cannot find the special magic Tokyo number.", REFUSAL, "I cannot", NULL},
    {"I can't find it.", REFUSAL, "I can't", NULL},
    {"I can’t find it.", REFUSAL, "I can’t", NULL},
    {"I CANNOT FIND IT", REFUSAL, "I CANNOT", NULL},
    {"I could not find a number for Tokyo.", REFUSAL, "I could not", NULL},
    {"I couldn't find a number for Tokyo.", REFUSAL, "I couldn't", NULL},
    {"I don't know.", REFUSAL, "I don't know", NULL},
    {"I do not know the answer", REFUSAL, "I do not know", NULL},
    {"I don't have that information.", REFUSAL, "I don't have", NULL},
    {"I do not see any such number.", REFUSAL, "I do not see", NULL},
    {"I'm sorry.", REFUSAL, "I'm sorry", NULL},
    {"I am sorry, but", REFUSAL, "I am sorry", NULL},
    {"Sorry, the passage says nothing of it.", REFUSAL, "Sorry,", NULL},
    {"I apologize.", REFUSAL, "I apologize", NULL},
    {"I'm unable to answer.", REFUSAL, "unable to", NULL},
    {"I am not able to answer.", REFUSAL, "I am not able", NULL},
    {"I'm not sure.", REFUSAL, "I'm not sure", NULL},
    {"There is no special magic number for Tokyo in the text.", REFUSAL, "There is no", NULL},
    {"There's no such number.", REFUSAL, "There's no", NULL},
    {"There isn't one.", REFUSAL, "There isn't", NULL},
    {"There are no numbers here.", REFUSAL, "There are no", NULL},
    {"It is not mentioned.", REFUSAL, "not mentioned", NULL},
    {"The text makes no mention of Tokyo.", REFUSAL, "no mention", NULL},
    {"The text does not mention Tokyo.", REFUSAL, "not mention", NULL},
    {"The text doesn't mention Tokyo.", REFUSAL, "n't mention", NULL},
    {"The number was not found in the text.", REFUSAL, "not found", NULL},
    {"Not found", REFUSAL, "Not found", NULL},
    {"That is not specified.", REFUSAL, "not specified", NULL},
    {"The number is not provided in the passage.", REFUSAL, "not provided", NULL},
    {"The passage does not contain it.", REFUSAL, "not contain", NULL},
    {"It does not appear in the text.", REFUSAL, "not appear", NULL},
    {"It cannot be determined from the text.", REFUSAL, "cannot be determined", NULL},
    {"No information is given.", REFUSAL, "No information", NULL},
    {"As an AI, I read but", REFUSAL, "As an AI", NULL},
    {"Unknown", REFUSAL, "Unknown", NULL},
    {"None", REFUSAL, "None", NULL},
    {"N/A", REFUSAL, "N/A", NULL},
    {"I cannot find a 7-digit number.", REFUSAL, "I cannot", NULL},
};

/* ---- nothing ---- */

static const struct number_case nothing[] = {
    {"", EMPTY, NULL, NULL},
    {" ", EMPTY, NULL, NULL},
    {"\n\n\t", EMPTY, NULL, NULL},
    {"...", EMPTY, NULL, NULL},
    {"…", EMPTY, NULL, NULL},
    {"**", EMPTY, NULL, NULL},
    {"-", EMPTY, NULL, NULL},
    {"。", EMPTY, NULL, NULL},
    {"！？", EMPTY, NULL, NULL},
    {"😀", EMPTY, NULL, NULL},
    {"→", EMPTY, NULL, NULL},
    {"\xC2\xA0", EMPTY, NULL, NULL},
    {"\xEF\xBB\xBF", EMPTY, NULL, NULL},
    {"\xEF\xBF\xBD", EMPTY, NULL, NULL},
};

/* ---- bytes that are no UTF-8: a model that speaks bytes may send them ---- */

static const struct number_case bad_bytes[] = {
    {"\xFF\xFE", EMPTY, NULL, NULL},
    {"\xFF"
     "8106422\xFF",
     HIT, "8106422", NULL},
    {"8106422\xE2\x80", HIT, "8106422", NULL},
    {"\x80\x80 3105577", DECOY, "3105577", NULL},
    {"8\xFF"
     "106422",
     PARTIAL, "8", NULL},
    {"8,\xED\xA0\x80"
     "106,422",
     PARTIAL, "8", NULL},
};

static struct verdict judge(struct scorer *s, const char *response, size_t n, const char *expected)
{
    const struct truth truth = {&expected, 1, decoys, COUNT(decoys), false};

    return judge_text(s, response, n, &truth);
}

/* True if the verdict on one case is as the table says; tells what differs if not. */
static bool judged_as_expected(struct scorer *s, const struct number_case *c)
{
    struct verdict v =
        judge(s, c->response, strlen(c->response), c->expected ? c->expected : "8106422");
    const char *span = c->span ? c->span : "";
    bool good = v.outcome == c->want && v.score == (c->want == HIT ? 1.0 : 0.0) &&
                v.to - v.from == strlen(span) &&
                memcmp(c->response + v.from, span, v.to - v.from) == 0;

    if (!good)
        print_error("\"%s\": is %s, span \"%.*s\"; expected %s, \"%s\"\n", c->response,
                    outcome_name(v.outcome), (int)(v.to - v.from), c->response + v.from,
                    outcome_name(c->want), span);
    return good;
}

static void check_numbers(const struct number_case *cases, size_t n)
{
    struct scorer *s = open_scorer("number", NULL);
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += !judged_as_expected(s, &cases[i]);
    scorer_free(s);
    assert_int_equal(bad, 0);
}

#define TABLE_TEST(table)                                                                          \
    static void test_##table(void **state)                                                         \
    {                                                                                              \
        (void)state;                                                                               \
        check_numbers(table, COUNT(table));                                                        \
    }

TABLE_TEST(plain_hits)
TABLE_TEST(grouped_hits)
TABLE_TEST(unicode_hits)
TABLE_TEST(reasoning)
TABLE_TEST(other_needles)
TABLE_TEST(partials)
TABLE_TEST(wrong)
TABLE_TEST(passed_over)
TABLE_TEST(refusals)
TABLE_TEST(nothing)
TABLE_TEST(bad_bytes)

/* Every decimal digit of every script, as Unicode 14 lists them (category Nd). */
static void test_each_script_has_ten_digits(void **state)
{
    static const char *const nine[] = {"9", "٩", "۹", "߉",   "९", "৯", "੯",  "૯", "୯", "௯",
                                       "౯", "೯", "൯", "෯", "๙", "໙", "༩",  "၉", "႙", "៩",
                                       "᠙", "᥏", "᧙", "᪉",   "᪙", "᭙", "᮹",  "᱉", "᱙", "꘩",
                                       "꣙", "꤉", "꧙", "꧹", "꩙", "꯹", "９", "𝟗", "𝟡", "𞥙"};
    struct scorer *s = open_scorer("number", NULL);

    (void)state;
    for (size_t i = 0; i < COUNT(nine); i++) {
        if (judge(s, nine[i], strlen(nine[i]), "9").outcome != OUTCOME_HIT)
            fail_msg("\"%s\" is no nine", nine[i]);
    }
    scorer_free(s);
}

/* The last digits of a number of any length are read, not only those that fit somewhere. */
static void test_long_numbers(void **state)
{
    enum { N = 100000 };
    struct scorer *s = open_scorer("number", NULL);
    char *response = malloc(N);
    struct verdict v;

    (void)state;
    assert_non_null(response);
    memset(response, '8', N);
    v = judge(s, response, N, "88888888");
    assert_int_equal(v.outcome, OUTCOME_PARTIAL);
    assert_int_equal(v.from, 0);
    assert_int_equal(v.to, N);
    for (size_t i = 1; i < N; i += 4)
        response[i] = ',';
    v = judge(s, response, N, "8888");
    assert_int_equal(v.outcome, OUTCOME_PARTIAL);
    free(response);
    scorer_free(s);
}

/* Letters, digits and one-digit list markers over and over: time must not be quadratic. */
static void test_many_candidates_that_are_none(void **state)
{
    enum { N = 400000 };
    struct scorer *s = open_scorer("number", NULL);
    char *response = malloc(N + 1);
    struct verdict v;

    (void)state;
    assert_non_null(response);
    for (size_t i = 0; i < N; i += 4)
        memcpy(response + i, i % 8 ? "x1 a" : "\n1. ", 4);
    v = judge(s, response, N, "8106422");
    assert_int_equal(v.outcome, OUTCOME_WRONG);
    free(response);
    scorer_free(s);
}

static void test_zero_bytes_inside(void **state)
{
    static const char response[] = "\0\0 8106422\0";
    struct scorer *s = open_scorer("number", NULL);
    struct verdict v;

    (void)state;
    v = judge(s, response, sizeof(response) - 1, "8106422");
    assert_int_equal(v.outcome, OUTCOME_HIT);
    assert_int_equal(v.from, 3);
    assert_int_equal(v.to, 10);
    v = judge(s, NULL, 0, "8106422");
    assert_int_equal(v.outcome, OUTCOME_EMPTY);
    scorer_free(s);
}

/* Without decoys another needle's value is just wrong. */
static void test_no_decoys(void **state)
{
    static const char *const expected[] = {"8106422"};
    const struct truth truth = {LIST(expected), NULL, 0, false};
    struct scorer *s = open_scorer("number", NULL);
    struct verdict v;

    (void)state;
    v = judge_text(s, "3105577", 7, &truth);
    assert_int_equal(v.outcome, OUTCOME_WRONG);
    assert_true(v.score == 0.0);
    scorer_free(s);
}

/* Any of several values is the answer; a decoy is told from each. */
static void test_several_values(void **state)
{
    static const char *const expected[] = {"8106422", "5550123"};
    static const struct score_case cases[] = {
        {"8106422", HIT, "8106422", 0},
        {"5550123", HIT, "5550123", 0},
        {"5550123, 8106422", HIT, "5550123", 0},
        {"3105577", DECOY, "3105577", 0},
        {"8999999", DECOY, "8999999", 0},
        {"5", PARTIAL, "5", 0},
        {"8", PARTIAL, "8", 0},
        {"7", WRONG, "7", 0},
    };
    const struct score_table t = {{"number", NULL, NULL},
                                  {LIST(expected), decoys, COUNT(decoys), false}};

    (void)state;
    check_table(&t, LIST(cases));
}

static void test_expected_must_be_a_whole_number(void **state)
{
    static const char too_long[] =
        "12345678901234567890123456789012345678901234567890123456789012345";
    static const char *const bad[] = {"",     "x",  "12 apples", "1.5",   "-7",
                                      "1, 2", "x7", "7th",       too_long};
    static const char *const bad_decoys[] = {"3105577", "none"};
    struct scorer *s = open_scorer("number", NULL);
    const struct answer answer = {.response = "7", .n = 1};
    const char *seven = "7";
    struct verdict v;
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct truth truth = {&bad[i], 1, NULL, 0, false};
        assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), ERR_USAGE);
        assert_int_equal(v.outcome, OUTCOME_NO_VERDICT);
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.message, bad[i]));
    }
    assert_int_equal(
        scorer_judge(s, &answer, &(struct truth){&seven, 1, bad_decoys, 2, false}, &v, &e),
        ERR_USAGE);
    assert_non_null(strstr(e.message, "none"));
    scorer_free(s);
}

static void test_unknown_scorer_is_refused_with_the_list(void **state)
{
    struct scorer_spec spec = {.name = "judge"};
    struct scorer *s = NULL;
    struct error e;

    (void)state;
    assert_int_equal(scorer_new(&s, &spec, &e), ERR_USAGE);
    assert_null(s);
    assert_non_null(strstr(e.message, "\"judge\""));
    for (const char *const *n = scorer_names(); *n; n++)
        assert_non_null(strstr(e.message, *n));
    spec.name = "";
    assert_int_equal(scorer_new(&s, &spec, &e), ERR_USAGE);
    scorer_free(NULL);
}

static void test_each_name_makes_a_scorer(void **state)
{
    size_t n = 0;

    (void)state;
    for (const char *const *name = scorer_names(); *name; name++, n++)
        scorer_free(open_scorer(*name, strcmp(*name, "regex") == 0 ? "x" : NULL));
    assert_int_equal(n, 6);
}

static void test_outcome_names(void **state)
{
    static const char *const names[] = {
        "hit",         "decoy",           "partial",        "refusal",
        "wrong",       "empty",           "length-stopped", "truncated-by-server",
        "over-length", "transport-error", "skipped",        "no-verdict"};

    (void)state;
    assert_int_equal(COUNT(names), OUTCOME_COUNT);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        assert_string_equal(outcome_name((enum outcome)i), names[i]);
        assert_int_equal(outcome_counts((enum outcome)i), i <= OUTCOME_LENGTH_STOPPED);
    }
}

/* A token limit changes the outcome only where nothing scorable stands in the text. */
static void test_token_limit(void **state)
{
    static const struct {
        const char *response;
        enum outcome want;
    } rows[] = {
        {"", OUTCOME_LENGTH_STOPPED},
        {"\n\n\n", OUTCOME_LENGTH_STOPPED},
        {"<think>8", OUTCOME_LENGTH_STOPPED},
        {"8106422", HIT},
        {"810", PARTIAL},
        {"3105577", DECOY},
        {"The special", WRONG},
        {"I cannot find", REFUSAL},
    };
    static const char *const expected[] = {"8106422"};
    const struct truth truth = {LIST(expected), decoys, COUNT(decoys), false};
    struct scorer *s = open_scorer("number", NULL);
    struct verdict v;
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct answer answer = {
            .response = rows[i].response, .n = strlen(rows[i].response), .finish_length = true};
        assert_int_equal(scorer_judge(s, &answer, &truth, &v, &e), OK);
        assert_int_equal(v.outcome, rows[i].want);
    }
    scorer_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_hits),
        cmocka_unit_test(test_grouped_hits),
        cmocka_unit_test(test_unicode_hits),
        cmocka_unit_test(test_reasoning),
        cmocka_unit_test(test_other_needles),
        cmocka_unit_test(test_partials),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_each_script_has_ten_digits),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_many_candidates_that_are_none),
        cmocka_unit_test(test_zero_bytes_inside),
        cmocka_unit_test(test_no_decoys),
        cmocka_unit_test(test_expected_must_be_a_whole_number),
        cmocka_unit_test(test_unknown_scorer_is_refused_with_the_list),
        cmocka_unit_test(test_several_values),
        cmocka_unit_test(test_each_name_makes_a_scorer),
        cmocka_unit_test(test_outcome_names),
        cmocka_unit_test(test_token_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
