#include "needle_stream_impl.h"

#include "needlegrid/mem.h"

#include <stdlib.h>

enum { MAX_NEEDLE = 1 << 16 }; /* bytes */

struct needle_stream {
    const struct prompt_template *tpl;
    struct drawer drawer;
    const char **drawn_values; /* [tpl->values] of one key */
    const char **fields;       /* [tpl->n_fields] */
    const char **values;       /* [n] of each needle so far */
    size_t n, cap;
};

static enum status next_key(struct needle_stream *s, const char **key, struct error *e)
{
    return drawer_next(&s->drawer, key, s->drawn_values, s->fields, e);
}

enum status needle_stream_new(struct needle_stream **out, const struct prompt_template *tpl,
                              struct draw_plan plan, uint64_t seed, uint64_t sample,
                              struct error *e)
{
    struct needle_stream *s;
    const char *key;
    enum status status;

    *out = NULL;
    if (mem_alloc(&s, "a haystack of needles", e, 1, 1, 1, sizeof(*s)) != OK)
        return e->code;
    s->tpl = tpl;
    drawer_begin(&s->drawer, tpl, plan, NULL, seed, sample);
    status = mem_alloc(&s->drawn_values, "values", e, tpl->values, sizeof(*s->drawn_values), 1, 1);
    if (status == OK)
        status = mem_alloc(&s->fields, "fields", e, tpl->n_fields + 1, sizeof(*s->fields), 1, 1);
    for (size_t i = 0; status == OK && i < plan.planted; i++)
        status = next_key(s, &key, e);
    if (status != OK) {
        needle_stream_free(s);
        return status;
    }
    *out = s;
    return OK;
}

void needle_stream_free(struct needle_stream *s)
{
    if (!s)
        return;
    drawer_release(&s->drawer);
    free(s->drawn_values);
    free(s->fields);
    free(s->values);
    free(s);
}

const char *const *needle_stream_values(const struct needle_stream *s)
{
    return s->values;
}

static enum status add_needle(struct needle_stream *s, const struct tokenizer *t,
                              const char *pattern, struct filling *f, struct tokens *ids,
                              struct sentence_list *boundaries, struct error *e)
{
    struct buf text = BUF_INIT(MAX_NEEDLE);
    enum status status;

    template_fill(&text, s->tpl, pattern, f);
    status = buf_status(&text, e);
    if (status == OK)
        status = tokenizer_encode(t, buf_str(&text), text.len, TOKENIZE_PLAIN, ids, e);
    if (status == OK)
        status = mem_grow(&s->values, &s->cap, s->n + 1, sizeof(*s->values), "values", e);
    if (status == OK) {
        s->values[s->n++] = f->value;
        status = sentence_list_push(boundaries, ids->n, e);
    }
    buf_release(&text);
    return status;
}

enum status needle_stream_extend(struct needle_stream *s, const struct tokenizer *t,
                                 struct tokens *ids, struct sentence_list *boundaries,
                                 struct error *e)
{
    struct filling f = {.fields = s->fields};

    if (next_key(s, &f.key, e) != OK)
        return e->code;
    for (size_t i = 0; i < s->tpl->n_needles; i++) {
        bool has_value = i == s->tpl->value_needle;
        for (size_t v = 0; v < (has_value ? s->tpl->values : 1); v++) {
            f.value = has_value ? s->drawn_values[v] : NULL;
            if (add_needle(s, t, s->tpl->needles[i], &f, ids, boundaries, e) != OK)
                return e->code;
        }
    }
    return OK;
}
