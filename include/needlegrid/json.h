/*
 * Reading JSON, strictly (cJSON beneath).
 *
 * Refused: invalid UTF-8, U+0000, raw control characters in strings, text after the value, nesting
 * past cJSON's limit (1000), files over 16 MiB. Syntax errors name file and line, type errors file
 * and JSON path ("$.needle.key"). Numbers are finite doubles; json_int() refuses whole numbers from
 * 2^53 on, as they are not exact.
 *
 *     struct json *doc;
 *     if (json_open(&doc, "prompts/tokyo.json", e) != OK) ...
 *     const char *needle;
 *     if (json_get_string(doc, json_root(doc), "needle", &needle, e) != OK) ...
 *     json_close(doc);
 */
#ifndef NEEDLEGRID_JSON_H
#define NEEDLEGRID_JSON_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;      /* a document */
struct json_node; /* a value in it; borrowed until json_close() */

NG_MUST_USE enum status json_open(struct json **out, const char *path, struct error *e);
/* `name` stands for the file in messages. */
NG_MUST_USE enum status json_parse(struct json **out, const char *text, size_t n, const char *name,
                                   struct error *e);
void json_close(struct json *doc);

const struct json_node *json_root(const struct json *doc);

/* The member `key` of an object, case-sensitive; NULL if there is none or node is no object. */
const struct json_node *json_member(const struct json_node *node, const char *key);
/* Walks the elements of an array or the members of an object; NULL at the end. */
const struct json_node *json_first(const struct json_node *node);
const struct json_node *json_next(const struct json_node *node);
/* The name of an object's member, NULL for an array's element. */
const char *json_key(const struct json_node *node);

bool json_is_string(const struct json_node *node);
bool json_is_number(const struct json_node *node);
bool json_is_bool(const struct json_node *node);
bool json_is_array(const struct json_node *node);
bool json_is_object(const struct json_node *node);

/* The value of `node` itself; a type error names its path. Strings are borrowed. */
NG_MUST_USE enum status json_string(const struct json *doc, const struct json_node *node,
                                    const char **out, struct error *e);
NG_MUST_USE enum status json_double(const struct json *doc, const struct json_node *node,
                                    double *out, struct error *e);
NG_MUST_USE enum status json_int(const struct json *doc, const struct json_node *node, int64_t min,
                                 int64_t max, int64_t *out, struct error *e);
NG_MUST_USE enum status json_bool(const struct json *doc, const struct json_node *node, bool *out,
                                  struct error *e);

/* The member `key`, which must be there; NULL and an error otherwise. */
NG_MUST_USE enum status json_need(const struct json *doc, const struct json_node *object,
                                  const char *key, const struct json_node **out, struct error *e);
NG_MUST_USE enum status json_get_string(const struct json *doc, const struct json_node *object,
                                        const char *key, const char **out, struct error *e);

/* ERR_FORMAT with "file: $.path: message". */
enum status json_error(const struct json *doc, const struct json_node *node, struct error *e,
                       const char *format, ...) NG_PRINTF(4, 5);
/* ERR_FORMAT if the object has a member that is not in the NULL-ended list `known`. */
NG_MUST_USE enum status json_only(const struct json *doc, const struct json_node *object,
                                  const char *const *known, struct error *e);

/* Appends s as a quoted JSON string. */
void json_quote(struct buf *b, const char *s, size_t n);

#endif
