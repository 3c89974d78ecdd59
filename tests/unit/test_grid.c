#include "needlegrid/grid.h"

#include "../support/store_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUN = 1 }; /* the id of the run that all trials are put into */

static int setup(void **state)
{
    int failed = store_setup(state);

    return failed || fixture_run(*state, 1) != RUN ? -1 : 0;
}

enum what { HIT, MISS, HALF, FAILED };

static void put(struct store_fixture *f, int64_t length, double depth, enum what what)
{
    static int number; /* no two trials have the same key */
    struct sample_trial t;

    sample_trial(&t, number++);
    t.record.context_length = length;
    t.record.target_depth = depth;
    if (what != HIT) {
        t.record.outcome = "wrong";
        t.record.score = what == HALF ? 0.5 : 0;
    }
    if (what == FAILED)
        sample_fail(&t);
    fixture_put(f, RUN, &t);
}

static struct grid load(struct store_fixture *f)
{
    struct grid g;

    assert_int_equal(grid_load(&g, f->store, RUN, NULL, &f->e), OK);
    return g;
}

/* Lengths and depths come in any order; not every cell has trials. */
static void axes_and_cells(void **state)
{
    struct store_fixture *f = *state;
    struct grid g;

    put(f, 1024, 100, MISS);
    put(f, 256, 100.0 / 3, HIT);
    put(f, 512, 0, HIT);
    put(f, 512, 0, HALF);
    put(f, 512, 0, FAILED);
    put(f, 256, 100, FAILED);
    g = load(f);
    assert_string_equal(g.title, "run 1: tiny, ssmax");
    assert_true(g.run_id == RUN && g.training_length == 256);
    assert_int_equal(g.n_lengths, 3);
    assert_true(g.lengths[0] == 256 && g.lengths[1] == 512 && g.lengths[2] == 1024);
    assert_int_equal(g.n_depths, 3);
    assert_true(g.depths[0] == 0 && g.depths[1] == 100.0 / 3 && g.depths[2] == 100);
    assert_true(grid_at(&g, 0, 1)->n == 2 && grid_at(&g, 0, 1)->hits == 1);
    assert_true(grid_at(&g, 0, 1)->score == 1.5 && grid_at(&g, 0, 1)->not_counted == 1);
    assert_true(grid_accuracy(grid_at(&g, 0, 1)) == 0.75);
    assert_true(grid_accuracy(grid_at(&g, 1, 0)) == 1);
    assert_true(grid_accuracy(grid_at(&g, 2, 2)) == 0 && grid_at(&g, 2, 2)->n == 1);
    grid_release(&g);
    assert_null(g.cells);
}

static void missing_cells(void **state)
{
    struct store_fixture *f = *state;
    struct grid g;

    put(f, 256, 0, HIT);
    put(f, 512, 100, FAILED);
    g = load(f);
    assert_true(isnan(grid_accuracy(grid_at(&g, 0, 1))));
    assert_true(grid_at(&g, 0, 1)->not_counted == 0);
    assert_true(isnan(grid_accuracy(grid_at(&g, 1, 1))));
    assert_true(grid_at(&g, 1, 1)->not_counted == 1);
    grid_release(&g);
}

static void column_pools_trials(void **state)
{
    struct store_fixture *f = *state;
    struct grid_cell c;
    struct grid g;

    for (int i = 0; i < 3; i++)
        put(f, 256, 0, HIT);
    put(f, 256, 50, MISS);
    put(f, 256, 100, FAILED);
    put(f, 512, 100, HIT);
    g = load(f);
    c = grid_column(&g, 0);
    assert_true(c.n == 4 && c.hits == 3 && c.score == 3 && c.not_counted == 1);
    assert_true(grid_accuracy(&c) == 0.75); /* of trials, not of cells: that would be 0.5 */
    grid_release(&g);
}

static void run_without_trials(void **state)
{
    struct store_fixture *f = *state;
    struct grid g = load(f);

    assert_int_equal(g.n_lengths, 0);
    assert_int_equal(g.n_depths, 0);
    assert_string_equal(g.title, "run 1: tiny, ssmax");
    grid_release(&g);
}

static void unknown_run(void **state)
{
    struct store_fixture *f = *state;
    struct grid g;

    assert_int_equal(grid_load(&g, f->store, 77, NULL, &f->e), ERR_NOT_FOUND);
    assert_string_equal(f->e.message, "no run 77 in this database");
    grid_release(&g); /* harmless after a failure */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(axes_and_cells),     T(missing_cells), T(column_pools_trials),
        T(run_without_trials), T(unknown_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
