/* Whole words in a text. */
#ifndef TEXT_WORD_IMPL_H
#define TEXT_WORD_IMPL_H

#include <stdbool.h>
#include <stddef.h>

/* ASCII letters and digits. */
static inline bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/*
 * The offset of the first `word` (len bytes) in the text that no ASCII letter or digit touches; n
 * if there is none. Letters of other scripts join nothing: better one word too many is found.
 */
size_t find_word(const char *text, size_t n, const char *word, size_t len);

#endif
