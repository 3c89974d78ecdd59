/*
 * An independent float64 transformer for tests: the llama architecture and the SSMax rules written
 * down from the papers' formulas with plain loops. It shares no code with the engine but the GGUF
 * reader. Weights F32, F16, BF16; linear rope scaling.
 */
#ifndef NEEDLEGRID_TEST_REFERENCE_H
#define NEEDLEGRID_TEST_REFERENCE_H

#include "needlegrid/gguf.h"

#include <stddef.h>
#include <stdint.h>

/* logits [n_logits, n_vocab] of the last n_logits of n tokens; aborts on anything unexpected. */
void reference_logits(const struct gguf *g, const int32_t *tokens, size_t n, size_t n_logits,
                      double *logits);

/*
 * The attention weights [n_layer, n_head, n] of the last of n tokens, by the same plain formulas.
 */
void reference_attention(const struct gguf *g, const int32_t *tokens, size_t n, double *weights);

#endif
