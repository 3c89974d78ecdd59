#include "needlegrid/attention_rule.h"

#include "../support/engine_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SOFTMAX_MODEL "models/tiny-softmax.gguf"
#define SSMAX_MODEL "models/tiny-ssmax.gguf"

enum { N_LAYER = 3, N_HEAD = 3, TRAINED = 256 };

static void load(struct attention_rule *r, const char *path, const char *choice_text)
{
    struct attention_choice choice;
    struct gguf *g;
    struct error e;

    assert_int_equal(attention_choice_parse(&choice, choice_text, &e), OK);
    assert_int_equal(gguf_open(&g, path, &e), OK);
    if (attention_rule_load(r, g, &choice, N_LAYER, N_HEAD, TRAINED, &e) != OK)
        fail_msg("%s", e.message);
    gguf_close(g);
}

static void choices_are_parsed(void **state)
{
    struct attention_choice c;
    struct error e;

    (void)state;
    assert_int_equal(attention_choice_parse(&c, "model", &e), OK);
    assert_true(c.from_model);
    assert_int_equal(attention_choice_parse(&c, "ssmax", &e), OK);
    assert_int_equal(c.kind, ATTENTION_SSMAX);
    assert_false(c.has_s);
    assert_int_equal(attention_choice_parse(&c, "ssmax-bias:s=0.25,b=-0.5", &e), OK);
    assert_int_equal(c.kind, ATTENTION_SSMAX_BIAS);
    assert_true(c.has_s && c.s == 0.25f && c.has_b && c.b == -0.5f);
    assert_int_equal(attention_choice_parse(&c, "ssmax-fixed:s=1", &e), OK);
    assert_int_equal(c.kind, ATTENTION_SSMAX_FIXED);
}

static void bad_choices_name_the_mend(void **state)
{
    static const char *const bad[] = {
        "",
        "linear",
        "ssmaxx",
        "ssmax:",
        "ssmax:s",
        "ssmax:s=",
        "ssmax:s=x",
        "ssmax:q=1",
        "ssmax:b=1",
        "softmax:s=0.1",
        "ssmax:s=1,,b",
        "ssmax:s=nan",
        "model:s=1",
        "ssmax:s=1 ",
        "ssmax-bias:s=1;b=2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct attention_choice c;
        struct error e;
        if (attention_choice_parse(&c, bad[i], &e) != ERR_USAGE)
            fail_msg("\"%s\" was accepted", bad[i]);
        assert_non_null(strstr(e.message, "attention rule"));
    }
}

/* 1 / mean ln n: 0.1685 over 1024 and 0.2197 over 256 tokens. */
static void neutral_scale_keeps_the_mean_multiplier_at_one(void **state)
{
    double sum = 0;

    (void)state;
    for (size_t n = 1; n <= 1024; n++)
        sum += ssmax_neutral_scale(1024) * log((double)n) / 1024;
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(fabs(ssmax_neutral_scale(1024) - 0.1685) < 5e-5);
    assert_true(fabs(ssmax_neutral_scale(1) - 1) < 1e-12);
}

static void multipliers_follow_the_formulas(void **state)
{
    struct attention_rule r;

    (void)state;
    load(&r, SOFTMAX_MODEL, "softmax");
    assert_true(attention_multiplier(&r, 1, 2, log(5000)) == 1.0f);
    attention_rule_release(&r);
    load(&r, SOFTMAX_MODEL, "ssmax:s=0.43");
    assert_true(fabs((double)attention_multiplier(&r, 0, 0, log(100)) - 0.43 * log(100)) < 1e-6);
    assert_true(attention_multiplier(&r, 0, 0, 0) == 0.0f); /* n = 1: one key, any scale will do */
    attention_rule_release(&r);
    load(&r, SOFTMAX_MODEL, "ssmax-bias:s=0.2,b=0.5");
    assert_true(fabs((double)attention_multiplier(&r, 2, 2, log(64)) - 0.2 * log(64) - 0.5) < 1e-6);
    attention_rule_release(&r);
}

/* ssmax(z, s, n) == softmax(s ln n * z), and differs from softmax(z). */
static void ssmax_is_a_power_of_n(void **state)
{
    static const double z[] = {0.3, -1.2, 2.0, 0.7};
    double power = 0, scaled = 0, plain = 0;
    const double s = 0.43, n = 4;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        power += pow(n, s * z[i]);
        scaled += exp(s * log(n) * z[i]);
        plain += exp(z[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        double ssmax = pow(n, s * z[i]) / power;
        assert_true(fabs(ssmax - exp(s * log(n) * z[i]) / scaled) < 1e-15);
        assert_true(fabs(ssmax - exp(z[i]) / plain) > 1e-3);
    }
}

static void a_models_own_scales_are_read(void **state)
{
    struct attention_rule r;
    struct gguf *g;
    struct error e;
    const struct gguf_tensor *t;

    (void)state;
    load(&r, SSMAX_MODEL, "model");
    assert_int_equal(r.kind, ATTENTION_SSMAX);
    assert_int_equal(gguf_open(&g, SSMAX_MODEL, &e), OK);
    t = gguf_tensor(g, "blk.1.attn_ssmax_scale.weight");
    for (size_t h = 0; h < N_HEAD; h++)
        assert_true(r.scale[1 * N_HEAD + h] == ((const float *)t->data)[h]);
    gguf_close(g);
    assert_non_null(strstr(r.detail, "learned"));
    attention_rule_release(&r);
}

static void switching_a_softmax_model_is_neutral(void **state)
{
    static const char *const rules[] = {"ssmax", "ssmax-fixed", "ssmax-bias"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct attention_rule r;
        load(&r, SOFTMAX_MODEL, rules[i]);
        for (size_t j = 0; j < N_LAYER * N_HEAD; j++)
            assert_true(r.scale[j] == (float)ssmax_neutral_scale(TRAINED));
        assert_true(i != 2 || r.bias[8] == 0.0f);
        assert_non_null(strstr(r.detail, "neutral"));
        attention_rule_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_parsed),
        cmocka_unit_test(bad_choices_name_the_mend),
        cmocka_unit_test(neutral_scale_keeps_the_mean_multiplier_at_one),
        cmocka_unit_test(multipliers_follow_the_formulas),
        cmocka_unit_test(ssmax_is_a_power_of_n),
        cmocka_unit_test(a_models_own_scales_are_read),
        cmocka_unit_test(switching_a_softmax_model_is_neutral),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
