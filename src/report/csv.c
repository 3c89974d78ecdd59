#include "needlegrid/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void csv_field(struct buf *out, const char *text)
{
    size_t n = strlen(text);

    if (!strpbrk(text, ",\"\r\n") && (n == 0 || (text[0] != ' ' && text[n - 1] != ' '))) {
        buf_append(out, text, n);
        return;
    }
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_putc(out, '"');
}

/* A comma and the field; NULL gives an empty one. */
static void next_field(struct buf *out, const char *text)
{
    buf_putc(out, ',');
    if (text)
        csv_field(out, text);
}

/* The shortest decimal that reads back as the same number. */
static void put_number(struct buf *out, double value)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_puts(out, text);
}

static void next_number(struct buf *out, double value)
{
    buf_putc(out, ',');
    if (!isnan(value))
        put_number(out, value);
}

void csv_trial_header(struct buf *out)
{
    buf_puts(out, "run_id,model,rule,task,context_length,prompt_tokens,target_depth,actual_depth,"
                  "sample,seed,expected,response,outcome,score,logprob,finish_reason,latency_ms,"
                  "trial_id,rule_detail,prompt,haystack,needle_key,scorer,worst_rank,pair_key\n");
}

void csv_trial_row(struct buf *out, const struct trial_row *row)
{
    const struct trial_record *t = &row->trial;

    buf_printf(out, "%" PRId64, row->run_id);
    next_field(out, row->model_name);
    next_field(out, row->rule);
    next_field(out, row->task);
    buf_printf(out, ",%" PRId64 ",%" PRId64, t->context_length, t->prompt_tokens);
    next_number(out, t->target_depth);
    next_number(out, t->actual_depth);
    buf_printf(out, ",%" PRId64 ",%" PRIu64, t->sample, t->seed);
    next_field(out, t->expected);
    next_field(out, t->response);
    next_field(out, t->outcome);
    next_number(out, t->score);
    if (t->has_logprob)
        next_number(out, t->logprob);
    else
        next_field(out, NULL);
    next_field(out, t->finish_reason);
    buf_printf(out, ",%.3f,%" PRId64, t->latency_ms, row->trial_id);
    next_field(out, row->rule_detail);
    next_field(out, row->template_name);
    next_field(out, t->haystack_name);
    next_field(out, t->needle_key);
    next_field(out, t->scorer);
    if (t->has_logprob)
        buf_printf(out, ",%" PRId64, t->worst_rank);
    else
        next_field(out, NULL);
    next_field(out, t->pair_key);
    buf_putc(out, '\n');
}

void csv_grid(struct buf *out, const struct grid *g)
{
    buf_puts(out, "depth");
    for (size_t j = 0; j < g->n_lengths; j++)
        buf_printf(out, ",%" PRId64, g->lengths[j]);
    buf_putc(out, '\n');
    for (size_t i = 0; i < g->n_depths; i++) {
        if (!isnan(g->depths[i])) /* tasks without one: empty */
            put_number(out, g->depths[i]);
        for (size_t j = 0; j < g->n_lengths; j++) {
            double accuracy = grid_accuracy(grid_at(g, i, j));
            if (isnan(accuracy))
                next_field(out, NULL);
            else
                next_number(out, 100 * accuracy);
        }
        buf_putc(out, '\n');
    }
}
