/*
 * A fresh store in a folder of its own, and a few steps most tests of stores take.
 *
 *     #define T(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)
 */
#ifndef NEEDLEGRID_TEST_STORE_FIXTURE_H
#define NEEDLEGRID_TEST_STORE_FIXTURE_H

#include "sample_store.h"
#include "scratch.h"

#include "needlegrid/buf.h"

struct store_fixture {
    struct scratch scratch;
    struct store *store; /* "t.db" in the folder, open for writing; NULL after folder_setup() */
    struct error e;
};

int store_setup(void **state);
/* The folder alone. */
int folder_setup(void **state);
int store_teardown(void **state);

/* The id of sample_run(number), put if it is not there. */
int64_t fixture_run(struct store_fixture *f, int number);
void fixture_put(struct store_fixture *f, int64_t run_id, const struct sample_trial *t);
/* Column `column` of each row of a query, joined by '|', by a connection of its own. */
const char *fixture_query(struct store_fixture *f, const char *sql, int column, struct buf *out);

/* Path of a file in the folder; valid until the next call. */
const char *fixture_path(struct store_fixture *f, const char *name);
/* Opens a file of the folder; fails the test if that fails. */
struct store *fixture_open(struct store_fixture *f, const char *name, enum store_mode mode);
/* Makes a file with sample_run(1) and the first n sample trials. */
void fixture_make(struct store_fixture *f, const char *name, int n_trials);
/* How many trials a store holds; -1 if it cannot be read. */
int count_trials(struct store *s);

#endif
