/* needlegrid list: what --task, --prompt, --haystack and --model can be given. */
#include "cli_impl.h"

#include "needlegrid/gguf.h"
#include "needlegrid/json.h"
#include "needlegrid/os.h"
#include "needlegrid/template.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"config", "FILE", NULL, "options from a JSON object; the command line beats it", false},
    {"data", "FOLDER", NULL, "where prompts/, haystacks/ and models/ lie", false},
    {NULL, NULL, NULL, NULL, false},
};

/* Calls `line` for each file of a folder with this suffix; a folder that is not there is empty. */
typedef enum status line_fn(const char *path, const char *name, struct buf *out, struct error *e);

static enum status each_file(const char *data, const char *folder, const char *suffix,
                             line_fn *line, struct buf *out, struct error *e)
{
    char *path = path_join(data, folder, e);
    char **names = NULL;
    size_t n = 0;
    enum status status = path ? OK : e->code;

    if (status == OK && os_is_directory(path))
        status = os_list(&names, &n, path, suffix, e);
    for (size_t i = 0; i < n && status == OK; i++) {
        char *file = path_join(path, names[i], e);
        status = file ? line(file, names[i], out, e) : e->code;
        free(file);
    }
    if (status == OK && n == 0)
        buf_puts(out, "  (none)\n");
    os_names_free(names, n);
    free(path);
    return status;
}

/* A file that cannot be read is a line too: the others are still listed. */
static void put_bad(const char *name, const struct error *why, struct buf *out)
{
    buf_printf(out, "  %-18s cannot be used: %s\n", name, why->message);
}

static enum status put_prompt(const char *path, const char *name, struct buf *out, struct error *e)
{
    struct prompt_template *t;
    struct error why;

    (void)e;
    if (template_open(&t, path, "", &why) != OK) {
        put_bad(name, &why, out);
        return OK;
    }
    buf_printf(out, "  %-18s %-18s %s\n", t->task, t->name, t->description);
    template_free(t);
    return OK;
}

static struct str string_of(const struct gguf *g, const char *key, const char *fallback)
{
    struct str s = {fallback, strlen(fallback)};
    struct error ignored;

    if (gguf_string_opt(g, key, &s, &ignored) != OK)
        s = (struct str){fallback, strlen(fallback)};
    return s;
}

static enum status put_model(const char *path, const char *name, struct buf *out, struct error *e)
{
    struct gguf *g;
    struct error why;
    struct str title;
    struct str architecture;

    (void)e;
    if (gguf_open(&g, path, &why) != OK) {
        put_bad(name, &why, out);
        return OK;
    }
    title = string_of(g, "general.name", "(unnamed)");
    architecture = string_of(g, "general.architecture", "unknown");
    buf_printf(out, "  %-18s %.*s, architecture %.*s, %.1f MB\n", name, (int)title.n, title.p,
               (int)architecture.n, architecture.p, (double)gguf_file_size(g) / 1e6);
    gguf_close(g);
    return OK;
}

/* The generated ones, and what the manifest names. */
static enum status put_haystacks(const char *data, struct buf *out, struct error *e)
{
    char *path = path_join(data, "haystacks/manifest.json", e);
    struct json *doc = NULL;
    const struct json_node *list;
    enum status status = path ? OK : e->code;

    if (status == OK && !os_exists(path)) {
        buf_puts(out, "  (no manifest.json)\n");
        free(path);
        return OK;
    }
    if (status == OK)
        status = json_open(&doc, path, e);
    if (status == OK)
        status = json_need(doc, json_root(doc), "haystacks", &list, e);
    for (const struct json_node *i = status == OK ? json_first(list) : NULL; i && status == OK;
         i = json_next(i)) {
        const char *name;
        const char *description;
        status = json_get_string(doc, i, "name", &name, e);
        if (status == OK)
            status = json_get_string(doc, i, "description", &description, e);
        if (status == OK)
            buf_printf(out, "  %-18s %s\n", name, description);
    }
    json_close(doc);
    free(path);
    return status;
}

static enum status list(const char *data, struct buf *out, struct error *e)
{
    buf_puts(out, "tasks, each with its prompt (run --task TASK or --prompt PROMPT):\n");
    if (each_file(data, "prompts", ".json", put_prompt, out, e) != OK)
        return e->code;
    buf_puts(out, "\nhaystacks (run --haystack NAME):\n");
    if (put_haystacks(data, out, e) != OK)
        return e->code;
    buf_puts(out, "  PATH               a text file, a folder of *.txt files or a .jsonl file\n");
    buf_puts(out, "\nmodels (run --model FILE):\n");
    return each_file(data, "models", ".gguf", put_model, out, e);
}

static int run(const struct args *a, struct error *e)
{
    struct buf out = BUF_INIT(1 << 20);
    char *data = NULL;
    int code = EXIT_PASSED;

    if (data_folder(args_get(a, "data"), &data, e) != OK || list(data, &out, e) != OK)
        code = EXIT_USAGE;
    else if (write_stdout(&out, e) != OK)
        code = EXIT_INCOMPLETE;
    buf_release(&out);
    free(data);
    return code;
}

const struct command command_list = {
    .name = "list",
    .positional = "",
    .summary = "show the tasks, prompts, haystacks and models at hand",
    .options = options,
    .examples = "  needlegrid list\n",
    .run = run,
};
