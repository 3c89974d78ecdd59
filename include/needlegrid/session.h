/*
 * A session: one KV cache and the tokens in it.
 *
 * session_sync() takes the whole sequence each time, cuts the cache back to the prefix it shares
 * with what is there, and evaluates the rest. Nothing else has to be managed: a prompt, its
 * continuation token by token, and the next prompt are all just the next sequence.
 *
 * The logits of a position are the same bits whatever was cached, however the rest was cut into
 * chunks and however many threads worked.
 *
 *     struct session *s;
 *     if (session_new(&s, model, threads, 8192, e) != OK) ...
 *     if (session_sync(s, prompt, n, 1, e) != OK) ...
 *     const float *logits = session_logits(s, 0);
 *     session_free(s);
 */
#ifndef NEEDLEGRID_SESSION_H
#define NEEDLEGRID_SESSION_H

#include "needlegrid/error.h"
#include "needlegrid/model.h"
#include "needlegrid/span.h"
#include "needlegrid/threads.h"

#include <stddef.h>
#include <stdint.h>

struct session;

enum { SESSION_CHUNK = 512 }; /* tokens evaluated together in prefill */

/* `capacity`: tokens the cache can hold. Borrows model and threads until freed. */
NG_MUST_USE enum status session_new(struct session **out, const struct model *m,
                                    struct threads *threads, size_t capacity, struct error *e);
void session_free(struct session *s);

/*
 * Makes the cache hold tokens[0..n), 1 <= n <= capacity, and the logits of the last n_logits
 * positions readable, 1 <= n_logits <= n. A token out of range is an error; then, and on
 * Ctrl-C, the cache holds what was evaluated.
 */
NG_MUST_USE enum status session_sync(struct session *s, const int32_t *tokens, size_t n,
                                     size_t n_logits, struct error *e);

/*
 * Logits [n_vocab] of position n - n_logits + i of the last sync, 0 <= i < n_logits; borrowed
 * until the next sync.
 */
const float *session_logits(const struct session *s, size_t i);

/* Empties the cache. */
void session_forget(struct session *s);

/* Tokens per chunk from now on, 1 to SESSION_CHUNK; for tests. */
void session_set_chunk(struct session *s, size_t chunk);

struct session_counters {
    uint64_t evaluated; /* tokens run through the model since the session began */
    uint64_t reused;    /* tokens found in the cache */
};

struct session_counters session_counters(const struct session *s);

/* One head's attention from one position. */
struct head_attention {
    double max;     /* the largest weight */
    double entropy; /* of the weights, nats */
};

/* From the next sync on, keeps what session_attention() needs: one query per layer and head. */
NG_MUST_USE enum status session_watch_attention(struct session *s, struct error *e);

/*
 * The attention weights, summed over spans, from the first position whose logits the last sync gave
 * (the last token of a prompt, when an answer was evaluated behind it): heads [n_layer, n_head] and
 * mass [n_layer, n_head, n_spans], both the caller's. Weights are exp(z_j) / sum exp(z), z the
 * scaled logits under the model's rule, summed in double. ERR_USAGE if no sync was watched.
 */
NG_MUST_USE enum status session_attention(struct session *s, const struct token_span *spans,
                                          size_t n_spans, struct head_attention *heads,
                                          double *mass, struct error *e);

/* Bytes of KV cache per token for a model of these dimensions under these kernels. */
size_t session_bytes_per_token(const struct model_config *c, const struct kernels *kernels);

#endif
