/* What template.c (the file) and template_pattern.c (patterns with fields) share. */
#ifndef TEXT_TEMPLATE_IMPL_H
#define TEXT_TEMPLATE_IMPL_H

#include "needlegrid/json.h"
#include "needlegrid/template.h"

/* All patterns of the template, by the rules of its kind; `kind` and `fields` are read before. */
NG_MUST_USE enum status template_read_patterns(struct prompt_template *t, const struct json *doc,
                                               struct error *e);

/* A copy of the member `name`, which must be a string that is not empty. */
NG_MUST_USE enum status template_read_string(const struct json *doc, const char *name, char **out,
                                             struct error *e);

#endif
