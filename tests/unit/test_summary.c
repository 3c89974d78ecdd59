#include "needlegrid/summary.h"

#include "needlegrid/json.h"
#include "needlegrid/stats_effective.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct summary_spec spec = {EFFECTIVE_THRESHOLD, EFFECTIVE_BASE_SHARE, 2000, 0};

/* A run made by hand: 3 lengths, 3 depths, 8 samples. */
struct fixture {
    struct scores scores;
    struct score items[200];
    int64_t lengths[3];
    double depths[3];
    struct outcome_count outcomes[3];
};

static void add(struct fixture *f, uint32_t sample, uint32_t length, uint32_t depth, double score)
{
    f->items[f->scores.n++] = (struct score){sample, length, depth, score, score > 0 ? -0.5 : NAN};
}

/*
 * 256: all right. 1024: sample 0 wrong, at depth 100 sample 1 too. 4096: right at depth 0 only, in
 * samples 0 to 3.
 */
static void fill(struct fixture *f)
{
    *f = (struct fixture){
        .lengths = {256, 1024, 4096},
        .depths = {0, 50, 100},
        .outcomes = {{"hit", true, 48}, {"wrong", true, 24}, {"over-length", false, 5}},
    };
    f->scores = (struct scores){
        .run_id = 3,
        .model = "tiny \"x\"",
        .rule = "softmax",
        .task = "single",
        .template_name = "base",
        .haystack = "essays",
        .training_length = 256,
        .lengths = f->lengths,
        .n_lengths = 3,
        .depths = f->depths,
        .n_depths = 3,
        .n_samples = 8,
        .items = f->items,
        .outcomes = f->outcomes,
        .n_outcomes = 3,
    };
    for (uint32_t d = 0; d < 3; d++) {
        for (uint32_t s = 0; s < 8; s++) {
            add(f, s, 0, d, 1);
            add(f, s, 1, d, s > 1 || (s == 1 && d < 2));
            add(f, s, 2, d, s < 4 && d == 0);
        }
    }
}

static struct summary make(const struct fixture *f)
{
    struct summary s;
    struct error e;

    if (summary_make(&s, &f->scores, &spec, &e) != OK)
        fail_msg("%s", e.message);
    return s;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12))
        fail_msg("%.17g, not %.17g", got, want);
}

static void accuracies(void **state)
{
    struct fixture f;
    struct summary s;

    (void)state;
    fill(&f);
    s = make(&f);
    near(s.lengths[0].accuracy, 1);
    near(s.lengths[1].accuracy, 20.0 / 24);
    near(s.lengths[2].accuracy, 4.0 / 24);
    near(s.depths[0].accuracy, 19.0 / 24);
    near(s.depths[2].accuracy, 14.0 / 24);
    near(s.overall.accuracy, 48.0 / 72);
    assert_int_equal(s.lengths[1].n, 24);
    assert_int_equal(s.lengths[1].n_samples, 8);
    assert_int_equal(s.overall.n, 72);
    near(s.overall.logprob, -0.5);
    assert_int_equal(s.not_counted, 5);
    summary_release(&s);
}

/* All samples right: resamples agree, yet eight samples are no proof. */
static void intervals(void **state)
{
    struct fixture f;
    struct summary s;
    struct interval w = wilson_95(8, 8);

    (void)state;
    fill(&f);
    s = make(&f);
    assert_true(s.lengths[0].alike);
    near(s.lengths[0].interval.low, w.low);
    near(s.lengths[0].interval.high, 1);
    assert_false(s.lengths[1].alike);
    assert_true(s.lengths[1].interval.low < 0.7 && s.lengths[1].interval.high > 0.95);
    assert_true(s.overall.interval.low < s.overall.accuracy);
    assert_true(s.overall.interval.high > s.overall.accuracy);
    summary_release(&s);
}

static void effective(void **state)
{
    struct fixture f;
    struct summary s;

    (void)state;
    fill(&f);
    s = make(&f);
    assert_int_equal(s.absolute.at, 1); /* 0.833 < 0.856 */
    assert_int_equal(s.relative.at, 1); /* 0.833 < 0.85 * 1 */
    assert_int_equal(s.absolute.low, 1);
    assert_int_equal(s.absolute.high, 2);
    summary_release(&s);
    f.items[1].score = 1; /* 21 of 24 */
    s = make(&f);
    assert_int_equal(s.absolute.at, 2);
    assert_int_equal(s.relative.at, 2);
    assert_int_equal(s.relative.low, 1);
    assert_int_equal(s.relative.high, 2);
    summary_release(&s);
}

static void worst_cell(void **state)
{
    struct fixture f;
    struct summary s;

    (void)state;
    fill(&f);
    s = make(&f);
    assert_int_equal(s.worst.length, 2);
    assert_int_equal(s.worst.depth, 1);
    assert_int_equal(s.worst.n, 8);
    assert_int_equal(s.worst.others, 1);
    near(s.worst.accuracy, 0);
    near(s.worst.interval.high, wilson_95(0, 8).high);
    summary_release(&s);
}

/* The order in which trials came does not matter, nor what the seed of another run was. */
static void same_data_same_figures(void **state)
{
    struct fixture f, turned;
    struct summary a, b;
    struct buf x = BUF_INIT(1 << 20), y = BUF_INIT(1 << 20);

    (void)state;
    fill(&f);
    fill(&turned);
    for (size_t i = 0; i < f.scores.n; i++)
        turned.items[i] = f.items[f.scores.n - 1 - i];
    a = make(&f);
    b = make(&turned);
    summary_json(&x, &a);
    summary_json(&y, &b);
    assert_string_equal(buf_str(&x), buf_str(&y));
    summary_release(&a);
    summary_release(&b);
    buf_release(&x);
    buf_release(&y);
}

/* Fifths of a sample's trials right in each: alike, though neither right nor wrong. */
static void alike_but_not_perfect(void **state)
{
    struct fixture f;
    struct summary s;

    (void)state;
    fill(&f);
    f.scores.n = 0;
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t d = 0; d < 3; d++)
            add(&f, i, 0, d, d < 2);
    }
    s = make(&f);
    assert_true(s.lengths[0].alike);
    near(s.lengths[0].interval.low, wilson_95_mean(2.0 / 3, 8).low);
    assert_true(isnan(s.lengths[1].accuracy) && isnan(s.lengths[1].interval.low));
    assert_int_equal(s.lengths[1].n, 0);
    assert_int_equal(s.relative.at, 1);
    summary_release(&s);
}

/* ---- how it is written ---- */

static void check_width(const char *text)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 80)
            fail_msg("%zu columns: %.*s", n, (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void as_text(void **state)
{
    struct buf out = BUF_INIT(1 << 20);
    struct fixture f;
    struct summary s;

    (void)state;
    fill(&f);
    s = make(&f);
    summary_text(&out, &s);
    check_width(buf_str(&out));
    assert_non_null(strstr(buf_str(&out), "trained at 256 tokens\n"));
    assert_non_null(strstr(buf_str(&out), "\n   overall      66.7 "));
    assert_non_null(strstr(buf_str(&out), "  85.6: 256 tokens (95%: 256 to 1024)\n"));
    assert_non_null(strstr(buf_str(&out), "  0.85 x 100.0 (at 256): 256 tokens (95%: "));
    assert_non_null(strstr(buf_str(&out), "worst cell: 4096 tokens, depth 50%: 0.0 (Wilson "
                                          "0.0 - 32.4), n 8; 1 more like it\n"));
    assert_non_null(strstr(buf_str(&out), "not counted: 5 (5 over-length)\n"));
    assert_non_null(strstr(buf_str(&out), "accuracy = sum of scores / trials that count"));
    summary_release(&s);
    buf_release(&out);
}

static double number(const struct json *doc, const struct json_node *object, const char *key)
{
    const struct json_node *node;
    struct error e;
    double value;

    assert_int_equal(json_need(doc, object, key, &node, &e), OK);
    if (json_double(doc, node, &value, &e) != OK)
        fail_msg("%s", e.message);
    return value;
}

static void as_json(void **state)
{
    struct buf out = BUF_INIT(1 << 20);
    const struct json_node *root, *length, *effective_length;
    struct fixture f;
    struct summary s;
    struct json *doc;
    struct error e;
    const char *text;

    (void)state;
    fill(&f);
    s = make(&f);
    summary_json(&out, &s);
    if (json_parse(&doc, buf_str(&out), out.len, "summary", &e) != OK)
        fail_msg("%s", e.message);
    root = json_root(doc);
    assert_int_equal(json_get_string(doc, root, "model", &text, &e), OK);
    assert_string_equal(text, "tiny \"x\"");
    length = json_next(json_first(json_member(root, "lengths")));
    near(number(doc, length, "context_length"), 1024);
    near(number(doc, length, "accuracy"), s.lengths[1].accuracy);
    near(number(doc, length, "low"), s.lengths[1].interval.low);
    near(number(doc, json_member(root, "overall"), "n"), 72);
    effective_length = json_member(json_member(root, "effective_length"), "absolute");
    near(number(doc, effective_length, "threshold"), 0.856);
    near(number(doc, effective_length, "length"), 256);
    near(number(doc, json_member(root, "worst_cell"), "depth"), 50);
    near(number(doc, json_member(root, "not_counted"), "over-length"), 5);
    json_close(doc);
    summary_release(&s);
    buf_release(&out);
}

static void as_csv(void **state)
{
    struct buf out = BUF_INIT(1 << 20);
    struct fixture f;
    struct summary s;
    int lines = 0;

    (void)state;
    fill(&f);
    f.scores.n = 0;
    for (uint32_t i = 0; i < 8; i++)
        add(&f, i, 0, SCORE_NO_DEPTH, 1);
    f.scores.n_depths = 0;
    s = make(&f);
    summary_csv_header(&out);
    summary_csv(&out, &s);
    for (const char *p = buf_str(&out); *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 5);
    assert_non_null(strstr(buf_str(&out), "\n3,\"tiny \"\"x\"\"\",softmax,single,,length,256,,1,"));
    assert_non_null(strstr(buf_str(&out), ",wilson-samples,8,8,-0.5\n"));
    assert_non_null(strstr(buf_str(&out), ",length,1024,,,,,,0,0,\n"));
    summary_release(&s);
    buf_release(&out);
}

/* No trial that counts, and no trial at all. */
static void nothing_to_say(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f);
    f.scores.n = f.scores.n_samples = f.scores.n_depths = 0;
    f.scores.training_length = 0;
    for (int round = 0; round < 2; round++) {
        struct buf out = BUF_INIT(1 << 20);
        struct summary s = make(&f);
        struct json *doc;
        struct error e;

        assert_true(isnan(s.overall.accuracy));
        assert_int_equal(s.worst.n, 0);
        summary_text(&out, &s);
        check_width(buf_str(&out));
        assert_non_null(strstr(buf_str(&out), "overall   missing"));
        assert_null(strstr(buf_str(&out), "nan"));
        buf_clear(&out);
        summary_json(&out, &s);
        assert_int_equal(json_parse(&doc, buf_str(&out), out.len, "summary", &e), OK);
        json_close(doc);
        buf_clear(&out);
        summary_csv(&out, &s);
        assert_non_null(strstr(buf_str(&out), ",overall,,,,,,,0,0,\n"));
        summary_release(&s);
        buf_release(&out);
        f.scores.n_lengths = 0;
    }
}

static void too_many_cells(void **state)
{
    struct fixture f;
    struct summary s;
    struct error e;

    (void)state;
    fill(&f);
    f.scores.n_lengths = 1 << 12;
    f.scores.n_depths = 1 << 12;
    f.scores.n = f.scores.n_samples = 0;
    assert_int_equal(summary_make(&s, &f.scores, &spec, &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, "run 3"));
    assert_null(s.lengths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracies),
        cmocka_unit_test(intervals),
        cmocka_unit_test(effective),
        cmocka_unit_test(worst_cell),
        cmocka_unit_test(same_data_same_figures),
        cmocka_unit_test(alike_but_not_perfect),
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_json),
        cmocka_unit_test(as_csv),
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(too_many_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
