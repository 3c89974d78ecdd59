/*
 * A haystack made of needles, without end: keys and values that a sample's prompts do not plant.
 */
#ifndef TEXT_NEEDLE_STREAM_IMPL_H
#define TEXT_NEEDLE_STREAM_IMPL_H

#include "drawer_impl.h"
#include "haystack_impl.h"

#include "needlegrid/tokenizer.h"

struct needle_stream;

/* Goes on where the sample's own draws end. */
NG_MUST_USE enum status needle_stream_new(struct needle_stream **out,
                                          const struct prompt_template *tpl, struct draw_plan plan,
                                          uint64_t seed, uint64_t sample, struct error *e);
void needle_stream_free(struct needle_stream *s);

/* Appends the needles of one key more, and to `boundaries` the end of each. */
NG_MUST_USE enum status needle_stream_extend(struct needle_stream *s, const struct tokenizer *t,
                                             struct tokens *ids, struct sentence_list *boundaries,
                                             struct error *e);

/* The value in each needle, NULL where it has none. */
const char *const *needle_stream_values(const struct needle_stream *s);

#endif
