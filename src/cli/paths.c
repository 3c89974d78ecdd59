#define _XOPEN_SOURCE 700 /* realpath */
#include "cli_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *path_join(const char *folder, const char *name, struct error *e)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);

    if (!path) {
        error_set(e, ERR_NOMEM, "cannot allocate memory for a path");
        return NULL;
    }
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

/* True if `folder` has a prompts/ in it. */
static bool holds_data(const char *folder)
{
    struct error e;
    char *prompts = path_join(folder, "prompts", &e);
    bool found = prompts && os_is_directory(prompts);

    free(prompts);
    return found;
}

/* folder/place without its dots, for messages; NULL if there is no such folder. */
static char *beside(const char *folder, const char *place)
{
    struct error e;
    char *joined = path_join(folder, place, &e);
    char *path = joined ? realpath(joined, NULL) : NULL;

    free(joined);
    return path;
}

enum status data_folder(const char *given, char **out, struct error *e)
{
    /* installed, in the source tree, in its build/CONFIG/ */
    static const char *const places[] = {"../share/needlegrid", ".", "..", "../.."};
    char *program;

    *out = NULL;
    if (given) {
        if (!holds_data(given))
            return error_set(e, ERR_USAGE, "--data %s: no folder prompts/ in it", given);
        *out = mem_strndup(given, strlen(given), e);
        return *out ? OK : e->code;
    }
    program = os_program_folder();
    for (size_t i = 0; program && !*out && i < sizeof(places) / sizeof(places[0]); i++) {
        *out = beside(program, places[i]);
        if (*out && !holds_data(*out)) {
            free(*out);
            *out = NULL;
        }
    }
    free(program);
    return *out ? OK
                : error_set(
                      e, ERR_USAGE,
                      "cannot find the folder with prompts/ and haystacks/: say --data FOLDER");
}

enum status flush_stdout(struct error *e)
{
    if (fflush(stdout) != 0)
        return error_set(e, ERR_IO, "cannot write to stdout: %s", strerror(errno));
    return OK;
}

enum status write_stdout(struct buf *b, struct error *e)
{
    if (buf_status(b, e) != OK)
        return e->code;
    if (fwrite(buf_str(b), 1, b->len, stdout) != b->len)
        return error_set(e, ERR_IO, "cannot write to stdout: %s", strerror(errno));
    if (flush_stdout(e) != OK)
        return e->code;
    buf_clear(b);
    return OK;
}
