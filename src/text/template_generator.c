/* Reading of generators: lists, and the forms of random strings. */
#include "template_generator_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

enum status strings_read(const struct json *doc, const struct json_node *array, char ***out,
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

void strings_free(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

/* A string with its place in the file, sorted to find those that come twice. */
struct placed {
    const char *text;
    const struct json_node *node;
    size_t place;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    int order = strcmp(x->text, y->text);

    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static enum status check_unique(const struct json *doc, const struct json_node *array,
                                const struct generator *g, struct error *e)
{
    const struct json_node *node = json_first(array);
    struct placed *sorted;
    enum status status = OK;

    if (mem_alloc(&sorted, "a list of keys", e, g->n_list, sizeof(*sorted), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < g->n_list; i++, node = json_next(node))
        sorted[i] = (struct placed){g->list[i], node, i};
    qsort(sorted, g->n_list, sizeof(*sorted), compare_placed);
    for (size_t i = 1; i < g->n_list && status == OK; i++)
        if (strcmp(sorted[i - 1].text, sorted[i].text) == 0)
            status = json_error(doc, sorted[i].node, e,
                                "\"%s\" stands twice among the %s: the first is [%zu]",
                                sorted[i].text, json_key(array), sorted[i - 1].place);
    free(sorted);
    return status;
}

/* What breaks counting, looking for them in a haystack, or lists of answers. */
static enum status check_list(const struct json *doc, const struct json_node *array,
                              const struct generator *g, bool is_answer, struct error *e)
{
    const struct json_node *node = json_first(array);

    if (g->n_list == 0)
        return json_error(doc, array, e, "must have at least one key");
    for (size_t i = 0; i < g->n_list; i++, node = json_next(node)) {
        const char *k = g->list[i];
        if (strpbrk(k, "{}\n") || *k == ' ' || k[strlen(k) - 1] == ' ')
            return json_error(doc, node, e, "must have no braces, line ends or outer spaces");
        if (is_answer && strchr(k, ','))
            return json_error(doc, node, e, "must have no comma: answers are listed with commas");
    }
    return check_unique(doc, array, g, e);
}

static enum status read_sized(struct generator *g, const struct json *doc,
                              const struct json_node *node, struct error *e)
{
    static const char *const names[] = {"digits", "letters", "capitals"};
    static const enum generator_kind kinds[] = {GENERATE_DIGITS, GENERATE_LETTERS,
                                                GENERATE_CAPITALS};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *const known[] = {names[i], NULL};
        const struct json_node *length = json_member(node, names[i]);
        int64_t n;
        if (!length)
            continue;
        if (json_only(doc, node, known, e) != OK ||
            json_int(doc, length, 1, GENERATOR_MAX_LENGTH, &n, e) != OK)
            return e->code;
        g->kind = kinds[i];
        g->length = (size_t)n;
        return OK;
    }
    return json_error(doc, node, e, "must have one of \"digits\", \"letters\", \"capitals\"");
}

enum status generator_read(struct generator *g, const struct json *doc,
                           const struct json_node *node, bool is_answer, struct error *e)
{
    const char *name;

    if (json_is_object(node))
        return read_sized(g, doc, node, e);
    if (json_is_array(node)) {
        g->kind = GENERATE_LIST;
        if (strings_read(doc, node, &g->list, &g->n_list, e) != OK)
            return e->code;
        return check_list(doc, node, g, is_answer, e);
    }
    if (!json_is_string(node) || json_string(doc, node, &name, e) != OK)
        name = "";
    if (strcmp(name, "uuid") != 0 && strcmp(name, "words") != 0)
        return json_error(doc, node, e,
                          "must be an array of strings, \"words\", \"uuid\", or an object with "
                          "\"digits\", \"letters\" or \"capitals\"");
    g->kind = *name == 'u' ? GENERATE_UUID : GENERATE_WORDS;
    return OK;
}
