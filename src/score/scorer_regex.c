/*
 * regex: a pattern of the template's. With {value} in it, each value in turn is put there; without,
 * the first match is the answer.
 */
#include "score_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/regex.h"

#include <string.h>

enum { MAX_PATTERN = 1 << 20 }; /* bytes, values included */

static const char field[] = "{value}";

/* The pattern with `value` in it; values are never looked through for fields. */
static void fill(struct buf *out, const char *pattern, const char *value)
{
    const char *next;

    while ((next = strstr(pattern, field)) != NULL) {
        buf_append(out, pattern, (size_t)(next - pattern));
        value_quote(out, value, strlen(value));
        pattern = next + strlen(field);
    }
    buf_puts(out, pattern);
}

enum status scorer_regex_compile(struct regex **out, const char *pattern, const char *value,
                                 struct error *e)
{
    struct buf filled = BUF_INIT(MAX_PATTERN);
    enum status status;

    fill(&filled, pattern, value);
    status = buf_status(&filled, e);
    if (status == OK)
        status = regex_compile(out, buf_str(&filled), e);
    buf_release(&filled);
    return status;
}

static enum status search(const struct judging *j, const char *value, struct span *at,
                          struct error *e)
{
    struct regex *re;
    enum status status = scorer_regex_compile(&re, j->pattern, value, e);
    bool found;

    *at = (struct span){0, 0};
    if (status != OK)
        return status;
    status = regex_search(re, j->text, j->to, j->from, &found, &at->from, &at->to, e);
    regex_free(re);
    return status;
}

/* The match of the first value that has one. */
static enum status search_values(const struct judging *j, const char *const *values, size_t n,
                                 struct span *at, struct error *e)
{
    enum status status = OK;

    *at = (struct span){0, 0};
    for (size_t i = 0; i < n && status == OK && at->from == at->to; i++)
        status = search(j, values[i], at, e);
    return status;
}

static enum status judge_with_values(const struct judging *j, struct finding *out, struct error *e)
{
    const struct truth *t = j->truth;
    struct span at;

    if (search_values(j, t->expected, t->n_expected, &at, e) != OK)
        return e->code;
    if (at.from < at.to) {
        finding_set(out, j, OUTCOME_HIT, at);
        return OK;
    }
    if (search_values(j, t->decoys, t->n_decoys, &at, e) != OK)
        return e->code;
    if (at.from < at.to)
        finding_set(out, j, OUTCOME_DECOY, at);
    return OK;
}

static bool is(const struct judging *j, struct span at, const char *value)
{
    size_t n = strlen(value);

    return at.to - at.from == n && memcmp(j->text + at.from, value, n) == 0;
}

static enum outcome compare(const struct judging *j, struct span at)
{
    const struct truth *t = j->truth;

    for (size_t i = 0; i < t->n_expected; i++)
        if (is(j, at, t->expected[i]))
            return OUTCOME_HIT;
    for (size_t i = 0; i < t->n_decoys; i++)
        if (is(j, at, t->decoys[i]))
            return OUTCOME_DECOY;
    for (size_t i = 0; i < t->n_expected && !t->absent; i++) {
        size_t n = value_beginning(t->expected[i]);
        if (n && at.to - at.from >= n && memcmp(j->text + at.from, t->expected[i], n) == 0)
            return OUTCOME_PARTIAL;
    }
    return OUTCOME_WRONG;
}

static enum status judge(const struct judging *j, struct finding *out, struct error *e)
{
    struct span at;

    if (check_truth(j->truth, "regex", e) != OK)
        return e->code;
    if (strstr(j->pattern, field))
        return judge_with_values(j, out, e);
    if (search(j, "", &at, e) != OK)
        return e->code;
    out->names_none = at.from == at.to;
    if (at.from < at.to)
        finding_set(out, j, compare(j, at), at);
    return OK;
}

const struct scorer_class scorer_regex = {"regex", true, true, judge};
