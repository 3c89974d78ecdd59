/*
 * What the GGUF reader refuses, and that no cut or changed file makes it read outside. Files lie
 * in memory of their exact size, so that the sanitizers see a read past the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/gguf_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- helpers ---- */

static void expect_refused(const uint8_t *bytes, size_t n, enum status code, const char *part)
{
    struct gguf *g;
    struct error e;
    enum status status = gguf_open_memory(&g, bytes, n, "test.gguf", &e);

    if (status != code || e.code != code || strncmp(e.message, "test.gguf: ", 11) != 0 ||
        !strstr(e.message, part) || strchr(e.message, '\n'))
        fail_msg("wanted status %d and \"%s\", got %d: %s", code, part, status,
                 status == OK ? "opened" : e.message);
    assert_null(g);
}

/* Takes b over. */
static void expect_bad(struct gguf_build *b, enum status code, const char *part)
{
    size_t n;
    uint8_t *bytes = gguf_build_bytes(b, &n);

    gguf_build_release(b);
    expect_refused(bytes, n, code, part);
    free(bytes);
}

/* ---- what is refused ---- */

static void headers(void **state)
{
    static const uint32_t unsupported[] = {0, 1, 4, 1000};
    struct gguf_build b;

    (void)state;
    for (size_t i = 0; i < COUNT(unsupported); i++) {
        char part[40];

        gguf_build_init(&b);
        b.version = unsupported[i];
        snprintf(part, sizeof(part), "GGUF version %u, but", (unsigned)unsupported[i]);
        expect_bad(&b, ERR_UNSUPPORTED, part);
    }
    gguf_build_init(&b);
    b.version = 0x03000000;
    expect_bad(&b, ERR_UNSUPPORTED, "big-endian");
    expect_refused((const uint8_t *)"GGML\3\0\0\0", 8, ERR_FORMAT, "not a GGUF file");
    expect_refused(NULL, 0, ERR_FORMAT, "ends at 0");
}

static void counts_and_lengths_past_the_end(void **state)
{
    static const uint64_t many[] = {1, 1000, 1ull << 61, 1ull << 63, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT(many); i++) {
        struct gguf_build b;

        gguf_build_init(&b);
        b.n_tensors = many[i];
        expect_bad(&b, ERR_FORMAT, "tensors, more than fit");
        gguf_build_init(&b);
        b.n_keys = many[i];
        expect_bad(&b, ERR_FORMAT, "keys, more than fit");
        gguf_build_init(&b);
        gguf_build_key(&b, "s", GGUF_STRING);
        gguf_build_append_u64(&b.keys, many[i]);
        expect_bad(&b, ERR_FORMAT, "key 0 's' value needs");
        gguf_build_init(&b);
        gguf_build_append_u64(&b.keys, many[i] > 16 ? many[i] : 17);
        buf_puts(&b.keys, "0123456789abcdef");
        b.n_keys = 1;
        expect_bad(&b, ERR_FORMAT, "key 0 name needs");
        gguf_build_init(&b);
        gguf_build_array(&b, "a", GGUF_U64, NULL, many[i], 0);
        expect_bad(&b, ERR_FORMAT, "key 0 'a' claims");
        gguf_build_init(&b);
        gguf_build_array(&b, "a", GGUF_STRING, NULL, many[i], 0);
        expect_bad(&b, ERR_FORMAT, "key 0 'a' claims");
        gguf_build_init(&b);
        gguf_build_array(&b, "a", GGUF_STRING, (uint64_t[]){many[i]}, 1, 8);
        expect_bad(&b, ERR_FORMAT, "key 0 'a' value needs");
    }
}

static void types_of_keys(void **state)
{
    struct gguf_build b;

    (void)state;
    gguf_build_init(&b);
    gguf_build_key(&b, "k", 13);
    gguf_build_append_u64(&b.keys, 0);
    expect_bad(&b, ERR_FORMAT, "key 0 'k' has the unknown type 13");
    gguf_build_init(&b);
    gguf_build_key(&b, "k", UINT32_MAX);
    expect_bad(&b, ERR_FORMAT, "unknown type 4294967295");
    gguf_build_init(&b);
    gguf_build_array(&b, "k", GGUF_ARRAY, NULL, 0, 0);
    expect_bad(&b, ERR_UNSUPPORTED, "key 0 'k' is an array of arrays");
    gguf_build_init(&b);
    gguf_build_array(&b, "k", (enum gguf_type)13, NULL, 0, 0);
    expect_bad(&b, ERR_FORMAT, "key 0 'k' is an array of unknown type 13");
}

static void shapes_of_tensors(void **state)
{
    static const struct {
        uint32_t type;
        uint32_t n_dims;
        uint64_t dims[5];
        uint64_t offset;
        const char *part;
    } cases[] = {
        {0, 0, {0}, 0, "tensor 1 't' has 0 dimensions"},
        {0, 5, {1, 1, 1, 1, 1}, 0, "tensor 1 't' has 5 dimensions"},
        {0, UINT32_MAX, {1}, 0, "tensor 1 't' has 4294967295 dimensions"},
        {0, 1, {0}, 0, "a dimension of 0"},
        {0, 3, {4, 0, 4}, 0, "a dimension of 0"},
        {0, 1, {1ull << 63}, 0, "more than 2^63 values"},
        {0, 2, {1ull << 32, 1ull << 32}, 0, "more than 2^63 values"},
        {0, 4, {1ull << 16, 1ull << 16, 1ull << 16, 1ull << 16}, 0, "more than 2^63 values"},
        {99, 2, {1ull << 40, 1ull << 40}, 0, "more than 2^63 values"},
        {0, 1, {1ull << 62}, 0, "more than 2^64 bytes"},
        {8, 1, {33}, 0, "rows of 33 values, but Q8_0 comes in 32"},
        {12, 2, {32, 8}, 0, "rows of 32 values, but Q4_K comes in 256"},
        {0, 1, {5}, 0, "needs 20 bytes at offset 0 of the data"},
        {0, 1, {1}, 32, "needs 4 bytes at offset 32"},
        {0, 1, {1}, UINT64_MAX - 31, "needs 4 bytes at offset 18446744073709551584"},
        {0, 1, {1ull << 61}, 0, "needs 9223372036854775808 bytes"},
        {99, 1, {1}, 64, "needs 0 bytes at offset 64"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t n_dims = cases[i].n_dims;
        struct gguf_build b;

        gguf_build_init(&b);
        gguf_build_tensor(&b, "a", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                          sizeof(gguf_small_norm));
        gguf_build_append_str(&b.tensors, "t");
        gguf_build_append_u32(&b.tensors, n_dims);
        for (uint32_t d = 0; d < n_dims && d < 5; d++)
            gguf_build_append_u64(&b.tensors, cases[i].dims[d]);
        gguf_build_append_u32(&b.tensors, cases[i].type);
        gguf_build_append_u64(&b.tensors, cases[i].offset);
        b.n_tensors++;
        expect_bad(&b, ERR_FORMAT, cases[i].part);
    }
}

static void names_that_come_twice(void **state)
{
    struct gguf_build b;

    (void)state;
    gguf_build_init(&b);
    gguf_build_uint(&b, "twice", GGUF_U8, 1);
    gguf_build_uint(&b, "once", GGUF_U8, 1);
    gguf_build_uint(&b, "twice", GGUF_U8, 1);
    expect_bad(&b, ERR_FORMAT, "'twice' has the name of another one");
    gguf_build_init(&b);
    for (int i = 0; i < 2; i++)
        gguf_build_tensor(&b, "w", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                          sizeof(gguf_small_norm));
    expect_bad(&b, ERR_FORMAT, "'w' has the name of another one");
}

static void messages_stay_one_printable_line(void **state)
{
    struct gguf_build b;
    char name[200];

    (void)state;
    gguf_build_init(&b);
    gguf_build_key(&b, "a\nb\x1b[31m\xff", 77);
    expect_bad(&b, ERR_FORMAT, "key 0 'a?b?[31m?' has the unknown type 77");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    gguf_build_init(&b);
    gguf_build_key(&b, name, 77);
    expect_bad(&b, ERR_FORMAT, "xxx...' has the unknown type 77");
}

static void alignments(void **state)
{
    static const uint32_t bad[] = {0, 1, 4, 24, 33};
    struct gguf_build b;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        gguf_build_init(&b);
        gguf_build_uint(&b, "general.alignment", GGUF_U32, bad[i]);
        expect_bad(&b, ERR_FORMAT, "power of two from 8 on");
    }
    gguf_build_init(&b);
    gguf_build_string(&b, "general.alignment", "32");
    expect_bad(&b, ERR_FORMAT, "should be an integer");
    gguf_build_init(&b);
    gguf_build_tensor(&b, "a", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                      sizeof(gguf_small_norm));
    gguf_build_tensor_info(&b, "b", TENSOR_F32, 1, (uint64_t[]){1}, 4);
    expect_bad(&b, ERR_FORMAT, "tensor 1 'b' has the offset 4, not a multiple of the alignment 32");
}

/* ---- damage at every place ---- */

static void cut_at_each_byte(void **state)
{
    struct gguf_build b;
    size_t n;
    uint8_t *bytes;

    (void)state;
    gguf_build_small(&b);
    bytes = gguf_build_bytes(&b, &n);
    gguf_build_release(&b);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);

        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        expect_refused(copy, cut, ERR_FORMAT, "fetch it again");
        free(copy);
    }
    expect_refused(bytes, 30, ERR_FORMAT, "keys, more than fit in the 6 bytes from offset 24 on");
    expect_refused(bytes, 190, ERR_FORMAT, "key ");
    free(bytes);
}

static unsigned sum(const void *data, size_t n)
{
    const uint8_t *p = data;
    unsigned total = 0;

    for (size_t i = 0; i < n; i++)
        total += p[i];
    return total;
}

/* Reads all that a changed file still offers; views must lie within the file. */
static void read_everything(const struct gguf *g)
{
    struct gguf_array a;
    struct error e;
    struct str s;

    if (gguf_string(g, "general.architecture", &s, &e) == OK)
        assert_true(sum(s.p, s.n) <= 255 * s.n);
    if (gguf_array(g, "tokenizer.ggml.tokens", GGUF_STRING, &a, &e) == OK) {
        struct str *strings;

        assert_int_equal(gguf_array_strings(&a, &strings, &e), OK);
        for (size_t i = 0; i < a.n; i++)
            assert_true(sum(strings[i].p, strings[i].n) <= 255 * strings[i].n);
        free(strings);
    }
    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);

        assert_true(t->data || t->n_bytes == 0);
        assert_true(sum(t->data, t->n_bytes) <= 255 * t->n_bytes);
    }
}

static void each_byte_changed(void **state)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    struct gguf_build b;
    struct gguf *g;
    struct error e;
    size_t opened = 0;
    size_t n;
    uint8_t *bytes;

    (void)state;
    gguf_build_small(&b);
    bytes = gguf_build_bytes(&b, &n);
    gguf_build_release(&b);
    for (size_t i = 0; i < n * COUNT(masks); i++) {
        uint8_t mask = masks[i % COUNT(masks)];

        bytes[i / COUNT(masks)] ^= mask;
        if (gguf_open_memory(&g, bytes, n, "test.gguf", &e) == OK) {
            opened++;
            read_everything(g);
            gguf_close(g);
        }
        bytes[i / COUNT(masks)] ^= mask;
    }
    assert_in_range(opened, 1, n * COUNT(masks) - 1);
    free(bytes);
}

/* ---- seeds for the fuzzer ---- */

/* Cuts the file to `keep` bytes unless that is 0. */
static void write_seed(struct gguf_build *b, const char *folder, const char *name, size_t keep)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    gguf_build_write(b, path);
    gguf_build_release(b);
    if (keep && truncate(path, (off_t)keep) != 0)
        perror(path);
}

/* How the files in tests/fuzz/corpus/gguf were made. */
static void write_seeds(const char *folder)
{
    static const struct {
        enum gguf_type type;
        size_t size; /* bytes of an element */
    } arrays[] = {
        {GGUF_U8, 1},  {GGUF_I8, 1},   {GGUF_U16, 2}, {GGUF_I16, 2}, {GGUF_U32, 4}, {GGUF_I32, 4},
        {GGUF_F32, 4}, {GGUF_BOOL, 1}, {GGUF_U64, 8}, {GGUF_I64, 8}, {GGUF_F64, 8},
    };
    struct gguf_build b;

    gguf_build_init(&b);
    write_seed(&b, folder, "empty", 0);
    gguf_build_small(&b);
    write_seed(&b, folder, "small", 0);
    gguf_build_small(&b);
    b.version = 2;
    write_seed(&b, folder, "small-v2", 0);
    gguf_build_small(&b);
    write_seed(&b, folder, "cut-in-keys", 190);
    gguf_build_small(&b);
    write_seed(&b, folder, "cut-in-data", 700);
    gguf_build_init(&b);
    gguf_build_alignment(&b, 64);
    for (size_t i = 0; i < COUNT(arrays); i++) {
        char key[8];

        snprintf(key, sizeof(key), "a%zu", i);
        gguf_build_array(&b, key, arrays[i].type, gguf_small_norm, 1, arrays[i].size);
    }
    gguf_build_tensor(&b, "unknown", 99, 3, (uint64_t[]){2, 3, 4}, gguf_small_norm, 8);
    gguf_build_tensor(&b, "w", 39, 2, (uint64_t[]){32, 2}, gguf_small_quants, 34);
    write_seed(&b, folder, "arrays", 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(counts_and_lengths_past_the_end),
        cmocka_unit_test(types_of_keys),
        cmocka_unit_test(shapes_of_tensors),
        cmocka_unit_test(names_that_come_twice),
        cmocka_unit_test(messages_stay_one_printable_line),
        cmocka_unit_test(alignments),
        cmocka_unit_test(cut_at_each_byte),
        cmocka_unit_test(each_byte_changed),
    };

    if (argc == 3 && strcmp(argv[1], "--write-seeds") == 0) {
        write_seeds(argv[2]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
