#include "needlegrid/layout.h"

#include "needlegrid/mem.h"

#include <stdbool.h>
#include <stdlib.h>

void layout_release(struct layout *l)
{
    free(l->segments);
    free(l->cuts);
    tokens_release(&l->list);
    *l = (struct layout){.n = 0};
}

enum status layout_join(const struct layout *l, struct tokens *out, struct error *e)
{
    if (mem_grow(&out->ids, &out->cap, out->n + l->prompt_tokens, sizeof(*out->ids), "a prompt",
                 e) != OK)
        return e->code;
    for (size_t i = 0; i < l->n; i++)
        if (tokens_append(out, l->segments[i].ids, l->segments[i].n, e) != OK)
            return e->code;
    return OK;
}

/* A place in a layout. */
struct cursor {
    const struct layout *l;
    size_t segment;
    size_t offset; /* in the segment */
};

/* Passes ended segments; the tokens left of this one, 0 at the end of the layout. */
static size_t left(struct cursor *c)
{
    while (c->segment < c->l->n && c->offset == c->l->segments[c->segment].n) {
        c->segment++;
        c->offset = 0;
    }
    return c->segment < c->l->n ? c->l->segments[c->segment].n - c->offset : 0;
}

static const token_id *here(const struct cursor *c)
{
    return c->l->segments[c->segment].ids + c->offset;
}

size_t layout_common(const struct layout *a, const struct layout *b)
{
    struct cursor x = {a, 0, 0};
    struct cursor y = {b, 0, 0};
    size_t common = 0;

    for (;;) {
        size_t n = left(&x);
        size_t m = left(&y);
        size_t same = 0;
        n = m < n ? m : n;
        if (n == 0)
            return common;
        if (here(&x) == here(&y))
            same = n;
        while (same < n && here(&x)[same] == here(&y)[same])
            same++;
        x.offset += same;
        y.offset += same;
        common += same;
        if (same < n)
            return common;
    }
}

/* ---- the walk ---- */

/* Where a layout leaves the stream: at a cut, or at last with its question. */
struct exit {
    size_t at;
    bool is_question;
    struct segment tokens;
};

static struct exit exit_of(const struct layout *l, size_t i)
{
    if (i < l->n_cuts)
        return (struct exit){l->cuts[i].at, false, l->cuts[i].tokens};
    return (struct exit){l->haystack_tokens, true, l->segments[l->n - 1]};
}

static size_t common_tokens(struct segment a, struct segment b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.ids[n] == b.ids[n])
        n++;
    return n;
}

static int compare_tokens(struct segment a, struct segment b)
{
    size_t n = common_tokens(a, b);

    if (n == a.n || n == b.n)
        return (a.n > b.n) - (a.n < b.n);
    return a.ids[n] < b.ids[n] ? -1 : 1;
}

/* Two pieces at one place, where the haystack goes on with `stream`. */
static int compare_pieces(struct segment a, struct segment b, struct segment stream)
{
    size_t n = common_tokens(a, stream);
    size_t m = common_tokens(b, stream);

    if (n != m)
        return n > m ? -1 : 1;
    return compare_tokens(a, b);
}

int layout_compare(const struct layout *a, const struct layout *b)
{
    struct exit x;
    struct exit y;
    size_t i = 0;

    if (a->list.n > 0 && b->list.n > 0) /* nothing but the tokens tells what they share */
        return compare_tokens((struct segment){a->list.ids, a->list.n},
                              (struct segment){b->list.ids, b->list.n});
    while (i < a->n_cuts && i < b->n_cuts && a->cuts[i].at == b->cuts[i].at &&
           a->cuts[i].piece == b->cuts[i].piece)
        i++;
    x = exit_of(a, i);
    y = exit_of(b, i);
    if (x.at != y.at) {
        bool x_first = x.at < y.at ? x.is_question : !y.is_question;
        return x_first ? -1 : 1;
    }
    if (x.is_question != y.is_question)
        return x.is_question ? -1 : 1;
    if (x.is_question || x.at >= a->stream.n)
        return compare_tokens(x.tokens, y.tokens);
    return compare_pieces(x.tokens, y.tokens,
                          (struct segment){a->stream.ids + x.at, a->stream.n - x.at});
}
