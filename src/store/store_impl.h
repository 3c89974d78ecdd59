/*
 * Shared by the files of the store.
 */
#ifndef NEEDLEGRID_STORE_IMPL_H
#define NEEDLEGRID_STORE_IMPL_H

#include "needlegrid/store.h"

#include <sqlite3.h>

enum {
    STORE_APPLICATION_ID = 0x4E475244, /* "NGRD" */
    STORE_VERSION = 1,                 /* user_version of the newest schema */
};

struct store {
    sqlite3 *db;
    char *path;              /* as the user gave it */
    sqlite3_stmt *has_trial; /* prepared at first use */
    sqlite3_stmt *put_trial;
};

/* store_steps[v]: the statements, NULL at the end, that bring a file from version v to v + 1. */
extern const char *const *const store_steps[STORE_VERSION];

/* The error of a failed SQLite call: names the file, the cause and the way out. */
enum status store_error(struct store *s, int rc, struct error *e);

NG_MUST_USE enum status store_prepare(struct store *s, sqlite3_stmt **out, const char *sql,
                                      struct error *e);

#endif
