/* Each instruction set's kernels against plain float64 loops, and their independence of shape. */
#include "needlegrid/kernel.h"
#include "needlegrid/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct kernels *tables[4];
static size_t n_tables;

static void fill(float *x, size_t n, uint64_t seed)
{
    struct rng r = rng_make(seed, "test", 0);

    for (size_t i = 0; i < n; i++)
        x[i] = (float)(rng_double(&r) * 4 - 2);
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("got %.9g, want %.9g", got, want);
}

enum { MAX_M = 31, MAX_K = 200 };

static void check_gemm(const struct kernels *k, size_t m, size_t n, size_t depth, bool add)
{
    static float a[MAX_M * (MAX_K + 3)];
    static float b[MAX_K * KERNEL_MAX_PANEL];
    static float c[MAX_M * 40];
    size_t lda = depth + 3;

    fill(a, m * lda, 1);
    fill(b, depth * k->panel, 2);
    for (size_t i = 0; i < m * 40; i++)
        c[i] = 7;
    k->gemm(m, n, depth, a, lda, b, c, 40, add);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < 40; j++) {
            double want = add || j >= n ? 7 : 0;
            double size = want;
            for (size_t l = 0; j < n && l < depth; l++) {
                double term = (double)a[i * lda + l] * (double)b[l * k->panel + j];
                want += term;
                size += fabs(term);
            }
            /* the rounding of a sum of `depth` terms, loosely: they add up like a random walk */
            if (!(fabs((double)c[i * 40 + j] - want) <= 1e-6 * size))
                fail_msg("%s: got %.9g, want %.9g", k->name, (double)c[i * 40 + j], want);
        }
    }
}

static void gemm_equals_the_formula_at_every_shape(void **state)
{
    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t m = 1; m <= MAX_M; m += m < 14 ? 1 : 5) {
            for (size_t n = 1; n <= tables[t]->panel; n += n < 4 ? 1 : 4)
                check_gemm(tables[t], m, n, 17, (m + n) % 2);
            check_gemm(tables[t], m, tables[t]->panel, MAX_K, false);
            check_gemm(tables[t], m, tables[t]->panel, 1, true);
        }
    }
}

/* A row's bits do not depend on how many rows are multiplied with it. */
static void gemm_rows_are_independent(void **state)
{
    static float a[MAX_M * MAX_K];
    static float b[MAX_K * KERNEL_MAX_PANEL];
    static float all[MAX_M * KERNEL_MAX_PANEL];
    static float one[KERNEL_MAX_PANEL];

    (void)state;
    fill(a, MAX_M * MAX_K, 3);
    for (size_t t = 0; t < n_tables; t++) {
        size_t p = tables[t]->panel;
        fill(b, MAX_K * p, 4);
        tables[t]->gemm(MAX_M, p, MAX_K, a, MAX_K, b, all, p, false);
        for (size_t i = 0; i < MAX_M; i++) {
            tables[t]->gemm(1, p, MAX_K, a + i * MAX_K, MAX_K, b, one, p, false);
            assert_memory_equal(one, all + i * p, p * sizeof(float));
        }
    }
}

static void softmax_over_blocks_equals_softmax(void **state)
{
    enum { N = 300 };
    static float s[N + 64];
    double weights[N];

    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        float max = -INFINITY;
        float sum = 0;
        double total = 0;
        float kept = 0; /* what a first value's weight becomes under later maxima */
        fill(s, N, 5);
        s[200] = 30; /* a late maximum rescales what came before */
        for (size_t i = 0; i < N; i++)
            weights[i] = exp2((double)s[i] - 30);
        for (size_t i = 0; i < N; i++)
            total += weights[i];
        for (size_t at = 0; at < N; at += 70) {
            size_t n = N - at < 70 ? N - at : 70;
            float factor = tables[t]->softmax(s + at, n, n, &max, &sum);
            kept = at == 0 ? s[0] : kept * factor;
        }
        assert_near((double)max, 30, 0);
        assert_near((double)sum, total, 1e-6);
        assert_near((double)kept, weights[0], 1e-6);
        assert_near((double)s[299], weights[299], 1e-6);
    }
}

static void softmax_pads_with_zeros_and_ignores_what_is_behind(void **state)
{
    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t n = 1; n <= 37; n++) {
            float s[64];
            float max = -INFINITY;
            float sum = 0;
            for (size_t i = 0; i < 64; i++)
                s[i] = i < n ? (float)i : 1000;
            tables[t]->softmax(s, n, 50, &max, &sum);
            assert_near((double)max, (double)n - 1, 0);
            for (size_t i = 0; i < n; i++)
                assert_near((double)s[i], exp2((double)i - (double)n + 1), 1e-6);
            for (size_t i = n; i < 50; i++)
                assert_true(s[i] == 0);
            for (size_t i = 50; i < 64; i++)
                assert_true(s[i] == 1000);
        }
    }
}

static void norms_and_activations_equal_their_formulas(void **state)
{
    float x[100], w[100], up[100], out[100];

    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t n = 1; n <= 100; n += 9) {
            double mean = 0;
            fill(x, n, n);
            fill(w, n, n + 1);
            fill(up, n, n + 2);
            for (size_t i = 0; i < n; i++)
                mean += (double)x[i] * (double)x[i] / (double)n;
            tables[t]->rms_norm(out, x, w, n, 1e-5f);
            for (size_t i = 0; i < n; i++)
                assert_near((double)out[i], (double)x[i] * (double)w[i] / sqrt(mean + 1e-5), 1e-5);
            memcpy(out, x, sizeof(out));
            tables[t]->swiglu(out, up, n);
            for (size_t i = 0; i < n; i++)
                assert_near((double)out[i], (double)x[i] / (1 + exp(-(double)x[i])) * (double)up[i],
                            1e-5);
            memcpy(out, x, sizeof(out));
            tables[t]->scale(out, 0.5f, n);
            for (size_t i = 0; i < n; i++)
                assert_true(out[i] == x[i] * 0.5f);
        }
    }
}

static void swiglu_is_finite_at_extremes(void **state)
{
    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        float gate[4] = {-1000, 1000, -100, 0};
        const float up[4] = {1, 1, 1, 1};
        tables[t]->swiglu(gate, up, 4);
        assert_near((double)gate[0], 0, 1e-30);
        assert_near((double)gate[1], 1000, 1e-6);
        assert_near((double)gate[2], 0, 1e-30);
        assert_true(gate[3] == 0);
    }
}

static void rope_turns_pairs(void **state)
{
    float x[80], y[80], c[40], s[40];

    (void)state;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t half = 0; half <= 40; half += half < 4 ? 1 : 9) {
            fill(x, 80, half);
            for (size_t i = 0; i < half; i++) {
                c[i] = cosf((float)i);
                s[i] = sinf((float)i);
            }
            memcpy(y, x, sizeof(y));
            tables[t]->rope(y, c, s, half);
            for (size_t i = 0; i < half; i++) {
                double a = (double)x[i], b = (double)x[i + half];
                assert_near((double)y[i], a * (double)c[i] - b * (double)s[i], 1e-6);
                assert_near((double)y[i + half], a * (double)s[i] + b * (double)c[i], 1e-6);
            }
            assert_memory_equal(y + 2 * half, x + 2 * half, (80 - 2 * half) * sizeof(float));
        }
    }
}

static uint32_t bits_of(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

/* All 65,536 patterns: infinities, subnormals and signed zeros are exact, a NaN stays one. */
static void widening_is_exact(void **state)
{
    static uint16_t in[65536];
    static float half[65536];
    static float brain[65536];

    (void)state;
    for (size_t i = 0; i < 65536; i++)
        in[i] = (uint16_t)i;
    for (size_t t = 0; t < n_tables; t++) {
        tables[t]->widen_f16(half, in, 65536);
        tables[t]->widen_bf16(brain, in, 65536);
        for (size_t i = 0; i < 65536; i++) {
            int exponent = (int)(i >> 10 & 31);
            double fraction = (double)(i & 1023);
            double want = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
            if (exponent < 31)
                assert_int_equal(bits_of(half[i]), bits_of((float)(i >> 15 ? -want : want)));
            else if (fraction == 0)
                assert_true(isinf(half[i]) &&
                            signbit(half[i]) == (int)(i >> 15) * signbit(half[i]));
            else
                assert_true(isnan(half[i]));
            assert_int_equal(bits_of(brain[i]), i << 16);
        }
    }
}

static void selection_names_what_there_is(void **state)
{
    const struct kernels *k;
    struct error e;

    (void)state;
    assert_int_equal(kernels_select(&k, "generic", &e), OK);
    assert_string_equal(k->name, "generic");
    assert_int_equal(kernels_select(&k, NULL, &e), OK);
    assert_ptr_equal(k, tables[n_tables - 1]);
    assert_int_equal(kernels_select(&k, "sse9", &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "sse9"));
    assert_non_null(strstr(e.message, "generic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_equals_the_formula_at_every_shape),
        cmocka_unit_test(gemm_rows_are_independent),
        cmocka_unit_test(softmax_over_blocks_equals_softmax),
        cmocka_unit_test(softmax_pads_with_zeros_and_ignores_what_is_behind),
        cmocka_unit_test(norms_and_activations_equal_their_formulas),
        cmocka_unit_test(swiglu_is_finite_at_extremes),
        cmocka_unit_test(rope_turns_pairs),
        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(selection_names_what_there_is),
    };

    n_tables = kernels_available(tables);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
