/* What trial.c (the builder), place.c (where needles go) and lay_out.c share. */
#ifndef TEXT_TRIAL_IMPL_H
#define TEXT_TRIAL_IMPL_H

#include "list_impl.h"
#include "occurrences_impl.h"
#include "scene_impl.h"

#include "needlegrid/trial.h"

struct trial_builder {
    const struct prompt_template *tpl;
    struct trial_options options;
    struct haystack_tokens *haystack; /* NULL = the task has none */
    const struct tokenizer *tokenizer;
    token_id bos;                /* TOKEN_NONE = the prompt has none */
    struct tokens opening;       /* BOS and preamble */
    size_t minimum;              /* context length */
    struct occurrences *in_text; /* [2 + n_fields] */
    struct scene_maker maker;
    struct scene scene;
    struct list_maker list;
    struct layout layout; /* of the trial being built */
};

/*
 * The cuts of a prompt whose haystack is the window's first `end` tokens, rising; none lies where
 * another does as long as there are sentences enough.
 */
NG_MUST_USE enum status place_pieces(const struct trial_builder *b, const struct window *w,
                                     size_t end, double depth, struct layout *out, struct error *e);

/* Tokens of the context length that are not the haystack's. */
size_t trial_fixed_tokens(const struct trial_builder *b);

#endif
