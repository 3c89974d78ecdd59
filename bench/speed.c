/*
 * Prefill and decode speed of a model by context length.
 *
 * Usage: speed MODEL.gguf [THREADS [ISA]]
 *
 * Each figure is the median of several runs after one that is not counted, with the spread from
 * the slowest to the fastest. Wall-clock time on a shared machine: compare only what was run side
 * by side.
 */
#include "needlegrid/os.h"
#include "needlegrid/rng.h"
#include "needlegrid/session.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 16384, RUNS = 5, DECODED = 64 };

static void check(enum status status, const struct error *e)
{
    if (status == OK)
        return;
    fprintf(stderr, "speed: %s\n", e->message);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void print_rate(const char *what, size_t length, double *seconds, double tokens)
{
    qsort(seconds, RUNS, sizeof(*seconds), by_value);
    printf("%-8s %6zu %10.0f tokens/s  (%.0f to %.0f)\n", what, length, tokens / seconds[RUNS / 2],
           tokens / seconds[RUNS - 1], tokens / seconds[0]);
}

static void measure_prefill(struct session *s, const int32_t *ids, size_t n)
{
    double seconds[RUNS + 1];
    struct error e;

    for (size_t i = 0; i <= RUNS; i++) {
        double start;
        session_forget(s);
        start = os_monotonic_s();
        check(session_sync(s, ids, n, 1, &e), &e);
        seconds[i] = os_monotonic_s() - start;
    }
    print_rate("prefill", n, seconds + 1, (double)n);
}

/* DECODED tokens one at a time behind n. */
static void measure_decode(struct session *s, const int32_t *ids, size_t n)
{
    double seconds[RUNS + 1];
    struct error e;

    for (size_t i = 0; i <= RUNS; i++) {
        double start;
        check(session_sync(s, ids, n, 1, &e), &e);
        start = os_monotonic_s();
        for (size_t t = 1; t <= DECODED; t++)
            check(session_sync(s, ids, n + t, 1, &e), &e);
        seconds[i] = os_monotonic_s() - start;
    }
    print_rate("decode", n, seconds + 1, DECODED);
}

int main(int argc, char **argv)
{
    static int32_t ids[LONGEST + DECODED];
    struct model_options o = {.kernels = NULL};
    struct rng r = rng_make(1, "speed", 0);
    struct threads *threads;
    struct session *s;
    struct model *m;
    struct gguf *g;
    struct error e;

    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: speed MODEL.gguf [THREADS [ISA]]\n");
        return 2;
    }
    check(kernels_select(&o.kernels, argc > 3 ? argv[3] : NULL, &e), &e);
    check(attention_choice_parse(&o.attention, "model", &e), &e);
    check(threads_new(&threads, argc > 2 ? strtoul(argv[2], NULL, 10) : (size_t)os_cpu_count(), &e),
          &e);
    check(gguf_open(&g, argv[1], &e), &e);
    check(model_open(&m, g, &o, &e), &e);
    check(session_new(&s, m, threads, LONGEST + DECODED, &e), &e);
    for (size_t i = 0; i < LONGEST + DECODED; i++)
        ids[i] = (int32_t)rng_below(&r, model_config(m)->n_vocab);
    printf("%s, %s, %zu threads, F32 cache\n", argv[1], o.kernels->name, threads_count(threads));
    for (size_t n = 512; n <= LONGEST; n *= 2)
        measure_prefill(s, ids, n);
    for (size_t n = 512; n <= LONGEST; n *= 4)
        measure_decode(s, ids, n);
    session_free(s);
    model_free(m);
    gguf_close(g);
    threads_free(threads);
    return 0;
}
