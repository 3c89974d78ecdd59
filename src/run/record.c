#include "record_impl.h"

#include <string.h>

void record_needles(const struct trial *t, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < t->n_needles; i++) {
        const struct planted *p = &t->needles[i];
        buf_printf(out, "%s[%zu,%zu,%zu,%zu,%d]", i ? "," : "", p->at, p->n_tokens, p->value_at,
                   p->value_tokens, p->asked);
    }
    buf_putc(out, ']');
}

static void add_value(const char *value, struct buf *out)
{
    buf_printf(out, "%s%s", out->len ? ", " : "", value);
}

void record_values(const char *const *values, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        add_value(values[i], out);
}

/* The text without what may stand between groups of digits. */
static void put_joined(const char *text, struct buf *out)
{
    for (; *text; text++)
        if (!strchr(", '_.", *text))
            buf_putc(out, *text);
}

void record_decoys(const struct trial *t, const char *response, struct buf *out)
{
    struct buf joined = BUF_INIT(out->max);

    if (t->n_decoys <= RECORD_DECOYS) {
        record_values(t->decoys, t->n_decoys, out);
        return;
    }
    put_joined(response, &joined);
    for (size_t i = 0; i < t->n_decoys; i++)
        if (strstr(response, t->decoys[i]) || strstr(buf_str(&joined), t->decoys[i]))
            add_value(t->decoys[i], out);
    buf_release(&joined);
}
