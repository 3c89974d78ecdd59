/* Attention read out of a session against the float64 reference. */
#include "../support/engine_fixture.h"
#include "../support/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 500, N_VOCAB = 1024, N_HEADS = 9, N_SPANS = 3 };

static const struct token_span spans[N_SPANS] = {{0, 1}, {100, 116}, {300, N}};

static void near(double got, double want)
{
    if (!(fabs(got - want) < 1e-5))
        fail_msg("got %.9g, want %.9g", got, want);
}

static void compare(const double *weights, size_t n, const struct head_attention *h,
                    const double *mass)
{
    double max = 0;
    double entropy = 0;

    for (size_t j = 0; j < n; j++) {
        max = weights[j] > max ? weights[j] : max;
        entropy -= weights[j] > 0 ? weights[j] * log(weights[j]) : 0;
    }
    near(h->max, max);
    near(h->entropy, entropy);
    for (size_t i = 0; i < N_SPANS; i++) {
        double want = 0;
        for (size_t j = spans[i].from; j < spans[i].to && j < n; j++)
            want += weights[j];
        near(mass[i], want);
    }
}

static void check_model(const char *path, const char *isa, size_t n_logits)
{
    size_t n = N - n_logits + 1; /* the position watched is the first with logits */
    double *weights = calloc(N_HEADS * n, sizeof(*weights));
    int32_t *ids = random_ids(N, N_VOCAB, 3);
    struct head_attention heads[N_HEADS];
    double mass[N_HEADS * N_SPANS];
    struct engine x;
    struct error e;

    assert_non_null(weights);
    engine_open(&x, path, isa, "model", 2, N);
    reference_attention(x.g, ids, n, weights);
    assert_int_equal(session_watch_attention(x.s, &e), OK);
    assert_int_equal(session_sync(x.s, ids, N, n_logits, &e), OK);
    assert_int_equal(session_attention(x.s, spans, N_SPANS, heads, mass, &e), OK);
    for (size_t i = 0; i < N_HEADS; i++)
        compare(weights + i * n, n, &heads[i], mass + i * N_SPANS);
    engine_close(&x);
    free(weights);
    free(ids);
}

static void attention_equals_the_reference(void **state)
{
    const struct kernels *tables[4];
    size_t n = kernels_available(tables);

    (void)state;
    for (size_t t = 0; t < n; t++) {
        check_model("models/tiny-ssmax.gguf", tables[t]->name, 1);
        check_model("models/tiny-softmax.gguf", tables[t]->name, 1);
        check_model("models/tiny-ssmax.gguf", tables[t]->name, 8);
    }
}

/* Whatever was cached before: the watched position is always evaluated. */
static void attention_does_not_depend_on_the_cache(void **state)
{
    int32_t *ids = random_ids(N, N_VOCAB, 4);
    struct head_attention first[N_HEADS], again[N_HEADS];
    double mass[N_HEADS * N_SPANS];
    struct engine x;
    struct error e;

    (void)state;
    engine_open(&x, "models/tiny-ssmax.gguf", NULL, "model", 1, N);
    assert_int_equal(session_sync(x.s, ids, N, 1, &e), OK);
    assert_int_equal(session_attention(x.s, spans, N_SPANS, first, mass, &e), ERR_USAGE);
    assert_int_equal(session_watch_attention(x.s, &e), OK);
    assert_int_equal(session_attention(x.s, spans, N_SPANS, first, mass, &e), ERR_USAGE);
    assert_int_equal(session_sync(x.s, ids, N, 1, &e), OK);
    assert_int_equal(session_attention(x.s, spans, N_SPANS, first, mass, &e), OK);
    session_forget(x.s);
    assert_int_equal(session_sync(x.s, ids, N, 1, &e), OK);
    assert_int_equal(session_attention(x.s, spans, N_SPANS, again, mass, &e), OK);
    assert_memory_equal(first, again, sizeof(first));
    engine_close(&x);
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_equals_the_reference),
        cmocka_unit_test(attention_does_not_depend_on_the_cache),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
