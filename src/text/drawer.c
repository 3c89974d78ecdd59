#include "drawer_impl.h"

#include "occurrences_impl.h"
#include "word_impl.h"

#include <string.h>

enum {
    MAX_STRING = 1 << 16, /* bytes */
    NEAR_ATTEMPTS = 64,   /* at a near string that is still free */
};

void drawer_begin(struct drawer *d, const struct prompt_template *tpl, struct draw_plan plan,
                  const struct occurrences *in_text, uint64_t seed, uint64_t sample)
{
    struct string_set taken = d->taken;
    struct buf scratch = d->scratch;

    string_set_clear(&taken);
    string_pool_release(&d->pool);
    scratch.max = MAX_STRING;
    *d = (struct drawer){.tpl = tpl,
                         .in_text = in_text,
                         .plan = plan,
                         .first = rng_make(seed, "needle", sample),
                         .rest = rng_make(seed, "needles", sample),
                         .taken = taken,
                         .scratch = scratch};
}

void drawer_release(struct drawer *d)
{
    string_set_release(&d->taken);
    string_pool_release(&d->pool);
    buf_release(&d->scratch);
}

static enum status run_out(const struct drawer *d, const struct generator *g, const char *what,
                           size_t drawn, const struct occurrences *o, struct error *e)
{
    if (g->kind == GENERATE_LIST && o && o->list.n > 0)
        return error_set(e, ERR_USAGE,
                         "template %s: the %s run out: it has %zu, %zu of them stand in the "
                         "haystack, and a prompt needs more than %zu",
                         d->tpl->name, what, g->n_list, o->list.n, drawn);
    return error_set(e, ERR_USAGE,
                     "template %s: the %s run out: there are %.0f%s, and a prompt needs more than "
                     "%zu",
                     d->tpl->name, what, generator_count(g),
                     o && o->bits ? ", some of them in the haystack" : "", drawn);
}

/* True if it is one of the template's own words: it would stand in each prompt besides. */
static bool is_own_word(const struct prompt_template *t, const struct buf *s)
{
    size_t n = strlen(t->words);

    return find_word(t->words, n, s->data, s->len) < n;
}

/* Into scratch: one more string of the generator that is free; what it is like, see the header. */
static bool draw_free(struct drawer *d, const struct generator *g, const struct occurrences *o,
                      const char *like, struct rng *r)
{
    size_t attempts = 10000 + 100 * g->n_list;
    size_t near = like ? NEAR_ATTEMPTS : 0;

    for (size_t i = 0; i < attempts + near; i++) {
        buf_clear(&d->scratch);
        if (i < near)
            generator_near(g, like, r, &d->scratch);
        else
            generator_draw(g, r, &d->scratch);
        if (d->scratch.len > 0 && d->scratch.status == OK &&
            !string_set_has(&d->taken, string_hash(d->scratch.data, d->scratch.len)) &&
            !(o && occurrences_has(o, d->scratch.data, d->scratch.len)) &&
            !is_own_word(d->tpl, &d->scratch))
            return true;
    }
    return false;
}

static enum status draw(struct drawer *d, const struct generator *g, size_t which, const char *what,
                        const char *like, size_t drawn, const char **out, struct error *e)
{
    const struct occurrences *o = d->in_text ? &d->in_text[which] : NULL;
    size_t lost = o ? o->list.n : 0;

    if ((double)(drawn + lost) >= generator_count(g) ||
        !draw_free(d, g, o, like, drawn == 0 && which < 2 ? &d->first : &d->rest))
        return run_out(d, g, what, drawn, o, e);
    if (string_set_add(&d->taken, string_hash(d->scratch.data, d->scratch.len), e) != OK)
        return e->code;
    *out = string_pool_add(&d->pool, d->scratch.data, d->scratch.len, e);
    return *out ? OK : e->code;
}

enum status drawer_key(struct drawer *d, const char **out, struct error *e)
{
    bool near = d->tpl->near_keys && d->n_keys >= d->plan.asked && d->n_keys < d->plan.planted;

    if (draw(d, &d->tpl->keys, 0, "keys", near ? d->key : NULL, d->n_keys, out, e) != OK)
        return e->code;
    if (d->n_keys++ == 0)
        d->key = *out;
    return OK;
}

enum status drawer_value(struct drawer *d, const char **out, struct error *e)
{
    /* a key's values are drawn after it */
    bool near = d->tpl->near_values && d->n_keys > d->plan.asked && d->n_keys <= d->plan.planted;

    if (draw(d, &d->tpl->value, 1, "values", near ? d->value : NULL, d->n_values, out, e) != OK)
        return e->code;
    if (d->n_values++ == 0)
        d->value = *out;
    return OK;
}

enum status drawer_next(struct drawer *d, const char **key, const char **values,
                        const char **fields, struct error *e)
{
    const struct prompt_template *t = d->tpl;

    if (drawer_key(d, key, e) != OK)
        return e->code;
    for (size_t i = 0; i < t->values; i++)
        if (drawer_value(d, &values[i], e) != OK)
            return e->code;
    for (size_t i = 0; i < t->n_fields; i++)
        if (draw(d, &t->fields[i].from, 2 + i, t->fields[i].name, NULL, d->n_fields, &fields[i],
                 e) != OK)
            return e->code;
    d->n_fields++;
    return OK;
}
