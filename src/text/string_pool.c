#include "string_pool_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 14 }; /* bytes */

struct pool_block {
    struct pool_block *next;
    size_t n, cap;
    char text[];
};

const char *string_pool_add(struct string_pool *p, const char *s, size_t n, struct error *e)
{
    struct pool_block *b = p->blocks;
    char *copy;

    if (!b || b->cap - b->n <= n) {
        size_t cap = n < BLOCK ? BLOCK : n + 1;
        if (mem_alloc(&b, "strings", e, 1, 1, 1, sizeof(*b) + cap) != OK)
            return NULL;
        b->cap = cap;
        b->next = p->blocks;
        p->blocks = b;
    }
    copy = b->text + b->n;
    memcpy(copy, s, n);
    copy[n] = '\0';
    b->n += n + 1;
    return copy;
}

void string_pool_release(struct string_pool *p)
{
    while (p->blocks) {
        struct pool_block *next = p->blocks->next;
        free(p->blocks);
        p->blocks = next;
    }
}

uint64_t string_hash(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3;
    return h ? h : 1;
}

/* The slot that holds `hash`, or the free one where it belongs. */
static uint64_t *find_slot(uint64_t *slots, size_t n_slots, uint64_t hash)
{
    size_t i = (size_t)(hash ^ hash >> 32) & (n_slots - 1);

    while (slots[i] != 0 && slots[i] != hash)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

bool string_set_has(const struct string_set *s, uint64_t hash)
{
    return s->n_slots > 0 && *find_slot(s->slots, s->n_slots, hash) == hash;
}

static enum status grow(struct string_set *s, struct error *e)
{
    size_t n_slots = s->n_slots ? 2 * s->n_slots : 64;
    uint64_t *slots;

    if (mem_alloc(&slots, "a set of strings", e, n_slots, sizeof(*slots), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slots[i])
            *find_slot(slots, n_slots, s->slots[i]) = s->slots[i];
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    return OK;
}

enum status string_set_add(struct string_set *s, uint64_t hash, struct error *e)
{
    uint64_t *slot;

    if (2 * (s->n + 1) > s->n_slots && grow(s, e) != OK)
        return e->code;
    slot = find_slot(s->slots, s->n_slots, hash);
    s->n += *slot == 0;
    *slot = hash;
    return OK;
}

void string_set_clear(struct string_set *s)
{
    if (s->n > 0)
        memset(s->slots, 0, s->n_slots * sizeof(*s->slots));
    s->n = 0;
}

void string_set_release(struct string_set *s)
{
    free(s->slots);
    *s = (struct string_set){0};
}
