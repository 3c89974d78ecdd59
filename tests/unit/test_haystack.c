/*
 * Haystacks: reading and folding, tokens, windows, and what to do with short texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/scratch.h"
#include "../support/tokenizer_fixture.h"
#include "needlegrid/hash.h"
#include "needlegrid/haystack.h"
#include "needlegrid/json.h"
#include "needlegrid/os.h"
#include "needlegrid/sentence.h"
#include "needlegrid/template.h"
#include "needlegrid/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static struct haystack *from_text(const char *text)
{
    struct haystack *h;
    struct error e;

    if (haystack_from_text(&h, "text", text, strlen(text), &e) != OK)
        fail_msg("%s", e.message);
    return h;
}

static struct haystack *open_haystack(const char *name)
{
    struct haystack *h;
    struct error e;

    if (haystack_open(&h, name, "haystacks", &e) != OK)
        fail_msg("%s", e.message);
    return h;
}

static struct haystack_tokens *tokenize(const struct haystack *h, const struct fixture *f)
{
    struct haystack_tokens *ht;
    struct error e;

    if (haystack_tokenize(&ht, h, f->t, &e) != OK)
        fail_msg("%s", e.message);
    return ht;
}

static struct window window(struct haystack_tokens *ht, uint64_t seed, uint64_t sample, size_t n)
{
    struct window w;
    struct error e;

    if (haystack_window(ht, seed, sample, n, &w, &e) != OK)
        fail_msg("%s", e.message);
    assert_int_equal(w.n, n);
    assert_true(w.n_boundaries > 0 && w.boundaries[0] == 0);
    assert_true(w.boundaries[w.n_boundaries - 1] <= n);
    return w;
}

static void decode(const struct fixture *f, const token_id *ids, size_t n, struct buf *out)
{
    struct error e;

    buf_clear(out);
    if (tokenizer_decode(f->t, ids, n, out, &e) != OK || buf_status(out, &e) != OK)
        fail_msg("%s", e.message);
}

/* ---- reading ---- */

static void white_space_is_folded(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"One.", " One."},
        {"\n\n  One.\t two \r\n three.\n\n", " One. two three."},
        {"\xef\xbb\xbfOne.\fTwo.", " One. Two."},
        {"A\n\nB", " A B"},
        {"a\xc2\xa0"
         "b",
         " a\xc2\xa0"
         "b"}, /* a no-break space stays */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct haystack *h = from_text(cases[i].text);
        struct str s = haystack_text(h);
        assert_int_equal(s.n, strlen(cases[i].want));
        assert_memory_equal(s.p, cases[i].want, s.n);
        haystack_free(h);
    }
}

static void expect_bad_text(const char *text, size_t n, const char *message)
{
    struct haystack *h;
    struct error e;

    assert_int_equal(haystack_from_text(&h, "my.txt", text, n, &e), ERR_FORMAT);
    assert_null(h);
    if (!strstr(e.message, message))
        fail_msg("wanted \"%s\" in \"%s\"", message, e.message);
}

static void bad_texts_are_named(void **state)
{
    (void)state;
    expect_bad_text("", 0, "my.txt: the text is empty");
    expect_bad_text(" \n\t \r\n", 6, "my.txt: the text is empty");
    expect_bad_text("\xef\xbb\xbf", 3, "my.txt: the text is empty");
    expect_bad_text("good\xff", 5, "my.txt: invalid UTF-8 at byte 4");
    expect_bad_text("ab\xe2\x82", 4, "my.txt: invalid UTF-8 at byte 2");
    expect_bad_text("a\0b\0", 4, "my.txt: byte 1 is U+0000");
}

static void files_and_folders(void **state)
{
    struct scratch s;
    struct haystack *h;
    struct error e;
    struct str text;

    (void)state;
    scratch_init(&s);
    assert_int_equal(haystack_open(&h, s.folder, "", &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "no *.txt files"));
    scratch_write(&s, "b.txt", "Second", 6);
    scratch_write(&s, "a.txt", "First", 5);
    scratch_write(&s, "c.md", "Not read.", 9);
    h = open_haystack(s.folder);
    text = haystack_text(h);
    assert_int_equal(text.n, 13);
    assert_memory_equal(text.p, " First Second", 13);
    assert_int_equal(haystack_must_lack(h, "Second", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "/b.txt: the word \"Second\""));
    assert_int_equal(haystack_must_lack(h, "First", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "/a.txt: "));
    haystack_free(h);
    h = open_haystack(scratch_path(&s, "b.txt"));
    assert_string_equal(haystack_name(h), s.path);
    haystack_free(h);
    scratch_write(&s, "c.txt", "bad \xc3(", 6);
    assert_int_equal(haystack_open(&h, s.folder, "", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "/c.txt: invalid UTF-8 at byte 4"));
    assert_int_equal(haystack_open(&h, "esays", "haystacks", &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "esays: it can be essays, prose, noise"));
    assert_int_equal(haystack_open(&h, "essays", s.folder, &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.message, "/essays"));
    scratch_release(&s);
}

static void hashes_cover_words_and_sentences(void **state)
{
    static const char *const texts[] = {
        "One. Two.", "One.  Two.\n", "One. two.", "One two.", "One.\n\nTwo.", "One\n\ntwo.",
    };
    char hashes[COUNT(texts)][65];

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct haystack *h = from_text(texts[i]);
        snprintf(hashes[i], sizeof(hashes[i]), "%s", haystack_hash(h));
        assert_int_equal(strlen(hashes[i]), 64);
        haystack_free(h);
    }
    assert_string_equal(hashes[0], hashes[1]);     /* white space alone */
    assert_string_equal(hashes[0], hashes[4]);     /* the same sentences */
    assert_string_not_equal(hashes[0], hashes[2]); /* another word */
    assert_string_not_equal(hashes[3], hashes[5]); /* the same words, one more sentence */
}

static void words_are_looked_for_whole(void **state)
{
    struct haystack *h = from_text("The Limassol road. Romeo at Nice-sur-mer, Lyon's (Oslo). Ulm");
    static const char *const there[] = {"Nice", "Lyon", "Oslo", "Ulm", "The", "Limassol road"};
    static const char *const not_there[] = {"Lima", "Rome", "ulm", "Nic", "slo", "", "Ulmer"};
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(there); i++) {
        assert_int_equal(haystack_must_lack(h, there[i], &e), ERR_FORMAT);
        assert_non_null(strstr(e.message, there[i]));
    }
    for (size_t i = 0; i < COUNT(not_there); i++)
        assert_int_equal(haystack_must_lack(h, not_there[i], &e), OK);
    haystack_free(h);
    /* the excerpt in the message is cut between characters */
    h = from_text("\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac"
                  "\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac Ulm "
                  "\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac"
                  "\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac\xe6\x9d\xb1\xe4\xba\xac");
    assert_int_equal(haystack_must_lack(h, "Ulm", &e), ERR_FORMAT);
    assert_int_equal(utf8_invalid_at(e.message, strlen(e.message)), strlen(e.message));
    haystack_free(h);
    h = open_haystack("prose");
    assert_int_equal(haystack_must_lack(h, "miller", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "prose: the word \"miller\""));
    assert_int_equal(haystack_must_lack(h, "Tokyo", &e), OK);
    haystack_free(h);
}

/* ---- tokens ---- */

/* n tokens from `ids` on are the encodings of the sentences between the boundaries. */
static void expect_sentences(const struct fixture *f, const struct window *w)
{
    struct buf text = BUF_INIT(1 << 20);
    struct tokens again = {0};
    struct error e;

    for (size_t i = 0; i + 1 < w->n_boundaries; i++) {
        size_t from = w->boundaries[i];
        size_t n = w->boundaries[i + 1] - from;
        decode(f, w->ids + from, n, &text);
        assert_true(text.data[0] == ' ');
        again.n = 0;
        assert_int_equal(tokenizer_encode(f->t, text.data, text.len, TOKENIZE_PLAIN, &again, &e),
                         OK);
        assert_int_equal(again.n, n);
        assert_memory_equal(again.ids, w->ids + from, n * sizeof(token_id));
    }
    buf_release(&text);
    tokens_release(&again);
}

static void sentences_are_encoded_as_if_alone(void **state)
{
    static const char *const names[] = {"essays", "prose", "noise"};
    struct fixture f = fixture_open_tiny();

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct haystack *h = open_haystack(names[i]);
        struct haystack_tokens *ht = tokenize(h, &f);
        struct window w = window(ht, 5, 0, 60000); /* more than once round the essays */
        assert_true(w.n_boundaries > 1000);
        expect_sentences(&f, &w);
        haystack_tokens_free(ht);
        haystack_free(h);
    }
    fixture_close(&f);
}

static void the_circle_closes(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct haystack *h = open_haystack("essays");
    struct haystack_tokens *ht = tokenize(h, &f);
    size_t n = haystack_token_count(ht);
    struct buf text = BUF_INIT(1 << 22);
    struct str whole = haystack_text(h);
    struct window w = window(ht, 1, 1, 2 * n);
    size_t from;

    (void)state;
    assert_memory_equal(w.ids, w.ids + n, n * sizeof(token_id));
    decode(&f, w.ids, n, &text);
    assert_int_equal(text.len, whole.n);
    /* the window is the text, turned */
    from = (size_t)(strstr(whole.p, buf_str(&text) + text.len - 300) - whole.p) + 300;
    assert_memory_equal(text.data, whole.p + from, whole.n - from);
    assert_memory_equal(text.data + whole.n - from, whole.p, from);
    buf_release(&text);
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

static void a_boundary_inside_a_token_is_dropped(void **state)
{
    /* a token of its own, matched everywhere, that reaches over a sentence's end */
    struct small s = {"qwen2", {". B"}, "4", {NULL}};
    struct fixture f = fixture_open_small(&s);
    struct haystack *h = from_text("A a. B b. C c.");
    struct haystack_tokens *ht = tokenize(h, &f);
    struct window w;

    (void)state;
    assert_int_equal(haystack_token_count(ht), 13);
    for (uint64_t i = 0; i < 20; i++) {
        size_t n = 0;
        w = window(ht, 0, i, 13);
        assert_int_equal(w.n_boundaries, 3); /* A a. B b. | C c. */
        n = w.boundaries[1];
        assert_true(n == 8 || n == 5);
        assert_int_equal(w.boundaries[2], 13);
    }
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

/* ---- windows ---- */

static void a_longer_window_starts_with_the_shorter(void **state)
{
    static const char *const names[] = {"essays", "prose", "noise"};
    struct fixture f = fixture_open_tiny();

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct haystack *h = open_haystack(names[i]);
        struct haystack_tokens *a = tokenize(h, &f);
        struct haystack_tokens *b = tokenize(h, &f);
        for (uint64_t sample = 0; sample < 40; sample++) {
            size_t n = 1 + (size_t)sample * 97;
            struct window shorter = window(a, 9, sample, n);
            struct window longer = window(b, 9, sample, 5000);
            assert_memory_equal(shorter.ids, longer.ids, n * sizeof(token_id));
            assert_memory_equal(shorter.boundaries, longer.boundaries,
                                shorter.n_boundaries * sizeof(size_t));
            assert_true(longer.boundaries[shorter.n_boundaries] > n);
            longer = window(a, 9, sample, 5000); /* grown from the shorter one */
            shorter = window(b, 9, sample, 5000);
            assert_memory_equal(shorter.ids, longer.ids, 5000 * sizeof(token_id));
            assert_int_equal(shorter.n_boundaries, longer.n_boundaries);
        }
        haystack_tokens_free(a);
        haystack_tokens_free(b);
        haystack_free(h);
    }
    fixture_close(&f);
}

static void every_sentence_can_be_the_first(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct haystack *h = open_haystack("noise");
    struct haystack_tokens *ht = tokenize(h, &f);
    struct buf text = BUF_INIT(1000);
    const char *starts[] = {" The g", " The sk", " The su", " Here", " There"};
    size_t seen[COUNT(starts)] = {0};

    (void)state;
    for (uint64_t sample = 0; sample < 1000; sample++) {
        struct window w = window(ht, 3, sample, 12);
        decode(&f, w.ids, 12, &text);
        for (size_t i = 0; i < COUNT(starts); i++)
            seen[i] += strncmp(text.data, starts[i], strlen(starts[i])) == 0;
    }
    for (size_t i = 0; i < COUNT(starts); i++) /* 200 are expected; the deviation is 13 */
        assert_true(seen[i] > 130 && seen[i] < 270);
    buf_release(&text);
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

static void a_text_without_sentence_ends(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct buf words = BUF_INIT(1 << 16);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct window w;

    (void)state;
    for (int i = 0; i < 2000; i++)
        buf_puts(&words, "w\xc3\xb6rd\xe6\x9d\xb1 "); /* characters of several tokens */
    h = from_text(buf_str(&words));
    ht = tokenize(h, &f);
    w = window(ht, 0, 0, 4000);
    assert_int_equal(w.n_boundaries, 1);
    for (size_t at = 4; at < 3999; at++) {
        size_t end = window_end(&w, f.t, at, 512);
        size_t place = window_snap(&w, f.t, at, 3999, 3);
        assert_true(end <= at && at - end < 3);
        assert_true(utf8_is_start(tokenizer_bytes(f.t, w.ids[end]).p[0]));
        if (at > 4 && at < 3996)
            assert_int_equal(place, end);
    }
    assert_int_equal(window_snap(&w, f.t, 0, 3000, 512), 0);
    assert_int_equal(window_snap(&w, f.t, 3000, 3000, 512), 3000);
    assert_int_equal(window_snap(&w, f.t, 200, 3000, 512), 0);
    assert_int_equal(window_snap(&w, f.t, 2900, 3000, 512), 3000);
    haystack_tokens_free(ht);
    haystack_free(h);
    buf_release(&words);
    fixture_close(&f);
}

static void places_are_the_nearest(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct haystack *h = open_haystack("essays");
    struct haystack_tokens *ht = tokenize(h, &f);
    struct window w = window(ht, 0, 0, 1000);
    size_t end = window_end(&w, f.t, 990, 512);

    (void)state;
    assert_int_equal(window_end(&w, f.t, end, 512), end);
    assert_true(window_end(&w, f.t, end - 1, 512) < end);
    for (size_t at = 0; at <= end; at++) {
        size_t place = window_snap(&w, f.t, at, end, 512);
        size_t distance = place > at ? place - at : at - place;
        bool found = false;
        for (size_t i = 0; i < w.n_boundaries && w.boundaries[i] <= end; i++) {
            size_t b = w.boundaries[i];
            assert_true(distance <= (b > at ? b - at : at - b));
            found |= b == place;
        }
        assert_true(found);
    }
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

static void windows_have_a_limit(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct haystack *h = open_haystack("prose");
    struct haystack_tokens *ht = tokenize(h, &f);
    struct window w;
    struct error e;

    (void)state;
    assert_int_equal(haystack_window(ht, 0, 0, SIZE_MAX, &w, &e), ERR_LIMIT);
    w = window(ht, 0, 0, 10);
    assert_int_equal(w.n, 10);
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

/* ---- texts that are too short ---- */

static void fills_have_names(void **state)
{
    static const char *const names[] = {"generate", "repeat", "shuffle", "refuse"};
    enum haystack_fill fill;
    struct error e;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(haystack_fill_parse(names[i], &fill, &e), OK);
        assert_int_equal((size_t)fill, i);
        assert_string_equal(haystack_fill_name(fill), names[i]);
    }
    assert_int_equal(haystack_fill_parse("pad", &fill, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "pad: it can be generate, repeat, shuffle or refuse"));
}

static void short_texts_are_filled(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct haystack *h = open_haystack("essays");
    struct haystack_tokens *ht = tokenize(h, &f);
    size_t n = haystack_token_count(ht);
    size_t most = n / 4; /* the longest that is not too long */
    enum haystack_use use;
    struct error e;
    char needed[64];

    (void)state;
    assert_int_equal(haystack_windows(ht, most), 4);
    assert_int_equal(haystack_windows(ht, n), 1);
    assert_int_equal(haystack_windows(ht, n + 1), 0);
    for (int fill = FILL_GENERATE; fill <= FILL_REFUSE; fill++) {
        assert_int_equal(haystack_choose(ht, most, (enum haystack_fill)fill, &use, &e), OK);
        assert_int_equal(use, HAYSTACK_AS_ASKED);
    }
    assert_int_equal(haystack_choose(ht, most + 1, FILL_GENERATE, &use, &e), OK);
    assert_int_equal(use, HAYSTACK_PROSE);
    assert_int_equal(haystack_choose(ht, most + 1, FILL_REPEAT, &use, &e), OK);
    assert_int_equal(use, HAYSTACK_AS_ASKED);
    assert_int_equal(haystack_choose(ht, most + 1, FILL_SHUFFLE, &use, &e), OK);
    assert_int_equal(use, HAYSTACK_SHUFFLED);
    assert_int_equal(haystack_choose(ht, most + 1, FILL_REFUSE, &use, &e), ERR_LIMIT);
    snprintf(needed, sizeof(needed), "%zu tokens", n);
    assert_non_null(strstr(e.message, needed));
    snprintf(needed, sizeof(needed), "length of %zu needs 4 times", most + 1);
    assert_non_null(strstr(e.message, needed));
    haystack_tokens_free(ht);
    haystack_free(h);
    h = open_haystack("noise");
    ht = tokenize(h, &f);
    assert_true(haystack_endless(h));
    assert_int_equal(haystack_choose(ht, 1 << 20, FILL_REFUSE, &use, &e), OK);
    assert_int_equal(use, HAYSTACK_AS_ASKED);
    haystack_tokens_free(ht);
    haystack_free(h);
    fixture_close(&f);
}

/* Which of six sentences "A a." to "F f." stands at token `at`, each being 4 tokens. */
static int which(const struct window *w, size_t at)
{
    return w->ids[at + 1] - 'A';
}

static void each_round_is_shuffled_anew(void **state)
{
    struct small s = {"qwen2", {NULL}, NULL, {NULL}};
    struct fixture f = fixture_open_small(&s);
    struct haystack *h = from_text("Aa. Bb. Cc. Dd. Ee. Ff.");
    struct haystack_tokens *base = tokenize(h, &f);
    struct haystack_tokens *ht;
    struct haystack_tokens *other;
    struct error e;
    size_t same_rounds = 0;
    size_t same_samples = 0;

    (void)state;
    assert_int_equal(haystack_shuffled(&ht, base, &e), OK);
    assert_int_equal(haystack_shuffled(&other, base, &e), OK);
    assert_string_equal(haystack_tokens_name(ht), "text, shuffled");
    assert_string_equal(haystack_tokens_name(base), "text");
    assert_string_equal(haystack_tokens_hash(base), haystack_hash(h));
    assert_string_not_equal(haystack_tokens_hash(ht), haystack_hash(h));
    for (uint64_t sample = 0; sample < 50; sample++) {
        struct window w = window(ht, 1, sample, 24 * 10);
        struct window prefix = window(other, 1, sample, 100);
        assert_memory_equal(w.ids, prefix.ids, 100 * sizeof(token_id));
        for (size_t round = 0; round < 10; round++) {
            int seen = 0;
            for (size_t i = 0; i < 6; i++)
                seen |= 1 << which(&w, (round * 6 + i) * 4);
            assert_int_equal(seen, 63);
            same_rounds +=
                round > 0 && memcmp(w.ids, w.ids + round * 24, 24 * sizeof(token_id)) == 0;
        }
        prefix = window(other, 1, sample + 1, 24);
        same_samples += memcmp(w.ids, prefix.ids, 24 * sizeof(token_id)) == 0;
    }
    assert_true(same_rounds < 5 && same_samples < 3); /* one in 720 by chance */
    haystack_tokens_free(other);
    haystack_tokens_free(ht);
    haystack_tokens_free(base);
    haystack_tokens_free(NULL);
    haystack_free(h);
    fixture_close(&f);
}

/* ---- the shipped ones ---- */

/* Every file that is shipped is in the manifest, with its hash and a licence. */
static void the_manifest_is_right(void **state)
{
    struct json *doc;
    const struct json_node *list;
    const char *text;
    char **names;
    size_t n_names;
    size_t n = 0;
    struct error e;

    (void)state;
    assert_int_equal(json_open(&doc, "haystacks/manifest.json", &e), OK);
    assert_int_equal(json_need(doc, json_root(doc), "haystacks", &list, &e), OK);
    for (const struct json_node *h = json_first(list); h; h = json_next(h)) {
        const struct json_node *files = json_member(h, "files");
        assert_int_equal(json_get_string(doc, h, "licence", &text, &e), OK);
        assert_true(strcmp(text, "LICENSE") == 0 || strcmp(text, "Apache-2.0") == 0);
        assert_int_equal(json_get_string(doc, h, "origin", &text, &e), OK);
        assert_int_equal(json_get_string(doc, h, "description", &text, &e), OK);
        for (const struct json_node *f = json_first(files); f; f = json_next(f), n++) {
            struct buf path = BUF_INIT(1000);
            struct buf bytes = BUF_INIT(1 << 20);
            char hex[HASH_HEX_SIZE];
            assert_int_equal(json_get_string(doc, f, "path", &text, &e), OK);
            buf_printf(&path, "haystacks/%s", text);
            assert_int_equal(os_read_file(&bytes, buf_str(&path), &e), OK);
            assert_int_equal(hash_memory(bytes.data, bytes.len, hex, &e), OK);
            assert_int_equal(json_get_string(doc, f, "sha256", &text, &e), OK);
            assert_string_equal(hex, text);
            buf_release(&path);
            buf_release(&bytes);
        }
    }
    json_close(doc);
    assert_int_equal(os_list(&names, &n_names, "haystacks/essays", "", &e), OK);
    assert_int_equal(n, n_names);
    os_names_free(names, n_names);
}

/* ---- JSON lines ---- */

static void lines_of_json(void **state)
{
    static const char lines[] = "\xef\xbb\xbf{\"text\": \"One. Two\", \"body\": \"A.\"}\n\n"
                                "  {\"body\": \"B\", \"text\": \"three.\\nFour\"}";
    struct scratch s;
    struct haystack *h;
    struct error e;

    (void)state;
    scratch_init(&s);
    scratch_write(&s, "a.jsonl", lines, strlen(lines));
    assert_int_equal(haystack_open(&h, scratch_path(&s, "a.jsonl"), "none", &e), OK);
    assert_string_equal(haystack_text(h).p, " One. Two three. Four");
    haystack_free(h);
    assert_int_equal(haystack_open_jsonl(&h, scratch_path(&s, "a.jsonl"), "body", &e), OK);
    assert_string_equal(haystack_text(h).p, " A. B");
    haystack_free(h);
    assert_int_equal(haystack_open_jsonl(&h, scratch_path(&s, "a.jsonl"), "title", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "a.jsonl:1: $: \"title\" is missing"));
    scratch_write(&s, "b.jsonl", "{\"text\": \"One.\"}\n{\"text\": ", 27);
    assert_int_equal(haystack_open(&h, scratch_path(&s, "b.jsonl"), "none", &e), ERR_FORMAT);
    assert_non_null(strstr(e.message, "b.jsonl:2"));
    scratch_release(&s);
}

/* ---- needles ---- */

static struct prompt_template *open_template(const char *name)
{
    struct prompt_template *t;
    struct error e;

    if (template_open(&t, name, "prompts", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

static void a_haystack_of_needles(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_template("niah_multikey_2");
    struct buf text = BUF_INIT(1 << 20);
    struct haystack *h;
    struct haystack *other;
    struct haystack_tokens *ht;
    struct window w;
    struct error e;

    (void)state;
    assert_int_equal(haystack_of_needles(&h, tpl, 1, 1, &e), OK);
    assert_int_equal(haystack_of_needles(&other, tpl, 1, 2, &e), OK);
    assert_true(haystack_endless(h));
    assert_string_equal(haystack_name(h), "needles");
    assert_string_not_equal(haystack_hash(h), haystack_hash(other));
    ht = tokenize(h, &f);
    w = window(ht, 1, 2, 3000);
    assert_non_null(w.values);
    for (size_t i = 0; i + 1 < w.n_boundaries; i++) {
        decode(&f, w.ids + w.boundaries[i], w.boundaries[i + 1] - w.boundaries[i], &text);
        assert_ptr_equal(strstr(text.data, " One of the special magic numbers for "), text.data);
        assert_non_null(strstr(text.data, w.values[i]));
        assert_int_equal(text.data[text.len - 1], '.');
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(w.values[i], w.values[k]);
    }
    haystack_tokens_free(ht);
    haystack_free(h);
    haystack_free(other);
    template_free(tpl);
    tpl = open_template("vt");
    assert_int_equal(haystack_of_needles(&h, tpl, 1, 1, &e), ERR_USAGE);
    template_free(tpl);
    buf_release(&text);
    fixture_close(&f);
}

static void needles_run_out(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct prompt_template *tpl = open_template("tokyo");
    struct haystack *h;
    struct haystack_tokens *ht;
    struct window w;
    struct error e;

    (void)state;
    assert_int_equal(haystack_of_needles(&h, tpl, 1, 1, &e), OK);
    ht = tokenize(h, &f);
    w = window(ht, 1, 2, 900);
    assert_true(w.n_boundaries > 50);
    assert_int_equal(haystack_window(ht, 1, 2, 2000, &w, &e), ERR_USAGE);
    assert_non_null(strstr(e.message, "haystack needles: template tokyo: the keys run out: there"));
    haystack_tokens_free(ht);
    haystack_free(h);
    template_free(tpl);
    fixture_close(&f);
}

/* ---- large texts ---- */

/* From 16 MiB on only what is used is tokenized: the same text, sentence by sentence. */
static void a_large_text_is_read_in_pieces(void **state)
{
    enum { SIZE = 17 << 20, WINDOW = 60000 };
    struct fixture f = fixture_open_tiny();
    struct buf text = BUF_INIT(32 << 20);
    struct buf back = BUF_INIT(32 << 20);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct str folded;

    (void)state;
    for (size_t i = 0; text.len < SIZE; i++)
        buf_printf(&text, "Row %zu went by. \"Was it %zu?\" asked no one%s", i, i * 7 % 1001,
                   i % 9 ? ". " : ".\n\n");
    h = from_text(text.data);
    folded = haystack_text(h);
    ht = tokenize(h, &f);
    assert_true(haystack_token_count(ht) > SIZE / 8);
    assert_true(haystack_windows(ht, 1000) == haystack_token_count(ht) / 1000);
    for (uint64_t sample = 0; sample < 4; sample++) {
        struct window w = window(ht, 5, sample, WINDOW);
        const char *at;
        decode(&f, w.ids, w.n, &back);
        at = strstr(folded.p, back.data);
        assert_non_null(at);
        for (size_t i = 1, byte = 0, token = 0; i < w.n_boundaries; i++) {
            size_t end = sentence_end(at, folded.n - (size_t)(at - folded.p), byte);
            for (; token < w.boundaries[i]; token++)
                byte += tokenizer_bytes(f.t, w.ids[token]).n;
            assert_int_equal(byte, end);
        }
    }
    haystack_tokens_free(ht);
    haystack_free(h);
    buf_release(&text);
    buf_release(&back);
    fixture_close(&f);
}

/* The end of a large text meets its beginning. */
static void a_large_text_goes_round(void **state)
{
    enum { SIZE = 17 << 20 };
    struct fixture f = fixture_open_tiny();
    char *text = malloc(SIZE + 1);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct window w;
    struct buf back = BUF_INIT(64 << 20);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', SIZE);
    text[SIZE] = '\0';
    for (size_t i = 9; i < SIZE; i += 10)
        text[i] = ' ';
    memcpy(text + SIZE - 7, " aaa. ", 6);
    text[SIZE - 1] = 'b';
    h = from_text(text);
    ht = tokenize(h, &f);
    w = window(ht, 1, 1, 100);
    decode(&f, w.ids, w.n, &back);
    assert_non_null(strstr(back.data, "aaaaaaaaa aaaaaaaaa"));
    for (size_t n = 1000; !strstr(back.data, "b a"); n *= 2) {
        assert_true(n < 64 << 20);
        w = window(ht, 1, 1, n);
        decode(&f, w.ids, w.n, &back);
    }
    haystack_tokens_free(ht);
    haystack_free(h);
    buf_release(&back);
    free(text);
    fixture_close(&f);
}

/* Nothing ends a sentence, and still samples start at places of their own. */
static void no_sentence_ends(void **state)
{
    struct fixture f = fixture_open_tiny();
    struct buf text = BUF_INIT(1 << 20);
    struct haystack *h;
    struct haystack_tokens *ht;
    struct tokens first = {0};
    size_t same = 0;
    struct error e;

    (void)state;
    for (size_t i = 0; i < 20000; i++)
        buf_printf(&text, "%s%zu", i % 3 ? " and then row " : ", ", i);
    h = from_text(text.data);
    ht = tokenize(h, &f);
    for (uint64_t sample = 0; sample < 50; sample++) {
        struct window w = window(ht, 1, sample, 500);
        if (sample == 0)
            assert_int_equal(tokens_append(&first, w.ids, w.n, &e), OK);
        else
            same += memcmp(first.ids, w.ids, 500 * sizeof(token_id)) == 0;
        assert_true(window_snap(&w, f.t, 250, 400, 512) == 0 ||
                    window_snap(&w, f.t, 250, 400, 100) == 250);
    }
    assert_int_equal(same, 0);
    tokens_release(&first);
    haystack_tokens_free(ht);
    haystack_free(h);
    buf_release(&text);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_is_folded),
        cmocka_unit_test(bad_texts_are_named),
        cmocka_unit_test(files_and_folders),
        cmocka_unit_test(hashes_cover_words_and_sentences),
        cmocka_unit_test(words_are_looked_for_whole),
        cmocka_unit_test(sentences_are_encoded_as_if_alone),
        cmocka_unit_test(the_circle_closes),
        cmocka_unit_test(a_boundary_inside_a_token_is_dropped),
        cmocka_unit_test(a_longer_window_starts_with_the_shorter),
        cmocka_unit_test(every_sentence_can_be_the_first),
        cmocka_unit_test(a_text_without_sentence_ends),
        cmocka_unit_test(places_are_the_nearest),
        cmocka_unit_test(windows_have_a_limit),
        cmocka_unit_test(fills_have_names),
        cmocka_unit_test(short_texts_are_filled),
        cmocka_unit_test(each_round_is_shuffled_anew),
        cmocka_unit_test(the_manifest_is_right),
        cmocka_unit_test(lines_of_json),
        cmocka_unit_test(a_haystack_of_needles),
        cmocka_unit_test(needles_run_out),
        cmocka_unit_test(a_large_text_is_read_in_pieces),
        cmocka_unit_test(a_large_text_goes_round),
        cmocka_unit_test(no_sentence_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
