/*
 * A fixed team of threads that runs numbered tasks.
 *
 * The caller works too. Tasks are handed out in order, one at a time, to whichever thread is free;
 * a task must depend on its number alone, so that results do not depend on the team's size.
 *
 *     struct threads *t;
 *     if (threads_new(&t, 2, e) != OK) ...
 *     threads_run(t, n_tiles, multiply_tile, &work);
 *     threads_free(t);
 */
#ifndef NEEDLEGRID_THREADS_H
#define NEEDLEGRID_THREADS_H

#include "needlegrid/error.h"

#include <stddef.h>

enum { THREADS_MAX = 256 };

struct threads;

/* `n` threads in all, the caller's included; 1 <= n <= THREADS_MAX. */
NG_MUST_USE enum status threads_new(struct threads **out, size_t n, struct error *e);
void threads_free(struct threads *t);
size_t threads_count(const struct threads *t);

/* `thread` is 0 .. n-1, for scratch memory. */
typedef void threads_task(void *context, size_t task, size_t thread);

/* Runs tasks 0 .. n_tasks-1 and returns when all are done. Not from within a task. */
void threads_run(struct threads *t, size_t n_tasks, threads_task *task, void *context);

#endif
