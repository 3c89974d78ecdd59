/*
 * Whole models: logits against an independent float64 reference, and the promise that they are the
 * same bits whatever the threads, the chunks and the cache.
 */
#include "../support/engine_fixture.h"
#include "../support/reference.h"

#include "needlegrid/sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SOFTMAX_MODEL "models/tiny-softmax.gguf"
#define SSMAX_MODEL "models/tiny-ssmax.gguf"

enum { N_VOCAB = 1024 };

static const struct kernels *tables[4];
static size_t n_tables;

static void sync_to(struct session *s, const int32_t *ids, size_t n, size_t n_logits)
{
    struct error e;

    if (session_sync(s, ids, n, n_logits, &e) != OK)
        fail_msg("%s", e.message);
}

static double largest_difference(const float *got, const double *want, size_t n)
{
    double max = 0;

    for (size_t i = 0; i < n; i++)
        max = fabs((double)got[i] - want[i]) > max ? fabs((double)got[i] - want[i]) : max;
    return max;
}

/* The reference at `n` tokens for a model under its own rule, every instruction set against it. */
static void compare_with_reference(const char *path, size_t n, size_t n_logits)
{
    double *want = calloc(n_logits * N_VOCAB, sizeof(*want));
    int32_t *ids = random_ids(n, N_VOCAB, n);
    struct engine x;

    assert_non_null(want);
    engine_open(&x, path, "generic", "model", 1, n);
    reference_logits(x.g, ids, n, n_logits, want);
    engine_close(&x);
    for (size_t t = 0; t < n_tables; t++) {
        double max;
        engine_open(&x, path, tables[t]->name, "model", 2, n);
        sync_to(x.s, ids, n, n_logits);
        max = largest_difference(session_logits(x.s, 0), want, n_logits * N_VOCAB);
        if (!(max < 1e-3))
            fail_msg("%s, %s, %zu tokens: off by %g", path, tables[t]->name, n, max);
        engine_close(&x);
    }
    free(ids);
    free(want);
}

static void logits_equal_the_reference(void **state)
{
    static const size_t lengths[] = {1, 2, 127, 128, 129, 700};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t n_logits = lengths[i] < 5 ? lengths[i] : 5;
        compare_with_reference(SSMAX_MODEL, lengths[i], n_logits);
        compare_with_reference(SOFTMAX_MODEL, lengths[i], n_logits);
    }
}

static void logits_equal_the_reference_at_every_position(void **state)
{
    (void)state;
    compare_with_reference(SSMAX_MODEL, 300, 300);
}

/*
 * At 4,096 tokens the plain reference takes seconds (and minutes under a sanitizer): one model, one
 * position.
 */
static void logits_equal_the_reference_at_4096(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    skip();
#endif
#endif
    compare_with_reference(SSMAX_MODEL, 4096, 1);
}

/* ---- the same bits ---- */

enum { LENGTH = 600, TAIL = 40 };

/* Logits of the last TAIL positions, each evaluated by the given threads and chunk from scratch. */
static float *tail_logits(const char *isa, size_t threads, size_t chunk, const int32_t *ids)
{
    float *out = calloc(TAIL * N_VOCAB, sizeof(*out));
    struct engine x;

    assert_non_null(out);
    engine_open(&x, SSMAX_MODEL, isa, "model", threads, LENGTH);
    session_set_chunk(x.s, chunk);
    sync_to(x.s, ids, LENGTH, TAIL);
    memcpy(out, session_logits(x.s, 0), TAIL * N_VOCAB * sizeof(*out));
    engine_close(&x);
    return out;
}

static void threads_and_chunks_do_not_change_a_bit(void **state)
{
    static const size_t chunks[] = {1, 17, 256, SESSION_CHUNK};
    int32_t *ids = random_ids(LENGTH, N_VOCAB, 7);

    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        float *want = tail_logits(tables[t]->name, 1, 512, ids);
        for (size_t threads = 1; threads <= 3; threads++) {
            for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
                float *got = tail_logits(tables[t]->name, threads, chunks[c], ids);
                assert_memory_equal(got, want, TAIL * N_VOCAB * sizeof(*got));
                free(got);
            }
        }
        free(want);
    }
    free(ids);
}

static void decoding_equals_prefill(void **state)
{
    int32_t *ids = random_ids(LENGTH, N_VOCAB, 8);

    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        float *want = tail_logits(tables[t]->name, 2, 512, ids);
        struct engine x;
        engine_open(&x, SSMAX_MODEL, tables[t]->name, "model", 1, LENGTH);
        sync_to(x.s, ids, LENGTH - TAIL, 1);
        for (size_t i = 0; i < TAIL; i++) {
            sync_to(x.s, ids, LENGTH - TAIL + i + 1, 1);
            assert_memory_equal(session_logits(x.s, 0), want + i * N_VOCAB,
                                N_VOCAB * sizeof(float));
        }
        engine_close(&x);
        free(want);
    }
    free(ids);
}

/* A cache that held other sequences before gives the bits of a fresh one. */
static void reuse_does_not_change_a_bit(void **state)
{
    int32_t *a = random_ids(LENGTH, N_VOCAB, 9);
    int32_t *b = random_ids(LENGTH, N_VOCAB, 10);
    struct engine x;
    float *want;

    (void)state;
    memcpy(b, a, 333 * sizeof(*a));
    want = tail_logits(NULL, 2, 512, a);
    engine_open(&x, SSMAX_MODEL, NULL, "model", 2, LENGTH);
    sync_to(x.s, b, LENGTH, 1);
    sync_to(x.s, a, LENGTH, TAIL);
    assert_memory_equal(session_logits(x.s, 0), want, TAIL * N_VOCAB * sizeof(*want));
    assert_int_equal(session_counters(x.s).reused, 333);
    sync_to(x.s, b, 100, 1); /* shorter: cut back, the last position evaluated for its logits */
    assert_int_equal(session_counters(x.s).reused, 333 + 99);
    sync_to(x.s, a, LENGTH, TAIL);
    assert_memory_equal(session_logits(x.s, 0), want, TAIL * N_VOCAB * sizeof(*want));
    engine_close(&x);
    free(want);
    free(a);
    free(b);
}

static void forgetting_evaluates_all_again(void **state)
{
    int32_t *ids = random_ids(50, N_VOCAB, 11);
    struct engine x;

    (void)state;
    engine_open(&x, SOFTMAX_MODEL, NULL, "model", 1, 50);
    sync_to(x.s, ids, 50, 1);
    session_forget(x.s);
    sync_to(x.s, ids, 50, 1);
    assert_int_equal(session_counters(x.s).evaluated, 100);
    assert_int_equal(session_counters(x.s).reused, 0);
    engine_close(&x);
    free(ids);
}

static void a_neutral_rule_changes_the_logits(void **state)
{
    int32_t *ids = random_ids(200, N_VOCAB, 12);
    struct engine softmax, switched;

    (void)state;
    engine_open(&softmax, SOFTMAX_MODEL, NULL, "softmax", 1, 200);
    engine_open(&switched, SOFTMAX_MODEL, NULL, "ssmax", 1, 200);
    sync_to(softmax.s, ids, 200, 1);
    sync_to(switched.s, ids, 200, 1);
    assert_memory_not_equal(session_logits(softmax.s, 0), session_logits(switched.s, 0),
                            N_VOCAB * sizeof(float));
    engine_close(&softmax);
    engine_close(&switched);
    free(ids);
}

static void bad_sequences_are_refused(void **state)
{
    int32_t ids[4] = {0, 5, N_VOCAB, 6};
    struct engine x;
    struct error e;

    (void)state;
    engine_open(&x, SOFTMAX_MODEL, NULL, "model", 1, 3);
    assert_int_equal(session_sync(x.s, ids, 3, 1, &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, "token 1024 at 2"));
    ids[2] = -1;
    assert_int_equal(session_sync(x.s, ids, 3, 1, &e), ERR_LIMIT);
    ids[2] = 1;
    assert_int_equal(session_sync(x.s, ids, 4, 1, &e), ERR_LIMIT);
    assert_non_null(strstr(e.message, "context of 3"));
    assert_int_equal(session_sync(x.s, ids, 0, 0, &e), ERR_LIMIT);
    assert_int_equal(session_sync(x.s, ids, 2, 3, &e), ERR_LIMIT);
    assert_int_equal(session_sync(x.s, ids, 3, 3, &e), OK);
    engine_close(&x);
}

/* A context whose cache no machine holds is refused with the size, and nothing is left behind. */
static void a_huge_context_is_refused(void **state)
{
    struct engine x;
    struct session *s;
    struct error e;

    (void)state;
    engine_open(&x, SOFTMAX_MODEL, NULL, "model", 1, 1);
    assert_int_equal(session_new(&s, x.m, x.threads, SIZE_MAX / 2, &e), ERR_USAGE);
    assert_null(s);
    engine_close(&x);
}

static void samples_read_logits(void **state)
{
    const float logits[] = {0.0f, 2.0f, -1.0f, 2.0f};
    double sum = 1 + 2 * exp(2) + exp(-1);

    (void)state;
    assert_int_equal(sample_greedy(logits, 4), 1);
    assert_int_equal(sample_rank(logits, 4, 1), 1);
    assert_int_equal(sample_rank(logits, 4, 3), 2);
    assert_int_equal(sample_rank(logits, 4, 2), 4);
    assert_true(fabs(sample_logprob(logits, 4, 0) - log(1 / sum)) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_equal_the_reference),
        cmocka_unit_test(logits_equal_the_reference_at_every_position),
        cmocka_unit_test(logits_equal_the_reference_at_4096),
        cmocka_unit_test(threads_and_chunks_do_not_change_a_bit),
        cmocka_unit_test(decoding_equals_prefill),
        cmocka_unit_test(reuse_does_not_change_a_bit),
        cmocka_unit_test(forgetting_evaluates_all_again),
        cmocka_unit_test(a_neutral_rule_changes_the_logits),
        cmocka_unit_test(bad_sequences_are_refused),
        cmocka_unit_test(a_huge_context_is_refused),
        cmocka_unit_test(samples_read_logits),
    };

    n_tables = kernels_available(tables);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
