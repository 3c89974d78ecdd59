#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trial_fixture.h"

#include "needlegrid/rng.h"
#include "needlegrid/utf8.h"

struct prompt_template *open_tokyo(void)
{
    struct prompt_template *t;
    struct error e;

    if (template_open(&t, "tokyo", "prompts", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

static enum status open_haystack(struct setup *s, const char *name, const char *text,
                                 const struct prompt_template *tpl, const struct trial_options *o,
                                 struct error *e)
{
    struct trial_options options = o ? *o : trial_options_of(tpl);

    if (text)
        return haystack_from_text(&s->h, name, text, strlen(text), e);
    if (strcmp(name, "needles") == 0)
        return haystack_of_needles(&s->h, tpl, trial_asked_keys(tpl, &options),
                                   trial_planted_keys(tpl, &options), e);
    return haystack_open(&s->h, name, "haystacks", e);
}

enum status setup_try(struct setup *s, const char *name, const char *text,
                      const struct prompt_template *tpl, const struct trial_options *o,
                      const struct tokenizer *t, struct error *e)
{
    *s = (struct setup){.h = NULL};
    if (template_has_haystack(tpl) && (open_haystack(s, name, text, tpl, o, e) != OK ||
                                       haystack_tokenize(&s->ht, s->h, t, e) != OK))
        return e->code;
    return trial_builder_new(&s->b, tpl, o, s->ht, t, e);
}

struct setup setup_open(const char *name, const char *text, const struct prompt_template *tpl,
                        const struct tokenizer *t)
{
    struct setup s;
    struct error e;

    if (setup_try(&s, name, text, tpl, NULL, t, &e) != OK)
        fail_msg("%s", e.message);
    return s;
}

struct prompt_template *parse_template(const char *text)
{
    struct prompt_template *t;
    struct error e;

    if (template_parse(&t, text, strlen(text), "test.json", &e) != OK)
        fail_msg("%s", e.message);
    return t;
}

void setup_close(struct setup *s)
{
    trial_builder_free(s->b);
    haystack_tokens_free(s->ht);
    haystack_free(s->h);
}

struct trial build_trial(struct trial_builder *b, size_t length, double depth, uint64_t sample,
                         uint64_t seed)
{
    struct trial_spec spec = {length, depth, sample, seed};
    struct trial t = {0};
    struct error e;

    if (trial_build(b, &spec, &t, &e) != OK)
        fail_msg("%zu tokens, depth %g, sample %llu, seed %llu: %s", length, depth,
                 (unsigned long long)sample, (unsigned long long)seed, e.message);
    return t;
}

void decode_ids(const struct tokenizer *t, const token_id *ids, size_t n, struct buf *out)
{
    struct error e;

    buf_clear(out);
    if (tokenizer_decode(t, ids, n, out, &e) != OK || buf_status(out, &e) != OK)
        fail_msg("%s", e.message);
}

size_t count_text(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

void write_mixed(struct buf *out)
{
    struct rng r = rng_make(1, "mixed", 0);
    char c[4];

    for (int i = 0; i < 30000; i++) {
        uint64_t kind = rng_below(&r, 500);
        if (kind == 0)
            buf_puts(out, "\xe3\x80\x82");
        else if (kind < 60)
            buf_puts(out, kind < 30 ? " " : ", ");
        else
            buf_append(out, c,
                       utf8_encode((kind % 2 ? 0x4e00 : 0xe0) + (uint32_t)rng_below(&r, 30), c));
    }
}
