/*
 * A folder of a test's own, and processes of less rights or short life.
 */
#ifndef NEEDLEGRID_TEST_SCRATCH_H
#define NEEDLEGRID_TEST_SCRATCH_H

#include <stddef.h>

struct scratch {
    char folder[64];
    char path[256]; /* the last one asked for */
};

void scratch_init(struct scratch *s);
/* Removes the folder and the files in it. */
void scratch_release(struct scratch *s);

/* folder/name; valid until the next call. */
const char *scratch_path(struct scratch *s, const char *name);
void scratch_write(struct scratch *s, const char *name, const void *data, size_t n);
/* The number of files in it. */
size_t scratch_count(struct scratch *s);

/* A child process that runs `body` and ends with what it returns; -1 if it died of a signal. */
int in_child(int (*body)(void *context), void *context);
/* The same, as a user that owns nothing (when the tests run as root). */
int in_unprivileged_child(int (*body)(void *context), void *context);

#endif
