#include "tokenizer_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

/* What a file holds, while a tokenizer is made from it. */
struct loading {
    const struct gguf *g;
    struct gguf_array tokens;
    struct gguf_array merges;
    struct str *texts;       /* [tokens.n], as written in the file */
    struct str *merge_texts; /* [merges.n], "left right" */
    uint8_t *types;          /* [tokens.n] */
    struct strmap by_text;   /* ids by their text, but for tokens that no merge may make */
};

static enum status check_model(const struct gguf *g, struct error *e)
{
    struct str model;
    enum status status = gguf_string(g, "tokenizer.ggml.model", &model, e);

    if (status != OK || str_eq(model, "gpt2"))
        return status;
    return error_set(e, ERR_UNSUPPORTED,
                     "%s: tokenizer model \"%.*s\" is not supported yet; supported: gpt2 "
                     "(byte-level BPE)",
                     gguf_path(g), model.n < 100 ? (int)model.n : 100, model.p);
}

static enum status load_pre(struct tokenizer *t, const struct gguf *g, struct error *e)
{
    struct str name;
    enum status status = gguf_string(g, "tokenizer.ggml.pre", &name, e);

    if (status != OK)
        return status;
    status = pretokenizer_init(&t->pre, name, e);
    return status == OK ? OK : error_prefix(e, "%s", gguf_path(g));
}

/* The types of all tokens; a file without has none but normal ones. */
static enum status read_types(struct loading *l, struct error *e)
{
    static const char key[] = "tokenizer.ggml.token_type";
    size_t n = (size_t)l->tokens.n;
    struct gguf_array a;
    enum status status = mem_alloc(&l->types, "token types", e, n, 1, 1, 1);

    if (status != OK)
        return status;
    memset(l->types, TOKEN_NORMAL, n);
    if (!gguf_has(l->g, key))
        return OK;
    status = gguf_array(l->g, key, GGUF_I32, &a, e);
    if (status != OK)
        return status;
    if (a.n != n)
        return error_set(e, ERR_FORMAT, "%s: %s has %llu entries for %zu tokens", gguf_path(l->g),
                         key, (unsigned long long)a.n, n);
    for (size_t i = 0; i < n; i++) {
        int32_t type;

        memcpy(&type, a.data + i * sizeof(type), sizeof(type));
        if (type < TOKEN_UNDEFINED || type > TOKEN_BYTE)
            return error_set(e, ERR_FORMAT, "%s: token %zu has type %d; types are 1 to %d",
                             gguf_path(l->g), i, type, TOKEN_BYTE);
        l->types[i] = (uint8_t)type;
    }
    return OK;
}

static enum status read_tokens(struct loading *l, struct error *e)
{
    enum status status = gguf_array(l->g, "tokenizer.ggml.tokens", GGUF_STRING, &l->tokens, e);

    if (status != OK)
        return status;
    if (l->tokens.n == 0 || l->tokens.n > INT32_MAX)
        return error_set(e, ERR_FORMAT, "%s: a vocabulary of %llu tokens", gguf_path(l->g),
                         (unsigned long long)l->tokens.n);
    if ((status = gguf_array_strings(&l->tokens, &l->texts, e)) || (status = read_types(l, e)) ||
        (status = strmap_init(&l->by_text, l->texts, (size_t)l->tokens.n, e)))
        return status;
    /* So that ordinary text never becomes a control token, whatever its name. */
    for (size_t i = 0; i < l->tokens.n; i++)
        if (l->types[i] != TOKEN_CONTROL && l->types[i] != TOKEN_UNKNOWN && l->texts[i].n > 0)
            strmap_put(&l->by_text, (token_id)i);
    return OK;
}

/*
 * Merges in order of rank. One whose parts or result are not in the vocabulary can never be part
 * of an encoding that the vocabulary can write, so it is passed over: files with a cut vocabulary
 * keep the merges of the full one.
 */
static enum status load_merges(struct tokenizer *t, struct loading *l, struct error *e)
{
    enum status status = gguf_array(l->g, "tokenizer.ggml.merges", GGUF_STRING, &l->merges, e);

    if (status != OK)
        return status;
    if (l->merges.n > INT32_MAX)
        return error_set(e, ERR_FORMAT, "%s: too many merges", gguf_path(l->g));
    if ((status = gguf_array_strings(&l->merges, &l->merge_texts, e)) ||
        (status = bpe_init(&t->bpe, (size_t)l->merges.n, e)))
        return status;
    for (size_t i = 0; i < l->merges.n; i++) {
        struct str both = l->merge_texts[i];
        /* A part is never empty, and the first may itself begin with a space. */
        const char *space = both.n > 2 ? memchr(both.p + 1, ' ', both.n - 2) : NULL;
        struct str left = {both.p, space ? (size_t)(space - both.p) : 0};
        struct str right = {space ? space + 1 : NULL, both.n - left.n - 1};
        token_id ids[3];

        if (!space)
            return error_set(e, ERR_FORMAT, "%s: merge %zu is not two parts with a space between",
                             gguf_path(l->g), i);
        ids[0] = strmap_get(&l->by_text, left);
        ids[1] = strmap_get(&l->by_text, right);
        ids[2] = strmap_get_joined(&l->by_text, left, right);
        if (ids[0] != TOKEN_NONE && ids[1] != TOKEN_NONE && ids[2] != TOKEN_NONE)
            bpe_add(&t->bpe, ids[0], ids[1], ids[2], (uint32_t)i);
    }
    return OK;
}

static void load_bytes(struct tokenizer *t, const struct loading *l)
{
    for (int byte = 0; byte < 256; byte++) {
        char text[4];
        size_t n = vocab_write_byte((unsigned char)byte, text);

        t->bpe.byte_ids[byte] = strmap_get(&l->by_text, (struct str){text, n});
    }
}

static enum status load_words(struct tokenizer *t, struct error *e)
{
    enum status status;

    if (!t->pre.ignore_merges)
        return OK;
    status = strmap_init(&t->words, t->vocab.bytes, t->vocab.n, e);
    for (size_t i = 0; i < t->vocab.n && status == OK; i++)
        if (t->vocab.is_word[i])
            strmap_put(&t->words, (token_id)i);
    return status;
}

/* Some writers put -1, as an unsigned number, where there is no such token. */
static enum status read_id(const struct tokenizer *t, const struct gguf *g, const char *key,
                           token_id *id, struct error *e)
{
    uint32_t value = UINT32_MAX;
    enum status status = gguf_u32_opt(g, key, &value, e);

    *id = TOKEN_NONE;
    if (status != OK || value == UINT32_MAX)
        return status;
    if (value >= t->vocab.n)
        return error_set(e, ERR_FORMAT, "%s: %s is %u, outside of the vocabulary of %zu tokens",
                         gguf_path(g), key, value, t->vocab.n);
    *id = (token_id)value;
    return OK;
}

/* The tokens that begin a prompt and end an answer. */
static enum status load_ends(struct tokenizer *t, const struct gguf *g, struct error *e)
{
    static const char *const names[] = {"<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>",
                                        "</s>"};
    token_id turn;
    enum status status;

    t->wants_bos = t->pre.adds_bos;
    if ((status = mem_alloc(&t->is_end, "the list of end tokens", e, t->vocab.n, sizeof(*t->is_end),
                            1, 1)) ||
        (status = read_id(t, g, "tokenizer.ggml.bos_token_id", &t->bos, e)) ||
        (status = read_id(t, g, "tokenizer.ggml.eos_token_id", &t->eos, e)) ||
        (status = read_id(t, g, "tokenizer.ggml.eot_token_id", &turn, e)) ||
        (status = gguf_bool_opt(g, "tokenizer.ggml.add_bos_token", &t->wants_bos, e)))
        return status;
    if (t->bos == TOKEN_NONE)
        t->wants_bos = false;
    if (t->eos != TOKEN_NONE)
        t->is_end[t->eos] = true;
    if (turn != TOKEN_NONE)
        t->is_end[turn] = true;
    for (size_t i = 0; i < t->specials.n; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            if (!t->specials.list[i].always && str_eq(t->specials.list[i].text, names[k]))
                t->is_end[t->specials.list[i].id] = true;
    return OK;
}

/* BOS and EOS are left out: a base model and its chat model make the same ids of a text. */
static enum status load_hash(struct tokenizer *t, const struct loading *l, struct error *e)
{
    struct hash *h;
    enum status status = hash_new(&h, e);

    if (status != OK)
        return status;
    hash_field_str(h, "model", "gpt2");
    hash_field_str(h, "pre", t->pre.name);
    hash_field_u64(h, "n_tokens", l->tokens.n);
    hash_field(h, "tokens", l->tokens.data, l->tokens.n_bytes);
    hash_field(h, "types", l->types, (size_t)l->tokens.n);
    hash_field_u64(h, "n_merges", l->merges.n);
    hash_field(h, "merges", l->merges.data, l->merges.n_bytes);
    status = hash_hex(h, t->hash, e);
    hash_free(h);
    return status;
}

static enum status load(struct tokenizer *t, struct loading *l, struct error *e)
{
    enum status status;

    if ((status = check_model(l->g, e)) || (status = load_pre(t, l->g, e)) ||
        (status = read_tokens(l, e)) ||
        (status = vocab_init(&t->vocab, l->texts, l->types, (size_t)l->tokens.n, e)) ||
        (status = load_merges(t, l, e)) || (status = load_words(t, e)) ||
        (status = specials_init(&t->specials, &t->vocab, e)) || (status = load_ends(t, l->g, e)))
        return status;
    load_bytes(t, l);
    return load_hash(t, l, e);
}

enum status tokenizer_from_gguf(struct tokenizer **out, const struct gguf *g, struct error *e)
{
    struct loading l = {.g = g};
    struct tokenizer *t = calloc(1, sizeof(*t));
    enum status status;

    *out = NULL;
    if (!t)
        return error_set(e, ERR_NOMEM, "cannot allocate a tokenizer");
    status = load(t, &l, e);
    free(l.texts);
    free(l.merge_texts);
    free(l.types);
    strmap_release(&l.by_text);
    if (status != OK) {
        tokenizer_free(t);
        return status;
    }
    *out = t;
    return OK;
}
