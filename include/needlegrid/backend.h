/*
 * Backends: whatever turns a prompt into an answer.
 *
 * The runner sees this table alone; it never sees a tensor. One backend serves one thread.
 *
 *     struct backend *b;
 *     if (embedded_open(&b, &options, e) != OK) ...
 *     if (backend_prepare(b, longest_context, e) != OK) ...
 *     struct completion c = {.text = BUF_INIT(1 << 20)};
 *     if (backend_complete(b, &request, &c, e) != OK) ...
 *     buf_release(&c.text);
 *     backend_close(b);
 */
#ifndef NEEDLEGRID_BACKEND_H
#define NEEDLEGRID_BACKEND_H

#include "needlegrid/buf.h"
#include "needlegrid/error.h"
#include "needlegrid/span.h"
#include "needlegrid/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What identifies the thing under test; strings are borrowed from the backend. */
struct backend_info {
    const char *kind; /* "embedded" */
    const char *model_path;
    const char *model_name;  /* general.name, or the file's name */
    const char *model_hash;  /* SHA-256 of the file */
    const char *rule;        /* attention rule as run; NULL before backend_prepare() */
    const char *rule_detail; /* where its scales came from, and rope overrides; likewise */
    const char *isa;         /* instruction set */
    int numerics;            /* revision of the arithmetic */
    size_t training_length;  /* tokens; 0 if unknown */
    const struct tokenizer *tokenizer;
};

struct completion_request {
    const token_id *prompt; /* [n_prompt] */
    size_t n_prompt;
    size_t max_tokens;       /* the answer ends after so many */
    const char *const *stop; /* or where one of these n_stop strings begins */
    size_t n_stop;
    const token_id *answer;           /* [n_answer] the expected answer, for its log-probability */
    size_t n_answer;                  /* at most max_tokens; 0 = none wanted */
    const struct token_span *needles; /* [n_needles] what attention is looked for on; or NULL */
    size_t n_needles;
    const struct token_span *values; /* [n_values] the values alone, within the needles */
    size_t n_values;
};

/* How one head attends from the last token of the prompt. */
struct attention_score {
    size_t layer, head;
    double needle_mass; /* weight on all needles asked for */
    double value_mass;  /* weight on their values alone */
    double max;         /* the largest weight on any token */
    double entropy;     /* of the weights, nats */
};

struct completion {
    struct buf text;           /* the answer's bytes; appended to; caller releases */
    const char *finish_reason; /* "stop" or "length"; static */
    bool has_logprob;
    double logprob;     /* mean natural-log probability of the answer's tokens, teacher-forced */
    int64_t worst_rank; /* the largest of their ranks; 1 = each is the most probable */
    const struct attention_score *attention; /* [n_attention], layer by layer; borrowed until the */
    size_t n_attention;                      /* next completion; 0 if the request had no needles */
    uint64_t evaluated;                      /* tokens run through the model */
    uint64_t reused;                         /* tokens of the prompt found in the cache */
    double latency_ms;
};

struct backend;

/* Makes ready for prompts whose length and answer together are at most max_context tokens. */
NG_MUST_USE enum status backend_prepare(struct backend *b, size_t max_context, struct error *e);
NG_MUST_USE enum status backend_complete(struct backend *b, const struct completion_request *r,
                                         struct completion *out, struct error *e);
const struct backend_info *backend_info(const struct backend *b);
void backend_close(struct backend *b);

/* The engine in this program, on a GGUF file. */
struct embedded_options {
    const char *model_path;
    const char *attention; /* see attention_choice_parse() */
    const char *isa;       /* NULL = the fastest this CPU runs */
    size_t threads;        /* 0 = one per CPU */
    double rope_theta;     /* 0 = the model's own */
    double rope_scale;     /* 0 = the model's own */
    bool no_reuse;         /* evaluate each prompt from its first token */
};

/* Reads header and tokenizer; the weights wait for backend_prepare(). */
NG_MUST_USE enum status embedded_open(struct backend **out, const struct embedded_options *o,
                                      struct error *e);

#endif
