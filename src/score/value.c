/*
 * A value in a text: as a number, whatever its digits and separators, if it is one; else as a word
 * in capital or small letters.
 */
#include "score_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/regex.h"

#include <string.h>

enum { MAX_PATTERN = 1 << 20 }; /* bytes */

/*
 * A letter of a script that puts spaces between words, or a digit: where one goes on, no word
 * begins or ends. Korean is left out, as its particles join the word.
 */
#define LETTER                                                                                     \
    "(?:[^\\P{L}\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Hangul}\\p{Thai}\\p{Lao}\\p{Khmer}"          \
    "\\p{Myanmar}]|\\p{Nd})"

/* A value may itself begin or end with a mark, and a mark parts words from letters. */
static const char word_begins[] = "(?:(?<!" LETTER ")|(?!" LETTER "))";
static const char word_ends[] = "(?:(?!" LETTER ")|(?<!" LETTER "))";

static bool is_ascii_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_ascii_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A backslash takes the meaning from any ASCII mark and gives none to it. */
void value_quote(struct buf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 && !is_ascii_word(c))
            buf_putc(out, '\\');
        buf_putc(out, text[i]);
    }
}

/* As value_quote(), but any blanks stand for any others. */
static void quote_words(struct buf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && is_ascii_blank(text[i]))
            i++;
        if (i > from)
            buf_puts(out, "\\s+");
        for (from = i; i < n && !is_ascii_blank(text[i]);)
            i++;
        value_quote(out, text + from, i - from);
    }
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/*
 * False if the value's first run of ASCII letters and digits stands nowhere: a look costs less than
 * a pattern, and a prompt may have thousands of values that the answer has not.
 */
static bool may_stand(const struct judging *j, const char *value, size_t n)
{
    size_t from = 0;
    size_t length = 0;

    while (from < n && !is_ascii_word((unsigned char)value[from]))
        from++;
    while (from + length < n && is_ascii_word((unsigned char)value[from + length]))
        length++;
    for (size_t at = j->from; at + length <= j->to; at++) {
        size_t i = 0;
        while (i < length && lower(j->text[at + i]) == lower(value[from + i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static enum status find_word(const struct judging *j, const char *value, size_t n, bool whole,
                             struct span *out, struct error *e)
{
    struct buf pattern = BUF_INIT(MAX_PATTERN);
    struct regex *re = NULL;
    enum status status;
    bool found;

    if (!may_stand(j, value, n))
        return OK;
    buf_printf(&pattern, "(?i)%s", word_begins);
    quote_words(&pattern, value, n);
    if (whole)
        buf_puts(&pattern, word_ends);
    status = buf_status(&pattern, e);
    if (status == OK)
        status = regex_compile(&re, buf_str(&pattern), e);
    if (status == OK)
        status = regex_search(re, j->text, j->to, j->from, &found, &out->from, &out->to, e);
    regex_free(re);
    buf_release(&pattern);
    return status;
}

size_t value_beginning(const char *value)
{
    size_t n = strlen(value);
    size_t at = 0;
    size_t before = 0;
    size_t length;

    for (int i = 0; i < PARTIAL_CHARS && at < n; i++) {
        before = at;
        (void)answer_char(value, at, n, &length);
        at += length;
    }
    return at < n ? at : before;
}

enum status value_find(const struct judging *j, const char *value, struct span *out,
                       struct error *e)
{
    struct number wanted, found;
    struct number_scan scan;

    *out = (struct span){0, 0};
    if (!number_read(&wanted, value))
        return find_word(j, value, strlen(value), true, out, e);
    scan = number_scan(j->text, j->from, j->to);
    while (number_next(&scan, &found)) {
        if (number_equals(&found, &wanted)) {
            *out = found.at;
            break;
        }
    }
    return OK;
}

enum status value_find_beginning(const struct judging *j, const char *value, struct span *out,
                                 struct error *e)
{
    struct number wanted, found;
    struct number_scan scan;
    size_t n = value_beginning(value);

    *out = (struct span){0, 0};
    if (n == 0)
        return OK;
    if (!number_read(&wanted, value))
        return find_word(j, value, n, false, out, e);
    n = wanted.n > PARTIAL_CHARS ? PARTIAL_CHARS : wanted.n - 1;
    scan = number_scan(j->text, j->from, j->to);
    while (n > 0 && number_next(&scan, &found)) {
        if (found.n >= n && memcmp(found.digits, wanted.digits, n) == 0) {
            *out = found.at;
            break;
        }
    }
    return OK;
}

static bool has_number(const char *const *values, size_t n)
{
    struct number value;

    for (size_t i = 0; i < n; i++)
        if (number_read(&value, values[i]))
            return true;
    return false;
}

void value_find_any_number(const struct judging *j, struct finding *f)
{
    const struct truth *t = j->truth;
    struct number_scan scan = number_scan(j->text, j->from, j->to);
    struct number found;

    if (!has_number(t->expected, t->n_expected) && !has_number(t->decoys, t->n_decoys))
        return;
    if (number_next(&scan, &found))
        finding_set(f, j, OUTCOME_WRONG, found.at);
    else
        f->names_none = true;
}
