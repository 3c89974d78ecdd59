/*
 * The store against files, folders and disks that do not behave: each refusal names the file and
 * the way out.
 */
#include "needlegrid/store_read.h"

#include "../../src/store/store_impl.h"
#include "../support/store_fixture.h"

#include "needlegrid/buf.h"
#include "needlegrid/os.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Opening must fail with this status and all of these words; and name the path. */
static void refused(struct store_fixture *f, const char *path, enum store_mode mode,
                    enum status want, const char *words)
{
    struct store *s = (struct store *)f;

    assert_int_equal(store_open(&s, path, mode, &f->e), want);
    assert_null(s);
    assert_int_equal(f->e.code, want);
    assert_non_null(strstr(f->e.message, path));
    if (!strstr(f->e.message, words))
        fail_msg("\"%s\" is not in \"%s\"", words, f->e.message);
}

static void execute(struct store_fixture *f, const char *name, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(fixture_path(f, name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* ---- files that are not ours ---- */

static void missing_file(void **state)
{
    struct store_fixture *f = *state;
    char want[300];

    snprintf(want, sizeof(want), "no such database: %s; `needlegrid run --db %s` makes one",
             fixture_path(f, "no.db"), fixture_path(f, "no.db"));
    refused(f, fixture_path(f, "no.db"), STORE_READ, ERR_NOT_FOUND, want);
    assert_int_equal(scratch_count(&f->scratch), 0);
}

static void folder_instead_of_file(void **state)
{
    struct store_fixture *f = *state;

    refused(f, f->scratch.folder, STORE_READ, ERR_IO, "is a folder");
    refused(f, f->scratch.folder, STORE_WRITE, ERR_IO, "is a folder");
    refused(f, "", STORE_READ, ERR_NOT_FOUND, "no such database");
}

static void missing_folder(void **state)
{
    struct store_fixture *f = *state;

    refused(f, fixture_path(f, "results/a.db"), STORE_WRITE, ERR_IO,
            "no such folder: /tmp/needlegrid-");
    refused(f, fixture_path(f, "results/a.db"), STORE_READ, ERR_NOT_FOUND, "no such database");
}

static void not_sqlite(void **state)
{
    struct store_fixture *f = *state;
    char zeros[8192] = {0};

    scratch_write(&f->scratch, "short", "hello\n", 6);
    refused(f, fixture_path(f, "short"), STORE_READ, ERR_FORMAT, "not an SQLite file");
    refused(f, fixture_path(f, "short"), STORE_WRITE, ERR_FORMAT, "not an SQLite file");
    scratch_write(&f->scratch, "zeros", zeros, sizeof(zeros));
    refused(f, fixture_path(f, "zeros"), STORE_READ, ERR_FORMAT, "not an SQLite file");
    memcpy(zeros, "SQLite format 3", 16);
    scratch_write(&f->scratch, "zeros", zeros, sizeof(zeros));
    refused(f, fixture_path(f, "zeros"), STORE_WRITE, ERR_FORMAT, "not an SQLite file");
}

static void empty_file(void **state)
{
    struct store_fixture *f = *state;

    scratch_write(&f->scratch, "a.db", "", 0);
    refused(f, fixture_path(f, "a.db"), STORE_READ, ERR_UNSUPPORTED,
            "is empty; `needlegrid run --db");
    store_close(fixture_open(f, "a.db", STORE_WRITE));
    store_close(fixture_open(f, "a.db", STORE_READ));
}

static void another_program(void **state)
{
    struct store_fixture *f = *state;

    execute(f, "a.db", "CREATE TABLE photos (id)");
    refused(f, fixture_path(f, "a.db"), STORE_READ, ERR_FORMAT, "of another program");
    refused(f, fixture_path(f, "a.db"), STORE_WRITE, ERR_FORMAT, "of another program");
    execute(f, "b.db", "PRAGMA application_id = 1196444487"); /* a GeoPackage */
    refused(f, fixture_path(f, "b.db"), STORE_WRITE, ERR_FORMAT, "of another program");
    execute(f, "c.db", "PRAGMA user_version = 3");
    refused(f, fixture_path(f, "c.db"), STORE_WRITE, ERR_FORMAT, "of another program");
}

static void newer_version(void **state)
{
    struct store_fixture *f = *state;
    char want[100];

    snprintf(want, sizeof(want), "has schema 7, this program knows up to %d: use a newer",
             STORE_VERSION);
    fixture_make(f, "a.db", 0);
    execute(f, "a.db", "PRAGMA user_version = 7");
    refused(f, fixture_path(f, "a.db"), STORE_READ, ERR_UNSUPPORTED, want);
    refused(f, fixture_path(f, "a.db"), STORE_WRITE, ERR_UNSUPPORTED, want);
}

static void older_version(void **state)
{
    struct store_fixture *f = *state;

    execute(f, "a.db", "PRAGMA application_id = 1313296964; PRAGMA user_version = 0");
    refused(f, fixture_path(f, "a.db"), STORE_READ, ERR_UNSUPPORTED, "has an older schema");
    store_close(fixture_open(f, "a.db", STORE_WRITE));
    store_close(fixture_open(f, "a.db", STORE_READ));
}

static int check_identity(void *context, int n, char **values, char **names)
{
    (void)context;
    (void)names;
    assert_int_equal(n, 3);
    assert_int_equal(strtol(values[0], NULL, 10), 0x4E475244);
    assert_string_equal(values[1], "1");
    assert_string_equal(values[2], "wal");
    return 0;
}

static void marks_its_files(void **state)
{
    struct store_fixture *f = *state;
    sqlite3 *db;

    fixture_make(f, "a.db", 0);
    assert_int_equal(sqlite3_open(fixture_path(f, "a.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "SELECT application_id, user_version, journal_mode FROM "
                                  "pragma_application_id, pragma_user_version, "
                                  "pragma_journal_mode",
                                  check_identity, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

/* Names that SQLite would give a meaning of their own. */
static void any_name_is_a_file(void **state)
{
    static const char *const names[] = {":memory:", "file:x?mode=memory", "100%25 #1?a=b.db",
                                        "\xe6\x9d\xb1.db"};
    struct store_fixture *f = *state;
    char before[4096];
    struct store *s;

    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(f->scratch.folder), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(store_open(&s, names[i], STORE_WRITE, &f->e), OK);
        store_close(s);
        assert_int_equal(access(names[i], F_OK), 0);
        assert_int_equal(store_open(&s, names[i], STORE_READ, &f->e), OK);
        store_close(s);
        assert_int_equal(scratch_count(&f->scratch), i + 1);
    }
    assert_int_equal(chdir(before), 0);
}

static enum status ignore_trial(void *context, const struct trial_row *row, struct error *e)
{
    (void)context;
    (void)row;
    (void)e;
    return OK;
}

static void damaged_page(void **state)
{
    struct store_fixture *f = *state;
    struct buf file = BUF_INIT(1 << 24);
    const struct trial_filter all = {.run_id = 0};
    struct store *s;

    fixture_make(f, "a.db", 100);
    assert_int_equal(os_read_file(&file, fixture_path(f, "a.db"), &f->e), OK);
    assert_true(file.len > 10 * 4096);
    memset(file.data + file.len / 2, 0xa5, file.len / 2); /* the schema stays whole */
    scratch_write(&f->scratch, "a.db", file.data, file.len);
    buf_release(&file);
    s = fixture_open(f, "a.db", STORE_READ);
    assert_int_equal(store_each_trial(s, &all, ignore_trial, NULL, &f->e), ERR_FORMAT);
    assert_non_null(strstr(f->e.message, "a.db is damaged (database disk image is malformed)"));
    store_close(s);
}

/* Opens every file that is cut short; it may fail, and does so with a message. */
static void cut_short(void **state)
{
    struct store_fixture *f = *state;
    struct buf file = BUF_INIT(1 << 24);
    struct store *s;

    fixture_make(f, "a.db", 20);
    assert_int_equal(os_read_file(&file, fixture_path(f, "a.db"), &f->e), OK);
    for (size_t n = 1; n < file.len; n += n < 200 ? 9 : 2048) {
        scratch_write(&f->scratch, "b.db", file.data, n);
        if (store_open(&s, fixture_path(f, "b.db"), STORE_READ, &f->e) == OK) {
            assert_true(count_trials(s) < 20);
            store_close(s);
        } else {
            assert_non_null(strstr(f->e.message, "b.db"));
        }
    }
    buf_release(&file);
}

/* ---- rights ---- */

static int write_refused(void *context)
{
    struct store_fixture *f = context;
    struct store *s;

    if (store_open(&s, fixture_path(f, "a.db"), STORE_WRITE, &f->e) != ERR_IO)
        return 1;
    if (!strstr(f->e.message, "cannot write") || !strstr(f->e.message, "a.db") ||
        !strstr(f->e.message, "ermission denied"))
        return 2;
    return 0;
}

static void read_only_file(void **state)
{
    struct store_fixture *f = *state;

    fixture_make(f, "a.db", 3);
    chmod(fixture_path(f, "a.db"), 0444);
    chmod(f->scratch.folder, 0777);
    assert_int_equal(in_unprivileged_child(write_refused, f), 0);
}

static void read_only_folder_for_writing(void **state)
{
    struct store_fixture *f = *state;

    chmod(f->scratch.folder, 0555);
    assert_int_equal(in_unprivileged_child(write_refused, f), 0); /* no file yet */
    chmod(f->scratch.folder, 0755);
    fixture_make(f, "a.db", 3);
    chmod(fixture_path(f, "a.db"), 0666);
    chmod(f->scratch.folder, 0555);
    assert_int_equal(in_unprivileged_child(write_refused, f), 0);
}

static int reads_three(void *context)
{
    struct store_fixture *f = context;
    struct store *s;
    int n;

    if (store_open(&s, fixture_path(f, "a.db"), STORE_READ, &f->e) != OK)
        return 1;
    n = count_trials(s);
    store_close(s);
    return n == 3 ? 0 : 2;
}

static void reading_leaves_no_trace(void **state)
{
    static const struct {
        mode_t file, folder;
    } rights[] = {{0666, 0777}, {0444, 0777}, {0666, 0555}, {0444, 0555}};
    struct store_fixture *f = *state;

    fixture_make(f, "a.db", 3);
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        chmod(fixture_path(f, "a.db"), rights[i].file);
        chmod(f->scratch.folder, rights[i].folder);
        assert_int_equal(in_unprivileged_child(reads_three, f), 0);
        assert_int_equal(scratch_count(&f->scratch), 1);
    }
}

static void reads_through_a_link(void **state)
{
    struct store_fixture *f = *state;
    char target[256];

    fixture_make(f, "real.db", 3);
    snprintf(target, sizeof(target), "%s", fixture_path(f, "real.db"));
    assert_int_equal(symlink(target, fixture_path(f, "a.db")), 0);
    assert_int_equal(reads_three(f), 0);
}

/* SQLite would write on into a file that nobody finds again. */
static void deleted_while_in_use(void **state)
{
    struct store_fixture *f = *state;
    struct sample_trial t;
    struct store *s;

    fixture_make(f, "a.db", 3);
    s = fixture_open(f, "a.db", STORE_WRITE);
    sample_trial(&t, 3);
    assert_int_equal(unlink(fixture_path(f, "a.db")), 0);
    assert_int_equal(store_put_trial(s, 1, &t.record, &f->e), ERR_IO);
    assert_non_null(strstr(f->e.message, "deleted while in use"));
    store_close(s);
}

static void reader_sees_what_a_writer_commits(void **state)
{
    struct store_fixture *f = *state;
    struct store *writer, *reader;
    struct sample_trial t;

    fixture_make(f, "a.db", 3);
    writer = fixture_open(f, "a.db", STORE_WRITE);
    reader = fixture_open(f, "a.db", STORE_READ);
    sample_trial(&t, 3);
    assert_int_equal(store_put_trial(writer, 1, &t.record, &f->e), OK);
    assert_int_equal(count_trials(reader), 4);
    assert_int_equal(store_put_trial(reader, 1, &t.record, &f->e), ERR_IO);
    assert_non_null(strstr(f->e.message, "read-only"));
    store_close(writer);
    assert_int_equal(count_trials(reader), 4);
    store_close(reader);
    assert_int_equal(scratch_count(&f->scratch), 1);
}

/* ---- disk full ---- */

static void full_by_page_count(void **state)
{
    struct store_fixture *f = *state;
    struct store *s;
    struct sample_trial t;
    int stored = 0;
    enum status status;

    fixture_make(f, "a.db", 0);
    s = fixture_open(f, "a.db", STORE_WRITE);
    assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 20", NULL, NULL, NULL),
                     SQLITE_OK);
    do {
        sample_trial(&t, stored);
        status = store_put_trial(s, 1, &t.record, &f->e);
    } while (status == OK && ++stored < 1000);
    assert_int_equal(status, ERR_IO);
    assert_non_null(strstr(f->e.message, "a.db: disk full; the trials so far are kept"));
    assert_int_equal(count_trials(s), stored);
    assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 1000", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(store_put_trial(s, 1, &t.record, &f->e), OK);
    assert_int_equal(count_trials(s), stored + 1);
    store_close(s);
}

/* Writes until the file-size limit stops it; 0 if the message is right and nothing was lost. */
static int write_until_refused(void *context)
{
    const struct rlimit limit = {200000, 200000};
    struct store_fixture *f = context;
    struct sample_trial t;
    struct store *s;
    int stored = 0, found;

    signal(SIGXFSZ, SIG_IGN);
    if (store_open(&s, fixture_path(f, "a.db"), STORE_WRITE, &f->e) != OK ||
        setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    for (; stored < 1000; stored++) {
        sample_trial(&t, stored);
        if (store_put_trial(s, 1, &t.record, &f->e) != OK)
            break;
    }
    found = count_trials(s);
    store_close(s);
    if (stored == 1000 || f->e.code != ERR_IO ||
        !strstr(f->e.message, "a.db: quota or file-size limit"))
        return 2;
    return found == stored ? 0 : 3;
}

static void full_by_file_size(void **state)
{
    struct store_fixture *f = *state;
    struct store *s;

    fixture_make(f, "a.db", 0);
    assert_int_equal(in_child(write_until_refused, f), 0);
    s = fixture_open(f, "a.db", STORE_WRITE);
    assert_true(count_trials(s) > 10);
    fixture_make(f, "a.db", 300);
    assert_int_equal(count_trials(s), 300);
    store_close(s);
}

#define T(name) cmocka_unit_test_setup_teardown(name, folder_setup, store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(missing_file),
        T(folder_instead_of_file),
        T(missing_folder),
        T(not_sqlite),
        T(empty_file),
        T(another_program),
        T(newer_version),
        T(older_version),
        T(marks_its_files),
        T(any_name_is_a_file),
        T(damaged_page),
        T(cut_short),
        T(read_only_file),
        T(read_only_folder_for_writing),
        T(reading_leaves_no_trace),
        T(reads_through_a_link),
        T(deleted_while_in_use),
        T(reader_sees_what_a_writer_commits),
        T(full_by_page_count),
        T(full_by_file_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
