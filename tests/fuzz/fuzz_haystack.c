/*
 * Any bytes as a haystack, from the repository root: what is taken must give prompts within their
 * budget whose text is valid UTF-8. The first two bytes choose length and depth.
 */
#include "needlegrid/trial.h"
#include "needlegrid/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct loaded {
    struct tokenizer *t;
    struct prompt_template *tpl;
};

/* One key, so that a builder is made quickly. */
static const char template_text[] =
    "{\"task\": \"t\", \"description\": \"d\", \"needle\": \" {key}: {value}.\","
    " \"question\": \" {key}?\", \"answer_prefix\": \" It is \", \"value\": {\"digits\": 3},"
    " \"scorer\": \"number\", \"stop\": [], \"max_tokens\": 5, \"keys\": [\"Ulm\"]}";

static struct loaded load(void)
{
    struct loaded l;
    struct gguf *g = NULL;
    struct error e;

    if (gguf_open(&g, "models/tiny-ssmax.gguf", &e) != OK ||
        tokenizer_from_gguf(&l.t, g, &e) != OK ||
        template_parse(&l.tpl, template_text, strlen(template_text), "fuzz.json", &e) != OK) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    gguf_close(g);
    return l;
}

static void check(const struct loaded *l, const struct trial *trial)
{
    struct buf text = BUF_INIT(1 << 24);
    struct error e;

    if (trial->prompt.n + trial->max_tokens > trial->spec.context_length ||
        !(trial->actual_depth >= 0 && trial->actual_depth <= 100) ||
        tokenizer_decode(l->t, trial->prompt.ids, trial->prompt.n, &text, &e) != OK ||
        utf8_invalid_at(buf_str(&text), text.len) != text.len)
        abort();
    buf_clear(&text);
    if (trial_excerpt(trial, l->t, 40, &text, &e) != OK ||
        utf8_invalid_at(buf_str(&text), text.len) != text.len)
        abort();
    buf_release(&text);
}

static void build(const struct loaded *l, struct haystack_tokens *ht, uint8_t length, uint8_t depth)
{
    struct trial_spec spec = {30 + (size_t)length * 8, depth % 101, depth, length};
    struct trial_builder *b = NULL;
    struct trial trial = {0};
    struct error e;

    if (trial_builder_new(&b, l->tpl, NULL, ht, l->t, &e) == OK &&
        trial_build(b, &spec, &trial, &e) == OK)
        check(l, &trial);
    trial_release(&trial);
    trial_builder_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct loaded l; /* loaded once: both are read-only */
    struct haystack *h = NULL;
    struct haystack_tokens *ht = NULL;
    struct haystack_tokens *shuffled = NULL;
    struct error e;

    if (size < 2)
        return 0;
    if (!l.t)
        l = load();
    if (haystack_from_text(&h, "fuzz", (const char *)data + 2, size - 2, &e) != OK)
        return 0;
    if (haystack_tokenize(&ht, h, l.t, &e) != OK || haystack_shuffled(&shuffled, ht, &e) != OK)
        abort();
    build(&l, ht, data[0], data[1]);
    build(&l, shuffled, data[0], data[1]);
    haystack_tokens_free(shuffled);
    haystack_tokens_free(ht);
    haystack_free(h);
    return 0;
}
