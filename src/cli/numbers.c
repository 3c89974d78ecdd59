#include "cli_impl.h"

#include "needlegrid/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 10000 };

/*
 * A number at *at, in digits with or without a dot; k and M (binary) allowed if `suffix`. *at moves
 * past it.
 */
static bool take_number(const char **at, bool suffix, double *out)
{
    size_t n = strspn(*at, "0123456789.");
    char *end;

    errno = 0;
    *out = strtod(*at, &end);
    if (n == 0 || end != *at + n || errno || !isfinite(*out))
        return false;
    if (suffix && (*end == 'k' || *end == 'K')) {
        *out *= 1024;
        end++;
    } else if (suffix && *end == 'M') {
        *out *= 1024 * 1024;
        end++;
    }
    *at = end;
    return true;
}

struct list {
    double *values;
    size_t n, cap;
};

static enum status push(struct list *l, double v, struct error *e)
{
    if (l->n >= MAX_LIST)
        return error_set(e, ERR_USAGE, "a list of more than %d values", MAX_LIST);
    if (mem_grow(&l->values, &l->cap, l->n + 1, sizeof(*l->values), "a list of numbers", e) != OK)
        return e->code;
    l->values[l->n++] = v;
    return OK;
}

/* One element of a list: "v" or "min:max:count". */
static enum status take_element(struct list *l, const char **at, bool suffix, bool *good,
                                struct error *e)
{
    double min;
    double max;
    double count;

    *good = take_number(at, suffix, &min);
    if (*good && **at != ':') {
        *good = !suffix || min == floor(min); /* lengths are whole tokens */
        return *good ? push(l, min, e) : OK;
    }
    *good = *good && *(*at)++ == ':' && take_number(at, suffix, &max) && *(*at)++ == ':' &&
            take_number(at, false, &count) && count >= 2 && count <= MAX_LIST &&
            count == floor(count) && max >= min;
    for (size_t i = 0; *good && i < (size_t)count; i++) {
        if (push(l, min + (max - min) * (double)i / (count - 1), e) != OK)
            return e->code;
    }
    return OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void sort_unique(struct list *l)
{
    size_t kept = 0;

    qsort(l->values, l->n, sizeof(*l->values), by_value);
    for (size_t i = 0; i < l->n; i++) {
        if (kept == 0 || l->values[i] != l->values[kept - 1])
            l->values[kept++] = l->values[i];
    }
    l->n = kept;
}

static enum status parse_list(struct list *l, const char *option, const char *text, bool suffix,
                              double max, struct error *e)
{
    const char *at = text;
    bool good = true;

    do {
        if (take_element(l, &at, suffix, &good, e) != OK)
            return error_prefix(e, "--%s", option);
    } while (good && *at == ',' && *at++);
    if (!good || *at)
        return error_set(e, ERR_USAGE, "--%s \"%s\" is no list: write %s, or from:to:count like %s",
                         option, text, suffix ? "256,1k,4k" : "0,50,100",
                         suffix ? "1k:8k:8" : "0:100:11");
    for (size_t i = 0; i < l->n; i++) {
        if (suffix)
            l->values[i] = round(l->values[i]);
        if (l->values[i] > max)
            return error_set(e, ERR_USAGE, "--%s: %.15g is more than %.15g", option, l->values[i],
                             max);
    }
    sort_unique(l);
    return OK;
}

enum status parse_depths(const char *option, const char *text, double **out, size_t *n,
                         struct error *e)
{
    struct list l = {.n = 0};
    enum status status = parse_list(&l, option, text, false, 100, e);

    *out = NULL;
    *n = 0;
    if (status != OK) {
        free(l.values);
        return status;
    }
    *out = l.values;
    *n = l.n;
    return OK;
}

enum status parse_lengths(const char *option, const char *text, size_t **out, size_t *n,
                          struct error *e)
{
    struct list l = {.n = 0};
    enum status status = parse_list(&l, option, text, true, (double)(1 << 30), e);

    *out = NULL;
    *n = l.n;
    if (status == OK && l.values[0] < 1)
        status = error_set(e, ERR_USAGE, "--%s: a length must be 1 token or more", option);
    if (status == OK)
        status = mem_alloc(out, "a list of lengths", e, l.n, sizeof(**out), 1, 1);
    for (size_t i = 0; status == OK && i < l.n; i++)
        (*out)[i] = (size_t)l.values[i];
    free(l.values);
    return status;
}

enum status parse_u64(const char *option, const char *text, uint64_t min, uint64_t max,
                      uint64_t *out, struct error *e)
{
    unsigned long long v;
    char *end;

    errno = 0;
    v = strtoull(text, &end, 10);
    if (!strchr("0123456789", *text) || end == text || *end || errno || v < min || v > max)
        return error_set(e, ERR_USAGE, "--%s \"%s\": must be a whole number from %llu to %llu",
                         option, text, (unsigned long long)min, (unsigned long long)max);
    *out = v;
    return OK;
}

enum status parse_double(const char *option, const char *text, double min, double max, double *out,
                         struct error *e)
{
    char *end;

    errno = 0;
    *out = strtod(text, &end);
    if (end == text || *end || errno || !(*out >= min && *out <= max))
        return error_set(e, ERR_USAGE, "--%s \"%s\": must be a number from %g to %g", option, text,
                         min, max);
    return OK;
}
