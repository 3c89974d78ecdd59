#include "needlegrid/template.h"

#include "needlegrid/hash.h"
#include "needlegrid/json.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 }; /* bytes */

/* ---- patterns ---- */

static const char KEY[] = "{key}";
static const char VALUE[] = "{value}";

static size_t count(const char *pattern, const char *field)
{
    size_t n = 0;

    while ((pattern = strstr(pattern, field))) {
        n++;
        pattern += strlen(field);
    }
    return n;
}

/* Every { begins {key} or {value}. */
static enum status check_fields(const struct json *doc, const struct json_node *node,
                                const char *pattern, struct error *e)
{
    for (const char *p = pattern; (p = strchr(p, '{')); p++)
        if (strncmp(p, KEY, strlen(KEY)) != 0 && strncmp(p, VALUE, strlen(VALUE)) != 0)
            return json_error(doc, node, e,
                              "unknown field %.*s: {key} and {value} are those there are",
                              (int)strcspn(p, "}") + 1, p);
    return OK;
}

struct pattern_rule {
    const char *name;
    bool needs_key;
    size_t values; /* how often {value} must stand in it */
};

static enum status read_pattern(const struct json *doc, const struct pattern_rule *rule, char **out,
                                struct error *e)
{
    const struct json_node *node;
    const char *s;

    if (json_need(doc, json_root(doc), rule->name, &node, e) != OK ||
        json_string(doc, node, &s, e) != OK || check_fields(doc, node, s, e) != OK)
        return e->code;
    if (rule->needs_key && count(s, KEY) == 0)
        return json_error(doc, node, e, "must have {key}: it says which value is asked for");
    if (rule->values == 0 && count(s, VALUE) > 0)
        return json_error(doc, node, e, "must not have {value}: it would give the answer away");
    if (rule->values == 1 && count(s, VALUE) != 1)
        return json_error(doc, node, e, "must have {value} exactly once");
    *out = mem_strndup(s, strlen(s), e);
    return *out ? OK : e->code;
}

void template_fill(struct buf *out, const char *pattern, const struct needle *n)
{
    while (*pattern) {
        size_t literal = strcspn(pattern, "{");
        buf_append(out, pattern, literal);
        pattern += literal;
        if (strncmp(pattern, KEY, strlen(KEY)) == 0) {
            buf_puts(out, n->key);
            pattern += strlen(KEY);
        } else if (strncmp(pattern, VALUE, strlen(VALUE)) == 0) {
            buf_puts(out, n->value);
            pattern += strlen(VALUE);
        } else if (*pattern) {
            buf_putc(out, *pattern++);
        }
    }
}

/* ---- the other fields ---- */

static enum status read_string(const struct json *doc, const char *name, char **out,
                               struct error *e)
{
    const struct json_node *node;
    const char *s;

    if (json_need(doc, json_root(doc), name, &node, e) != OK || json_string(doc, node, &s, e) != OK)
        return e->code;
    if (*s == '\0')
        return json_error(doc, node, e, "must not be empty");
    *out = mem_strndup(s, strlen(s), e);
    return *out ? OK : e->code;
}

/* An array of non-empty strings; *n counts those already made, so that they can be freed. */
static enum status read_strings(const struct json *doc, const struct json_node *array, char ***out,
                                size_t *n, struct error *e)
{
    size_t cap = 0;

    if (!json_is_array(array))
        return json_error(doc, array, e, "must be an array of strings");
    for (const struct json_node *i = json_first(array); i; i = json_next(i)) {
        const char *s;
        if (json_string(doc, i, &s, e) != OK)
            return e->code;
        if (*s == '\0')
            return json_error(doc, i, e, "must not be empty");
        if (mem_grow(out, &cap, *n + 1, sizeof(**out), "a list of strings", e) != OK)
            return e->code;
        (*out)[*n] = mem_strndup(s, strlen(s), e);
        if (!(*out)[*n])
            return e->code;
        ++*n;
    }
    return OK;
}

/* A key with its place in the file, sorted to find those that come twice. */
struct placed_key {
    const char *key;
    const struct json_node *node;
    size_t place;
};

static int compare_keys(const void *a, const void *b)
{
    const struct placed_key *x = a;
    const struct placed_key *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static enum status check_unique(const struct json *doc, const struct json_node *array,
                                const struct prompt_template *t, struct error *e)
{
    const struct json_node *node = json_first(array);
    struct placed_key *sorted;
    enum status status = OK;

    if (mem_alloc(&sorted, "a list of keys", e, t->n_keys, sizeof(*sorted), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < t->n_keys; i++, node = json_next(node))
        sorted[i] = (struct placed_key){t->keys[i], node, i};
    qsort(sorted, t->n_keys, sizeof(*sorted), compare_keys);
    for (size_t i = 1; i < t->n_keys && status == OK; i++)
        if (strcmp(sorted[i - 1].key, sorted[i].key) == 0)
            status = json_error(doc, sorted[i].node, e,
                                "\"%s\" stands twice among the keys: the first is [%zu]",
                                sorted[i].key, sorted[i - 1].place);
    free(sorted);
    return status;
}

/* What breaks counting and looking for keys in a haystack: braces, and space at the ends. */
static enum status check_keys(const struct json *doc, const struct json_node *array,
                              const struct prompt_template *t, struct error *e)
{
    const struct json_node *node = json_first(array);

    if (t->n_keys == 0)
        return json_error(doc, array, e, "must have at least one key");
    for (size_t i = 0; i < t->n_keys; i++, node = json_next(node)) {
        const char *k = t->keys[i];
        if (strpbrk(k, "{}\n") || *k == ' ' || k[strlen(k) - 1] == ' ')
            return json_error(doc, node, e, "must have no braces, line ends or outer spaces");
    }
    return check_unique(doc, array, t, e);
}

static enum status read_lists(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *stop;
    const struct json_node *keys;

    if (json_need(doc, json_root(doc), "stop", &stop, e) != OK ||
        read_strings(doc, stop, &t->stop, &t->n_stop, e) != OK ||
        json_need(doc, json_root(doc), "keys", &keys, e) != OK ||
        read_strings(doc, keys, &t->keys, &t->n_keys, e) != OK)
        return e->code;
    return check_keys(doc, keys, t, e);
}

static enum status read_numbers(struct prompt_template *t, const struct json *doc, struct error *e)
{
    static const char *const known[] = {"digits", NULL};
    const struct json_node *value;
    const struct json_node *node;
    int64_t digits;
    int64_t max_tokens;

    if (json_need(doc, json_root(doc), "value", &value, e) != OK ||
        json_need(doc, value, "digits", &node, e) != OK || json_only(doc, value, known, e) != OK ||
        json_int(doc, node, 1, TEMPLATE_MAX_DIGITS, &digits, e) != OK ||
        json_need(doc, json_root(doc), "max_tokens", &node, e) != OK ||
        json_int(doc, node, 1, TEMPLATE_MAX_TOKENS, &max_tokens, e) != OK)
        return e->code;
    t->value_digits = (int)digits;
    t->max_tokens = (int)max_tokens;
    return OK;
}

/* The reader of JSON takes the first of two members with the same name; here that is a mistake. */
static enum status check_members(const struct json *doc, struct error *e)
{
    static const char *const known[] = {"task",  "description", "needle", "question",
                                        "value", "scorer",      "stop",   "answer_prefix",
                                        "keys",  "max_tokens",  NULL};
    const struct json_node *root = json_root(doc);

    if (!json_is_object(root))
        return json_error(doc, root, e, "must be an object");
    for (const struct json_node *m = json_first(root); m; m = json_next(m))
        if (json_member(root, json_key(m)) != m)
            return json_error(doc, m, e, "given twice");
    return json_only(doc, root, known, e);
}

static enum status read_all(struct prompt_template *t, const struct json *doc, struct error *e)
{
    static const struct pattern_rule needle = {"needle", true, 1};
    static const struct pattern_rule question = {"question", true, 0};
    static const struct pattern_rule prefix = {"answer_prefix", false, 0};

    if (check_members(doc, e) != OK || read_string(doc, "task", &t->task, e) != OK ||
        read_string(doc, "description", &t->description, e) != OK ||
        read_pattern(doc, &needle, &t->needle, e) != OK ||
        read_pattern(doc, &question, &t->question, e) != OK ||
        read_pattern(doc, &prefix, &t->answer_prefix, e) != OK || read_numbers(t, doc, e) != OK ||
        read_string(doc, "scorer", &t->scorer, e) != OK)
        return e->code;
    return read_lists(t, doc, e);
}

/* "tokyo" of "prompts/tokyo.json" */
static char *base_name(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = strlen(base);

    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    return mem_strndup(base, n, e);
}

enum status template_parse(struct prompt_template **out, const char *text, size_t n,
                           const char *file, struct error *e)
{
    struct prompt_template *t;
    struct json *doc = NULL;
    char hex[HASH_HEX_SIZE];
    enum status status;

    *out = NULL;
    if (mem_alloc(&t, "a prompt template", e, 1, 1, 1, sizeof(*t)) != OK)
        return e->code;
    status = json_parse(&doc, text, n, file, e);
    if (status == OK)
        status = read_all(t, doc, e);
    json_close(doc);
    if (status == OK)
        status = hash_memory(text, n, hex, e);
    if (status == OK && (!(t->name = base_name(file, e)) || !(t->text = mem_strndup(text, n, e)) ||
                         !(t->hash = mem_strndup(hex, strlen(hex), e))))
        status = e->code;
    if (status != OK) {
        template_free(t);
        return status;
    }
    *out = t;
    return OK;
}

enum status template_open(struct prompt_template **out, const char *name, const char *folder,
                          struct error *e)
{
    struct buf path = BUF_INIT(4096);
    struct buf text = BUF_INIT(MAX_FILE);
    size_t n = strlen(name);
    enum status status;

    *out = NULL;
    if (strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0))
        buf_puts(&path, name);
    else
        buf_printf(&path, "%s/%s.json", folder, name);
    status = buf_status(&path, e);
    if (status == OK && !os_exists(buf_str(&path)))
        status = error_set(e, ERR_NOT_FOUND,
                           "no prompt template %s: give a path, or a name that %s holds",
                           buf_str(&path), folder);
    if (status == OK)
        status = os_read_file(&text, buf_str(&path), e);
    if (status == OK)
        status = template_parse(out, buf_str(&text), text.len, buf_str(&path), e);
    buf_release(&path);
    buf_release(&text);
    return status;
}

static void free_strings(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

void template_free(struct prompt_template *t)
{
    if (!t)
        return;
    free(t->name);
    free(t->text);
    free(t->hash);
    free(t->task);
    free(t->description);
    free(t->needle);
    free(t->question);
    free(t->answer_prefix);
    free(t->scorer);
    free_strings(t->stop, t->n_stop);
    free_strings(t->keys, t->n_keys);
    free(t);
}

struct needle template_draw(const struct prompt_template *t, const bool *skip, uint64_t seed,
                            uint64_t sample)
{
    struct rng r = rng_make(seed, "needle", sample);
    size_t key = rng_below(&r, t->n_keys);
    struct needle n;
    int i;

    while (skip && skip[key])
        key = rng_below(&r, t->n_keys);
    n = (struct needle){t->keys[key], ""};
    n.value[0] = (char)('1' + rng_below(&r, 9));
    for (i = 1; i < t->value_digits; i++)
        n.value[i] = (char)('0' + rng_below(&r, 10));
    return n;
}
