/*
 * Any bytes through the shipped model's tokenizer, from the repository root. The first byte chooses
 * the mode. Invalid UTF-8 must be an error, valid text must come back as it was.
 */
#include "needlegrid/tokenizer.h"
#include "needlegrid/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tokenizer *open_tokenizer(void)
{
    struct tokenizer *t = NULL;
    struct gguf *g = NULL;
    struct error e;

    if (gguf_open(&g, "models/tiny-ssmax.gguf", &e) != OK || tokenizer_from_gguf(&t, g, &e) != OK) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    gguf_close(g);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tokenizer *t; /* loaded once: it is read-only */
    enum tokenize mode = size && data[0] % 2 ? TOKENIZE_SPECIAL : TOKENIZE_PLAIN;
    const char *text = size ? (const char *)data + 1 : "";
    size_t n = size ? size - 1 : 0;
    struct tokens ids = {0};
    struct buf back = BUF_INIT(1 << 24);
    struct error e;
    enum status status;

    if (!t)
        t = open_tokenizer();
    status = tokenizer_encode(t, text, n, mode, &ids, &e);
    if (utf8_invalid_at(text, n) < n) {
        if (status != ERR_FORMAT || ids.n != 0)
            abort();
    } else if (status != OK || tokenizer_decode(t, ids.ids, ids.n, &back, &e) != OK ||
               back.len != n || (n && memcmp(back.data, text, n) != 0)) {
        abort();
    }
    tokens_release(&ids);
    buf_release(&back);
    return 0;
}
