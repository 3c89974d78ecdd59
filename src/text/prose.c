#include "needlegrid/prose.h"

#include "prose_impl.h"
#include "word_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/rng.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECENT_PHRASES = 24,           /* about six sentences' */
    RECENT_FORMS = 9,              /* a paragraph's */
    SEEN_SLOTS = 2 * PROSE_MEMORY, /* half full at most; a power of two */
    ATTEMPTS = 32,                 /* at a sentence that was not said yet */
    MAX_SENTENCE = 2000,           /* bytes */
    MIN_MIDDLES = 3,
    MAX_MIDDLES = 7,
};

/* The last few phrases used, so that they are not used again at once. */
struct recent {
    const char *ring[RECENT_PHRASES];
    size_t size; /* at most RECENT_PHRASES */
    size_t next;
};

/* Hashes of sentences: an open-addressed set. */
struct seen {
    uint64_t slots[SEEN_SLOTS]; /* 0 = free */
    size_t n;
};

struct prose {
    struct rng rng;
    struct recent phrases;
    struct recent forms;
    struct seen seen[2]; /* the current set, and the full one before it */
    int current;
    struct buf sentence;
    /* the paragraph */
    const struct topic *topic;
    const struct daypart *daypart;
    phrases weather;
    const char *figure;
    const char *other;
    bool woman;
    bool named; /* the figure was the last person named: a pronoun will do */
};

enum status prose_new(struct prose **out, uint64_t seed, uint64_t sample, struct error *e)
{
    struct prose *p;

    if (mem_alloc(out, "generated prose", e, 1, 1, 1, sizeof(**out)) != OK)
        return e->code;
    p = *out;
    p->rng = rng_make(seed, "prose", sample);
    p->phrases.size = RECENT_PHRASES;
    p->forms.size = RECENT_FORMS;
    p->sentence.max = MAX_SENTENCE;
    return OK;
}

void prose_free(struct prose *p)
{
    if (!p)
        return;
    buf_release(&p->sentence);
    free(p);
}

/* ---- drawing ---- */

/* How many phrases ago it was used, 0 = the last one; `size` if not lately. */
static size_t age(const struct recent *r, const char *phrase)
{
    for (size_t i = 0; i < r->size; i++)
        if (r->ring[(r->next + r->size - 1 - i) % r->size] == phrase)
            return i;
    return r->size;
}

/* One of the list: the first from a random place on that was not used lately, else the oldest. */
static const char *pick(struct rng *rng, struct recent *r, phrases list)
{
    size_t n = 0;
    size_t start;
    const char *best = NULL;
    size_t best_age = 0;

    while (list[n])
        n++;
    start = (size_t)rng_below(rng, n);
    for (size_t i = 0; i < n && best_age < r->size; i++) {
        const char *phrase = list[(start + i) % n];
        size_t a = age(r, phrase);
        if (!best || a > best_age) {
            best = phrase;
            best_age = a;
        }
    }
    r->ring[r->next] = best;
    r->next = (r->next + 1) % r->size;
    return best;
}

static bool ends_in(const char *word, const char *suffix)
{
    size_t n = strlen(word);
    size_t m = strlen(suffix);

    return n >= m && strcmp(word + n - m, suffix) == 0;
}

static bool is_woman(struct rng *rng, const char *figure)
{
    static const char *const women[] = {"woman", "mistress", "maid"};
    static const char *const men[] = {"man", "master", "boy", "lad"};
    bool coin = rng_below(rng, 2) == 0;

    for (size_t i = 0; i < sizeof(women) / sizeof(women[0]); i++)
        if (ends_in(figure, women[i]))
            return true;
    for (size_t i = 0; i < sizeof(men) / sizeof(men[0]); i++)
        if (ends_in(figure, men[i]))
            return false;
    return coin;
}

static void begin_paragraph(struct prose *p)
{
    const struct topic *before = p->topic;

    do
        p->topic = &prose_topics[rng_below(&p->rng, prose_n_topics)];
    while (p->topic == before);
    p->daypart = &prose_dayparts[rng_below(&p->rng, prose_n_dayparts)];
    p->weather = prose_weathers[rng_below(&p->rng, prose_n_weathers)];
    p->figure = pick(&p->rng, &p->phrases, p->topic->figures);
    p->other = pick(&p->rng, &p->phrases, p->topic->figures);
    p->woman = is_woman(&p->rng, p->figure);
    p->named = false;
}

/* ---- filling the slots of a form ---- */

/* "mend|mended|mending|the torn sacks": one of the three forms, then the object. */
static void put_chore(struct prose *p, int form)
{
    const char *chore = pick(&p->rng, &p->phrases, p->topic->chores);

    for (; form > 0; form--)
        chore = strchr(chore, '|') + 1;
    buf_append(&p->sentence, chore, strcspn(chore, "|"));
    buf_putc(&p->sentence, ' ');
    buf_puts(&p->sentence, strrchr(chore, '|') + 1);
}

static void put_person(struct prose *p, const char *role)
{
    buf_puts(&p->sentence, "the ");
    buf_puts(&p->sentence, role);
    p->named = role == p->figure;
}

/* Persons, pronouns and chores; false if the slot is none of these. */
static bool put_special(struct prose *p, const char *slot)
{
    if (strcmp(slot, "figure") == 0)
        put_person(p, p->figure);
    else if (strcmp(slot, "other") == 0)
        put_person(p, p->other);
    else if (strcmp(slot, "who") == 0 && (!p->named || rng_below(&p->rng, 4) == 0))
        put_person(p, p->figure);
    else if (strcmp(slot, "who") == 0 || strcmp(slot, "he") == 0)
        buf_puts(&p->sentence, p->woman ? "she" : "he");
    else if (strcmp(slot, "his") == 0)
        buf_puts(&p->sentence, p->woman ? "her" : "his");
    else if (strcmp(slot, "chore") == 0)
        put_chore(p, 0);
    else if (strcmp(slot, "chore.ed") == 0)
        put_chore(p, 1);
    else if (strcmp(slot, "chore.ing") == 0)
        put_chore(p, 2);
    else if (strcmp(slot, "place") == 0)
        buf_puts(&p->sentence, p->topic->place);
    else if (strcmp(slot, "at") == 0)
        buf_puts(&p->sentence, p->topic->at);
    else
        return false;
    return true;
}

static phrases list_of(const struct prose *p, const char *slot)
{
    const struct word_list own[] = {
        {"thing", p->topic->things}, {"goods", p->topic->goods}, {"truth", p->topic->truths},
        {"weather", p->weather},     {"open", p->daypart->open}, {"later", p->daypart->later},
        {"end", p->daypart->end},
    };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].name, slot) == 0)
            return own[i].words;
    for (size_t i = 0; i < prose_n_lists; i++)
        if (strcmp(prose_lists[i].name, slot) == 0)
            return prose_lists[i].words;
    return NULL;
}

static void expand(struct prose *p, const char *form);

/* `slot` is "thing" or, at the beginning of a sentence, "Thing". */
static void fill_slot(struct prose *p, const char *slot, size_t n)
{
    char name[16];
    bool capital = slot[0] >= 'A' && slot[0] <= 'Z';
    size_t mark = p->sentence.len;

    assert(n < sizeof(name));
    memcpy(name, slot, n);
    name[n] = '\0';
    if (capital)
        name[0] = (char)(name[0] - 'A' + 'a');
    if (!put_special(p, name)) {
        phrases list = list_of(p, name);
        assert(list);
        expand(p, pick(&p->rng, &p->phrases, list));
        /* a pronoun would now mean someone else */
        if (strcmp(name, "kin") == 0 || strcmp(name, "creature") == 0)
            p->named = false;
    }
    if (capital && mark < p->sentence.len && p->sentence.data[mark] >= 'a' &&
        p->sentence.data[mark] <= 'z')
        p->sentence.data[mark] = (char)(p->sentence.data[mark] - 'a' + 'A');
}

/* Appends a form or phrase with its slots filled; phrases nest, but no list names itself. */
static void expand(struct prose *p, const char *form)
{
    while (*form) {
        size_t literal = strcspn(form, "{");
        buf_append(&p->sentence, form, literal);
        form += literal;
        if (*form == '{') {
            size_t n = strcspn(form + 1, "}");
            fill_slot(p, form + 1, n);
            form += n + 2;
        }
    }
}

/* ---- sentences that were not said yet ---- */

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ ; never 0 */
static uint64_t hash_sentence(const struct buf *b)
{
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < b->len; i++)
        h = (h ^ (unsigned char)b->data[i]) * 0x100000001b3;
    return h ? h : 1;
}

/* The slot that holds `h`, or the free one where it belongs. */
static uint64_t *find_slot(struct seen *s, uint64_t h)
{
    size_t i = (size_t)(h % SEEN_SLOTS);

    while (s->slots[i] != 0 && s->slots[i] != h)
        i = (i + 1) % SEEN_SLOTS;
    return &s->slots[i];
}

/* True if the sentence is new; it is then remembered. */
static bool remember(struct prose *p)
{
    uint64_t h = hash_sentence(&p->sentence);
    struct seen *now = &p->seen[p->current];

    if (*find_slot(now, h) == h || *find_slot(&p->seen[!p->current], h) == h)
        return false;
    if (now->n == PROSE_MEMORY) {
        p->current = !p->current;
        now = &p->seen[p->current];
        memset(now, 0, sizeof(*now));
    }
    *find_slot(now, h) = h;
    now->n++;
    return true;
}

static void sentence(struct prose *p, phrases forms, struct buf *out)
{
    bool named = p->named;
    int attempts = 0;
    const char *form;

    do {
        p->named = named;
        form = pick(&p->rng, &p->forms, forms);
        buf_clear(&p->sentence);
        buf_putc(&p->sentence, ' ');
        expand(p, form);
    } while (!remember(p) && ++attempts < ATTEMPTS);
    /* whoever a sentence was about is meant by the next one's pronoun */
    p->named = p->named || strncmp(form, "{Who}", 5) == 0 || strncmp(form, "{Figure}", 8) == 0;
    buf_append(out, buf_str(&p->sentence), p->sentence.len);
    if (p->sentence.status != OK && out->status == OK)
        out->status = p->sentence.status;
}

void prose_paragraph(struct prose *p, struct buf *out)
{
    size_t middles;

    begin_paragraph(p);
    middles = MIN_MIDDLES + (size_t)rng_below(&p->rng, MAX_MIDDLES - MIN_MIDDLES + 1);
    sentence(p, prose_openings, out);
    for (size_t i = 0; i < middles; i++)
        sentence(p, prose_middles, out);
    sentence(p, prose_closings, out);
}

/* ---- all the words ---- */

/* Calls `visit` for every phrase until it returns true, which is then returned. */
typedef bool visit_fn(void *context, const char *phrase);

static bool each_of(phrases list, visit_fn *visit, void *context)
{
    for (; *list; list++)
        if (visit(context, *list))
            return true;
    return false;
}

static bool each_phrase(visit_fn *visit, void *context)
{
    for (size_t i = 0; i < prose_n_topics; i++) {
        const struct topic *t = &prose_topics[i];
        if (visit(context, t->place) || visit(context, t->at) ||
            each_of(t->figures, visit, context) || each_of(t->things, visit, context) ||
            each_of(t->goods, visit, context) || each_of(t->chores, visit, context) ||
            each_of(t->truths, visit, context))
            return true;
    }
    for (size_t i = 0; i < prose_n_dayparts; i++) {
        const struct daypart *d = &prose_dayparts[i];
        if (each_of(d->open, visit, context) || each_of(d->later, visit, context) ||
            each_of(d->end, visit, context))
            return true;
    }
    for (size_t i = 0; i < prose_n_weathers; i++)
        if (each_of(prose_weathers[i], visit, context))
            return true;
    for (size_t i = 0; i < prose_n_lists; i++)
        if (each_of(prose_lists[i].words, visit, context))
            return true;
    return each_of(prose_openings, visit, context) || each_of(prose_middles, visit, context) ||
           each_of(prose_closings, visit, context);
}

static bool hash_phrase(void *context, const char *phrase)
{
    hash_field_str(context, "phrase", phrase);
    return false;
}

void prose_hash(struct hash *h)
{
    hash_field_u64(h, "prose", PROSE_REVISION);
    (void)each_phrase(hash_phrase, h);
}

struct word_search {
    const char *word;
    const char *lower; /* the same as it stands in a phrase that may begin a sentence */
    const char *found;
};

static bool search_phrase(void *context, const char *phrase)
{
    struct word_search *s = context;
    size_t n = strlen(phrase);

    if (find_word(phrase, n, s->word, strlen(s->word)) == n &&
        find_word(phrase, n, s->lower, strlen(s->lower)) == n)
        return false;
    s->found = phrase;
    return true;
}

const char *prose_phrase_with(const char *word)
{
    char lower[64] = "";
    struct word_search s = {word, lower, NULL};

    if (strlen(word) < sizeof(lower)) {
        memcpy(lower, word, strlen(word) + 1);
        if (lower[0] >= 'A' && lower[0] <= 'Z')
            lower[0] = (char)(lower[0] - 'A' + 'a');
    }
    (void)each_phrase(search_phrase, &s);
    return s.found;
}
