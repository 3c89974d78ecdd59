/* all-of: recall, the share of the expected values that stand in the text. */
#include "score_impl.h"

/* How many of the values stand in the text, and from the first to the last of them. */
static enum status count_values(const struct judging *j, const char *const *values, size_t n,
                                size_t *count, struct span *all, struct error *e)
{
    *count = 0;
    *all = (struct span){0, 0};
    for (size_t i = 0; i < n; i++) {
        struct span at;
        if (value_find(j, values[i], &at, e) != OK)
            return e->code;
        if (at.from == at.to)
            continue;
        if (*count == 0 || at.from < all->from)
            all->from = at.from;
        if (at.to > all->to)
            all->to = at.to;
        ++*count;
    }
    return OK;
}

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    const struct truth *t = j->truth;
    struct span at;
    size_t n;

    if (check_truth(t, "all-of", e) != OK ||
        count_values(j, t->expected, t->n_expected, &n, &at, e) != OK)
        return e->code;
    if (n > 0) {
        finding_set(out, j, n == t->n_expected ? OUTCOME_HIT : OUTCOME_PARTIAL, at);
        if (!t->absent)
            out->verdict.score = (double)n / (double)t->n_expected;
        return OK;
    }
    if (count_values(j, t->decoys, t->n_decoys, &n, &at, e) != OK)
        return e->code;
    if (n > 0)
        finding_set(out, j, OUTCOME_DECOY, at);
    else if (t->absent)
        value_find_any_number(j, out);
    return OK;
}

const struct scorer_class scorer_all_of = {"all-of", false, true, judge};
