#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_fixture.h"

#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

struct fixture fixture_open_tiny(void)
{
    struct fixture f = {0};
    struct error e;

    if (gguf_open(&f.g, "models/tiny-ssmax.gguf", &e) != OK ||
        tokenizer_from_gguf(&f.t, f.g, &e) != OK)
        fail_msg("%s", e.message);
    return f;
}

void fixture_close(struct fixture *f)
{
    tokenizer_free(f->t);
    gguf_close(f->g);
    free(f->bytes);
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return n;
}

/* Bytes that are no printable Latin-1 character move to U+0100 and on, in order. */
static void write_bytes(char texts[256][5])
{
    uint32_t moved = 256;

    for (uint32_t c = 0; c < 256; c++) {
        bool printable = (c > 32 && c < 127) || (c > 160 && c != 173);

        texts[c][utf8_encode(printable ? c : moved++, texts[c])] = '\0';
    }
}

void small_build(struct gguf_build *b, const struct small *s)
{
    static char texts[256][5];
    const char *tokens[256 + 8];
    int32_t types[256 + 8];
    size_t n = 256 + count(s->extra);

    write_bytes(texts);
    for (size_t i = 0; i < n; i++) {
        tokens[i] = i < 256 ? texts[i] : s->extra[i - 256];
        types[i] = i < 256 || !s->types ? 1 : s->types[i - 256] - '0';
    }
    gguf_build_init(b);
    gguf_build_string(b, "tokenizer.ggml.model", "gpt2");
    gguf_build_string(b, "tokenizer.ggml.pre", s->pre);
    gguf_build_strings(b, "tokenizer.ggml.tokens", tokens, n);
    gguf_build_strings(b, "tokenizer.ggml.merges", s->merges, count(s->merges));
    if (s->types)
        gguf_build_array(b, "tokenizer.ggml.token_type", GGUF_I32, types, n, n * sizeof(*types));
}

/* Takes b over; on a failure to load f->t is NULL and the status is returned. */
static enum status load_built(struct fixture *f, struct gguf_build *b, struct error *e)
{
    size_t n;

    *f = (struct fixture){0};
    f->bytes = gguf_build_bytes(b, &n);
    gguf_build_release(b);
    if (gguf_open_memory(&f->g, f->bytes, n, "test.gguf", e) != OK)
        fail_msg("%s", e->message);
    return tokenizer_from_gguf(&f->t, f->g, e);
}

struct fixture fixture_open_built(struct gguf_build *b)
{
    struct fixture f;
    struct error e;

    if (load_built(&f, b, &e) != OK)
        fail_msg("%s", e.message);
    return f;
}

struct fixture fixture_open_small(const struct small *s)
{
    struct gguf_build b;

    small_build(&b, s);
    return fixture_open_built(&b);
}

void expect_refused(struct gguf_build *b, enum status status, const char *message)
{
    struct fixture f;
    struct error e = {OK, ""};

    assert_int_equal(load_built(&f, b, &e), status);
    assert_null(f.t);
    if (!strstr(e.message, message))
        fail_msg("wanted \"%s\" in \"%s\"", message, e.message);
    fixture_close(&f);
}

void expect_ids_n(const struct fixture *f, const char *text, size_t n, enum tokenize mode,
                  const token_id *want, size_t n_want)
{
    struct tokens ids = {0};
    struct error e;

    if (tokenizer_encode(f->t, text, n, mode, &ids, &e) != OK)
        fail_msg("%s", e.message);
    assert_int_equal(ids.n, n_want);
    for (size_t i = 0; i < n_want; i++)
        assert_int_equal(ids.ids[i], want[i]);
    tokens_release(&ids);
}

void expect_round_trip(const struct fixture *f, const char *text, size_t n, enum tokenize mode)
{
    struct tokens ids = {0};
    struct buf back = BUF_INIT(64 << 20);
    struct error e;

    if (tokenizer_encode(f->t, text, n, mode, &ids, &e) != OK ||
        tokenizer_decode(f->t, ids.ids, ids.n, &back, &e) != OK)
        fail_msg("%s", e.message);
    assert_int_equal(back.len, n);
    assert_memory_equal(buf_str(&back), text, n);
    tokens_release(&ids);
    buf_release(&back);
}
