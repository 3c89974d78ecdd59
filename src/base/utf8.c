#include "needlegrid/utf8.h"

/* The length that the first byte announces, 0 if no character starts so. */
static size_t announced_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >> 5 == 6)
        return 2;
    if (first >> 4 == 14)
        return 3;
    return first >> 3 == 30 ? 4 : 0;
}

size_t utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)s;
    size_t length = announced_length(b[0]);
    uint32_t c;

    if (length == 0 || length > n)
        return 0;
    c = length == 1 ? b[0] : b[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (b[i] >> 6 != 2)
            return 0;
        c = c << 6 | (b[i] & 0x3fu);
    }
    if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *cp = c;
    return length;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
    size_t length = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (cp & 0x3f));
        cp >>= 6;
    }
    out[0] = (char)(lead[length] | cp);
    return length;
}

size_t utf8_invalid_at(const char *s, size_t n)
{
    size_t i = 0;
    uint32_t cp;

    while (i < n) {
        size_t length = utf8_decode(s + i, n - i, &cp);
        if (length == 0)
            return i;
        i += length;
    }
    return n;
}

bool utf8_is_start(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

void utf8_clean(struct buf *out, const char *s, size_t n)
{
    size_t i = 0;
    uint32_t cp;

    while (i < n) {
        size_t length = utf8_decode(s + i, n - i, &cp);
        if (length > 0)
            buf_append(out, s + i, length);
        else
            buf_puts(out, "\xef\xbf\xbd");
        i += length > 0 ? length : 1;
    }
}
