/*
 * Trials: from a specification to the token ids of a prompt.
 *
 * A prompt is [BOS] preamble haystack question, with needles between sentences of the haystack,
 * joined as token ids and never encoded again as a whole. Its length is a budget that includes
 * everything: prompt_tokens + max_tokens <= context_length, and at most one haystack sentence less.
 * A sentence longer than TRIAL_SNAP_TOKENS is cut where the budget ends, between two characters.
 *
 * The main needle, which is the first one asked for, goes to the depth; all others have places of
 * their own that depend on the sample alone. The first key and value of a sample do not depend on
 * how many there are besides. Tasks without a main needle have no depth (NaN).
 *
 * The prompt ends where the answer's first token begins: it is the longest common prefix of the
 * ids of "question answer_prefix" and of "question answer_prefix answer", so that tokenizers which
 * join a space to a digit get the prompt they were trained on.
 *
 *     struct trial_builder *b;
 *     if (trial_builder_new(&b, template, NULL, haystack_tokens, tokenizer, e) != OK) ...
 *     struct trial t = {0};
 *     if (trial_build(b, &spec, &t, e) != OK) ...
 *     trial_release(&t);
 */
#ifndef NEEDLEGRID_TRIAL_H
#define NEEDLEGRID_TRIAL_H

#include "needlegrid/error.h"
#include "needlegrid/haystack.h"
#include "needlegrid/layout.h"
#include "needlegrid/template.h"
#include "needlegrid/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRIAL_REVISION = 1,      /* goes up whenever the same inputs would give another prompt */
    TRIAL_SNAP_TOKENS = 512, /* how far a sentence's end is looked for */
    TRIAL_MIN_HAYSTACK = 4,  /* tokens: those of one character, at most */
};

/* What can be asked of a template besides; trial_options_of() gives the defaults. */
struct trial_options {
    size_t distractors; /* keys more than those asked for */
    /* Packed: every prompt has a needle at each of these depths, and a trial asks for the one at
     * its own. Borrowed. */
    const double *depths; /* [n_depths] percent; 0 = not packed */
    size_t n_depths;
};

struct trial_options trial_options_of(const struct prompt_template *tpl);

/* How many keys of each prompt are asked for, and how many are drawn for it in all. */
size_t trial_asked_keys(const struct prompt_template *tpl, const struct trial_options *o);
size_t trial_planted_keys(const struct prompt_template *tpl, const struct trial_options *o);

struct trial_spec {
    size_t context_length; /* tokens, everything included */
    double depth;          /* percent of the haystack's tokens before the main needle, 0 to 100 */
    uint64_t sample;
    uint64_t seed;
};

/* A needle in the prompt; places are token indices there. */
struct planted {
    const char *key;
    const char *value; /* "" if this one has none */
    size_t at, n_tokens;
    size_t value_at, value_tokens;
    bool asked;
};

/* Strings are borrowed from the builder until it builds another sample. */
struct trial {
    struct trial_spec spec;
    struct tokens prompt;    /* owned */
    struct tokens answer;    /* owned: the expected answer's ids, as they follow the prompt */
    const char *key;         /* the first one asked for; NULL if none is */
    const char **expected;   /* [n_expected] owned: the values asked for, in their order */
    size_t n_expected;       /* 0 if absent */
    const char **decoys;     /* [n_decoys] owned: the values of every other needle */
    size_t n_decoys;         /*   those that a haystack of needles is made of included */
    struct planted *needles; /* [n_needles] owned: without those of such a haystack */
    size_t n_needles;
    bool absent;            /* what is asked for was not planted */
    size_t max_tokens;      /* the generation reserve */
    size_t haystack_tokens; /* tokens of haystack in the prompt; of a list of words, all of it */
    size_t needle_at;       /* the main needle, or the first one asked for; 0, 0 if there is none */
    size_t needle_tokens;
    size_t question_at;  /* index of the question's first token in the prompt */
    double actual_depth; /* percent of the haystack before the main needle; NaN without one */
};

struct trial_builder;

/*
 * Borrows all until freed; `options` NULL = trial_options_of(). The haystack is NULL for tasks that
 * have none. Keys and values that stand in the haystack's text are not drawn; it is an error if too
 * few are left.
 */
NG_MUST_USE enum status trial_builder_new(struct trial_builder **out,
                                          const struct prompt_template *tpl,
                                          const struct trial_options *options,
                                          struct haystack_tokens *haystack,
                                          const struct tokenizer *tokenizer, struct error *e);
void trial_builder_free(struct trial_builder *b);

/* Appends the keys of a list that are not drawn, with commas, and returns how many there are. */
size_t trial_skipped_keys(const struct trial_builder *b, struct buf *names);

/*
 * The context length that a prompt of any sample needs, TRIAL_MIN_HAYSTACK included: below it, some
 * samples do not fit. It is measured on every key of a list, or on some hundred random ones; a
 * sample can still need a token or two more, and trial_build() then says so.
 */
NG_MUST_USE enum status trial_minimum_length(struct trial_builder *b, size_t *out, struct error *e);

/*
 * Where everything goes, without copying: what stands in memory twice is pointed to. Lives until
 * the builder turns to another sample, or to a longer prompt of it than any before.
 */
NG_MUST_USE enum status trial_lay_out(struct trial_builder *b, const struct trial_spec *spec,
                                      struct layout *out, struct error *e);

/*
 * Builds one trial into *out, which is zeroed or was built before (its memory is used again; on
 * failure it is released). Too short a context length is ERR_USAGE and names the minimum. What
 * makes the answer ambiguous is an error too: a value twice in needle and question, or BOS in the
 * text.
 */
NG_MUST_USE enum status trial_build(struct trial_builder *b, const struct trial_spec *spec,
                                    struct trial *out, struct error *e);
void trial_release(struct trial *t);

/*
 * Appends a bounded excerpt of the prompt's text: the start, the main needle and the question, each
 * with about `around` bytes of what stands beside it, with " [...] " where something was left out.
 * Valid UTF-8 if the prompt's text is.
 */
NG_MUST_USE enum status trial_excerpt(const struct trial *t, const struct tokenizer *tokenizer,
                                      size_t around, struct buf *out, struct error *e);

#endif
