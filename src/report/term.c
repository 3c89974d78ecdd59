/*
 * The layout of the terminal's heatmaps.
 *
 * A panel is a grid, or the part of its columns that fits the width. Panels that fit stand side by
 * side and are drawn line by line through a pen that knows the column it stands at.
 */
#include "term_impl.h"

#include "needlegrid/stats.h"
#include "needlegrid/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_PANELS = 8, /* side by side */
    GAP = 4,        /* columns between panels */
    DEFAULT_WIDTH = 80,
    CELL_BYTES = 64, /* of a cell's text */
    LEGEND_BYTES = 8192,
};

struct panel {
    const struct grid *grid;
    size_t from, to; /* its columns of the grid */
    size_t bar;      /* the column that the bar stands before; `to` if there is none */
    int label, cell; /* widths, in columns of the terminal: of the depths and of a cell */
    int width;
};

struct pen {
    struct buf *out;
    int left; /* where the panel starts */
    int at;   /* where the pen is */
};

/* ---- texts ---- */

enum cell_line { LINE_PERCENT, LINE_COUNT, LINE_INTERVAL };

/* How many lines a cell has, and which. */
static size_t cell_lines(const struct term_style *style, enum cell_line lines[3])
{
    size_t n = 0;

    lines[n++] = LINE_PERCENT;
    if (style->show_n)
        lines[n++] = LINE_COUNT;
    if (style->show_interval)
        lines[n++] = LINE_INTERVAL;
    return n;
}

/* 0 and 100 are said of all wrong and all right alone. */
static int percent(double accuracy)
{
    int p = (int)lround(100 * fmin(fmax(accuracy, 0), 1));

    if (p == 0 && accuracy > 0)
        return 1;
    return p == 100 && accuracy < 1 ? 99 : p;
}

static void cell_text(char out[CELL_BYTES], const struct grid_cell *c, enum cell_line line)
{
    struct interval i;

    out[0] = '\0';
    if (c->n == 0) {
        if (line == LINE_PERCENT)
            snprintf(out, CELL_BYTES, "%s", c->not_counted ? "x" : ".");
    } else if (line == LINE_PERCENT) {
        snprintf(out, CELL_BYTES, "%d", percent(grid_accuracy(c)));
    } else if (line == LINE_COUNT) {
        snprintf(out, CELL_BYTES, "%" PRId64 "/%" PRId64, c->hits, c->n);
    } else {
        i = wilson_95(c->hits, c->n);
        snprintf(out, CELL_BYTES, "%.0f-%.0f", 100 * i.low, 100 * i.high);
    }
}

static void length_text(char out[CELL_BYTES], int64_t tokens)
{
    if (tokens % 1024 == 0)
        snprintf(out, CELL_BYTES, "%" PRId64 "k", tokens / 1024);
    else
        snprintf(out, CELL_BYTES, "%" PRId64, tokens);
}

static void depth_text(char out[CELL_BYTES], double depth)
{
    if (isnan(depth)) /* tasks without one */
        snprintf(out, CELL_BYTES, "all");
    else
        snprintf(out, CELL_BYTES, "%.3g%%", depth);
}

/*
 * The character at s and its columns. A model's name comes from a file: what could move the cursor
 * or is not UTF-8 becomes a question mark. Columns are counted high rather than low.
 */
static size_t next_char(const char *s, size_t n, char shown[5], int *columns)
{
    uint32_t cp;
    size_t length = utf8_decode(s, n, &cp);
    bool control = length == 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0) ||
                   (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
                   (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff;

    *columns = control || cp < 0x1100 ? 1 : 2;
    memcpy(shown, control ? "?" : s, control ? 1 : length);
    shown[control ? 1 : length] = '\0';
    return length ? length : 1;
}

static int text_columns(const char *s)
{
    size_t n = strlen(s);
    int columns, sum = 0;
    char shown[5];

    for (size_t i = 0; i < n; sum += columns)
        i += next_char(s + i, n - i, shown, &columns);
    return sum;
}

/* ---- drawing ---- */

/* Puts text of known width at a column of the panel. */
static void pen_put(struct pen *pen, int column, const char *text, int width)
{
    for (; pen->at < pen->left + column; pen->at++)
        buf_putc(pen->out, ' ');
    buf_puts(pen->out, text);
    pen->at += width;
}

/* Puts text that ends before column `end`; nothing if it is empty. */
static void pen_put_before(struct pen *pen, int end, const char *text)
{
    int n = (int)strlen(text);

    if (n)
        pen_put(pen, end - n, text, n);
}

/* The title; too long a one loses its middle, for the rule stands at its end. */
static void draw_title(struct pen *pen, const char *title, int width)
{
    int total = text_columns(title), head = width, tail = 0, columns;
    size_t n = strlen(title);
    bool cut = false;
    char shown[5];

    if (total > width) {
        head = (width - 3) / 2;
        tail = width - 3 - head;
    }
    for (size_t i = 0, at = 0; i < n; at += (size_t)columns) {
        i += next_char(title + i, n - i, shown, &columns);
        if ((int)at + columns <= head || (int)at >= total - tail) {
            pen_put(pen, 0, shown, columns);
        } else if (!cut) {
            pen_put(pen, 0, "...", 3);
            cut = true;
        }
    }
}

static int column_at(const struct panel *p, size_t column)
{
    return p->label + (int)(column - p->from) * p->cell + (p->bar <= column ? 1 : 0);
}

static void draw_bar(struct pen *pen, const struct panel *p, size_t column)
{
    if (column == p->bar)
        pen_put(pen, column_at(p, column) - 1, "|", 1);
}

static void draw_header(struct pen *pen, const struct panel *p)
{
    char text[CELL_BYTES];

    pen_put_before(pen, p->label - 1, "depth");
    for (size_t j = p->from; j < p->to; j++) {
        length_text(text, p->grid->lengths[j]);
        draw_bar(pen, p, j);
        pen_put_before(pen, column_at(p, j) + p->cell - 1, text);
    }
}

static void draw_cell(struct pen *pen, const struct panel *p, size_t column,
                      const struct grid_cell *c, enum cell_line line, enum term_color color)
{
    char text[CELL_BYTES], padded[2 * CELL_BYTES];
    int at = column_at(p, column);

    cell_text(text, c, line);
    if (color == TERM_ASCII || c->n == 0) {
        pen_put_before(pen, at + p->cell - 1, text);
        return;
    }
    snprintf(padded, sizeof(padded), "%*s ", p->cell - 1, text);
    pen_put(pen, at, "", 0);
    term_color_on(pen->out, color, grid_accuracy(c));
    pen_put(pen, at, padded, p->cell);
    term_color_off(pen->out, color);
}

/* One line of a row of cells; `depth` past the last is the mean. */
static void draw_cells(struct pen *pen, const struct panel *p, size_t depth, enum cell_line line,
                       enum term_color color)
{
    bool mean = depth == p->grid->n_depths;
    char text[CELL_BYTES] = "mean";

    if (!mean)
        depth_text(text, p->grid->depths[depth]);
    pen_put_before(pen, p->label - 1, line == LINE_PERCENT ? text : "");
    for (size_t j = p->from; j < p->to; j++) {
        struct grid_cell c = mean ? grid_column(p->grid, j) : *grid_at(p->grid, depth, j);
        draw_bar(pen, p, j);
        draw_cell(pen, p, j, &c, line, color);
    }
}

/*
 * The mean has no interval: the depths of one sample share haystack and needle, so its trials are
 * not independent and Wilson's would be too narrow.
 */
static size_t mean_lines(const struct term_style *style)
{
    return style->show_n ? 2 : 1;
}

static size_t panel_height(const struct panel *p, const struct term_style *style)
{
    enum cell_line lines[3];

    if (p->grid->n_lengths == 0)
        return 2;
    return 2 + p->grid->n_depths * cell_lines(style, lines) + mean_lines(style);
}

static void draw_line(struct pen *pen, const struct panel *p, size_t k,
                      const struct term_style *style)
{
    enum cell_line lines[3];
    size_t per_cell = cell_lines(style, lines);

    if (k >= panel_height(p, style))
        return;
    if (k == 0)
        draw_title(pen, p->grid->title, p->width);
    else if (p->grid->n_lengths == 0)
        pen_put(pen, 0, "no trials", 9);
    else if (k == 1)
        draw_header(pen, p);
    else if ((k - 2) / per_cell < p->grid->n_depths)
        draw_cells(pen, p, (k - 2) / per_cell, lines[(k - 2) % per_cell], style->color);
    else
        draw_cells(pen, p, p->grid->n_depths, lines[k - 2 - p->grid->n_depths * per_cell],
                   style->color);
}

/* ---- layout ---- */

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* The widest text of any cell and length. */
static int widest_cell(const struct grid *g, const struct term_style *style)
{
    char text[CELL_BYTES];
    enum cell_line lines[3];
    size_t n = cell_lines(style, lines);
    int widest = 3;

    for (size_t j = 0; j < g->n_lengths; j++) {
        struct grid_cell mean = grid_column(g, j);
        length_text(text, g->lengths[j]);
        widest = max_int(widest, (int)strlen(text));
        for (size_t k = 0; k < n; k++) {
            for (size_t i = 0; i < g->n_depths; i++) {
                cell_text(text, grid_at(g, i, j), lines[k]);
                widest = max_int(widest, (int)strlen(text));
            }
            cell_text(text, &mean, k < mean_lines(style) ? lines[k] : LINE_PERCENT);
            widest = max_int(widest, (int)strlen(text));
        }
    }
    return widest;
}

static int widest_label(const struct grid *g)
{
    char text[CELL_BYTES];
    int widest = (int)strlen("depth");

    for (size_t i = 0; i < g->n_depths; i++) {
        depth_text(text, g->depths[i]);
        widest = max_int(widest, (int)strlen(text));
    }
    return widest;
}

/* The number of columns up to the training length; all of them if it is unknown. */
static size_t trained_columns(const struct grid *g)
{
    size_t n = 0;

    if (g->training_length <= 0)
        return g->n_lengths;
    while (n < g->n_lengths && g->lengths[n] <= g->training_length)
        n++;
    return n;
}

/* As many columns from `from` on as fit the width, one at least. */
static struct panel make_panel(const struct grid *g, size_t from, const struct term_style *style,
                               int width)
{
    struct panel p = {.grid = g, .from = from, .to = g->n_lengths};
    size_t trained = trained_columns(g), fit;

    p.label = widest_label(g) + 1;
    p.cell = widest_cell(g, style) + 2;
    fit = (size_t)max_int(1, (width - p.label - (trained < g->n_lengths)) / p.cell);
    if (p.to - from > fit)
        p.to = from + fit;
    p.bar = trained < from ? from : trained;
    if (p.bar > p.to)
        p.bar = p.to;
    p.width = p.label + (int)(p.to - from) * p.cell + (p.bar < p.to);
    if (g->n_lengths == 0)
        p.width = (int)strlen("no trials");
    return p;
}

/* Widens the panels of a row for titles that need it, as far as there is room for each. */
static void share_slack(struct panel *row, size_t n, int width)
{
    int used = (int)(n - 1) * GAP, extra;

    for (size_t i = 0; i < n; i++)
        used += row[i].width;
    extra = max_int(0, (width - used) / (int)n);
    for (size_t i = 0; i < n; i++) {
        int wanted = text_columns(row[i].grid->title) - row[i].width;
        row[i].width += max_int(0, wanted < extra ? wanted : extra);
    }
}

static void draw_row(struct buf *out, const struct panel *row, size_t n,
                     const struct term_style *style)
{
    size_t height = 0;

    for (size_t i = 0; i < n; i++) {
        size_t h = panel_height(&row[i], style);
        height = h > height ? h : height;
    }
    for (size_t k = 0; k < height; k++) {
        struct pen pen = {out, 0, 0};
        for (size_t i = 0; i < n; i++) {
            draw_line(&pen, &row[i], k, style);
            pen.left += row[i].width + GAP;
        }
        buf_putc(out, '\n');
    }
}

static void draw_grids(struct buf *out, const struct grid *grids, size_t n,
                       const struct term_style *style, int width)
{
    struct panel row[MAX_PANELS];
    size_t in_row = 0, from = 0;
    int used = 0;

    for (size_t g = 0; g < n;) {
        struct panel p = make_panel(&grids[g], from, style, width);
        if (in_row && (in_row == MAX_PANELS || used + GAP + p.width > width)) {
            share_slack(row, in_row, width);
            draw_row(out, row, in_row, style);
            buf_putc(out, '\n');
            in_row = 0;
        }
        used = in_row ? used + GAP + p.width : p.width;
        row[in_row++] = p;
        from = p.to;
        if (from == grids[g].n_lengths) {
            from = 0;
            g++;
        }
    }
    share_slack(row, in_row, width);
    draw_row(out, row, in_row, style);
}

/* ---- legend ---- */

/* Lines of the legend, broken at spaces to fit the width. */
static void put_wrapped(struct buf *out, const char *text, int width)
{
    size_t n = strlen(text);
    int at = 0;

    for (size_t i = 0; i < n;) {
        size_t word = strcspn(text + i, " ");
        if (at && at + 1 + (int)word > width) {
            buf_putc(out, '\n');
            at = 0;
        }
        if (at) {
            buf_putc(out, ' ');
            at++;
        }
        buf_append(out, text + i, word);
        at += (int)word;
        i += word + (text[i + word] == ' ');
    }
    buf_putc(out, '\n');
}

/* What the legend says of all cells of all grids. */
struct tally {
    int64_t min_n, max_n, not_counted;
    bool missing, none_count, any;
};

static struct tally tally_cells(const struct grid *grids, size_t n)
{
    struct tally t = {INT64_MAX, 0, 0, false, false, false};

    for (size_t g = 0; g < n; g++) {
        for (size_t i = 0; i < grids[g].n_depths * grids[g].n_lengths; i++) {
            const struct grid_cell *c = &grids[g].cells[i];
            t.any = true;
            t.not_counted += c->not_counted;
            t.missing |= c->n == 0 && c->not_counted == 0;
            t.none_count |= c->n == 0 && c->not_counted > 0;
            if (c->n > 0) {
                t.min_n = c->n < t.min_n ? c->n : t.min_n;
                t.max_n = c->n > t.max_n ? c->n : t.max_n;
            }
        }
    }
    return t;
}

static void legend_of_training(struct buf *out, const struct grid *grids, size_t n, int width)
{
    struct buf line = BUF_INIT(LEGEND_BYTES);
    bool beyond = false, differ = false;

    for (size_t g = 0; g < n; g++) {
        beyond |= trained_columns(&grids[g]) < grids[g].n_lengths;
        differ |= grids[g].training_length != grids[0].training_length;
    }
    if (differ)
        buf_puts(&line, "columns right of | are beyond the length a model was trained at");
    else if (grids[0].training_length > 0)
        buf_printf(&line, "trained at %" PRId64 " tokens: %s", grids[0].training_length,
                   beyond ? "columns right of | are beyond it" : "no column is beyond it");
    if (line.len)
        put_wrapped(out, buf_str(&line), width);
    buf_release(&line);
}

static void draw_legend(struct buf *out, const struct grid *grids, size_t n,
                        const struct term_style *style, int width)
{
    struct tally t = tally_cells(grids, n);
    struct buf line = BUF_INIT(LEGEND_BYTES);

    if (!t.any)
        return;
    buf_putc(out, '\n');
    buf_printf(&line, "accuracy in percent%s%s; depth 0%% = start of the haystack",
               style->show_n ? ", hits/n" : "",
               style->show_interval ? ", 95% interval (Wilson)" : "");
    put_wrapped(out, buf_str(&line), width);
    legend_of_training(out, grids, n, width);
    buf_clear(&line);
    if (t.max_n > 0 && t.min_n == t.max_n)
        buf_printf(&line, "n per cell: %" PRId64, t.max_n);
    else if (t.max_n > 0)
        buf_printf(&line, "n per cell: %" PRId64 " to %" PRId64, t.min_n, t.max_n);
    if (t.not_counted)
        buf_printf(&line, "%s%" PRId64 " trial%s not counted", line.len ? "; " : "", t.not_counted,
                   t.not_counted == 1 ? "" : "s");
    if (t.missing)
        buf_printf(&line, "%s. = no trials", line.len ? "; " : "");
    if (t.none_count)
        buf_printf(&line, "%sx = none that count", line.len ? "; " : "");
    put_wrapped(out, buf_str(&line), width);
    for (size_t i = 0; i < n; i++) {
        if (grids[i].detail)
            put_wrapped(out, grids[i].detail, width);
    }
    buf_release(&line);
}

void term_heatmaps(struct buf *out, const struct grid *grids, size_t n,
                   const struct term_style *style)
{
    int width = style->width > 0 ? style->width : DEFAULT_WIDTH;

    if (n == 0)
        return;
    draw_grids(out, grids, n, style, width);
    draw_legend(out, grids, n, style, width);
}
