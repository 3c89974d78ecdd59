/*
 * Judges any bytes as a response, by every scorer. A verdict must point into the response, score 1
 * for a hit, and be the same when the response is judged again.
 */
#include "needlegrid/score.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static const char *const values[] = {"8106422", "lighthouse"};
static const char *const decoys[] = {"3105577", "8999999"};

static const struct {
    const char *name, *pattern;
} kinds[] = {
    {"number", NULL},           {"exact", NULL},   {"contains", NULL}, {"all-of", NULL},
    {"regex", "\\b{value}\\b"}, {"regex", "\\w+"},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Made once: each has some twenty patterns to compile. */
static struct scorer *scorer_of(size_t kind)
{
    static struct scorer *made[N_KINDS];
    const struct scorer_spec spec = {kinds[kind].name, kinds[kind].pattern, "prompts/refusals.txt"};
    struct error e;

    if (!made[kind])
        check(scorer_new(&made[kind], &spec, &e) == OK);
    return made[kind];
}

static void judge(size_t kind, const struct answer *answer, bool absent)
{
    const char *name = kinds[kind].name;
    const struct truth truth = {values, strcmp(name, "number") == 0 ? 1 : 2, decoys, 2, absent};
    struct scorer *s = scorer_of(kind);
    struct verdict first;
    struct verdict again;
    struct error e;

    check(scorer_judge(s, answer, &truth, &first, &e) == OK);
    check(scorer_judge(s, answer, &truth, &again, &e) == OK);
    check(first.from <= first.to && first.to <= answer->n);
    check(first.outcome <= OUTCOME_EMPTY);
    check(first.outcome == OUTCOME_HIT  ? first.score == 1
          : strcmp(name, "all-of") == 0 ? first.score < 1
                                        : first.score == 0);
    check(first.outcome == OUTCOME_EMPTY ? first.from == first.to : true);
    check(!absent && first.outcome <= OUTCOME_REFUSAL ? first.from < first.to : true);
    check(first.outcome == again.outcome && first.from == again.from && first.to == again.to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct answer answer = {.response = (const char *)data, .n = size};

    for (size_t kind = 0; kind < N_KINDS; kind++) {
        judge(kind, &answer, false);
        judge(kind, &answer, true);
    }
    return 0;
}
