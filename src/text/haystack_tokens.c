#include "haystack_impl.h"
#include "needle_stream_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/prose.h"
#include "needlegrid/rng.h"
#include "needlegrid/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t MAX_WINDOW = (size_t)1 << 30; /* tokens: prose would go on for ever */

/*
 * A text from this size on is not tokenized as a whole: a minute and gigabytes for tokens most of
 * which no prompt has. Each sample's part is then tokenized where it is needed, in pieces.
 */
static const size_t LARGE_TEXT = (size_t)16 << 20; /* bytes */
static const size_t PIECE = (size_t)64 << 10;      /* bytes */

/* A finite text as tokens. */
struct circle {
    struct tokens ids;
    struct sentence_list sentences; /* in tokens; the first starts at 0 */
};

/* The text of one (seed, sample), as far as it was needed yet. */
struct stretch {
    bool begun;
    uint64_t seed;
    uint64_t sample;
    struct tokens ids;
    struct sentence_list boundaries; /* in ids; the first is 0 */
    /* where a circle's reading stands */
    size_t sentence; /* the one being read: an index into `order` if shuffled, else of its own */
    size_t offset;   /* tokens of it that were read */
    size_t byte;     /* a large text: where in it */
    size_t *order;   /* shuffled: [sentences], this round's permutation */
    struct rng rng;  /* shuffled: goes on from round to round */
    struct prose *prose;
    struct needle_stream *needles;
};

struct haystack_tokens {
    const struct haystack *haystack;
    const struct tokenizer *tokenizer;
    struct circle own;           /* empty for prose and for shuffled ones */
    const struct circle *circle; /* &own or that of the base */
    bool shuffled;
    bool large;      /* `own` is empty: tokenized as needed */
    size_t estimate; /* tokens of the large text */
    char *name;
    char hash[HASH_HEX_SIZE];
    struct stretch stretch;
};

/*
 * Turns places in bytes into places in tokens: `bytes` are offsets in the text that `ids` encode;
 * those that fall inside a token are dropped. Adds `base` to each.
 */
static enum status to_tokens(const struct tokenizer *t, const token_id *ids, size_t n_ids,
                             size_t n_bytes, const struct sentence_list *bytes, size_t base,
                             struct sentence_list *out, struct error *e)
{
    size_t at = 0; /* bytes before token i */
    size_t next = 0;

    for (size_t i = 0; i < n_ids; i++) {
        while (next < bytes->n && bytes->starts[next] < at)
            next++;
        if (next < bytes->n && bytes->starts[next] == at) {
            if (sentence_list_push(out, base + i, e) != OK)
                return e->code;
            next++;
        }
        at += tokenizer_bytes(t, ids[i]).n;
    }
    if (at != n_bytes)
        return error_set(e, ERR_UNSUPPORTED,
                         "the tokenizer does not give back the text: %zu bytes became %zu", n_bytes,
                         at);
    return OK;
}

/* The first sentence that does not start before this byte. */
static size_t sentence_at(const struct haystack *h, size_t byte)
{
    size_t low = 0;
    size_t high = h->sentences.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->sentences.starts[middle] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool sentence_starts_at(const struct haystack *h, size_t byte)
{
    size_t i = sentence_at(h, byte);

    return i < h->sentences.n && h->sentences.starts[i] == byte;
}

/* Encodes text[from..to) behind what `ids` hold, and notes the starts of sentences in it. */
static enum status encode_part(const struct haystack_tokens *ht, size_t from, size_t to,
                               struct tokens *ids, struct sentence_list *out, struct error *e)
{
    const struct haystack *h = ht->haystack;
    struct sentence_list here = {0};
    size_t before = ids->n;
    enum status status = OK;

    for (size_t i = sentence_at(h, from); status == OK && i < h->sentences.n; i++) {
        if (h->sentences.starts[i] >= to)
            break;
        status = sentence_list_push(&here, h->sentences.starts[i] - from, e);
    }
    if (status == OK)
        status =
            tokenizer_encode(ht->tokenizer, h->text.data + from, to - from, TOKENIZE_PLAIN, ids, e);
    if (status == OK)
        status = to_tokens(ht->tokenizer, ids->ids + before, ids->n - before, to - from, &here,
                           before, out, e);
    free(here.starts);
    return status == OK ? OK : error_prefix(e, "%s", h->name);
}

/* Where a piece that begins at `from` ends: before a space, or between two sentences. */
static size_t piece_end(const struct haystack *h, size_t from)
{
    size_t n = h->text.len;
    const char *space;
    size_t next;
    size_t end;

    if (n - from <= PIECE)
        return n;
    space = memchr(h->text.data + from + PIECE, ' ', n - from - PIECE);
    end = space ? (size_t)(space - h->text.data) : n;
    next = sentence_at(h, from + PIECE);
    if (next < h->sentences.n && h->sentences.starts[next] < end)
        end = h->sentences.starts[next];
    return end;
}

/* By its first piece. */
static enum status estimate_tokens(struct haystack_tokens *ht, struct error *e)
{
    struct tokens ids = {0};
    struct sentence_list ignored = {0};
    size_t n = piece_end(ht->haystack, 0);
    enum status status = encode_part(ht, 0, n, &ids, &ignored, e);

    ht->estimate = (size_t)((double)ids.n / (double)n * (double)ht->haystack->text.len);
    tokens_release(&ids);
    free(ignored.starts);
    return status;
}

static enum status encode_text(struct haystack_tokens *ht, struct error *e)
{
    struct circle *c = &ht->own;

    ht->large = false;
    return encode_part(ht, 0, ht->haystack->text.len, &c->ids, &c->sentences, e);
}

static enum status set_name(struct haystack_tokens *ht, const char *suffix, struct error *e)
{
    struct buf name = BUF_INIT(1 << 16);
    enum status status;

    buf_printf(&name, "%s%s", ht->haystack->name, suffix);
    status = buf_status(&name, e);
    if (status == OK && !(ht->name = mem_strndup(buf_str(&name), name.len, e)))
        status = e->code;
    buf_release(&name);
    return status;
}

enum status haystack_tokenize(struct haystack_tokens **out, const struct haystack *h,
                              const struct tokenizer *t, struct error *e)
{
    struct haystack_tokens *ht;
    enum status status;

    *out = NULL;
    status = mem_alloc(&ht, "a haystack's tokens", e, 1, 1, 1, sizeof(*ht));
    if (status != OK)
        return status;
    ht->haystack = h;
    ht->tokenizer = t;
    ht->circle = &ht->own;
    memcpy(ht->hash, h->hash, sizeof(ht->hash));
    status = set_name(ht, "", e);
    ht->large = h->kind == KIND_TEXT && h->text.len >= LARGE_TEXT;
    if (status == OK && ht->large)
        status = estimate_tokens(ht, e);
    else if (status == OK && (h->kind == KIND_TEXT || h->kind == KIND_NOISE))
        status = encode_text(ht, e);
    if (status != OK) {
        haystack_tokens_free(ht);
        return status;
    }
    *out = ht;
    return OK;
}

static enum status hash_shuffled(struct haystack_tokens *ht, struct error *e)
{
    struct hash *sha;
    enum status status = hash_new(&sha, e);

    if (status != OK)
        return status;
    hash_field_str(sha, "shuffled", ht->haystack->hash);
    status = hash_hex(sha, ht->hash, e);
    hash_free(sha);
    return status;
}

enum status haystack_shuffled(struct haystack_tokens **out, struct haystack_tokens *base,
                              struct error *e)
{
    struct haystack_tokens *ht;
    enum status status;

    *out = NULL;
    assert(base->haystack->kind == KIND_TEXT || base->haystack->kind == KIND_NOISE);
    if (base->large && encode_text(base, e) != OK)
        return e->code;
    status = mem_alloc(&ht, "a shuffled haystack", e, 1, 1, 1, sizeof(*ht));
    if (status != OK)
        return status;
    ht->haystack = base->haystack;
    ht->tokenizer = base->tokenizer;
    ht->circle = base->circle;
    ht->shuffled = true;
    status = set_name(ht, ", shuffled", e);
    if (status == OK)
        status = hash_shuffled(ht, e);
    if (status == OK)
        status = mem_alloc(&ht->stretch.order, "an order of sentences", e, ht->circle->sentences.n,
                           sizeof(*ht->stretch.order), 1, 1);
    if (status != OK) {
        haystack_tokens_free(ht);
        return status;
    }
    *out = ht;
    return OK;
}

void haystack_tokens_free(struct haystack_tokens *ht)
{
    if (!ht)
        return;
    tokens_release(&ht->own.ids);
    free(ht->own.sentences.starts);
    tokens_release(&ht->stretch.ids);
    free(ht->stretch.boundaries.starts);
    free(ht->stretch.order);
    prose_free(ht->stretch.prose);
    needle_stream_free(ht->stretch.needles);
    free(ht->name);
    free(ht);
}

const char *haystack_tokens_name(const struct haystack_tokens *ht)
{
    return ht->name;
}

const char *haystack_tokens_hash(const struct haystack_tokens *ht)
{
    return ht->hash;
}

const struct haystack *haystack_tokens_source(const struct haystack_tokens *ht)
{
    return ht->haystack;
}

size_t haystack_token_count(const struct haystack_tokens *ht)
{
    if (haystack_endless(ht->haystack))
        return SIZE_MAX;
    return ht->large ? ht->estimate : ht->circle->ids.n;
}

size_t haystack_windows(const struct haystack_tokens *ht, size_t length)
{
    if (length == 0 || haystack_endless(ht->haystack))
        return SIZE_MAX;
    return haystack_token_count(ht) / length;
}

/* ---- the text of one sample ---- */

/* How many boundaries are at most `limit`. */
static size_t count_up_to(const size_t *boundaries, size_t n, size_t limit)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (boundaries[middle] <= limit)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static bool starts_character(const struct tokenizer *t, token_id id)
{
    struct str bytes = tokenizer_bytes(t, id);

    return bytes.n > 0 && utf8_is_start(bytes.p[0]);
}

/* Fisher and Yates; the generator goes on, so that each round has an order of its own. */
static void permute(struct stretch *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(&s->rng, i);
        size_t swap = s->order[i - 1];
        s->order[i - 1] = s->order[j];
        s->order[j] = swap;
    }
}

/* In a text of such sentences a sample starts anywhere, or all samples would start alike. */
enum { LONG_SENTENCE = 2048 }; /* bytes on average */

static bool has_long_sentences(const struct haystack_tokens *ht)
{
    const struct haystack *h = ht->haystack;

    return h->kind == KIND_TEXT && h->text.len / h->sentences.n >= LONG_SENTENCE;
}

/* A sentence of the large text; or any place before a space, or where a character starts. */
static size_t start_byte(const struct haystack_tokens *ht, struct rng *r)
{
    const struct haystack *h = ht->haystack;
    const char *space;
    size_t at;

    if (!has_long_sentences(ht))
        return h->sentences.starts[rng_below(r, h->sentences.n)];
    at = (size_t)rng_below(r, h->text.len);
    space = memchr(h->text.data + at, ' ', h->text.len - at < PIECE ? h->text.len - at : PIECE);
    if (space)
        return (size_t)(space - h->text.data);
    while (!utf8_is_start(h->text.data[at]))
        at--;
    return at;
}

/* The same in the circle: *offset tokens into the sentence that is returned. */
static size_t start_token(const struct haystack_tokens *ht, struct rng *r, size_t *offset)
{
    const struct circle *c = ht->circle;
    size_t at;
    size_t i;

    *offset = 0;
    if (!has_long_sentences(ht))
        return (size_t)rng_below(r, c->sentences.n);
    at = (size_t)rng_below(r, c->ids.n);
    i = count_up_to(c->sentences.starts, c->sentences.n, at) - 1;
    while (at > c->sentences.starts[i] && !starts_character(ht->tokenizer, c->ids.ids[at]))
        at--;
    *offset = at - c->sentences.starts[i];
    return i;
}

static enum status begin(struct haystack_tokens *ht, uint64_t seed, uint64_t sample,
                         struct error *e)
{
    struct stretch *s = &ht->stretch;

    s->begun = false;
    s->seed = seed;
    s->sample = sample;
    s->ids.n = 0;
    s->boundaries.n = 0;
    s->sentence = 0;
    s->offset = 0;
    s->rng = rng_make(seed, "haystack", sample);
    if (ht->haystack->kind == KIND_PROSE) {
        prose_free(s->prose);
        if (prose_new(&s->prose, seed, sample, e) != OK)
            return e->code;
    } else if (ht->haystack->kind == KIND_NEEDLES) {
        needle_stream_free(s->needles);
        if (needle_stream_new(&s->needles, ht->haystack->tpl, ht->haystack->plan, seed, sample,
                              e) != OK)
            return e->code;
    } else if (ht->large) {
        s->byte = start_byte(ht, &s->rng);
    } else if (ht->shuffled) {
        permute(s, ht->circle->sentences.n);
    } else {
        s->sentence = start_token(ht, &s->rng, &s->offset);
    }
    if (sentence_list_push(&s->boundaries, 0, e) != OK)
        return e->code;
    s->begun = true;
    return OK;
}

/* Reads on to the end of the sentence, or until the stretch has `need` tokens. */
static enum status extend_circle(struct haystack_tokens *ht, size_t need, struct error *e)
{
    struct stretch *s = &ht->stretch;
    const struct circle *c = ht->circle;
    size_t i = ht->shuffled ? s->order[s->sentence] : s->sentence;
    size_t from = c->sentences.starts[i] + s->offset;
    size_t to = i + 1 < c->sentences.n ? c->sentences.starts[i + 1] : c->ids.n;
    size_t take = to - from;

    if (take > need - s->ids.n)
        take = need - s->ids.n;
    if (tokens_append(&s->ids, c->ids.ids + from, take, e) != OK)
        return e->code;
    s->offset += take;
    if (from + take < to)
        return OK;
    s->offset = 0;
    s->sentence++;
    if (s->sentence == c->sentences.n) {
        s->sentence = 0;
        if (ht->shuffled)
            permute(s, c->sentences.n);
    }
    return sentence_list_push(&s->boundaries, s->ids.n, e);
}

/* A piece more of a large text. */
static enum status extend_large(struct haystack_tokens *ht, struct error *e)
{
    struct stretch *s = &ht->stretch;
    size_t end = piece_end(ht->haystack, s->byte);

    /* its start is found again if it is a sentence's, as it mostly is */
    if (sentence_starts_at(ht->haystack, s->byte))
        s->boundaries.n--;
    if (encode_part(ht, s->byte, end, &s->ids, &s->boundaries, e) != OK)
        return e->code;
    s->byte = end < ht->haystack->text.len ? end : 0;
    if (!sentence_starts_at(ht->haystack, s->byte))
        return OK;
    return sentence_list_push(&s->boundaries, s->ids.n, e);
}

/* One paragraph more. */
static enum status extend_prose(struct haystack_tokens *ht, struct error *e)
{
    struct stretch *s = &ht->stretch;
    struct buf text = BUF_INIT(1 << 20);
    struct sentence_list bytes = {0};
    size_t before = s->ids.n;
    enum status status;

    prose_paragraph(s->prose, &text);
    status = buf_status(&text, e);
    if (status == OK)
        status = sentence_list_add(&bytes, text.data, 0, text.len, e);
    if (status == OK)
        status = tokenizer_encode(ht->tokenizer, text.data, text.len, TOKENIZE_PLAIN, &s->ids, e);
    if (status == OK) {
        s->boundaries.n--; /* the paragraph's start, found again */
        status = to_tokens(ht->tokenizer, s->ids.ids + before, s->ids.n - before, text.len, &bytes,
                           before, &s->boundaries, e);
    }
    if (status == OK)
        status = sentence_list_push(&s->boundaries, s->ids.n, e);
    free(bytes.starts);
    buf_release(&text);
    return status;
}

static enum status extend(struct haystack_tokens *ht, size_t need, struct error *e)
{
    struct stretch *s = &ht->stretch;

    switch (ht->haystack->kind) {
    case KIND_TEXT:
    case KIND_NOISE:
        return ht->large ? extend_large(ht, e) : extend_circle(ht, need, e);
    case KIND_PROSE:
        return extend_prose(ht, e);
    case KIND_NEEDLES:
        return needle_stream_extend(s->needles, ht->tokenizer, &s->ids, &s->boundaries, e);
    }
    return OK;
}

enum status haystack_window(struct haystack_tokens *ht, uint64_t seed, uint64_t sample,
                            size_t max_tokens, struct window *out, struct error *e)
{
    struct stretch *s = &ht->stretch;
    enum status status = OK;

    if (max_tokens > MAX_WINDOW)
        return error_set(e, ERR_LIMIT, "a haystack of %zu tokens: at most %zu can be had",
                         max_tokens, MAX_WINDOW);
    if (!s->begun || s->seed != seed || s->sample != sample)
        status = begin(ht, seed, sample, e);
    while (status == OK && s->ids.n < max_tokens)
        status = extend(ht, max_tokens, e);
    if (status != OK) {
        s->begun = false; /* what was half read is not to be gone on from */
        return error_prefix(e, "haystack %s", ht->name);
    }
    out->ids = s->ids.ids;
    out->n = max_tokens;
    out->boundaries = s->boundaries.starts;
    out->n_boundaries = count_up_to(s->boundaries.starts, s->boundaries.n, max_tokens);
    out->values = s->needles ? needle_stream_values(s->needles) : NULL;
    return OK;
}

/* `at` moved back to a token that starts with the first byte of a character. */
static size_t character_start(const struct window *w, const struct tokenizer *t, size_t at)
{
    while (at > 0 && at < w->n && !starts_character(t, w->ids[at]))
        at--;
    return at;
}

size_t window_end(const struct window *w, const struct tokenizer *t, size_t limit,
                  size_t max_distance)
{
    size_t n = count_up_to(w->boundaries, w->n_boundaries, limit);
    size_t at = w->boundaries[n - 1];

    assert(limit < w->n);
    return at > 0 && limit - at <= max_distance ? at : character_start(w, t, limit);
}

size_t window_snap(const struct window *w, const struct tokenizer *t, size_t at, size_t end,
                   size_t max_distance)
{
    size_t n = count_up_to(w->boundaries, w->n_boundaries, at);
    size_t before = w->boundaries[n - 1];
    size_t after = n < w->n_boundaries && w->boundaries[n] < end ? w->boundaries[n] : end;
    size_t nearest = at - before <= after - at ? before : after;
    size_t distance = nearest < at ? at - nearest : nearest - at;

    assert(at <= end && end < w->n);
    return distance <= max_distance ? nearest : character_start(w, t, at);
}
