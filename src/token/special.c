#include "special_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

static int order_taken(const void *x, const void *y)
{
    const struct special *a = x;
    const struct special *b = y;

    if (a->text.n != b->text.n)
        return a->text.n > b->text.n ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int order_bytes(const void *x, const void *y)
{
    const struct special *a = *(const struct special *const *)x;
    const struct special *b = *(const struct special *const *)y;
    size_t n = a->text.n < b->text.n ? a->text.n : b->text.n;
    int order = memcmp(a->text.p, b->text.p, n);

    return order ? order : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

static bool is_special(const struct vocab *v, size_t id)
{
    uint8_t type = v->types[id];

    return v->bytes[id].n > 0 &&
           (type == TOKEN_UNKNOWN || type == TOKEN_CONTROL || type == TOKEN_USER_DEFINED);
}

enum status specials_init(struct specials *s, const struct vocab *v, struct error *e)
{
    static const char what[] = "the list of special tokens";
    size_t n = 0;
    enum status status;

    for (size_t id = 0; id < v->n; id++)
        n += is_special(v, id);
    if ((status = mem_alloc(&s->list, what, e, n, sizeof(*s->list), 1, 1)) ||
        (status = mem_alloc(&s->by_text, what, e, n, sizeof(*s->by_text), 1, 1)))
        return status;
    for (size_t id = 0; id < v->n; id++)
        if (is_special(v, id))
            s->list[s->n++] =
                (struct special){v->bytes[id], (token_id)id, v->types[id] == TOKEN_USER_DEFINED};
    qsort(s->list, n, sizeof(*s->list), order_taken);
    for (size_t i = 0; i < n; i++) {
        unsigned char first = (unsigned char)s->list[i].text.p[0];

        s->by_text[i] = &s->list[i];
        s->starts[TOKENIZE_SPECIAL][first] = true;
        s->starts[TOKENIZE_PLAIN][first] |= s->list[i].always;
    }
    qsort(s->by_text, n, sizeof(*s->by_text), order_bytes);
    return OK;
}

void specials_release(struct specials *s)
{
    free(s->list);
    free(s->by_text);
    *s = (struct specials){0};
}

void fragments_release(struct fragments *f)
{
    free(f->list);
    *f = (struct fragments){0};
}

/* The first of by_text[lo..hi), alike in their first `depth` bytes, whose next byte is >= c. */
static size_t lower_bound(const struct specials *s, size_t lo, size_t hi, size_t depth, int c)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if ((unsigned char)s->by_text[mid]->text.p[depth] < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Marks the names that the text starts with; true if there are any. */
static bool mark_at(const struct specials *s, const char *text, size_t n, bool *present)
{
    size_t lo = 0;
    size_t hi = s->n;
    bool any = false;

    for (size_t depth = 0; lo < hi; depth++) {
        int c;

        for (; lo < hi && s->by_text[lo]->text.n == depth; lo++)
            any = present[s->by_text[lo] - s->list] = true;
        if (depth == n)
            break;
        c = (unsigned char)text[depth];
        lo = lower_bound(s, lo, hi, depth, c);
        hi = lower_bound(s, lo, hi, depth, c + 1);
    }
    return any;
}

static enum status push(struct fragments *f, size_t from, size_t to, token_id id, struct error *e)
{
    enum status status;

    if (from == to)
        return OK;
    status = mem_grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list), "pieces of a text", e);
    if (status == OK)
        f->list[f->n++] = (struct fragment){from, to, id};
    return status;
}

/* Where the name starts in text[from..to), or `to`. */
static size_t find(const char *text, size_t from, size_t to, struct str name)
{
    while (to - from >= name.n) {
        const char *p = memchr(text + from, name.p[0], to - from - name.n + 1);

        if (!p)
            break;
        from = (size_t)(p - text);
        if (memcmp(p, name.p, name.n) == 0)
            return from;
        from++;
    }
    return to;
}

/* Copies `in` to `out`, with the occurrences of one name cut out of the ordinary text. */
static enum status cut_out(const struct special *special, const char *text,
                           const struct fragments *in, struct fragments *out, struct error *e)
{
    enum status status = OK;

    out->n = 0;
    for (size_t i = 0; i < in->n && status == OK; i++) {
        size_t at = in->list[i].from;
        size_t to = in->list[i].to;

        while (in->list[i].id == TOKEN_NONE && at < to) {
            size_t found = find(text, at, to, special->text);

            if (found == to)
                break;
            if ((status = push(out, at, found, TOKEN_NONE, e)) ||
                (status = push(out, found, found + special->text.n, special->id, e)))
                return status;
            at = found + special->text.n;
        }
        status = push(out, at, to, in->list[i].id, e);
    }
    return status;
}

enum status specials_split(const struct specials *s, const char *text, size_t n, enum tokenize mode,
                           struct fragments *out, struct error *e)
{
    struct fragments other = {0};
    bool *present = NULL;
    bool any = false;
    enum status status = mem_alloc(&present, "marks of special tokens", e, s->n, 1, 1, 1);

    if (status != OK)
        return status;
    out->n = 0;
    status = push(out, 0, n, TOKEN_NONE, e);
    /* One pass finds out which of the names are there at all: mostly none, or a few of hundreds. */
    for (size_t i = 0; i < n; i++)
        if (s->starts[mode][(unsigned char)text[i]])
            any |= mark_at(s, text + i, n - i, present);
    for (size_t i = 0; any && i < s->n && status == OK; i++) {
        if (!present[i] || (mode == TOKENIZE_PLAIN && !s->list[i].always))
            continue;
        status = cut_out(&s->list[i], text, out, &other, e);
        if (status == OK) {
            struct fragments swap = *out;
            *out = other;
            other = swap;
        }
    }
    free(present);
    fragments_release(&other);
    return status;
}
