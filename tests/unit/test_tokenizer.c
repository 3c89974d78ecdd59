/*
 * The tokenizer: from text to ids and back. What it reads from a file is in test_tokenizer_load.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/tokenizer_fixture.h"
#include "needlegrid/rng.h"
#include "needlegrid/utf8.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the shipped model ---- */

/* Checked by hand against the file's token list; llama.cpp gives the same ids. */
static void tiny_model_knows_the_needle(void **state)
{
    struct fixture f = fixture_open_tiny();

    (void)state;
    EXPECT_IDS(&f, " The special magic Berlin number is: 2601815.", TOKENIZE_PLAIN, 327, 303, 301,
               558, 298, 284, 59, 33, 51, 55, 49, 50, 57, 50, 54, 47);
    EXPECT_IDS(&f, "<|bos|>", TOKENIZE_SPECIAL, 0);
    assert_int_equal(tokenizer_size(f.t), 1024);
    assert_int_equal(tokenizer_bos(f.t), 0);
    assert_int_equal(tokenizer_eos(f.t), 0);
    assert_true(tokenizer_wants_bos(f.t));
    assert_true(str_eq(tokenizer_bytes(f.t, 558), " Berlin"));
    assert_int_equal(strlen(tokenizer_hash(f.t)), 64);
    fixture_close(&f);
}

/* Characters of all kinds: ASCII, spaces and line ends often, any other now and then. */
static size_t random_text(struct rng *r, char *out, size_t n_chars)
{
    static const char often[] = " \t\r\n'sLl19.,<|>_\xc2\xa0";
    size_t n = 0;

    for (size_t i = 0; i < n_chars; i++) {
        uint64_t kind = rng_below(r, 8);
        uint32_t cp = (uint32_t)rng_below(r, kind < 4 ? 0x80 : kind == 4 ? 0x3000 : 0x110000);

        if (kind >= 6) {
            out[n++] = often[rng_below(r, sizeof(often) - 3)];
            continue;
        }
        if (cp >= 0xd800 && cp <= 0xdfff)
            cp -= 0x800;
        n += utf8_encode(cp, out + n);
    }
    return n;
}

static void random_texts_round_trip(void **state)
{
    struct fixture f = fixture_open_tiny();
    char text[4 * 120];

    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        struct rng r = rng_make(1, "texts", i);
        size_t n = random_text(&r, text, (size_t)rng_below(&r, 120));

        assert_int_equal(utf8_invalid_at(text, n), n);
        expect_round_trip(&f, text, n, i % 2 ? TOKENIZE_SPECIAL : TOKENIZE_PLAIN);
    }
    fixture_close(&f);
}

static void every_byte_of_a_text_counts(void **state)
{
    struct fixture f = fixture_open_tiny();
    const token_id want[] = {98, 1, 99};

    (void)state;
    expect_ids_n(&f, "a\0b", 3, TOKENIZE_PLAIN, want, 3);
    expect_ids_n(&f, "", 0, TOKENIZE_PLAIN, NULL, 0);
    expect_ids_n(&f, NULL, 0, TOKENIZE_SPECIAL, NULL, 0);
    fixture_close(&f);
}

/* A merge that costs the length of its word would take hours here. */
static void words_of_a_megabyte_finish(void **state)
{
    static const char *const letters[] = {"a", "the", "abcdefghijklmnopqrstuvwxyz", " ", "\n", "="};
    size_t n = 1 << 20;
    char *text = malloc(n);
    struct fixture f = fixture_open_tiny();

    (void)state;
    assert_non_null(text);
    for (size_t k = 0; k < COUNT(letters); k++) {
        struct rng r = rng_make(2, "letters", k);
        size_t n_letters = strlen(letters[k]);

        for (size_t i = 0; i < n; i++)
            text[i] = letters[k][rng_below(&r, n_letters)];
        expect_round_trip(&f, text, n, TOKENIZE_PLAIN);
    }
    fixture_close(&f);
    free(text);
}

/* ---- threads ---- */

struct job {
    const struct tokenizer *t;
    const char *text;
    size_t n;
    struct tokens ids;
    enum status status;
};

static void *encode_often(void *data)
{
    struct job *job = data;
    struct error e;

    for (int i = 0; i < 20 && job->status == OK; i++) {
        job->ids.n = 0;
        job->status = tokenizer_encode(job->t, job->text, job->n, TOKENIZE_SPECIAL, &job->ids, &e);
    }
    return NULL;
}

static void threads_share_a_tokenizer(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct rng r = rng_make(3, "text", 0);
    char text[4 * 500];
    size_t n = random_text(&r, text, 500);
    struct job jobs[4];
    pthread_t threads[COUNT(jobs)];

    (void)state;
    for (size_t i = 0; i < COUNT(jobs); i++) {
        jobs[i] = (struct job){f.t, text, n, {0}, OK};
        assert_int_equal(pthread_create(&threads[i], NULL, encode_often, &jobs[i]), 0);
    }
    for (size_t i = 0; i < COUNT(jobs); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(jobs[i].status, OK);
        expect_ids_n(&f, text, n, TOKENIZE_SPECIAL, jobs[i].ids.ids, jobs[i].ids.n);
        tokens_release(&jobs[i].ids);
    }
    fixture_close(&f);
}

/* ---- what is refused ---- */

static void invalid_utf8_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"\xff", "at byte 0"},
        {"ab\xc3", "at byte 2"},
        {"abc\xed\xa0\x80", "at byte 3"},  /* a surrogate */
        {"a\xc0\xaf", "at byte 1"},        /* overlong */
        {"\xf4\x90\x80\x80", "at byte 0"}, /* past U+10FFFF */
        {"\xe2\x82\xac\xe2\x82", "at byte 3"},
    };
    struct fixture f = fixture_open_tiny();
    struct tokens ids = {0};
    struct error e;

    (void)state;
    assert_int_equal(tokens_append(&ids, (const token_id[]){7, 8}, 2, &e), OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(
            tokenizer_encode(f.t, cases[i].text, strlen(cases[i].text), TOKENIZE_PLAIN, &ids, &e),
            ERR_FORMAT);
        assert_non_null(strstr(e.message, cases[i].message));
        assert_int_equal(ids.n, 2);
    }
    tokens_release(&ids);
    fixture_close(&f);
}

static void ids_out_of_range_are_refused(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct buf out = BUF_INIT(100);
    struct error e;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        token_id bad = (token_id[]){-1, 1024, INT32_MAX}[i];

        assert_int_equal(tokenizer_decode(f.t, &bad, 1, &out, &e), ERR_FORMAT);
        assert_non_null(strstr(e.message, "vocabulary of 1024 tokens"));
        assert_null(tokenizer_bytes(f.t, bad).p);
        assert_int_equal(tokenizer_bytes(f.t, bad).n, 0);
        assert_false(tokenizer_is_end(f.t, bad));
    }
    buf_release(&out);
    out.max = 10;
    assert_int_equal(tokenizer_decode(f.t, (const token_id[]){558, 558}, 2, &out, &e), ERR_LIMIT);
    buf_release(&out);
    fixture_close(&f);
}

/* ---- merging ---- */

static void lowest_rank_merges_first(void **state)
{
    struct small s = {"qwen2", {"ab", "bc", "aa", "abc", "aaa"}, NULL, {"b c", "a b", "a a"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "abc", TOKENIZE_PLAIN, 'a', 257); /* not ab c */
    EXPECT_IDS(&f, "ab", TOKENIZE_PLAIN, 256);
    EXPECT_IDS(&f, "aaa", TOKENIZE_PLAIN, 258, 'a'); /* leftmost of equals; no merge makes aaa */
    EXPECT_IDS(&f, "aaaab", TOKENIZE_PLAIN, 258, 'a', 256);
    fixture_close(&f);
}

static void merges_use_results_of_merges(void **state)
{
    struct small s = {"qwen2",
                      {"ab", "cd", "abcd",
                       "\xc4\xa0"
                       "abcd",
                       "bc"},
                      NULL,
                      {"a b", "c d", "ab cd", "\xc4\xa0 abcd", "b c"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "abcd abcd", TOKENIZE_PLAIN, 258, 259);
    EXPECT_IDS(&f, "abcbcd", TOKENIZE_PLAIN, 256, 'c', 'b', 257);
    EXPECT_IDS(&f, "xbcx", TOKENIZE_PLAIN, 'x', 260, 'x');
    fixture_close(&f);
}

/* Of merges of one pair the first counts; those with parts or results unknown are passed over. */
static void odd_merges_are_tolerated(void **state)
{
    struct small s = {"qwen2", {"ab", "bc"}, NULL, {"xyz q", "a xyz", "x y", "b c", "a b", "b c"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "abc", TOKENIZE_PLAIN, 'a', 257);
    EXPECT_IDS(&f, "xyzq", TOKENIZE_PLAIN, 'x', 'y', 'z', 'q');
    fixture_close(&f);
}

static void only_llama_bpe_takes_words_unmerged(void **state)
{
    struct small s = {"llama-bpe", {"abc", "bcd", "qqq"}, "113", {NULL}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "abc", TOKENIZE_PLAIN, 256);
    EXPECT_IDS(&f, "abcd", TOKENIZE_PLAIN, 'a', 'b', 'c', 'd');
    EXPECT_IDS(&f, "qqq", TOKENIZE_PLAIN, 'q', 'q', 'q'); /* a control token is no word */
    fixture_close(&f);
    s.pre = "qwen2";
    f = fixture_open_small(&s);
    EXPECT_IDS(&f, "abc", TOKENIZE_PLAIN, 'a', 'b', 'c');
    fixture_close(&f);
}

static void merges_never_make_control_tokens(void **state)
{
    struct small s = {"llama-bpe", {"ab", "abc", "bc"}, "311", {"a b", "ab c", "b c"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "ab", TOKENIZE_PLAIN, 'a', 'b');
    EXPECT_IDS(&f, "xabc", TOKENIZE_PLAIN, 'x', 'a', 258);
    EXPECT_IDS(&f, "xab", TOKENIZE_SPECIAL, 'x', 256);
    fixture_close(&f);
}

static void unknown_bytes_are_refused(void **state)
{
    static const char *const tokens[] = {"a", "b"};
    struct gguf_build b;
    struct fixture f;
    struct tokens ids = {0};
    struct error e;

    (void)state;
    gguf_build_init(&b);
    gguf_build_string(&b, "tokenizer.ggml.model", "gpt2");
    gguf_build_string(&b, "tokenizer.ggml.pre", "gpt-2");
    gguf_build_strings(&b, "tokenizer.ggml.tokens", tokens, 2);
    gguf_build_strings(&b, "tokenizer.ggml.merges", tokens, 0);
    f = fixture_open_built(&b);
    EXPECT_IDS(&f, "ba", TOKENIZE_PLAIN, 1, 0);
    assert_int_equal(tokenizer_encode(f.t, "abc", 3, TOKENIZE_PLAIN, &ids, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.message, "byte 0x63"));
    assert_int_equal(tokenizer_encode(f.t, "b,a", 3, TOKENIZE_PLAIN, &ids, &e), ERR_UNSUPPORTED);
    assert_non_null(strstr(e.message, "byte 0x2c"));
    assert_int_equal(ids.n, 0); /* though the b came before the comma */
    tokens_release(&ids);
    fixture_close(&f);
}

/* ---- cutting into pre-tokens ---- */

/* Merges show the borders: they never go over one. */
static void digits_are_grouped_by_the_pattern(void **state)
{
    struct small s = {"gpt-2", {"12", "123", "1234"}, NULL, {"1 2", "12 3", "123 4"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "1234", TOKENIZE_PLAIN, 258);
    fixture_close(&f);
    s.pre = "llama-bpe";
    f = fixture_open_small(&s);
    EXPECT_IDS(&f, "1234", TOKENIZE_PLAIN, 257, '4');
    fixture_close(&f);
    s.pre = "qwen2";
    f = fixture_open_small(&s);
    EXPECT_IDS(&f, "1234", TOKENIZE_PLAIN, '1', '2', '3', '4');
    fixture_close(&f);
}

static void spaces_and_contractions_are_cut_by_the_pattern(void **state)
{
    struct small s = {"gpt-2",
                      {"\xc4\xa0\xc4\xa0", "\xc4\xa0x", "'S", "\xc4\x8a\xc4\x8a", "x'"},
                      NULL,
                      {"\xc4\xa0 \xc4\xa0", "\xc4\xa0 x", "' S", "\xc4\x8a \xc4\x8a", "x '"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "   x", TOKENIZE_PLAIN, 256, 257); /* the last space goes with the word */
    EXPECT_IDS(&f, "   ", TOKENIZE_PLAIN, 256, ' ');
    EXPECT_IDS(&f, "x'Sx", TOKENIZE_PLAIN, 'x', '\'', 'S', 'x');
    EXPECT_IDS(&f, "x\n\nx", TOKENIZE_PLAIN, 'x', '\n', '\n', 'x');
    fixture_close(&f);
    s.pre = "qwen2";
    f = fixture_open_small(&s);
    EXPECT_IDS(&f, "   x", TOKENIZE_PLAIN, 256, 257);
    EXPECT_IDS(&f, "x'Sx", TOKENIZE_PLAIN, 'x', 258, 'x'); /* capitals contract too */
    EXPECT_IDS(&f, "x\n\nx", TOKENIZE_PLAIN, 'x', 259, 'x');
    fixture_close(&f);
}

/* U+180E was a space before Unicode 6.3. As one, it would stand apart from its neighbour. */
static void the_mongolian_separator_is_no_space(void **state)
{
    struct small s = {"llama-bpe", {"\xc4\xb0\xc3\xa1"}, NULL, {"\xc4\xb0 \xc3\xa1"}}; /* 8E E1 */
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "\xe1\xa0\x8e\xe1\xa0\x8ex", TOKENIZE_PLAIN, 0xe1, 0xa0, 256, 0xa0, 0x8e, 'x');
    fixture_close(&f);
}

/* ---- special tokens ---- */

static void special_tokens_by_type_and_mode(void **state)
{
    struct small s = {
        "qwen2", {"<|end|>", "<think>", "<unk>", "plain", "\xc3\xb8"}, "34214", {NULL}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "a<|end|>b", TOKENIZE_SPECIAL, 'a', 256, 'b');
    EXPECT_IDS(&f, "<|end|>", TOKENIZE_PLAIN, '<', '|', 'e', 'n', 'd', '|', '>');
    EXPECT_IDS(&f, "<think><think>", TOKENIZE_PLAIN, 257, 257);
    EXPECT_IDS(&f, "<think>", TOKENIZE_SPECIAL, 257);
    EXPECT_IDS(&f, "<unk>", TOKENIZE_SPECIAL, 258);
    EXPECT_IDS(&f, "<unk>", TOKENIZE_PLAIN, '<', 'u', 'n', 'k', '>');
    EXPECT_IDS(&f, "plain", TOKENIZE_SPECIAL, 'p', 'l', 'a', 'i', 'n');
    EXPECT_IDS(&f, "<|end<|end|>", TOKENIZE_SPECIAL, '<', '|', 'e', 'n', 'd', 256);
    /* User-defined tokens stand for their name as written, not for bytes. */
    EXPECT_IDS(&f, "\xc3\xb8", TOKENIZE_PLAIN, 260);
    expect_round_trip(&f, "a<|end|> \xc3\xb8 <think>", 20, TOKENIZE_SPECIAL);
    fixture_close(&f);
}

static void longest_special_token_first(void **state)
{
    struct small s = {"qwen2", {"wx", "xyz", "xy", "zw", "xyzw", "<a>"}, "333334", {NULL}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "wxyz", TOKENIZE_SPECIAL, 'w', 257); /* though wx comes earlier */
    EXPECT_IDS(&f, "wxy", TOKENIZE_SPECIAL, 256, 'y');  /* one length: the lower id first */
    EXPECT_IDS(&f, "xyzw", TOKENIZE_SPECIAL, 260);
    EXPECT_IDS(&f, "xyzxyw<a>", TOKENIZE_SPECIAL, 257, 258, 'w', 261);
    EXPECT_IDS(&f, "xyz<a>", TOKENIZE_PLAIN, 'x', 'y', 'z', 261);
    fixture_close(&f);
}

/* Text next to a special token is cut as if it stood alone. */
static void special_tokens_end_the_text_around_them(void **state)
{
    struct small s = {"gpt-2", {"<s>", "\xc4\xa0\xc4\xa0"}, "31", {"\xc4\xa0 \xc4\xa0"}};
    struct fixture f = fixture_open_small(&s);

    (void)state;
    EXPECT_IDS(&f, "  <s>", TOKENIZE_SPECIAL, 257, 256);
    EXPECT_IDS(&f, "  <s>", TOKENIZE_PLAIN, ' ', ' ', '<', 's', '>');
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_model_knows_the_needle),
        cmocka_unit_test(random_texts_round_trip),
        cmocka_unit_test(every_byte_of_a_text_counts),
        cmocka_unit_test(words_of_a_megabyte_finish),
        cmocka_unit_test(threads_share_a_tokenizer),
        cmocka_unit_test(invalid_utf8_is_refused),
        cmocka_unit_test(ids_out_of_range_are_refused),
        cmocka_unit_test(lowest_rank_merges_first),
        cmocka_unit_test(merges_use_results_of_merges),
        cmocka_unit_test(odd_merges_are_tolerated),
        cmocka_unit_test(only_llama_bpe_takes_words_unmerged),
        cmocka_unit_test(merges_never_make_control_tokens),
        cmocka_unit_test(unknown_bytes_are_refused),
        cmocka_unit_test(digits_are_grouped_by_the_pattern),
        cmocka_unit_test(spaces_and_contractions_are_cut_by_the_pattern),
        cmocka_unit_test(the_mongolian_separator_is_no_space),
        cmocka_unit_test(special_tokens_by_type_and_mode),
        cmocka_unit_test(longest_special_token_first),
        cmocka_unit_test(special_tokens_end_the_text_around_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
