#include "matrix_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t type_size(uint32_t type)
{
    return type == TENSOR_F32 ? 4 : 2;
}

static size_t panel_count(const struct matrix *m)
{
    return (m->n_out + m->panel - 1) / m->panel;
}

static enum status check_tensor(const struct gguf *g, const struct gguf_tensor *t, size_t n_in,
                                size_t n_out, struct error *e)
{
    char type[24];

    if (t->type != TENSOR_F32 && t->type != TENSOR_F16 && t->type != TENSOR_BF16)
        return error_set(e, ERR_UNSUPPORTED,
                         "%s: tensor %.*s is %s; this version runs F32, F16 and BF16", gguf_path(g),
                         (int)t->name.n, t->name.p, gguf_tensor_type_name(t->type, type));
    if (t->n_dims > 2 || t->dims[0] != n_in || t->dims[1] != n_out)
        return error_set(e, ERR_FORMAT, "%s: tensor %.*s is [%llu, %llu], must be [%zu, %zu]",
                         gguf_path(g), (int)t->name.n, t->name.p, (unsigned long long)t->dims[0],
                         (unsigned long long)t->dims[1], n_in, n_out);
    return OK;
}

/* One row of the tensor into its column of a panel. */
static void pack_row(struct matrix *m, size_t column, const void *row)
{
    size_t at = column / m->panel * m->n_in * m->panel + column % m->panel;

    if (m->type == TENSOR_F32) {
        const float *in = row;
        float *out = (float *)m->panels + at;
        for (size_t i = 0; i < m->n_in; i++)
            out[i * m->panel] = in[i];
    } else {
        const uint16_t *in = row;
        uint16_t *out = (uint16_t *)m->panels + at;
        for (size_t i = 0; i < m->n_in; i++)
            out[i * m->panel] = in[i];
    }
}

enum status matrix_pack(struct matrix *out, const struct gguf *g, const struct gguf_tensor *t,
                        size_t n_in, size_t n_out, size_t panel, matrix_row_fn *row_of,
                        const void *context, struct error *e)
{
    enum status status = check_tensor(g, t, n_in, n_out, e);
    size_t row_bytes;

    if (status != OK)
        return status;
    out->n_in = n_in;
    out->n_out = n_out;
    out->type = t->type;
    out->panel = panel;
    row_bytes = n_in * type_size(t->type);
    status = mem_alloc(&out->panels, "a weight matrix", e, panel_count(out), n_in, panel,
                       type_size(t->type));
    if (status != OK)
        return error_prefix(e, "%s", gguf_path(g));
    for (size_t i = 0; i < n_out; i++) {
        size_t row = row_of ? row_of(context, i) : i;
        pack_row(out, i, (const uint8_t *)t->data + row * row_bytes);
    }
    gguf_forget(g, t);
    return OK;
}

void matrix_release(struct matrix *m)
{
    free(m->panels);
    memset(m, 0, sizeof(*m));
}

static void widen(const struct kernels *k, uint32_t type, float *out, const uint16_t *in, size_t n)
{
    if (type == TENSOR_F16)
        k->widen_f16(out, in, n);
    else
        k->widen_bf16(out, in, n);
}

void matrix_row(const struct matrix *m, const struct kernels *k, size_t i, float *out)
{
    size_t at = i / m->panel * m->n_in * m->panel + i % m->panel;

    for (size_t j = 0; j < m->n_in; j++, at += m->panel) {
        if (m->type == TENSOR_F32)
            out[j] = ((const float *)m->panels)[at];
        else
            widen(k, m->type, out + j, (const uint16_t *)m->panels + at, 1);
    }
}

size_t matrix_scratch(const struct matrix *m)
{
    return m->type == TENSOR_F32 ? 0 : m->n_in * m->panel;
}

/* ---- the product ---- */

enum {
    ROW_BLOCK = 48,       /* rows a panel serves while it is in the first-level cache */
    TASKS_PER_THREAD = 8, /* enough to even out the threads */
    MIN_TASK_WORK =
        1 << 18, /* multiply-adds: some 5 us, well over the cost of handing out a task */
};

struct linear_work {
    const struct linear *l;
    size_t n_panels; /* of all parts together */
    size_t n_groups; /* the panels are cut into so many groups */
};

/* Panel `p` of matrix m as floats, expanded into scratch if it is kept in 16 bits. */
static const float *panel_floats(const struct linear *l, const struct matrix *m, size_t p,
                                 float *scratch)
{
    size_t n = m->n_in * m->panel;

    if (m->type == TENSOR_F32)
        return (const float *)m->panels + p * n;
    widen(l->kernels, m->type, scratch, (const uint16_t *)m->panels + p * n, n);
    return scratch;
}

static void multiply_panel(const struct linear *l, const struct matrix *m, size_t p, size_t column,
                           size_t row, size_t n_rows, float *scratch)
{
    size_t left = m->n_out - p * m->panel;
    size_t n = left < m->panel ? left : m->panel;

    l->kernels->gemm(n_rows, n, m->n_in, l->in + row * l->ld_in, l->ld_in,
                     panel_floats(l, m, p, scratch), l->out + row * l->ld_out + column, l->ld_out,
                     l->add);
}

static void multiply_block(void *context, size_t task, size_t thread)
{
    const struct linear_work *w = context;
    const struct linear *l = w->l;
    float *scratch = l->scratch + thread * l->scratch_stride;
    size_t group = task % w->n_groups;
    size_t row = task / w->n_groups * ROW_BLOCK;
    size_t n_rows = l->n_rows - row < ROW_BLOCK ? l->n_rows - row : ROW_BLOCK;
    size_t from = w->n_panels * group / w->n_groups;
    size_t to = w->n_panels * (group + 1) / w->n_groups;
    size_t first = 0;  /* panels before this part */
    size_t column = 0; /* columns before this part */

    for (size_t i = 0; i < l->n_parts; i++) {
        const struct matrix *m = &l->parts[i];
        size_t n = panel_count(m);
        for (size_t p = from > first ? from - first : 0; p < n && first + p < to; p++)
            multiply_panel(l, m, p, column + p * m->panel, row, n_rows, scratch);
        first += n;
        column += m->n_out;
    }
}

void linear_run(const struct linear *l, struct threads *threads)
{
    struct linear_work w = {.l = l};
    size_t n_blocks = (l->n_rows + ROW_BLOCK - 1) / ROW_BLOCK;
    size_t wanted = threads_count(threads) > 1 ? threads_count(threads) * TASKS_PER_THREAD : 1;
    size_t work = 0; /* multiply-adds */

    if (n_blocks == 0)
        return;
    for (size_t i = 0; i < l->n_parts; i++) {
        w.n_panels += panel_count(&l->parts[i]);
        work += l->n_rows * l->parts[i].n_in * l->parts[i].n_out;
    }
    if (wanted > work / MIN_TASK_WORK)
        wanted = work / MIN_TASK_WORK + 1;
    w.n_groups = (wanted + n_blocks - 1) / n_blocks;
    if (w.n_groups > w.n_panels)
        w.n_groups = w.n_panels;
    threads_run(threads, n_blocks * w.n_groups, multiply_block, &w);
}
