#include "word_impl.h"

#include <string.h>

/* True if both bytes belong to a word, so that no word ends between them. */
static bool joined(char a, char b)
{
    return is_word_byte(a) && is_word_byte(b);
}

size_t find_word(const char *text, size_t n, const char *word, size_t len)
{
    size_t at = 0;

    while (len > 0 && at < n && len <= n - at) {
        const char *found = memchr(text + at, word[0], n - at - len + 1);
        if (!found)
            break;
        at = (size_t)(found - text);
        if (memcmp(found, word, len) == 0 && (at == 0 || !joined(text[at - 1], word[0])) &&
            (at + len == n || !joined(word[len - 1], text[at + len])))
            return at;
        at++;
    }
    return n;
}
