/*
 * The scorer `number`: the first number of the answer must be the expected whole number.
 *
 * A number is a run of decimal digits of any script, with its thousands separators and its
 * fraction. Digits that touch a Latin letter are no number but part of a name, an ordinal or a
 * unit (GPT4, 3rd, 7B, 7-digit); scripts without spaces between words may touch digits. A list
 * marker ("1. ", "2) ") counts only if no number follows it.
 */
#include "score_impl.h"

#include <string.h>

enum { MAX_DIGITS = 64 }; /* of an expected value */

struct number {
    size_t from; /* bytes in the text, sign excluded, fraction included */
    size_t to;
    bool whole; /* neither a sign, nor a fraction, nor groups gone wrong */
    size_t n;   /* digits, may be more than are kept */
    unsigned char digits[MAX_DIGITS];
};

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
    for (size_t at = n->from; at < to; at += length) {
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

    n->from = at;
    n->whole = true;
    if (indian)
        end = indian;
    else if (count <= 3)
        end = groups_end(text, end, to, &used);
    keep_digits(n, text, end);
    n->to = fraction_end(text, end, to, used && strcmp(used->mark, ".") == 0);
    if (has_other_than_zeros(text, end, n->to))
        n->whole = false;
    if (used && !used->blank && mark_end(text, n->to, to, used->mark))
        n->whole = false;
}

/* What stands before the place a search has reached. */
struct place {
    size_t at;
    uint32_t before[2]; /* the last character, and the one before it */
    bool line_is_blank; /* nothing but blanks since the line began */
};

static void step(struct place *p, uint32_t c, size_t to)
{
    p->at = to;
    p->before[1] = p->before[0];
    p->before[0] = c;
    p->line_is_blank = c == '\n' || (p->line_is_blank && (c == ' ' || c == '\t'));
}

/* "-7" and "(-7)" carry a minus sign; "5-7", "Tokyo-7", "Answer:-7" and "- 7" do not. */
static bool has_minus(const struct place *p)
{
    static const char openers[] = " \t\r\n([{\"'`*=$";
    uint32_t c = p->before[1];

    return (p->before[0] == '-' || p->before[0] == 0x2212) &&
           (c < 0x80 ? c && strchr(openers, (int)c) : c == 0xa0 || c == 0x201c);
}

static bool is_part_of_name(const struct number *n, const struct place *p, const char *text,
                            size_t to)
{
    size_t length;
    size_t at = n->to;
    uint32_t c;

    if (is_latin_letter(p->before[0]))
        return true;
    if (at >= to)
        return false;
    c = answer_char(text, at, to, &length);
    at += length;
    if ((c == '-' || c == 0x2010 || c == 0x2011) && at < to)
        c = answer_char(text, at, to, &length);
    return is_latin_letter(c);
}

static bool is_list_marker(const struct number *n, const struct place *p, const char *text,
                           size_t to)
{
    return p->line_is_blank && n->n <= 2 && to - n->to >= 2 &&
           (text[n->to] == '.' || text[n->to] == ')') &&
           (text[n->to + 1] == ' ' || text[n->to + 1] == '\t');
}

/* The first number in text[from..to); false if there is none. */
static bool find_number(struct number *n, const char *text, size_t from, size_t to,
                        bool pass_list_markers)
{
    struct place p = {from, {'\n', '\n'}, true};

    while (p.at < to) {
        size_t length;
        uint32_t c = answer_char(text, p.at, to, &length);
        if (digit_value(c) < 0) {
            step(&p, c, p.at + length);
            continue;
        }
        read_number(n, text, p.at, to);
        if (!is_part_of_name(n, &p, text, to) &&
            !(pass_list_markers && is_list_marker(n, &p, text, to))) {
            n->whole = n->whole && !has_minus(&p);
            return true;
        }
        step(&p, '0', n->to);
    }
    return false;
}

/* Reads a value that the scorer is given: one whole number and nothing else. */
static enum status read_value(struct number *n, const char *value, const char *what,
                              struct error *e)
{
    size_t from = strspn(value, " ");
    size_t to = strlen(value);

    while (to > from && value[to - 1] == ' ')
        to--;
    if (!find_number(n, value, from, to, false) || n->from != from || n->to != to || !n->whole ||
        n->n > MAX_DIGITS)
        return error_set(e, ERR_USAGE,
                         "%s \"%s\" is not a whole number of 1 to %d digits: use another scorer",
                         what, value, MAX_DIGITS);
    return OK;
}

static bool equals(const struct number *n, const struct number *value)
{
    return n->whole && n->n == value->n && memcmp(n->digits, value->digits, value->n) == 0;
}

static enum status judge(const struct answer *a, struct verdict *out, struct error *e)
{
    struct number expected;
    struct number decoy;
    struct number found;
    bool is_decoy = false;
    bool any = find_number(&found, a->text, a->from, a->to, true) ||
               find_number(&found, a->text, a->from, a->to, false);

    if (read_value(&expected, a->expected, "the expected answer", e) != OK)
        return e->code;
    for (size_t i = 0; i < a->n_decoys; i++) {
        if (read_value(&decoy, a->decoys[i], "the value of another needle", e) != OK)
            return e->code;
        is_decoy = is_decoy || (any && equals(&found, &decoy));
    }
    if (!any)
        return OK;
    out->from = found.from;
    out->to = found.to;
    if (equals(&found, &expected)) {
        out->outcome = OUTCOME_HIT;
        out->score = 1.0;
    } else if (is_decoy) {
        out->outcome = OUTCOME_DECOY;
    } else if (found.digits[0] == expected.digits[0]) {
        out->outcome = OUTCOME_PARTIAL;
    }
    return OK;
}

const struct scorer_class scorer_number = {"number", judge};
