/* AVX2 with FMA and F16C. Compiled with its own flags; empty elsewhere. */
#include "kernel_impl.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include <immintrin.h>
#include <math.h>
#include <string.h>

enum {
    LANES = 8,
    PANEL = 16,   /* two vectors */
    MAX_ROWS = 6, /* 6 x 2 sums + 2 of b + 1 of a = 15 of 16 registers */
};

/* `rows` is a constant at each call; c has full panels of columns. */
static inline __attribute__((always_inline)) void gemm_rows(const size_t rows, size_t k,
                                                            const float *a, size_t lda,
                                                            const float *b, float *c, size_t ldc,
                                                            bool add)
{
    __m256 sum[MAX_ROWS][2];

#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = add ? _mm256_loadu_ps(c + i * ldc) : _mm256_setzero_ps();
        sum[i][1] = add ? _mm256_loadu_ps(c + i * ldc + LANES) : _mm256_setzero_ps();
    }
    for (size_t l = 0; l < k; l++) {
        __m256 b0 = _mm256_loadu_ps(b + l * PANEL);
        __m256 b1 = _mm256_loadu_ps(b + l * PANEL + LANES);
#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++) {
            __m256 x = _mm256_broadcast_ss(a + i * lda + l);
            sum[i][0] = _mm256_fmadd_ps(x, b0, sum[i][0]);
            sum[i][1] = _mm256_fmadd_ps(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        _mm256_storeu_ps(c + i * ldc, sum[i][0]);
        _mm256_storeu_ps(c + i * ldc + LANES, sum[i][1]);
    }
}

static void gemm_full(size_t m, size_t k, const float *a, size_t lda, const float *b, float *c,
                      size_t ldc, bool add)
{
    size_t i = 0;

    for (; i + MAX_ROWS <= m; i += MAX_ROWS)
        gemm_rows(MAX_ROWS, k, a + i * lda, lda, b, c + i * ldc, ldc, add);
    for (; i + 2 <= m; i += 2)
        gemm_rows(2, k, a + i * lda, lda, b, c + i * ldc, ldc, add);
    for (; i < m; i++)
        gemm_rows(1, k, a + i * lda, lda, b, c + i * ldc, ldc, add);
}

/* A panel's last columns may lie outside c: they pass through a full tile. */
static void gemm(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b, float *c,
                 size_t ldc, bool add)
{
    float tile[MAX_ROWS * PANEL];

    if (n == PANEL) {
        gemm_full(m, k, a, lda, b, c, ldc, add);
        return;
    }
    for (size_t i = 0; i < m; i += MAX_ROWS) {
        size_t rows = m - i < MAX_ROWS ? m - i : MAX_ROWS;
        memset(tile, 0, sizeof(tile));
        for (size_t r = 0; add && r < rows; r++)
            memcpy(tile + r * PANEL, c + (i + r) * ldc, n * sizeof(*c));
        gemm_full(rows, k, a + i * lda, lda, b, tile, PANEL, add);
        for (size_t r = 0; r < rows; r++)
            memcpy(c + (i + r) * ldc, tile + r * PANEL, n * sizeof(*c));
    }
}

/* 2^x for x in [EXP2_MIN, EXP2_MAX]. */
static inline __m256 power_of_two(__m256 x)
{
    __m256 n = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 f = _mm256_sub_ps(x, n);
    __m256 p = _mm256_set1_ps(EXP2_C6);
    __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);

    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C5));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C4));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C3));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C2));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C1));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(EXP2_C0));
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}

static inline __m256 clamp_exponent(__m256 x)
{
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(EXP2_MIN)), _mm256_set1_ps(EXP2_MAX));
}

static inline __m256i first_lanes(size_t n)
{
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n > LANES ? LANES : (int)n), index);
}

static inline float reduce_max(__m256 v)
{
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    h = _mm_max_ss(h, _mm_shuffle_ps(h, h, 1));
    return _mm_cvtss_f32(h);
}

static inline float reduce_add(__m256 v)
{
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    h = _mm_add_ss(h, _mm_shuffle_ps(h, h, 1));
    return _mm_cvtss_f32(h);
}

static float softmax(float *s, size_t n, size_t padded, float *max, float *sum)
{
    __m256 tops = _mm256_set1_ps(*max);
    __m256 sums = _mm256_setzero_ps();
    __m256 top;
    float new_max;
    float factor;

    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = first_lanes(n - i);
        __m256 v = _mm256_maskload_ps(s + i, mask);
        v = _mm256_blendv_ps(tops, v, _mm256_castsi256_ps(mask));
        tops = _mm256_max_ps(tops, v);
    }
    new_max = reduce_max(tops);
    top = _mm256_set1_ps(new_max);
    for (size_t i = 0; i < padded; i += LANES) {
        __m256i inside = first_lanes(i < n ? n - i : 0);
        __m256 x = _mm256_sub_ps(_mm256_maskload_ps(s + i, inside), top);
        __m256 p = power_of_two(clamp_exponent(x));
        p = _mm256_and_ps(p, _mm256_castsi256_ps(inside));
        sums = _mm256_add_ps(sums, p);
        _mm256_maskstore_ps(s + i, first_lanes(padded - i), p);
    }
    factor = *max == new_max ? 1.0f : *max == -INFINITY ? 0.0f : exp2f(*max - new_max);
    *max = new_max;
    *sum = *sum * factor + reduce_add(sums);
    return factor;
}

static void scale(float *x, float f, size_t n)
{
    __m256 factor = _mm256_set1_ps(f);

    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = first_lanes(n - i);
        _mm256_maskstore_ps(x + i, mask, _mm256_mul_ps(_mm256_maskload_ps(x + i, mask), factor));
    }
}

static void rms_norm(float *out, const float *x, const float *w, size_t n, float eps)
{
    __m256 squares = _mm256_setzero_ps();
    __m256 r;

    for (size_t i = 0; i < n; i += LANES) {
        __m256 v = _mm256_maskload_ps(x + i, first_lanes(n - i));
        squares = _mm256_fmadd_ps(v, v, squares);
    }
    r = _mm256_set1_ps(1.0f / sqrtf(reduce_add(squares) / (float)n + eps));
    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = first_lanes(n - i);
        __m256 v = _mm256_mul_ps(_mm256_maskload_ps(x + i, mask), r);
        v = _mm256_mul_ps(v, _mm256_maskload_ps(w + i, mask));
        _mm256_maskstore_ps(out + i, mask, v);
    }
}

static void swiglu(float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = first_lanes(n - i);
        __m256 g = _mm256_maskload_ps(gate + i, mask);
        __m256 e = power_of_two(clamp_exponent(_mm256_mul_ps(g, _mm256_set1_ps(-LOG2_E))));
        __m256 silu = _mm256_div_ps(g, _mm256_add_ps(_mm256_set1_ps(1.0f), e));
        __m256 v = _mm256_mul_ps(silu, _mm256_maskload_ps(up + i, mask));
        _mm256_maskstore_ps(gate + i, mask, v);
    }
}

static void rope(float *x, const float *cos, const float *sin, size_t half)
{
    for (size_t i = 0; i < half; i += LANES) {
        __m256i mask = first_lanes(half - i);
        __m256 a = _mm256_maskload_ps(x + i, mask);
        __m256 b = _mm256_maskload_ps(x + i + half, mask);
        __m256 c = _mm256_maskload_ps(cos + i, mask);
        __m256 s = _mm256_maskload_ps(sin + i, mask);
        _mm256_maskstore_ps(x + i, mask, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
        _mm256_maskstore_ps(x + i + half, mask, _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c)));
    }
}

static void widen_f16(float *out, const uint16_t *in, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(in + i))));
    for (; i < n; i++)
        out[i] = _cvtsh_ss(in[i]);
}

static void widen_bf16(float *out, const uint16_t *in, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(in + i)));
        v = _mm256_slli_epi32(v, 16);
        _mm256_storeu_ps(out + i, _mm256_castsi256_ps(v));
    }
    for (; i < n; i++) {
        uint32_t bits = (uint32_t)in[i] << 16;
        memcpy(out + i, &bits, sizeof(bits));
    }
}

static const struct kernels table = {
    .name = "avx2",
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

const struct kernels *const kernels_avx2 = &table;

#else

const struct kernels *const kernels_avx2 = NULL;

#endif
