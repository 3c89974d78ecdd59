/*
 * Errors: a status returned, and one message for the person.
 *
 * Every function that can fail returns an enum status and takes a `struct error *` last. On
 * failure it fills the message, which names the thing and the way out, in lower case and without
 * a final newline; on success it leaves the error alone. `main` prints the message once.
 *
 *     struct error e;
 *     if (gguf_open(&g, path, &e) != OK)
 *         fprintf(stderr, "needlegrid: %s\n", e.message);
 */
#ifndef NEEDLEGRID_ERROR_H
#define NEEDLEGRID_ERROR_H

#define NG_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#define NG_MUST_USE __attribute__((warn_unused_result))

enum status {
    OK = 0,
    ERR_USAGE,       /* options or configuration; nothing was started */
    ERR_IO,          /* the operating system refused: message carries strerror */
    ERR_FORMAT,      /* a file or an answer is malformed */
    ERR_UNSUPPORTED, /* well formed, but not something this build can do */
    ERR_NOT_FOUND,   /* a key, row or name that does not exist */
    ERR_NOMEM,       /* an allocation failed: message carries the size */
    ERR_LIMIT,       /* a stated limit was passed */
    ERR_INTERRUPTED, /* Ctrl-C */
};

struct error {
    enum status code;
    char message[600];
};

/* Fills `e` and returns `code`, so that a failing line reads `return error_set(e, ERR_IO, ...)`. */
enum status error_set(struct error *e, enum status code, const char *format, ...) NG_PRINTF(3, 4);

/* Puts "prefix: " before the message already in `e` and returns its code. */
enum status error_prefix(struct error *e, const char *format, ...) NG_PRINTF(2, 3);

#endif
