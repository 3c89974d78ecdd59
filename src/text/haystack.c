#include "haystack_impl.h"
#include "word_impl.h"

#include "needlegrid/json.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/prose.h"
#include "needlegrid/sentence.h"
#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

static const size_t MAX_TEXT = (size_t)2 << 30; /* bytes */

/* RULER's niah_single_1: https://github.com/NVIDIA/RULER, scripts/data/synthetic/niah.py */
static const char NOISE[] = "The grass is green. The sky is blue. The sun is yellow. Here we go. "
                            "There and back again.";

enum status sentence_list_push(struct sentence_list *list, size_t at, struct error *e)
{
    if (mem_grow(&list->starts, &list->cap, list->n + 1, sizeof(*list->starts),
                 "the places of sentences", e) != OK)
        return e->code;
    list->starts[list->n++] = at;
    return OK;
}

enum status sentence_list_add(struct sentence_list *list, const char *text, size_t from, size_t to,
                              struct error *e)
{
    for (size_t at = from; at < to; at = sentence_end(text, to, at))
        if (sentence_list_push(list, at, e) != OK)
            return e->code;
    return OK;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Passes white space from *at on; true if a blank line is in it. */
static bool pass_space(const char *raw, size_t n, size_t *at)
{
    int newlines = 0;

    for (; *at < n && is_space(raw[*at]); ++*at)
        newlines += raw[*at] == '\n' && newlines < 2;
    return newlines == 2;
}

/* Appends the folded text: every word with one space before it; notes where sentences start. */
static enum status fold(struct haystack *h, const char *raw, size_t n, struct error *e)
{
    size_t at = 0;
    size_t paragraph = h->text.len;

    pass_space(raw, n, &at);
    while (at < n) {
        size_t word = at;
        bool blank_line;

        while (at < n && !is_space(raw[at]))
            at++;
        buf_putc(&h->text, ' ');
        buf_append(&h->text, raw + word, at - word);
        blank_line = pass_space(raw, n, &at);
        if (buf_status(&h->text, e) != OK)
            return error_prefix(e, "%s", h->name);
        if (!blank_line && at < n)
            continue;
        if (sentence_list_add(&h->sentences, h->text.data, paragraph, h->text.len, e) != OK)
            return e->code;
        paragraph = h->text.len;
    }
    return OK;
}

static enum status check_bytes(const char *name, const char *raw, size_t n, struct error *e)
{
    const char *nul = memchr(raw, '\0', n);
    size_t bad = utf8_invalid_at(raw, n);

    if (nul)
        return error_set(e, ERR_FORMAT, "%s: byte %zu is U+0000: is it a text file, in UTF-8?",
                         name, (size_t)(nul - raw));
    if (bad < n)
        return error_set(e, ERR_FORMAT, "%s: invalid UTF-8 at byte %zu: convert it to UTF-8 first",
                         name, bad);
    return OK;
}

/* A file that the texts that follow are from. */
static enum status begin_part(struct haystack *h, const char *name, struct error *e)
{
    struct text_part *part;

    if (mem_grow(&h->parts, &h->parts_cap, h->n_parts + 1, sizeof(*h->parts), "a list of texts",
                 e) != OK)
        return e->code;
    part = &h->parts[h->n_parts];
    part->from = h->text.len;
    part->name = mem_strndup(name, strlen(name), e);
    if (!part->name)
        return e->code;
    h->n_parts++;
    return OK;
}

/* How many bytes of mark a text begins with. */
static size_t byte_order_mark(const char *raw, size_t n)
{
    return n >= 3 && memcmp(raw, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* One file's text, or the one given. */
static enum status add_part(struct haystack *h, const char *name, const char *raw, size_t n,
                            struct error *e)
{
    size_t skip = byte_order_mark(raw, n);

    if (check_bytes(name, raw, n, e) != OK || begin_part(h, name, e) != OK)
        return e->code;
    return fold(h, raw + skip, n - skip, e);
}

static enum status add_file(struct haystack *h, const char *path, struct error *e)
{
    struct buf raw = BUF_INIT(MAX_TEXT);
    enum status status = os_read_file(&raw, path, e);

    if (status == OK)
        status = add_part(h, path, buf_str(&raw), raw.len, e);
    buf_release(&raw);
    return status;
}

/* ---- JSON, an object a line ---- */

/* `place` is "file:line", for messages. */
static enum status add_json(struct haystack *h, const char *place, const char *line, size_t n,
                            const char *field, struct error *e)
{
    struct json *doc = NULL;
    const char *text;
    enum status status = json_parse(&doc, line, n, place, e);

    if (status == OK)
        status = json_get_string(doc, json_root(doc), field, &text, e);
    if (status == OK)
        status = fold(h, text, strlen(text), e);
    json_close(doc);
    return status;
}

static bool is_blank(const char *s, size_t n)
{
    size_t at = 0;

    while (at < n && is_space(s[at]))
        at++;
    return at == n;
}

static enum status add_lines(struct haystack *h, const char *path, const char *raw, size_t n,
                             const char *field, struct error *e)
{
    size_t line = 1;

    for (size_t at = byte_order_mark(raw, n); at < n; line++) {
        const char *newline = memchr(raw + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - raw) : n;
        struct buf place = BUF_INIT(4096);
        enum status status;
        buf_printf(&place, "%s:%zu", path, line);
        status = buf_status(&place, e);
        if (status == OK && !is_blank(raw + at, end - at))
            status = add_json(h, buf_str(&place), raw + at, end - at, field, e);
        buf_release(&place);
        if (status != OK)
            return status;
        at = end + 1;
    }
    return OK;
}

static enum status add_jsonl(struct haystack *h, const char *path, const char *field,
                             struct error *e)
{
    struct buf raw = BUF_INIT(MAX_TEXT);
    enum status status = os_read_file(&raw, path, e);

    if (status == OK)
        status = begin_part(h, path, e);
    if (status == OK)
        status = add_lines(h, path, buf_str(&raw), raw.len, field, e);
    buf_release(&raw);
    return status;
}

/* ---- folders ---- */

static enum status add_folder(struct haystack *h, const char *path, struct error *e)
{
    char **names = NULL;
    size_t n = 0;
    enum status status = os_list(&names, &n, path, ".txt", e);

    if (status == OK && n == 0)
        status = error_set(e, ERR_NOT_FOUND, "%s: no *.txt files in this folder", path);
    for (size_t i = 0; i < n && status == OK; i++) {
        struct buf file = BUF_INIT(4096);
        buf_printf(&file, "%s/%s", path, names[i]);
        status = buf_status(&file, e);
        if (status == OK)
            status = add_file(h, buf_str(&file), e);
        buf_release(&file);
    }
    os_names_free(names, n);
    return status;
}

/* Sentence by sentence, so that the hash also covers where they were found to end. */
static enum status hash_text(struct haystack *h, struct error *e)
{
    struct hash *sha;
    enum status status = hash_new(&sha, e);

    if (status != OK)
        return status;
    if (h->kind == KIND_PROSE)
        prose_hash(sha);
    if (h->kind == KIND_NEEDLES) {
        hash_field_str(sha, "needles", h->tpl->hash);
        hash_field_u64(sha, "asked", h->plan.asked);
        hash_field_u64(sha, "planted", h->plan.planted);
    }
    for (size_t i = 0; i < h->sentences.n; i++) {
        size_t from = h->sentences.starts[i];
        size_t to = i + 1 < h->sentences.n ? h->sentences.starts[i + 1] : h->text.len;
        hash_field(sha, "sentence", h->text.data + from, to - from);
    }
    status = hash_hex(sha, h->hash, e);
    hash_free(sha);
    return status;
}

static enum status start(struct haystack **out, const char *name, enum haystack_kind kind,
                         struct error *e)
{
    struct haystack *h;

    *out = NULL;
    if (mem_alloc(&h, "a haystack", e, 1, 1, 1, sizeof(*h)) != OK)
        return e->code;
    h->kind = kind;
    h->text.max = MAX_TEXT;
    h->name = mem_strndup(name, strlen(name), e);
    if (!h->name) {
        haystack_free(h);
        return e->code;
    }
    *out = h;
    return OK;
}

/* Takes over `h`: hands it out if all went well, else frees it. */
static enum status finish(struct haystack **out, struct haystack *h, enum status status,
                          struct error *e)
{
    if (status == OK && (h->kind == KIND_TEXT || h->kind == KIND_NOISE) && h->text.len == 0)
        status = error_set(e, ERR_FORMAT, "%s: the text is empty", h->name);
    if (status == OK)
        status = hash_text(h, e);
    if (status != OK) {
        haystack_free(h);
        h = NULL;
    }
    *out = h;
    return status;
}

static enum status read_path(struct haystack *h, const char *path, struct error *e)
{
    if (!os_exists(path))
        return error_set(e, ERR_NOT_FOUND,
                         "no haystack %s: it can be essays, prose, noise, needles, a text file, a "
                         "folder of *.txt files or a .jsonl file",
                         path);
    if (os_is_directory(path))
        return add_folder(h, path, e);
    return os_has_suffix(path, ".jsonl") ? add_jsonl(h, path, "text", e) : add_file(h, path, e);
}

static enum status read_essays(struct haystack *h, const char *folder, struct error *e)
{
    struct buf path = BUF_INIT(4096);
    enum status status;

    buf_printf(&path, "%s/%s", folder, h->name);
    status = buf_status(&path, e);
    if (status == OK && !os_is_directory(buf_str(&path)))
        status = error_set(e, ERR_NOT_FOUND, "no folder %s: is the folder of haystacks right?",
                           buf_str(&path));
    if (status == OK)
        status = add_folder(h, buf_str(&path), e);
    buf_release(&path);
    return status;
}

enum status haystack_open(struct haystack **out, const char *name, const char *folder,
                          struct error *e)
{
    struct haystack *h;
    enum status status;
    bool prose = strcmp(name, "prose") == 0;
    bool noise = strcmp(name, "noise") == 0;

    *out = NULL;
    status = start(&h, name, prose ? KIND_PROSE : noise ? KIND_NOISE : KIND_TEXT, e);
    if (status != OK)
        return status;
    if (noise)
        status = add_part(h, name, NOISE, strlen(NOISE), e);
    else if (strcmp(name, "essays") == 0)
        status = read_essays(h, folder, e);
    else if (!prose)
        status = read_path(h, name, e);
    return finish(out, h, status, e);
}

enum status haystack_open_jsonl(struct haystack **out, const char *path, const char *field,
                                struct error *e)
{
    struct haystack *h;

    *out = NULL;
    if (start(&h, path, KIND_TEXT, e) != OK)
        return e->code;
    return finish(out, h, add_jsonl(h, path, field, e), e);
}

enum status haystack_of_needles(struct haystack **out, const struct prompt_template *tpl,
                                size_t asked, size_t planted, struct error *e)
{
    struct haystack *h;

    *out = NULL;
    if (tpl->kind != TASK_NEEDLES && tpl->kind != TASK_ABSENT)
        return error_set(e, ERR_USAGE,
                         "haystack needles: the kind of template %s has no needles with values",
                         tpl->name);
    if (start(&h, "needles", KIND_NEEDLES, e) != OK)
        return e->code;
    h->tpl = tpl;
    h->plan = (struct draw_plan){asked, planted};
    return finish(out, h, OK, e);
}

enum status haystack_from_text(struct haystack **out, const char *name, const char *text, size_t n,
                               struct error *e)
{
    struct haystack *h;

    *out = NULL;
    if (start(&h, name, KIND_TEXT, e) != OK)
        return e->code;
    return finish(out, h, add_part(h, name, text, n, e), e);
}

void haystack_free(struct haystack *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n_parts; i++)
        free(h->parts[i].name);
    free(h->parts);
    free(h->sentences.starts);
    buf_release(&h->text);
    free(h->name);
    free(h);
}

const char *haystack_name(const struct haystack *h)
{
    return h->name;
}

const char *haystack_hash(const struct haystack *h)
{
    return h->hash;
}

bool haystack_endless(const struct haystack *h)
{
    return h->kind != KIND_TEXT;
}

struct str haystack_text(const struct haystack *h)
{
    return (struct str){h->text.data, h->text.len};
}

static const char *part_at(const struct haystack *h, size_t at)
{
    size_t i = h->n_parts - 1;

    while (i > 0 && h->parts[i].from > at)
        i--;
    return h->parts[i].name;
}

enum status haystack_must_lack(const struct haystack *h, const char *word, struct error *e)
{
    enum { AROUND = 30 }; /* bytes shown on both sides */
    size_t len = strlen(word);
    size_t n = h->text.len;
    size_t at;
    size_t from;
    size_t to;

    if (h->kind == KIND_PROSE) {
        const char *phrase = prose_phrase_with(word);
        return phrase ? error_set(e, ERR_FORMAT,
                                  "%s: the word \"%s\" is one of the generator's (\"%s\")", h->name,
                                  word, phrase)
                      : OK;
    }
    at = find_word(h->text.data, n, word, len);
    if (at == n)
        return OK;
    from = at > AROUND ? at - AROUND : 0;
    to = n - at - len > AROUND ? at + len + AROUND : n;
    while (!utf8_is_start(h->text.data[from]))
        from++;
    while (to < n && !utf8_is_start(h->text.data[to]))
        to--;
    return error_set(e, ERR_FORMAT, "%s: the word \"%s\" stands in the text (\"...%.*s...\")",
                     part_at(h, at), word, (int)(to - from), h->text.data + from);
}
