/*
 * The attention on a trial's needles: what to look for, and the rows that come of it.
 */
#ifndef RUN_WATCH_IMPL_H
#define RUN_WATCH_IMPL_H

#include "needlegrid/backend.h"
#include "needlegrid/store_attention.h"
#include "needlegrid/trial.h"

/* All zero to begin with. */
struct watch {
    struct token_span *needles; /* [n_needles] those asked for */
    struct token_span *values;  /* [n_values] their values */
    size_t n_needles, n_values;
    size_t needles_cap, values_cap;
    struct attention_record *rows; /* [n_rows] */
    size_t n_rows, rows_cap;
};

/* Fills in the request's spans; none where no needle is asked for. */
NG_MUST_USE enum status watch_needles(struct watch *w, const struct trial *t,
                                      struct completion_request *r, struct error *e);
/* Makes the rows of what was seen; none if nothing was asked. */
NG_MUST_USE enum status watch_note(struct watch *w, const struct completion *c, struct error *e);
void watch_release(struct watch *w);

#endif
