#include "needlegrid/term.h"

#include "needlegrid/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int64_t lengths[] = {64, 128, 256, 512, 1024, 2048};
static double depths[] = {0, 50, 100};

/* Two runs of 3 depths x 6 lengths, trained at 256 tokens. */
struct pair {
    struct grid_cell cells[2][18];
    struct grid grids[2];
};

static void pair_init(struct pair *p)
{
    static const int hits[18] = {10, 10, 10, 4, 0, 0, 10, 10, 9, 1, 0, 0, 10, 10, 10, 7, 2, 0};

    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < 18; i++)
            p->cells[g][i] = (struct grid_cell){10, g ? 10 : hits[i], g ? 10 : hits[i], 0};
        p->grids[g] = (struct grid){.run_id = g + 1,
                                    .title = g ? "tiny, ssmax" : "tiny, softmax",
                                    .training_length = 256,
                                    .lengths = lengths,
                                    .n_lengths = 6,
                                    .depths = depths,
                                    .n_depths = 3,
                                    .cells = p->cells[g]};
    }
}

static const char *draw(struct buf *out, const struct grid *grids, size_t n,
                        struct term_style style)
{
    struct error e;

    buf_clear(out);
    term_heatmaps(out, grids, n, &style);
    assert_int_equal(buf_status(out, &e), OK);
    return buf_str(out);
}

/* The widest line in characters, escapes left out. */
static int widest(const char *s)
{
    int at = 0, most = 0;

    for (; *s; s++) {
        if (*s == '\x1b')
            s = strchr(s, 'm');
        else if (*s == '\n')
            at = 0;
        else
            at += utf8_is_start(*s);
        most = at > most ? at : most;
    }
    return most;
}

static void side_by_side(void **state)
{
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    assert_string_equal(
        draw(&out, p.grids, 2, (struct term_style){.width = 80}),
        "tiny, softmax                            tiny, ssmax\n"
        "depth   64  128  256 | 512   1k   2k     depth   64  128  256 | 512   1k   2k\n"
        "   0%  100  100  100 |  40    0    0        0%  100  100  100 | 100  100  100\n"
        "  50%  100  100   90 |  10    0    0       50%  100  100  100 | 100  100  100\n"
        " 100%  100  100  100 |  70   20    0      100%  100  100  100 | 100  100  100\n"
        " mean  100  100   97 |  40    7    0      mean  100  100  100 | 100  100  100\n"
        "\n"
        "accuracy in percent; depth 0% = start of the haystack\n"
        "trained at 256 tokens: columns right of | are beyond it\n"
        "n per cell: 10\n");
    buf_release(&out);
}

static void counts_and_intervals(void **state)
{
    const struct term_style style = {.show_n = true, .show_interval = true, .width = 100};
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[0].n_lengths = 1;
    p.grids[0].n_depths = 2;
    p.cells[0][1] = (struct grid_cell){0, 0, 0, 2};
    assert_string_equal(draw(&out, p.grids, 1, style),
                        "tiny, softmax\n"
                        "depth      64\n"
                        "   0%     100\n"
                        "        10/10\n"
                        "       72-100\n"
                        "  50%       x\n"
                        "\n"
                        "\n"
                        " mean     100\n"
                        "        10/10\n"
                        "\n"
                        "accuracy in percent, hits/n, 95% interval (Wilson); depth 0% = start of "
                        "the haystack\n"
                        "trained at 256 tokens: no column is beyond it\n"
                        "n per cell: 10; 2 trials not counted; x = none that count\n");
    buf_release(&out);
}

/* Grids that do not fit stand below each other; a grid that does not fit is continued below. */
static void stacked_and_continued(void **state)
{
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[0].n_depths = p.grids[1].n_depths = 1;
    assert_string_equal(draw(&out, p.grids, 2, (struct term_style){.width = 76}),
                        "tiny, softmax\n"
                        "depth   64  128  256 | 512   1k   2k\n"
                        "   0%  100  100  100 |  40    0    0\n"
                        " mean  100  100  100 |  40    0    0\n"
                        "\n"
                        "tiny, ssmax\n"
                        "depth   64  128  256 | 512   1k   2k\n"
                        "   0%  100  100  100 | 100  100  100\n"
                        " mean  100  100  100 | 100  100  100\n"
                        "\n"
                        "accuracy in percent; depth 0% = start of the haystack\n"
                        "trained at 256 tokens: columns right of | are beyond it\n"
                        "n per cell: 10\n");
    assert_string_equal(draw(&out, p.grids, 1, (struct term_style){.width = 27}),
                        "tiny, softmax\n"
                        "depth   64  128  256 | 512\n"
                        "   0%  100  100  100 |  40\n"
                        " mean  100  100  100 |  40\n"
                        "\n"
                        "tiny, softmax\n"
                        "depth |  1k   2k\n"
                        "   0% |   0    0\n"
                        " mean |   0    0\n"
                        "\n"
                        "accuracy in percent; depth\n"
                        "0% = start of the haystack\n"
                        "trained at 256 tokens:\n"
                        "columns right of | are\n"
                        "beyond it\n"
                        "n per cell: 10\n");
    buf_release(&out);
}

static void never_too_wide(void **state)
{
    static const char title[] = "\xe6\x9d\xb1\xe4\xba\xac-a-model-of-a-rather-long-name-Q4_K_M, "
                                "ssmax";
    struct buf out = BUF_INIT(1000000);
    char long_title[sizeof(title)];
    struct pair p;

    (void)state;
    pair_init(&p);
    memcpy(long_title, title, sizeof(title));
    p.grids[0].title = p.grids[1].title = long_title;
    for (int width = 20; width < 200; width++) {
        for (int shown = 0; shown < 12; shown++) {
            struct term_style style = {.color = (enum term_color)(shown / 4),
                                       .show_n = shown % 4 / 2,
                                       .show_interval = shown % 2,
                                       .width = width};
            assert_true(widest(draw(&out, p.grids, 2, style)) <= width);
            assert_non_null(strstr(buf_str(&out), ", ssmax\n"));
        }
    }
    assert_true(widest(draw(&out, p.grids, 2, (struct term_style){.width = 0})) <= 80);
    buf_release(&out);
}

static void extremes_are_not_rounded(void **state)
{
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[0].n_lengths = 2;
    p.grids[0].n_depths = 1;
    p.cells[0][0] = (struct grid_cell){1000, 999, 999, 0};
    p.cells[0][1] = (struct grid_cell){1000, 1, 1, 0};
    assert_non_null(strstr(draw(&out, p.grids, 1, (struct term_style){.width = 80}),
                           "   0%   99    1\n mean   99    1\n"));
    buf_release(&out);
}

static void missing_and_uneven(void **state)
{
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[0].n_lengths = 2;
    p.grids[0].n_depths = 2;
    p.grids[0].training_length = 0;
    p.cells[0][0] = (struct grid_cell){0, 0, 0, 0};
    p.cells[0][1] = (struct grid_cell){8, 2, 2, 1};
    p.cells[0][2] = (struct grid_cell){0, 0, 0, 0};
    assert_string_equal(draw(&out, p.grids, 1, (struct term_style){.width = 80}),
                        "tiny, softmax\n"
                        "depth   64  128\n"
                        "   0%    .   25\n"
                        "  50%    .   40\n"
                        " mean    .   33\n"
                        "\n"
                        "accuracy in percent; depth 0% = start of the haystack\n"
                        "n per cell: 8 to 10; 1 trial not counted; . = no trials\n");
    buf_release(&out);
}

static void lengths_and_depths_as_text(void **state)
{
    static int64_t odd[] = {1000, 131072, 1048576};
    static double thirds[] = {0, 100.0 / 3, 100.0 / 1.5};
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[1].lengths = odd;
    p.grids[1].n_lengths = 3;
    p.grids[1].depths = thirds;
    p.grids[1].training_length = 131072;
    assert_non_null(strstr(draw(&out, p.grids + 1, 1, (struct term_style){.width = 80}),
                           "depth   1000   128k | 1024k\n"
                           "   0%    100    100 |   100\n"
                           "33.3%    100    100 |   100\n"
                           "66.7%    100    100 |   100\n"));
    buf_release(&out);
}

static void different_training_lengths(void **state)
{
    struct buf out = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[1].training_length = 2048;
    draw(&out, p.grids, 2, (struct term_style){.width = 80});
    assert_non_null(strstr(buf_str(&out),
                           "depth   64  128  256 | 512   1k   2k     depth   64  128  256  512   "
                           "1k   2k\n"));
    assert_non_null(strstr(buf_str(&out), "beyond the length a model was trained at\n"));
    buf_release(&out);
}

static void nothing_to_draw(void **state)
{
    struct buf out = BUF_INIT(1000);
    struct grid empty = {.title = "tiny, softmax"};

    (void)state;
    assert_string_equal(draw(&out, &empty, 0, (struct term_style){.width = 80}), "");
    assert_string_equal(draw(&out, &empty, 1, (struct term_style){.width = 80}),
                        "tiny, softmax\nno trials\n");
    buf_release(&out);
}

/* A model's name is no way to send escapes to the terminal. */
static void hostile_title(void **state)
{
    char title[] = "a\x1b]0;owned\x07\nb\xff\xc2\x9b\xe2\x80\xae, softmax";
    struct buf out = BUF_INIT(10000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.grids[0].title = title;
    draw(&out, p.grids, 1, (struct term_style){.width = 80});
    assert_memory_equal(buf_str(&out), "a?]0;owned??b???, softmax\n", 26);
    assert_null(strchr(buf_str(&out), '\x1b'));
    buf_release(&out);
}

static void ground(enum term_color color, int64_t hits, const char *escape)
{
    struct buf out = BUF_INIT(100000);
    char want[100];
    struct pair p;

    pair_init(&p);
    p.grids[0].n_lengths = p.grids[0].n_depths = 1;
    p.cells[0][0] = (struct grid_cell){4, hits, (double)hits, 0};
    draw(&out, p.grids, 1, (struct term_style){.color = color, .width = 80});
    snprintf(want, sizeof(want), "   0%% %s %3d \x1b[0m\n", escape, (int)hits * 25);
    if (!strstr(buf_str(&out), want))
        fail_msg("%s is not in\n%s", want, buf_str(&out));
    buf_release(&out);
}

static void color_scale(void **state)
{
    (void)state;
    ground(TERM_TRUECOLOR, 0, "\x1b[48;2;240;73;110m\x1b[38;2;0;0;0m");
    ground(TERM_TRUECOLOR, 1, "\x1b[48;2;238;128;84m\x1b[38;2;0;0;0m");
    ground(TERM_TRUECOLOR, 2, "\x1b[48;2;235;184;57m\x1b[38;2;0;0;0m");
    ground(TERM_TRUECOLOR, 4, "\x1b[48;2;12;215;159m\x1b[38;2;0;0;0m");
    ground(TERM_256, 0, "\x1b[48;5;203m\x1b[38;5;16m");
    ground(TERM_256, 2, "\x1b[48;5;179m\x1b[38;5;16m");
    ground(TERM_256, 4, "\x1b[48;5;43m\x1b[38;5;16m");
}

/* Without its escapes, a coloured map says what the plain one says; no colour leaves its line. */
static void colors_change_no_text(void **state)
{
    struct buf plain = BUF_INIT(100000), colored = BUF_INIT(100000), bare = BUF_INIT(100000);
    struct pair p;

    (void)state;
    pair_init(&p);
    p.cells[0][5] = (struct grid_cell){0, 0, 0, 0};
    draw(&plain, p.grids, 2, (struct term_style){.width = 80});
    draw(&colored, p.grids, 2, (struct term_style){.color = TERM_TRUECOLOR, .width = 80});
    for (const char *s = buf_str(&colored), *on = NULL; *s; s++) {
        if (*s == '\x1b') {
            on = strncmp(s, "\x1b[0m", 4) == 0 ? NULL : s;
            s = strchr(s, 'm');
            continue;
        }
        if (*s == '\n') {
            assert_null(on);
            while (bare.len && bare.data[bare.len - 1] == ' ')
                bare.len--;
        }
        buf_putc(&bare, *s);
    }
    assert_string_equal(buf_str(&bare), buf_str(&plain));
    buf_release(&plain);
    buf_release(&colored);
    buf_release(&bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(counts_and_intervals),
        cmocka_unit_test(stacked_and_continued),
        cmocka_unit_test(never_too_wide),
        cmocka_unit_test(extremes_are_not_rounded),
        cmocka_unit_test(missing_and_uneven),
        cmocka_unit_test(lengths_and_depths_as_text),
        cmocka_unit_test(different_training_lengths),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(hostile_title),
        cmocka_unit_test(color_scale),
        cmocka_unit_test(colors_change_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
