/*
 * Logits of whole models against reference data: a folder with models/, quant/, ssmax/ and arch/
 * (NAME.gguf, NAME.json with prompt_ids and greedy_next, NAME.logits as float32 [n, n_vocab]).
 *
 * Usage: conform_logits FOLDER
 */
#include "needlegrid/json.h"
#include "needlegrid/os.h"
#include "needlegrid/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference {
    const char *model;  /* below FOLDER, without .gguf */
    const char *prompt; /* below FOLDER, without .json */
    const char *logits; /* below FOLDER */
    double nmse;        /* bounds */
    double max;
};

static const struct reference references[] = {
    {"models/stories260K", "models/stories260K", "models/stories260K.logits", 1e-9, 1e-3},
    {"quant/F32", "quant/prompt", "quant/F32.exact.logits", 1e-9, 1e-3},
    {"quant/F16", "quant/prompt", "quant/F16.exact.logits", 1e-9, 1e-3},
    {"quant/BF16", "quant/prompt", "quant/BF16.exact.logits", 1e-9, 1e-3},
    {"ssmax/softmax", "ssmax/softmax", "ssmax/softmax.logits", 1e-9, 1e-3},
    {"ssmax/ssmax", "ssmax/ssmax", "ssmax/ssmax.logits", 1e-9, 1e-3},
    {"ssmax/ssmax-bias", "ssmax/ssmax-bias", "ssmax/ssmax-bias.logits", 1e-9, 1e-3},
    {"arch/llama-gqa", "arch/llama-gqa", "arch/llama-gqa.logits", 1e-9, 1e-3},
    {"arch/llama-f16", "arch/llama-f16", "arch/llama-f16.exact.logits", 1e-9, 1e-3},
    {"arch/llama-rope-freqs", "arch/llama-rope-freqs", "arch/llama-rope-freqs.logits", 1e-9, 1e-3},
    {"arch/llama-rope-linear", "arch/llama-rope-linear", "arch/llama-rope-linear.logits", 1e-9,
     1e-3},
    {"arch/llama-tied", "arch/llama-tied", "arch/llama-tied.logits", 1e-9, 1e-3},
    {"arch/smollm-llama", "arch/smollm-llama", "arch/smollm-llama.logits", 1e-9, 1e-3},
};

static void die(const char *what, const struct error *e)
{
    fprintf(stderr, "conform_logits: %s: %s\n", what, e->message);
    exit(1);
}

/* The ids under `key`, into *out (caller frees); 0 if there are none. */
static size_t read_ids(const char *path, const char *key, int32_t **out)
{
    const struct json_node *list;
    struct json *doc;
    struct error e;
    size_t n = 0;

    if (json_open(&doc, path, &e) != OK)
        die(path, &e);
    list = json_member(json_root(doc), key);
    *out = calloc(65536, sizeof(**out));
    for (const struct json_node *i = list ? json_first(list) : NULL; i && n < 65536;
         i = json_next(i)) {
        int64_t id;
        if (json_int(doc, i, 0, INT32_MAX, &id, &e) != OK)
            die(path, &e);
        (*out)[n++] = (int32_t)id;
    }
    json_close(doc);
    return n;
}

static struct session *open_session(const char *path, const struct kernels *kernels,
                                    struct model **m, struct threads *threads)
{
    struct model_options o = {.kernels = kernels};
    struct session *s;
    struct gguf *g;
    struct error e;

    if (attention_choice_parse(&o.attention, "model", &e) != OK || gguf_open(&g, path, &e) != OK ||
        model_open(m, g, &o, &e) != OK || session_new(&s, *m, threads, 1024, &e) != OK)
        die(path, &e);
    gguf_close(g);
    return s;
}

static size_t argmax(const float *x, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static int compare(const struct reference *r, const struct kernels *kernels, const char *folder,
                   struct session *s, const int32_t *ids, size_t n, size_t n_vocab)
{
    double num = 0;
    double den = 0;
    double max = 0;
    struct os_map file;
    struct error e;
    char path[4096];
    int ok;

    snprintf(path, sizeof(path), "%s/%s", folder, r->logits);
    if (os_map_open(&file, path, &e) != OK)
        die(path, &e);
    if (file.size != n * n_vocab * sizeof(float)) {
        fprintf(stderr, "conform_logits: %s has %zu bytes\n", path, file.size);
        exit(1);
    }
    if (session_sync(s, ids, n, n, &e) != OK)
        die(path, &e);
    for (size_t i = 0; i < n * n_vocab; i++) {
        double b = (double)((const float *)(const void *)file.data)[i];
        double d = (double)session_logits(s, 0)[i] - b;
        num += d * d;
        den += b * b;
        max = fabs(d) > max ? fabs(d) : max;
    }
    os_map_close(&file);
    ok = num / den <= r->nmse && max <= r->max;
    printf("%-4s %-24s %-8s NMSE %.1e  max %.1e\n", ok ? "ok" : "FAIL", r->model, kernels->name,
           num / den, max);
    return ok;
}

/* Greedy continuation through the cache, one token at a time. */
static int follow(const struct reference *r, struct session *s, const int32_t *ids, size_t n,
                  const int32_t *next, size_t n_next, size_t n_vocab)
{
    int32_t *all = calloc(n + n_next + 1, sizeof(*all));
    struct error e;
    size_t same = 0;

    memcpy(all, ids, n * sizeof(*all));
    while (same < n_next) {
        if (session_sync(s, all, n + same, 1, &e) != OK)
            die(r->model, &e);
        all[n + same] = (int32_t)argmax(session_logits(s, 0), n_vocab);
        if (all[n + same] != next[same])
            break;
        same++;
    }
    free(all);
    if (same < n_next)
        printf("FAIL %-24s greedy: %zu of %zu tokens as the reference\n", r->model, same, n_next);
    return same == n_next;
}

static int check(const struct reference *r, const struct kernels *kernels, const char *folder,
                 struct threads *threads)
{
    char model_path[4096];
    char prompt_path[4096];
    struct session *s;
    struct model *m;
    int32_t *ids;
    int32_t *next;
    size_t n;
    size_t n_next;
    int ok;

    snprintf(model_path, sizeof(model_path), "%s/%s.gguf", folder, r->model);
    snprintf(prompt_path, sizeof(prompt_path), "%s/%s.json", folder, r->prompt);
    n = read_ids(prompt_path, "prompt_ids", &ids);
    n_next = read_ids(prompt_path, "greedy_next", &next);
    s = open_session(model_path, kernels, &m, threads);
    ok = compare(r, kernels, folder, s, ids, n, model_config(m)->n_vocab);
    ok = follow(r, s, ids, n, next, n_next, model_config(m)->n_vocab) && ok;
    session_free(s);
    model_free(m);
    free(ids);
    free(next);
    return ok;
}

int main(int argc, char **argv)
{
    const struct kernels *kernels[4];
    size_t n_kernels = kernels_available(kernels);
    struct threads *threads;
    struct error e;
    int passed = 0;
    int failed = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: conform_logits FOLDER\n");
        return 2;
    }
    if (threads_new(&threads, 2, &e) != OK)
        die("threads", &e);
    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        for (size_t k = 0; k < n_kernels; k++) {
            int ok = check(&references[i], kernels[k], argv[1], threads);
            passed += ok;
            failed += !ok;
        }
    }
    threads_free(threads);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
