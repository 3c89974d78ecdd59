/*
 * Colours of the terminal's heatmaps.
 */
#ifndef NEEDLEGRID_TERM_IMPL_H
#define NEEDLEGRID_TERM_IMPL_H

#include "needlegrid/term.h"

/* Sets background and text colour for an accuracy of 0 to 1; nothing in TERM_ASCII. */
void term_color_on(struct buf *out, enum term_color color, double accuracy);
void term_color_off(struct buf *out, enum term_color color);

#endif
