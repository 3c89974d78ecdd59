/*
 * Haystacks: the running text that a needle is hidden in.
 *
 * A haystack is a circle of sentences: sample i starts at a sentence drawn from (seed, i) and runs
 * on, past the end of the text to its beginning if need be, so that a sample's text does not
 * depend on the context length. The text is tokenized once for all trials. White space is folded
 * (any run becomes one space), as RULER does, so that every sentence ends where the next begins.
 *
 * Kinds, by the name given to haystack_open():
 *   essays      the essays in haystacks/essays/
 *   prose       seeded generated prose, of any length, no sentence twice in a window (see prose.h)
 *   noise       RULER's repeated sentences ("The grass is green. ...")
 *   PATH        a text file, or a folder whose *.txt files are read in the order of their names
 *
 *     struct haystack *h;
 *     if (haystack_open(&h, "essays", haystacks_folder, e) != OK) ...
 *     struct haystack_tokens *ht;
 *     if (haystack_tokenize(&ht, h, tokenizer, e) != OK) ...
 *     struct window w;
 *     if (haystack_window(ht, seed, sample, max_tokens, &w, e) != OK) ...
 */
#ifndef NEEDLEGRID_HAYSTACK_H
#define NEEDLEGRID_HAYSTACK_H

#include "needlegrid/error.h"
#include "needlegrid/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct haystack;

/*
 * Reads the text (files: UTF-8 is validated, an error names file and offset; at most 2 GiB).
 * `folder` is where shipped haystacks lie.
 */
NG_MUST_USE enum status haystack_open(struct haystack **out, const char *name, const char *folder,
                                      struct error *e);
/* A haystack of the given text, for tests; `name` stands for the file in messages. */
NG_MUST_USE enum status haystack_from_text(struct haystack **out, const char *name,
                                           const char *text, size_t n, struct error *e);
void haystack_free(struct haystack *h);

const char *haystack_name(const struct haystack *h);
/* SHA-256 of the folded text; for generated prose, of the generator's name, revision and words. */
const char *haystack_hash(const struct haystack *h);
/* True if it has no end (generated prose, noise). */
bool haystack_endless(const struct haystack *h);
/*
 * ERR_FORMAT, naming word and place, if `word` occurs in the text as a whole word (case-sensitive).
 */
NG_MUST_USE enum status haystack_must_lack(const struct haystack *h, const char *word,
                                           struct error *e);

/* One haystack in one tokenizer's tokens. Borrows both until freed. One thread at a time. */
struct haystack_tokens;

NG_MUST_USE enum status haystack_tokenize(struct haystack_tokens **out, const struct haystack *h,
                                          const struct tokenizer *t, struct error *e);
void haystack_tokens_free(struct haystack_tokens *ht);

/* Tokens in the whole text; SIZE_MAX if it has no end. */
size_t haystack_token_count(const struct haystack_tokens *ht);

/*
 * A sample's text: `n` tokens and the places between sentences.
 * boundaries[i] is a token index in 0..n at which a sentence ends or starts; the first is 0, they
 * rise strictly. `fallback` is true if the text has no sentence end within it.
 */
struct window {
    const token_id *ids;      /* n tokens; borrowed until the next haystack_window() */
    size_t n;                 /* tokens: exactly max_tokens */
    const size_t *boundaries; /* n_boundaries indices; borrowed likewise */
    size_t n_boundaries;
};

/*
 * The window of (seed, sample), max_tokens long. A longer window of the same (seed, sample)
 * starts with the same tokens.
 */
NG_MUST_USE enum status haystack_window(struct haystack_tokens *ht, uint64_t seed, uint64_t sample,
                                        size_t max_tokens, struct window *out, struct error *e);

/*
 * The boundary nearest to token index `at`, but at most `limit`. If no boundary lies within
 * max_distance tokens, `at` itself, moved back to where a character starts.
 */
size_t window_snap(const struct window *w, const struct tokenizer *t, size_t at, size_t limit,
                   size_t max_distance);

#endif
