/* The text of an answer: what of it is scored, whether it says anything, whether it refuses. */
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

void answer_strip_reasoning(struct answer *a)
{
    static const char close_tag[] = "</think>";

    for (size_t i = a->from; i < a->to; i++)
        if (starts_with(a->text, i, a->to, close_tag))
            a->from = i + strlen(close_tag);
    for (size_t i = a->from; i < a->to; i++)
        if (starts_with(a->text, i, a->to, "<think>"))
            a->to = i;
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

bool answer_has_word(const struct answer *a)
{
    size_t length;

    for (size_t at = a->from; at < a->to; at += length) {
        uint32_t c = answer_char(a->text, at, a->to, &length);
        if (is_ascii_word(c) || (c >= 0x80 && !is_symbol(c)))
            return true;
    }
    return false;
}

/*
 * The length of `phrase` at text[at], 0 if it is not there: case does not matter, ' stands for
 * the curly apostrophe too, and no word goes on behind it.
 */
static size_t phrase_at(const char *text, size_t at, size_t to, const char *phrase)
{
    size_t i = at;
    bool word = false;

    for (; *phrase; phrase++) {
        if (i >= to)
            return 0;
        if (*phrase == '\'' && starts_with(text, i, to, "\xE2\x80\x99")) {
            i += 3;
            continue;
        }
        if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]) != *phrase)
            return 0;
        word = is_ascii_word((unsigned char)text[i++]);
    }
    return word && i < to && is_ascii_word((unsigned char)text[i]) ? 0 : i - at;
}

/* "n't ..." may stand inside a word, all others start one. */
/* clang-format off */
static const char *const phrases[] = {
    "i cannot", "i can't", "i can not", "i could not", "i couldn't",
    "i was unable", "unable to", "i am not able", "i'm not able", "i was not able", "i wasn't able",
    "i do not know", "i don't know", "i do not have", "i don't have", "i do not see", "i don't see",
    "i did not find", "i didn't find", "i am not sure", "i'm not sure",
    "i am sorry", "i'm sorry", "sorry,", "sorry.", "i apologize", "as an ai",
    "there is no", "there's no", "there is not", "there isn't", "there are no", "there was no",
    "there does not", "there doesn't",
    "no mention", "not mention", "not mentioned", "n't mention", "n't mentioned",
    "not specify", "not specified", "n't specify", "n't specified",
    "not provide", "not provided", "n't provide", "n't provided",
    "not state", "not stated", "n't state", "n't stated",
    "not contain", "n't contain", "not include", "not included", "n't include",
    "not appear", "n't appear", "not found", "not given", "not present", "not listed",
    "not available", "cannot be determined", "can't be determined", "cannot determine",
    "cannot be found", "could not be found",
    "no information", "no such", "unknown", "none", "n/a",
};
/* clang-format on */

bool answer_refuses(const struct answer *a, size_t *from, size_t *to)
{
    bool inside = false;

    for (size_t at = a->from; at < a->to; at++) {
        for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
            size_t n = inside && strncmp(phrases[i], "n't", 3) != 0
                           ? 0
                           : phrase_at(a->text, at, a->to, phrases[i]);
            if (n) {
                *from = at;
                *to = at + n;
                return true;
            }
        }
        inside = is_ascii_word((unsigned char)a->text[at]);
    }
    return false;
}
