/*
 * A scene: what the prompts of one (seed, sample) have besides the haystack, as token ids. It is
 * the same for all lengths and depths and made once for them.
 */
#ifndef TEXT_SCENE_IMPL_H
#define TEXT_SCENE_IMPL_H

#include "drawer_impl.h"

#include "needlegrid/tokenizer.h"

/* Something planted in the haystack. */
struct piece {
    struct tokens ids;
    const char *key;     /* what a question names it by */
    const char *value;   /* "" where this needle has none */
    size_t value_at;     /* tokens of `ids` */
    size_t value_tokens; /* 0 without a value */
    size_t group;        /* the key or chain it belongs to */
    double place;        /* where it wants to be, as a share of the haystack; */
    bool main;           /* unless it is a main one, which goes to the depth asked for */
    bool asked;
};

struct question {
    struct tokens ids; /* with the answer prefix, up to the answer's first token */
    struct tokens answer;
    const char *key;       /* of the first needle asked for */
    const char **expected; /* [n_expected] */
    size_t n_expected;
};

/* What makes scenes; the builder owns it. */
struct scene_maker {
    const struct prompt_template *tpl;
    const struct tokenizer *tokenizer;
    struct draw_plan plan;
    bool packed; /* each key asked for has its own question */
    const struct occurrences *in_text;
};

/* All zero to begin with. */
struct scene {
    bool made;
    uint64_t seed;
    uint64_t sample;
    struct drawer drawer;
    const char **values; /* [tpl->values] and [n_fields], of the key being drawn */
    const char **fields;
    struct piece *pieces;
    size_t n_pieces, pieces_cap;
    struct question *questions;
    size_t n_questions, questions_cap;
    const char **words; /* lists of words: the first ones are asked for */
    size_t n_words, words_cap;
};

/* Makes it anew if it is not that of (seed, sample) already. */
NG_MUST_USE enum status scene_make(struct scene *s, const struct scene_maker *m, uint64_t seed,
                                   uint64_t sample, struct error *e);
void scene_release(struct scene *s);

/* Lists of words: makes words[0..n) there. */
NG_MUST_USE enum status scene_need_words(struct scene *s, size_t n, struct error *e);

/* Tokens of all pieces, and of the longest question. */
size_t scene_tokens(const struct scene *s);

#endif
