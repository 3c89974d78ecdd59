/*
 * The GGUF reader: keys, tensors, files. What it refuses is in test_gguf_hostile.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/gguf_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- helpers ---- */

/* An opened file in memory. */
struct opened {
    uint8_t *bytes;
    size_t n;
    struct gguf *g;
};

/* Takes b over. */
static struct opened open_built(struct gguf_build *b)
{
    struct opened o;
    struct error e;

    o.bytes = gguf_build_bytes(b, &o.n);
    gguf_build_release(b);
    if (gguf_open_memory(&o.g, o.bytes, o.n, "test.gguf", &e) != OK)
        fail_msg("%s", e.message);
    return o;
}

static void close_opened(struct opened *o)
{
    gguf_close(o->g);
    free(o->bytes);
}

static void expect_str(struct str s, const char *z)
{
    if (!str_eq(s, z))
        fail_msg("wanted \"%s\", got \"%.*s\"", z, (int)s.n, s.p);
}

/* ---- keys ---- */

static void integers_of_every_type(void **state)
{
    static const struct {
        enum gguf_type type;
        uint64_t value;
    } cases[] = {
        {GGUF_U8, 255},       {GGUF_I8, 127},         {GGUF_U16, 65535},      {GGUF_I16, 32767},
        {GGUF_U32, 1u << 31}, {GGUF_I32, 2147483647}, {GGUF_U64, UINT32_MAX}, {GGUF_I64, 0},
    };
    struct gguf_build b;
    struct opened o;
    struct error e;
    char key[8];

    (void)state;
    gguf_build_init(&b);
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(key, sizeof(key), "k%zu", i);
        gguf_build_uint(&b, key, cases[i].type, cases[i].value);
    }
    o = open_built(&b);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t v = 12345;

        snprintf(key, sizeof(key), "k%zu", i);
        assert_int_equal(gguf_u32(o.g, key, &v, &e), OK);
        assert_int_equal(v, cases[i].value);
    }
    close_opened(&o);
}

static void floats_booleans_and_strings(void **state)
{
    struct gguf_build b;
    struct opened o;
    struct error e;
    struct str s;
    float f;
    bool flag;

    (void)state;
    gguf_build_init(&b);
    gguf_build_f32(&b, "f32", 0.1f);
    gguf_build_f64(&b, "f64", 0.25);
    gguf_build_f64(&b, "infinite", (double)INFINITY);
    gguf_build_uint(&b, "yes", GGUF_BOOL, 1);
    gguf_build_uint(&b, "no", GGUF_BOOL, 0);
    gguf_build_string(&b, "text", "caf\xc3\xa9");
    gguf_build_string(&b, "empty", "");
    o = open_built(&b);
    assert_int_equal(gguf_f32(o.g, "f32", &f, &e), OK);
    assert_true(f == 0.1f);
    assert_int_equal(gguf_f32(o.g, "f64", &f, &e), OK);
    assert_true(f == 0.25f);
    assert_int_equal(gguf_f32(o.g, "infinite", &f, &e), OK);
    assert_true(isinf(f));
    assert_int_equal(gguf_bool(o.g, "yes", &flag, &e), OK);
    assert_true(flag);
    assert_int_equal(gguf_bool(o.g, "no", &flag, &e), OK);
    assert_false(flag);
    assert_int_equal(gguf_string(o.g, "text", &s, &e), OK);
    expect_str(s, "caf\xc3\xa9");
    assert_int_equal(gguf_string(o.g, "empty", &s, &e), OK);
    assert_int_equal(s.n, 0);
    close_opened(&o);
}

static void arrays(void **state)
{
    struct gguf_build b;
    struct gguf_array a;
    struct opened o;
    struct str *strings;
    struct error e;

    (void)state;
    gguf_build_small(&b);
    gguf_build_strings(&b, "none", NULL, 0);
    o = open_built(&b);
    assert_int_equal(gguf_array(o.g, "tokenizer.ggml.token_type", GGUF_I32, &a, &e), OK);
    assert_int_equal(a.n, 4);
    assert_int_equal(a.n_bytes, 16);
    assert_memory_equal(a.data, ((int32_t[]){3, 1, 1, -1}), 16);
    assert_int_equal(gguf_array(o.g, "tokenizer.ggml.tokens", GGUF_STRING, &a, &e), OK);
    assert_int_equal(a.n, 4);
    assert_int_equal(a.n_bytes, 4 * 8 + 3 + 0 + 3 + 2);
    assert_int_equal(gguf_array_strings(&a, &strings, &e), OK);
    expect_str(strings[0], "<s>");
    expect_str(strings[1], "");
    expect_str(strings[2], "the");
    expect_str(strings[3], "\xc3\xa9");
    free(strings);
    assert_int_equal(gguf_array(o.g, "none", GGUF_STRING, &a, &e), OK);
    assert_int_equal(a.n, 0);
    assert_int_equal(gguf_array_strings(&a, &strings, &e), OK);
    free(strings);
    assert_int_equal(gguf_key_count(o.g), 9);
    expect_str(gguf_key_at(o.g, 0), "general.architecture");
    expect_str(gguf_key_at(o.g, 8), "none");
    close_opened(&o);
}

static void optional_keys_keep_their_default(void **state)
{
    struct gguf_build b;
    struct opened o;
    struct error e;
    struct str s = {"default", 7};
    uint32_t u = 7;
    float f = 7;
    bool flag = true;

    (void)state;
    gguf_build_small(&b);
    o = open_built(&b);
    assert_int_equal(gguf_u32_opt(o.g, "missing", &u, &e), OK);
    assert_int_equal(gguf_f32_opt(o.g, "missing", &f, &e), OK);
    assert_int_equal(gguf_bool_opt(o.g, "missing", &flag, &e), OK);
    assert_int_equal(gguf_string_opt(o.g, "missing", &s, &e), OK);
    assert_int_equal(u, 7);
    assert_true(f == 7.0f);
    assert_true(flag);
    expect_str(s, "default");
    assert_int_equal(gguf_u32_opt(o.g, "llama.block_count", &u, &e), OK);
    assert_int_equal(gguf_f32_opt(o.g, "llama.rope.freq_base", &f, &e), OK);
    assert_int_equal(gguf_string_opt(o.g, "general.architecture", &s, &e), OK);
    assert_int_equal(u, 3);
    assert_true(f == 5e5f);
    expect_str(s, "llama");
    /* There, but of another type: not left as it was in silence. */
    assert_int_equal(gguf_bool_opt(o.g, "llama.block_count", &flag, &e), ERR_FORMAT);
    close_opened(&o);
}

static void getters_refuse(void **state)
{
    static const uint8_t flags[] = {0, 1, 2};
    struct gguf_build b;
    struct gguf_array a;
    struct opened o;
    struct error e;
    struct str s;
    uint32_t u;
    float f;
    bool flag;

    (void)state;
    gguf_build_small(&b);
    gguf_build_uint(&b, "negative", GGUF_I8, 0xff);
    gguf_build_uint(&b, "lowest", GGUF_I64, 1ull << 63);
    gguf_build_uint(&b, "large", GGUF_U64, 1ull << 32);
    gguf_build_f64(&b, "huge", 1e300);
    gguf_build_uint(&b, "maybe", GGUF_BOOL, 2);
    gguf_build_array(&b, "flags", GGUF_BOOL, flags, 3, 3);
    o = open_built(&b);
    assert_int_equal(gguf_u32(o.g, "llama.block", &u, &e), ERR_NOT_FOUND);
    assert_string_equal(e.message, "test.gguf: there is no key 'llama.block'");
    assert_int_equal(gguf_u32(o.g, "negative", &u, &e), ERR_FORMAT);
    assert_string_equal(e.message, "test.gguf: key 'negative' is negative");
    assert_int_equal(gguf_u32(o.g, "lowest", &u, &e), ERR_FORMAT);
    assert_int_equal(gguf_u32(o.g, "large", &u, &e), ERR_FORMAT);
    assert_string_equal(e.message, "test.gguf: key 'large' is 4294967296, which is too large");
    assert_int_equal(gguf_u32(o.g, "huge", &u, &e), ERR_FORMAT);
    assert_string_equal(e.message, "test.gguf: key 'huge' is F64, but it should be an integer");
    assert_int_equal(gguf_u32(o.g, "maybe", &u, &e), ERR_FORMAT);
    assert_int_equal(gguf_u32(o.g, "tokenizer.ggml.token_type", &u, &e), ERR_FORMAT);
    assert_int_equal(gguf_f32(o.g, "huge", &f, &e), ERR_FORMAT);
    assert_int_equal(gguf_f32(o.g, "llama.block_count", &f, &e), ERR_FORMAT);
    assert_int_equal(gguf_bool(o.g, "maybe", &flag, &e), ERR_FORMAT);
    assert_int_equal(gguf_bool(o.g, "flags", &flag, &e), ERR_FORMAT);
    assert_int_equal(gguf_string(o.g, "maybe", &s, &e), ERR_FORMAT);
    assert_int_equal(gguf_string(o.g, "tokenizer.ggml.tokens", &s, &e), ERR_FORMAT);
    assert_string_equal(e.message, "test.gguf: key 'tokenizer.ggml.tokens' is an array of STRING, "
                                   "but it should be STRING");
    assert_int_equal(gguf_array(o.g, "maybe", GGUF_BOOL, &a, &e), ERR_FORMAT);
    assert_int_equal(gguf_array(o.g, "flags", GGUF_U8, &a, &e), ERR_FORMAT);
    assert_int_equal(gguf_array(o.g, "flags", GGUF_BOOL, &a, &e), ERR_FORMAT);
    assert_string_equal(e.message, "test.gguf: key 'flags' holds a boolean of value 2, not 0 or 1");
    assert_int_equal(gguf_array(o.g, "missing", GGUF_U8, &a, &e), ERR_NOT_FOUND);
    assert_false(gguf_has(o.g, "flag"));
    assert_true(gguf_has(o.g, "flags"));
    close_opened(&o);
}

/* ---- tensors ---- */

static void tensors_with_data(void **state)
{
    const struct gguf_tensor *t;
    struct gguf_build b;
    struct opened o;
    char buffer[24];

    (void)state;
    gguf_build_small(&b);
    gguf_build_tensor_info(&b, "future", 99, 2, (uint64_t[]){5, 7}, 0);
    o = open_built(&b);
    assert_int_equal(gguf_version(o.g), 3);
    assert_int_equal(gguf_file_size(o.g), o.n);
    assert_string_equal(gguf_path(o.g), "test.gguf");
    assert_int_equal(gguf_tensor_count(o.g), 4);
    expect_str(gguf_tensor_at(o.g, 2)->name, "bias");
    t = gguf_tensor(o.g, "output_norm.weight");
    assert_ptr_equal(t, gguf_tensor_at(o.g, 0));
    assert_int_equal(t->n_bytes, sizeof(gguf_small_norm));
    assert_memory_equal(t->data, gguf_small_norm, sizeof(gguf_small_norm));
    t = gguf_tensor(o.g, "token_embd.weight");
    assert_non_null(t);
    assert_int_equal(t->n_dims, 2);
    assert_int_equal(t->dims[0], 32);
    assert_int_equal(t->dims[1], 2);
    assert_int_equal(t->dims[2], 1);
    assert_int_equal(t->dims[3], 1);
    assert_string_equal(gguf_tensor_type_name(t->type, buffer), "Q8_0");
    assert_int_equal(t->n_bytes, sizeof(gguf_small_quants));
    assert_memory_equal(t->data, gguf_small_quants, sizeof(gguf_small_quants));
    t = gguf_tensor(o.g, "future");
    assert_non_null(t);
    assert_null(t->data);
    assert_int_equal(t->n_bytes, 0);
    assert_string_equal(gguf_tensor_type_name(t->type, buffer), "type 99");
    gguf_forget(o.g, t);
    gguf_forget(o.g, gguf_tensor_at(o.g, 0)); /* not a map: nothing happens */
    assert_null(gguf_tensor(o.g, "token_embd"));
    assert_null(gguf_tensor(o.g, "token_embd.weight2"));
    close_opened(&o);
}

/* Bytes of one row of 256 values, from the bits a value that the formats are known by. */
static void every_tensor_type_has_its_size(void **state)
{
    static const struct {
        uint32_t type;
        const char *name;
        double bits;
    } cases[] = {
        {0, "F32", 32},         {1, "F16", 16},          {2, "Q4_0", 4.5},
        {3, "Q4_1", 5},         {6, "Q5_0", 5.5},        {7, "Q5_1", 6},
        {8, "Q8_0", 8.5},       {9, "Q8_1", 9},          {10, "Q2_K", 2.625},
        {11, "Q3_K", 3.4375},   {12, "Q4_K", 4.5},       {13, "Q5_K", 5.5},
        {14, "Q6_K", 6.5625},   {15, "Q8_K", 9.125},     {16, "IQ2_XXS", 2.0625},
        {17, "IQ2_XS", 2.3125}, {18, "IQ3_XXS", 3.0625}, {19, "IQ1_S", 1.5625},
        {20, "IQ4_NL", 4.5},    {21, "IQ3_S", 3.4375},   {22, "IQ2_S", 2.5625},
        {23, "IQ4_XS", 4.25},   {24, "I8", 8},           {25, "I16", 16},
        {26, "I32", 32},        {27, "I64", 64},         {28, "F64", 64},
        {29, "IQ1_M", 1.75},    {30, "BF16", 16},        {34, "TQ1_0", 1.6875},
        {35, "TQ2_0", 2.0625},  {39, "MXFP4", 4.25},
    };
    static const uint8_t zeros[2048];
    char buffer[24];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t bytes = (size_t)(256 * cases[i].bits / 8);
        struct gguf_build b;
        struct opened o;

        gguf_build_init(&b);
        gguf_build_tensor(&b, "t", cases[i].type, 1, (uint64_t[]){256}, zeros, bytes);
        o = open_built(&b);
        assert_int_equal(gguf_tensor_at(o.g, 0)->n_bytes, bytes);
        assert_string_equal(gguf_tensor_type_name(cases[i].type, buffer), cases[i].name);
        close_opened(&o);
    }
    assert_string_equal(gguf_tensor_type_name(4, buffer), "type 4"); /* withdrawn */
    assert_string_equal(gguf_tensor_type_name(UINT32_MAX, buffer), "type 4294967295");
}

static void alignment(void **state)
{
    struct gguf_build b;
    struct opened o;

    (void)state;
    gguf_build_init(&b);
    gguf_build_alignment(&b, 256);
    gguf_build_tensor(&b, "a", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                      sizeof(gguf_small_norm));
    gguf_build_tensor(&b, "b", TENSOR_F32, 1, (uint64_t[]){4}, gguf_small_norm,
                      sizeof(gguf_small_norm));
    o = open_built(&b);
    assert_ptr_equal(gguf_tensor(o.g, "a")->data, o.bytes + 256);
    assert_ptr_equal(gguf_tensor(o.g, "b")->data, o.bytes + 512);
    close_opened(&o);
}

static void version_2(void **state)
{
    struct gguf_build b;
    struct opened o;

    (void)state;
    gguf_build_small(&b);
    b.version = 2;
    o = open_built(&b);
    assert_int_equal(gguf_version(o.g), 2);
    assert_int_equal(gguf_tensor_count(o.g), 3);
    close_opened(&o);
}

/* ---- size, files ---- */

static void many_keys_and_tensors(void **state)
{
    enum { MANY = 200000 };
    struct gguf_build b;
    struct opened o;
    struct error e;
    char name[24];
    uint32_t v;

    (void)state;
    gguf_build_init(&b);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "k%u", i * 7919u % MANY);
        gguf_build_uint(&b, name, GGUF_U32, i);
        gguf_build_tensor_info(&b, name, TENSOR_F32, 1, (uint64_t[]){1}, 0);
    }
    buf_append(&b.data, gguf_small_norm, sizeof(gguf_small_norm));
    o = open_built(&b);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "k%u", i * 7919u % MANY);
        assert_int_equal(gguf_u32(o.g, name, &v, &e), OK);
        assert_int_equal(v, i);
        assert_ptr_equal(gguf_tensor(o.g, name), gguf_tensor_at(o.g, i));
    }
    assert_false(gguf_has(o.g, "k200000"));
    close_opened(&o);
}

static void files(void **state)
{
    char path[] = "/tmp/test_gguf_XXXXXX";
    const struct gguf_tensor *t;
    struct gguf_build b;
    struct gguf *g;
    struct error e;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(gguf_open(&g, path, &e), ERR_FORMAT); /* empty */
    assert_non_null(strstr(e.message, path));
    gguf_build_small(&b);
    gguf_build_write(&b, path);
    gguf_build_release(&b);
    assert_int_equal(gguf_open(&g, path, &e), OK);
    assert_string_equal(gguf_path(g), path);
    t = gguf_tensor(g, "token_embd.weight");
    assert_memory_equal(t->data, gguf_small_quants, sizeof(gguf_small_quants));
    gguf_close(g);
    unlink(path);
    assert_int_equal(gguf_open(&g, path, &e), ERR_IO);
    assert_null(g);
    assert_int_equal(gguf_open(&g, "/tmp", &e), ERR_IO);
    gguf_close(NULL);
}

static void shipped_model(void **state)
{
    const struct gguf_tensor *t;
    struct gguf *g;
    struct error e;
    struct str arch;
    uint32_t n_layer;
    char first[64];

    (void)state;
    if (gguf_open(&g, "models/tiny-ssmax.gguf", &e) != OK)
        fail_msg("%s (run from the top of the repository)", e.message);
    assert_int_equal(gguf_string(g, "general.architecture", &arch, &e), OK);
    expect_str(arch, "llama");
    assert_int_equal(gguf_u32(g, "llama.block_count", &n_layer, &e), OK);
    assert_int_equal(n_layer, 3);
    assert_int_equal(gguf_tensor_count(g), 32);
    t = gguf_tensor(g, "token_embd.weight");
    assert_non_null(t);
    assert_int_equal(t->dims[0], 96);
    assert_int_equal(t->dims[1], 1024);
    assert_int_equal(t->n_bytes, 96 * 1024 * 4);
    /* What was given back to the kernel is read from the file again. */
    memcpy(first, t->data, sizeof(first));
    gguf_forget(g, t);
    assert_memory_equal(t->data, first, sizeof(first));
    gguf_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_type),
        cmocka_unit_test(floats_booleans_and_strings),
        cmocka_unit_test(arrays),
        cmocka_unit_test(optional_keys_keep_their_default),
        cmocka_unit_test(getters_refuse),
        cmocka_unit_test(tensors_with_data),
        cmocka_unit_test(every_tensor_type_has_its_size),
        cmocka_unit_test(alignment),
        cmocka_unit_test(version_2),
        cmocka_unit_test(many_keys_and_tensors),
        cmocka_unit_test(files),
        cmocka_unit_test(shipped_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
