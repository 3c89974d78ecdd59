#include "bpe_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>

#define NO_SYMBOL UINT32_MAX

/* The symbols of a word are a doubly linked list in an array; a merge leaves a gap on its right. */
struct bpe_symbol {
    token_id id; /* TOKEN_NONE once merged into the symbol on its left */
    uint32_t prev;
    uint32_t next;
};

/* A merge that can be made while both symbols are still what they were. */
struct bpe_candidate {
    uint32_t rank;
    uint32_t left; /* index of the left symbol */
    token_id left_id;
    token_id right_id;
    token_id result;
};

enum status bpe_init(struct bpe *b, size_t max, struct error *e)
{
    size_t n = 16;
    enum status status;

    while (n / 2 < max && n <= SIZE_MAX / 2)
        n *= 2;
    status = mem_alloc(&b->merges, "the table of merges", e, n, sizeof(*b->merges), 1, 1);
    if (status != OK)
        return status;
    for (size_t i = 0; i < n; i++)
        b->merges[i].left = TOKEN_NONE;
    b->mask = n - 1;
    return OK;
}

void bpe_release(struct bpe *b)
{
    free(b->merges);
    b->merges = NULL;
}

void bpe_scratch_release(struct bpe_scratch *s)
{
    free(s->symbols);
    free(s->heap);
    *s = (struct bpe_scratch){0};
}

/* The slot that holds the pair, or the empty one where it belongs. */
static struct bpe_merge *slot_of(const struct bpe *b, token_id left, token_id right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    /* Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4. */
    size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & b->mask;

    while (b->merges[i].left != TOKEN_NONE &&
           (b->merges[i].left != left || b->merges[i].right != right))
        i = (i + 1) & b->mask;
    return &b->merges[i];
}

void bpe_add(struct bpe *b, token_id left, token_id right, token_id result, uint32_t rank)
{
    struct bpe_merge *slot = slot_of(b, left, right);

    if (slot->left == TOKEN_NONE)
        *slot = (struct bpe_merge){left, right, result, rank};
}

static bool comes_before(const struct bpe_candidate *a, const struct bpe_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->left < b->left;
}

static void heap_push(struct bpe_scratch *s, struct bpe_candidate c)
{
    size_t i = s->heap_n++;

    while (i > 0 && comes_before(&c, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = c;
}

static struct bpe_candidate heap_pop(struct bpe_scratch *s)
{
    struct bpe_candidate top = s->heap[0];
    struct bpe_candidate last = s->heap[--s->heap_n];
    size_t i = 0;

    for (size_t child = 1; child < s->heap_n; child = 2 * i + 1) {
        if (child + 1 < s->heap_n && comes_before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!comes_before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

static void consider(const struct bpe *b, struct bpe_scratch *s, uint32_t left, uint32_t right)
{
    token_id left_id = s->symbols[left].id;
    token_id right_id = s->symbols[right].id;
    const struct bpe_merge *m = slot_of(b, left_id, right_id);

    if (m->left != TOKEN_NONE)
        heap_push(s, (struct bpe_candidate){m->rank, left, left_id, right_id, m->result});
}

/* Merges the candidate, unless a merge next to it was made since. */
static void merge(const struct bpe *b, struct bpe_scratch *s, const struct bpe_candidate *c)
{
    struct bpe_symbol *left = &s->symbols[c->left];
    struct bpe_symbol *right;

    if (left->id != c->left_id || left->next == NO_SYMBOL)
        return;
    right = &s->symbols[left->next];
    if (right->id != c->right_id)
        return;
    left->id = c->result;
    left->next = right->next;
    right->id = TOKEN_NONE;
    if (left->next != NO_SYMBOL) {
        s->symbols[left->next].prev = c->left;
        consider(b, s, c->left, left->next);
    }
    if (left->prev != NO_SYMBOL)
        consider(b, s, left->prev, c->left);
}

/* One symbol a byte. */
static enum status split_bytes(const struct bpe *b, struct bpe_scratch *s, struct str word,
                               struct error *e)
{
    for (size_t i = 0; i < word.n; i++) {
        unsigned char byte = (unsigned char)word.p[i];
        token_id id = b->byte_ids[byte];

        if (id == TOKEN_NONE)
            return error_set(e, ERR_UNSUPPORTED,
                             "the vocabulary has no token for byte 0x%02x: this text cannot be "
                             "encoded with it",
                             byte);
        s->symbols[i] = (struct bpe_symbol){id, i ? (uint32_t)(i - 1) : NO_SYMBOL,
                                            i + 1 < word.n ? (uint32_t)(i + 1) : NO_SYMBOL};
    }
    return OK;
}

enum status bpe_encode(const struct bpe *b, struct bpe_scratch *s, struct str word,
                       struct tokens *out, struct error *e)
{
    static const char what[] = "the working memory of the tokenizer";
    enum status status;

    if (word.n == 0)
        return OK;
    if (word.n > NO_SYMBOL / 4)
        return error_set(e, ERR_LIMIT, "a word of %zu bytes is too long to encode", word.n);
    /* n - 1 pairs at first, two new ones for each of at most n - 1 merges, which each take one. */
    if ((status = mem_grow(&s->symbols, &s->symbols_cap, word.n, sizeof(*s->symbols), what, e)) ||
        (status = mem_grow(&s->heap, &s->heap_cap, 2 * word.n, sizeof(*s->heap), what, e)) ||
        (status =
             mem_grow(&out->ids, &out->cap, out->n + word.n, sizeof(*out->ids), "tokens", e)) ||
        (status = split_bytes(b, s, word, e)))
        return status;
    s->heap_n = 0;
    for (uint32_t i = 0; i + 1 < word.n; i++)
        consider(b, s, i, i + 1);
    while (s->heap_n > 0) {
        struct bpe_candidate c = heap_pop(s);
        merge(b, s, &c);
    }
    for (uint32_t i = 0; i != NO_SYMBOL; i = s->symbols[i].next)
        out->ids[out->n++] = s->symbols[i].id;
    return OK;
}
