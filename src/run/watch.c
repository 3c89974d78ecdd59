#include "watch_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>

enum status watch_needles(struct watch *w, const struct trial *t, struct completion_request *r,
                          struct error *e)
{
    static const char what[] = "needles to look for";

    w->n_needles = 0;
    w->n_values = 0;
    if (mem_grow(&w->needles, &w->needles_cap, t->n_needles + 1, sizeof(*w->needles), what, e) !=
            OK ||
        mem_grow(&w->values, &w->values_cap, t->n_needles + 1, sizeof(*w->values), what, e) != OK)
        return e->code;
    for (size_t i = 0; i < t->n_needles; i++) {
        const struct planted *p = &t->needles[i];
        if (!p->asked)
            continue;
        w->needles[w->n_needles++] = (struct token_span){p->at, p->at + p->n_tokens};
        if (p->value_tokens > 0)
            w->values[w->n_values++] =
                (struct token_span){p->value_at, p->value_at + p->value_tokens};
    }
    r->needles = w->needles;
    r->n_needles = w->n_needles;
    r->values = w->values;
    r->n_values = w->n_values;
    return OK;
}

enum status watch_note(struct watch *w, const struct completion *c, struct error *e)
{
    if (mem_grow(&w->rows, &w->rows_cap, c->n_attention + 1, sizeof(*w->rows), "attention scores",
                 e) != OK)
        return e->code;
    w->n_rows = c->n_attention;
    for (size_t i = 0; i < c->n_attention; i++) {
        const struct attention_score *a = &c->attention[i];
        w->rows[i] = (struct attention_record){.layer = (int)a->layer,
                                               .head = (int)a->head,
                                               .needle_mass = a->needle_mass,
                                               .value_mass = a->value_mass,
                                               .entropy = a->entropy,
                                               .max = a->max};
    }
    return OK;
}

void watch_release(struct watch *w)
{
    free(w->needles);
    free(w->values);
    free(w->rows);
    *w = (struct watch){.n_rows = 0};
}
