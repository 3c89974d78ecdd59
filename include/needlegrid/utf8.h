/*
 * UTF-8: decoding and validation (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
 */
#ifndef NEEDLEGRID_UTF8_H
#define NEEDLEGRID_UTF8_H

#include "needlegrid/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at s (n bytes remain, n > 0) into *cp and returns its length in bytes;
 * 0 if the bytes there are not valid UTF-8.
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *cp);

/* Writes cp as 1 to 4 bytes and returns how many; cp must be a valid scalar value. */
size_t utf8_encode(uint32_t cp, char out[4]);

/* The offset of the first invalid byte, or n if there is none. */
size_t utf8_invalid_at(const char *s, size_t n);

/* Appends the text with U+FFFD for each byte that is no part of a valid character. */
void utf8_clean(struct buf *out, const char *s, size_t n);

/* True if the byte at s starts a character (is no continuation byte). */
bool utf8_is_start(char byte);

#endif
