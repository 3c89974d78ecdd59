#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "score_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scorer *open_scorer(const char *name, const char *pattern)
{
    const struct scorer_spec spec = {name, pattern, "prompts/refusals.txt"};
    struct scorer *s = NULL;
    struct error e;

    if (scorer_new(&s, &spec, &e) != OK)
        fail_msg("%s", e.message);
    assert_non_null(s);
    return s;
}

struct verdict judge_text(struct scorer *s, const char *response, size_t n,
                          const struct truth *truth)
{
    char *copy = malloc(n ? n : 1); /* no NUL behind it: sanitizers see a read past the end */
    const struct answer answer = {.response = copy, .n = n};
    struct verdict v;
    struct error e;

    assert_non_null(copy);
    if (n)
        memcpy(copy, response, n);
    if (scorer_judge(s, &answer, truth, &v, &e) != OK)
        fail_msg("%s", e.message);
    assert_true(v.from <= v.to && v.to <= n);
    free(copy);
    return v;
}

struct verdict judge_one(const char *name, const char *response, const char *expected)
{
    const struct truth truth = {.expected = &expected, .n_expected = 1};
    struct scorer *s = open_scorer(name, NULL);
    struct verdict v = judge_text(s, response, strlen(response), &truth);

    scorer_free(s);
    return v;
}

/* True if the verdict on one case is as the table says; tells what differs if not. */
static bool judged_as_expected(struct scorer *s, const struct truth *truth,
                               const struct score_case *c)
{
    struct verdict v = judge_text(s, c->response, strlen(c->response), truth);
    const char *span = c->span ? c->span : "";
    double score = c->score > 0 ? c->score : c->want == HIT ? 1 : 0;
    bool good = v.outcome == c->want && fabs(v.score - score) < 1e-12 &&
                v.to - v.from == strlen(span) &&
                memcmp(c->response + v.from, span, v.to - v.from) == 0;

    if (!good)
        print_error("\"%s\": is %s, score %g, span \"%.*s\"; expected %s, %g, \"%s\"\n",
                    c->response, outcome_name(v.outcome), v.score, (int)(v.to - v.from),
                    c->response + v.from, outcome_name(c->want), score, span);
    return good;
}

void check_table(const struct score_table *t, const struct score_case *cases, size_t n)
{
    struct scorer *s = open_scorer(t->spec.name, t->spec.pattern);
    size_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad += !judged_as_expected(s, &t->truth, &cases[i]);
    scorer_free(s);
    assert_int_equal(bad, 0);
}
