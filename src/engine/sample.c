#include "needlegrid/sample.h"

#include <math.h>

size_t sample_greedy(const float *logits, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

double sample_logprob(const float *logits, size_t n, int32_t i)
{
    size_t best = sample_greedy(logits, n);
    double max = (double)logits[best];
    double sum = 1; /* of e^(logit - max): the largest itself, and the others */

    for (size_t j = 0; j < n; j++) {
        if (j != best)
            sum += exp((double)logits[j] - max);
    }
    return (double)logits[i] - max - log(sum);
}

int64_t sample_rank(const float *logits, size_t n, int32_t i)
{
    int64_t rank = 1;

    for (size_t j = 0; j < n; j++)
        rank += logits[j] > logits[i] || (logits[j] == logits[i] && (int32_t)j < i);
    return rank;
}
