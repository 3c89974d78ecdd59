/*
 * Phrases of refusal: one PCRE2 pattern a line, capitals and small letters alike; lines that begin
 * with "#" are comments.
 */
#include "score_impl.h"

#include "needlegrid/buf.h"
#include "needlegrid/hash.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/regex.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 20 }; /* bytes */

struct refusals {
    struct regex **items; /* [n] */
    size_t n, cap;
};

void refusals_free(struct refusals *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        regex_free(r->items[i]);
    free(r->items);
    free(r);
}

/* One line without its end. */
static enum status take_line(struct refusals *r, const char *line, size_t n, struct hash *h,
                             struct error *e)
{
    struct buf pattern = BUF_INIT(MAX_FILE + 16);
    enum status status = OK;

    while (n > 0 && strchr(" \t\r", line[n - 1]))
        n--;
    if (n == 0 || line[0] == '#')
        return OK;
    buf_puts(&pattern, "(?i)");
    buf_append(&pattern, line, n);
    hash_field(h, "refusal", line, n);
    if ((status = buf_status(&pattern, e)) == OK &&
        (status = mem_grow(&r->items, &r->cap, r->n + 1, sizeof(struct regex *),
                           "patterns of refusal", e)) == OK &&
        (status = regex_compile(&r->items[r->n], buf_str(&pattern), e)) == OK)
        r->n++;
    buf_release(&pattern);
    return status;
}

static enum status take_lines(struct refusals *r, const char *text, const char *path,
                              struct hash *h, struct error *e)
{
    for (size_t number = 1; *text; number++) {
        size_t n = strcspn(text, "\n");
        if (take_line(r, text, n, h, e) != OK)
            return error_prefix(e, "%s:%zu", path, number);
        text += n + (text[n] == '\n');
    }
    return r->n ? OK : error_set(e, ERR_USAGE, "%s: there is no pattern in it", path);
}

enum status refusals_open(struct refusals **out, const char *path, struct hash *h, struct error *e)
{
    struct buf text = BUF_INIT(MAX_FILE);
    struct refusals *r = calloc(1, sizeof(*r));
    enum status status = r ? OK : error_set(e, ERR_NOMEM, "cannot allocate patterns of refusal");

    *out = NULL;
    if (status == OK)
        status = os_read_file(&text, path, e);
    if (status == OK)
        status = take_lines(r, buf_str(&text), path, h, e);
    buf_release(&text);
    if (status != OK) {
        refusals_free(r);
        return status;
    }
    *out = r;
    return OK;
}

enum status refusals_find(const struct refusals *r, const struct judging *j, struct span *out,
                          struct error *e)
{
    *out = (struct span){0, 0};
    for (size_t i = 0; r && i < r->n; i++) {
        struct span at;
        bool found;
        if (regex_search(r->items[i], j->text, j->to, j->from, &found, &at.from, &at.to, e) != OK)
            return e->code;
        if (found && (out->from == out->to || at.from < out->from))
            *out = at;
    }
    return OK;
}
