#define _DEFAULT_SOURCE /* setgroups */
#include "scratch.h"

#include "needlegrid/os.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

void scratch_init(struct scratch *s)
{
    snprintf(s->folder, sizeof(s->folder), "/tmp/needlegrid-test-XXXXXX");
    if (!mkdtemp(s->folder)) {
        perror(s->folder);
        abort();
    }
    chmod(s->folder, 0755); /* for the unprivileged child */
}

void scratch_release(struct scratch *s)
{
    struct error e;
    char **names;
    size_t n;

    if (os_list(&names, &n, s->folder, "", &e) == OK) {
        for (size_t i = 0; i < n; i++)
            unlink(scratch_path(s, names[i]));
        os_names_free(names, n);
    }
    rmdir(s->folder);
}

const char *scratch_path(struct scratch *s, const char *name)
{
    snprintf(s->path, sizeof(s->path), "%s/%s", s->folder, name);
    return s->path;
}

void scratch_write(struct scratch *s, const char *name, const void *data, size_t n)
{
    FILE *f = fopen(scratch_path(s, name), "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        perror(s->path);
        abort();
    }
}

size_t scratch_count(struct scratch *s)
{
    struct error e;
    char **names;
    size_t n = 0;

    if (os_list(&names, &n, s->folder, "", &e) == OK)
        os_names_free(names, n);
    return n;
}

static int wait_for(pid_t child)
{
    int state = 0;

    if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state))
        return -1;
    return WEXITSTATUS(state);
}

int in_child(int (*body)(void *context), void *context)
{
    pid_t child = fork();

    if (child == 0)
        _exit(body(context));
    return wait_for(child);
}

int in_unprivileged_child(int (*body)(void *context), void *context)
{
    pid_t child = fork();

    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
            _exit(99);
        _exit(body(context));
    }
    return wait_for(child);
}
