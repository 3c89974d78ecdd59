/*
 * Any bytes as a prompt template, from the repository root. What is taken must draw and fill
 * without a field left over, and give prompts within their budget or an error that says why not.
 */
#include "needlegrid/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(const struct prompt_template *t, size_t seed)
{
    struct buf out = BUF_INIT(1 << 24);
    struct buf key = BUF_INIT(1 << 24);
    struct buf value = BUF_INIT(1 << 24);
    struct filling f = {.index = 1};
    struct rng r = rng_make(seed, "fuzz", 0);

    if (t->value.kind != GENERATE_LIST || t->value.n_list > 0)
        generator_draw(&t->value, &r, &value);
    generator_draw(&t->keys, &r, &key);
    f.key = f.previous = buf_str(&key);
    f.value = buf_str(&value);
    for (size_t i = 0; i < t->n_needles; i++)
        template_fill(&out, t, t->needles[i], &f);
    if (t->hop)
        template_fill(&out, t, t->hop, &f);
    template_fill(&out, t, t->question, &f);
    template_fill(&out, t, t->answer_prefix, &f);
    /* fields of its own are not filled here */
    if (t->n_fields == 0 && strchr(buf_str(&out), '{'))
        abort();
    buf_release(&out);
    buf_release(&key);
    buf_release(&value);
}

struct loaded {
    struct tokenizer *t;
    struct haystack *h;
    struct haystack_tokens *ht;
};

static struct loaded load(void)
{
    static const char text[] =
        "The mill stood by the weir. Nobody had been there since spring, and "
        "the wheel was still. \"Is it broken?\" asked the carter.";
    struct loaded l;
    struct gguf *g = NULL;
    struct error e;

    if (gguf_open(&g, "models/tiny-ssmax.gguf", &e) != OK ||
        tokenizer_from_gguf(&l.t, g, &e) != OK ||
        haystack_from_text(&l.h, "mill", text, strlen(text), &e) != OK ||
        haystack_tokenize(&l.ht, l.h, l.t, &e) != OK) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    gguf_close(g);
    return l;
}

static void build(const struct loaded *l, const struct prompt_template *t, size_t seed)
{
    struct trial_spec spec = {(size_t)t->max_tokens + 600, 50, seed, seed};
    struct trial_builder *b = NULL;
    struct trial trial = {.key = NULL};
    struct error e = {OK, ""};

    if (trial_builder_new(&b, t, NULL, l->ht, l->t, &e) != OK ||
        trial_build(b, &spec, &trial, &e) != OK) {
        if (e.code == OK || e.message[0] == '\0')
            abort();
    } else if (trial.prompt.n + trial.max_tokens > spec.context_length ||
               trial.n_expected < (size_t)!trial.absent) {
        abort();
    }
    trial_release(&trial);
    trial_builder_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct loaded l; /* loaded once */
    struct prompt_template *t;
    struct error e = {OK, ""};

    if (!l.t)
        l = load();
    if (template_parse(&t, (const char *)data, size, "fuzz.json", &e) != OK) {
        if (t || e.code == OK || e.message[0] == '\0')
            abort();
        return 0;
    }
    fill(t, size);
    if ((t->queries + t->distractors) * t->values * t->n_needles + t->chains * t->hops < 100)
        build(&l, t, size);
    template_free(t);
    return 0;
}
