#include "needlegrid/generator.h"

#include "word_list_impl.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Bits that are not random: version 4 and variant 1 of RFC 9562, section 5.4. */
static void put_uuid(struct rng *r, struct buf *out)
{
    uint64_t high = (rng_next(r) & 0xffffffffffff0fff) | 0x4000;
    uint64_t low = (rng_next(r) & 0x3fffffffffffffff) | 0x8000000000000000;

    buf_printf(out, "%08llx-%04llx-%04llx-%04llx-%012llx", (unsigned long long)(high >> 32),
               (unsigned long long)(high >> 16 & 0xffff), (unsigned long long)(high & 0xffff),
               (unsigned long long)(low >> 48), (unsigned long long)(low & 0xffffffffffff));
}

void generator_draw(const struct generator *g, struct rng *r, struct buf *out)
{
    switch (g->kind) {
    case GENERATE_LIST:
        buf_puts(out, g->list[rng_below(r, g->n_list)]);
        break;
    case GENERATE_DIGITS:
        buf_putc(out, (char)('1' + rng_below(r, 9)));
        for (size_t i = 1; i < g->length; i++)
            buf_putc(out, (char)('0' + rng_below(r, 10)));
        break;
    case GENERATE_LETTERS:
    case GENERATE_CAPITALS:
        for (size_t i = 0; i < g->length; i++)
            buf_putc(out, (char)((g->kind == GENERATE_LETTERS ? 'a' : 'A') + rng_below(r, 26)));
        break;
    case GENERATE_UUID:
        put_uuid(r, out);
        break;
    case GENERATE_WORDS:
        buf_puts(out, word_adjectives[rng_below(r, word_n_adjectives)]);
        buf_putc(out, '-');
        buf_puts(out, word_nouns[rng_below(r, word_n_nouns)]);
        break;
    }
}

double generator_count(const struct generator *g)
{
    switch (g->kind) {
    case GENERATE_LIST:
        return (double)g->n_list;
    case GENERATE_DIGITS:
        return 9 * pow(10, (double)g->length - 1);
    case GENERATE_LETTERS:
    case GENERATE_CAPITALS:
        return pow(26, (double)g->length);
    case GENERATE_UUID:
        return ldexp(1, 122);
    case GENERATE_WORDS:
        return (double)word_n_adjectives * (double)word_n_nouns;
    }
    return 0;
}

/* Another character of the same sort; what is no digit or letter of uuids stays. */
static char another(const struct generator *g, char c, struct rng *r)
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *set = g->kind == GENERATE_LETTERS    ? letters
                      : g->kind == GENERATE_CAPITALS ? capitals
                                                     : digits;
    size_t n = g->kind == GENERATE_DIGITS ? 10 : strlen(set);
    const char *at = memchr(set, c, n);

    return at ? set[((size_t)(at - set) + 1 + (size_t)rng_below(r, n - 1)) % n] : c;
}

static bool may_change(const struct generator *g, size_t i)
{
    /* hyphens, version and variant of a uuid stay */
    return g->kind != GENERATE_UUID ||
           (i != 8 && i != 13 && i != 14 && i != 18 && i != 19 && i != 23);
}

void generator_near(const struct generator *g, const char *like, struct rng *r, struct buf *out)
{
    size_t n = strlen(like);
    size_t at = out->len;
    size_t i;

    if (g->kind == GENERATE_LIST || n < 2)
        return;
    if (g->kind == GENERATE_WORDS) {
        buf_puts(out, word_adjectives[rng_below(r, word_n_adjectives)]);
        buf_puts(out, strchr(like, '-'));
        return;
    }
    do
        i = 1 + (size_t)rng_below(r, n - 1);
    while (!may_change(g, i));
    buf_puts(out, like);
    if (out->len == at + n)
        out->data[at + i] = another(g, like[i], r);
}
