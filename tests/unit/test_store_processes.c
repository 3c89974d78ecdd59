/*
 * Several processes on one file, and sudden death: nothing is lost or doubled.
 */
#include "needlegrid/store.h"

#include "../support/store_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEYS = 2000, OVERLAP = 1000 };

struct writer {
    struct store_fixture *f;
    int from, to; /* the sample trials it writes */
};

/* Runs in a child: no assertions of cmocka here. */
static int write_range(void *context)
{
    struct writer *w = context;
    struct sample_trial t;
    struct sample_run run;
    struct store *s;
    int64_t run_id;

    sample_run(&run, 1);
    if (store_open(&s, fixture_path(w->f, "t.db"), STORE_WRITE, &w->f->e) != OK ||
        store_put_run(s, &run.record, &run_id, &w->f->e) != OK)
        goto failed;
    for (int i = w->from; i < w->to; i++) {
        sample_trial(&t, i);
        if (i % 3 == 0) { /* first an error, then the answer */
            sample_fail(&t);
            if (store_put_trial(s, run_id, &t.record, &w->f->e) != OK)
                goto failed;
            sample_trial(&t, i);
        }
        if (store_put_trial(s, run_id, &t.record, &w->f->e) != OK)
            goto failed;
    }
    store_close(s);
    return 0;
failed:
    fprintf(stderr, "%s\n", w->f->e.message);
    return 1;
}

static void all_there_once(struct store_fixture *f, int n)
{
    struct store *s = fixture_open(f, "t.db", STORE_READ);

    assert_int_equal(count_trials(s), n);
    for (int i = 0; i < n; i++) {
        struct sample_trial t;
        bool done;
        sample_trial(&t, i);
        assert_int_equal(store_has_trial(s, t.key, &done, &f->e), OK);
        assert_true(done);
    }
    store_close(s);
}

/* Both also make the file and the run. */
static void two_writers(void **state)
{
    struct store_fixture *f = *state;
    struct writer first = {f, 0, OVERLAP + (KEYS - OVERLAP) / 2};
    struct writer second = {f, (KEYS - OVERLAP) / 2, KEYS};
    pid_t child = fork();
    int ended = -1;

    if (child == 0)
        _exit(write_range(&first));
    assert_int_equal(in_child(write_range, &second), 0);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    all_there_once(f, KEYS);
}

static void many_make_the_file_at_once(void **state)
{
    struct store_fixture *f = *state;
    struct writer w = {f, 0, 3};

    for (int round = 0; round < 10; round++) {
        pid_t child[4];
        for (int i = 0; i < 4; i++) {
            child[i] = fork();
            if (child[i] == 0)
                _exit(write_range(&w));
        }
        for (int i = 0; i < 4; i++) {
            int ended = -1;
            assert_int_equal(waitpid(child[i], &ended, 0), child[i]);
            assert_int_equal(ended, 0);
        }
        all_there_once(f, 3);
        unlink(fixture_path(f, "t.db"));
    }
}

/* Tells through the pipe how many trials were acknowledged, until it is killed. */
static void write_and_tell(struct store_fixture *f, int fd)
{
    struct sample_trial t;
    struct store *s;

    if (store_open(&s, fixture_path(f, "t.db"), STORE_WRITE, &f->e) != OK)
        _exit(1);
    for (int i = 0;; i++) {
        sample_trial(&t, i);
        if (store_put_trial(s, 1, &t.record, &f->e) != OK || write(fd, "+", 1) != 1)
            _exit(2);
    }
}

static void killed_writer_loses_nothing(void **state)
{
    struct store_fixture *f = *state;
    struct buf check = BUF_INIT(10000);
    int acknowledged = 0, ends[2];
    struct store *s;
    pid_t child;
    ssize_t n;
    char c[64];

    fixture_make(f, "t.db", 0);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0)
        write_and_tell(f, ends[1]);
    close(ends[1]);
    while (acknowledged < 500 && (n = read(ends[0], c, sizeof(c))) > 0)
        acknowledged += (int)n;
    kill(child, SIGKILL);
    while ((n = read(ends[0], c, sizeof(c))) > 0)
        acknowledged += (int)n;
    close(ends[0]);
    waitpid(child, NULL, 0);
    assert_true(acknowledged >= 500);
    s = fixture_open(f, "t.db", STORE_READ);
    assert_in_range(count_trials(s), acknowledged, acknowledged + 1);
    store_close(s);
    assert_string_equal(fixture_query(f, "PRAGMA integrity_check", 0, &check), "ok");
    buf_release(&check);
}

#define T(name) cmocka_unit_test_setup_teardown(name, folder_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(two_writers),
        T(many_make_the_file_at_once),
        T(killed_writer_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
