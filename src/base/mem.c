#include "needlegrid/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* bytes: a cache line and an AVX-512 vector */

bool size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool size_add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static enum status no_memory(struct error *e, const char *what, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t u = 0;

    while (bytes >= 1024 && u + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        u++;
    }
    return error_set(e, ERR_NOMEM, "cannot allocate %.4g %s for %s", bytes, units[u], what);
}

enum status mem_alloc(void *out, const char *what, struct error *e, size_t a, size_t b, size_t c,
                      size_t d)
{
    double wanted = (double)a * (double)b * (double)c * (double)d;
    size_t size;
    void *p = NULL;

    memcpy(out, &p, sizeof(p));
    if (!size_mul(a, b, &size) || !size_mul(size, c, &size) || !size_mul(size, d, &size) ||
        size > PTRDIFF_MAX - ALIGNMENT)
        return no_memory(e, what, wanted);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (posix_memalign(&p, ALIGNMENT, size ? size : ALIGNMENT) != 0)
        return no_memory(e, what, wanted);
    memset(p, 0, size);
    memcpy(out, &p, sizeof(p));
    return OK;
}

enum status mem_grow(void *array, size_t *cap, size_t need, size_t size, const char *what,
                     struct error *e)
{
    size_t wanted = *cap ? *cap : 16;
    size_t bytes;
    void *old;
    void *p;

    if (need <= *cap)
        return OK;
    while (wanted < need)
        wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
    if (!size_mul(wanted, size, &bytes) || bytes > PTRDIFF_MAX)
        return no_memory(e, what, (double)wanted * (double)size);
    memcpy(&old, array, sizeof(old));
    p = realloc(old, bytes);
    if (!p)
        return no_memory(e, what, (double)bytes);
    memcpy(array, &p, sizeof(p));
    *cap = wanted;
    return OK;
}

char *mem_strndup(const char *s, size_t n, struct error *e)
{
    char *copy = n < SIZE_MAX ? malloc(n + 1) : NULL;

    if (!copy) {
        no_memory(e, "a string", (double)n + 1);
        return NULL;
    }
    if (n)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}
