/*
 * Weight matrices in panels, and the product of activations with them.
 */
#ifndef NEEDLEGRID_MATRIX_IMPL_H
#define NEEDLEGRID_MATRIX_IMPL_H

#include "needlegrid/error.h"
#include "needlegrid/gguf.h"
#include "needlegrid/kernel.h"
#include "needlegrid/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct matrix {
    size_t n_in;
    size_t n_out;
    uint32_t type; /* TENSOR_F32, F16 or BF16: the panels' element type, as in the file */
    size_t panel;  /* columns of a panel */
    void *panels;  /* [ceil(n_out / panel), n_in, panel], owned */
};

/*
 * Packs tensor t [n_out, n_in]. `row_of(context, i)` names the tensor's row that becomes output i;
 * NULL keeps their order.
 */
typedef size_t matrix_row_fn(const void *context, size_t i);
NG_MUST_USE enum status matrix_pack(struct matrix *out, const struct gguf *g,
                                    const struct gguf_tensor *t, size_t n_in, size_t n_out,
                                    size_t panel, matrix_row_fn *row_of, const void *context,
                                    struct error *e);
void matrix_release(struct matrix *m);

/* out[n_in] = row i of the tensor the matrix was packed from, as float. */
void matrix_row(const struct matrix *m, const struct kernels *k, size_t i, float *out);

/* Floats of scratch each thread needs for linear() with this matrix. */
size_t matrix_scratch(const struct matrix *m);

/*
 * out[r, :] (+)= in[r, :] x the matrices side by side, r < n_rows; the columns of parts[0] come
 * first. scratch: [threads, scratch_stride] floats.
 */
struct linear {
    const struct kernels *kernels;
    const struct matrix *parts;
    size_t n_parts;
    const float *in; /* [n_rows, ld_in] */
    size_t ld_in;
    float *out; /* [n_rows, ld_out] */
    size_t ld_out;
    size_t n_rows;
    bool add;
    float *scratch;
    size_t scratch_stride;
};

void linear_run(const struct linear *l, struct threads *threads);

#endif
