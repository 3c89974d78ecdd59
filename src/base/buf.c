#include "needlegrid/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and a NUL; false (and the failure kept) if there is none. */
static int reserve(struct buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 64;
    char *data;

    if (b->status != OK)
        return 0;
    if (n > b->max || b->len > b->max - n) {
        b->status = ERR_LIMIT;
        return 0;
    }
    if (b->len + n < b->cap) /* both are below max, so the sum is no overflow */
        return 1;
    if (b->len + n >= SIZE_MAX / 2) {
        b->status = ERR_NOMEM;
        return 0;
    }
    while (cap < b->len + n + 1)
        cap *= 2;
    data = realloc(b->data, cap);
    if (!data) {
        b->status = ERR_NOMEM;
        return 0;
    }
    b->data = data;
    b->cap = cap;
    return 1;
}

void buf_append(struct buf *b, const void *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
    buf_append(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
    buf_append(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 && b->status == OK)
        b->status = ERR_LIMIT; /* longer than INT_MAX, or no text in this locale */
    if (n < 0 || !reserve(b, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->status = OK;
    if (b->data)
        b->data[0] = '\0';
}

void buf_release(struct buf *b)
{
    free(b->data);
    b->data = NULL;
    b->len = 0;
    b->cap = 0;
    b->status = OK;
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

enum status buf_status(const struct buf *b, struct error *e)
{
    if (b->status == ERR_LIMIT)
        return error_set(e, ERR_LIMIT, "text longer than the limit of %zu bytes", b->max);
    if (b->status != OK)
        return error_set(e, b->status, "cannot allocate memory for a text");
    return OK;
}
