#include "needlegrid/run.h"

#include "record_impl.h"
#include "watch_impl.h"

#include "needlegrid/hash.h"
#include "needlegrid/os.h"
#include "needlegrid/score.h"

#include <math.h>
#include <string.h>

enum {
    EXCERPT_AROUND = 240,    /* bytes of text kept on each side of the needle */
    MAX_RESPONSE = 1 << 20,  /* bytes */
    ATTENTION_WEIGHT = 4000, /* tokens of context whose attention costs as much as the weights do */
};

struct runner {
    const struct run_request *r;
    struct run_result *result;
    struct scorer *scorer;
    struct error no_verdict; /* why the scorer has none of this trial; code OK if it has */
    struct hash *hash;
    char run_key[HASH_HEX_SIZE];
    struct trial trial;
    struct completion completion;
    struct buf excerpt;
    struct buf task; /* the name under which results are stored */
    struct buf needles, expected, decoys;
    struct watch watch;
    double work_done; /* in the units of work_of(), skipped trials left out */
    double work_left;
};

/* ---- keys ---- */

/* Everything about model and engine that affects an answer. */
static void hash_model(struct hash *h, const struct backend_info *info)
{
    hash_field_str(h, "backend", info->kind);
    hash_field_str(h, "model", info->model_hash);
    hash_field_str(h, "rule", info->rule);
    hash_field_str(h, "rule_detail", info->rule_detail);
    hash_field_str(h, "isa", info->isa);
    hash_field_u64(h, "numerics", (uint64_t)info->numerics);
}

/* What is asked of the template besides. */
static void hash_options(struct hash *h, const struct sweep *sweep)
{
    hash_field_u64(h, "distractors",
                   sweep->distractors ? *sweep->distractors : sweep->tpl->distractors);
    /* packed: the other depths' needles are part of each prompt */
    for (size_t i = 0; sweep->packed && i < sweep->n_depths; i++)
        hash_field_f64(h, "packed", sweep->depths[i]);
}

/* Everything about one trial that is the same for every model and rule. */
static void hash_pair(struct hash *h, const struct sweep *sweep, const struct plan *plan,
                      size_t item, const struct tokenizer *tokenizer, const char *task)
{
    const struct trial_spec *spec = &plan->items[item].spec;

    hash_field_u64(h, "trial_revision", TRIAL_REVISION);
    hash_field_str(h, "task", task);
    hash_field_str(h, "template", sweep->tpl->hash);
    hash_options(h, sweep);
    hash_field_str(h, "haystack", plan_haystack_hash(plan, item));
    hash_field_str(h, "tokenizer", tokenizer_hash(tokenizer));
    hash_field_u64(h, "bos",
                   tokenizer_wants_bos(tokenizer) ? (uint64_t)tokenizer_bos(tokenizer) + 1 : 0);
    hash_field_u64(h, "context_length", spec->context_length);
    if (!isnan(spec->depth))
        hash_field_f64(h, "depth", spec->depth);
    hash_field_u64(h, "sample", spec->sample);
    hash_field_u64(h, "seed", spec->seed);
}

static enum status trial_keys(struct runner *u, size_t item, char pair[HASH_HEX_SIZE],
                              char trial[HASH_HEX_SIZE], struct error *e)
{
    if (run_pair_key(pair, u->r->sweep, u->r->plan, item, backend_info(u->r->backend)->tokenizer,
                     e) != OK)
        return e->code;
    hash_field_str(u->hash, "run", u->run_key);
    hash_field_str(u->hash, "pair", pair);
    return hash_hex(u->hash, trial, e);
}

enum status run_pair_key(char out[HASH_HEX_SIZE], const struct sweep *sweep,
                         const struct plan *plan, size_t item, const struct tokenizer *tokenizer,
                         struct error *e)
{
    struct buf task = BUF_INIT(1 << 10);
    struct hash *h = NULL;
    enum status status;

    sweep_task(sweep, &task);
    status = buf_status(&task, e);
    if (status == OK)
        status = hash_new(&h, e);
    if (status == OK) {
        hash_pair(h, sweep, plan, item, tokenizer, buf_str(&task));
        status = hash_hex(h, out, e);
    }
    hash_free(h);
    buf_release(&task);
    return status;
}

static enum status make_run_key(struct runner *u, struct error *e)
{
    const struct sweep *sweep = u->r->sweep;
    const struct haystack_tokens *asked = u->r->plan->sources[0].tokens;

    hash_model(u->hash, backend_info(u->r->backend));
    hash_field_str(u->hash, "task", buf_str(&u->task));
    hash_field_str(u->hash, "template", sweep->tpl->hash);
    hash_options(u->hash, sweep);
    hash_field_str(u->hash, "haystack", asked ? haystack_tokens_hash(asked) : "");
    hash_field_str(u->hash, "fill", haystack_fill_name(sweep->fill));
    hash_field_u64(u->hash, "seed", sweep->seed);
    hash_field_str(u->hash, "scorer", scorer_hash(u->scorer)); /* rules, pattern, refusals */
    return hash_hex(u->hash, u->run_key, e);
}

/* ---- rows ---- */

static enum status put_run(struct runner *u, struct error *e)
{
    const struct backend_info *info = backend_info(u->r->backend);
    const struct prompt_template *tpl = u->r->sweep->tpl;
    char now[24];
    struct run_record run = {
        .run_key = u->run_key,
        .model_name = info->model_name,
        .model_hash = info->model_hash,
        .backend = info->kind,
        .rule = info->rule,
        .rule_detail = info->rule_detail,
        .task = buf_str(&u->task),
        .template_name = tpl->name,
        .template_hash = tpl->hash,
        .template_text = tpl->text,
        .haystack_name = sweep_haystack(u->r->sweep),
        .tokenizer_hash = tokenizer_hash(info->tokenizer),
        .isa = info->isa,
        .numerics = info->numerics,
        .training_length = (int64_t)info->training_length,
        .seed = u->r->sweep->seed,
        .model_path = info->model_path,
        .tool_version = u->r->tool_version,
        .settings = u->r->settings,
    };

    os_utc_now(now);
    run.started_at = now;
    return store_put_run(u->r->store, &run, &u->result->run_id, e);
}

static enum status put_trial(struct runner *u, size_t item, const char *pair_key,
                             const char *trial_key, const struct verdict *v, struct error *e)
{
    const struct trial *t = &u->trial;
    const struct completion *c = &u->completion;
    char now[24];
    struct trial_record row = {
        .trial_key = trial_key,
        .pair_key = pair_key,
        .context_length = (int64_t)t->spec.context_length,
        .target_depth = t->spec.depth,
        .actual_depth = t->actual_depth,
        .sample = (int64_t)t->spec.sample,
        .seed = t->spec.seed,
        .haystack_name = plan_haystack_name(u->r->plan, item),
        .haystack_hash = plan_haystack_hash(u->r->plan, item),
        .prompt_tokens = (int64_t)t->prompt.n,
        .needle_at = (int64_t)t->needle_at,
        .needle_tokens = (int64_t)t->needle_tokens,
        .needle_key = t->key ? t->key : "",
        .needles = buf_str(&u->needles),
        .haystack_tokens = (int64_t)t->haystack_tokens,
        .max_tokens = (int64_t)t->max_tokens,
        .question_at = (int64_t)t->question_at,
        .n_expected = (int64_t)t->n_expected,
        .expected = buf_str(&u->expected),
        .decoys = u->decoys.len ? buf_str(&u->decoys) : NULL,
        .absent = t->absent,
        .response = buf_str(&c->text),
        .outcome = outcome_name(v->outcome),
        .counted = outcome_counts(v->outcome),
        .scorer = u->r->sweep->tpl->scorer,
        .scorer_hash = scorer_hash(u->scorer),
        .score = v->score,
        .has_logprob = c->has_logprob,
        .logprob = c->logprob,
        .worst_rank = c->worst_rank,
        .finish_reason = c->finish_reason,
        .excerpt = buf_str(&u->excerpt),
        .error = u->no_verdict.code == OK ? NULL : u->no_verdict.message,
        .attention = u->watch.rows,
        .n_attention = u->watch.n_rows,
        .latency_ms = c->latency_ms,
        .evaluated_tokens = (int64_t)c->evaluated,
        .reused_tokens = (int64_t)c->reused,
        .tool_version = u->r->tool_version,
    };

    os_utc_now(now);
    row.finished_at = now;
    return store_put_trial(u->r->store, u->result->run_id, &row, e);
}

/* ---- one trial ---- */

/* An answer the scorer cannot judge is no failure of the model's: it is stored and not counted. */
static enum status judge_trial(struct runner *u, struct verdict *v, struct error *e)
{
    const struct completion *c = &u->completion;
    const struct trial *t = &u->trial;
    const struct answer answer = {
        .response = buf_str(&c->text),
        .n = c->text.len,
        .finish_length = strcmp(c->finish_reason, "length") == 0,
        .has_logprob = c->has_logprob,
        .logprob = c->logprob,
        .worst_rank = c->worst_rank,
    };
    const struct truth truth = {.expected = t->expected,
                                .n_expected = t->n_expected,
                                .decoys = t->decoys,
                                .n_decoys = t->n_decoys,
                                .absent = t->absent};

    u->no_verdict.code = OK;
    if (scorer_judge(u->scorer, &answer, &truth, v, e) != OK) {
        if (e->code != ERR_LIMIT)
            return e->code;
        u->no_verdict = *e;
    }
    return OK;
}

static enum status complete_trial(struct runner *u, struct verdict *v, struct error *e)
{
    const struct prompt_template *tpl = u->r->sweep->tpl;
    struct completion_request request = {
        .prompt = u->trial.prompt.ids,
        .n_prompt = u->trial.prompt.n,
        .max_tokens = u->trial.max_tokens,
        .stop = (const char *const *)tpl->stop,
        .n_stop = tpl->n_stop,
        .answer = u->trial.answer.ids,
        .n_answer = u->trial.answer.n,
    };

    u->completion.n_attention = 0;
    if (u->r->attention_scores && watch_needles(&u->watch, &u->trial, &request, e) != OK)
        return e->code;
    if (backend_complete(u->r->backend, &request, &u->completion, e) != OK ||
        watch_note(&u->watch, &u->completion, e) != OK)
        return e->code;
    return judge_trial(u, v, e);
}

static enum status describe_trial(struct runner *u, struct error *e)
{
    const struct trial *t = &u->trial;
    struct buf *lists[] = {&u->needles, &u->expected, &u->decoys, &u->excerpt};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        buf_clear(lists[i]);
    record_needles(t, &u->needles);
    record_values(t->expected, t->n_expected, &u->expected);
    record_decoys(t, buf_str(&u->completion.text), &u->decoys);
    for (size_t i = 0; i + 1 < sizeof(lists) / sizeof(lists[0]); i++)
        if (buf_status(lists[i], e) != OK)
            return e->code;
    return trial_excerpt(t, backend_info(u->r->backend)->tokenizer, EXCERPT_AROUND, &u->excerpt, e);
}

static enum status run_trial(struct runner *u, size_t item, const char *pair_key,
                             const char *trial_key, struct error *e)
{
    struct verdict v;

    if (plan_build(u->r->plan, item, &u->trial, e) != OK || complete_trial(u, &v, e) != OK)
        return e->code;
    if (describe_trial(u, e) != OK || put_trial(u, item, pair_key, trial_key, &v, e) != OK)
        return e->code;
    u->result->prompt_tokens += u->trial.prompt.n;
    u->result->evaluated_tokens += u->completion.evaluated;
    u->result->reused_tokens += u->completion.reused;
    u->result->errors += !outcome_counts(v.outcome);
    return OK;
}

/* ---- the sweep ---- */

/*
 * What an item costs, in arbitrary units, for the estimate of the time left: its new tokens, each
 * through the weights and over the context before it.
 */
static double work_of(const struct plan_item *i)
{
    double fresh = (double)(i->prompt_tokens - i->shared);

    return fresh * (ATTENTION_WEIGHT + (double)(i->prompt_tokens + i->shared) / 2);
}

static void report(struct runner *u, size_t done, double start)
{
    const struct backend_info *info = backend_info(u->r->backend);
    struct run_progress p = {
        .model_name = info->model_name,
        .rule = info->rule,
        .done = done,
        .total = u->r->plan->n,
        .skipped = u->result->skipped,
        .errors = u->result->errors,
        .elapsed_s = os_monotonic_s() - start,
        .remaining_s = -1,
    };

    u->result->seconds = p.elapsed_s;
    if (u->work_done > 0)
        p.remaining_s = p.elapsed_s * u->work_left / u->work_done;
    if (u->r->progress)
        u->r->progress(u->r->progress_context, &p);
}

static enum status run_item(struct runner *u, size_t item, struct error *e)
{
    double work = work_of(&u->r->plan->items[item]);
    char pair_key[HASH_HEX_SIZE];
    char trial_key[HASH_HEX_SIZE];
    bool done;

    if (trial_keys(u, item, pair_key, trial_key, e) != OK ||
        store_has_trial(u->r->store, trial_key, &done, e) != OK)
        return e->code;
    u->work_left -= work;
    if (done) {
        u->result->skipped++;
        return OK;
    }
    u->work_done += work;
    return run_trial(u, item, pair_key, trial_key, e);
}

static enum status run_items(struct runner *u, struct error *e)
{
    const struct plan *plan = u->r->plan;
    double start = os_monotonic_s();
    enum status status = OK;

    for (size_t i = 0; i < plan->n; i++)
        u->work_left += work_of(&plan->items[i]);
    report(u, 0, start);
    for (size_t i = 0; i < plan->n && status == OK; i++) {
        if (os_interrupted())
            return error_set(e, ERR_INTERRUPTED, "interrupted");
        status = run_item(u, i, e);
        if (status == OK)
            report(u, i + 1, start);
    }
    return status;
}

static enum status make_scorer(struct runner *u, struct error *e)
{
    const struct prompt_template *tpl = u->r->sweep->tpl;
    const struct scorer_spec spec = {
        .name = tpl->scorer, .pattern = tpl->pattern, .refusals = u->r->refusals};

    return scorer_new(&u->scorer, &spec, e);
}

static void runner_release(struct runner *u)
{
    scorer_free(u->scorer);
    hash_free(u->hash);
    trial_release(&u->trial);
    buf_release(&u->completion.text);
    buf_release(&u->excerpt);
    buf_release(&u->task);
    buf_release(&u->needles);
    buf_release(&u->expected);
    buf_release(&u->decoys);
    watch_release(&u->watch);
}

/*
 * A scorer that cannot judge what the template asks for (`number` where the values are letters) is
 * found on an answer of nothing, before the run's row is made.
 */
static enum status try_scorer(struct runner *u, struct error *e)
{
    struct verdict v;

    if (u->r->plan->n == 0)
        return OK;
    if (plan_build(u->r->plan, 0, &u->trial, e) != OK)
        return e->code;
    buf_clear(&u->completion.text);
    u->completion.finish_reason = "stop";
    u->completion.has_logprob = u->trial.answer.n > 0;
    u->completion.logprob = -1;
    u->completion.worst_rank = 1;
    if (judge_trial(u, &v, e) != OK)
        return error_prefix(e, "prompt \"%s\"", u->r->sweep->tpl->name);
    return OK;
}

enum status run_sweep(const struct run_request *r, struct run_result *result, struct error *e)
{
    struct runner u = {
        .r = r,
        .result = result,
        .completion = {.text = BUF_INIT(MAX_RESPONSE)},
        .excerpt = BUF_INIT(MAX_RESPONSE),
        .task = BUF_INIT(MAX_RESPONSE),
        .needles = BUF_INIT(MAX_RESPONSE),
        .expected = BUF_INIT(MAX_RESPONSE),
        .decoys = BUF_INIT(MAX_RESPONSE),
    };
    enum status status;

    memset(result, 0, sizeof(*result));
    result->trials = r->plan->n;
    sweep_task(r->sweep, &u.task);
    status = buf_status(&u.task, e);
    if (status == OK)
        status = hash_new(&u.hash, e);
    if (status == OK)
        status = make_scorer(&u, e);
    if (status == OK)
        status = try_scorer(&u, e);
    if (status == OK)
        status = make_run_key(&u, e);
    if (status == OK)
        status = put_run(&u, e);
    if (status == OK)
        status = run_items(&u, e);
    runner_release(&u);
    return status;
}
