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
    double max = (double)logits[sample_greedy(logits, n)];
    double sum = 0;

    for (size_t j = 0; j < n; j++)
        sum += exp((double)logits[j] - max);
    return (double)logits[i] - max - log(sum);
}

int64_t sample_rank(const float *logits, size_t n, int32_t i)
{
    int64_t rank = 1;

    for (size_t j = 0; j < n; j++)
        rank += logits[j] > logits[i] || (logits[j] == logits[i] && (int32_t)j < i);
    return rank;
}
