/*
 * The attention that the last token of a prompt pays to the needle, by layer and head.
 *
 * It is written with its trial: trial_record.attention.
 */
#ifndef NEEDLEGRID_STORE_ATTENTION_H
#define NEEDLEGRID_STORE_ATTENTION_H

#include "needlegrid/store_read.h"

#include <stdbool.h>
#include <stdint.h>

struct attention_record {
    int layer, head;    /* from 0 */
    double needle_mass; /* share of the attention on the needle's tokens, 0 to 1 */
    double value_mass;  /* on its value's */
    double entropy;     /* nats */
    double max;         /* the largest weight */
};

struct attention_row {
    int64_t trial_id;
    int64_t run_id;
    int64_t context_length;
    int64_t prompt_tokens;
    double target_depth; /* percent or NaN */
    int64_t sample;
    const char *outcome; /* the trial's own */
    bool counted;
    struct attention_record a;
};

typedef enum status store_attention_fn(void *context, const struct attention_row *row,
                                       struct error *e);

/* In the order of store_each_trial(), then layer, head. filter->scorer is not looked at. */
NG_MUST_USE enum status store_each_attention(struct store *s, const struct trial_filter *filter,
                                             store_attention_fn *row, void *context,
                                             struct error *e);

#endif
