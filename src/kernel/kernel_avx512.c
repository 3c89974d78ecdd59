/* AVX-512 (F, BW, DQ, VL). Compiled with its own flags; empty elsewhere. */
#include "kernel_impl.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>
#include <math.h>

enum {
    LANES = 16,
    PANEL = 32,    /* two vectors */
    MAX_ROWS = 12, /* 12 x 2 sums + 2 of b + 1 of a = 27 of 32 registers */
};

/*
 * `rows` rows of a times one panel. `rows` is a constant at each call, so that the loops over it
 * unroll and the sums stay in registers.
 */
static inline __attribute__((always_inline)) void
gemm_rows(const size_t rows, size_t k, const float *a, size_t lda, const float *b, float *c,
          size_t ldc, __mmask16 mask0, __mmask16 mask1, bool add)
{
    __m512 sum[MAX_ROWS][2];

#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = add ? _mm512_maskz_loadu_ps(mask0, c + i * ldc) : _mm512_setzero_ps();
        sum[i][1] = add ? _mm512_maskz_loadu_ps(mask1, c + i * ldc + LANES) : _mm512_setzero_ps();
    }
    for (size_t l = 0; l < k; l++) {
        __m512 b0 = _mm512_loadu_ps(b + l * PANEL);
        __m512 b1 = _mm512_loadu_ps(b + l * PANEL + LANES);
#pragma GCC unroll 12
        for (size_t i = 0; i < rows; i++) {
            __m512 x = _mm512_set1_ps(a[i * lda + l]);
            sum[i][0] = _mm512_fmadd_ps(x, b0, sum[i][0]);
            sum[i][1] = _mm512_fmadd_ps(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++) {
        _mm512_mask_storeu_ps(c + i * ldc, mask0, sum[i][0]);
        _mm512_mask_storeu_ps(c + i * ldc + LANES, mask1, sum[i][1]);
    }
}

static __mmask16 first_lanes(size_t n)
{
    return n >= LANES ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1);
}

static void gemm(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b, float *c,
                 size_t ldc, bool add)
{
    __mmask16 mask0 = first_lanes(n);
    __mmask16 mask1 = n > LANES ? first_lanes(n - LANES) : 0;
    size_t i = 0;

    for (; i + MAX_ROWS <= m; i += MAX_ROWS)
        gemm_rows(MAX_ROWS, k, a + i * lda, lda, b, c + i * ldc, ldc, mask0, mask1, add);
    for (; i + 4 <= m; i += 4)
        gemm_rows(4, k, a + i * lda, lda, b, c + i * ldc, ldc, mask0, mask1, add);
    for (; i < m; i++)
        gemm_rows(1, k, a + i * lda, lda, b, c + i * ldc, ldc, mask0, mask1, add);
}

/* 2^x for x in [EXP2_MIN, EXP2_MAX]. */
static inline __m512 power_of_two(__m512 x)
{
    __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 f = _mm512_sub_ps(x, n);
    __m512 p = _mm512_set1_ps(EXP2_C6);

    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C5));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C4));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C3));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C2));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C1));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(EXP2_C0));
    return _mm512_scalef_ps(p, n);
}

static inline __m512 clamp_exponent(__m512 x)
{
    return _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(EXP2_MIN)), _mm512_set1_ps(EXP2_MAX));
}

static float softmax(float *s, size_t n, size_t padded, float *max, float *sum)
{
    __m512 tops = _mm512_set1_ps(*max);
    __m512 sums = _mm512_setzero_ps();
    __m512 top;
    float new_max;
    float factor;

    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        tops = _mm512_mask_max_ps(tops, mask, tops, _mm512_maskz_loadu_ps(mask, s + i));
    }
    new_max = _mm512_reduce_max_ps(tops);
    top = _mm512_set1_ps(new_max);
    for (size_t i = 0; i < padded; i += LANES) {
        __mmask16 inside = i < n ? first_lanes(n - i) : 0;
        __mmask16 mask = first_lanes(padded - i);
        __m512 x = _mm512_sub_ps(_mm512_maskz_loadu_ps(inside, s + i), top);
        __m512 p = _mm512_maskz_mov_ps(inside, power_of_two(clamp_exponent(x)));
        sums = _mm512_add_ps(sums, p);
        _mm512_mask_storeu_ps(s + i, mask, p);
    }
    factor = *max == new_max ? 1.0f : *max == -INFINITY ? 0.0f : exp2f(*max - new_max);
    *max = new_max;
    *sum = *sum * factor + _mm512_reduce_add_ps(sums);
    return factor;
}

static void scale(float *x, float f, size_t n)
{
    __m512 factor = _mm512_set1_ps(f);

    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        __m512 v = _mm512_maskz_loadu_ps(mask, x + i);
        _mm512_mask_storeu_ps(x + i, mask, _mm512_mul_ps(v, factor));
    }
}

static void rms_norm(float *out, const float *x, const float *w, size_t n, float eps)
{
    __m512 squares = _mm512_setzero_ps();
    __m512 r;

    for (size_t i = 0; i < n; i += LANES) {
        __m512 v = _mm512_maskz_loadu_ps(first_lanes(n - i), x + i);
        squares = _mm512_fmadd_ps(v, v, squares);
    }
    r = _mm512_set1_ps(1.0f / sqrtf(_mm512_reduce_add_ps(squares) / (float)n + eps));
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), r);
        v = _mm512_mul_ps(v, _mm512_maskz_loadu_ps(mask, w + i));
        _mm512_mask_storeu_ps(out + i, mask, v);
    }
}

static void swiglu(float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        __m512 g = _mm512_maskz_loadu_ps(mask, gate + i);
        __m512 e = power_of_two(clamp_exponent(_mm512_mul_ps(g, _mm512_set1_ps(-LOG2_E))));
        __m512 silu = _mm512_div_ps(g, _mm512_add_ps(_mm512_set1_ps(1.0f), e));
        __m512 v = _mm512_mul_ps(silu, _mm512_maskz_loadu_ps(mask, up + i));
        _mm512_mask_storeu_ps(gate + i, mask, v);
    }
}

static void rope(float *x, const float *cos, const float *sin, size_t half)
{
    for (size_t i = 0; i < half; i += LANES) {
        __mmask16 mask = first_lanes(half - i);
        __m512 a = _mm512_maskz_loadu_ps(mask, x + i);
        __m512 b = _mm512_maskz_loadu_ps(mask, x + i + half);
        __m512 c = _mm512_maskz_loadu_ps(mask, cos + i);
        __m512 s = _mm512_maskz_loadu_ps(mask, sin + i);
        _mm512_mask_storeu_ps(x + i, mask, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
        _mm512_mask_storeu_ps(x + i + half, mask, _mm512_fmadd_ps(a, s, _mm512_mul_ps(b, c)));
    }
}

static void widen_f16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        __m512 v = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, in + i));
        _mm512_mask_storeu_ps(out + i, mask, v);
    }
}

static void widen_bf16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 mask = first_lanes(n - i);
        __m512i v = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, in + i));
        v = _mm512_slli_epi32(v, 16);
        _mm512_mask_storeu_ps(out + i, mask, _mm512_castsi512_ps(v));
    }
}

static const struct kernels table = {
    .name = "avx512",
    .panel = PANEL,
    .gemm = gemm,
    .softmax = softmax,
    .scale = scale,
    .rms_norm = rms_norm,
    .swiglu = swiglu,
    .rope = rope,
    .widen_f16 = widen_f16,
    .widen_bf16 = widen_bf16,
};

const struct kernels *const kernels_avx512 = &table;

#else

const struct kernels *const kernels_avx512 = NULL;

#endif
