/* The parts of a trial's row that are put together from lists. */
#ifndef RUN_RECORD_IMPL_H
#define RUN_RECORD_IMPL_H

#include "needlegrid/buf.h"
#include "needlegrid/trial.h"

/* "[[at,n,value_at,value_n,asked],...]" */
void record_needles(const struct trial *t, struct buf *out);

/* "a, b" */
void record_values(const char *const *values, size_t n, struct buf *out);

/*
 * The decoys to keep, likewise. A haystack of needles has thousands: of more than RECORD_DECOYS
 * those alone that stand in the response, which is what a later scorer can find of them.
 */
enum { RECORD_DECOYS = 1000 };
void record_decoys(const struct trial *t, const char *response, struct buf *out);

#endif
