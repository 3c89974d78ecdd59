/* needlegrid run: sweep models over context lengths and depths. */
#include "sweep_args_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"model", "FILE", NULL, "GGUF file", true},
    {"attention", "RULE", "model",
     "model (its own), softmax, ssmax[:s=X], ssmax-fixed[:s=X], ssmax-bias[:s=X,b=Y]", false},
    {"context-lengths", "LIST", "256,512,1k,2k,4k,8k",
     "tokens, everything included: 256,1k or 1k:8k:8", false},
    {"depths", "LIST", "0:100:11", "where the needle starts, percent of the haystack", false},
    {"depth-scale", "SCALE", "linear", "linear, or sigmoid: moves --depths toward the nearer end",
     false},
    {"samples", "N", "5", "haystacks and needles per length and depth", false},
    {"task", "NAME", NULL, "the prompt's task: single, multi-key, ... (`needlegrid list`)", false},
    {"distractors", "N", NULL, "needles more that are not asked for; default: the prompt's", false},
    {"packed", NULL, NULL, "one context with a needle at each depth, a question for each", false},
    {"haystack", "NAME", NULL,
     "essays, prose, noise, needles, a text file, a folder or a .jsonl file; default: the "
     "prompt's, "
     "else essays",
     false},
    {"haystack-field", "NAME", NULL, "where the text is in a .jsonl file; default: text", false},
    {"haystack-fill", "HOW", "generate",
     "for a text under 4 windows: generate, repeat, shuffle, refuse", false},
    {"prompt", "NAME", NULL,
     "a name in prompts/ or a .json file; default: tokyo, or the one of --task", false},
    {"seed", "N", "0", "drives needles and haystacks", false},
    {"db", "FILE", "needlegrid.db", "where trials are stored; made if missing", false},
    {"threads", "N", NULL, "default: one per CPU", false},
    {"isa", "NAME", NULL, "avx512, avx2 or generic; default: the fastest here", false},
    {"rope-theta", "X", NULL, "base of the rotary positions, instead of the model's", false},
    {"rope-scale", "X", NULL, "divides positions, instead of the model's", false},
    {"attention-scores", NULL, NULL,
     "store each head's attention on the needle (`needlegrid attention`)", false},
    {"no-reuse", NULL, NULL, "evaluate each prompt from its first token", false},
    {"dry-run", NULL, NULL, "print the plan, run nothing", false},
    {"config", "FILE", NULL, "options from a JSON object; the command line beats it", false},
    {"data", "FOLDER", NULL, "where prompts/ and haystacks/ lie", false},
    {NULL, NULL, NULL, NULL, false},
};

/* Everything one `run` holds. */
struct job {
    const struct args *args;
    struct sweep_args s;
    struct model_job *models; /* [n_models] */
    size_t n_models;
    struct store *store;
    struct buf settings;
    bool started;  /* some trial may be stored */
    size_t errors; /* trials without an outcome of the model's own */
};

struct model_job {
    struct backend *backend;
    struct plan plan;
};

/* ---- opening ---- */

static enum status read_engine(const struct args *a, struct embedded_options *o, struct error *e)
{
    uint64_t threads = 0;

    if ((args_get(a, "threads") &&
         parse_u64("threads", args_get(a, "threads"), 1, 256, &threads, e) != OK) ||
        (args_get(a, "rope-theta") &&
         parse_double("rope-theta", args_get(a, "rope-theta"), 1, 1e12, &o->rope_theta, e) != OK) ||
        (args_get(a, "rope-scale") &&
         parse_double("rope-scale", args_get(a, "rope-scale"), 1e-3, 1e6, &o->rope_scale, e) != OK))
        return e->code;
    o->threads = (size_t)threads;
    o->attention = args_get(a, "attention");
    o->isa = args_get(a, "isa");
    o->no_reuse = args_flag(a, "no-reuse");
    return OK;
}

/* Opens every model and makes every plan before anything runs, so that mistakes show at once. */
static enum status open_models(struct job *j, struct error *e)
{
    struct embedded_options o = {.attention = NULL};
    const char *const *paths = args_all(j->args, "model", &j->n_models);

    if (j->n_models == 0)
        return error_set(e, ERR_USAGE, "no model: say --model FILE.gguf");
    if (read_engine(j->args, &o, e) != OK ||
        mem_alloc(&j->models, "the models", e, j->n_models, sizeof(*j->models), 1, 1) != OK)
        return e->code;
    for (size_t i = 0; i < j->n_models; i++) {
        struct model_job *m = &j->models[i];
        o.model_path = paths[i];
        if (embedded_open(&m->backend, &o, e) != OK ||
            plan_make(&m->plan, &j->s.sweep, backend_info(m->backend)->tokenizer, e) != OK)
            return e->code;
    }
    return OK;
}

/* ---- telling ---- */

static void append_substitute(const struct job *j, const struct plan *p, struct buf *out)
{
    const struct haystack_tokens *asked = p->sources[0].tokens;

    if (!p->substitute_from)
        return;
    buf_printf(out,
               "haystack %s has %zu tokens, under %d windows of %zu: ", haystack_tokens_name(asked),
               haystack_token_count(asked), HAYSTACK_MIN_WINDOWS, p->substitute_from);
    buf_printf(out, "lengths from there on use %s (--haystack-fill %s)\n",
               haystack_tokens_name(p->sources[1].tokens), haystack_fill_name(j->s.sweep.fill));
}

static void append_skipped_keys(const struct plan *p, struct buf *out)
{
    struct buf names = BUF_INIT(1 << 16);
    size_t n = trial_skipped_keys(p->sources[0].builder, &names);

    if (n > 0 && p->sources[0].tokens)
        buf_printf(out, "keys in haystack %s, not drawn: %s\n",
                   haystack_tokens_name(p->sources[0].tokens), buf_str(&names));
    buf_release(&names);
}

static void append_windows(const struct plan *p, size_t length, struct buf *out)
{
    const struct plan_source *s =
        &p->sources[p->substitute_from && length >= p->substitute_from ? 1 : 0];
    size_t windows;

    if (!s->tokens) {
        buf_printf(out, "  %7zu tokens: no haystack\n", length);
        return;
    }
    windows = haystack_windows(s->tokens, length);
    buf_printf(out, "  %7zu tokens: haystack %s, ", length, haystack_tokens_name(s->tokens));
    if (windows == SIZE_MAX)
        buf_puts(out, "endless\n");
    else
        buf_printf(out, "%zu disjoint windows\n", windows);
}

static enum status print_plan(const struct job *j, const struct model_job *m, struct error *e)
{
    const struct backend_info *info = backend_info(m->backend);
    const struct plan *p = &m->plan;
    struct buf out = BUF_INIT(1 << 20);
    enum status status;

    buf_printf(&out,
               "%s: %zu trials (%zu lengths x %zu depths x %llu samples), prompt %s%s, seed %llu\n",
               info->model_name, p->n, j->s.sweep.n_lengths, sweep_depths(&j->s.sweep),
               (unsigned long long)j->s.sweep.samples, j->s.tpl->name,
               j->s.sweep.packed ? ", packed" : "", (unsigned long long)j->s.sweep.seed);
    append_substitute(j, p, &out);
    append_skipped_keys(p, &out);
    for (size_t i = 0; i < j->s.sweep.n_lengths; i++)
        append_windows(p, j->s.sweep.lengths[i], &out);
    buf_printf(&out, "  %llu prompt tokens, %llu (%.0f%%) shared with the trial before\n",
               (unsigned long long)p->prompt_tokens, (unsigned long long)p->shared_tokens,
               p->prompt_tokens ? 100.0 * (double)p->shared_tokens / (double)p->prompt_tokens : 0);
    status = write_stdout(&out, e);
    buf_release(&out);
    return status;
}

struct progress_line {
    double shown_at; /* seconds; the line is drawn anew ten times a second at most */
    bool shown;
};

static void show_progress(void *context, const struct run_progress *p)
{
    struct progress_line *line = context;
    double now = os_monotonic_s();
    int left = (int)(p->remaining_s + 0.5);

    if (line->shown && now - line->shown_at < 0.1 && p->done < p->total)
        return;
    line->shown_at = now;
    line->shown = true;
    fprintf(stderr, "\r%s, %s: %zu/%zu trials, %zu errors, ", p->model_name, p->rule, p->done,
            p->total, p->errors);
    if (p->remaining_s >= 0)
        fprintf(stderr, "%d:%02d left \033[K", left / 60, left % 60);
    else
        fprintf(stderr, "estimating \033[K");
}

static enum status print_result(const struct job *j, const struct model_job *m,
                                const struct run_result *r, struct error *e)
{
    const struct backend_info *info = backend_info(m->backend);
    struct buf out = BUF_INIT(1 << 16);
    enum status status;

    append_substitute(j, &m->plan, &out);
    append_skipped_keys(&m->plan, &out);
    buf_printf(&out, "run %lld: %s, %s", (long long)r->run_id, info->model_name, info->rule);
    if (*info->rule_detail)
        buf_printf(&out, " (%s)", info->rule_detail);
    buf_printf(&out, ": %zu trials, %zu of them stored in %s before, %zu without an outcome\n",
               r->trials, r->skipped, args_get(j->args, "db"), r->errors);
    if (args_flag(j->args, "attention-scores") && r->skipped > 0)
        buf_puts(&out,
                 "attention scores are stored when a trial runs: those stored before have none "
                 "unless they were run with them (another --db runs them all)\n");
    status = write_stdout(&out, e);
    buf_release(&out);
    if (r->prompt_tokens)
        fprintf(stderr, "%llu prompt tokens, %.0f%% found in the cache, %llu evaluated in %.1f s\n",
                (unsigned long long)r->prompt_tokens,
                100.0 * (double)r->reused_tokens / (double)r->prompt_tokens,
                (unsigned long long)r->evaluated_tokens, r->seconds);
    return status;
}

/* ---- running ---- */

static enum status sweep_model(struct job *j, struct model_job *m, struct run_result *result,
                               struct error *e)
{
    struct progress_line line = {0, false};
    struct run_request r = {
        .sweep = &j->s.sweep,
        .plan = &m->plan,
        .backend = m->backend,
        .store = j->store,
        .refusals = j->s.refusals,
        .attention_scores = args_flag(j->args, "attention-scores"),
        .tool_version = needlegrid_version,
        .settings = buf_str(&j->settings),
        .progress = os_terminal_width(2) > 0 ? show_progress : NULL,
        .progress_context = &line,
    };
    enum status status;

    status = run_sweep(&r, result, e);
    j->started |= result->run_id > 0;
    if (line.shown)
        fprintf(stderr, "\r\033[K");
    if (status == ERR_INTERRUPTED)
        return error_set(e, status, "interrupted; the same command goes on from here");
    return status;
}

/* The database is made once a model is ready to run, so that a refused command leaves none. */
static enum status run_model(struct job *j, struct model_job *m, struct error *e)
{
    struct run_result result;

    if (backend_prepare(m->backend, j->s.lengths[j->s.sweep.n_lengths - 1], e) != OK ||
        (!j->store && store_open(&j->store, args_get(j->args, "db"), STORE_WRITE, e) != OK) ||
        sweep_model(j, m, &result, e) != OK)
        return e->code;
    j->errors += result.errors;
    return print_result(j, m, &result, e);
}

static int run_all(struct job *j, struct error *e)
{
    os_catch_interrupt();
    for (size_t i = 0; i < j->n_models; i++) {
        if (run_model(j, &j->models[i], e) != OK)
            return j->started ? EXIT_INCOMPLETE : EXIT_USAGE;
        backend_close(j->models[i].backend);
        j->models[i].backend = NULL;
    }
    return j->errors ? EXIT_INCOMPLETE : EXIT_PASSED;
}

static int run_job(struct job *j, struct error *e)
{
    args_json(j->args, &j->settings);
    if (buf_status(&j->settings, e) != OK || sweep_args_read(&j->s, NULL, e) != OK ||
        open_models(j, e) != OK)
        return EXIT_USAGE;
    if (!args_flag(j->args, "dry-run"))
        return run_all(j, e);
    for (size_t i = 0; i < j->n_models; i++) {
        if (print_plan(j, &j->models[i], e) != OK)
            return EXIT_INCOMPLETE;
    }
    return EXIT_PASSED;
}

static int run(const struct args *a, struct error *e)
{
    struct job j = {.args = a, .s = {.args = a}, .settings = BUF_INIT(1 << 20)};
    int code = run_job(&j, e);

    for (size_t i = 0; j.models && i < j.n_models; i++) {
        plan_release(&j.models[i].plan);
        backend_close(j.models[i].backend);
    }
    free(j.models);
    store_close(j.store);
    sweep_args_release(&j.s);
    buf_release(&j.settings);
    return code;
}

const struct command command_run = {
    .name = "run",
    .positional = "",
    .summary = "sweep models over context lengths and needle depths",
    .options = options,
    .examples = "  needlegrid run --model models/tiny-ssmax.gguf --db results/demo.db\n"
                "  needlegrid run --model a.gguf --attention ssmax --context-lengths 1k:8k:8\n",
    .run = run,
};
