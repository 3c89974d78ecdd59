#include "occurrences_impl.h"

#include "word_impl.h"
#include "word_list_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- the set of bits ---- */

static enum status set_bit(struct occurrences *o, const struct generator *g, size_t n_text,
                           const char *s, size_t n, struct error *e)
{
    enum { MIN_BITS = 1 << 10 };
    const double most = (double)(1 << 29);
    uint64_t h = string_hash(s, n);

    if (!o->bits) {
        double wanted = 2 * generator_count(g);
        if (wanted > 16 * (double)n_text)
            wanted = 16 * (double)n_text;
        if (wanted > most)
            wanted = most;
        for (o->n_bits = MIN_BITS; (double)o->n_bits < wanted; o->n_bits *= 2)
            continue;
        if (mem_alloc(&o->bits, "the strings in a haystack", e, o->n_bits / 64, sizeof(*o->bits), 1,
                      1) != OK)
            return e->code;
    }
    h = (h ^ h >> 32) & (o->n_bits - 1);
    o->bits[h / 64] |= (uint64_t)1 << h % 64;
    return OK;
}

bool occurrences_has(const struct occurrences *o, const char *s, size_t n)
{
    uint64_t h = string_hash(s, n);

    if (o->list.n > 0 && string_set_has(&o->list, h))
        return true;
    if (!o->bits)
        return false;
    h = (h ^ h >> 32) & (o->n_bits - 1);
    return o->bits[h / 64] >> h % 64 & 1;
}

void occurrences_release(struct occurrences *o)
{
    string_set_release(&o->list);
    free(o->bits);
    *o = (struct occurrences){.bits = NULL};
}

/* ---- strings of a list ---- */

/* A list's strings by the word that they begin with. */
struct entry {
    uint64_t first; /* hash of that word */
    const char *text;
    size_t n;
    bool found;
};

struct list_search {
    struct entry *entries; /* [n] sorted by `first` */
    size_t n;
    uint64_t seen[16]; /* 1024 bits: first words that some entry has, to pass the others quickly */
};

static size_t word_length(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && is_word_byte(s[i]))
        i++;
    return i;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

static enum status list_search_init(struct list_search *l, const struct generator *g,
                                    struct error *e)
{
    memset(l, 0, sizeof(*l));
    if (mem_alloc(&l->entries, "a list of keys", e, g->n_list, sizeof(*l->entries), 1, 1) != OK)
        return e->code;
    l->n = g->n_list;
    for (size_t i = 0; i < l->n; i++) {
        struct entry *x = &l->entries[i];
        x->text = g->list[i];
        x->n = strlen(x->text);
        x->first = string_hash(x->text, word_length(x->text, x->n));
        l->seen[x->first / 64 % 16] |= (uint64_t)1 << x->first % 64;
    }
    qsort(l->entries, l->n, sizeof(*l->entries), compare_entries);
    return OK;
}

/* Marks the entries that stand at text[at..), where a word of `n_word` bytes begins. */
static void look_up(struct list_search *l, struct str text, size_t at, size_t n_word)
{
    uint64_t first = string_hash(text.p + at, n_word);
    size_t low = 0;
    size_t high = l->n;

    if (!(l->seen[first / 64 % 16] >> first % 64 & 1))
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->entries[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < l->n && l->entries[low].first == first; low++) {
        struct entry *x = &l->entries[low];
        size_t end = at + x->n;
        if (x->n <= text.n - at && memcmp(text.p + at, x->text, x->n) == 0 &&
            (end == text.n || !is_word_byte(text.p[end - 1]) || !is_word_byte(text.p[end])))
            x->found = true;
    }
}

/* ---- random strings ---- */

static bool all_from(const char *s, size_t n, char first, char last)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < first || s[i] > last)
            return false;
    return true;
}

/* Every run of as many digits as a value has, also within longer ones. */
static enum status note_digits(struct occurrences *o, const struct generator *g, struct str text,
                               size_t at, size_t n, struct error *e)
{
    size_t run = 0;

    for (size_t i = at; i < at + n; i++) {
        run = text.p[i] >= '0' && text.p[i] <= '9' ? run + 1 : 0;
        if (run >= g->length &&
            set_bit(o, g, text.n, text.p + i + 1 - g->length, g->length, e) != OK)
            return e->code;
    }
    return OK;
}

static bool is_uuid(const char *s)
{
    for (size_t i = 0; i < 36; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? s[i] != '-' : !strchr("0123456789abcdef", s[i]) || !s[i])
            return false;
    }
    return true;
}

static bool is_listed(const char *const *words, size_t n_words, const char *s, size_t n)
{
    for (size_t i = 0; i < n_words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return true;
    return false;
}

/* "silver-kettle", whatever stands around it */
static enum status note_pair(struct occurrences *o, const struct generator *g, struct str text,
                             size_t at, size_t n, struct error *e)
{
    size_t noun = at + n + 1;
    size_t n_noun;

    if (noun >= text.n || text.p[at + n] != '-')
        return OK;
    n_noun = word_length(text.p + noun, text.n - noun);
    if (!is_listed(word_nouns, word_n_nouns, text.p + noun, n_noun) ||
        !is_listed(word_adjectives, word_n_adjectives, text.p + at, n))
        return OK;
    return set_bit(o, g, text.n, text.p + at, n + 1 + n_noun, e);
}

/* The word text[at..at+n). */
static enum status note_word(struct occurrences *o, const struct generator *g, struct str text,
                             size_t at, size_t n, struct error *e)
{
    const char *word = text.p + at;

    switch (g->kind) {
    case GENERATE_LIST:
        return OK;
    case GENERATE_DIGITS:
        return note_digits(o, g, text, at, n, e);
    case GENERATE_LETTERS:
        if (n != g->length || !all_from(word, n, 'a', 'z'))
            return OK;
        return set_bit(o, g, text.n, word, n, e);
    case GENERATE_CAPITALS:
        if (n != g->length || !all_from(word, n, 'A', 'Z'))
            return OK;
        return set_bit(o, g, text.n, word, n, e);
    case GENERATE_UUID:
        if (n != 8 || text.n - at < 36 || !is_uuid(word))
            return OK;
        return set_bit(o, g, text.n, word, 36, e);
    case GENERATE_WORDS:
        return note_pair(o, g, text, at, n, e);
    }
    return OK;
}

/* ---- the text ---- */

/* `l` for lists, NULL for random strings. */
static enum status scan(struct occurrences *o, const struct generator *g, struct list_search *l,
                        struct str text, struct error *e)
{
    size_t at = 0;

    while (at < text.n) {
        size_t n = word_length(text.p + at, text.n - at);
        if (n == 0) {
            at++;
            continue;
        }
        if (l)
            look_up(l, text, at, n);
        else if (note_word(o, g, text, at, n, e) != OK)
            return e->code;
        at += n;
    }
    return OK;
}

static enum status find_listed(struct occurrences *o, const struct generator *g,
                               const struct haystack *h, struct error *e)
{
    struct str text = haystack_text(h);
    struct list_search l;
    enum status status = list_search_init(&l, g, e);

    if (status == OK && text.n > 0)
        status = scan(o, g, &l, text, e);
    for (size_t i = 0; status == OK && i < l.n; i++) {
        const struct entry *x = &l.entries[i];
        struct error ignored;
        /* no text that could be scanned, or a string that begins with another sign */
        bool alone = text.n == 0 || !is_word_byte(x->text[0]);
        if (alone ? haystack_must_lack(h, x->text, &ignored) != OK : x->found)
            status = string_set_add(&o->list, string_hash(x->text, x->n), e);
    }
    free(l.entries);
    return status;
}

enum status occurrences_find(struct occurrences *o, const struct generator *g,
                             const struct haystack *h, struct error *e)
{
    *o = (struct occurrences){.bits = NULL};
    if (g->kind == GENERATE_LIST)
        return find_listed(o, g, h, e);
    return scan(o, g, NULL, haystack_text(h), e);
}
