/*
 * Attention on the needle, head by head: the paper's figures 7 and 8, and fading, its figure 1.
 *
 * A head's needle score is the attention that the prompt's last token pays to the needle's tokens,
 * summed (Nakanishi 2025, section 3.4). Stored by `run --attention-scores`.
 *
 *     struct heads h;
 *     struct heads_filter f = {.run_id = 2, .context_length = 4096};
 *     if (heads_load(&h, store, &f, e) != OK) ...
 *     heads_release(&h);
 */
#ifndef NEEDLEGRID_HEADS_H
#define NEEDLEGRID_HEADS_H

#include "needlegrid/error.h"
#include "needlegrid/store_attention.h"

#include <stddef.h>
#include <stdint.h>

struct heads_filter {
    int64_t run_id;
    int64_t trial_id;       /* 0 = all */
    int64_t context_length; /* tokens; 0 = all */
};

/* One head, means over the trials. */
struct head_mean {
    int layer, head;
    double needle_mass, value_mass, max, entropy; /* as struct attention_record */
};

/* One trial's head with the most attention on the needle. */
struct top_head {
    int64_t trial_id;
    int64_t context_length;
    double target_depth; /* percent or NaN */
    int64_t sample;
    char outcome[24];
    int layer, head;
    double needle_mass, value_mass;
};

/* The largest weight at one context length, means over trials. */
struct fading_row {
    int64_t context_length;
    size_t n_trials;
    double mean_max; /* over all heads */
    double top_max;  /* of the sharpest head of each trial */
};

struct heads {
    size_t n_trials;
    struct head_mean *heads; /* [n_heads], the highest needle score first */
    size_t n_heads;
    struct top_head *tops;     /* [n_trials], in the store's order */
    struct fading_row *fading; /* [n_fading], by context length */
    size_t n_fading;
};

/* ERR_NOT_FOUND, with the flag that stores them, if no trial that fits has attention scores. */
NG_MUST_USE enum status heads_load(struct heads *out, struct store *s,
                                   const struct heads_filter *filter, struct error *e);
void heads_release(struct heads *h);

/*
 * The largest output for n inputs of which one is `gap` above all others: e^gap / (e^gap + n - 1)
 * under Softmax, n^(s gap) / (n^(s gap) + n - 1) under SSMax (section 2, figure 1: gap 5, s 0.43).
 */
double fading_softmax(double n, double gap);
double fading_ssmax(double n, double gap, double s);

#endif
