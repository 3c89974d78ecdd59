/* The embedded backend: greedy decoding with the expected answer as a draft, stops,
 * log-probability. */
#include "needlegrid/backend.h"

#include "../support/engine_fixture.h"

#include "needlegrid/sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MODEL "models/tiny-ssmax.gguf"

enum { CONTEXT = 400 };

static struct backend *open_backend(void)
{
    struct embedded_options o = {.model_path = MODEL, .attention = "model", .threads = 1};
    struct backend *b;
    struct error e;

    if (embedded_open(&b, &o, &e) != OK || backend_prepare(b, CONTEXT, &e) != OK)
        fail_msg("%s", e.message);
    return b;
}

static void encode(const struct backend *b, const char *text, struct tokens *out)
{
    struct error e;
    token_id bos = tokenizer_bos(backend_info(b)->tokenizer);

    if (out->n == 0)
        assert_int_equal(tokens_append(out, &bos, 1, &e), OK);
    assert_int_equal(
        tokenizer_encode(backend_info(b)->tokenizer, text, strlen(text), TOKENIZE_PLAIN, out, &e),
        OK);
}

static void complete(struct backend *b, const struct completion_request *r, struct completion *c)
{
    struct error e;

    if (backend_complete(b, r, c, &e) != OK)
        fail_msg("%s", e.message);
}

static const char prose[] =
    " The farmer went to the field in the morning. The special magic Tokyo number is: 8106422. The "
    "rain came in the evening. What is the special magic Tokyo number? The special magic Tokyo "
    "number is: ";

/* Prompts of many kinds; drafts right, wrong at each place, and none: the same text each time. */
static void a_draft_does_not_change_the_answer(void **state)
{
    static const char *const drafts[] = {"8106422", "9106422", "8106423", "8", "0000000"};
    struct backend *b = open_backend();
    struct completion plain = {.text = BUF_INIT(1 << 16)};
    struct completion drafted = {.text = BUF_INIT(1 << 16)};

    (void)state;
    for (size_t cut = 0; cut < 40; cut += 7) {
        struct tokens prompt = {.n = 0};
        struct completion_request r = {.max_tokens = 12};
        encode(b, prose + cut, &prompt);
        r.prompt = prompt.ids;
        r.n_prompt = prompt.n;
        complete(b, &r, &plain);
        assert_false(plain.has_logprob);
        for (size_t i = 0; i < sizeof(drafts) / sizeof(drafts[0]); i++) {
            struct tokens answer = {.n = 0};
            encode(b, drafts[i], &answer);
            r.answer = answer.ids + 1; /* without BOS */
            r.n_answer = answer.n - 1;
            complete(b, &r, &drafted);
            assert_string_equal(buf_str(&drafted.text), buf_str(&plain.text));
            assert_string_equal(drafted.finish_reason, plain.finish_reason);
            assert_true(drafted.has_logprob);
            tokens_release(&answer);
        }
        tokens_release(&prompt);
    }
    buf_release(&plain.text);
    buf_release(&drafted.text);
    backend_close(b);
}

static void the_needle_is_found_and_stops_hold(void **state)
{
    static const char *const stops[] = {"\n", "."};
    struct backend *b = open_backend();
    struct completion c = {.text = BUF_INIT(1 << 16)};
    struct tokens prompt = {.n = 0};
    struct tokens answer = {.n = 0};
    struct completion_request r = {.max_tokens = 16, .stop = stops, .n_stop = 2};

    (void)state;
    encode(b, prose, &prompt);
    encode(b, "8106422", &answer);
    r.prompt = prompt.ids;
    r.n_prompt = prompt.n;
    r.answer = answer.ids + 1;
    r.n_answer = answer.n - 1;
    complete(b, &r, &c);
    assert_string_equal(buf_str(&c.text), "8106422");
    assert_string_equal(c.finish_reason, "stop");
    assert_int_equal(c.worst_rank, 1);
    assert_true(c.logprob < 0 && c.logprob > -0.5);
    r.max_tokens = 4;
    r.n_answer = 0;
    complete(b, &r, &c);
    assert_string_equal(buf_str(&c.text), "8106");
    assert_string_equal(c.finish_reason, "length");
    tokens_release(&prompt);
    tokens_release(&answer);
    buf_release(&c.text);
    backend_close(b);
}

/* The mean log-probability against one taken token by token from the engine. */
static void logprob_is_teacher_forced(void **state)
{
    struct backend *b = open_backend();
    struct completion c = {.text = BUF_INIT(1 << 16)};
    struct tokens all = {.n = 0};
    size_t n_prompt;
    struct completion_request r = {.max_tokens = 12};
    struct engine x;
    double sum = 0;
    struct error e;

    (void)state;
    encode(b, prose, &all);
    n_prompt = all.n;
    encode(b, "8106999", &all);
    r.prompt = all.ids;
    r.n_prompt = n_prompt;
    r.answer = all.ids + n_prompt;
    r.n_answer = all.n - n_prompt;
    complete(b, &r, &c);
    engine_open(&x, MODEL, NULL, "model", 1, CONTEXT);
    for (size_t i = n_prompt; i < all.n; i++) {
        assert_int_equal(session_sync(x.s, all.ids, i, 1, &e), OK);
        sum += sample_logprob(session_logits(x.s, 0), 1024, all.ids[i]);
    }
    assert_true(fabs(c.logprob - sum / 7) < 1e-12);
    assert_true(c.worst_rank > 1);
    engine_close(&x);
    tokens_release(&all);
    buf_release(&c.text);
    backend_close(b);
}

static void reuse_is_counted(void **state)
{
    struct backend *b = open_backend();
    struct completion c = {.text = BUF_INIT(1 << 16)};
    struct tokens prompt = {.n = 0};
    struct completion_request r = {.max_tokens = 3};

    (void)state;
    encode(b, prose, &prompt);
    r.prompt = prompt.ids;
    r.n_prompt = prompt.n;
    complete(b, &r, &c);
    assert_int_equal(c.reused, 0);
    assert_int_equal(c.evaluated, prompt.n + 2); /* the last answer token is never evaluated */
    complete(b, &r, &c);
    assert_int_equal(c.reused, prompt.n - 1); /* the last token again, for its logits */
    tokens_release(&prompt);
    buf_release(&c.text);
    backend_close(b);
}

static void failures_name_the_thing(void **state)
{
    struct embedded_options o = {.model_path = "models/none.gguf", .attention = "model"};
    struct backend *b;
    struct error e;

    (void)state;
    assert_int_equal(embedded_open(&b, &o, &e), ERR_IO);
    assert_non_null(strstr(e.message, "models/none.gguf"));
    o.model_path = MODEL;
    o.attention = "ssmix";
    assert_int_equal(embedded_open(&b, &o, &e), ERR_USAGE);
    o.attention = "model";
    o.isa = "mmx";
    assert_int_equal(embedded_open(&b, &o, &e), ERR_USAGE);
    o.isa = NULL;
    assert_int_equal(embedded_open(&b, &o, &e), OK);
    assert_int_equal(backend_prepare(b, (size_t)1 << 29, &e), ERR_NOMEM);
    assert_non_null(strstr(e.message, "KV cache"));
    backend_close(b);
    backend_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_does_not_change_the_answer),
        cmocka_unit_test(the_needle_is_found_and_stops_hold),
        cmocka_unit_test(logprob_is_teacher_forced),
        cmocka_unit_test(reuse_is_counted),
        cmocka_unit_test(failures_name_the_thing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
