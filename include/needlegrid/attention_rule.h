/*
 * Attention rules: by what a query is multiplied before the softmax.
 *
 * Scalable-Softmax (Nakanishi 2025, arXiv 2501.19399) replaces exp(z_i) / sum_j exp(z_j) by
 * n^(s z_i) / sum_j n^(s z_j). As n^(s z) = exp(s ln(n) z), it is ordinary softmax on a query
 * multiplied by s ln n, so one attention kernel serves every rule:
 *
 *     softmax       1
 *     ssmax         s_h ln n           s_h per layer and head, learned
 *     ssmax-fixed   s ln n             one s for all
 *     ssmax-bias    s_h ln n + b_h     per layer and head, learned
 *
 * n is the number of keys visible to that query: its absolute position + 1, never the length of a
 * chunk or the capacity of a cache.
 *
 *     struct attention_choice c;
 *     if (attention_choice_parse(&c, "ssmax:s=0.43", e) != OK) ...
 */
#ifndef NEEDLEGRID_ATTENTION_RULE_H
#define NEEDLEGRID_ATTENTION_RULE_H

#include "needlegrid/error.h"
#include "needlegrid/gguf.h"

#include <stdbool.h>
#include <stddef.h>

enum attention_kind {
    ATTENTION_SOFTMAX,
    ATTENTION_SSMAX,
    ATTENTION_SSMAX_FIXED,
    ATTENTION_SSMAX_BIAS,
};

const char *attention_kind_name(enum attention_kind kind);

/* What the user asked for. */
struct attention_choice {
    bool from_model; /* the model's own rule; the rest is unused */
    enum attention_kind kind;
    bool has_s, has_b; /* given by the user: for every layer and head, whatever the model holds */
    float s, b;
};

/* "model", or "RULE", "RULE:s=0.2", "RULE:s=0.2,b=0.1". */
NG_MUST_USE enum status attention_choice_parse(struct attention_choice *out, const char *text,
                                               struct error *e);

struct attention_rule {
    enum attention_kind kind;
    size_t n_layer, n_head;
    float *scale;     /* [n_layer, n_head] s; NULL for softmax */
    float *bias;      /* [n_layer, n_head] b; NULL but for ssmax-bias */
    char detail[160]; /* where s and b came from */
};

/*
 * Reads the rule of a model: key `ARCH.attention.rule`, tensors `blk.%d.attn_ssmax_scale.weight`
 * and `blk.%d.attn_ssmax_bias.weight` [n_head], key `ARCH.attention.ssmax_scale`. A rule forced on
 * a model that was not trained with it starts neutral: s = ssmax_neutral_scale(training length),
 * b = 0; where the training length is unknown (0), s must be given. The caller releases *out.
 */
NG_MUST_USE enum status attention_rule_load(struct attention_rule *out, const struct gguf *g,
                                            const struct attention_choice *choice, size_t n_layer,
                                            size_t n_head, size_t training_length, struct error *e);
void attention_rule_release(struct attention_rule *r);

/* The multiplier of a query that sees n keys; ln_n is ln(n), n >= 1. */
float attention_multiplier(const struct attention_rule *r, size_t layer, size_t head, double ln_n);

/*
 * 1 / mean of ln n over n = 1 .. length: s ln n averages 1, so the scale of logits is kept. The sum
 * of ln n is ln length! = lgamma(length + 1). 1 for a length under 2.
 */
double ssmax_neutral_scale(size_t length);

#endif
