#include "pretokenize_impl.h"

#include "needlegrid/buf.h"

/*
 * Unicode's White_Space property. Not \s, which in PCRE2 has U+180E too, a space only before
 * Unicode 6.3 and none to the libraries that the vocabularies were made with.
 */
#define SPACES                                                                                     \
    "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"       \
    "\\x{3000}"
#define SPACE "[" SPACES "]"
#define NO_SPACE "[^" SPACES "]"

/* Digits in groups of at most `digits`, letters with at most one other character before them. */
#define CL100K(digits)                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits "| ?[^" SPACES      \
    "\\p{L}\\p{N}]+[\\r\\n]*|" SPACE "*[\\r\\n]+|" SPACE "+(?!" NO_SPACE ")|" SPACE "+"

/*
 * Characters that came after the Unicode version of the PCRE2 in use (14 in 10.40 to 10.42) are
 * neither letters nor digits to it. Encodings then differ from those of newer tables, for these
 * alone, and still decode exactly.
 *
 * Patterns: https://github.com/openai/gpt-2/blob/master/src/encoder.py, and the tokenizer.json of
 * Llama 3 and Qwen 2. What adds BOS by default: llama.cpp, src/llama-vocab.cpp.
 */
static const struct {
    const char *name;
    bool ignore_merges;
    bool adds_bos;
    const char *pattern;
} known[] = {
    {"gpt-2", false, false,
     "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACES "\\p{L}\\p{N}]+|" SPACE
     "+(?!" NO_SPACE ")|" SPACE "+"},
    {"llama-bpe", true, true, CL100K("{1,3}")},
    {"qwen2", false, false, CL100K("")},
};

enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

static enum status unknown(struct str name, struct error *e)
{
    struct buf names = BUF_INIT(1000);

    for (size_t i = 0; i < N_KNOWN; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", known[i].name);
    error_set(e, ERR_UNSUPPORTED, "pre-tokenizer \"%.*s\" is not supported yet; supported: %s",
              name.n < 100 ? (int)name.n : 100, name.p, buf_str(&names));
    buf_release(&names);
    return ERR_UNSUPPORTED;
}

enum status pretokenizer_init(struct pretokenizer *p, struct str name, struct error *e)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (str_eq(name, known[i].name)) {
            p->name = known[i].name;
            p->ignore_merges = known[i].ignore_merges;
            p->adds_bos = known[i].adds_bos;
            return regex_compile(&p->regex, known[i].pattern, e);
        }
    return unknown(name, e);
}

void pretokenizer_release(struct pretokenizer *p)
{
    regex_free(p->regex);
    p->regex = NULL;
}

enum status pretokenizer_next(const struct pretokenizer *p, const char *text, size_t n,
                              size_t start, size_t *end, struct error *e)
{
    size_t from = start;
    size_t to = n;
    bool found;
    enum status status = regex_search(p->regex, text, n, start, &found, &from, &to, e);

    if (status != OK)
        return status;
    /* Text that the pattern does not cover is a pre-token of its own; it covers all today. */
    *end = !found ? n : from > start ? from : to;
    return OK;
}
