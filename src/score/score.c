#include "score_impl.h"

#include "needlegrid/buf.h"

#include <stdlib.h>
#include <string.h>

struct scorer {
    const struct scorer_class *class;
};

static const struct scorer_class *const classes[] = {&scorer_number};

enum { N_CLASSES = sizeof(classes) / sizeof(classes[0]) };

const char *outcome_name(enum outcome o)
{
    static const char *const names[OUTCOME_COUNT] = {
        [OUTCOME_HIT] = "hit",
        [OUTCOME_DECOY] = "decoy",
        [OUTCOME_PARTIAL] = "partial",
        [OUTCOME_REFUSAL] = "refusal",
        [OUTCOME_WRONG] = "wrong",
        [OUTCOME_EMPTY] = "empty",
        [OUTCOME_LENGTH_STOPPED] = "length-stopped",
        [OUTCOME_TRUNCATED_BY_SERVER] = "truncated-by-server",
        [OUTCOME_OVER_LENGTH] = "over-length",
        [OUTCOME_TRANSPORT_ERROR] = "transport-error",
        [OUTCOME_SKIPPED] = "skipped",
    };

    return names[o];
}

bool outcome_counts(enum outcome o)
{
    return o <= OUTCOME_LENGTH_STOPPED;
}

enum outcome outcome_after_stop(enum outcome judged, bool length_stopped)
{
    return length_stopped && judged == OUTCOME_EMPTY ? OUTCOME_LENGTH_STOPPED : judged;
}

static enum status unknown_scorer(const char *name, struct error *e)
{
    struct buf list = BUF_INIT(400);

    for (size_t i = 0; i < N_CLASSES; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", classes[i]->name);
    error_set(e, ERR_USAGE, "unknown scorer \"%s\": choose among %s", name, buf_str(&list));
    buf_release(&list);
    return ERR_USAGE;
}

enum status scorer_new(struct scorer **out, const char *name, struct error *e)
{
    size_t i = 0;
    struct scorer *s;

    *out = NULL;
    while (i < N_CLASSES && strcmp(classes[i]->name, name) != 0)
        i++;
    if (i == N_CLASSES)
        return unknown_scorer(name, e);
    s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(e, ERR_NOMEM, "cannot allocate a scorer");
    s->class = classes[i];
    *out = s;
    return OK;
}

void scorer_free(struct scorer *s)
{
    free(s);
}

enum status scorer_judge(struct scorer *s, const char *response, size_t n, const char *expected,
                         const char *const *decoys, size_t n_decoys, struct verdict *out,
                         struct error *e)
{
    struct answer a = {n ? response : "", 0, n, expected, decoys, n_decoys};
    enum status status;

    answer_strip_reasoning(&a);
    *out = (struct verdict){OUTCOME_WRONG, 0.0, a.from, a.from};
    status = s->class->judge(&a, out, e);
    if (status != OK)
        return status;
    if (out->outcome == OUTCOME_WRONG && out->from == out->to) {
        if (answer_refuses(&a, &out->from, &out->to))
            out->outcome = OUTCOME_REFUSAL;
        else if (!answer_has_word(&a))
            out->outcome = OUTCOME_EMPTY;
    }
    return OK;
}
