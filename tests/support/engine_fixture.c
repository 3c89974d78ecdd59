#include "engine_fixture.h"

#include "needlegrid/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(enum status status, const struct error *e)
{
    if (status != OK) {
        fprintf(stderr, "fixture: %s\n", e->message);
        abort();
    }
}

void engine_open(struct engine *out, const char *path, const char *isa, const char *attention,
                 size_t n_threads, size_t capacity)
{
    struct model_options o = {.kernels = NULL};
    struct error e;

    need(kernels_select(&o.kernels, isa, &e), &e);
    need(attention_choice_parse(&o.attention, attention, &e), &e);
    need(gguf_open(&out->g, path, &e), &e);
    need(model_open(&out->m, out->g, &o, &e), &e);
    need(threads_new(&out->threads, n_threads, &e), &e);
    need(session_new(&out->s, out->m, out->threads, capacity, &e), &e);
}

void engine_close(struct engine *x)
{
    session_free(x->s);
    threads_free(x->threads);
    model_free(x->m);
    gguf_close(x->g);
    memset(x, 0, sizeof(*x));
}

int32_t *random_ids(size_t n, size_t n_vocab, uint64_t seed)
{
    int32_t *ids = calloc(n, sizeof(*ids));
    struct rng r = rng_make(seed, "test ids", 0);

    if (!ids)
        abort();
    for (size_t i = 1; i < n; i++)
        ids[i] = (int32_t)rng_below(&r, n_vocab);
    return ids;
}
