/*
 * The engine of this program as a backend: greedy decoding, and the expected answer's
 * log-probability from the same cache.
 *
 * The expected answer is evaluated behind the prompt in one go (teacher forcing). Its logits serve
 * twice: for the log-probability, and as a draft of the answer - as long as the most probable token
 * is the expected one, the next logits are already there. Since the engine gives a position the
 * same bits in prefill and in decoding, the text is the one that decoding token by token gives.
 */
#include "backend_impl.h"

#include "needlegrid/hash.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/sample.h"
#include "needlegrid/session.h"
#include "needlegrid/threads.h"
#include "needlegrid/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reused from one completion to the next. */
struct watcher {
    struct attention_score *scores; /* [n_layer * n_head] */
    struct head_attention *heads;   /* the same */
    struct token_span *spans;       /* [n_spans] needles, then values */
    double *mass;                   /* [n_layer * n_head, n_spans] */
    size_t cap_scores, cap_heads, cap_spans, cap_mass;
};

struct embedded {
    struct backend base;
    struct gguf *gguf; /* closed once the weights are packed */
    struct tokenizer *tokenizer;
    struct model_options model_options;
    struct threads *threads;
    struct model *model;     /* NULL before prepare */
    struct session *session; /* likewise */
    bool no_reuse;
    struct tokens sequence; /* prompt and what follows it */
    struct watcher watcher; /* memory of attention scores */
    char *path;
    char name[MODEL_NAME_SIZE];
    struct os_stamp stamp; /* of the file when it was hashed */
    char hash[HASH_HEX_SIZE];
    char detail[256];
};

static void embedded_close(struct backend *b)
{
    struct embedded *m = (struct embedded *)b;

    session_free(m->session);
    model_free(m->model);
    threads_free(m->threads);
    tokenizer_free(m->tokenizer);
    gguf_close(m->gguf);
    tokens_release(&m->sequence);
    free(m->watcher.scores);
    free(m->watcher.heads);
    free(m->watcher.spans);
    free(m->watcher.mass);
    free(m->path);
    free(m);
}

/* The memory that the cache will take, against what there is: better now than at 90%. */
static enum status check_memory(const struct embedded *m, size_t max_context, struct error *e)
{
    double available = (double)os_memory_available();
    double cache =
        (double)session_bytes_per_token(model_config(m->model), m->model_options.kernels) *
        (double)max_context;

    if (available > 0 && cache > available)
        return error_set(e, ERR_NOMEM,
                         "%s: the KV cache of %zu tokens needs %.1f GiB, %.1f GiB are free: "
                         "shorten --context-lengths",
                         m->path, max_context, cache / 0x1p30, available / 0x1p30);
    return OK;
}

static void describe_rule(struct embedded *m)
{
    const struct attention_rule *r = model_rule(m->model);
    const struct model_config *c = model_config(m->model);
    size_t n;

    n = (size_t)snprintf(m->detail, sizeof(m->detail), "%s", r->detail);
    if (m->model_options.rope_theta > 0)
        n += (size_t)snprintf(m->detail + n, sizeof(m->detail) - n, "%srope theta %.17g",
                              n ? ", " : "", c->rope_theta);
    if (m->model_options.rope_scale > 0)
        snprintf(m->detail + n, sizeof(m->detail) - n, "%srope scale %.17g", n ? ", " : "",
                 c->rope_scale);
    m->base.info.rule = attention_kind_name(r->kind);
    m->base.info.rule_detail = m->detail;
}

/* The weights that were packed must be those that were hashed. */
static enum status check_unchanged(const struct embedded *m, struct error *e)
{
    struct os_stamp now;

    if (os_stamp_file(&now, m->path, e) != OK)
        return e->code;
    return os_stamp_equal(&now, &m->stamp)
               ? OK
               : error_set(e, ERR_IO, "%s changed since it was opened: start again", m->path);
}

static enum status embedded_prepare(struct backend *b, size_t max_context, struct error *e)
{
    struct embedded *m = (struct embedded *)b;

    if (!m->model &&
        (check_unchanged(m, e) != OK ||
         model_open(&m->model, m->gguf, &m->model_options, e) != OK || check_unchanged(m, e) != OK))
        return e->code;
    gguf_close(m->gguf);
    m->gguf = NULL;
    if (model_config(m->model)->n_vocab < tokenizer_size(m->tokenizer))
        return error_set(e, ERR_FORMAT, "%s: %zu tokens in the tokenizer, %zu in the model",
                         m->path, tokenizer_size(m->tokenizer), model_config(m->model)->n_vocab);
    describe_rule(m);
    session_free(m->session);
    m->session = NULL;
    if (check_memory(m, max_context, e) != OK)
        return e->code;
    return session_new(&m->session, m->model, m->threads, max_context, e);
}

/* ---- answering ---- */

/* Cuts the text where the first stop string begins; true if there is one. */
static bool cut_at_stop(struct buf *text, size_t from, const struct completion_request *r)
{
    for (size_t at = from; at < text->len; at++) {
        for (size_t i = 0; i < r->n_stop; i++) {
            size_t n = strlen(r->stop[i]);
            if (n <= text->len - at && memcmp(text->data + at, r->stop[i], n) == 0) {
                text->len = at;
                text->data[at] = '\0';
                return true;
            }
        }
    }
    return false;
}

/* A NaN is no answer: it must not be scored as one. */
static enum status check_logits(const struct embedded *m, const float *logits, struct error *e)
{
    for (size_t i = 0; i < model_config(m->model)->n_vocab; i++) {
        if (!isfinite(logits[i]))
            return error_set(e, ERR_FORMAT,
                             "%s under rule %s gives logits that are no finite numbers: damaged "
                             "weights, or a scale out of range",
                             m->path, m->base.info.rule);
    }
    return OK;
}

/* The token's text; a NUL would end strings that it is copied into, so it becomes U+FFFD. */
static enum status append_token(const struct embedded *m, token_id id, struct buf *text,
                                struct error *e)
{
    struct str bytes = tokenizer_bytes(m->tokenizer, id);

    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i])
            buf_putc(text, bytes.p[i]);
        else
            buf_puts(text, "\xef\xbf\xbd");
    }
    return buf_status(text, e);
}

/*
 * Evaluates the prompt, and the expected answer behind it: logits i then predict the answer's token
 * i, for i up to draft_length().
 */
static size_t draft_length(const struct completion_request *r)
{
    return r->n_answer > 0 ? r->n_answer : 1;
}

static enum status evaluate_prompt(struct embedded *m, const struct completion_request *r,
                                   struct error *e)
{
    m->sequence.n = 0;
    if (m->no_reuse)
        session_forget(m->session);
    if (r->n_needles > 0 && session_watch_attention(m->session, e) != OK)
        return e->code;
    if (tokens_append(&m->sequence, r->prompt, r->n_prompt, e) != OK ||
        tokens_append(&m->sequence, r->answer, draft_length(r) - 1, e) != OK ||
        session_sync(m->session, m->sequence.ids, m->sequence.n, draft_length(r), e) != OK)
        return e->code;
    m->sequence.n = r->n_prompt;
    for (size_t i = 0; i < draft_length(r); i++) {
        if (check_logits(m, session_logits(m->session, i), e) != OK)
            return e->code;
    }
    return OK;
}

static enum status reserve_watcher(struct watcher *w, size_t n_heads, size_t n_spans,
                                   struct error *e)
{
    const char *what = "attention scores";

    if (mem_grow(&w->scores, &w->cap_scores, n_heads, sizeof(*w->scores), what, e) != OK ||
        mem_grow(&w->heads, &w->cap_heads, n_heads, sizeof(*w->heads), what, e) != OK ||
        mem_grow(&w->spans, &w->cap_spans, n_spans, sizeof(*w->spans), what, e) != OK)
        return e->code;
    return mem_grow(&w->mass, &w->cap_mass, n_heads * n_spans, sizeof(*w->mass), what, e);
}

/* Weight on the needles and on their values, from the last token of the prompt. */
static enum status score_attention(struct embedded *m, const struct completion_request *r,
                                   struct completion *out, struct error *e)
{
    const struct model_config *c = model_config(m->model);
    size_t n_heads = c->n_layer * c->n_head;
    size_t n_spans = r->n_needles + r->n_values;
    struct watcher *w = &m->watcher;

    if (reserve_watcher(w, n_heads, n_spans, e) != OK)
        return e->code;
    memcpy(w->spans, r->needles, r->n_needles * sizeof(*w->spans));
    if (r->n_values > 0)
        memcpy(w->spans + r->n_needles, r->values, r->n_values * sizeof(*w->spans));
    if (session_attention(m->session, w->spans, n_spans, w->heads, w->mass, e) != OK)
        return e->code;
    for (size_t i = 0; i < n_heads; i++) {
        struct attention_score *s = &w->scores[i];
        *s = (struct attention_score){.layer = i / c->n_head,
                                      .head = i % c->n_head,
                                      .max = w->heads[i].max,
                                      .entropy = w->heads[i].entropy};
        for (size_t j = 0; j < n_spans; j++)
            *(j < r->n_needles ? &s->needle_mass : &s->value_mass) += w->mass[i * n_spans + j];
    }
    out->attention = w->scores;
    out->n_attention = n_heads;
    return OK;
}

static void score_answer(const struct embedded *m, const struct completion_request *r,
                         struct completion *out)
{
    size_t n_vocab = model_config(m->model)->n_vocab;
    double sum = 0;

    out->has_logprob = r->n_answer > 0;
    out->worst_rank = 1;
    for (size_t i = 0; i < r->n_answer; i++) {
        const float *logits = session_logits(m->session, i);
        int64_t rank = sample_rank(logits, tokenizer_size(m->tokenizer), r->answer[i]);
        sum += sample_logprob(logits, n_vocab, r->answer[i]);
        out->worst_rank = rank > out->worst_rank ? rank : out->worst_rank;
    }
    if (out->has_logprob)
        out->logprob = sum / (double)r->n_answer;
}

/* The most probable next token after `done` answer tokens, from the draft while it holds. */
static enum status next_token(struct embedded *m, const struct completion_request *r, size_t done,
                              bool *on_draft, token_id *out, struct error *e)
{
    const float *logits;

    *on_draft = *on_draft && done < draft_length(r) &&
                (done == 0 || m->sequence.ids[m->sequence.n - 1] == r->answer[done - 1]);
    if (*on_draft) {
        logits = session_logits(m->session, done);
    } else {
        if (session_sync(m->session, m->sequence.ids, m->sequence.n, 1, e) != OK)
            return e->code;
        logits = session_logits(m->session, 0);
        if (check_logits(m, logits, e) != OK)
            return e->code;
    }
    /* the output may be padded beyond the tokenizer's tokens */
    *out = (token_id)sample_greedy(logits, tokenizer_size(m->tokenizer));
    return OK;
}

static enum status generate(struct embedded *m, const struct completion_request *r,
                            struct completion *out, struct error *e)
{
    bool on_draft = true;
    size_t longest = 1; /* bytes: a stop string may begin in an earlier token's text */

    for (size_t i = 0; i < r->n_stop; i++)
        longest = strlen(r->stop[i]) > longest ? strlen(r->stop[i]) : longest;
    out->finish_reason = "length";
    for (size_t done = 0; done < r->max_tokens; done++) {
        size_t from = out->text.len > longest ? out->text.len - longest : 0;
        token_id id;
        if (next_token(m, r, done, &on_draft, &id, e) != OK)
            return e->code;
        if (tokenizer_is_end(m->tokenizer, id)) {
            out->finish_reason = "stop";
            break;
        }
        if (tokens_append(&m->sequence, &id, 1, e) != OK ||
            append_token(m, id, &out->text, e) != OK)
            return e->code;
        if (cut_at_stop(&out->text, from, r)) {
            out->finish_reason = "stop";
            break;
        }
    }
    return OK;
}

/* Tokens may end within a character: what is no UTF-8 becomes U+FFFD, for text is what is stored.
 */
static enum status clean_text(struct buf *text, struct error *e)
{
    struct buf raw = *text;

    if (utf8_invalid_at(buf_str(text), text->len) == text->len)
        return OK;
    *text = (struct buf)BUF_INIT(raw.max);
    utf8_clean(text, raw.data, raw.len);
    buf_release(&raw);
    return buf_status(text, e);
}

static enum status embedded_complete(struct backend *b, const struct completion_request *r,
                                     struct completion *out, struct error *e)
{
    struct embedded *m = (struct embedded *)b;
    struct session_counters before = session_counters(m->session);
    struct session_counters after;
    double start = os_monotonic_s();
    enum status status;

    buf_clear(&out->text);
    out->attention = NULL;
    out->n_attention = 0;
    status = evaluate_prompt(m, r, e);
    if (status != OK)
        return status;
    /* what the prompt found in the cache; later syncs find the prompt itself */
    after = session_counters(m->session);
    out->reused = after.reused - before.reused;
    score_answer(m, r, out);
    if (r->n_needles > 0)
        status = score_attention(m, r, out, e);
    if (status == OK)
        status = generate(m, r, out, e);
    if (status == OK)
        status = clean_text(&out->text, e);
    after = session_counters(m->session);
    out->evaluated = after.evaluated - before.evaluated;
    out->latency_ms = (os_monotonic_s() - start) * 1e3;
    return status;
}

/* ---- opening ---- */

static enum status hash_file(struct embedded *m, struct error *e)
{
    struct os_map map;
    enum status status = os_map_open(&map, m->path, e);

    if (status != OK)
        return status;
    status = hash_memory(map.data, map.size, m->hash, e);
    os_map_close(&map);
    return status;
}

static enum status open_file(struct embedded *m, const char *path, struct error *e)
{
    m->path = mem_strndup(path, strlen(path), e);
    if (!m->path || gguf_open(&m->gguf, path, e) != OK || os_stamp_file(&m->stamp, path, e) != OK)
        return e->code;
    return model_name(m->name, m->gguf, e);
}

static enum status open_all(struct embedded *m, const struct embedded_options *o, struct error *e)
{
    struct model_config config;
    size_t cpus = (size_t)os_cpu_count();
    size_t n = o->threads ? o->threads : cpus < THREADS_MAX ? cpus : THREADS_MAX;

    if (attention_choice_parse(&m->model_options.attention, o->attention, e) != OK ||
        kernels_select(&m->model_options.kernels, o->isa, e) != OK ||
        open_file(m, o->model_path, e) != OK || model_read_config(&config, m->gguf, e) != OK ||
        tokenizer_from_gguf(&m->tokenizer, m->gguf, e) != OK || hash_file(m, e) != OK ||
        threads_new(&m->threads, n, e) != OK)
        return e->code;
    m->model_options.rope_theta = o->rope_theta;
    m->model_options.rope_scale = o->rope_scale;
    m->no_reuse = o->no_reuse;
    m->base.info = (struct backend_info){
        .kind = "embedded",
        .model_path = m->path,
        .model_name = m->name,
        .model_hash = m->hash,
        .isa = m->model_options.kernels->name,
        .numerics = ENGINE_NUMERICS,
        .training_length = config.training_length,
        .tokenizer = m->tokenizer,
    };
    return OK;
}

enum status embedded_open(struct backend **out, const struct embedded_options *o, struct error *e)
{
    struct embedded *m;
    enum status status = mem_alloc(&m, "a model", e, 1, sizeof(*m), 1, 1);

    *out = NULL;
    if (status != OK)
        return status;
    m->base.prepare = embedded_prepare;
    m->base.complete = embedded_complete;
    m->base.close = embedded_close;
    status = open_all(m, o, e);
    if (status != OK) {
        embedded_close(&m->base);
        return status;
    }
    *out = &m->base;
    return OK;
}
