/*
 * Haystacks: the running text that a needle is hidden in.
 *
 * A haystack is a circle of sentences: sample i starts at a sentence drawn from (seed, i) and runs
 * on, past the end of the text to its beginning if need be, so that a sample's text does not
 * depend on the context length. The text is tokenized once for all trials, or from 16 MiB on only
 * the parts that are used. White space is folded
 * (any run becomes one space), as RULER does, and every sentence begins with its space, the first
 * one too, so that the place where the end meets the beginning is like any other. A sentence also
 * ends at a blank line and at the end of a file.
 *
 * Kinds, by the name given to haystack_open():
 *   essays      the essays in haystacks/essays/
 *   prose       seeded generated prose, of any length (prose.h)
 *   noise       RULER's repeated sentences ("The grass is green. ...")
 *   PATH        a text file, a folder whose *.txt files are read in the order of their names, or a
 *               .jsonl file: one JSON object a line, with its text in the member "text"
 * A haystack of needles (RULER's multikey_2 and _3) is made by haystack_of_needles().
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
/* A .jsonl file whose texts are the member `field`; each ends a sentence. */
NG_MUST_USE enum status haystack_open_jsonl(struct haystack **out, const char *path,
                                            const char *field, struct error *e);
/*
 * Needles of the template, one after the other and without end: keys and values of a sample that
 * come after its first `planted`, the first `asked` of which are asked for. Borrows the template.
 */
struct prompt_template;
NG_MUST_USE enum status haystack_of_needles(struct haystack **out,
                                            const struct prompt_template *tpl, size_t asked,
                                            size_t planted, struct error *e);
/* A haystack of the given text, for tests; `name` stands for the file in messages. */
NG_MUST_USE enum status haystack_from_text(struct haystack **out, const char *name,
                                           const char *text, size_t n, struct error *e);
void haystack_free(struct haystack *h);

const char *haystack_name(const struct haystack *h);
/* SHA-256 of the folded sentences; for what is generated, of all that decides on its text. */
const char *haystack_hash(const struct haystack *h);
/* True if it has no end (generated prose, noise, needles). */
bool haystack_endless(const struct haystack *h);
/* The folded text, borrowed until haystack_free(); {NULL, 0} for prose and needles. */
struct str haystack_text(const struct haystack *h);
/*
 * ERR_FORMAT, naming word and place, if `word` occurs in the text as a whole word (case-sensitive).
 */
NG_MUST_USE enum status haystack_must_lack(const struct haystack *h, const char *word,
                                           struct error *e);

/* One haystack in one tokenizer's tokens. Borrows both until freed. One thread at a time. */
struct haystack_tokens;

NG_MUST_USE enum status haystack_tokenize(struct haystack_tokens **out, const struct haystack *h,
                                          const struct tokenizer *t, struct error *e);
/*
 * The same tokens, but each time round the sentences are permuted anew, by (seed, sample, round).
 * Borrows `base`, which is of a finite text, until freed.
 */
NG_MUST_USE enum status haystack_shuffled(struct haystack_tokens **out,
                                          struct haystack_tokens *base, struct error *e);
void haystack_tokens_free(struct haystack_tokens *ht);

/* The haystack as the prompts get it: "essays" or "essays, shuffled", and a hash that differs. */
const char *haystack_tokens_name(const struct haystack_tokens *ht);
const char *haystack_tokens_hash(const struct haystack_tokens *ht);
const struct haystack *haystack_tokens_source(const struct haystack_tokens *ht);

/* Tokens in the whole text, of 16 MiB and more about; SIZE_MAX if it has no end. */
size_t haystack_token_count(const struct haystack_tokens *ht);
/* How many windows of this many tokens the text holds side by side; SIZE_MAX if it has no end. */
size_t haystack_windows(const struct haystack_tokens *ht, size_t length);

/* A sample's text, and the places where a sentence ends or starts. */
struct window {
    const token_id *ids;      /* [n]; borrowed until the next haystack_window() */
    size_t n;                 /* tokens: exactly max_tokens */
    const size_t *boundaries; /* token indices in 0..n, rising, the first is 0; borrowed likewise */
    size_t n_boundaries;
    const char *const *values; /* of needles: [n_boundaries] the value in the one that starts at
                                  each boundary, or NULL; NULL for other haystacks */
};

/*
 * The window of (seed, sample), max_tokens long. A longer window of the same (seed, sample)
 * starts with the same tokens.
 */
NG_MUST_USE enum status haystack_window(struct haystack_tokens *ht, uint64_t seed, uint64_t sample,
                                        size_t max_tokens, struct window *out, struct error *e);

/*
 * The last boundary that is not after `limit`. If that is 0 or more than max_distance tokens away,
 * `limit` itself, moved back to where a character starts. The window is longer than `limit`.
 */
size_t window_end(const struct window *w, const struct tokenizer *t, size_t limit,
                  size_t max_distance);
/*
 * The place nearest to token index `at` among the boundaries before `end` and `end` itself. If
 * none lies within max_distance tokens, `at`, moved back to where a character starts.
 */
size_t window_snap(const struct window *w, const struct tokenizer *t, size_t at, size_t end,
                   size_t max_distance);

/* What to do where a text holds fewer than HAYSTACK_MIN_WINDOWS windows of a context length. */
enum { HAYSTACK_MIN_WINDOWS = 4 };

enum haystack_fill {
    FILL_GENERATE, /* take generated prose instead: the default */
    FILL_REPEAT,   /* go round the text as often as needed */
    FILL_SHUFFLE,  /* go round, the sentences in another order each time */
    FILL_REFUSE,   /* an error that names the text's tokens and the need */
};

/* "generate", "repeat", "shuffle", "refuse"; an unknown name is ERR_USAGE with the list. */
NG_MUST_USE enum status haystack_fill_parse(const char *name, enum haystack_fill *out,
                                            struct error *e);
const char *haystack_fill_name(enum haystack_fill fill);

/* Which haystack a context length gets: `ht` itself, prose, or haystack_shuffled(ht). */
enum haystack_use { HAYSTACK_AS_ASKED, HAYSTACK_PROSE, HAYSTACK_SHUFFLED };

NG_MUST_USE enum status haystack_choose(const struct haystack_tokens *ht, size_t context_length,
                                        enum haystack_fill fill, enum haystack_use *out,
                                        struct error *e);

#endif
