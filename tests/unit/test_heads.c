#include "needlegrid/heads.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/*
 * The paper's figure 1: one input 5 above the others. Values by hand: e^5 = 148.413,
 * 1024^(0.43 * 5) = 2^21.5 = 2965820.8.
 */
static void fading_follows_the_formulas(void **state)
{
    (void)state;
    assert_true(fabs(fading_softmax(1, 5) - 1) < 1e-15);
    assert_true(fabs(fading_ssmax(1, 5, 0.43) - 1) < 1e-15);
    assert_true(fabs(fading_softmax(1024, 5) - 148.413159 / (148.413159 + 1023)) < 1e-8);
    assert_true(fabs(fading_ssmax(1024, 5, 0.43) - 2965820.8 / (2965820.8 + 1023)) < 1e-8);
}

/* SSMax stays focused once the gap exceeds about 1/s; Softmax goes to 0 whatever the gap. */
static void softmax_fades_and_ssmax_does_not(void **state)
{
    (void)state;
    assert_true(fading_softmax(1e6, 5) < 1e-3);
    assert_true(fading_ssmax(1e6, 5, 0.43) > 0.999);
    assert_true(fading_ssmax(1e6, 1 / 0.43 - 0.5, 0.43) < 0.1);
    for (double n = 2; n < 1e6; n *= 2) {
        assert_true(fading_softmax(2 * n, 5) < fading_softmax(n, 5));
        assert_true(fading_ssmax(2 * n, 5, 0.43) >= fading_softmax(2 * n, 5) || n < 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fading_follows_the_formulas),
        cmocka_unit_test(softmax_fades_and_ssmax_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
