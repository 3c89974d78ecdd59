#include "strmap_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, 32 bits. */
#define FNV_START 2166136261u
#define FNV_PRIME 16777619u

enum status strmap_init(struct strmap *m, const struct str *keys, size_t max, struct error *e)
{
    size_t n = 16;
    enum status status;

    while (n / 2 < max && n <= SIZE_MAX / 2)
        n *= 2;
    status = mem_alloc(&m->slots, "a table of tokens", e, n, sizeof(*m->slots), 1, 1);
    if (status != OK)
        return status;
    for (size_t i = 0; i < n; i++)
        m->slots[i].id = TOKEN_NONE;
    m->keys = keys;
    m->mask = n - 1;
    return OK;
}

void strmap_release(struct strmap *m)
{
    free(m->slots);
    m->slots = NULL;
}

static uint32_t hash_on(uint32_t h, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * FNV_PRIME;
    return h;
}

/* FNV leaves the low bits of short strings alike. */
static size_t slot_of(uint32_t h, size_t mask)
{
    return (h ^ h >> 15) & mask;
}

static bool starts_with(struct str whole, struct str part)
{
    return part.n == 0 || (part.n <= whole.n && memcmp(whole.p, part.p, part.n) == 0);
}

token_id strmap_get_joined(const struct strmap *m, struct str a, struct str b)
{
    uint32_t h = hash_on(hash_on(FNV_START, a), b);

    for (size_t i = slot_of(h, m->mask);; i = (i + 1) & m->mask) {
        struct strmap_slot slot = m->slots[i];
        struct str key;

        if (slot.id == TOKEN_NONE)
            return TOKEN_NONE;
        key = m->keys[slot.id];
        if (slot.hash == h && key.n - a.n == b.n && starts_with(key, a) &&
            (b.n == 0 || memcmp(key.p + a.n, b.p, b.n) == 0))
            return slot.id;
    }
}

token_id strmap_get(const struct strmap *m, struct str s)
{
    return strmap_get_joined(m, s, (struct str){"", 0});
}

void strmap_put(struct strmap *m, token_id id)
{
    struct str key = m->keys[id];
    uint32_t h = hash_on(FNV_START, key);
    size_t i = slot_of(h, m->mask);

    if (strmap_get(m, key) != TOKEN_NONE)
        return;
    while (m->slots[i].id != TOKEN_NONE)
        i = (i + 1) & m->mask;
    m->slots[i] = (struct strmap_slot){h, id};
}
