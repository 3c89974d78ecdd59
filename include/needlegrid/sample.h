/*
 * Reading logits: the most probable token, a token's log-probability and its rank.
 */
#ifndef NEEDLEGRID_SAMPLE_H
#define NEEDLEGRID_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* The index of the largest of n logits; the lowest on a tie, so that the answer is the same
 * everywhere. */
size_t sample_greedy(const float *logits, size_t n);

/* ln softmax(logits)[i], summed in double. */
double sample_logprob(const float *logits, size_t n, int32_t i);

/* 1 + how many logits are larger than logits[i] (or equal and earlier): 1 = sample_greedy(). */
int64_t sample_rank(const float *logits, size_t n, int32_t i);

#endif
