/*
 * Where sentences end, in plain UTF-8 text.
 *
 * A sentence ends right after its closing punctuation and any quotes or brackets that close with
 * it, before the space: the next sentence begins with that space. Latin marks (and the Arabic and
 * Devanagari ones) count only before white space and not before a lower-case letter ("Wait!" he
 * said); abbreviations (Mr. e.g. No. 5) and single initials (J. R. R.) end nothing. The full
 * stops of Chinese and Japanese end a sentence wherever they stand.
 *
 *     for (size_t at = 0; at < n; at = sentence_end(text, n, at))
 *         ... a sentence starts at byte `at`
 */
#ifndef NEEDLEGRID_SENTENCE_H
#define NEEDLEGRID_SENTENCE_H

#include <stddef.h>

/*
 * The offset behind the sentence that starts at `from` (< n), at most n and more than `from`. The
 * text is valid UTF-8 in which every run of white space is one space.
 */
size_t sentence_end(const char *text, size_t n, size_t from);

#endif
