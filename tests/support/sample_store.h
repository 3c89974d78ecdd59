/*
 * Runs and trials to fill a store with.
 */
#ifndef NEEDLEGRID_TEST_SAMPLE_STORE_H
#define NEEDLEGRID_TEST_SAMPLE_STORE_H

#include "needlegrid/hash.h"
#include "needlegrid/store.h"

struct sample_run {
    struct run_record record;
    char key[HASH_HEX_SIZE];
};

struct sample_trial {
    struct trial_record record;
    char key[HASH_HEX_SIZE];
    char pair[HASH_HEX_SIZE];
};

/* The key depends on `number` alone; every field is set. */
void sample_run(struct sample_run *r, int number);
/* A hit; the key depends on `number` alone. */
void sample_trial(struct sample_trial *t, int number);
/* Makes it one that is not counted. */
void sample_fail(struct sample_trial *t);

#endif
