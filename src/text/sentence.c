#include "needlegrid/sentence.h"

#include "needlegrid/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The character at `at`, U+0000 at the end; *len gets its bytes, at least 1 before the end. */
static uint32_t peek(const char *text, size_t n, size_t at, size_t *len)
{
    uint32_t cp = 0;

    *len = at < n ? utf8_decode(text + at, n - at, &cp) : 0;
    if (at < n && *len == 0)
        *len = 1;
    return cp;
}

static bool is_one_of(uint32_t cp, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == cp)
            return true;
    return false;
}

/* Marks that end a sentence before white space: . ! ? ellipsis, Arabic ? and ., danda */
static bool is_stop(uint32_t cp)
{
    static const uint32_t list[] = {'.', '!', '?', 0x2026, 0x061f, 0x06d4, 0x0964};

    return is_one_of(cp, list, sizeof(list) / sizeof(list[0]));
}

/* Marks that end a sentence by themselves: ideographic and fullwidth forms */
static bool is_cjk_stop(uint32_t cp)
{
    static const uint32_t list[] = {0x3002, 0xff01, 0xff1f, 0xff61};

    return is_one_of(cp, list, sizeof(list) / sizeof(list[0]));
}

/* ' " ) ] } and the typographic, French and East Asian closing forms */
static bool is_closer(uint32_t cp)
{
    static const uint32_t list[] = {'\'',   '"',    ')',    ']',    '}',    0x2019,
                                    0x201d, 0x00bb, 0x203a, 0x300d, 0x300f, 0x3009,
                                    0x300b, 0x3011, 0x3015, 0xff09, 0xff3d, 0xff63};

    return is_one_of(cp, list, sizeof(list) / sizeof(list[0]));
}

static bool is_opener(uint32_t cp)
{
    static const uint32_t list[] = {'\'', '"', '(', '[', 0x2018, 0x201c, 0x00ab, 0x2039};

    return is_one_of(cp, list, sizeof(list) / sizeof(list[0]));
}

/* Lower case of ASCII, Latin-1, Greek and Cyrillic: enough to see that a sentence goes on. */
static bool is_lower(uint32_t cp)
{
    return (cp >= 'a' && cp <= 'z') || (cp >= 0xdf && cp <= 0xff && cp != 0xf7) ||
           (cp >= 0x3ac && cp <= 0x3ce) || (cp >= 0x430 && cp <= 0x45f);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool in_list(const char *const *list, const char *word, size_t n)
{
    for (; *list; list++)
        if (strlen(*list) == n && memcmp(*list, word, n) == 0)
            return true;
    return false;
}

/* True if the full stop at `dot` closes an abbreviation or an initial; `next` follows the space. */
static bool is_abbreviation(const char *text, size_t from, size_t dot, uint32_t next)
{
    static const char *const always[] = {"Mr",  "Mrs", "Ms",   "Dr", "St",  "Prof", "Rev",
                                         "Gen", "Col", "Capt", "Lt", "Sgt", "Mt",   "Mme",
                                         "e.g", "i.e", "cf",   "vs", "viz", NULL};
    static const char *const before_digit[] = {"No",  "no",  "Nos", "Fig", "fig", "Figs", "Vol",
                                               "vol", "Ch",  "ch",  "Sec", "sec", "pp",   "p",
                                               "Art", "art", "ca",  "c",   "Eq",  NULL};
    size_t word = dot;
    size_t n;

    while (word > from && !is_space(text[word - 1]) && !strchr("([\"'-", text[word - 1]))
        word--;
    n = dot - word;
    if (n == 0)
        return false;
    /* J. and U.S. but not the pronoun I, nor a lower-case letter */
    if (text[dot - 1] >= 'A' && text[dot - 1] <= 'Z' && (n == 1 || text[dot - 2] == '.'))
        return !(n == 1 && text[dot - 1] == 'I');
    return in_list(always, text + word, n) ||
           (next >= '0' && next <= '9' && in_list(before_digit, text + word, n));
}

/* The first character behind the space at `at` and any opening quotes. */
static uint32_t next_character(const char *text, size_t n, size_t at)
{
    size_t len;
    uint32_t cp;

    while (at < n && is_space(text[at]))
        at++;
    while (is_opener(cp = peek(text, n, at, &len)))
        at += len;
    return cp;
}

/* Passes stops and closing quotes from `at` on; *cjk tells whether a stop that needs no space. */
static size_t pass_marks(const char *text, size_t n, size_t at, bool *cjk)
{
    size_t len;

    *cjk = false;
    for (;; at += len) {
        uint32_t cp = peek(text, n, at, &len);
        if (is_cjk_stop(cp))
            *cjk = true;
        else if (!is_stop(cp) && !is_closer(cp))
            return at;
    }
}

/* ASCII that ends no sentence: most of most texts, passed quickly. */
static bool is_plain(char c)
{
    return (unsigned char)c < 0x80 && c != '.' && c != '!' && c != '?';
}

size_t sentence_end(const char *text, size_t n, size_t from)
{
    size_t at = from;
    size_t len;

    while (at < n) {
        uint32_t cp;
        size_t end;
        uint32_t next;
        bool cjk;

        if (is_plain(text[at])) {
            at++;
            continue;
        }
        cp = peek(text, n, at, &len);

        if (!is_stop(cp) && !is_cjk_stop(cp)) {
            at += len;
            continue;
        }
        end = pass_marks(text, n, at, &cjk);
        if (end == n || cjk)
            return end;
        next = next_character(text, n, end);
        if (is_space(text[end]) && !is_lower(next) &&
            !(cp == '.' && end == at + 1 && is_abbreviation(text, from, at, next)))
            return end;
        at = end;
    }
    return n;
}
