/*
 * A growing byte buffer with a maximum size.
 *
 * Appends never fail in the caller's face: the first failure (no memory, or past the maximum) is
 * kept, later appends do nothing, and buf_status() tells. The contents always end in a NUL that
 * `len` does not count.
 *
 *     struct buf b = BUF_INIT(1 << 20);
 *     buf_printf(&b, "%d tokens", n);
 *     if (buf_status(&b, e) != OK) ...
 *     buf_release(&b);
 */
#ifndef NEEDLEGRID_BUF_H
#define NEEDLEGRID_BUF_H

#include "needlegrid/error.h"

#include <stddef.h>

struct buf {
    char *data; /* NULL until the first append; use buf_str() for a string that is never NULL */
    size_t len; /* bytes */
    size_t cap;
    size_t max; /* bytes; appending past it fails with ERR_LIMIT */
    enum status status;
};

#define BUF_INIT(max_bytes)                                                                        \
    {                                                                                              \
        NULL, 0, 0, (max_bytes), OK                                                                \
    }

void buf_append(struct buf *b, const void *data, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) NG_PRINTF(2, 3);

/* Empties it and forgets a failure; keeps the memory. */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);

/* The contents as a string, "" when empty; borrowed until the next append, clear or release. */
const char *buf_str(const struct buf *b);
NG_MUST_USE enum status buf_status(const struct buf *b, struct error *e);

#endif
