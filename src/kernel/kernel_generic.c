/* The reference: plain C, any machine. Others are tested against it. */
#include "kernel_impl.h"

#include <math.h>
#include <string.h>

enum { PANEL = 16 };

static void gemm(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b, float *c,
                 size_t ldc, bool add)
{
    for (size_t i = 0; i < m; i++) {
        float sum[PANEL] = {0};
        if (add)
            memcpy(sum, c + i * ldc, n * sizeof(*c));
        for (size_t l = 0; l < k; l++) {
            float x = a[i * lda + l];
            for (size_t j = 0; j < PANEL; j++)
                sum[j] += x * b[l * PANEL + j];
        }
        memcpy(c + i * ldc, sum, n * sizeof(*c));
    }
}

static float power_of_two(float x)
{
    float n = rintf(x);
    float f = x - n;
    float p = EXP2_C6;

    p = p * f + EXP2_C5;
    p = p * f + EXP2_C4;
    p = p * f + EXP2_C3;
    p = p * f + EXP2_C2;
    p = p * f + EXP2_C1;
    p = p * f + EXP2_C0;
    return ldexpf(p, (int)n);
}

static float clamp_exponent(float x)
{
    return x < EXP2_MIN ? EXP2_MIN : x > EXP2_MAX ? EXP2_MAX : x;
}

static float softmax(float *s, size_t n, size_t padded, float *max, float *sum)
{
    float top = *max;
    float block = 0;
    float factor;

    for (size_t i = 0; i < n; i++)
        top = s[i] > top ? s[i] : top;
    for (size_t i = 0; i < n; i++) {
        s[i] = power_of_two(clamp_exponent(s[i] - top));
        block += s[i];
    }
    for (size_t i = n; i < padded; i++)
        s[i] = 0;
    factor = *max == top ? 1.0f : *max == -INFINITY ? 0.0f : exp2f(*max - top);
    *max = top;
    *sum = *sum * factor + block;
    return factor;
}

static void scale(float *x, float f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= f;
}

static void rms_norm(float *out, const float *x, const float *w, size_t n, float eps)
{
    float squares = 0;
    float r;

    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    r = 1.0f / sqrtf(squares / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * r * w[i];
}

static void swiglu(float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gate[i] = gate[i] / (1.0f + power_of_two(clamp_exponent(-gate[i] * LOG2_E))) * up[i];
}

static float from_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* IEEE 754 half to single: exact, subnormals, infinities and NaN included. */
static float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = (h >> 10) & 0x1f;
    uint32_t fraction = h & 0x3ff;

    if (exponent == 31)
        return from_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static void rope(float *x, const float *cos, const float *sin, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        float a = x[i];
        float b = x[i + half];
        x[i] = a * cos[i] - b * sin[i];
        x[i + half] = a * sin[i] + b * cos[i];
    }
}

static void widen_f16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = half_to_float(in[i]);
}

static void widen_bf16(float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = from_bits((uint32_t)in[i] << 16);
}

const struct kernels kernels_generic = {
    .name = "generic",
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
