/* A summary as JSON and CSV. */
#include "needlegrid/summary.h"

#include "needlegrid/csv.h"
#include "needlegrid/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shortest decimal that reads back as the same number; `none` for NaN. */
static void put_number(struct buf *out, double value, const char *none)
{
    char text[40];

    if (isnan(value)) {
        buf_puts(out, none);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_puts(out, text);
}

/* ---- JSON ---- */

static void put_text(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, ",\"%s\":", name);
    if (value)
        json_quote(out, value, strlen(value));
    else
        buf_puts(out, "null");
}

static void put_member(struct buf *out, const char *name, double value)
{
    buf_printf(out, ",\"%s\":", name);
    put_number(out, value, "null");
}

static void put_interval(struct buf *out, struct interval i)
{
    put_member(out, "low", i.low);
    put_member(out, "high", i.high);
}

/* The members of a line behind what names it. */
static void put_line(struct buf *out, const struct summary_line *l)
{
    put_member(out, "accuracy", l->accuracy);
    put_interval(out, l->interval);
    buf_printf(out, ",\"interval\":\"%s\",\"samples\":%zu,\"n\":%" PRId64,
               l->n == 0  ? "none"
               : l->alike ? "wilson-samples"
                          : "bootstrap",
               l->n_samples, l->n);
    put_member(out, "logprob", l->logprob);
}

static void put_length(struct buf *out, const struct summary *s, const char *name, size_t at)
{
    buf_printf(out, ",\"%s\":", name);
    if (at > 0)
        buf_printf(out, "%" PRId64, s->scores->lengths[at - 1]);
    else
        buf_puts(out, "null");
}

static void put_effective(struct buf *out, const struct summary *s, const char *name,
                          double threshold, const struct summary_effective *f)
{
    buf_printf(out, "\"%s\":{\"threshold\":", name);
    put_number(out, threshold, "null");
    put_length(out, s, "length", f->at);
    put_length(out, s, "low", f->low);
    put_length(out, s, "high", f->high);
    buf_printf(out, ",\"longest_tried\":%s}",
               f->at > 0 && f->at == s->scores->n_lengths ? "true" : "false");
}

static void put_worst(struct buf *out, const struct summary *s)
{
    const struct summary_cell *w = &s->worst;

    buf_puts(out, ",\"worst_cell\":");
    if (w->n == 0) {
        buf_puts(out, "null");
        return;
    }
    buf_printf(out, "{\"context_length\":%" PRId64, s->scores->lengths[w->length]);
    put_member(out, "depth", w->depth < s->scores->n_depths ? s->scores->depths[w->depth] : NAN);
    put_member(out, "accuracy", w->accuracy);
    put_interval(out, w->interval);
    buf_printf(out, ",\"n\":%" PRId64 ",\"others\":%zu}", w->n, w->others);
}

static void put_outcomes(struct buf *out, const struct summary *s, const char *name, bool counted)
{
    const char *separator = "";

    buf_printf(out, ",\"%s\":{", name);
    for (size_t i = 0; i < s->scores->n_outcomes; i++) {
        const struct outcome_count *o = &s->scores->outcomes[i];
        if (o->counted != counted)
            continue;
        buf_puts(out, separator);
        json_quote(out, o->name, strlen(o->name));
        buf_printf(out, ":%" PRId64, o->n);
        separator = ",";
    }
    buf_putc(out, '}');
}

static void put_run(struct buf *out, const struct summary *s)
{
    const struct scores *r = s->scores;

    buf_printf(out, "{\"run_id\":%" PRId64, r->run_id);
    put_text(out, "model", r->model);
    put_text(out, "rule", r->rule);
    put_text(out, "task", r->task);
    put_text(out, "prompt", r->template_name);
    put_text(out, "haystack", r->haystack);
    put_text(out, "scorer", r->scorer);
    put_member(out, "training_length", r->training_length > 0 ? (double)r->training_length : NAN);
    buf_printf(out,
               ",\"bootstrap\":{\"resamples\":%zu,\"seed\":\"%" PRIu64 "\",\"confidence\":0.95}",
               s->spec.resamples, s->spec.seed);
}

void summary_json(struct buf *out, const struct summary *s)
{
    const struct scores *r = s->scores;

    put_run(out, s);
    buf_puts(out, ",\"lengths\":[");
    for (size_t i = 0; i < r->n_lengths; i++) {
        buf_printf(out, "%s{\"context_length\":%" PRId64, i ? "," : "", r->lengths[i]);
        put_line(out, &s->lengths[i]);
        buf_putc(out, '}');
    }
    buf_puts(out, "],\"depths\":[");
    for (size_t i = 0; i < r->n_depths; i++) {
        buf_puts(out, i ? ",{\"depth\":" : "{\"depth\":");
        put_number(out, r->depths[i], "null");
        put_line(out, &s->depths[i]);
        buf_putc(out, '}');
    }
    buf_printf(out, "],\"overall\":{\"lengths\":%zu", r->n_lengths);
    put_line(out, &s->overall);
    buf_puts(out, "},\"effective_length\":{");
    put_effective(out, s, "absolute", s->spec.threshold, &s->absolute);
    buf_putc(out, ',');
    put_effective(out, s, "relative",
                  r->n_lengths > 0 ? s->spec.base_share * s->lengths[0].accuracy : NAN,
                  &s->relative);
    buf_putc(out, '}');
    put_worst(out, s);
    put_outcomes(out, s, "counted", true);
    put_outcomes(out, s, "not_counted", false);
    buf_putc(out, '}');
}

/* ---- CSV ---- */

void summary_csv_header(struct buf *out)
{
    buf_puts(out, "run_id,model,rule,task,scorer,scope,context_length,depth,accuracy,low,high,"
                  "interval,samples,n,logprob\n");
}

static void put_row(struct buf *out, const struct summary *s, const char *scope, int64_t length,
                    double depth, const struct summary_line *l)
{
    const struct scores *r = s->scores;
    const char *names[] = {r->model, r->rule, r->task, r->scorer ? r->scorer : "", scope};
    const double numbers[] = {depth, l->accuracy, l->interval.low, l->interval.high};

    buf_printf(out, "%" PRId64, r->run_id);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        buf_putc(out, ',');
        csv_field(out, names[i]);
    }
    buf_putc(out, ',');
    if (length > 0)
        buf_printf(out, "%" PRId64, length);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        buf_putc(out, ',');
        put_number(out, numbers[i], "");
    }
    buf_printf(out, ",%s,%zu,%" PRId64 ",",
               l->n == 0  ? ""
               : l->alike ? "wilson-samples"
                          : "bootstrap",
               l->n_samples, l->n);
    put_number(out, l->logprob, "");
    buf_putc(out, '\n');
}

void summary_csv(struct buf *out, const struct summary *s)
{
    for (size_t i = 0; i < s->scores->n_lengths; i++)
        put_row(out, s, "length", s->scores->lengths[i], NAN, &s->lengths[i]);
    for (size_t i = 0; i < s->scores->n_depths; i++)
        put_row(out, s, "depth", 0, s->scores->depths[i], &s->depths[i]);
    put_row(out, s, "overall", 0, NAN, &s->overall);
}
