/* Where needles go: between sentences, the main ones at their depths, the others beside them. */
#include "trial_impl.h"

#include "needlegrid/mem.h"

#include <math.h>
#include <string.h>

/* How many cuts lie before `at`, or at it if `included`. */
static size_t count_cuts(const struct layout *l, size_t at, bool included)
{
    size_t low = 0;
    size_t high = l->n_cuts;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->cuts[middle].at < at || (included && l->cuts[middle].at == at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_free(const struct layout *l, size_t at)
{
    size_t i = count_cuts(l, at, false);

    return i == l->n_cuts || l->cuts[i].at != at;
}

/* The i-th place between sentences: the boundaries before `end`, then `end` itself. */
static size_t place_of(const struct window *w, size_t n, size_t end, size_t i)
{
    return i < n ? w->boundaries[i] : end;
}

/* The place next to `at` where nothing lies yet; `at` itself if everything is taken. */
static size_t nearest_free(const struct layout *l, const struct window *w, size_t end, size_t at)
{
    size_t n = w->n_boundaries;
    size_t i = 0;
    size_t high;

    if (is_free(l, at))
        return at;
    while (n > 0 && w->boundaries[n - 1] >= end)
        n--;
    for (high = n; i < high;) { /* the first place that is not before `at` */
        size_t middle = i + (high - i) / 2;
        if (w->boundaries[middle] < at)
            i = middle + 1;
        else
            high = middle;
    }
    for (size_t d = 0; d <= n; d++) {
        if (i + d <= n && is_free(l, place_of(w, n, end, i + d)))
            return place_of(w, n, end, i + d);
        if (d <= i && is_free(l, place_of(w, n, end, i - d)))
            return place_of(w, n, end, i - d);
    }
    return at;
}

/* Behind the cuts that lie there already. */
static void insert(struct layout *l, size_t at, size_t piece)
{
    size_t i = count_cuts(l, at, true);

    memmove(&l->cuts[i + 1], &l->cuts[i], (l->n_cuts - i) * sizeof(*l->cuts));
    l->cuts[i] = (struct cut){.at = at, .piece = piece};
    l->n_cuts++;
}

/*
 * How far a sentence's end is looked for: an eighth of the haystack, so that in a text without any
 * the depths stay apart instead of all meeting at its ends.
 */
static size_t snap_distance(size_t haystack_tokens)
{
    enum { LEAST = 64 }; /* tokens: half of a long sentence */
    size_t n = haystack_tokens / 8;

    return n < LEAST ? LEAST : n > TRIAL_SNAP_TOKENS ? TRIAL_SNAP_TOKENS : n;
}

/* Share 0 and 1 are the very ends. */
static void place(const struct trial_builder *b, const struct window *w, size_t end, double share,
                  size_t piece, struct layout *out)
{
    size_t at = (size_t)(share * (double)end + 0.5);

    at = window_snap(w, b->tokenizer, at < end ? at : end, end, snap_distance(end));
    insert(out, nearest_free(out, w, end, at), piece);
}

static double depth_of(const struct trial_builder *b, const struct piece *p, double depth)
{
    return b->options.n_depths ? b->options.depths[p->group] : depth;
}

/* The main ones; first those at the ends, which are exact. */
static void place_main(const struct trial_builder *b, const struct window *w, size_t end,
                       double depth, bool ends, struct layout *out)
{
    for (size_t i = 0; i < b->scene.n_pieces; i++) {
        const struct piece *p = &b->scene.pieces[i];
        double own;
        if (!p->main)
            continue;
        own = depth_of(b, p, depth);
        if ((own == 0 || own == 100) == ends)
            place(b, w, end, own / 100, i, out);
    }
}

/* Each chain's statements, in their order, at the places that it got. */
static void order_chains(const struct trial_builder *b, struct layout *out)
{
    size_t length = b->tpl->hops + 1;

    for (size_t group = 0; group < b->tpl->chains; group++) {
        size_t next = group * length;
        for (size_t i = 0; i < out->n_cuts; i++)
            if (b->scene.pieces[out->cuts[i].piece].group == group)
                out->cuts[i].piece = next++;
    }
}

enum status place_pieces(const struct trial_builder *b, const struct window *w, size_t end,
                         double depth, struct layout *out, struct error *e)
{
    const struct scene *s = &b->scene;

    out->n_cuts = 0;
    if (mem_grow(&out->cuts, &out->cuts_cap, s->n_pieces + 1, sizeof(*out->cuts), "needles", e) !=
        OK)
        return e->code;
    place_main(b, w, end, depth, true, out);
    place_main(b, w, end, depth, false, out);
    for (size_t i = 0; i < s->n_pieces; i++)
        if (!s->pieces[i].main)
            place(b, w, end, s->pieces[i].place, i, out);
    if (b->tpl->kind == TASK_CHAIN)
        order_chains(b, out);
    for (size_t i = 0; i < out->n_cuts; i++) {
        const struct tokens *ids = &s->pieces[out->cuts[i].piece].ids;
        out->cuts[i].tokens = (struct segment){ids->ids, ids->n};
    }
    return OK;
}
