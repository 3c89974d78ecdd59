/*
 * Numbers in a text.
 *
 * A number is a run of decimal digits of any script, with its thousands separators and its
 * fraction. Digits that touch a Latin letter are no number but part of a name, an ordinal or a
 * unit (GPT4, 3rd, 7B, 7-digit); scripts without spaces between words may touch digits. A list
 * marker ("1. ", "2) ") counts only if no number follows it.
 */
#include "score_impl.h"

#include <string.h>

/* 0 to 9, or -1: the decimal digits of Unicode 14 (category Nd). */
static int digit_value(uint32_t c)
{
    static const uint32_t zeros[] = {
        0x0030,  0x0660,  0x06f0,  0x07c0,  0x0966,  0x09e6,  0x0a66,  0x0ae6,  0x0b66,  0x0be6,
        0x0c66,  0x0ce6,  0x0d66,  0x0de6,  0x0e50,  0x0ed0,  0x0f20,  0x1040,  0x1090,  0x17e0,
        0x1810,  0x1946,  0x19d0,  0x1a80,  0x1a90,  0x1b50,  0x1bb0,  0x1c40,  0x1c50,  0xa620,
        0xa8d0,  0xa900,  0xa9d0,  0xa9f0,  0xaa50,  0xabf0,  0xff10,  0x104a0, 0x10d30, 0x11066,
        0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0,
        0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2,
        0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
    };

    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]) && zeros[i] <= c; i++)
        if (c - zeros[i] < 10)
            return (int)(c - zeros[i]);
    return -1;
}

static bool is_digit_at(const char *text, size_t at, size_t to)
{
    size_t length;

    return at < to && digit_value(answer_char(text, at, to, &length)) >= 0;
}

/* Behind the digits at `at`; *count says how many there are. */
static size_t digits_end(const char *text, size_t at, size_t to, size_t *count)
{
    size_t length;

    for (*count = 0; is_digit_at(text, at, to); ++*count) {
        (void)answer_char(text, at, to, &length);
        at += length;
    }
    return at;
}

/* Behind `mark` if it is at `at` and a digit follows, else 0. */
static size_t mark_end(const char *text, size_t at, size_t to, const char *mark)
{
    size_t n = strlen(mark);

    if (to - at < n || memcmp(text + at, mark, n) != 0 || !is_digit_at(text, at + n, to))
        return 0;
    return at + n;
}

/* Behind a separator and exactly `width` digits, 0 if they are not there. */
static size_t group_end(const char *text, size_t at, size_t to, const char *mark, size_t width)
{
    size_t start = mark_end(text, at, to, mark);
    size_t count;
    size_t end;

    if (!start)
        return 0;
    end = digits_end(text, start, to, &count);
    return count == width ? end : 0;
}

/* Behind groups as in India, ",06,422" of 81,06,422; 0 if there are none. */
static size_t indian_groups_end(const char *text, size_t at, size_t to)
{
    size_t end = group_end(text, at, to, ",", 2);
    size_t next;

    if (!end)
        return 0;
    while ((next = group_end(text, end, to, ",", 2)) != 0)
        end = next;
    return group_end(text, end, to, ",", 3);
}

struct separator {
    const char *mark;
    bool blank; /* it also parts words, so a digit behind it may belong to another number */
};

static const struct separator separators[] = {
    {",", false},
    {" ", true},
    {".", false},
    {"'", false},
    {"_", false},
    {"\xE2\x80\x99", false}, /* U+2019, the curly apostrophe */
    {"\xC2\xA0", true},      /* U+00A0, the no-break space */
    {"\xE2\x80\xAF", true},  /* U+202F, the narrow no-break space */
    {"\xE2\x80\x89", true},  /* U+2009, the thin space */
    {"\xE2\x80\x87", true},  /* U+2007, the figure space */
    {"\xEF\xBC\x8C", false}, /* U+FF0C, the full-width comma */
    {"\xD9\xAC", false},     /* U+066C, the Arabic thousands separator */
    {"{,}", false},          /* TeX */
    {"\\,", false},          /* TeX's thin space */
};

/* Behind the groups of three that follow `at`, all with one separator, told in *used. */
static size_t groups_end(const char *text, size_t at, size_t to, const struct separator **used)
{
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++) {
        size_t end = at;
        size_t next;
        while ((next = group_end(text, end, to, separators[i].mark, 3)) != 0)
            end = next;
        if (end > at) {
            *used = &separators[i];
            return end;
        }
    }
    return at;
}

/* Behind ".5" or, in a dotted name, ".5.1"; a comma is a decimal mark behind groups with dots. */
static size_t fraction_end(const char *text, size_t at, size_t to, bool comma)
{
    static const char *const marks[] = {".", "\xEF\xBC\x8E" /* full width */,
                                        "\xD9\xAB" /* Arabic */, ","};
    size_t n_marks = comma ? 4 : 3;
    size_t i = 0;
    size_t count;

    while (i < n_marks) {
        size_t digits = mark_end(text, at, to, marks[i]);
        if (!digits) {
            i++;
            continue;
        }
        at = digits_end(text, digits, to, &count);
        i = 0;
    }
    return at;
}

static bool has_other_than_zeros(const char *text, size_t at, size_t to)
{
    size_t length;

    for (; at < to; at += length)
        if (digit_value(answer_char(text, at, to, &length)) > 0)
            return true;
    return false;
}

static void keep_digits(struct number *n, const char *text, size_t to)
{
    size_t length;

    n->n = 0;
    for (size_t at = n->at.from; at < to; at += length) {
        int value = digit_value(answer_char(text, at, to, &length));
        if (value >= 0 && n->n < MAX_DIGITS)
            n->digits[n->n] = (unsigned char)value;
        n->n += value >= 0;
    }
}

/* Reads the number that starts at `at`, where there is a digit. */
static void read_number(struct number *n, const char *text, size_t at, size_t to)
{
    const struct separator *used = NULL;
    size_t count;
    size_t end = digits_end(text, at, to, &count);
    size_t indian = count <= 2 ? indian_groups_end(text, end, to) : 0;

    n->at.from = at;
    n->whole = true;
    if (indian)
        end = indian;
    else if (count <= 3)
        end = groups_end(text, end, to, &used);
    keep_digits(n, text, end);
    n->at.to = fraction_end(text, end, to, used && strcmp(used->mark, ".") == 0);
    if (has_other_than_zeros(text, end, n->at.to))
        n->whole = false;
    if (used && !used->blank && mark_end(text, n->at.to, to, used->mark))
        n->whole = false;
}

static void step(struct number_scan *p, uint32_t c, size_t to)
{
    p->at = to;
    p->before[1] = p->before[0];
    p->before[0] = c;
    p->line_is_blank = c == '\n' || (p->line_is_blank && (c == ' ' || c == '\t'));
}

/* "-7" and "(-7)" carry a minus sign; "5-7", "Tokyo-7", "Answer:-7" and "- 7" do not. */
static bool has_minus(const struct number_scan *p)
{
    static const char openers[] = " \t\r\n([{\"'`*=$";
    uint32_t c = p->before[1];

    return (p->before[0] == '-' || p->before[0] == 0x2212) &&
           (c < 0x80 ? c && strchr(openers, (int)c) : c == 0xa0 || c == 0x201c);
}

static bool is_part_of_name(const struct number *n, const struct number_scan *p)
{
    size_t at = n->at.to;
    size_t length;
    uint32_t c;

    if (is_latin_letter(p->before[0]))
        return true;
    if (at >= p->to)
        return false;
    c = answer_char(p->text, at, p->to, &length);
    at += length;
    if ((c == '-' || c == 0x2010 || c == 0x2011) && at < p->to)
        c = answer_char(p->text, at, p->to, &length);
    return is_latin_letter(c);
}

static bool is_list_marker(const struct number *n, const struct number_scan *p)
{
    const char *behind = p->text + n->at.to;

    return p->line_is_blank && n->n <= 2 && p->to - n->at.to >= 2 &&
           (behind[0] == '.' || behind[0] == ')') && (behind[1] == ' ' || behind[1] == '\t');
}

bool number_next(struct number_scan *s, struct number *n)
{
    while (s->at < s->to) {
        size_t length;
        uint32_t c = answer_char(s->text, s->at, s->to, &length);
        bool found;
        if (digit_value(c) < 0) {
            step(s, c, s->at + length);
            continue;
        }
        read_number(n, s->text, s->at, s->to);
        n->whole = n->whole && !has_minus(s);
        found = !is_part_of_name(n, s) && !(s->pass_list_markers && is_list_marker(n, s));
        step(s, '0', n->at.to);
        if (found)
            return true;
    }
    return false;
}

struct number_scan number_scan(const char *text, size_t from, size_t to)
{
    const struct number_scan all = {text, from, to, {'\n', '\n'}, true, false};
    struct number_scan others = all;
    struct number_scan look;
    struct number n;

    others.pass_list_markers = true;
    look = others;
    return number_next(&look, &n) ? others : all;
}

bool number_read(struct number *n, const char *value)
{
    size_t from = strspn(value, " ");
    size_t to = strlen(value);
    struct number_scan s;

    while (to > from && value[to - 1] == ' ')
        to--;
    s = number_scan(value, from, to);
    return number_next(&s, n) && n->at.from == from && n->at.to == to && n->whole &&
           n->n <= MAX_DIGITS;
}

bool number_equals(const struct number *n, const struct number *value)
{
    return n->whole && n->n == value->n && memcmp(n->digits, value->digits, value->n) == 0;
}
