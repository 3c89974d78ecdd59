/* What haystack.c (reading) and haystack_tokens.c (windows) share. */
#ifndef TEXT_HAYSTACK_IMPL_H
#define TEXT_HAYSTACK_IMPL_H

#include "drawer_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/haystack.h"
#include "needlegrid/hash.h"

enum haystack_kind {
    KIND_TEXT,
    KIND_NOISE,   /* a text that is meant to repeat */
    KIND_PROSE,   /* no text: each (seed, sample) has its own */
    KIND_NEEDLES, /* likewise */
};

/* A file's part of the text, for messages. */
struct text_part {
    char *name;
    size_t from; /* byte in the folded text */
};

/* Byte offsets of sentences in a text, rising. */
struct sentence_list {
    size_t *starts;
    size_t n;
    size_t cap;
};

struct haystack {
    char *name;
    enum haystack_kind kind;
    struct buf text;                /* folded */
    struct sentence_list sentences; /* in `text`; the first starts at 0 */
    struct text_part *parts;
    size_t n_parts;
    size_t parts_cap;
    char hash[HASH_HEX_SIZE];
    const struct prompt_template *tpl; /* needles: whose, */
    struct draw_plan plan;             /* and how many keys are its sample's own */
};

/* Appends the starts of the sentences in text[from..to), one paragraph. */
NG_MUST_USE enum status sentence_list_add(struct sentence_list *list, const char *text, size_t from,
                                          size_t to, struct error *e);

NG_MUST_USE enum status sentence_list_push(struct sentence_list *list, size_t at, struct error *e);

#endif
