#include "needlegrid/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N_TASKS = 1000 };

struct counts {
    atomic_int ran[N_TASKS];
    atomic_size_t largest_thread;
};

static void count(void *context, size_t task, size_t thread)
{
    struct counts *c = context;

    atomic_fetch_add(&c->ran[task], 1);
    if (thread > atomic_load(&c->largest_thread))
        atomic_store(&c->largest_thread, thread);
}

static void each_task_runs_once(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        static struct counts c;
        struct threads *t;
        struct error e;
        assert_int_equal(threads_new(&t, n, &e), OK);
        assert_int_equal(threads_count(t), n);
        for (size_t i = 0; i < N_TASKS; i++)
            atomic_store(&c.ran[i], 0);
        atomic_store(&c.largest_thread, 0);
        for (size_t round = 0; round < 100; round++) {
            threads_run(t, N_TASKS, count, &c);
            threads_run(t, round % 3, count, &c); /* none, one, two */
        }
        for (size_t i = 0; i < N_TASKS; i++)
            assert_int_equal(atomic_load(&c.ran[i]), 100 + (i == 0 ? 66 : i == 1 ? 33 : 0));
        assert_true(atomic_load(&c.largest_thread) < n);
        threads_free(t);
    }
}

static void bad_counts_are_refused(void **state)
{
    struct threads *t;
    struct error e;

    (void)state;
    assert_int_equal(threads_new(&t, 0, &e), ERR_USAGE);
    assert_null(t);
    assert_int_equal(threads_new(&t, 257, &e), ERR_USAGE);
    threads_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once),
        cmocka_unit_test(bad_counts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
