/* Parses any bytes as JSON and walks all of it: each value through each getter. */
#include "needlegrid/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t sink;

static void read_value(const struct json *doc, const struct json_node *node)
{
    static const char *const known[] = {"a", NULL};
    const struct json_node *member;
    const char *s;
    double d;
    int64_t i;
    bool b;
    struct error e;

    if (json_string(doc, node, &s, &e) == OK)
        sink += strlen(s);
    if (json_double(doc, node, &d, &e) == OK)
        sink += d > 0;
    if (json_int(doc, node, INT64_MIN, INT64_MAX, &i, &e) == OK)
        sink += i > 0;
    if (json_bool(doc, node, &b, &e) == OK)
        sink += b;
    if (json_need(doc, node, "a", &member, &e) == OK)
        sink += json_key(member)[0] == 'a';
    if (json_only(doc, node, known, &e) == OK)
        sink++;
}

/* Errors search the document for a value's path, so only the first values are read. */
static void walk(const struct json *doc, const struct json_node *node, int *left)
{
    if (--*left < 0)
        return;
    read_value(doc, node);
    for (const struct json_node *c = json_first(node); c; c = json_next(c))
        walk(doc, c, left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *doc = NULL;
    struct error e;
    int left = 100;

    if (json_parse(&doc, (const char *)data, size, "fuzz", &e) != OK) {
        if (doc || e.code == OK || strlen(e.message) < 7)
            abort();
        return 0;
    }
    walk(doc, json_root(doc), &left);
    json_close(doc);
    return 0;
}
