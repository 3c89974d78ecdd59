/* Models built for the test: every shape and weight type against the reference, and refusals. */
#include "../support/engine_fixture.h"
#include "../support/reference.h"
#include "../support/scratch.h"
#include "../support/toy_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 150, LAST = 20 };

static void compare(const struct toy *toy, const char *isa)
{
    size_t n_values = (size_t)LAST * toy->n_vocab;
    double *want = calloc(n_values, sizeof(*want));
    int32_t *ids = random_ids(N, toy->n_vocab, 1);
    struct scratch dir;
    struct engine x;
    struct error e;

    assert_non_null(want);
    scratch_init(&dir);
    toy_write(toy, scratch_path(&dir, "toy.gguf"));
    engine_open(&x, scratch_path(&dir, "toy.gguf"), isa, "model", 2, N);
    reference_logits(x.g, ids, N, LAST, want);
    assert_int_equal(session_sync(x.s, ids, N, LAST, &e), OK);
    for (size_t i = 0; i < n_values; i++) {
        if (!(fabs((double)session_logits(x.s, 0)[i] - want[i]) < 1e-3))
            fail_msg("%s: logit %zu is %g, want %g", isa, i, (double)session_logits(x.s, 0)[i],
                     want[i]);
    }
    engine_close(&x);
    scratch_release(&dir);
    free(ids);
    free(want);
}

static void compare_on_all(const struct toy *toy)
{
    const struct kernels *tables[4];
    size_t n = kernels_available(tables);

    for (size_t i = 0; i < n; i++)
        compare(toy, tables[i]->name);
}

static void shared_key_heads(void **state)
{
    struct toy toy = toy_default;

    (void)state;
    compare_on_all(&toy);
    toy.n_kv_head = 1;
    compare_on_all(&toy);
    toy.n_kv_head = 4;
    compare_on_all(&toy);
}

/* Widths that fill no vector, and heads of which only a part turns. */
static void odd_widths(void **state)
{
    struct toy toy = toy_default;

    (void)state;
    toy.dim = 36;
    toy.n_head = 3;
    toy.n_kv_head = 3;
    toy.n_ff = 37;
    toy.n_vocab = 53;
    compare_on_all(&toy);
    toy.n_rot = 6;
    compare_on_all(&toy);
}

static void heads_wider_than_a_panel(void **state)
{
    struct toy toy = toy_default;

    (void)state;
    toy.dim = 160;
    compare_on_all(&toy);
}

static void sixteen_bit_weights_and_an_output_of_its_own(void **state)
{
    static const uint32_t types[] = {TENSOR_F32, TENSOR_F16, TENSOR_BF16};
    struct toy toy = toy_default;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        toy.type = types[i];
        toy.untied = false;
        compare_on_all(&toy);
        toy.untied = true;
        compare_on_all(&toy);
    }
}

static void linear_rope_scaling(void **state)
{
    struct toy toy = toy_default;

    (void)state;
    toy.rope_factor = 4;
    compare_on_all(&toy);
}

static void ssmax_rules(void **state)
{
    struct toy toy = toy_default;

    (void)state;
    toy.rule = "ssmax";
    toy.scale = true;
    compare_on_all(&toy);
    toy.rule = "ssmax-bias";
    toy.bias = true;
    compare_on_all(&toy);
}

/* ---- refusals ---- */

struct opening {
    struct scratch dir;
    struct gguf_build b;
    struct error e;
};

static void begin(struct opening *o, const struct toy *toy)
{
    scratch_init(&o->dir);
    gguf_build_init(&o->b);
    toy_build(&o->b, toy);
}

static enum status try_open(struct opening *o, const char *attention)
{
    struct model_options options = {.kernels = &kernels_generic};
    struct model *m = NULL;
    struct gguf *g;
    enum status status;

    gguf_build_write(&o->b, scratch_path(&o->dir, "toy.gguf"));
    assert_int_equal(gguf_open(&g, scratch_path(&o->dir, "toy.gguf"), &o->e), OK);
    assert_int_equal(attention_choice_parse(&options.attention, attention, &o->e), OK);
    status = model_open(&m, g, &options, &o->e);
    assert_true((status == OK) == (m != NULL));
    model_free(m);
    gguf_close(g);
    gguf_build_release(&o->b);
    scratch_release(&o->dir);
    return status;
}

static void expect_refusal(struct opening *o, const char *attention, enum status status,
                           const char *message)
{
    if (try_open(o, attention) != status)
        fail_msg("not refused as %d: %s", (int)status, message);
    if (!strstr(o->e.message, message))
        fail_msg("\"%s\" does not say \"%s\"", o->e.message, message);
}

static void tensors_without_a_place_are_refused(void **state)
{
    static const float zeros[64] = {0};
    struct toy toy = toy_default;
    struct opening o;

    (void)state;
    begin(&o, &toy);
    gguf_build_tensor(&o.b, "blk.1.attn_q.bias", TENSOR_F32, 1, (uint64_t[]){32}, zeros, 128);
    expect_refusal(&o, "model", ERR_UNSUPPORTED, "blk.1.attn_q.bias");
    toy.scale = true; /* scales, but no key that names the rule */
    begin(&o, &toy);
    expect_refusal(&o, "model", ERR_UNSUPPORTED, "attn_ssmax_scale");
    begin(&o, &toy);
    assert_int_equal(try_open(&o, "softmax"), OK); /* the user's choice leaves them idle */
    begin(&o, &toy);
    assert_int_equal(try_open(&o, "ssmax"), OK);
}

static void a_missing_tensor_is_named(void **state)
{
    struct toy toy = toy_default;
    struct opening o;

    (void)state;
    toy.rule = "ssmax";
    begin(&o, &toy);
    expect_refusal(&o, "model", ERR_FORMAT, "blk.0.attn_ssmax_scale.weight");
    toy.rule = "ssmin";
    begin(&o, &toy);
    expect_refusal(&o, "model", ERR_UNSUPPORTED, "ssmin");
}

static void a_neutral_scale_needs_a_training_length(void **state)
{
    struct toy toy = toy_default;
    struct opening o;

    (void)state;
    toy.context_length = 0;
    begin(&o, &toy);
    expect_refusal(&o, "ssmax", ERR_USAGE, "ssmax:s=X");
    begin(&o, &toy);
    assert_int_equal(try_open(&o, "ssmax:s=0.2"), OK);
    begin(&o, &toy);
    assert_int_equal(try_open(&o, "model"), OK);
}

static void bad_numbers_are_refused(void **state)
{
    struct toy toy = toy_default;
    struct opening o;

    (void)state;
    toy.eps = -1;
    begin(&o, &toy);
    expect_refusal(&o, "model", ERR_FORMAT, "epsilon");
    toy = toy_default;
    toy.rope_factor = -2;
    begin(&o, &toy);
    expect_refusal(&o, "model", ERR_FORMAT, "rope");
}

static void other_models_are_refused(void **state)
{
    struct opening o;

    (void)state;
    begin(&o, &toy_default);
    gguf_build_uint(&o.b, "llama.expert_count", GGUF_U32, 8);
    expect_refusal(&o, "model", ERR_UNSUPPORTED, "mixture-of-experts");
    begin(&o, &toy_default);
    gguf_build_string(&o.b, "llama.rope.scaling.type", "yarn");
    expect_refusal(&o, "model", ERR_UNSUPPORTED, "yarn");
}

/* Files from before the scaling type: a factor alone is linear, and 0 is none. */
static void an_old_rope_factor_is_linear(void **state)
{
    struct model_config c;
    struct error e;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gguf_build b;
        struct gguf *g;
        uint8_t *bytes;
        size_t n;
        gguf_build_init(&b);
        toy_build(&b, &toy_default);
        gguf_build_f32(&b, "llama.rope.scale_linear", i ? 4.0f : 0.0f);
        bytes = gguf_build_bytes(&b, &n);
        assert_int_equal(gguf_open_memory(&g, bytes, n, "toy", &e), OK);
        assert_int_equal(model_read_config(&c, g, &e), OK);
        assert_true(c.rope_scale == (i ? 4.0 : 1.0));
        gguf_close(g);
        free(bytes);
        gguf_build_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_key_heads),
        cmocka_unit_test(odd_widths),
        cmocka_unit_test(heads_wider_than_a_panel),
        cmocka_unit_test(sixteen_bit_weights_and_an_output_of_its_own),
        cmocka_unit_test(linear_rope_scaling),
        cmocka_unit_test(ssmax_rules),
        cmocka_unit_test(tensors_without_a_place_are_refused),
        cmocka_unit_test(a_missing_tensor_is_named),
        cmocka_unit_test(a_neutral_scale_needs_a_training_length),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(an_old_rope_factor_is_linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
