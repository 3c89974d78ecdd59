#include "needlegrid/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status error_set(struct error *e, enum status code, const char *format, ...)
{
    va_list args;

    e->code = code;
    va_start(args, format);
    vsnprintf(e->message, sizeof(e->message), format, args);
    va_end(args);
    return code;
}

enum status error_prefix(struct error *e, const char *format, ...)
{
    char old[sizeof(e->message)];
    va_list args;
    size_t n;
    size_t rest;

    memcpy(old, e->message, sizeof(old));
    va_start(args, format);
    vsnprintf(e->message, sizeof(e->message), format, args);
    va_end(args);
    n = strlen(e->message);
    if (n + 3 > sizeof(e->message))
        return e->code;
    memcpy(e->message + n, ": ", 3);
    n += 2;
    rest = strlen(old);
    if (rest > sizeof(e->message) - n - 1)
        rest = sizeof(e->message) - n - 1;
    memcpy(e->message + n, old, rest);
    e->message[n + rest] = '\0';
    return e->code;
}
