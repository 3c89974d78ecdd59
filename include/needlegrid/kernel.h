/*
 * Kernels: the few inner loops everything else is made of, one table per instruction set.
 *
 * Matrices to be multiplied are packed into panels of `panel` columns, [n_panels, k, panel], zero
 * beyond the last column: weights once at load, keys and values as they enter the cache. One
 * micro-kernel then serves projections, q.k and p.v.
 *
 * Each element of a product is one chain of multiply-adds in the order of k, and each reduction has
 * an order fixed by its length alone. So a row's result depends neither on the rows beside it nor
 * on the thread: prefill in any chunks, decode, one thread or many give the same bits. Between
 * instruction sets results differ by rounding.
 *
 *     const struct kernels *k;
 *     if (kernels_select(&k, NULL, e) != OK) ...
 *     k->gemm(m, n, depth, a, lda, panel, c, ldc, false);
 */
#ifndef NEEDLEGRID_KERNEL_H
#define NEEDLEGRID_KERNEL_H

#include "needlegrid/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_MAX_PANEL = 32 };

struct kernels {
    const char *name; /* "generic", "avx2", "avx512" */
    size_t panel;     /* columns of a panel, at most KERNEL_MAX_PANEL */

    /*
     * c[m, n] = a[m, k] x b[k, panel], or += if `add`; 1 <= n <= panel columns are written.
     * lda and ldc are row strides in floats.
     */
    void (*gemm)(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b, float *c,
                 size_t ldc, bool add);

    /*
     * One block of online softmax in base 2 (Milakov, Gimelshein 2018, alg. 3) on one row:
     * s[0..n) become 2^(s - max) with max = the larger of *max and the block's, s[n..padded) become
     * 0; *sum is rescaled and grows by the block's sum. Returns the factor by which what was
     * accumulated under the old maximum must be multiplied. *max starts as -INFINITY, *sum as 0.
     */
    float (*softmax)(float *s, size_t n, size_t padded, float *max, float *sum);

    /* x[i] *= f */
    void (*scale)(float *x, float f, size_t n);

    /* out[i] = x[i] * w[i] / sqrt(mean(x^2) + eps): Zhang, Sennrich 2019. */
    void (*rms_norm)(float *out, const float *x, const float *w, size_t n, float eps);

    /* gate[i] = silu(gate[i]) * up[i], silu(x) = x / (1 + e^-x): Shazeer 2020. */
    void (*swiglu)(float *gate, const float *up, size_t n);

    /*
     * Rotates the pairs (x[i], x[i + half]) by the angles of cos[half] and sin[half]: Su et al.
     * 2021, eq. 34, with the halves of a head apart.
     */
    void (*rope)(float *x, const float *cos, const float *sin, size_t half);

    /* Exact conversions to float. */
    void (*widen_f16)(float *out, const uint16_t *in, size_t n);
    void (*widen_bf16)(float *out, const uint16_t *in, size_t n);
};

extern const struct kernels kernels_generic;

/*
 * The table named `isa`, or the fastest this CPU runs if NULL. A name that is unknown, or that the
 * CPU or the build lacks, is ERR_USAGE and lists what there is.
 */
NG_MUST_USE enum status kernels_select(const struct kernels **out, const char *isa,
                                       struct error *e);

/* The tables this CPU runs, slowest first, NULL after the last; for tests. */
size_t kernels_available(const struct kernels *out[4]);

#endif
