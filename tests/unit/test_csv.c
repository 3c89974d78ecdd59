#include "needlegrid/csv.h"

#include "../support/sample_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void field(const char *text, const char *want)
{
    struct buf out = BUF_INIT(1000);

    csv_field(&out, text);
    assert_string_equal(buf_str(&out), want);
    buf_release(&out);
}

static void quoting(void **state)
{
    (void)state;
    field("", "");
    field("plain text", "plain text");
    field("a,b", "\"a,b\"");
    field("say \"hi\"", "\"say \"\"hi\"\"\"");
    field("\"", "\"\"\"\"");
    field("a\nb", "\"a\nb\"");
    field("a\rb", "\"a\rb\"");
    field(" a", "\" a\"");
    field("a ", "\"a \"");
    field(" ", "\" \"");
    field("\t=1+1", "\t=1+1");
    field("\xe6\x9d\xb1", "\xe6\x9d\xb1");
}

static void trial(const struct trial_row *row, const char *want)
{
    struct buf out = BUF_INIT(10000);

    csv_trial_row(&out, row);
    assert_string_equal(buf_str(&out), want);
    buf_release(&out);
}

static void trial_rows(void **state)
{
    struct buf header = BUF_INIT(1000);
    struct sample_trial t;
    struct trial_row row = {.trial_id = 8,
                            .run_id = 3,
                            .model_name = "a, b",
                            .rule = "ssmax",
                            .rule_detail = "scale 0.2, (x)",
                            .task = "single",
                            .template_name = "tokyo"};

    (void)state;
    csv_trial_header(&header);
    assert_string_equal(buf_str(&header),
                        "run_id,model,rule,task,context_length,prompt_tokens,target_depth,"
                        "actual_depth,sample,seed,expected,response,outcome,score,logprob,"
                        "finish_reason,latency_ms,trial_id,rule_detail,prompt,haystack,needle_key,"
                        "scorer,worst_rank,pair_key\n");
    buf_release(&header);
    sample_trial(&t, 2);
    row.trial = t.record;
    row.trial.target_depth = 100.0 / 3;
    row.trial.pair_key = "abc";
    trial(&row, "3,\"a, b\",ssmax,single,256,240,33.333333333333336,48.5,2,18446744073709551615,"
                "8106422,\" 8106422.\",hit,1,-0.1,stop,12.500,"
                "8,\"scale 0.2, (x)\",tokyo,essays,Tokyo,number,1,abc\n");
    sample_fail(&t);
    row.trial = t.record;
    row.trial.finish_reason = NULL;
    row.trial.pair_key = "abc";
    trial(&row, "3,\"a, b\",ssmax,single,256,240,50,48.5,2,18446744073709551615,8106422,,"
                "transport-error,0,,,12.500,8,\"scale 0.2, (x)\",tokyo,essays,Tokyo,number,,abc\n");
}

/* What is printed is short where it can be and always reads back as the same number. */
static void numbers_read_back(void **state)
{
    static const double values[] = {-0.1, -1.0 / 3, -0x1.fffffffffffffp-5, -1e-300, -12345.678};
    struct buf out = BUF_INIT(10000);
    struct trial_row row = {.model_name = "", .rule = "", .task = ""};
    struct sample_trial t;

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        double back = 0;
        sample_trial(&t, 0);
        row.trial = t.record;
        row.trial.logprob = values[i];
        buf_clear(&out);
        csv_trial_row(&out, &row);
        assert_int_equal(sscanf(strstr(buf_str(&out), ",hit,1,"), ",hit,1,%lf,", &back), 1);
        assert_true(back == values[i]);
    }
    buf_release(&out);
}

static void grid_table(void **state)
{
    int64_t lengths[] = {256, 1024, 131072};
    double depths[] = {0, 100.0 / 3};
    struct grid_cell cells[] = {{10, 10, 10, 0}, {3, 2, 2, 0},     {0, 0, 0, 2},
                                {0, 0, 0, 0},    {10, 1, 1.25, 0}, {4, 0, 0, 0}};
    const struct grid g = {
        .lengths = lengths, .n_lengths = 3, .depths = depths, .n_depths = 2, .cells = cells};
    struct buf out = BUF_INIT(1000);

    (void)state;
    csv_grid(&out, &g);
    assert_string_equal(buf_str(&out), "depth,256,1024,131072\n"
                                       "0,100,66.66666666666666,\n"
                                       "33.333333333333336,,12.5,0\n");
    buf_release(&out);
}

static void empty_grid(void **state)
{
    const struct grid g = {0};
    struct buf out = BUF_INIT(1000);

    (void)state;
    csv_grid(&out, &g);
    assert_string_equal(buf_str(&out), "depth\n");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting),           cmocka_unit_test(trial_rows),
        cmocka_unit_test(numbers_read_back), cmocka_unit_test(grid_table),
        cmocka_unit_test(empty_grid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
