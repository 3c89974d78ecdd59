/*
 * logprob: the expected answer's own probability, teacher-forced. The text is not judged.
 *
 * score = exp(mean over the answer's tokens of ln p(token | what stands before it)), the inverse of
 * the answer's perplexity.
 */
#include "score_impl.h"

#include <math.h>

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    const struct answer *a = j->answer;

    if (j->truth->absent)
        return error_set(e, ERR_USAGE,
                         "scorer logprob: where nothing was planted there is no answer to weigh: "
                         "use another scorer");
    if (!a->has_logprob || isnan(a->logprob) || a->worst_rank < 1)
        return error_set(e, ERR_USAGE,
                         "scorer logprob: the answer's log-probability was not taken");
    out->verdict.outcome = a->worst_rank == 1 ? OUTCOME_HIT : OUTCOME_WRONG;
    out->verdict.score = fmin(1.0, exp(a->logprob));
    return OK;
}

const struct scorer_class scorer_logprob = {"logprob", false, false, judge};
