/*
 * Heatmaps for the terminal.
 */
#ifndef NEEDLEGRID_TERM_H
#define NEEDLEGRID_TERM_H

#include "needlegrid/buf.h"
#include "needlegrid/grid.h"

#include <stdbool.h>

enum term_color {
    TERM_ASCII, /* percentages only */
    TERM_256,
    TERM_TRUECOLOR,
};

struct term_style {
    enum term_color color;
    bool show_n;        /* hits/n in each cell */
    bool show_interval; /* Wilson 95% interval in each cell */
    int width;          /* columns to fit in; grids stand side by side where they fit */
};

/* Context length runs right, depth down with 0 on top; missing cells are drawn as missing. */
void term_heatmaps(struct buf *out, const struct grid *grids, size_t n,
                   const struct term_style *style);

#endif
