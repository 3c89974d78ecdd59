/*
 * Token ids against reference data: tokenizers/NAME.gguf with the cases of NAME.jsonl.
 *
 *     conform_tokenizer FOLDER
 *
 * A case is one line with the fields hex (the bytes of the text), parse_special and ids.
 */
#include "needlegrid/buf.h"
#include "needlegrid/os.h"
#include "needlegrid/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"gpt-2", "llama3", "qwen3"};

struct test_case {
    struct buf text;
    struct tokens ids;
    enum tokenize mode;
};

/* What follows `"key": ` in the line, or NULL. */
static const char *field(const char *line, const char *key)
{
    const char *p = strstr(line, key);

    return p ? p + strlen(key) : NULL;
}

static bool read_hex(const char *p, struct buf *out)
{
    for (; *p != '"'; p += 2) {
        char digits[3] = {p[0], p[0] ? p[1] : '\0', '\0'};
        char *end;
        long byte = strtol(digits, &end, 16);

        if (end != digits + 2)
            return false;
        buf_putc(out, (char)byte);
    }
    return true;
}

static bool read_ids(const char *p, struct tokens *out)
{
    struct error e;

    while (*p != ']') {
        char *end;
        token_id id = (token_id)strtol(p, &end, 10);

        if (end == p || tokens_append(out, &id, 1, &e) != OK)
            return false;
        p = end + strspn(end, ", ");
    }
    return true;
}

/* The text of a case comes first and may itself hold the name of a field, escaped: \"hex\". */
static bool read_case(const char *line, struct test_case *c)
{
    const char *hex = field(line, ", \"hex\": \"");
    const char *special = hex ? field(hex, "\"parse_special\": ") : NULL;
    const char *ids = special ? field(special, "\"ids\": [") : NULL;

    buf_clear(&c->text);
    c->ids.n = 0;
    if (!ids)
        return false;
    c->mode = strncmp(special, "true", 4) == 0 ? TOKENIZE_SPECIAL : TOKENIZE_PLAIN;
    return read_hex(hex, &c->text) && read_ids(ids, &c->ids);
}

static void print_ids(const char *label, const struct tokens *t)
{
    printf("  %s", label);
    for (size_t i = 0; i < t->n; i++)
        printf(" %d", t->ids[i]);
    printf("\n");
}

/* Ids as they should be, and back to the text. */
static bool run_case(const struct tokenizer *t, const struct test_case *c, size_t line)
{
    struct tokens ids = {0};
    struct buf back = BUF_INIT(1 << 26);
    struct error e = {OK, "ids differ"};
    bool good = tokenizer_encode(t, buf_str(&c->text), c->text.len, c->mode, &ids, &e) == OK;

    good = good && ids.n == c->ids.n &&
           (ids.n == 0 || memcmp(ids.ids, c->ids.ids, ids.n * sizeof(*ids.ids)) == 0);
    if (!good) {
        printf("  line %zu: %s\n", line, e.message);
        print_ids("got: ", &ids);
        print_ids("want:", &c->ids);
    } else if (tokenizer_decode(t, ids.ids, ids.n, &back, &e) != OK || back.len != c->text.len ||
               memcmp(buf_str(&back), buf_str(&c->text), back.len)) {
        printf("  line %zu: does not decode to the text\n", line);
        good = false;
    }
    tokens_release(&ids);
    buf_release(&back);
    return good;
}

static size_t run_cases(const struct tokenizer *t, const struct buf *cases, size_t *n_bad)
{
    struct test_case c = {BUF_INIT(1 << 26), {0}, TOKENIZE_PLAIN};
    size_t line_number = 0;

    for (char *line = cases->data, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            break;
        *end = '\0';
        line_number++;
        if (!read_case(line, &c)) {
            printf("  line %zu: not a case\n", line_number);
            ++*n_bad;
        } else if (!run_case(t, &c, line_number)) {
            ++*n_bad;
        }
    }
    buf_release(&c.text);
    tokens_release(&c.ids);
    return line_number;
}

static bool run_vocabulary(const char *folder, const char *name)
{
    struct buf path = BUF_INIT(4096);
    struct buf cases = BUF_INIT(1 << 26);
    struct gguf *g = NULL;
    struct tokenizer *t = NULL;
    struct error e = {OK, ""};
    size_t n_bad = 0;
    size_t n = 0;

    buf_printf(&path, "%s/tokenizers/%s.gguf", folder, name);
    if (gguf_open(&g, buf_str(&path), &e) == OK && tokenizer_from_gguf(&t, g, &e) == OK) {
        buf_clear(&path);
        buf_printf(&path, "%s/tokenizers/%s.jsonl", folder, name);
        if (os_read_file(&cases, buf_str(&path), &e) == OK)
            n = run_cases(t, &cases, &n_bad);
    }
    if (n == 0)
        printf("tokenizer %s: no cases: %s\n", name, e.message);
    else
        printf("tokenizer %s: %zu of %zu cases right\n", name, n - n_bad, n);
    tokenizer_free(t);
    gguf_close(g);
    buf_release(&cases);
    buf_release(&path);
    return n > 0 && n_bad == 0;
}

int main(int argc, char **argv)
{
    bool good = true;

    if (argc != 2) {
        fprintf(stderr, "usage: conform_tokenizer FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        good = run_vocabulary(argv[1], names[i]) && good;
    return good ? 0 : 1;
}
