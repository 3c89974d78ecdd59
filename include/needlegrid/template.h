/*
 * Prompt templates: prompts/NAME.json, a task's needle, question and how its answer is scored.
 *
 * Fields in braces are replaced: {key} and {value}. Keys and values are drawn by (seed, sample):
 * the key from `keys`, the value as random digits. prompts/README.md describes each field.
 *
 *     {
 *       "task": "single",
 *       "description": "...",
 *       "needle": " The special magic {key} number is: {value}.",
 *       "question": " What is the special magic {key} number?",
 *       "answer_prefix": " The special magic {key} number is: ",
 *       "value": {"digits": 7},
 *       "scorer": "number",
 *       "stop": ["\n", "."],
 *       "max_tokens": 16,
 *       "keys": ["Berlin", "Tokyo"]
 *     }
 *
 * Each field must be there, once, and no other. The needle has {value} once and {key}; the question
 * has {key}; neither it nor the answer prefix has {value}.
 */
#ifndef NEEDLEGRID_TEMPLATE_H
#define NEEDLEGRID_TEMPLATE_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEMPLATE_MAX_DIGITS = 18, TEMPLATE_MAX_TOKENS = 1 << 20 };

struct prompt_template {
    char *name; /* file name without folder and .json */
    char *text; /* the file itself, stored with each run */
    char *hash; /* SHA-256 of the file */
    char *task;
    char *description;
    char *needle;
    char *question;
    char *answer_prefix;
    char *scorer;
    char **stop; /* generation ends where one of these strings appears */
    size_t n_stop;
    char **keys; /* unique */
    size_t n_keys;
    int value_digits; /* 1 to TEMPLATE_MAX_DIGITS; the first digit is never 0 */
    int max_tokens;   /* the generation reserve */
};

/*
 * `name` is a path if it has a slash or ends in .json, else a file in `folder`. Errors name the
 * file and, where it is well-formed JSON, the path of the bad value.
 */
NG_MUST_USE enum status template_open(struct prompt_template **out, const char *name,
                                      const char *folder, struct error *e);
/* The same from memory; `file` stands for the path. */
NG_MUST_USE enum status template_parse(struct prompt_template **out, const char *text, size_t n,
                                       const char *file, struct error *e);
void template_free(struct prompt_template *t);

/* The key and the value of one sample. */
struct needle {
    const char *key; /* borrowed from the template */
    char value[24];
};

/* skip [n_keys]: keys not to draw, not all of them; NULL = none. Other samples stay the same. */
struct needle template_draw(const struct prompt_template *t, const bool *skip, uint64_t seed,
                            uint64_t sample);

/* Appends `pattern` with {key} and {value} replaced. */
void template_fill(struct buf *out, const char *pattern, const struct needle *n);

#endif
