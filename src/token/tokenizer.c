#include "tokenizer_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

void tokens_release(struct tokens *t)
{
    free(t->ids);
    *t = (struct tokens){0};
}

enum status tokens_append(struct tokens *t, const token_id *ids, size_t n, struct error *e)
{
    size_t need;
    enum status status;

    if (n == 0)
        return OK;
    if (!size_add(t->n, n, &need))
        return error_set(e, ERR_NOMEM, "cannot hold %zu more tokens", n);
    status = mem_grow(&t->ids, &t->cap, need, sizeof(*t->ids), "tokens", e);
    if (status != OK)
        return status;
    memcpy(t->ids + t->n, ids, n * sizeof(*ids));
    t->n = need;
    return OK;
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    vocab_release(&t->vocab);
    specials_release(&t->specials);
    bpe_release(&t->bpe);
    pretokenizer_release(&t->pre);
    strmap_release(&t->words);
    free(t->is_end);
    free(t);
}

/* Ordinary text: pre-token by pre-token. */
static enum status encode_text(const struct tokenizer *t, struct bpe_scratch *scratch,
                               const char *text, size_t n, struct tokens *out, struct error *e)
{
    size_t at = 0;

    while (at < n) {
        size_t end;
        token_id id = TOKEN_NONE;
        enum status status = pretokenizer_next(&t->pre, text, n, at, &end, e);
        struct str word = {text + at, end - at};

        if (status != OK)
            return status;
        if (t->pre.ignore_merges)
            id = strmap_get(&t->words, word);
        status = id != TOKEN_NONE ? tokens_append(out, &id, 1, e)
                                  : bpe_encode(&t->bpe, scratch, word, out, e);
        if (status != OK)
            return status;
        at = end;
    }
    return OK;
}

enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n,
                             enum tokenize mode, struct tokens *out, struct error *e)
{
    struct bpe_scratch scratch = {0};
    struct fragments fragments = {0};
    size_t before = out->n;
    size_t bad = utf8_invalid_at(text, n);
    enum status status;

    if (bad < n)
        return error_set(e, ERR_FORMAT, "text is not valid UTF-8 at byte %zu", bad);
    status = specials_split(&t->specials, text, n, mode, &fragments, e);
    for (size_t i = 0; i < fragments.n && status == OK; i++) {
        const struct fragment *f = &fragments.list[i];

        status = f->id != TOKEN_NONE
                     ? tokens_append(out, &f->id, 1, e)
                     : encode_text(t, &scratch, text + f->from, f->to - f->from, out, e);
    }
    if (status != OK)
        out->n = before;
    fragments_release(&fragments);
    bpe_scratch_release(&scratch);
    return status;
}

static bool is_known(const struct tokenizer *t, token_id id)
{
    return id >= 0 && (size_t)id < t->vocab.n;
}

enum status tokenizer_decode(const struct tokenizer *t, const token_id *ids, size_t n,
                             struct buf *out, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_known(t, ids[i]))
            return error_set(e, ERR_FORMAT,
                             "token id %d is outside of the vocabulary of %zu tokens", ids[i],
                             t->vocab.n);
        buf_append(out, t->vocab.bytes[ids[i]].p, t->vocab.bytes[ids[i]].n);
    }
    return buf_status(out, e);
}

struct str tokenizer_bytes(const struct tokenizer *t, token_id id)
{
    return is_known(t, id) ? t->vocab.bytes[id] : (struct str){NULL, 0};
}

size_t tokenizer_size(const struct tokenizer *t)
{
    return t->vocab.n;
}

token_id tokenizer_bos(const struct tokenizer *t)
{
    return t->bos;
}

token_id tokenizer_eos(const struct tokenizer *t)
{
    return t->eos;
}

bool tokenizer_wants_bos(const struct tokenizer *t)
{
    return t->wants_bos;
}

bool tokenizer_is_end(const struct tokenizer *t, token_id id)
{
    return is_known(t, id) && t->is_end[id];
}

const char *tokenizer_hash(const struct tokenizer *t)
{
    return t->hash;
}
