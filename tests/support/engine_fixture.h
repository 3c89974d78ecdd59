/* Opening engines in tests; anything unexpected fails the test with the message. */
#ifndef NEEDLEGRID_TEST_ENGINE_FIXTURE_H
#define NEEDLEGRID_TEST_ENGINE_FIXTURE_H

#include "needlegrid/session.h"

#include <stddef.h>
#include <stdint.h>

struct engine {
    struct gguf *g;
    struct model *m;
    struct threads *threads;
    struct session *s;
};

/* kernels by name, NULL = the fastest; attention as `--attention` takes it. */
void engine_open(struct engine *out, const char *path, const char *isa, const char *attention,
                 size_t n_threads, size_t capacity);
void engine_close(struct engine *x);

/* n ids below n_vocab, the first one 0 (BOS), the same for the same seed. */
int32_t *random_ids(size_t n, size_t n_vocab, uint64_t seed);

#endif
