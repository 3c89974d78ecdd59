#include "needlegrid/trial.h"
#include "needlegrid/utf8.h"

/* Tokens from..to-1 of a prompt. */
struct span {
    size_t from;
    size_t to;
};

static size_t token_bytes(const struct trial *t, const struct tokenizer *tokenizer, size_t i)
{
    return tokenizer_bytes(tokenizer, t->prompt.ids[i]).n;
}

/* Widens a span by about `around` bytes to the left and right. */
static struct span widen(const struct trial *t, const struct tokenizer *tokenizer, size_t from,
                         size_t to, size_t around)
{
    struct span s = {from, to};

    for (size_t bytes = 0; s.from > 0 && bytes < around; s.from--)
        bytes += token_bytes(t, tokenizer, s.from - 1);
    for (size_t bytes = 0; s.to < t->prompt.n && bytes < around; s.to++)
        bytes += token_bytes(t, tokenizer, s.to);
    return s;
}

/* Bytes at the end of s[0..n) that begin a character and do not end it. */
static size_t unfinished(const char *s, size_t n)
{
    uint32_t cp;
    size_t back = 1;

    while (back < 4 && back < n && !utf8_is_start(s[n - back]))
        back++;
    return n > 0 && utf8_decode(s + n - back, back, &cp) == 0 ? back : 0;
}

/*
 * Appends a span's text, after a mark if something before it is left out. A span can begin or end
 * inside a character, whose bytes are then left out too.
 */
static enum status put_span(const struct trial *t, const struct tokenizer *tokenizer, struct span s,
                            bool gap, struct buf *out, struct error *e)
{
    struct buf text = BUF_INIT(out->max);
    size_t skip = 0;
    enum status status =
        tokenizer_decode(tokenizer, t->prompt.ids + s.from, s.to - s.from, &text, e);

    if (status == OK && text.len > 0) {
        while (skip < text.len && !utf8_is_start(text.data[skip]))
            skip++;
        if (gap)
            buf_puts(out, text.data[skip] == ' ' ? " [...]" : " [...] ");
        buf_append(out, text.data + skip,
                   text.len - skip - unfinished(text.data + skip, text.len - skip));
    }
    buf_release(&text);
    return status;
}

enum status trial_excerpt(const struct trial *t, const struct tokenizer *tokenizer, size_t around,
                          struct buf *out, struct error *e)
{
    struct span spans[3] = {
        widen(t, tokenizer, 0, 0, around),
        widen(t, tokenizer, t->needle_at, t->needle_at + t->needle_tokens, around),
        widen(t, tokenizer, t->question_at, t->prompt.n, around),
    };
    size_t done = 0; /* tokens before this one were shown or left out */

    for (size_t i = 0; i < 3; i++) {
        struct span s = spans[i];
        /* those that touch are put together: a cut between them could split a character */
        while (i + 1 < 3 && spans[i + 1].from <= s.to)
            s.to = spans[++i].to > s.to ? spans[i].to : s.to;
        if (put_span(t, tokenizer, s, s.from > done, out, e) != OK)
            return e->code;
        done = s.to;
    }
    return buf_status(out, e);
}
