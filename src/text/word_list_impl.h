/*
 * Short common words: an adjective and a noun, joined by a hyphen, make a key ("silver-kettle").
 * No word stands in both lists, so that a pair can be taken apart again.
 */
#ifndef TEXT_WORD_LIST_IMPL_H
#define TEXT_WORD_LIST_IMPL_H

#include <stddef.h>

extern const char *const word_adjectives[];
extern const size_t word_n_adjectives;
extern const char *const word_nouns[];
extern const size_t word_n_nouns;

#endif
