/*
 * What the tokenizer reads from a file: ends and BOS, the hash, and what it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/tokenizer_fixture.h"

#include <string.h>

/* ---- ends and BOS ---- */

static void ends_and_bos(void **state)
{
    struct small s = {
        "llama-bpe",
        {"<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "</s>", "<e>", "<t>"},
        "3333133",
        {NULL}};
    struct gguf_build b;
    struct fixture f;

    (void)state;
    small_build(&b, &s);
    gguf_build_uint(&b, "tokenizer.ggml.bos_token_id", GGUF_U32, 'b');
    gguf_build_uint(&b, "tokenizer.ggml.eos_token_id", GGUF_U32, 261);
    gguf_build_uint(&b, "tokenizer.ggml.eot_token_id", GGUF_U32, 262);
    f = fixture_open_built(&b);
    for (token_id id = 256; id <= 262; id++)
        assert_int_equal(tokenizer_is_end(f.t, id), id != 260); /* </s> is an ordinary token here */
    assert_false(tokenizer_is_end(f.t, 'b'));
    assert_int_equal(tokenizer_bos(f.t), 'b');
    assert_int_equal(tokenizer_eos(f.t), 261);
    assert_true(tokenizer_wants_bos(f.t)); /* the default of llama-bpe */
    fixture_close(&f);

    small_build(&b, &s);
    gguf_build_uint(&b, "tokenizer.ggml.bos_token_id", GGUF_U32, 'b');
    gguf_build_uint(&b, "tokenizer.ggml.add_bos_token", GGUF_BOOL, 0);
    f = fixture_open_built(&b);
    assert_false(tokenizer_wants_bos(f.t));
    assert_int_equal(tokenizer_eos(f.t), TOKEN_NONE);
    fixture_close(&f);
}

static void bos_is_wanted_if_there_is_one(void **state)
{
    struct small s = {"qwen2", {NULL}, NULL, {NULL}};
    struct gguf_build b;
    struct fixture f;

    (void)state;
    small_build(&b, &s);
    gguf_build_uint(&b, "tokenizer.ggml.bos_token_id", GGUF_U32, 'b');
    f = fixture_open_built(&b);
    assert_false(tokenizer_wants_bos(f.t));
    fixture_close(&f);

    small_build(&b, &s);
    gguf_build_uint(&b, "tokenizer.ggml.add_bos_token", GGUF_BOOL, 1);
    gguf_build_uint(&b, "tokenizer.ggml.bos_token_id", GGUF_U32, UINT32_MAX); /* -1: none */
    f = fixture_open_built(&b);
    assert_int_equal(tokenizer_bos(f.t), TOKEN_NONE);
    assert_false(tokenizer_wants_bos(f.t));
    fixture_close(&f);
}

/* ---- the hash ---- */

static void take_hash(const struct small *s, char hash[65])
{
    struct fixture f = fixture_open_small(s);

    memcpy(hash, tokenizer_hash(f.t), 65);
    fixture_close(&f);
}

static void hash_covers_what_affects_ids(void **state)
{
    const struct small base = {"qwen2", {"ab", "bc"}, "11", {"a b", "b c"}};
    struct small others[] = {base, base, base, base, base};
    char first[65];
    char again[65];
    struct gguf_build b;
    struct fixture f;

    (void)state;
    others[0].merges[0] = "b c";
    others[0].merges[1] = "a b"; /* ranks swapped */
    others[1].types = "13";
    others[2].pre = "gpt-2";
    others[3].extra[1] = "bd";
    others[4].merges[1] = NULL;
    take_hash(&base, first);
    take_hash(&base, again);
    assert_string_equal(first, again);
    for (size_t i = 0; i < COUNT(others); i++) {
        take_hash(&others[i], again);
        assert_string_not_equal(first, again);
    }
    /* EOS differs between a base model and its chat model, whose ids do not. */
    small_build(&b, &base);
    gguf_build_uint(&b, "tokenizer.ggml.eos_token_id", GGUF_U32, 5);
    f = fixture_open_built(&b);
    assert_string_equal(first, tokenizer_hash(f.t));
    fixture_close(&f);
}

/* ---- files that are refused ---- */

static void other_models_are_refused_by_name(void **state)
{
    struct small s = {"smollm", {NULL}, NULL, {NULL}};
    struct gguf_build b;

    (void)state;
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "llama");
    expect_refused(&b, ERR_UNSUPPORTED,
                   "test.gguf: tokenizer model \"llama\" is not supported yet; supported: gpt2");
    small_build(&b, &s);
    expect_refused(&b, ERR_UNSUPPORTED,
                   "test.gguf: pre-tokenizer \"smollm\" is not supported yet; supported: gpt-2, "
                   "llama-bpe, qwen2");
}

static void missing_keys_are_named(void **state)
{
    static const char *const one[] = {"a"};
    struct gguf_build b;

    (void)state;
    gguf_build_init(&b);
    expect_refused(&b, ERR_NOT_FOUND, "tokenizer.ggml.model");
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "gpt2");
    expect_refused(&b, ERR_NOT_FOUND, "tokenizer.ggml.pre");
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_build_string(&b, "tokenizer.ggml.pre", "gpt-2");
    expect_refused(&b, ERR_NOT_FOUND, "tokenizer.ggml.tokens");
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_build_string(&b, "tokenizer.ggml.pre", "gpt-2");
    gguf_build_strings(&b, "tokenizer.ggml.tokens", one, 1);
    expect_refused(&b, ERR_NOT_FOUND, "tokenizer.ggml.merges");
}

static void broken_vocabularies_are_refused(void **state)
{
    static const char *const bad_merges[] = {"ab", "a ", "", " ", "ab "};
    struct small s = {"qwen2", {"ab"}, NULL, {"a b"}};
    struct gguf_build b;

    (void)state;
    for (size_t i = 0; i < COUNT(bad_merges); i++) {
        s.merges[1] = bad_merges[i];
        small_build(&b, &s);
        expect_refused(&b, ERR_FORMAT, "merge 1 is not two parts");
    }
    s.merges[1] = NULL;
    small_build(&b, &s);
    gguf_build_uint(&b, "tokenizer.ggml.eos_token_id", GGUF_U32, 257);
    expect_refused(&b, ERR_FORMAT, "tokenizer.ggml.eos_token_id is 257, outside");
    small_build(&b, &s);
    gguf_build_array(&b, "tokenizer.ggml.token_type", GGUF_I32, (const int32_t[]){1}, 1, 4);
    expect_refused(&b, ERR_FORMAT, "1 entries for 257 tokens");
    s.types = "9";
    small_build(&b, &s);
    expect_refused(&b, ERR_FORMAT, "token 256 has type 9");
}

static void no_tokens_are_refused(void **state)
{
    struct gguf_build b;

    (void)state;
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_build_string(&b, "tokenizer.ggml.pre", "gpt-2");
    gguf_build_strings(&b, "tokenizer.ggml.tokens", NULL, 0);
    expect_refused(&b, ERR_FORMAT, "vocabulary of 0 tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_and_bos),
        cmocka_unit_test(bos_is_wanted_if_there_is_one),
        cmocka_unit_test(hash_covers_what_affects_ids),
        cmocka_unit_test(other_models_are_refused_by_name),
        cmocka_unit_test(missing_keys_are_named),
        cmocka_unit_test(broken_vocabularies_are_refused),
        cmocka_unit_test(no_tokens_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
