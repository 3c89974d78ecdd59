/* number: the first number of the answer must be an expected whole number. */
#include "score_impl.h"

static enum status read_value(struct number *n, const char *value, const char *what,
                              struct error *e)
{
    if (number_read(n, value))
        return OK;
    return error_set(e, ERR_USAGE,
                     "%s \"%s\" is not a whole number of 1 to %d digits: use another scorer", what,
                     value, MAX_DIGITS);
}

/* What the number is: hit, partial, wrong; all values are read, so that a bad one shows. */
static enum status compare_expected(const struct truth *t, const struct number *found,
                                    enum outcome *out, struct error *e)
{
    struct number value;

    *out = OUTCOME_WRONG;
    for (size_t i = 0; i < t->n_expected; i++) {
        if (read_value(&value, t->expected[i], "the expected answer", e) != OK)
            return e->code;
        if (number_equals(found, &value))
            *out = OUTCOME_HIT;
        else if (*out != OUTCOME_HIT && found->digits[0] == value.digits[0])
            *out = OUTCOME_PARTIAL;
    }
    if (t->absent && *out == OUTCOME_PARTIAL)
        *out = OUTCOME_WRONG;
    return OK;
}

static enum status is_decoy(const struct truth *t, const struct number *found, bool *out,
                            struct error *e)
{
    struct number value;

    *out = false;
    for (size_t i = 0; i < t->n_decoys; i++) {
        if (read_value(&value, t->decoys[i], "the value of another needle", e) != OK)
            return e->code;
        *out = *out || number_equals(found, &value);
    }
    return OK;
}

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    struct number_scan scan = number_scan(j->text, j->from, j->to);
    struct number found = {.whole = false}; /* equals nothing */
    bool any = number_next(&scan, &found);
    enum outcome outcome;
    bool decoy;

    if (check_truth(j->truth, "number", e) != OK ||
        compare_expected(j->truth, &found, &outcome, e) != OK ||
        is_decoy(j->truth, &found, &decoy, e) != OK)
        return e->code;
    out->names_none = !any;
    if (any)
        finding_set(out, j, decoy && outcome != OUTCOME_HIT ? OUTCOME_DECOY : outcome, found.at);
    return OK;
}

const struct scorer_class scorer_number = {"number", false, true, judge};
