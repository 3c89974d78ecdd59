/* The text of an answer: what of it is scored, whether it says anything. */
#include "score_impl.h"

#include "needlegrid/utf8.h"

#include <string.h>

uint32_t answer_char(const char *text, size_t at, size_t to, size_t *length)
{
    uint32_t c = 0xfffd;

    *length = utf8_decode(text + at, to - at, &c);
    if (*length == 0)
        *length = 1;
    return c;
}

bool is_latin_letter(uint32_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= 0xc0 && c <= 0x24f && c != 0xd7 && c != 0xf7);
}

static bool starts_with(const char *text, size_t at, size_t to, const char *word)
{
    size_t n = strlen(word);

    return to - at >= n && memcmp(text + at, word, n) == 0;
}

void answer_strip_reasoning(struct judging *j)
{
    static const char close_tag[] = "</think>";

    for (size_t i = j->from; i < j->to; i++)
        if (starts_with(j->text, i, j->to, close_tag))
            j->from = i + strlen(close_tag);
    for (size_t i = j->from; i < j->to; i++)
        if (starts_with(j->text, i, j->to, "<think>"))
            j->to = i;
}

/*
 * Characters past ASCII that are neither letter nor digit: blanks, punctuation, symbols, emoji.
 * Coarse, as it only tells an answer that says something from one that does not.
 */
static bool is_symbol(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x80, 0xa9},       {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},
        {0xd7, 0xd7},       {0xf7, 0xf7},     {0x60c, 0x60d},   {0x61b, 0x61f},
        {0x6d4, 0x6d4},     {0x964, 0x965},   {0x2000, 0x2bff}, {0x2e00, 0x2e7f},
        {0x3000, 0x3004},   {0x3008, 0x3020}, {0x3030, 0x3030}, {0x30fb, 0x30fb},
        {0xe000, 0xf8ff},   {0xfe00, 0xfe6f}, {0xfeff, 0xff0f}, {0xff1a, 0xff20},
        {0xff3b, 0xff40},   {0xff5b, 0xff65}, {0xffe0, 0xffff}, {0x1f000, 0x1faff},
        {0xe0000, 0xe0fff},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static bool is_ascii_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool answer_has_word(const struct judging *j)
{
    size_t length;

    for (size_t at = j->from; at < j->to; at += length) {
        uint32_t c = answer_char(j->text, at, j->to, &length);
        if (is_ascii_word(c) || (c >= 0x80 && !is_symbol(c)))
            return true;
    }
    return false;
}

static bool is_blank(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200b) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000 || c == 0xfeff;
}

struct span answer_trimmed(const struct judging *j)
{
    struct span s = {j->to, j->to};
    size_t length;

    for (size_t at = j->from; at < j->to; at += length) {
        if (is_blank(answer_char(j->text, at, j->to, &length)))
            continue;
        if (s.from == j->to)
            s.from = at;
        s.to = at + length;
    }
    return s;
}
