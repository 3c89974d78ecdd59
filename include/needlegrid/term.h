/*
 * Heatmaps for the terminal.
 *
 *       tiny, softmax
 *       depth   64  128  256 | 512   1k
 *          0%  100  100  100 |  40    0
 *         50%  100  100   90 |  10    .
 *        100%  100  100  100 |  70   20
 *        mean  100  100   97 |  40   10
 *
 * A cell is the mean score in percent, never rounded to 0 or 100 from elsewhere. The bar stands
 * after the last length that the model was trained at; a legend follows the last grid.
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
    bool show_n;        /* hits/n in each cell, under the percentage */
    bool show_interval; /* Wilson 95% interval in each cell, under these */
    int width;          /* columns to fit in, 80 if not positive */
};

/*
 * Context length runs right, depth down with 0 on top; missing cells are drawn as missing. Grids
 * stand side by side where they fit, else below each other; one too wide is continued below.
 */
void term_heatmaps(struct buf *out, const struct grid *grids, size_t n,
                   const struct term_style *style);

#endif
