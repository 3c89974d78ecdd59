#include "template_impl.h"

#include "needlegrid/mem.h"

#include <stdint.h>
#include <string.h>

/* ---- fields ---- */

/* The name in braces at `p`; {NULL, 0} if no closing brace follows. */
struct name {
    const char *at;
    size_t n;
};

static struct name name_at(const char *p)
{
    const char *end = strchr(p, '}');

    return end ? (struct name){p + 1, (size_t)(end - p) - 1} : (struct name){NULL, 0};
}

static bool is(struct name a, const char *b)
{
    return a.at && strlen(b) == a.n && memcmp(a.at, b, a.n) == 0;
}

static size_t count(const char *pattern, const char *field)
{
    size_t n = 0;

    for (const char *p = pattern; (p = strchr(p, '{')); p++)
        n += is(name_at(p), field);
    return n;
}

/* The index of a field that the template names; n_fields if it is none of these. */
static size_t own_field(const struct prompt_template *t, struct name name)
{
    size_t i = 0;

    while (i < t->n_fields && !is(name, t->fields[i].name))
        i++;
    return i;
}

static bool is_list_kind(const struct prompt_template *t)
{
    return t->kind == TASK_COMMON_WORDS || t->kind == TASK_FREQUENT_WORDS;
}

static bool is_known(const struct prompt_template *t, struct name name)
{
    if (is_list_kind(t))
        return is(name, "key") || is(name, "index");
    return is(name, "key") || is(name, "value") || own_field(t, name) < t->n_fields ||
           (t->kind == TASK_CHAIN && is(name, "previous"));
}

static enum status unknown_field(const struct prompt_template *t, const struct json *doc,
                                 const struct json_node *node, const char *at, struct error *e)
{
    struct buf names = BUF_INIT(256);

    buf_puts(&names, is_list_kind(t) ? "{key} and {index}" : "{key} and {value}");
    for (size_t i = 0; i < t->n_fields; i++)
        buf_printf(&names, " and {%s}", t->fields[i].name);
    if (t->kind == TASK_CHAIN)
        buf_puts(&names, " and {previous}");
    json_error(doc, node, e, "unknown field %.*s: %s are those there are",
               (int)strcspn(at, "}") + 1, at, buf_str(&names));
    buf_release(&names);
    return e->code;
}

/* Every { begins a known field. */
static enum status check_fields(const struct prompt_template *t, const struct json *doc,
                                const struct json_node *node, const char *pattern, struct error *e)
{
    for (const char *p = pattern; (p = strchr(p, '{')); p++)
        if (!is_known(t, name_at(p)))
            return unknown_field(t, doc, node, p, e);
    return OK;
}

void template_fill(struct buf *out, const struct prompt_template *t, const char *pattern,
                   struct filling *f)
{
    f->key_at = f->value_at = SIZE_MAX;
    while (*pattern) {
        size_t literal = strcspn(pattern, "{");
        struct name name;
        buf_append(out, pattern, literal);
        pattern += literal;
        if (!*pattern)
            break;
        name = name_at(pattern);
        if (is(name, "key") && f->key) {
            f->key_at = f->key_at == SIZE_MAX ? out->len : f->key_at;
            buf_puts(out, f->key);
        } else if (is(name, "value") && f->value) {
            f->value_at = f->value_at == SIZE_MAX ? out->len : f->value_at;
            buf_puts(out, f->value);
        } else if (is(name, "previous") && f->previous) {
            buf_puts(out, f->previous);
        } else if (is(name, "index")) {
            buf_printf(out, "%zu", f->index);
        } else if (f->fields && own_field(t, name) < t->n_fields) {
            buf_puts(out, f->fields[own_field(t, name)]);
        } else {
            buf_putc(out, *pattern++);
            continue;
        }
        pattern += name.n + 2;
    }
}

/* ---- the patterns of each kind ---- */

static enum status copy(const struct prompt_template *t, const struct json *doc,
                        const struct json_node *node, char **out, struct error *e)
{
    const char *s;

    if (json_string(doc, node, &s, e) != OK || check_fields(t, doc, node, s, e) != OK)
        return e->code;
    *out = mem_strndup(s, strlen(s), e);
    return *out ? OK : e->code;
}

/* One pattern, or a list of them; none is empty. */
static enum status read_needles(struct prompt_template *t, const struct json *doc,
                                const struct json_node *node, struct error *e)
{
    bool list = json_is_array(node);
    const struct json_node *i = list ? json_first(node) : node;
    size_t cap = 0;

    if (!i)
        return json_error(doc, node, e, "must have at least one needle");
    for (; i; i = list ? json_next(i) : NULL) {
        if (mem_grow(&t->needles, &cap, t->n_needles + 1, sizeof(*t->needles), "needles", e) != OK)
            return e->code;
        t->needles[t->n_needles] = NULL;
        if (copy(t, doc, i, &t->needles[t->n_needles], e) != OK)
            return e->code;
        t->n_needles++;
        if (t->needles[t->n_needles - 1][0] == '\0')
            return json_error(doc, i, e, "must not be empty");
    }
    return OK;
}

/* Together they have {key}, and {value} once. */
static enum status check_needles(struct prompt_template *t, const struct json *doc,
                                 const struct json_node *node, struct error *e)
{
    size_t keys = 0;
    size_t values = 0;

    for (size_t i = 0; i < t->n_needles; i++) {
        keys += count(t->needles[i], "key");
        values += count(t->needles[i], "value");
        if (count(t->needles[i], "value"))
            t->value_needle = i;
    }
    if (keys == 0)
        return json_error(doc, node, e, "must have {key}: it says which value is asked for");
    if (values != 1)
        return json_error(doc, node, e, "must have {value} exactly once");
    return OK;
}

static enum status read_chain(struct prompt_template *t, const struct json *doc,
                              const struct json_node *node, struct error *e)
{
    const struct json_node *hop;

    if (t->n_needles != 1 || count(t->needles[0], "key") != 1 || count(t->needles[0], "value") != 1)
        return json_error(doc, node, e, "must have {key} and {value} exactly once");
    if (count(t->needles[0], "previous") > 0)
        return json_error(doc, node, e, "must not have {previous}: it begins a chain");
    if (json_need(doc, json_root(doc), "hop", &hop, e) != OK || copy(t, doc, hop, &t->hop, e) != OK)
        return e->code;
    if (count(t->hop, "key") != 1 || count(t->hop, "previous") != 1 || count(t->hop, "value") != 0)
        return json_error(doc, hop, e, "must have {key} and {previous} exactly once, no {value}");
    return OK;
}

static enum status read_needle(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node;

    if (t->kind == TASK_NO_CONTEXT)
        return OK;
    if (json_need(doc, json_root(doc), "needle", &node, e) != OK ||
        read_needles(t, doc, node, e) != OK)
        return e->code;
    if (t->kind == TASK_CHAIN)
        return read_chain(t, doc, node, e);
    if (!is_list_kind(t))
        return check_needles(t, doc, node, e);
    if (t->n_needles != 1 || count(t->needles[0], "key") != 1)
        return json_error(doc, node, e, "must have {key} exactly once: an entry of the list");
    if (count(strstr(t->needles[0], "{key}"), "index") > 0)
        return json_error(doc, node, e, "must have {index} before {key}");
    return OK;
}

/* What may stand in question and answer prefix. */
static enum status check_asked(const struct prompt_template *t, const struct json *doc,
                               const struct json_node *node, const char *s, struct error *e)
{
    bool chain = t->kind == TASK_CHAIN;

    if (!chain && count(s, "value") > 0)
        return json_error(doc, node, e, "must not have {value}: it would give the answer away");
    if (chain && count(s, "key") + count(s, "previous") > 0)
        return json_error(doc, node, e, "must not have names: they would give the answer away");
    if (is_list_kind(t) && strchr(s, '{'))
        return json_error(doc, node, e, "must have no fields: it asks about the whole list");
    for (const char *p = s; t->queries > 1 && (p = strchr(p, '{')); p++)
        if (own_field(t, name_at(p)) < t->n_fields)
            return json_error(doc, node, e,
                              "must have no field but {key}: it asks for %zu keys at once",
                              t->queries);
    return OK;
}

static enum status read_question(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node;

    if (json_need(doc, json_root(doc), "question", &node, e) != OK ||
        copy(t, doc, node, &t->question, e) != OK ||
        check_asked(t, doc, node, t->question, e) != OK)
        return e->code;
    if (t->kind == TASK_CHAIN && count(t->question, "value") == 0)
        return json_error(doc, node, e, "must have {value}: it says which chain is asked for");
    if (t->kind != TASK_CHAIN && !is_list_kind(t) && count(t->question, "key") == 0)
        return json_error(doc, node, e, "must have {key}: it says which value is asked for");
    if (t->question[0] == '\0')
        return json_error(doc, node, e, "must not be empty");
    if (json_need(doc, json_root(doc), "answer_prefix", &node, e) != OK ||
        copy(t, doc, node, &t->answer_prefix, e) != OK)
        return e->code;
    return check_asked(t, doc, node, t->answer_prefix, e);
}

/* The same for every sample, so that all prompts share it. */
static enum status read_preamble(struct prompt_template *t, const struct json *doc, struct error *e)
{
    const struct json_node *node = json_member(json_root(doc), "preamble");

    if (!node) {
        t->preamble = mem_strndup("", 0, e);
        return t->preamble ? OK : e->code;
    }
    if (copy(t, doc, node, &t->preamble, e) != OK)
        return e->code;
    if (strchr(t->preamble, '{'))
        return json_error(doc, node, e, "must have no fields: it is the same for all samples");
    return OK;
}

/* Appends the text between the fields, each of which becomes a line's end. */
static void put_words(struct buf *out, const char *pattern)
{
    while (*pattern) {
        size_t literal = strcspn(pattern, "{");
        buf_append(out, pattern, literal);
        buf_putc(out, '\n');
        pattern += literal;
        pattern += *pattern ? name_at(pattern).n + 2 : 0;
    }
}

static enum status collect_words(struct prompt_template *t, struct error *e)
{
    struct buf words = BUF_INIT((size_t)1 << 26);
    enum status status;

    for (size_t i = 0; i < t->n_needles; i++)
        put_words(&words, t->needles[i]);
    put_words(&words, t->preamble);
    put_words(&words, t->hop ? t->hop : "");
    put_words(&words, t->question);
    put_words(&words, t->answer_prefix);
    buf_puts(&words, t->filler);
    status = buf_status(&words, e);
    if (status == OK && !(t->words = mem_strndup(buf_str(&words), words.len, e)))
        status = e->code;
    buf_release(&words);
    return status;
}

enum status template_read_patterns(struct prompt_template *t, const struct json *doc,
                                   struct error *e)
{
    if (read_preamble(t, doc, e) != OK || read_needle(t, doc, e) != OK)
        return e->code;
    if (read_question(t, doc, e) != OK)
        return e->code;
    return collect_words(t, e);
}
