#include "cli_impl.h"

#include "needlegrid/json.h"
#include "needlegrid/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    char **texts; /* [n] owned */
    size_t n;
};

struct args {
    const struct command *command;
    struct value *given; /* [number of options] on the command line or in the config file */
    char **positional;   /* [n_positional] owned */
    size_t n_positional;
    bool help;
};

static size_t option_count(const struct command *c)
{
    size_t n = 0;

    while (c->options[n].name)
        n++;
    return n;
}

/* ---- names, with a suggestion for the nearest ---- */

/* Edit distance (Levenshtein 1966), for strings up to 63 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64];
    size_t n = strlen(b);

    if (n >= 64)
        return n;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t replace = diagonal + (a[i] != b[j]);
            size_t least = row[j] + 1 < row[j + 1] + 1 ? row[j] + 1 : row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = replace < least ? replace : least;
        }
    }
    return row[n];
}

static enum status unknown_option(const struct command *c, const char *name, const char *where,
                                  struct error *e)
{
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 2; /* "seed" is no slip for "help" */

    for (size_t i = 0; c->options[i].name; i++) {
        size_t d = distance(name, c->options[i].name);
        if (d < least) {
            least = d;
            nearest = c->options[i].name;
        }
    }
    if (nearest)
        return error_set(e, ERR_USAGE, "%sunknown option --%s; did you mean --%s?", where, name,
                         nearest);
    return error_set(e, ERR_USAGE, "%sunknown option --%s; `needlegrid %s --help` lists them",
                     where, name, c->name);
}

static bool find_option(const struct command *c, const char *name, size_t n, size_t *out)
{
    for (size_t i = 0; c->options[i].name; i++) {
        if (strlen(c->options[i].name) == n && memcmp(c->options[i].name, name, n) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* ---- values ---- */

static enum status append(char ***list, size_t *n, const char *text, struct error *e)
{
    char **grown = realloc(*list, (*n + 1) * sizeof(**list));

    if (!grown)
        return error_set(e, ERR_NOMEM, "cannot allocate memory for options");
    *list = grown;
    grown[*n] = mem_strndup(text, strlen(text), e);
    if (!grown[*n])
        return e->code;
    (*n)++;
    return OK;
}

static enum status add_value(struct args *a, size_t option, const char *text, struct error *e)
{
    struct value *v = &a->given[option];

    if (v->n > 0 && !a->command->options[option].repeatable)
        return error_set(e, ERR_USAGE, "--%s is given twice", a->command->options[option].name);
    return append(&v->texts, &v->n, text, e);
}

/* One "--name", "--name=value" or "--name value"; returns how many of argv it took, 0 on error. */
static int parse_option(struct args *a, int argc, char **argv, struct error *e)
{
    const char *name = argv[0] + 2;
    size_t n = strcspn(name, "=");
    const struct option *o;
    size_t i;

    if (!find_option(a->command, name, n, &i)) {
        char plain[64];
        if (n == 4 && memcmp(name, "help", n) == 0) {
            error_set(e, ERR_USAGE, "--help takes no value");
            return 0;
        }
        snprintf(plain, sizeof(plain), "%.*s", (int)(n < 63 ? n : 63), name);
        unknown_option(a->command, plain, "", e);
        return 0;
    }
    o = &a->command->options[i];
    if (!o->argument) {
        if (name[n] == '=')
            error_set(e, ERR_USAGE, "--%s takes no value", o->name);
        else if (add_value(a, i, "true", e) == OK)
            return 1;
        return 0;
    }
    if (name[n] == '=')
        return add_value(a, i, name + n + 1, e) == OK ? 1 : 0;
    if (argc < 2) {
        error_set(e, ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
        return 0;
    }
    return add_value(a, i, argv[1], e) == OK ? 2 : 0;
}

static enum status parse_line(struct args *a, int argc, char **argv, struct error *e)
{
    for (int i = 0; i < argc;) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            a->help = true;
            return OK;
        }
        if (argv[i][0] == '-' && argv[i][1] == '-' && argv[i][2]) {
            int took = parse_option(a, argc - i, argv + i, e);
            if (took == 0)
                return e->code;
            i += took;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            return error_set(e, ERR_USAGE, "unknown option %s; options are written --name",
                             argv[i]);
        } else {
            if (append(&a->positional, &a->n_positional, argv[i], e) != OK)
                return e->code;
            i++;
        }
    }
    return OK;
}

/* ---- the config file ---- */

/* The shortest decimal that reads back as the same double. */
static void print_double(struct buf *out, double v)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_puts(out, text);
}

/* A string, number or true as the text it would be on the command line. */
static enum status config_text(const struct json *doc, const struct json_node *node,
                               struct buf *out, struct error *e)
{
    const char *text;
    double number;

    if (json_is_string(node)) {
        if (json_string(doc, node, &text, e) != OK)
            return e->code;
        buf_puts(out, text);
    } else if (json_is_number(node)) {
        if (json_double(doc, node, &number, e) != OK)
            return e->code;
        if (fabs(number) > 0x1p53)
            return json_error(doc, node, e,
                              "is too large for a JSON number to be exact: write it as a string");
        print_double(out, number);
    } else {
        return json_error(doc, node, e, "must be a string or a number");
    }
    return buf_status(out, e);
}

static enum status config_flag(struct args *a, size_t option, const struct json *doc,
                               const struct json_node *node, struct error *e)
{
    bool on;

    if (json_bool(doc, node, &on, e) != OK)
        return e->code;
    return on ? add_value(a, option, "true", e) : OK;
}

/* An array gives a repeatable option several values, and a list option one with commas. */
static enum status config_values(struct args *a, size_t option, const struct json *doc,
                                 const struct json_node *node, struct error *e)
{
    bool repeatable = a->command->options[option].repeatable;
    struct buf text = BUF_INIT(1 << 16);
    enum status status = OK;

    if (!json_is_array(node)) {
        status = config_text(doc, node, &text, e);
    } else {
        for (const struct json_node *i = json_first(node); i && status == OK; i = json_next(i)) {
            if (!repeatable && text.len > 0)
                buf_putc(&text, ',');
            status = config_text(doc, i, &text, e);
            if (status == OK && repeatable) {
                status = add_value(a, option, buf_str(&text), e);
                buf_clear(&text);
            }
        }
    }
    if (status == OK && !(repeatable && json_is_array(node)))
        status = add_value(a, option, buf_str(&text), e);
    buf_release(&text);
    return status;
}

static enum status read_member(struct args *a, const struct json *doc,
                               const struct json_node *member, const char *where, struct error *e)
{
    const char *name = json_key(member);
    size_t i;

    if (strcmp(name, "config") == 0)
        return json_error(doc, member, e, "a file of options cannot name another");
    if (!find_option(a->command, name, strlen(name), &i))
        return unknown_option(a->command, name, where, e);
    if (a->given[i].n > 0)
        return OK; /* the command line beats the file */
    return a->command->options[i].argument ? config_values(a, i, doc, member, e)
                                           : config_flag(a, i, doc, member, e);
}

static enum status read_document(struct args *a, const struct json *doc, const char *name,
                                 struct error *e)
{
    enum status status = OK;
    char where[300];

    snprintf(where, sizeof(where), "%s: ", name);
    if (!json_is_object(json_root(doc)))
        status = json_error(doc, json_root(doc), e, "must be an object of options");
    for (const struct json_node *m = json_first(json_root(doc)); m && status == OK;
         m = json_next(m)) {
        if (json_member(json_root(doc), json_key(m)) != m)
            status = json_error(doc, m, e, "given twice");
        else
            status = read_member(a, doc, m, where, e);
    }
    return status;
}

static enum status read_config(struct args *a, const char *path, struct error *e)
{
    enum status status;
    struct json *doc;

    if (json_open(&doc, path, e) != OK)
        return e->code;
    status = read_document(a, doc, path, e);
    json_close(doc);
    return status;
}

/* ---- all together ---- */

static enum status parse_all(struct args *a, int argc, char **argv, struct error *e)
{
    const struct command *c = a->command;
    const char *config;

    if (parse_line(a, argc, argv, e) != OK)
        return e->code;
    if (a->help)
        return OK;
    if (a->n_positional < c->min_positional || a->n_positional > c->max_positional) {
        if (a->n_positional > c->max_positional)
            return error_set(e, ERR_USAGE, "unexpected argument \"%s\"; usage: needlegrid %s%s%s",
                             a->positional[c->max_positional], c->name, *c->positional ? " " : "",
                             c->positional);
        return error_set(e, ERR_USAGE, "usage: needlegrid %s %s", c->name, c->positional);
    }
    config = args_get(a, "config");
    return config ? read_config(a, config, e) : OK;
}

static struct args *new_args(const struct command *c, struct error *e)
{
    struct args *a = calloc(1, sizeof(*a));

    if (a)
        a->given = calloc(option_count(c) + 1, sizeof(*a->given));
    if (!a || !a->given) {
        free(a);
        error_set(e, ERR_NOMEM, "cannot allocate memory for options");
        return NULL;
    }
    a->command = c;
    return a;
}

/* Hands `a` over, or frees it if the status says so. */
static enum status finish_args(struct args **out, struct args *a, enum status status)
{
    *out = status == OK ? a : NULL;
    if (status != OK)
        args_free(a);
    return status;
}

enum status args_parse(struct args **out, const struct command *c, int argc, char **argv,
                       struct error *e)
{
    struct args *a = new_args(c, e);

    *out = NULL;
    return a ? finish_args(out, a, parse_all(a, argc, argv, e)) : e->code;
}

enum status args_from_json(struct args **out, const struct command *c, const char *text,
                           const char *name, struct error *e)
{
    struct args *a = new_args(c, e);
    struct json *doc;
    enum status status;

    *out = NULL;
    if (!a)
        return e->code;
    status = json_parse(&doc, text, strlen(text), name, e);
    if (status == OK) {
        status = read_document(a, doc, name, e);
        json_close(doc);
    }
    return finish_args(out, a, status);
}

void args_free(struct args *a)
{
    for (size_t i = 0; i < option_count(a->command); i++) {
        for (size_t j = 0; j < a->given[i].n; j++)
            free(a->given[i].texts[j]);
        free(a->given[i].texts);
    }
    for (size_t i = 0; i < a->n_positional; i++)
        free(a->positional[i]);
    free(a->positional);
    free(a->given);
    free(a);
}

bool args_wants_help(const struct args *a)
{
    return a->help;
}

const char *args_get(const struct args *a, const char *name)
{
    size_t i;

    if (!find_option(a->command, name, strlen(name), &i))
        return NULL;
    return a->given[i].n ? a->given[i].texts[a->given[i].n - 1] : a->command->options[i].fallback;
}

bool args_flag(const struct args *a, const char *name)
{
    return args_get(a, name) != NULL;
}

const char *const *args_all(const struct args *a, const char *name, size_t *n)
{
    size_t i;

    *n = 0;
    if (!find_option(a->command, name, strlen(name), &i))
        return NULL;
    *n = a->given[i].n;
    return (const char *const *)a->given[i].texts;
}

size_t args_positional_count(const struct args *a)
{
    return a->n_positional;
}

const char *args_positional(const struct args *a, size_t i)
{
    return i < a->n_positional ? a->positional[i] : NULL;
}

void args_json(const struct args *a, struct buf *out)
{
    const char *separator = "";

    buf_putc(out, '{');
    for (size_t i = 0; a->command->options[i].name; i++) {
        const struct option *o = &a->command->options[i];
        const char *value = args_get(a, o->name);
        if (!value || strcmp(o->name, "config") == 0) /* whose values are all here */
            continue;
        buf_printf(out, "%s\"%s\":", separator, o->name);
        separator = ",";
        if (!o->argument) {
            buf_puts(out, "true");
            continue;
        }
        if (!o->repeatable) {
            json_quote(out, value, strlen(value));
            continue;
        }
        for (size_t j = 0; j < a->given[i].n; j++) {
            buf_puts(out, j ? "," : "[");
            json_quote(out, a->given[i].texts[j], strlen(a->given[i].texts[j]));
        }
        buf_puts(out, a->given[i].n ? "]" : "[]");
    }
    buf_putc(out, '}');
}

void print_help(const struct command *c)
{
    printf("usage: needlegrid %s%s%s [options]\n\n%s\n\n", c->name, *c->positional ? " " : "",
           c->positional, c->summary);
    for (size_t i = 0; c->options[i].name; i++) {
        const struct option *o = &c->options[i];
        char left[64];
        snprintf(left, sizeof(left), "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-26s %s", left, o->help);
        if (o->repeatable)
            printf("; may be repeated");
        if (o->fallback)
            printf(" [%s]", o->fallback);
        printf("\n");
    }
    printf("  %-26s %s\n", "--help", "this text");
    if (c->examples)
        printf("\n%s", c->examples);
}
