#include "template_generator_impl.h"
#include "template_impl.h"

#include "needlegrid/hash.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/regex.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 }; /* bytes */

/* ---- which kind has which members ---- */

static const char *const kind_names[] = {"needles",        "chain",  "common-words",
                                         "frequent-words", "absent", "no-context"};

enum { N_KINDS = sizeof(kind_names) / sizeof(kind_names[0]) };

enum {
    NEEDLES = 1 << TASK_NEEDLES,
    CHAIN = 1 << TASK_CHAIN,
    COMMON = 1 << TASK_COMMON_WORDS,
    FREQUENT = 1 << TASK_FREQUENT_WORDS,
    ABSENT = 1 << TASK_ABSENT,
    NO_CONTEXT = 1 << TASK_NO_CONTEXT,
    ALL = (1 << N_KINDS) - 1,
};

struct member {
    const char *name;
    int kinds;
};

static const struct member members[] = {
    {"kind", ALL},
    {"task", ALL},
    {"description", ALL},
    {"haystack", NEEDLES | CHAIN | ABSENT},
    {"preamble", ALL & ~NO_CONTEXT},
    {"needle", ALL & ~NO_CONTEXT},
    {"hop", CHAIN},
    {"question", ALL},
    {"answer_prefix", ALL},
    {"answer_join", ALL & ~ABSENT},
    {"keys", ALL},
    {"value", NEEDLES | CHAIN | ABSENT | NO_CONTEXT},
    {"fields", NEEDLES | ABSENT | NO_CONTEXT},
    {"queries", NEEDLES | COMMON | FREQUENT},
    {"values", NEEDLES},
    {"distractors", NEEDLES | ABSENT},
    {"near", NEEDLES | ABSENT},
    {"chains", CHAIN},
    {"hops", CHAIN},
    {"repeats", COMMON},
    {"alpha", FREQUENT},
    {"filler", FREQUENT},
    {"scorer", ALL},
    {"pattern", ALL},
    {"stop", ALL},
    {"max_tokens", ALL},
};

/* The reader of JSON takes the first of two members with the same name; here that is a mistake. */
static enum status check_twice(const struct json *doc, const struct json_node *object,
                               struct error *e)
{
    for (const struct json_node *m = json_first(object); m; m = json_next(m))
        if (json_member(object, json_key(m)) != m)
            return json_error(doc, m, e, "given twice");
    return OK;
}

static enum status check_member(const struct prompt_template *t, const struct json *doc,
                                const struct json_node *m, struct error *e)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (strcmp(members[i].name, json_key(m)) != 0)
            continue;
        if (members[i].kinds & 1 << t->kind)
            return OK;
        return json_error(doc, m, e, "not used by the kind \"%s\"", kind_names[t->kind]);
    }
    return json_error(doc, m, e, "unknown field");
}

static enum status read_kind(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node = json_member(json_root(doc), "kind");
    const char *name;

    if (!node)
        return OK;
    if (json_string(doc, node, &name, e) != OK)
        return e->code;
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kind_names[i], name) == 0) {
            t->kind = (enum task_kind)i;
            return OK;
        }
    }
    return json_error(doc, node, e,
                      "must be needles, chain, common-words, frequent-words, absent or no-context");
}

static enum status check_members(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *root = json_root(doc);

    if (!json_is_object(root))
        return json_error(doc, root, e, "must be an object");
    if (check_twice(doc, root, e) != OK || read_kind(t, doc, e) != OK)
        return e->code;
    for (const struct json_node *m = json_first(root); m; m = json_next(m))
        if (check_member(t, doc, m, e) != OK)
            return e->code;
    return OK;
}

/* ---- strings ---- */

enum status template_read_string(const struct json *doc, const char *name, char **out,
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

/* A string that may be missing; NULL as fallback leaves *out alone then. */
static enum status read_optional(const struct json *doc, const char *name, const char *fallback,
                                 char **out, struct error *e)
{
    if (json_member(json_root(doc), name))
        return template_read_string(doc, name, out, e);
    if (fallback && !(*out = mem_strndup(fallback, strlen(fallback), e)))
        return e->code;
    return OK;
}

/* Compiles it with a word in place of {value}, which is quoted when it is put there. */
static enum status check_pattern(const struct prompt_template *t, const struct json *doc,
                                 struct error *e)
{
    static const char field[] = "{value}";
    struct buf text = BUF_INIT(1 << 16);
    struct regex *re = NULL;
    const char *at = t->pattern;
    enum status status;

    for (const char *p; (p = strstr(at, field)); at = p + strlen(field)) {
        buf_append(&text, at, (size_t)(p - at));
        buf_puts(&text, "(?:x)");
    }
    buf_puts(&text, at);
    status = buf_status(&text, e);
    if (status == OK)
        status = regex_compile(&re, buf_str(&text), e);
    if (status != OK) {
        struct error why = *e;
        status = json_error(doc, json_member(json_root(doc), "pattern"), e, "%s", why.message);
    }
    regex_free(re);
    buf_release(&text);
    return status;
}

static enum status read_scorer(struct prompt_template *t, const struct json *doc, struct error *e)
{
    if (template_read_string(doc, "scorer", &t->scorer, e) != OK ||
        read_optional(doc, "pattern", NULL, &t->pattern, e) != OK)
        return e->code;
    if (strcmp(t->scorer, "regex") == 0 && !t->pattern)
        return json_error(doc, json_root(doc), e, "\"pattern\" is missing: scorer is regex");
    if (strcmp(t->scorer, "regex") != 0 && t->pattern)
        return json_error(doc, json_member(json_root(doc), "pattern"), e,
                          "only the scorer regex has a pattern");
    return t->pattern ? check_pattern(t, doc, e) : OK;
}

/* ---- numbers ---- */

static enum status read_count(const struct json *doc, const struct json_node *object,
                              const char *name, size_t min, size_t fallback, size_t *out,
                              struct error *e)
{
    const struct json_node *node = json_member(object, name);
    int64_t n = (int64_t)fallback;

    if (node && json_int(doc, node, (int64_t)min, TEMPLATE_MAX_NEEDLES, &n, e) != OK)
        return e->code;
    *out = (size_t)n;
    return OK;
}

static enum status read_repeats(struct prompt_template *t, const struct json *doc, struct error *e)
{
    static const char *const known[] = {"common", "other", NULL};
    const struct json_node *node = json_member(json_root(doc), "repeats");

    if (node && !json_is_object(node))
        return json_error(doc, node, e, "must be an object with \"common\" and \"other\"");
    if (node && (check_twice(doc, node, e) != OK || json_only(doc, node, known, e) != OK))
        return e->code;
    if (read_count(doc, node, "common", 2, 30, &t->common_repeats, e) != OK ||
        read_count(doc, node, "other", 1, 3, &t->other_repeats, e) != OK)
        return e->code;
    if (t->other_repeats >= t->common_repeats)
        return json_error(doc, node, e, "\"common\" must be more than \"other\"");
    return OK;
}

static enum status read_alpha(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node = json_member(json_root(doc), "alpha");

    t->alpha = 2;
    if (node && json_double(doc, node, &t->alpha, e) != OK)
        return e->code;
    if (!(t->alpha > 1 && t->alpha <= 4))
        return json_error(doc, node, e, "must be more than 1 and at most 4");
    return OK;
}

static enum status read_counts(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *root = json_root(doc);
    const struct json_node *node;
    int64_t max_tokens;
    size_t asked = t->kind == TASK_COMMON_WORDS ? 10 : t->kind == TASK_FREQUENT_WORDS ? 3 : 1;

    if (read_count(doc, root, "queries", 1, asked, &t->queries, e) != OK ||
        read_count(doc, root, "values", 1, 1, &t->values, e) != OK ||
        read_count(doc, root, "distractors", 0, 0, &t->distractors, e) != OK ||
        read_count(doc, root, "chains", 1, 1, &t->chains, e) != OK ||
        read_count(doc, root, "hops", 1, 4, &t->hops, e) != OK || read_repeats(t, doc, e) != OK ||
        read_alpha(t, doc, e) != OK || json_need(doc, root, "max_tokens", &node, e) != OK ||
        json_int(doc, node, 1, TEMPLATE_MAX_TOKENS, &max_tokens, e) != OK)
        return e->code;
    t->max_tokens = (int)max_tokens;
    return OK;
}

/* ---- keys and values ---- */

static enum status read_field(struct prompt_template *t, const struct json *doc,
                              const struct json_node *node, size_t *cap, struct error *e)
{
    static const char *const taken[] = {"key", "value", "previous", "index"};
    const char *name = json_key(node);
    struct template_field *f;

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (strcmp(taken[i], name) == 0)
            return json_error(doc, node, e, "this name has a meaning already");
    if (*name == '\0' || strpbrk(name, "{}"))
        return json_error(doc, node, e, "no name for a field: it is empty or has braces");
    if (mem_grow(&t->fields, cap, t->n_fields + 1, sizeof(*t->fields), "fields", e) != OK)
        return e->code;
    f = &t->fields[t->n_fields++];
    memset(f, 0, sizeof(*f));
    f->name = mem_strndup(name, strlen(name), e);
    if (!f->name)
        return e->code;
    return generator_read(&f->from, doc, node, false, e);
}

static enum status read_fields(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node = json_member(json_root(doc), "fields");
    size_t cap = 0;

    if (!node)
        return OK;
    if (!json_is_object(node))
        return json_error(doc, node, e, "must be an object: a generator for each name");
    if (check_twice(doc, node, e) != OK)
        return e->code;
    for (const struct json_node *i = json_first(node); i; i = json_next(i))
        if (read_field(t, doc, i, &cap, e) != OK)
            return e->code;
    return OK;
}

static enum status read_near(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node = json_member(json_root(doc), "near");

    if (!node)
        return OK;
    if (!json_is_array(node))
        return json_error(doc, node, e, "must be an array of \"keys\", \"values\" or both");
    for (const struct json_node *i = json_first(node); i; i = json_next(i)) {
        const struct generator *g = NULL;
        const char *what;
        if (json_string(doc, i, &what, e) != OK)
            return e->code;
        if (strcmp(what, "keys") == 0) {
            t->near_keys = true;
            g = &t->keys;
        } else if (strcmp(what, "values") == 0) {
            t->near_values = true;
            g = &t->value;
        }
        if (!g)
            return json_error(doc, i, e, "must be \"keys\" or \"values\"");
        if (g->kind == GENERATE_LIST || (g->kind < GENERATE_UUID && g->length < 2))
            return json_error(doc, i, e, "a list, or one character, has nothing near it");
    }
    return OK;
}

static enum status read_generators(struct prompt_template *t, const struct json *doc,
                                   struct error *e)
{
    const struct json_node *root = json_root(doc);
    const struct json_node *node;
    bool has_value = t->kind != TASK_COMMON_WORDS && t->kind != TASK_FREQUENT_WORDS;
    bool keys_are_answers = t->kind == TASK_CHAIN || !has_value;

    if (has_value && (json_need(doc, root, "value", &node, e) != OK ||
                      generator_read(&t->value, doc, node, true, e) != OK))
        return e->code;
    if (json_need(doc, root, "keys", &node, e) != OK ||
        generator_read(&t->keys, doc, node, keys_are_answers, e) != OK)
        return e->code;
    return read_near(t, doc, e);
}

/* ---- the whole ---- */

static enum status check_size(const struct prompt_template *t, const struct json *doc,
                              struct error *e)
{
    size_t needles = t->kind == TASK_CHAIN ? t->chains * (t->hops + 1)
                                           : (t->queries + t->distractors) * (t->values + 1);

    if (needles * (t->n_needles + 1) > 4 * TEMPLATE_MAX_NEEDLES)
        return json_error(doc, json_root(doc), e, "has about %zu needles: at most %d can be had",
                          needles, TEMPLATE_MAX_NEEDLES);
    return OK;
}

/* It names results in the store, in files and on terminals. */
static enum status check_task(const struct prompt_template *t, const struct json *doc,
                              struct error *e)
{
    enum { LONGEST = 100 };
    const struct json_node *node = json_member(json_root(doc), "task");

    if (strlen(t->task) == 0 || strlen(t->task) > LONGEST)
        return json_error(doc, node, e, "must have 1 to %d bytes", LONGEST);
    for (const char *c = t->task; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return json_error(doc, node, e, "must not have control characters");
    }
    return OK;
}

static enum status read_all(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *stop;

    if (check_members(t, doc, e) != OK || template_read_string(doc, "task", &t->task, e) != OK ||
        check_task(t, doc, e) != OK ||
        template_read_string(doc, "description", &t->description, e) != OK ||
        read_optional(doc, "haystack", NULL, &t->haystack, e) != OK ||
        read_optional(doc, "answer_join", ", ", &t->answer_join, e) != OK ||
        read_optional(doc, "filler", "", &t->filler, e) != OK || read_counts(t, doc, e) != OK ||
        read_fields(t, doc, e) != OK || template_read_patterns(t, doc, e) != OK ||
        read_generators(t, doc, e) != OK || read_scorer(t, doc, e) != OK ||
        json_need(doc, json_root(doc), "stop", &stop, e) != OK ||
        strings_read(doc, stop, &t->stop, &t->n_stop, e) != OK)
        return e->code;
    return check_size(t, doc, e);
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

void template_free(struct prompt_template *t)
{
    if (!t)
        return;
    free(t->name);
    free(t->text);
    free(t->hash);
    free(t->task);
    free(t->description);
    free(t->haystack);
    free(t->preamble);
    strings_free(t->needles, t->n_needles);
    free(t->hop);
    free(t->question);
    free(t->answer_prefix);
    free(t->answer_join);
    free(t->words);
    strings_free(t->keys.list, t->keys.n_list);
    strings_free(t->value.list, t->value.n_list);
    for (size_t i = 0; i < t->n_fields; i++) {
        free(t->fields[i].name);
        strings_free(t->fields[i].from.list, t->fields[i].from.n_list);
    }
    free(t->fields);
    free(t->filler);
    free(t->scorer);
    free(t->pattern);
    strings_free(t->stop, t->n_stop);
    free(t);
}

bool template_has_haystack(const struct prompt_template *t)
{
    return t->kind == TASK_NEEDLES || t->kind == TASK_CHAIN || t->kind == TASK_ABSENT;
}

bool template_has_depth(const struct prompt_template *t)
{
    return t->kind == TASK_NEEDLES;
}
