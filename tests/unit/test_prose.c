/*
 * Generated prose: what it promises, on long stretches of it.
 */
#include "needlegrid/prose.h"
#include "needlegrid/sentence.h"
#include "needlegrid/template.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { PARAGRAPHS = 4000 }; /* about 27,000 sentences, 2.4 MB */

static void write_prose(struct buf *out, uint64_t seed, uint64_t sample, int paragraphs)
{
    struct prose *p;
    struct error e;

    if (prose_new(&p, seed, sample, &e) != OK)
        fail_msg("%s", e.message);
    for (int i = 0; i < paragraphs; i++)
        prose_paragraph(p, out);
    assert_int_equal(buf_status(out, &e), OK);
    prose_free(p);
}

static void a_stream_has_a_name(void **state)
{
    struct buf a = BUF_INIT(1 << 20);
    struct buf b = BUF_INIT(1 << 20);

    (void)state;
    write_prose(&a, 7, 3, 40);
    write_prose(&b, 7, 3, 40);
    assert_string_equal(buf_str(&a), buf_str(&b));
    for (uint64_t i = 0; i < 4; i++) {
        buf_clear(&b);
        write_prose(&b, i < 2 ? 7 : 8 + i, i < 2 ? 4 + i : 3, 40);
        assert_true(strncmp(buf_str(&a), buf_str(&b), 60) != 0);
    }
    buf_release(&a);
    buf_release(&b);
}

static void paragraphs_are_whole_sentences(void **state)
{
    struct prose *p;
    struct error e;
    struct buf b = BUF_INIT(1 << 20);

    (void)state;
    assert_int_equal(prose_new(&p, 1, 0, &e), OK);
    for (int i = 0; i < PARAGRAPHS; i++) {
        size_t sentences = 0;
        buf_clear(&b);
        prose_paragraph(p, &b);
        for (size_t at = 0; at < b.len; at = sentence_end(b.data, b.len, at)) {
            char c = b.data[at + 1];
            char next = b.data[at + 2];
            assert_int_equal(b.data[at], ' ');
            assert_true((c >= 'A' && c <= 'Z') || (c == '"' && next >= 'A' && next <= 'Z'));
            sentences++;
        }
        assert_true(b.data[b.len - 1] == '.');
        if (sentences < 5 || sentences > 9)
            fail_msg("%zu sentences: %s", sentences, b.data);
    }
    prose_free(p);
    buf_release(&b);
}

static void plain_letters_only(void **state)
{
    static const char allowed[] = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,?:\"'-";
    struct buf b = BUF_INIT(1 << 24);

    (void)state;
    write_prose(&b, 2, 0, PARAGRAPHS);
    assert_int_equal(strspn(buf_str(&b), allowed), b.len);
    assert_null(strstr(buf_str(&b), "  "));
    assert_null(strstr(buf_str(&b), " ,"));
    assert_null(strstr(buf_str(&b), "the the "));
    buf_release(&b);
}

/* ---- no sentence twice ---- */

struct piece {
    const char *text;
    size_t n;
    size_t place; /* the how-manieth sentence */
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a;
    const struct piece *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = memcmp(x->text, y->text, n);

    if (order == 0)
        order = (x->n > y->n) - (x->n < y->n);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static void no_sentence_comes_back_soon(void **state)
{
    struct buf b = BUF_INIT(1 << 24);
    struct piece *list = malloc(10 * PARAGRAPHS * sizeof(*list));
    size_t n = 0;
    size_t repeats = 0;

    (void)state;
    assert_non_null(list);
    write_prose(&b, 3, 0, PARAGRAPHS);
    for (size_t at = 0, end; at < b.len; at = end, n++) {
        end = sentence_end(b.data, b.len, at);
        list[n] = (struct piece){b.data + at, end - at, n};
    }
    assert_true(n > 5 * PARAGRAPHS);
    qsort(list, n, sizeof(*list), compare_pieces);
    for (size_t i = 1; i < n; i++) {
        if (list[i].n == list[i - 1].n && memcmp(list[i].text, list[i - 1].text, list[i].n) == 0) {
            repeats++;
            assert_true(list[i].place - list[i - 1].place > PROSE_MEMORY);
        }
    }
    /* even so far apart, few: the forms have far more fillings than are used here */
    assert_true(repeats * 200 < n);
    free(list);
    buf_release(&b);
}

/* ---- words ---- */

static void no_city_is_named(void **state)
{
    struct prompt_template *t;
    struct error e;
    struct buf b = BUF_INIT(1 << 24);

    (void)state;
    if (template_open(&t, "tokyo", "prompts", &e) != OK)
        fail_msg("%s", e.message);
    write_prose(&b, 4, 0, PARAGRAPHS);
    for (size_t i = 0; i < t->keys.n_list; i++) {
        assert_null(strstr(buf_str(&b), t->keys.list[i]));
        assert_null(prose_phrase_with(t->keys.list[i]));
    }
    buf_release(&b);
    template_free(t);
}

static void words_of_the_generator_are_found(void **state)
{
    static const char *const has[] = {"miller", "mill", "Monday", "bell", "herring", "weighing"};
    static const char *const lacks[] = {"Tokyo", "mil", "iller", "Mondays", "", "xyzzy"};

    (void)state;
    for (size_t i = 0; i < COUNT(has); i++)
        assert_non_null(prose_phrase_with(has[i]));
    for (size_t i = 0; i < COUNT(lacks); i++)
        assert_null(prose_phrase_with(lacks[i]));
    /* "the rain blew in" begins a sentence as "The rain", "dust was blowing" as "Dust" */
    assert_non_null(prose_phrase_with("Dust"));
    assert_null(prose_phrase_with("monday"));
}

static void the_hash_is_of_words_and_revision(void **state)
{
    char a[HASH_HEX_SIZE];
    char b[HASH_HEX_SIZE];
    struct hash *h;
    struct error e;

    (void)state;
    assert_int_equal(hash_new(&h, &e), OK);
    prose_hash(h);
    assert_int_equal(hash_hex(h, a, &e), OK);
    prose_hash(h);
    assert_int_equal(hash_hex(h, b, &e), OK);
    assert_string_equal(a, b);
    assert_int_equal(hash_hex(h, b, &e), OK); /* of nothing */
    assert_string_not_equal(a, b);
    hash_free(h);
}

static void a_full_buffer_is_told(void **state)
{
    struct prose *p;
    struct error e;
    struct buf b = BUF_INIT(100);

    (void)state;
    assert_int_equal(prose_new(&p, 1, 0, &e), OK);
    prose_paragraph(p, &b);
    assert_int_equal(buf_status(&b, &e), ERR_LIMIT);
    prose_free(p);
    prose_free(NULL);
    buf_release(&b);
}

/* Whoever changes words, forms or drawing sees this and puts PROSE_REVISION up by one. */
static void the_text_of_this_revision(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    char hex[HASH_HEX_SIZE];
    struct error e;

    (void)state;
    write_prose(&b, 42, 1, 100);
    assert_int_equal(hash_memory(b.data, b.len, hex, &e), OK);
    assert_int_equal(PROSE_REVISION, 1);
    assert_string_equal(hex, "e421bc4357348c2159f3c328b3967e038d6fd70dae0caaf548ff297c18db6920");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_has_a_name),
        cmocka_unit_test(paragraphs_are_whole_sentences),
        cmocka_unit_test(plain_letters_only),
        cmocka_unit_test(no_sentence_comes_back_soon),
        cmocka_unit_test(no_city_is_named),
        cmocka_unit_test(words_of_the_generator_are_found),
        cmocka_unit_test(the_hash_is_of_words_and_revision),
        cmocka_unit_test(a_full_buffer_is_told),
        cmocka_unit_test(the_text_of_this_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
