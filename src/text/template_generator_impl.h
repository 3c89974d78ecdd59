/* Generators and lists of strings in a template's JSON. */
#ifndef TEXT_TEMPLATE_GENERATOR_IMPL_H
#define TEXT_TEMPLATE_GENERATOR_IMPL_H

#include "needlegrid/generator.h"
#include "needlegrid/json.h"

/* `is_answer`: its strings can be values that are asked for, which have no commas. */
NG_MUST_USE enum status generator_read(struct generator *g, const struct json *doc,
                                       const struct json_node *node, bool is_answer,
                                       struct error *e);

/* An array of non-empty strings; *n counts those already made, so that they can be freed. */
NG_MUST_USE enum status strings_read(const struct json *doc, const struct json_node *array,
                                     char ***out, size_t *n, struct error *e);
void strings_free(char **list, size_t n);

#endif
