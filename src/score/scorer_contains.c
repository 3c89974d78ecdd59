/* contains: an expected value stands in the text, whatever else does. */
#include "score_impl.h"

/* The first of the values that stands in the text, or whose beginning does. */
static enum status find_first(const struct judging *j, const char *const *values, size_t n,
                              bool beginning, struct span *at, struct error *e)
{
    enum status status = OK;

    *at = (struct span){0, 0};
    for (size_t i = 0; i < n && status == OK && at->from == at->to; i++)
        status =
            beginning ? value_find_beginning(j, values[i], at, e) : value_find(j, values[i], at, e);
    return status;
}

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    const struct truth *t = j->truth;
    struct span at;

    if (check_truth(t, "contains", e) != OK ||
        find_first(j, t->expected, t->n_expected, false, &at, e) != OK)
        return e->code;
    if (at.from < at.to) {
        finding_set(out, j, OUTCOME_HIT, at);
        return OK;
    }
    if (find_first(j, t->decoys, t->n_decoys, false, &at, e) != OK)
        return e->code;
    if (at.from < at.to) {
        finding_set(out, j, OUTCOME_DECOY, at);
        return OK;
    }
    if (t->absent) {
        value_find_any_number(j, out);
        return OK;
    }
    if (find_first(j, t->expected, t->n_expected, true, &at, e) != OK)
        return e->code;
    if (at.from < at.to)
        finding_set(out, j, OUTCOME_PARTIAL, at);
    return OK;
}

const struct scorer_class scorer_contains = {"contains", false, true, judge};
