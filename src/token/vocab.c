#include "vocab_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_MOVED = 256, /* bytes without a printable Latin-1 character follow from here, in order */
    N_MOVED = 68,
};

static bool keeps_its_place(uint32_t c)
{
    return (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff);
}

size_t vocab_write_byte(unsigned char byte, char out[4])
{
    uint32_t moved = FIRST_MOVED;

    if (keeps_its_place(byte))
        return utf8_encode(byte, out);
    for (uint32_t c = 0; c < byte; c++)
        if (!keeps_its_place(c))
            moved++;
    return utf8_encode(moved, out);
}

/* For each of the characters U+0000 to U+0143 the byte it stands for, or -1. */
static void list_bytes(int16_t byte_of[FIRST_MOVED + N_MOVED])
{
    int moved = FIRST_MOVED;

    for (int c = 0; c < FIRST_MOVED; c++)
        if (keeps_its_place((uint32_t)c)) {
            byte_of[c] = (int16_t)c;
        } else {
            byte_of[c] = -1;
            byte_of[moved++] = (int16_t)c;
        }
}

/* Writes the bytes a text stands for (never more than text.n); false if it is not byte-level. */
static bool read_bytes(const int16_t *byte_of, struct str text, char *out, size_t *n)
{
    size_t i = 0;

    *n = 0;
    while (i < text.n) {
        uint32_t c;
        size_t length = utf8_decode(text.p + i, text.n - i, &c);

        if (length == 0 || c >= FIRST_MOVED + N_MOVED || byte_of[c] < 0)
            return false;
        out[(*n)++] = (char)byte_of[c];
        i += length;
    }
    return text.n > 0;
}

enum status vocab_init(struct vocab *v, const struct str *texts, const uint8_t *types, size_t n,
                       struct error *e)
{
    static const char what[] = "the vocabulary";
    int16_t byte_of[FIRST_MOVED + N_MOVED];
    size_t total = 0;
    char *at;
    enum status status;

    for (size_t i = 0; i < n; i++)
        total += texts[i].n; /* parts of one file: cannot overflow */
    if ((status = mem_alloc(&v->bytes, what, e, n, sizeof(*v->bytes), 1, 1)) ||
        (status = mem_alloc(&v->types, what, e, n, 1, 1, 1)) ||
        (status = mem_alloc(&v->is_word, what, e, n, sizeof(*v->is_word), 1, 1)) ||
        (status = mem_alloc(&v->arena, what, e, total, 1, 1, 1)))
        return status;
    list_bytes(byte_of);
    v->n = n;
    memcpy(v->types, types, n);
    at = v->arena;
    for (size_t i = 0; i < n; i++) {
        bool as_written = types[i] == TOKEN_UNKNOWN || types[i] == TOKEN_CONTROL ||
                          types[i] == TOKEN_USER_DEFINED;
        size_t length = 0;

        v->is_word[i] = !as_written && read_bytes(byte_of, texts[i], at, &length);
        if (!v->is_word[i]) {
            length = texts[i].n;
            memcpy(at, texts[i].p, length);
        }
        v->bytes[i] = (struct str){at, length};
        at += length;
    }
    return OK;
}

void vocab_release(struct vocab *v)
{
    free(v->bytes);
    free(v->types);
    free(v->is_word);
    free(v->arena);
    *v = (struct vocab){0};
}
