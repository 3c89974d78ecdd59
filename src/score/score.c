#include "score_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/hash.h"
#include "needlegrid/mem.h"
#include "needlegrid/regex.h"
#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    SCORE_REVISION = 1, /* goes up whenever the same answer would get another verdict */
    TEXT_PADDING = 64, /* zeros behind a text: PCRE2's JIT loads whole vectors, to look at a part */
};

struct scorer {
    const struct scorer_class *class;
    char *pattern; /* or NULL */
    struct refusals *refusals;
    char hash[HASH_HEX_SIZE];
    char *text; /* [text_cap] a response made valid UTF-8 */
    size_t text_cap;
};

static const struct scorer_class *const classes[] = {
    &scorer_number, &scorer_exact, &scorer_contains, &scorer_regex, &scorer_all_of, &scorer_logprob,
};

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
        [OUTCOME_NO_VERDICT] = "no-verdict",
    };

    return names[o];
}

bool outcome_counts(enum outcome o)
{
    return o <= OUTCOME_LENGTH_STOPPED;
}

const char *const *scorer_names(void)
{
    static const char *const names[] = {"number", "exact",   "contains", "regex",
                                        "all-of", "logprob", NULL};

    return names;
}

/* ---- making one ---- */

static enum status find_class(const char *name, const struct scorer_class **out, struct error *e)
{
    struct buf list = BUF_INIT(400);

    for (size_t i = 0; i < N_CLASSES; i++) {
        if (strcmp(classes[i]->name, name) == 0) {
            *out = classes[i];
            buf_release(&list);
            return OK;
        }
        buf_printf(&list, "%s%s", i ? ", " : "", classes[i]->name);
    }
    error_set(e, ERR_USAGE, "unknown scorer \"%s\": choose among %s", name, buf_str(&list));
    buf_release(&list);
    return ERR_USAGE;
}

/* That a pattern is there where one is wanted, and is one, with any value in it. */
static enum status check_pattern(const struct scorer_class *class, const char *pattern,
                                 struct error *e)
{
    struct regex *re;
    enum status status;

    if (!class->takes_pattern)
        return pattern ? error_set(e, ERR_USAGE, "scorer %s takes no pattern", class->name) : OK;
    if (!pattern || !*pattern)
        return error_set(e, ERR_USAGE, "scorer %s needs a pattern", class->name);
    status = scorer_regex_compile(&re, pattern, "x", e);
    if (status == OK)
        regex_free(re);
    return status;
}

static enum status fill_scorer(struct scorer *s, const struct scorer_spec *spec, struct hash *h,
                               struct error *e)
{
    if (spec->pattern && !(s->pattern = mem_strndup(spec->pattern, strlen(spec->pattern), e)))
        return e->code;
    hash_field_u64(h, "revision", SCORE_REVISION);
    hash_field_str(h, "scorer", spec->name);
    hash_field_str(h, "pattern", spec->pattern ? spec->pattern : "");
    if (spec->refusals && refusals_open(&s->refusals, spec->refusals, h, e) != OK)
        return e->code;
    return hash_hex(h, s->hash, e);
}

enum status scorer_new(struct scorer **out, const struct scorer_spec *spec, struct error *e)
{
    const struct scorer_class *class;
    struct scorer *s = NULL;
    struct hash *h = NULL;
    enum status status;

    *out = NULL;
    if ((status = find_class(spec->name, &class, e)) != OK ||
        (status = check_pattern(class, spec->pattern, e)) != OK ||
        (status = mem_alloc(&s, "a scorer", e, 1, sizeof(*s), 1, 1)) != OK)
        return status;
    s->class = class;
    status = hash_new(&h, e);
    if (status == OK)
        status = fill_scorer(s, spec, h, e);
    hash_free(h);
    if (status != OK) {
        scorer_free(s);
        return status;
    }
    *out = s;
    return OK;
}

void scorer_free(struct scorer *s)
{
    if (!s)
        return;
    refusals_free(s->refusals);
    free(s->pattern);
    free(s->text);
    free(s);
}

const char *scorer_name(const struct scorer *s)
{
    return s->class->name;
}

const char *scorer_pattern(const struct scorer *s)
{
    return s->pattern;
}

const char *scorer_hash(const struct scorer *s)
{
    return s->hash;
}

/* ---- judging ---- */

void finding_set(struct finding *f, const struct judging *j, enum outcome outcome, struct span at)
{
    if (j->truth->absent && outcome != OUTCOME_DECOY)
        outcome = OUTCOME_WRONG;
    f->verdict = (struct verdict){outcome, outcome == OUTCOME_HIT ? 1.0 : 0.0, at.from, at.to};
}

enum status check_truth(const struct truth *truth, const char *name, struct error *e)
{
    if (truth->n_expected == 0 && !truth->absent)
        return error_set(e, ERR_USAGE, "scorer %s: no answer is expected", name);
    for (size_t i = 0; i < truth->n_expected; i++)
        if (!*truth->expected[i])
            return error_set(e, ERR_USAGE, "scorer %s: an expected answer is empty", name);
    for (size_t i = 0; i < truth->n_decoys; i++)
        if (!*truth->decoys[i])
            return error_set(e, ERR_USAGE, "scorer %s: another needle's value is empty", name);
    return OK;
}

/* The response with "?" for each byte that is no UTF-8, as patterns need; kept in s. */
static enum status make_valid(struct scorer *s, const struct answer *a, struct error *e)
{
    size_t bad;
    size_t size;

    if (!size_add(a->n, TEXT_PADDING, &size))
        return error_set(e, ERR_LIMIT, "a response of %zu bytes is too long", a->n);
    if (mem_grow(&s->text, &s->text_cap, size, 1, "a response", e) != OK)
        return e->code;
    if (a->n)
        memcpy(s->text, a->response, a->n);
    memset(s->text + a->n, 0, TEXT_PADDING);
    for (size_t at = 0; at < a->n; at = bad + 1) {
        bad = at + utf8_invalid_at(s->text + at, a->n - at);
        if (bad < a->n)
            s->text[bad] = '?';
    }
    return OK;
}

/* What a class left without a span: a refusal, nothing at all, or still wrong. */
static enum status judge_rest(const struct scorer *s, const struct judging *j, struct finding *f,
                              struct error *e)
{
    struct verdict *v = &f->verdict;
    struct span phrase;

    if (!s->class->judges_text || v->outcome != OUTCOME_WRONG || v->from < v->to)
        return OK;
    if (refusals_find(s->refusals, j, &phrase, e) != OK)
        return e->code;
    if (phrase.from < phrase.to)
        *v = (struct verdict){OUTCOME_REFUSAL, 0.0, phrase.from, phrase.to};
    else if (!answer_has_word(j))
        v->outcome = j->answer->finish_length ? OUTCOME_LENGTH_STOPPED : OUTCOME_EMPTY;
    if (j->truth->absent &&
        (v->outcome == OUTCOME_REFUSAL || (v->outcome == OUTCOME_WRONG && f->names_none))) {
        v->outcome = OUTCOME_HIT;
        v->score = 1.0;
    }
    return OK;
}

enum status scorer_judge(struct scorer *s, const struct answer *answer, const struct truth *truth,
                         struct verdict *out, struct error *e)
{
    struct judging j = {NULL, 0, answer->n, answer, truth, s->pattern};
    struct finding f;

    *out = (struct verdict){OUTCOME_NO_VERDICT, 0.0, 0, 0};
    if (make_valid(s, answer, e) != OK)
        return e->code;
    j.text = s->text;
    answer_strip_reasoning(&j);
    f = (struct finding){{OUTCOME_WRONG, 0.0, j.from, j.from}, false};
    if (s->class->judge(&j, &f, e) != OK || judge_rest(s, &j, &f, e) != OK)
        return e->code;
    *out = f.verdict;
    return OK;
}
