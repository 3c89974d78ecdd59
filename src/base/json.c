#include "needlegrid/json.h"

#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/utf8.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 16 << 20 }; /* bytes */
static const int64_t MAX_INTEGER = ((int64_t)1 << 53) - 1;

struct json {
    cJSON *root;
    char *name;
};

static const cJSON *item(const struct json_node *node)
{
    return (const cJSON *)node;
}

static const struct json_node *as_node(const cJSON *i)
{
    return (const struct json_node *)i;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* U+0000 would cut a string silently: refused as a byte and as an escape. */
static const char *find_nul(const char *text, size_t n)
{
    const char *found = memchr(text, '\0', n);

    if (found)
        return found;
    for (size_t i = 0; i + 1 < n; i++) {
        if (text[i] != '\\')
            continue;
        if (n - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
            return text + i;
        i++; /* the escaped character, which may be a backslash */
    }
    return NULL;
}

/* Control characters that cJSON lets pass: in strings, and as blanks between values. */
static const char *find_control(const char *text, size_t n)
{
    bool in_string = false;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 && (in_string || !strchr("\t\r\n", c)))
            return text + i;
        if (c == '"')
            in_string = !in_string;
        else if (c == '\\' && in_string)
            i++;
    }
    return NULL;
}

static enum status check_text(const char *text, size_t n, const char *name, struct error *e)
{
    size_t bad = utf8_invalid_at(text, n);
    const char *nul = find_nul(text, n);
    const char *control = find_control(text, n);

    if (bad < n)
        return error_set(e, ERR_FORMAT, "%s:%d: invalid UTF-8", name, line_of(text, text + bad));
    if (nul)
        return error_set(e, ERR_FORMAT, "%s:%d: U+0000 is not allowed", name, line_of(text, nul));
    if (control)
        return error_set(e, ERR_FORMAT, "%s:%d: control character 0x%02x: write \\u%04x", name,
                         line_of(text, control), (unsigned)*control, (unsigned)*control);
    return OK;
}

enum status json_parse(struct json **out, const char *text, size_t n, const char *name,
                       struct error *e)
{
    const char *end = NULL;
    struct json *doc;

    *out = NULL;
    if (check_text(text, n, name, e) != OK)
        return e->code;
    doc = calloc(1, sizeof(*doc));
    if (!doc || !(doc->name = mem_strndup(name, strlen(name), e))) {
        free(doc);
        return error_set(e, ERR_NOMEM, "%s: cannot allocate memory", name);
    }
    doc->root = cJSON_ParseWithLengthOpts(text, n, &end, 0);
    if (!doc->root) {
        json_close(doc);
        return error_set(e, ERR_FORMAT, "%s:%d: not valid JSON", name,
                         line_of(text, end ? end : text));
    }
    while (end < text + n && strchr(" \t\r\n", *end))
        end++;
    if (end < text + n) {
        json_close(doc);
        return error_set(e, ERR_FORMAT, "%s:%d: text after the JSON value", name,
                         line_of(text, end));
    }
    *out = doc;
    return OK;
}

enum status json_open(struct json **out, const char *path, struct error *e)
{
    struct buf b = BUF_INIT(MAX_FILE);
    enum status status = os_read_file(&b, path, e);

    *out = NULL;
    if (status == OK)
        status = json_parse(out, buf_str(&b), b.len, path, e);
    buf_release(&b);
    return status;
}

void json_close(struct json *doc)
{
    if (!doc)
        return;
    cJSON_Delete(doc->root);
    free(doc->name);
    free(doc);
}

const struct json_node *json_root(const struct json *doc)
{
    return as_node(doc->root);
}

const struct json_node *json_member(const struct json_node *node, const char *key)
{
    return cJSON_IsObject(item(node)) ? as_node(cJSON_GetObjectItemCaseSensitive(item(node), key))
                                      : NULL;
}

const struct json_node *json_first(const struct json_node *node)
{
    return cJSON_IsObject(item(node)) || cJSON_IsArray(item(node)) ? as_node(item(node)->child)
                                                                   : NULL;
}

const struct json_node *json_next(const struct json_node *node)
{
    return as_node(item(node)->next);
}

const char *json_key(const struct json_node *node)
{
    return item(node)->string;
}

bool json_is_string(const struct json_node *node)
{
    return cJSON_IsString(item(node));
}

bool json_is_number(const struct json_node *node)
{
    return cJSON_IsNumber(item(node));
}

bool json_is_bool(const struct json_node *node)
{
    return cJSON_IsBool(item(node));
}

bool json_is_array(const struct json_node *node)
{
    return cJSON_IsArray(item(node));
}

bool json_is_object(const struct json_node *node)
{
    return cJSON_IsObject(item(node));
}

/* Writes the path of `node` below `at`; cJSON keeps no parents, so this searches (errors only). */
static bool find_path(struct buf *b, const cJSON *at, const cJSON *node)
{
    size_t index = 0;
    enum status before = b->status;

    if (at == node)
        return true;
    for (const cJSON *c = at->child; c; c = c->next, index++) {
        size_t mark = b->len;
        if (c->string)
            buf_printf(b, ".%s", c->string);
        else
            buf_printf(b, "[%zu]", index);
        if (find_path(b, c, node))
            return true;
        if (b->data) {
            b->len = mark;
            b->data[mark] = '\0';
            b->status = before; /* a name on the wrong path may have been too long */
        }
    }
    return false;
}

enum status json_error(const struct json *doc, const struct json_node *node, struct error *e,
                       const char *format, ...)
{
    struct buf path = BUF_INIT(512);
    char message[400];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    buf_putc(&path, '$');
    find_path(&path, doc->root, item(node));
    error_set(e, ERR_FORMAT, "%s: %s: %s", doc->name, buf_str(&path), message);
    buf_release(&path);
    return ERR_FORMAT;
}

enum status json_string(const struct json *doc, const struct json_node *node, const char **out,
                        struct error *e)
{
    if (!json_is_string(node))
        return json_error(doc, node, e, "must be a string");
    *out = item(node)->valuestring;
    return OK;
}

enum status json_double(const struct json *doc, const struct json_node *node, double *out,
                        struct error *e)
{
    if (!json_is_number(node))
        return json_error(doc, node, e, "must be a number");
    if (!isfinite(item(node)->valuedouble))
        return json_error(doc, node, e, "is too large a number");
    *out = item(node)->valuedouble;
    return OK;
}

enum status json_int(const struct json *doc, const struct json_node *node, int64_t min, int64_t max,
                     int64_t *out, struct error *e)
{
    double v = json_is_number(node) ? item(node)->valuedouble : NAN;

    /* From 2^53 on neighbours look the same. */
    if (min < -MAX_INTEGER)
        min = -MAX_INTEGER;
    if (max > MAX_INTEGER)
        max = MAX_INTEGER;
    if (!(v >= (double)min && v <= (double)max && v == floor(v)))
        return json_error(doc, node, e, "must be a whole number from %lld to %lld", (long long)min,
                          (long long)max);
    *out = (int64_t)v;
    return OK;
}

enum status json_bool(const struct json *doc, const struct json_node *node, bool *out,
                      struct error *e)
{
    if (!json_is_bool(node))
        return json_error(doc, node, e, "must be true or false");
    *out = cJSON_IsTrue(item(node));
    return OK;
}

enum status json_need(const struct json *doc, const struct json_node *object, const char *key,
                      const struct json_node **out, struct error *e)
{
    *out = NULL;
    if (!json_is_object(object))
        return json_error(doc, object, e, "must be an object");
    *out = json_member(object, key);
    return *out ? OK : json_error(doc, object, e, "\"%s\" is missing", key);
}

enum status json_get_string(const struct json *doc, const struct json_node *object, const char *key,
                            const char **out, struct error *e)
{
    const struct json_node *node;
    enum status status = json_need(doc, object, key, &node, e);

    return status == OK ? json_string(doc, node, out, e) : status;
}

enum status json_only(const struct json *doc, const struct json_node *object,
                      const char *const *known, struct error *e)
{
    if (!json_is_object(object))
        return json_error(doc, object, e, "must be an object");
    for (const struct json_node *m = json_first(object); m; m = json_next(m)) {
        const char *const *k = known;
        while (*k && strcmp(*k, json_key(m)) != 0)
            k++;
        if (!*k)
            return json_error(doc, m, e, "unknown field");
    }
    return OK;
}

void json_quote(struct buf *b, const char *s, size_t n)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_puts(b, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\u%04x", c);
        else
            buf_putc(b, (char)c);
    }
    buf_putc(b, '"');
}
