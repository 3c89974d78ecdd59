/*
 * Regular expressions: PCRE2 with UTF, Unicode properties, JIT and match limits.
 *
 * A pattern that backtracks catastrophically ends with ERR_LIMIT instead of hanging.
 *
 *     struct regex *re;
 *     if (regex_compile(&re, "\\d+", e) != OK) ...
 *     size_t from, to;
 *     bool found;
 *     while (regex_search(re, text, n, at, &found, &from, &to, e) == OK && found)
 *         at = to;
 *     regex_free(re);
 *
 * A match is never empty, so that such a loop ends for any pattern. A regex is read-only once
 * compiled: several threads may search with one.
 */
#ifndef NEEDLEGRID_REGEX_H
#define NEEDLEGRID_REGEX_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>

struct regex;

/* Errors name the pattern and the offset in it. Caller frees with regex_free(). */
NG_MUST_USE enum status regex_compile(struct regex **out, const char *pattern, struct error *e);
void regex_free(struct regex *re);

/*
 * The first match in text[start..n), with the text before `start` visible to look-behind. On a
 * match *from and *to are byte offsets into text.
 *
 * The text must be valid UTF-8: a search from 0 checks that (ERR_FORMAT, with the offset), one
 * from further on trusts that its text was searched from 0 before, and that `start` is the start
 * of a character.
 */
NG_MUST_USE enum status regex_search(const struct regex *re, const char *text, size_t n,
                                     size_t start, bool *found, size_t *from, size_t *to,
                                     struct error *e);

#endif
