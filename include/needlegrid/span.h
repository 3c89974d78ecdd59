/*
 * A run of token positions, from the first to one past the last.
 */
#ifndef NEEDLEGRID_SPAN_H
#define NEEDLEGRID_SPAN_H

#include <stddef.h>

struct token_span {
    size_t from, to;
};

#endif
