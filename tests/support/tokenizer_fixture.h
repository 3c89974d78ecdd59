/*
 * Tokenizers for tests: of the shipped model, and of small vocabularies built in memory.
 *
 *     struct small s = {"qwen2", {"ab"}, NULL, {"a b"}};
 *     struct fixture f = fixture_open_small(&s);
 *     EXPECT_IDS(&f, "ab", TOKENIZE_PLAIN, 256);
 *     fixture_close(&f);
 *
 * All of them fail the running test when something is not as it should be.
 */
#ifndef NEEDLEGRID_TESTS_TOKENIZER_FIXTURE_H
#define NEEDLEGRID_TESTS_TOKENIZER_FIXTURE_H

#include "gguf_build.h"
#include "needlegrid/tokenizer.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
    struct gguf *g;
    struct tokenizer *t;
    uint8_t *bytes; /* of a file built in memory */
};

/* models/tiny-ssmax.gguf: tests run from the repository root. */
struct fixture fixture_open_tiny(void);
void fixture_close(struct fixture *f);

/*
 * A vocabulary of the 256 bytes (id = byte) and then `extra`, written as in files. `types` holds
 * one digit for each extra token; NULL leaves the key out. Lists end with a NULL.
 */
struct small {
    const char *pre;
    const char *extra[8];
    const char *types;
    const char *merges[8];
};

struct fixture fixture_open_small(const struct small *s);

/* In two steps, for more keys between them; the second takes b over. */
void small_build(struct gguf_build *b, const struct small *s);
struct fixture fixture_open_built(struct gguf_build *b);

/* That loading fails with this status and a message that has `message` in it. Takes b over. */
void expect_refused(struct gguf_build *b, enum status status, const char *message);

void expect_ids_n(const struct fixture *f, const char *text, size_t n, enum tokenize mode,
                  const token_id *want, size_t n_want);

#define EXPECT_IDS(f, text, mode, ...)                                                             \
    expect_ids_n(f, text, strlen(text), mode, (const token_id[]){__VA_ARGS__},                     \
                 COUNT(((const token_id[]){__VA_ARGS__})))

void expect_round_trip(const struct fixture *f, const char *text, size_t n, enum tokenize mode);

#endif
