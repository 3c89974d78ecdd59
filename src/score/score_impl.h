/*
 * Inside the scorers. A scorer is one file, scorer_NAME.c, with one `struct scorer_class`, listed
 * in score.c.
 *
 * score.c takes the reasoning off, answers `empty` and, where a scorer found nothing to score,
 * `refusal`; a class decides between hit, decoy, partial and wrong on the text that is left.
 */
#ifndef NEEDLEGRID_SCORE_IMPL_H
#define NEEDLEGRID_SCORE_IMPL_H

#include "needlegrid/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash;

/* Bytes of a text; from == to: none. */
struct span {
    size_t from;
    size_t to;
};

/* An answer and what it is held against. Only text[from..to) is scored. */
struct judging {
    const char *text; /* the response, "?" for bytes that are no UTF-8: offsets stay the same */
    size_t from;
    size_t to;
    const struct answer *answer;
    const struct truth *truth;
    const char *pattern; /* or NULL */
};

/* What a class finds; it begins as wrong, score 0, no span, and stays so if there is nothing. */
struct finding {
    struct verdict verdict;
    bool names_none; /* of an absent key: the class can tell that the text names no value */
};

struct scorer_class {
    const char *name;
    bool takes_pattern;
    bool judges_text; /* what it leaves without a span may be a refusal, or empty */
    enum status (*judge)(const struct judging *j, struct finding *out, struct error *e);
};

extern const struct scorer_class scorer_number, scorer_exact, scorer_contains, scorer_regex,
    scorer_all_of, scorer_logprob;

/*
 * Writes down an outcome with its span; of an absent key no value is the right one, and what would
 * be a hit is wrong.
 */
void finding_set(struct finding *f, const struct judging *j, enum outcome outcome, struct span at);

/* ERR_USAGE, "scorer NAME: ...", if a value is empty, or none is expected though it is there. */
enum status check_truth(const struct truth *truth, const char *name, struct error *e);

/* The pattern of `regex` with `value` in the place of {value}; caller frees with regex_free(). */
struct regex;
NG_MUST_USE enum status scorer_regex_compile(struct regex **out, const char *pattern,
                                             const char *value, struct error *e);

/* ---- answer.c ---- */

/*
 * Sets from and to: behind the last "</think>", and before a "<think>" that nothing closes, as
 * the model was cut while it reasoned.
 */
void answer_strip_reasoning(struct judging *j);

/* True if there is a letter or a digit of any script. */
bool answer_has_word(const struct judging *j);

/* What is left of text[from..to) without the blanks at both ends. */
struct span answer_trimmed(const struct judging *j);

/* The character at text[at], at < to, and its length; U+FFFD and 1 for a byte that is no UTF-8. */
uint32_t answer_char(const char *text, size_t at, size_t to, size_t *length);

/* True for A-Z, a-z and the accented letters of Latin scripts. */
bool is_latin_letter(uint32_t c);

/* ---- refusal.c ---- */

struct refusals;

/* The patterns of a file; they go into the hash too. ERR_USAGE names the line of a bad one. */
NG_MUST_USE enum status refusals_open(struct refusals **out, const char *path, struct hash *h,
                                      struct error *e);
void refusals_free(struct refusals *r);
/* The first phrase of refusal; none if r is NULL. */
NG_MUST_USE enum status refusals_find(const struct refusals *r, const struct judging *j,
                                      struct span *out, struct error *e);

/* ---- number.c ---- */

enum { MAX_DIGITS = 64 }; /* of an expected value */

struct number {
    struct span at; /* sign excluded, fraction included */
    bool whole;     /* neither a sign, nor a fraction, nor groups gone wrong */
    size_t n;       /* digits, may be more than are kept */
    unsigned char digits[MAX_DIGITS];
};

/* A search through text[at..to), number by number, list markers left out if there are others. */
struct number_scan {
    const char *text;
    size_t at;
    size_t to;
    uint32_t before[2]; /* the last character, and the one before it */
    bool line_is_blank; /* nothing but blanks since the line began */
    bool pass_list_markers;
};

struct number_scan number_scan(const char *text, size_t from, size_t to);
bool number_next(struct number_scan *s, struct number *n);

/* Reads a value that is one whole number of 1 to MAX_DIGITS digits and nothing else. */
bool number_read(struct number *n, const char *value);
bool number_equals(const struct number *n, const struct number *value);

/* ---- value.c: a value in the text, as a number if it is one, else as a word ---- */

enum { PARTIAL_CHARS = 4 }; /* how much of a value's beginning is `partial` */

/* min(PARTIAL_CHARS, all but one) characters of the value, in bytes; 0 if it has but one. */
size_t value_beginning(const char *value);

NG_MUST_USE enum status value_find(const struct judging *j, const char *value, struct span *out,
                                   struct error *e);
/* Where the value's beginning stands. */
NG_MUST_USE enum status value_find_beginning(const struct judging *j, const char *value,
                                             struct span *out, struct error *e);
/* If values of this truth are numbers: the first number of the text, or names_none. */
void value_find_any_number(const struct judging *j, struct finding *f);

struct buf;
/* Appends text[0..n) as a pattern for just that text. */
void value_quote(struct buf *out, const char *text, size_t n);

#endif
