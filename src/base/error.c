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
    int n;

    memcpy(old, e->message, sizeof(old));
    va_start(args, format);
    n = vsnprintf(e->message, sizeof(e->message), format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof(e->message))
        snprintf(e->message + n, sizeof(e->message) - (size_t)n, ": %s", old);
    return e->code;
}
