/*
 * What the program asks of the operating system: files, clocks, Ctrl-C, the terminal.
 */
#ifndef NEEDLEGRID_OS_H
#define NEEDLEGRID_OS_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file mapped read-only and private. An empty file has data == NULL and size == 0. */
struct os_map {
    const uint8_t *data; /* borrowed until os_map_close() */
    size_t size;         /* bytes */
};

NG_MUST_USE enum status os_map_open(struct os_map *m, const char *path, struct error *e);
void os_map_close(struct os_map *m);
/* Tells the kernel that these bytes, already copied elsewhere, may leave memory. */
void os_map_forget(const struct os_map *m, const void *data, size_t n);

/* Appends the whole file to `b`; a file larger than b->max is an error that says so. */
NG_MUST_USE enum status os_read_file(struct buf *b, const char *path, struct error *e);

/* What tells that a file is still the same: compare with os_stamp_equal(). */
struct os_stamp {
    uint64_t device, inode, size;
    int64_t modified_s, modified_ns;
};

NG_MUST_USE enum status os_stamp_file(struct os_stamp *out, const char *path, struct error *e);
bool os_stamp_equal(const struct os_stamp *a, const struct os_stamp *b);

bool os_is_directory(const char *path);
bool os_exists(const char *path);
/* True if the path ends so: ".jsonl". */
bool os_has_suffix(const char *path, const char *suffix);

/*
 * The names (without path) of the regular files in a folder that end in `suffix` ("" for all) and
 * do not start with a dot, sorted bytewise. Free with os_names_free().
 */
NG_MUST_USE enum status os_list(char ***names, size_t *n, const char *path, const char *suffix,
                                struct error *e);
void os_names_free(char **names, size_t n);

/* The folder of the running program, without a final slash; caller frees; NULL if unknown. */
char *os_program_folder(void);

double os_monotonic_s(void);
/* UTC, ISO 8601, to the second: "2025-01-31T12:00:00Z". */
void os_utc_now(char out[24]);

/*
 * After os_catch_interrupt(), the first SIGINT or SIGTERM makes os_interrupted() true and the
 * second ends the program as usual.
 */
void os_catch_interrupt(void);
bool os_interrupted(void);

/* Bytes of memory that a process can still get, its control group's limit heeded; 0 if unknown. */
uint64_t os_memory_available(void);
int os_cpu_count(void);
/* Columns of the terminal behind `fd`; 0 if it is none. */
int os_terminal_width(int fd);

#endif
