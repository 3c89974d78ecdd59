#include "needlegrid/os.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* A fresh folder per test; files in it are removed by their names. */
static char folder[] = "/tmp/test_os_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[300];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(in_folder(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void test_read_file(void **state)
{
    struct buf b = BUF_INIT(8);
    struct error e;

    (void)state;
    put_file("f", "a\0b\n", 4);
    buf_puts(&b, "x:");
    assert_int_equal(os_read_file(&b, in_folder("f"), &e), OK);
    assert_int_equal(b.len, 6);
    assert_memory_equal(b.data, "x:a\0b\n", 7);
    buf_clear(&b);
    put_file("f", "12345678", 8);
    assert_int_equal(os_read_file(&b, in_folder("f"), &e), OK);
    assert_string_equal(buf_str(&b), "12345678");
    buf_clear(&b);
    put_file("f", "123456789", 9);
    assert_int_equal(os_read_file(&b, in_folder("f"), &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, in_folder("f")));
    assert_non_null(strstr(e.message, "8 bytes"));
    buf_clear(&b);
    put_file("f", "", 0);
    assert_int_equal(os_read_file(&b, in_folder("f"), &e), OK);
    assert_int_equal(b.len, 0);
    unlink(in_folder("f"));
    buf_release(&b);
}

static void test_read_file_refusals(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    struct error e;

    (void)state;
    assert_int_equal(os_read_file(&b, in_folder("none"), &e), ERR_IO);
    assert_non_null(strstr(e.message, in_folder("none")));
    assert_non_null(strstr(e.message, "No such file"));
    assert_int_equal(os_read_file(&b, folder, &e), ERR_IO);
    assert_non_null(strstr(e.message, "it is a folder"));
    /* a file without end stops at the limit */
    assert_int_equal(os_read_file(&b, "/dev/zero", &e), ERR_LIMIT);
    buf_release(&b);
}

static void test_map(void **state)
{
    struct os_map m;
    struct error e;

    (void)state;
    put_file("f", "needle", 6);
    assert_int_equal(os_map_open(&m, in_folder("f"), &e), OK);
    assert_int_equal(m.size, 6);
    assert_memory_equal(m.data, "needle", 6);
    os_map_forget(&m, m.data, m.size);
    os_map_forget(&m, m.data + 3, 0);
    assert_memory_equal(m.data, "needle", 6);
    os_map_close(&m);
    assert_null(m.data);
    os_map_close(&m);
    put_file("f", "", 0);
    assert_int_equal(os_map_open(&m, in_folder("f"), &e), OK);
    assert_null(m.data);
    assert_int_equal(m.size, 0);
    os_map_close(&m);
    unlink(in_folder("f"));
}

/* What was forgotten comes back from the file; the pages around stay. */
static void test_map_forget_is_harmless(void **state)
{
    enum { SIZE = 100000 };
    char *text = malloc(SIZE);
    struct os_map m;
    struct error e;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)(i % 251);
    put_file("f", text, SIZE);
    assert_int_equal(os_map_open(&m, in_folder("f"), &e), OK);
    os_map_forget(&m, m.data + 10, 60000);
    os_map_forget(&m, m.data + 90000, 10000);
    assert_memory_equal(m.data, text, SIZE);
    os_map_close(&m);
    unlink(in_folder("f"));
    free(text);
}

static void test_map_refusals(void **state)
{
    struct os_map m;
    struct error e;

    (void)state;
    assert_int_equal(os_map_open(&m, in_folder("none"), &e), ERR_IO);
    assert_non_null(strstr(e.message, in_folder("none")));
    assert_null(m.data);
    assert_int_equal(os_map_open(&m, folder, &e), ERR_IO);
    assert_non_null(strstr(e.message, "not a regular file"));
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(os_map_open(&m, in_folder("pipe"), &e), ERR_IO); /* and does not wait */
    assert_non_null(strstr(e.message, "not a regular file"));
    unlink(in_folder("pipe"));
}

static void test_exists(void **state)
{
    (void)state;
    put_file("f", "", 0);
    assert_true(os_exists(in_folder("f")));
    assert_false(os_is_directory(in_folder("f")));
    unlink(in_folder("f"));
    assert_false(os_exists(in_folder("f")));
    assert_true(os_exists(folder));
    assert_true(os_is_directory(folder));
    assert_false(os_is_directory(in_folder("f")));
}

/* Bytewise order, without hidden files, folders and other suffixes. */
static void test_list(void **state)
{
    static const char *const files[] = {"b.txt", "a.txt",  "B.txt",    "10.txt", "2.txt",
                                        "é.txt", ".h.txt", "a.txt.gz", "txt",    "z.txt"};
    static const char *const want[] = {"10.txt", "2.txt", "B.txt", "a.txt",
                                       "b.txt",  "z.txt", "é.txt"};
    char **names = NULL;
    size_t n = 0;
    struct error e;

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        put_file(files[i], "x", 1);
    assert_int_equal(mkdir(in_folder("folder.txt"), 0700), 0);
    assert_int_equal(symlink("nowhere", in_folder("broken.txt")), 0);
    assert_int_equal(os_list(&names, &n, folder, ".txt", &e), OK);
    assert_int_equal(n, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names[i], want[i]);
    os_names_free(names, n);
    assert_int_equal(os_list(&names, &n, folder, "", &e), OK);
    assert_int_equal(n, 9);
    os_names_free(names, n);
    assert_int_equal(os_list(&names, &n, folder, ".json", &e), OK);
    assert_int_equal(n, 0);
    os_names_free(names, n);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(in_folder(files[i]));
    unlink(in_folder("broken.txt"));
    rmdir(in_folder("folder.txt"));
}

static void test_list_refusals(void **state)
{
    char **names = NULL;
    size_t n = 7;
    struct error e;

    (void)state;
    assert_int_equal(os_list(&names, &n, in_folder("none"), "", &e), ERR_IO);
    assert_non_null(strstr(e.message, in_folder("none")));
    assert_null(names);
    assert_int_equal(n, 0);
    os_names_free(names, n);
}

static void test_program_folder(void **state)
{
    char path[4200];
    char *where = os_program_folder();

    (void)state;
    assert_non_null(where);
    assert_true(where[0] == '/');
    assert_true(where[strlen(where) - 1] != '/');
    snprintf(path, sizeof(path), "%s/test_os", where);
    assert_true(os_exists(path));
    free(where);
}

static void test_clocks(void **state)
{
    double before = os_monotonic_s();
    char now[24];
    int year;
    int tail = 0;

    (void)state;
    assert_true(os_monotonic_s() >= before);
    os_utc_now(now);
    assert_int_equal(strlen(now), 20);
    assert_int_equal(sscanf(now, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d%n", &year, &tail), 1);
    assert_true(year >= 2025);
    assert_int_equal(tail, 19);
    assert_string_equal(now + 19, "Z");
}

static void test_machine(void **state)
{
    int ends[2];

    (void)state;
    assert_true(os_cpu_count() >= 1);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(os_terminal_width(ends[1]), 0);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(os_terminal_width(-1), 0);
    if (os_exists("/proc/meminfo"))
        assert_true(os_memory_available() > 1 << 20);
}

/* In a child: the first signal is noted, the second, of either kind, ends it. */
static void assert_second_signal_ends(int first, int second)
{
    int how;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        os_catch_interrupt();
        if (os_interrupted())
            _exit(10);
        raise(first);
        if (!os_interrupted())
            _exit(11);
        raise(second);
        _exit(12);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(WTERMSIG(how), second);
}

static void test_interrupts(void **state)
{
    (void)state;
    assert_false(os_interrupted());
    assert_second_signal_ends(SIGINT, SIGINT);
    assert_second_signal_ends(SIGTERM, SIGTERM);
    assert_second_signal_ends(SIGINT, SIGTERM);
    assert_second_signal_ends(SIGTERM, SIGINT);
    assert_false(os_interrupted());
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static void test_suffix(void **state)
{
    (void)state;
    assert_true(os_has_suffix("a.jsonl", ".jsonl"));
    assert_true(os_has_suffix(".jsonl", ".jsonl"));
    assert_false(os_has_suffix("a.jsonl.d/b.txt", ".jsonl"));
    assert_false(os_has_suffix("l", ".jsonl"));
    assert_true(os_has_suffix("a", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suffix),
        IN_FOLDER(test_read_file),
        IN_FOLDER(test_read_file_refusals),
        IN_FOLDER(test_map),
        IN_FOLDER(test_map_forget_is_harmless),
        IN_FOLDER(test_map_refusals),
        IN_FOLDER(test_exists),
        IN_FOLDER(test_list),
        IN_FOLDER(test_list_refusals),
        cmocka_unit_test(test_program_folder),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_interrupts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
