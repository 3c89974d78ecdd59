#define _DEFAULT_SOURCE /* madvise */
#include "needlegrid/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum status os_map_open(struct os_map *m, const char *path, struct error *e)
{
    struct stat st;
    void *data;
    /* O_NONBLOCK: a pipe is refused below, and must not be waited for here. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    m->data = NULL;
    m->size = 0;
    if (fd < 0)
        return error_set(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return error_set(e, ERR_IO, "%s is not a regular file", path);
    }
    if (st.st_size > 0) {
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            close(fd);
            return error_set(e, ERR_IO, "cannot map %s: %s", path, strerror(errno));
        }
        m->data = data;
        m->size = (size_t)st.st_size;
    }
    close(fd);
    return OK;
}

void os_map_close(struct os_map *m)
{
    if (m->data)
        munmap((void *)(uintptr_t)m->data, m->size);
    m->data = NULL;
    m->size = 0;
}

void os_map_forget(const struct os_map *m, const void *data, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (size_t)((const uint8_t *)data - m->data);
    size_t to = (from + n) / page * page;

    from = (from + page - 1) / page * page;
    if (from < to)
        (void)madvise((void *)(uintptr_t)(m->data + from), to - from, MADV_DONTNEED);
}

static enum status read_all(struct buf *b, FILE *f, const char *path, struct error *e)
{
    char block[65536];
    size_t n;

    /* Stops at the limit: the file may have no end. */
    while (b->status == OK && (n = fread(block, 1, sizeof(block), f)) > 0)
        buf_append(b, block, n);
    if (ferror(f))
        return error_set(e, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (b->status == ERR_LIMIT)
        return error_set(e, ERR_LIMIT, "%s is larger than the limit of %zu bytes", path, b->max);
    return buf_status(b, e);
}

enum status os_read_file(struct buf *b, const char *path, struct error *e)
{
    enum status status;
    FILE *f;

    if (os_is_directory(path))
        return error_set(e, ERR_IO, "cannot read %s: it is a folder", path);
    f = fopen(path, "rbe");
    if (!f)
        return error_set(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    status = read_all(b, f, path, e);
    fclose(f);
    return status;
}

enum status os_stamp_file(struct os_stamp *out, const char *path, struct error *e)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return error_set(e, ERR_IO, "cannot look at %s: %s", path, strerror(errno));
    *out = (struct os_stamp){.device = (uint64_t)st.st_dev,
                             .inode = (uint64_t)st.st_ino,
                             .size = (uint64_t)st.st_size,
                             .modified_s = (int64_t)st.st_mtim.tv_sec,
                             .modified_ns = (int64_t)st.st_mtim.tv_nsec};
    return OK;
}

bool os_stamp_equal(const struct os_stamp *a, const struct os_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_s == b->modified_s && a->modified_ns == b->modified_ns;
}

bool os_is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool os_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool os_has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path);
    size_t k = strlen(suffix);

    return n >= k && strcmp(path + n - k, suffix) == 0;
}

static bool is_file_in(DIR *dir, const char *name)
{
    struct stat st;

    return fstatat(dirfd(dir), name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum status append_name(char ***names, size_t *n, const char *name, struct error *e)
{
    char **grown = realloc(*names, (*n + 1) * sizeof(**names));

    if (grown)
        *names = grown;
    if (!grown || !((*names)[*n] = strdup(name)))
        return error_set(e, ERR_NOMEM, "cannot allocate a list of file names");
    (*n)++;
    return OK;
}

enum status os_list(char ***names, size_t *n, const char *path, const char *suffix, struct error *e)
{
    enum status status = OK;
    struct dirent *entry;
    DIR *dir = opendir(path);

    *names = NULL;
    *n = 0;
    if (!dir)
        return error_set(e, ERR_IO, "cannot open folder %s: %s", path, strerror(errno));
    while (status == OK && (errno = 0, entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && os_has_suffix(entry->d_name, suffix) &&
            is_file_in(dir, entry->d_name))
            status = append_name(names, n, entry->d_name, e);
    }
    if (status == OK && errno != 0)
        status = error_set(e, ERR_IO, "cannot read folder %s: %s", path, strerror(errno));
    closedir(dir);
    if (status != OK) {
        os_names_free(*names, *n);
        *names = NULL;
        *n = 0;
        return status;
    }
    if (*n > 1)
        qsort(*names, *n, sizeof(**names), by_name);
    return OK;
}

void os_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

char *os_program_folder(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (n <= 0 || (size_t)n == sizeof(path) - 1) /* unknown, or cut */
        return NULL;
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return strdup(path);
}

double os_monotonic_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void os_utc_now(char out[24])
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(out, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL); /* the second one, of either kind, ends the program */
    signal(SIGTERM, SIG_DFL);
}

void os_catch_interrupt(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool os_interrupted(void)
{
    return interrupted != 0;
}

/* The number in a file of one number, such as those of a control group; false for "max". */
static bool read_number(const char *path, unsigned long long *out)
{
    FILE *f = fopen(path, "re");
    bool found;

    if (!f)
        return false;
    found = fscanf(f, "%llu", out) == 1;
    fclose(f);
    return found;
}

static uint64_t machine_memory(void)
{
    unsigned long long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/meminfo", "re");

    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    }
    fclose(f);
    return (uint64_t)kib * 1024;
}

/* What the limit of the own control group (cgroup v2) leaves; UINT64_MAX if it has none. */
static uint64_t group_memory(void)
{
    unsigned long long most;
    unsigned long long used;
    char line[1024];
    char path[1200];
    FILE *f = fopen("/proc/self/cgroup", "re");
    bool found = f && fgets(line, sizeof(line), f) && strncmp(line, "0::/", 4) == 0;

    if (f)
        fclose(f);
    if (!found)
        return UINT64_MAX;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", line + 3);
    if (!read_number(path, &most))
        return UINT64_MAX;
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.current", line + 3);
    if (!read_number(path, &used))
        return UINT64_MAX;
    return most > used ? most - used : 1;
}

uint64_t os_memory_available(void)
{
    uint64_t machine = machine_memory();
    uint64_t group = group_memory();

    return machine && group < machine ? group : machine;
}

int os_cpu_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 ? (int)n : 1;
}

int os_terminal_width(int fd)
{
    struct winsize size;

    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
