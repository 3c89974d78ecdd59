/*
 * Generated prose: plain English that never ends and never says the same thing twice in a row.
 *
 * Each paragraph has a place, a person known by a role, a time of day and a weather, and says
 * small things about them. A stream is named by (seed, sample) and is the same on every machine.
 * The text has no digits and no names of people or towns, so that a needle stands out; a sentence
 * comes back only after PROSE_MEMORY others.
 *
 *     struct prose *p;
 *     if (prose_new(&p, seed, sample, e) != OK) ...
 *     prose_paragraph(p, &text); // as often as needed
 *     prose_free(p);
 */
#ifndef NEEDLEGRID_PROSE_H
#define NEEDLEGRID_PROSE_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"
#include "needlegrid/hash.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PROSE_REVISION = 1,  /* goes up whenever the same (seed, sample) would give another text */
    PROSE_MEMORY = 8192, /* sentences: about 200,000 tokens of a large vocabulary */
};

struct prose;

NG_MUST_USE enum status prose_new(struct prose **out, uint64_t seed, uint64_t sample,
                                  struct error *e);
void prose_free(struct prose *p);

/* Appends one paragraph of 5 to 9 sentences, each with a space before it. */
void prose_paragraph(struct prose *p, struct buf *out);

/* Feeds revision and all words and sentence forms to a hash. */
void prose_hash(struct hash *h);

/*
 * The phrase of the generator in which `word` stands as a whole word (case-sensitive), or NULL.
 */
const char *prose_phrase_with(const char *word);

#endif
