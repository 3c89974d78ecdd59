#include "needlegrid/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

enum {
    SPINS = 2000, /* about 50 us: longer than the serial code between two calls of a prefill */
};

struct worker {
    struct threads *team;
    pthread_t thread;
    size_t number; /* 1 .. n-1 */
};

struct threads {
    size_t n;               /* threads, the caller's included */
    struct worker *workers; /* [n - 1] */
    size_t n_started;

    threads_task *task;
    void *context;
    size_t n_tasks;

    atomic_size_t next;    /* the next task to hand out */
    atomic_size_t working; /* workers that have not finished this round */
    atomic_uint round;     /* grows by one per threads_run() */
    atomic_bool stop;

    pthread_mutex_t lock;
    pthread_cond_t start; /* round grew or stop was set */
    pthread_cond_t done;  /* working fell to 0 */
};

static void work(struct threads *t, size_t number)
{
    size_t i;

    while ((i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->n_tasks)
        t->task(t->context, i, number);
}

/* Waits until the round is no longer `seen`: spinning first, then asleep. */
static void await_round(struct threads *t, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->round, memory_order_acquire) != seen)
            return;
        PAUSE();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->round) == seen)
        pthread_cond_wait(&t->start, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    struct threads *t = w->team;
    unsigned seen = 0;

    for (;;) {
        await_round(t, seen);
        seen++;
        if (atomic_load(&t->stop))
            return NULL;
        work(t, w->number);
        if (atomic_fetch_sub_explicit(&t->working, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_signal(&t->done);
            pthread_mutex_unlock(&t->lock);
        }
    }
}

static void next_round(struct threads *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add_explicit(&t->round, 1, memory_order_release);
    pthread_cond_broadcast(&t->start);
    pthread_mutex_unlock(&t->lock);
}

static void await_workers(struct threads *t)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&t->working, memory_order_acquire) == 0)
            return;
        PAUSE();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->working) != 0)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void threads_run(struct threads *t, size_t n_tasks, threads_task *task, void *context)
{
    t->task = task;
    t->context = context;
    t->n_tasks = n_tasks;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    if (t->n == 1 || n_tasks <= 1) {
        work(t, 0);
        return;
    }
    atomic_store_explicit(&t->working, t->n - 1, memory_order_relaxed);
    next_round(t);
    work(t, 0);
    await_workers(t);
}

enum status threads_new(struct threads **out, size_t n, struct error *e)
{
    struct threads *t;

    *out = NULL;
    if (n < 1 || n > THREADS_MAX)
        return error_set(e, ERR_USAGE, "%zu threads: must be 1 to %d", n, THREADS_MAX);
    t = calloc(1, sizeof(*t));
    if (!t || (n > 1 && !(t->workers = calloc(n - 1, sizeof(*t->workers))))) {
        free(t);
        return error_set(e, ERR_NOMEM, "cannot allocate %zu threads", n);
    }
    t->n = n;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->start, NULL);
    pthread_cond_init(&t->done, NULL);
    for (size_t i = 0; i + 1 < n; i++) {
        struct worker *w = &t->workers[i];
        w->team = t;
        w->number = i + 1;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            threads_free(t);
            return error_set(e, ERR_NOMEM, "cannot start thread %zu of %zu", i + 2, n);
        }
        t->n_started++;
    }
    *out = t;
    return OK;
}

void threads_free(struct threads *t)
{
    if (!t)
        return;
    atomic_store(&t->stop, true);
    next_round(t);
    for (size_t i = 0; i < t->n_started; i++)
        pthread_join(t->workers[i].thread, NULL);
    pthread_cond_destroy(&t->done);
    pthread_cond_destroy(&t->start);
    pthread_mutex_destroy(&t->lock);
    free(t->workers);
    free(t);
}

size_t threads_count(const struct threads *t)
{
    return t->n;
}
