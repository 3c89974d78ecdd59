/*
 * Judges any bytes as a response. A verdict must point into the response, score 1 exactly for a
 * hit, and be the same when the response is judged again.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const decoys[] = {"3105577", "8999999"};
    struct scorer *s = NULL;
    struct verdict first;
    struct verdict again;
    struct error e;

    check(scorer_new(&s, "number", &e) == OK);
    check(scorer_judge(s, (const char *)data, size, "8106422", decoys, 2, &first, &e) == OK);
    check(scorer_judge(s, (const char *)data, size, "8106422", decoys, 2, &again, &e) == OK);
    check(first.from <= first.to && first.to <= size);
    check(first.outcome <= OUTCOME_EMPTY);
    check(first.score == (first.outcome == OUTCOME_HIT ? 1.0 : 0.0));
    check(first.outcome == OUTCOME_EMPTY ? first.from == first.to : true);
    check(first.outcome <= OUTCOME_REFUSAL ? first.from < first.to : true);
    check(first.outcome == again.outcome && first.from == again.from && first.to == again.to);
    scorer_free(s);
    return 0;
}
