#include "term_impl.h"

#include <math.h>

/* Red, green, blue; 0 to 255. */
struct rgb {
    double r, g, b;
};

/* The field's scale, as in the first needle-in-a-haystack charts: 0%, 50%, 100%. */
static const struct rgb scale[3] = {{0xF0, 0x49, 0x6E}, {0xEB, 0xB8, 0x39}, {0x0C, 0xD7, 0x9F}};

static struct rgb color_of(double accuracy)
{
    double at = 2 * fmin(fmax(accuracy, 0), 1);
    const struct rgb *from = &scale[at < 1 ? 0 : 1], *to = from + 1;
    double t = at < 1 ? at : at - 1;

    return (struct rgb){from->r + t * (to->r - from->r), from->g + t * (to->g - from->g),
                        from->b + t * (to->b - from->b)};
}

/* The nearest of the six levels of the 256-colour cube. */
static int nearest_level(double value)
{
    static const double levels[6] = {0, 95, 135, 175, 215, 255};
    int best = 0;

    for (int i = 1; i < 6; i++) {
        if (fabs(value - levels[i]) < fabs(value - levels[best]))
            best = i;
    }
    return best;
}

/* WCAG 2.1, relative luminance. */
static double linear(double value)
{
    double c = value / 255;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* True if black text has more contrast on this ground than white has (WCAG 2.1). */
static bool black_reads_better(struct rgb c)
{
    double luminance = 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);

    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05);
}

void term_color_on(struct buf *out, enum term_color color, double accuracy)
{
    struct rgb c = color_of(accuracy);
    bool black = black_reads_better(c);

    if (color == TERM_TRUECOLOR)
        buf_printf(out, "\x1b[48;2;%.0f;%.0f;%.0fm\x1b[38;2;%sm", c.r, c.g, c.b,
                   black ? "0;0;0" : "255;255;255");
    else if (color == TERM_256)
        buf_printf(out, "\x1b[48;5;%dm\x1b[38;5;%dm",
                   16 + 36 * nearest_level(c.r) + 6 * nearest_level(c.g) + nearest_level(c.b),
                   black ? 16 : 231);
}

void term_color_off(struct buf *out, enum term_color color)
{
    if (color != TERM_ASCII)
        buf_puts(out, "\x1b[0m");
}
