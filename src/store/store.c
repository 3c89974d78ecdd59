/*
 * Opening, identity and migration of the file; errors.
 *
 * Durability: WAL with synchronous=NORMAL. A committed trial survives the end of the process by
 * any signal, since its pages are with the kernel by then. A power failure may take the last
 * trials (they are run again) but never damages the file. FULL would add an fsync per trial.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "store_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BUSY_MS = 30000, /* how long to wait for another process's lock */
    BUSY_STEP_MS = 10,
    PATH_BYTES = 1 << 16, /* of a path as a URI, at most */
};

static enum status system_error(struct store *s, int rc, struct error *e)
{
    int number = sqlite3_system_errno(s->db); /* 0 where SQLite did not keep it */

    /* SQLITE_FULL is ENOSPC alone: EDQUOT and EFBIG arrive as this. */
    if (rc == SQLITE_IOERR_WRITE && !number)
        return error_set(e, ERR_IO,
                         "cannot write %s: quota or file-size limit reached, or the disk failed; "
                         "the trials so far are kept",
                         s->path);
    return error_set(e, ERR_IO, "cannot read or write %s: %s", s->path,
                     number ? strerror(number) : sqlite3_errstr(rc));
}

enum status store_error(struct store *s, int rc, struct error *e)
{
    switch (rc & 0xff) { /* the extended codes refine the lowest byte */
    case SQLITE_NOTADB:
        return error_set(e, ERR_FORMAT, "%s is no needlegrid database: not an SQLite file",
                         s->path);
    case SQLITE_CORRUPT:
        return error_set(e, ERR_FORMAT,
                         "%s is damaged (%s); `sqlite3 %s .recover` prints what is left of it",
                         s->path, sqlite3_errmsg(s->db), s->path);
    case SQLITE_FULL:
        return error_set(e, ERR_IO,
                         "cannot write %s: disk full; the trials so far are kept: free some space "
                         "and start again",
                         s->path);
    case SQLITE_READONLY:
        return error_set(e, ERR_IO, "cannot write %s: it is read-only", s->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(e, ERR_IO,
                         "%s is locked: another process has been writing to it for over %d s",
                         s->path, BUSY_MS / 1000);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
        return system_error(s, rc, e);
    case SQLITE_NOMEM:
        return error_set(e, ERR_NOMEM, "cannot allocate memory for %s", s->path);
    case SQLITE_TOOBIG:
        return error_set(e, ERR_LIMIT, "a text is too long for %s", s->path);
    case SQLITE_CONSTRAINT:
        return error_set(e, ERR_FORMAT, "%s refuses the row: %s", s->path, sqlite3_errmsg(s->db));
    default:
        return error_set(e, ERR_FORMAT, "%s: %s", s->path, sqlite3_errmsg(s->db));
    }
}

enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql, struct error *e)
{
    int rc = sqlite3_prepare_v2(s->db, sql, -1, out, NULL);

    return rc == SQLITE_OK ? OK : store_error(s, rc, e);
}

enum status store_execute(struct store *s, const char *sql, struct error *e)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? OK : store_error(s, rc, e);
}

enum status store_end(struct store *s, enum status status, struct error *e)
{
    if (status == OK)
        status = store_execute(s, "COMMIT", e);
    if (status != OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* The first column of the first row. */
static enum status query_int(struct store *s, const char *sql, int64_t *out, struct error *e)
{
    enum status status = OK;
    sqlite3_stmt *stmt;
    int rc;

    *out = 0;
    if ((status = store_prepare(s, &stmt, sql, e)) != OK)
        return status;
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    else
        status = store_error(s, rc, e);
    sqlite3_finalize(stmt);
    return status;
}

/*
 * Whose file it is and of which version. `empty` is a file without content, which may become ours.
 * Within a transaction, so that all is of one state: another process may be making the schema.
 */
static enum status identify(struct store *s, int64_t *version, bool *empty, struct error *e)
{
    int64_t id, objects;
    enum status status;

    if ((status = query_int(s, "SELECT count(*) FROM sqlite_schema", &objects, e)) != OK ||
        (status = query_int(s, "PRAGMA application_id", &id, e)) != OK ||
        (status = query_int(s, "PRAGMA user_version", version, e)) != OK)
        return status;
    *empty = objects == 0 && id == 0 && *version == 0;
    if (id != STORE_APPLICATION_ID && !*empty)
        return error_set(e, ERR_FORMAT,
                         "%s is no needlegrid database: an SQLite file of another program",
                         s->path);
    if (*version < 0)
        return error_set(e, ERR_FORMAT, "%s is damaged: it has schema %lld", s->path,
                         (long long)*version);
    if (*version > STORE_VERSION)
        return error_set(e, ERR_UNSUPPORTED,
                         "%s has schema %lld, this program knows up to %d: use a newer needlegrid",
                         s->path, (long long)*version, STORE_VERSION);
    return OK;
}

static enum status identify_now(struct store *s, int64_t *version, bool *empty, struct error *e)
{
    enum status status = store_execute(s, "BEGIN", e);

    if (status != OK)
        return status;
    status = identify(s, version, empty, e);
    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    return status;
}

static enum status run_steps(struct store *s, int64_t version, struct error *e)
{
    enum status status = OK;
    char sql[96];

    for (int64_t v = version; v < STORE_VERSION; v++) {
        for (const char *const *statement = store_steps[v]; *statement; statement++) {
            if ((status = store_execute(s, *statement, e)) != OK)
                return status;
        }
    }
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION_ID, STORE_VERSION);
    return store_execute(s, sql, e);
}

/* All steps in one transaction; asks again under the lock, for another process may have been. */
static enum status migrate(struct store *s, struct error *e)
{
    enum status status = store_execute(s, "BEGIN IMMEDIATE", e);
    int64_t version;
    bool empty;

    if (status != OK)
        return status;
    if ((status = identify(s, &version, &empty, e)) == OK)
        status = run_steps(s, version, e);
    return store_end(s, status, e);
}

/*
 * WAL is a property of the file, set once. Two processes that set it at the same time would block
 * each other, so SQLite fails at once instead of waiting; hence the loop.
 */
static enum status set_wal(struct store *s, struct error *e)
{
    const struct timespec pause = {0, BUSY_STEP_MS * 1000000L};
    int rc = SQLITE_BUSY;

    for (int waited = 0; waited <= BUSY_MS; waited += BUSY_STEP_MS) {
        rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((rc & 0xff) != SQLITE_BUSY)
            break;
        nanosleep(&pause, NULL);
    }
    return rc == SQLITE_OK ? OK : store_error(s, rc, e);
}

/*
 * The path as a URI, so that no name has a meaning of its own (":memory:", "file:x"). `immutable`
 * reads without locks and without the files beside it.
 */
static void put_uri(struct buf *out, const char *path, bool immutable)
{
    buf_puts(out, path[0] == '/' ? "file://" : "file:./");
    for (const char *p = path; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("/._-", c);
        buf_printf(out, plain ? "%c" : "%%%02X", c);
    }
    if (immutable)
        buf_puts(out, "?immutable=1");
}

static enum status open_file(struct store *s, int flags, bool immutable, struct error *e)
{
    struct buf uri = BUF_INIT(PATH_BYTES);
    enum status status;
    int rc;

    put_uri(&uri, s->path, immutable);
    if ((status = buf_status(&uri, e)) == OK) {
        rc = sqlite3_open_v2(buf_str(&uri), &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE,
                             NULL);
        if (rc != SQLITE_OK)
            status = store_error(s, rc, e);
    }
    buf_release(&uri);
    if (status != OK)
        return status;
    sqlite3_busy_timeout(s->db, BUSY_MS);
    /* The file may come from anybody: what its views call must be harmless. */
    return store_execute(s, "PRAGMA trusted_schema = OFF", e);
}

/* The folder that holds `path`; caller frees. */
static char *folder_of(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_strndup(".", 1, e);
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path), e);
}

/* Says what SQLite would only call "unable to open database file". */
static enum status check_writable(const char *path, struct error *e)
{
    char *folder = folder_of(path, e);
    enum status status = OK;

    if (!folder)
        return e->code;
    if (os_is_directory(path))
        status = error_set(e, ERR_IO, "%s is a folder, not a database", path);
    else if (os_exists(path) && access(path, W_OK) != 0)
        status = error_set(e, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    else if (!os_is_directory(folder))
        status = error_set(e, ERR_IO, "cannot make %s: no such folder: %s", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        status = error_set(e, ERR_IO, "cannot write %s: no files can be made in the folder %s: %s",
                           path, folder, strerror(errno));
    free(folder);
    return status;
}

static enum status open_write(struct store *s, struct error *e)
{
    enum status status = check_writable(s->path, e);
    int64_t version;
    bool empty;

    if (status != OK ||
        (status = open_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false, e)) != OK ||
        (status = identify_now(s, &version, &empty, e)) != OK)
        return status;
    if ((status = set_wal(s, e)) != OK ||
        (status = store_execute(s, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", e)) !=
            OK)
        return status;
    if (version < STORE_VERSION && (status = migrate(s, e)) != OK)
        return status;
    return os_stamp_file(&s->stamp, s->path, e);
}

enum status store_check_in_place(struct store *s, struct error *e)
{
    struct os_stamp now;

    if (s->stamp.inode == 0) /* opened for reading: the write itself will fail */
        return OK;
    if (os_stamp_file(&now, s->path, e) == OK && now.device == s->stamp.device &&
        now.inode == s->stamp.inode)
        return OK;
    return error_set(e, ERR_IO,
                     "%s was moved, replaced or deleted while in use: what was stored since is not "
                     "in it",
                     s->path);
}

/*
 * True if the file must be read as it is: no -wal with content, and SQLite could not make one (or
 * could not remove it, the file being read-only). `path` is free of symbolic links.
 */
static enum status must_be_immutable(const char *path, bool *out, struct error *e)
{
    struct buf wal = BUF_INIT(PATH_BYTES);
    char *folder = folder_of(path, e);
    enum status status;
    struct stat st;

    if (!folder)
        return e->code;
    buf_printf(&wal, "%s-wal", path);
    status = buf_status(&wal, e);
    *out = !(status == OK && stat(buf_str(&wal), &st) == 0 && st.st_size > 0) &&
           (access(path, W_OK) != 0 || access(folder, W_OK | X_OK) != 0);
    buf_release(&wal);
    free(folder);
    return status;
}

/*
 * A reader in WAL mode needs the -wal and -shm files beside the database. Opened for writing but
 * held to queries, it removes them when it is the last to close; opened read-only, it would leave
 * them behind.
 */
static enum status open_read(struct store *s, struct error *e)
{
    bool immutable = false, empty;
    enum status status;
    int64_t version;
    char *real;

    if (os_is_directory(s->path))
        return error_set(e, ERR_IO, "%s is a folder, not a database", s->path);
    real = realpath(s->path, NULL);
    if (!real && errno == ENOENT)
        return error_set(e, ERR_NOT_FOUND,
                         "no such database: %s; `needlegrid run --db %s` makes one", s->path,
                         s->path);
    if (!real)
        return error_set(e, ERR_IO, "cannot open %s: %s", s->path, strerror(errno));
    status = must_be_immutable(real, &immutable, e);
    free(real);
    if (status != OK ||
        (status = open_file(s, immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, immutable,
                            e)) != OK ||
        (status = store_execute(s, "PRAGMA query_only = ON", e)) != OK ||
        (status = identify_now(s, &version, &empty, e)) != OK)
        return status;
    if (version < STORE_VERSION)
        return error_set(e, ERR_UNSUPPORTED, "%s %s; `needlegrid run --db %s` brings it up to date",
                         s->path, empty ? "is empty" : "has an older schema", s->path);
    return OK;
}

enum status store_open(struct store **out, const char *path, enum store_mode mode, struct error *e)
{
    struct store *s = calloc(1, sizeof(*s));
    enum status status;

    *out = NULL;
    if (!s || !(s->path = mem_strndup(path, strlen(path), e))) {
        free(s);
        return error_set(e, ERR_NOMEM, "cannot allocate memory for %s", path);
    }
    status = mode == STORE_WRITE ? open_write(s, e) : open_read(s, e);
    if (status != OK) {
        store_close(s);
        return status;
    }
    *out = s;
    return OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->has_trial);
    sqlite3_finalize(s->put_trial);
    sqlite3_finalize(s->put_attention);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}
