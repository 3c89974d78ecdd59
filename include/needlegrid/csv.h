/*
 * CSV (RFC 4180, but lines end in LF alone; quoted where needed).
 */
#ifndef NEEDLEGRID_CSV_H
#define NEEDLEGRID_CSV_H

#include "needlegrid/buf.h"
#include "needlegrid/grid.h"
#include "needlegrid/store_read.h"

/* One field, quoted if it holds a comma, quote, CR, LF or leading or trailing space. */
void csv_field(struct buf *out, const char *text);

/*
 * One row a trial: run_id, model, rule, task, context_length, prompt_tokens, target_depth,
 * actual_depth, sample, seed, expected, response, outcome, score, logprob, finish_reason,
 * latency_ms; and behind these trial_id, rule_detail, prompt, haystack, needle_key, scorer,
 * worst_rank, pair_key. Numbers have as few digits as read back the same; no value is an empty
 * field.
 */
void csv_trial_header(struct buf *out);
void csv_trial_row(struct buf *out, const struct trial_row *row);

/* Rows depth, columns length, mean score in percent; a missing cell is empty. */
void csv_grid(struct buf *out, const struct grid *g);

#endif
