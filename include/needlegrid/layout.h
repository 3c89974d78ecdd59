/*
 * Layouts: a prompt as a list of stretches of tokens, before it is copied together.
 *
 * A prompt is a base stream (the haystack of its sample) with pieces put in at some places and a
 * question behind. Its layout points into the memory of stream and pieces, so that two layouts of
 * one sample are compared without looking at most of their tokens: same memory, same tokens.
 *
 *     struct layout l = {0};
 *     if (trial_lay_out(b, &spec, &l, e) != OK) ...
 *     size_t shared = layout_common(&l, &other);
 *     layout_release(&l);
 */
#ifndef NEEDLEGRID_LAYOUT_H
#define NEEDLEGRID_LAYOUT_H

#include "needlegrid/error.h"
#include "needlegrid/tokenizer.h"

#include <stddef.h>

/* Tokens that stand in memory one after the other. */
struct segment {
    const token_id *ids; /* [n] */
    size_t n;
};

/* A piece put into the stream. */
struct cut {
    size_t at;    /* tokens of the haystack before it */
    size_t piece; /* index among the sample's pieces */
    struct segment tokens;
};

struct layout {
    struct segment *segments; /* [n] */
    size_t n, cap;
    struct cut *cuts; /* [n_cuts] rising in `at` */
    size_t n_cuts, cuts_cap;
    struct segment stream;  /* the haystack as far as it was needed; none of a list */
    size_t question;        /* index among the sample's questions */
    struct tokens list;     /* a generated list, which is the layout's own */
    size_t prompt_tokens;   /* of all segments */
    size_t haystack_tokens; /* without the pieces; a generated list counts as one */
};

void layout_release(struct layout *l);

/* Appends its tokens. */
NG_MUST_USE enum status layout_join(const struct layout *l, struct tokens *out, struct error *e);

/* How many tokens they have in common from the beginning. */
size_t layout_common(const struct layout *a, const struct layout *b);

/*
 * The order in which the layouts of one sample make a walk over their prefix tree: negative, 0 or
 * positive. Where two part, a question that begins there comes first, then the haystack going on,
 * then pieces, those most like the haystack first. So the deepest needle comes first.
 */
int layout_compare(const struct layout *a, const struct layout *b);

#endif
