#include "needlegrid/regex.h"

#include "needlegrid/mem.h"
#include "needlegrid/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/*
 * What one search may cost. An honest pattern takes a few steps per character; 10 million steps
 * are well under a second, and a run of 10 million spaces still splits.
 */
enum {
    MATCH_LIMIT = 10000000,    /* steps of backtracking */
    DEPTH_LIMIT = 1000000,     /* nested backtracking points, without JIT */
    HEAP_LIMIT_KIB = 64 * 1024 /* memory for these, without JIT */
};

struct regex {
    pcre2_code *code;
    pcre2_match_context *context; /* the limits */
    char *pattern;                /* for messages */
};

static enum status bad_pattern(const char *pattern, int code, size_t offset, struct error *e)
{
    PCRE2_UCHAR reason[160];

    pcre2_get_error_message(code, reason, sizeof(reason));
    return error_set(e, ERR_USAGE, "regular expression \"%.200s\", at byte %zu: %s", pattern,
                     offset, (const char *)reason);
}

enum status regex_compile(struct regex **out, const char *pattern, struct error *e)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
    struct regex *re = calloc(1, sizeof(*re));
    size_t offset = 0;
    int code = 0;
    enum status status = ERR_NOMEM;

    *out = NULL;
    if (!re)
        return error_set(e, ERR_NOMEM, "cannot allocate a regular expression");
    re->pattern = mem_strndup(pattern, strlen(pattern), e);
    if (!re->pattern)
        goto out;
    re->code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &offset, NULL);
    if (!re->code) {
        status = bad_pattern(pattern, code, offset, e);
        goto out;
    }
    /* Where there is no JIT, matching is slower and nothing else. */
    (void)pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
    re->context = pcre2_match_context_create(NULL);
    if (!re->context) {
        error_set(e, ERR_NOMEM, "cannot allocate a regular expression's limits");
        goto out;
    }
    pcre2_set_match_limit(re->context, MATCH_LIMIT);
    pcre2_set_depth_limit(re->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(re->context, HEAP_LIMIT_KIB);
    *out = re;
    return OK;
out:
    regex_free(re);
    return status;
}

void regex_free(struct regex *re)
{
    if (!re)
        return;
    pcre2_match_context_free(re->context);
    pcre2_code_free(re->code);
    free(re->pattern);
    free(re);
}

static enum status match_failed(const struct regex *re, int code, struct error *e)
{
    PCRE2_UCHAR reason[160];

    switch (code) {
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return error_set(e, ERR_LIMIT,
                         "regular expression \"%.200s\" backtracks too much on this text (limit "
                         "%d steps): nested repeats such as (a+)+ are the usual cause",
                         re->pattern, MATCH_LIMIT);
    case PCRE2_ERROR_NOMEMORY:
        return error_set(e, ERR_NOMEM, "cannot allocate memory for regular expression \"%.200s\"",
                         re->pattern);
    default:
        pcre2_get_error_message(code, reason, sizeof(reason));
        return error_set(e, ERR_FORMAT, "regular expression \"%.200s\": %s", re->pattern,
                         (const char *)reason);
    }
}

enum status regex_search(const struct regex *re, const char *text, size_t n, size_t start,
                         bool *found, size_t *from, size_t *to, struct error *e)
{
    /* PCRE2 reads past a broken sequence when told not to check; checking at each call would make
     * a loop over the matches quadratic, so the call that begins at 0 checks for all. */
    uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
    size_t bad = start == 0 ? utf8_invalid_at(text, n) : n;
    PCRE2_SPTR subject = (PCRE2_SPTR)(n ? text : "");
    pcre2_match_data *match;
    int code;

    *found = false;
    if (bad < n)
        return error_set(e, ERR_FORMAT, "text is not valid UTF-8 at byte %zu", bad);
    match = pcre2_match_data_create(1, NULL);
    if (!match)
        return match_failed(re, PCRE2_ERROR_NOMEMORY, e);
    code = pcre2_match(re->code, subject, n, start, options, match, re->context);
    if (code == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter keeps its state on the heap */
        code = pcre2_match(re->code, subject, n, start, options | PCRE2_NO_JIT, match, re->context);
    if (code >= 0) {
        const size_t *span = pcre2_get_ovector_pointer(match);
        *found = true;
        *from = span[0];
        *to = span[1];
    }
    pcre2_match_data_free(match);
    return code >= 0 || code == PCRE2_ERROR_NOMATCH ? OK : match_failed(re, code, e);
}
