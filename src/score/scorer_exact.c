/* exact: the text without outer blanks is an expected value, letter for letter. */
#include "score_impl.h"

#include <string.h>

static bool begins(const struct judging *j, struct span at, const char *value, size_t n)
{
    return at.to - at.from >= n && memcmp(j->text + at.from, value, n) == 0;
}

static bool is(const struct judging *j, struct span at, const char *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at.to - at.from == strlen(values[i]) && begins(j, at, values[i], strlen(values[i])))
            return true;
    return false;
}

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    const struct truth *t = j->truth;
    struct span at = answer_trimmed(j);

    if (check_truth(t, "exact", e) != OK)
        return e->code;
    if (is(j, at, t->expected, t->n_expected)) {
        finding_set(out, j, OUTCOME_HIT, at);
        return OK;
    }
    if (is(j, at, t->decoys, t->n_decoys)) {
        finding_set(out, j, OUTCOME_DECOY, at);
        return OK;
    }
    for (size_t i = 0; i < t->n_expected && !t->absent; i++) {
        size_t n = value_beginning(t->expected[i]);
        if (n && begins(j, at, t->expected[i], n)) {
            finding_set(out, j, OUTCOME_PARTIAL, (struct span){at.from, at.from + n});
            return OK;
        }
    }
    return OK;
}

const struct scorer_class scorer_exact = {"exact", false, true, judge};
