/*
 * Prompt templates: prompts/NAME.json, what a task hides in a text and how it asks for it.
 *
 * Patterns have fields in braces, filled for each sample: {key} and {value}, which are drawn from
 * `keys` and `value`, and any that `fields` names. prompts/README.md describes every member; those
 * that this shortest one lacks have defaults:
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
 * A member that the template's kind does not use is refused, like an unknown one.
 */
#ifndef NEEDLEGRID_TEMPLATE_H
#define NEEDLEGRID_TEMPLATE_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"
#include "needlegrid/generator.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TEMPLATE_MAX_TOKENS = 1 << 20,
    TEMPLATE_MAX_NEEDLES = 1000, /* of one prompt, whatever makes them many */
};

enum task_kind {
    TASK_NEEDLES,        /* keys with values in a haystack, some of them asked for */
    TASK_CHAIN,          /* names that take their value from one another; asked: all with a value */
    TASK_COMMON_WORDS,   /* the context is a list of words; asked: those that come more often */
    TASK_FREQUENT_WORDS, /* likewise, each rank rarer than the one before */
    TASK_ABSENT,         /* what is asked for was not planted: false recall */
    TASK_NO_CONTEXT,     /* the question alone: leakage */
};

/* A field besides {key} and {value}: drawn anew for each key. */
struct template_field {
    char *name;
    struct generator from;
};

struct prompt_template {
    char *name; /* file name without folder and .json */
    char *text; /* the file itself, stored with each run */
    char *hash; /* SHA-256 of the file */
    enum task_kind kind;
    char *task;
    char *description;
    char *haystack; /* the one it is made for; NULL = any */
    char *preamble; /* stands before the haystack; "" = nothing */
    char **needles; /* [n_needles] patterns; each key has one of each, one of them with {value} */
    size_t n_needles;
    size_t value_needle; /* which of them has {value} */
    char *hop;           /* chain: how a name takes over the value of {previous} */
    char *question;
    char *answer_prefix;
    char *answer_join; /* between the values of an answer */
    char *words;       /* the text of all patterns without their fields: none of it is drawn */
    struct generator keys;
    struct generator value;
    struct template_field *fields; /* [n_fields] */
    size_t n_fields;
    size_t queries;     /* keys, or words, asked for in one question */
    size_t values;      /* of each key */
    size_t distractors; /* keys more, not asked for */
    bool near_keys;     /* distractors' keys differ little from a key asked for; */
    bool near_values;   /* their values from a value asked for */
    size_t chains;
    size_t hops;           /* of each chain: names besides the first */
    size_t common_repeats; /* common words: how often an asked word stands in the list, */
    size_t other_repeats;  /* and every other one */
    double alpha;          /* frequent words: rank k comes in proportion to k^-alpha */
    char *filler;          /* frequent words: rank 1, not asked for; "" = none */
    char *scorer;
    char *pattern; /* of the scorer "regex", else NULL */
    char **stop;   /* generation ends where one of these strings appears */
    size_t n_stop;
    int max_tokens; /* the generation reserve */
};

/*
 * `name` is a path if it has a slash or ends in .json, else a file in `folder`. Errors name the
 * file and line, or where it is well-formed JSON the path of the bad value.
 */
NG_MUST_USE enum status template_open(struct prompt_template **out, const char *name,
                                      const char *folder, struct error *e);
/* The same from memory; `file` stands for the path. */
NG_MUST_USE enum status template_parse(struct prompt_template **out, const char *text, size_t n,
                                       const char *file, struct error *e);
void template_free(struct prompt_template *t);

/* True if the kind has a haystack. */
bool template_has_haystack(const struct prompt_template *t);
/* True if the kind has one needle that is moved over the depths. */
bool template_has_depth(const struct prompt_template *t);

/* What stands in for the fields of a pattern; strings are borrowed. */
struct filling {
    const char *key;
    const char *value;
    const char *previous;      /* chain: the name before */
    size_t index;              /* list of words: from 1 */
    const char *const *fields; /* [n_fields] or NULL */
    size_t key_at, value_at;   /* out: where the first of each begins in `out`; SIZE_MAX = not */
};

/* Appends `pattern` with its fields replaced. */
void template_fill(struct buf *out, const struct prompt_template *t, const char *pattern,
                   struct filling *f);

#endif
