/*
 * Haystacks with builders of prompts for tests; all of them fail the running test on an error.
 *
 *     struct fixture f = fixture_open_tiny();
 *     struct prompt_template *tpl = open_tokyo();
 *     struct setup s = setup_open("essays", NULL, tpl, f.t);
 *     struct trial t = build_trial(s.b, 1000, 50, sample, seed);
 *     ...
 *     trial_release(&t);
 *     setup_close(&s);
 */
#ifndef NEEDLEGRID_TESTS_TRIAL_FIXTURE_H
#define NEEDLEGRID_TESTS_TRIAL_FIXTURE_H

#include "needlegrid/trial.h"
#include "tokenizer_fixture.h"

struct setup {
    struct haystack *h;
    struct haystack_tokens *ht;
    struct trial_builder *b;
};

/* prompts/tokyo.json; template_free() it. */
struct prompt_template *open_tokyo(void);

/* A haystack of `text`, or the one that `name` names if text is NULL. Borrows tpl and t. */
struct setup setup_open(const char *name, const char *text, const struct prompt_template *tpl,
                        const struct tokenizer *t);
/* With options (NULL = the template's) and errors, after which it is still to be closed; the
 * haystack can be "needles", and is not looked at for tasks without one. */
enum status setup_try(struct setup *s, const char *name, const char *text,
                      const struct prompt_template *tpl, const struct trial_options *o,
                      const struct tokenizer *t, struct error *e);
void setup_close(struct setup *s);

/* A template of this JSON; template_free() it. */
struct prompt_template *parse_template(const char *text);

struct trial build_trial(struct trial_builder *b, size_t length, double depth, uint64_t sample,
                         uint64_t seed);

/* The bytes of the ids, in place of what `out` held. */
void decode_ids(const struct tokenizer *t, const token_id *ids, size_t n, struct buf *out);

/* How often `part` stands in `text`, overlaps included. */
size_t count_text(const char *text, const char *part);

/* Text of two scripts, mostly without ends of sentences. */
void write_mixed(struct buf *out);

#endif
