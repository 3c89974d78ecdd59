/*
 * A sweep as the options of `run` describe it.
 *
 *     struct sweep_args s = {.args = a};
 *     if (sweep_args_read(&s, NULL, e) != OK) ...
 *     sweep_args_release(&s);
 */
#ifndef NEEDLEGRID_SWEEP_ARGS_IMPL_H
#define NEEDLEGRID_SWEEP_ARGS_IMPL_H

#include "cli_impl.h"

#include "needlegrid/plan.h"

struct sweep_args {
    const struct args *args;       /* borrowed; of the command `run` */
    const char *data_override;     /* instead of its --data, or NULL */
    const char *haystack_override; /* instead of its --haystack, or NULL */
    char *data;                    /* folders and files, owned */
    char *prompts;
    char *refusals;
    char *haystacks;
    struct prompt_template *tpl;
    size_t *lengths;
    double *depths;
    size_t distractors;
    struct sweep sweep; /* borrows from all above */
};

/* `template_text` NULL = the file that --prompt or --task names. */
NG_MUST_USE enum status sweep_args_read(struct sweep_args *s, const char *template_text,
                                        struct error *e);
void sweep_args_release(struct sweep_args *s);

#endif
