/* needlegrid run: sweep models over context lengths and depths. */
#include "cli_impl.h"

#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/run.h"
#include "needlegrid/score.h"

#include <math.h>
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
    {"depth-scale", "SCALE", "linear", "linear, or sigmoid: closer together near both ends", false},
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
    char *data;
    char *prompts;
    char *refusals;
    char *haystacks;
    struct prompt_template *tpl;
    size_t *lengths;
    double *depths;
    size_t distractors;
    struct sweep sweep;
    struct model_job *models; /* [n_models] */
    size_t n_models;
    struct store *store;
    struct buf settings;
};

struct model_job {
    struct backend *backend;
    struct plan plan;
};

/* ---- reading the options ---- */

/*
 * The public needle tests' logistic scale, rounded as there to three digits; the ends are exact:
 * https://github.com/gkamradt/LLMTest_NeedleInAHaystack
 */
static double sigmoid(double depth)
{
    if (depth == 0 || depth == 100)
        return depth;
    return round(1e5 / (1 + exp(-0.1 * (depth - 50)))) / 1e3;
}

static enum status scale_depths(struct job *j, struct error *e)
{
    const char *scale = args_get(j->args, "depth-scale");

    if (strcmp(scale, "sigmoid") == 0) {
        for (size_t i = 0; i < j->sweep.n_depths; i++)
            j->depths[i] = sigmoid(j->depths[i]);
        return OK;
    }
    if (strcmp(scale, "linear") != 0)
        return error_set(e, ERR_USAGE, "--depth-scale \"%s\": it can be linear or sigmoid", scale);
    return OK;
}

static enum status read_distractors(struct job *j, struct error *e)
{
    const char *text = args_get(j->args, "distractors");
    uint64_t n;

    if (!text)
        return OK;
    if (parse_u64("distractors", text, 0, TEMPLATE_MAX_NEEDLES, &n, e) != OK)
        return e->code;
    j->distractors = (size_t)n;
    j->sweep.distractors = &j->distractors;
    return OK;
}

static enum status read_haystack(struct job *j, struct error *e)
{
    const struct args *a = j->args;
    struct sweep *s = &j->sweep;

    s->haystack = args_get(a, "haystack");
    s->haystack_field = args_get(a, "haystack-field");
    s->haystack_folder = j->haystacks;
    if (s->haystack && !template_has_haystack(j->tpl))
        return error_set(e, ERR_USAGE, "--haystack: task \"%s\" has no haystack", j->tpl->task);
    if (s->haystack_field && (!s->haystack || !strstr(s->haystack, ".jsonl")))
        return error_set(e, ERR_USAGE, "--haystack-field goes with --haystack FILE.jsonl alone");
    return haystack_fill_parse(args_get(a, "haystack-fill"), &s->fill, e);
}

static enum status read_sweep(struct job *j, struct error *e)
{
    const struct args *a = j->args;
    struct sweep *s = &j->sweep;

    s->tpl = j->tpl;
    if (parse_lengths("context-lengths", args_get(a, "context-lengths"), &j->lengths, &s->n_lengths,
                      e) != OK ||
        parse_depths("depths", args_get(a, "depths"), &j->depths, &s->n_depths, e) != OK ||
        scale_depths(j, e) != OK ||
        parse_u64("samples", args_get(a, "samples"), 1, 1000000, &s->samples, e) != OK ||
        parse_u64("seed", args_get(a, "seed"), 0, UINT64_MAX, &s->seed, e) != OK ||
        read_distractors(j, e) != OK || read_haystack(j, e) != OK)
        return e->code;
    s->lengths = j->lengths;
    s->depths = j->depths;
    s->packed = args_flag(a, "packed");
    return OK;
}

static enum status check_scorer(const struct job *j, struct error *e)
{
    const struct scorer_spec spec = {
        .name = j->tpl->scorer, .pattern = j->tpl->pattern, .refusals = j->refusals};
    struct scorer *s;

    if (scorer_new(&s, &spec, e) != OK)
        return error_prefix(e, "prompt \"%s\"", j->tpl->name);
    scorer_free(s);
    return OK;
}

/* A task has a prompt of its name, but for "single", the default. */
static const char *prompt_name(const struct args *a)
{
    const char *prompt = args_get(a, "prompt");
    const char *task = args_get(a, "task");

    if (prompt)
        return prompt;
    return task && strcmp(task, "single") != 0 ? task : "tokyo";
}

static enum status read_prompt(struct job *j, struct error *e)
{
    const char *task = args_get(j->args, "task");

    if (data_folder(args_get(j->args, "data"), &j->data, e) != OK)
        return e->code;
    j->prompts = path_join(j->data, "prompts", e);
    j->haystacks = path_join(j->data, "haystacks", e);
    if (!j->prompts || !j->haystacks || !(j->refusals = path_join(j->prompts, "refusals.txt", e)) ||
        template_open(&j->tpl, prompt_name(j->args), j->prompts, e) != OK)
        return e->code;
    if (task && strcmp(task, j->tpl->task) != 0)
        return error_set(e, ERR_USAGE, "prompt \"%s\" is for task \"%s\", not \"%s\"", j->tpl->name,
                         j->tpl->task, task);
    return check_scorer(j, e);
}

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
            plan_make(&m->plan, &j->sweep, backend_info(m->backend)->tokenizer, e) != OK)
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
               haystack_tokens_name(p->sources[1].tokens), haystack_fill_name(j->sweep.fill));
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

    buf_printf(
        &out, "%s: %zu trials (%zu lengths x %zu depths x %llu samples), prompt %s, seed %llu\n",
        info->model_name, p->n, j->sweep.n_lengths, sweep_depths(&j->sweep),
        (unsigned long long)j->sweep.samples, j->tpl->name, (unsigned long long)j->sweep.seed);
    append_substitute(j, p, &out);
    append_skipped_keys(p, &out);
    for (size_t i = 0; i < j->sweep.n_lengths; i++)
        append_windows(p, j->sweep.lengths[i], &out);
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
    buf_printf(&out, ": %zu trials, %zu found in %s, %zu without an outcome\n", r->trials,
               r->skipped, args_get(j->args, "db"), r->errors);
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

static enum status run_model(struct job *j, struct model_job *m, struct error *e)
{
    struct progress_line line = {0, false};
    struct run_result result;
    struct run_request r = {
        .sweep = &j->sweep,
        .plan = &m->plan,
        .backend = m->backend,
        .store = j->store,
        .refusals = j->refusals,
        .attention_scores = args_flag(j->args, "attention-scores"),
        .tool_version = needlegrid_version,
        .settings = buf_str(&j->settings),
        .progress = os_terminal_width(2) > 0 ? show_progress : NULL,
        .progress_context = &line,
    };
    enum status status;

    status = backend_prepare(m->backend, j->lengths[j->sweep.n_lengths - 1], e);
    if (status != OK)
        return status;
    status = run_sweep(&r, &result, e);
    if (line.shown)
        fprintf(stderr, "\r\033[K");
    if (status == ERR_INTERRUPTED)
        return error_set(e, status, "interrupted; the same command goes on from here");
    return status == OK ? print_result(j, m, &result, e) : status;
}

static int run_all(struct job *j, struct error *e)
{
    if (store_open(&j->store, args_get(j->args, "db"), STORE_WRITE, e) != OK)
        return EXIT_USAGE;
    os_catch_interrupt();
    for (size_t i = 0; i < j->n_models; i++) {
        if (run_model(j, &j->models[i], e) != OK)
            return e->code == ERR_USAGE || e->code == ERR_FORMAT || e->code == ERR_UNSUPPORTED
                       ? EXIT_USAGE
                       : EXIT_INCOMPLETE;
        backend_close(j->models[i].backend);
        j->models[i].backend = NULL;
    }
    return EXIT_PASSED;
}

static int run_job(struct job *j, struct error *e)
{
    args_json(j->args, &j->settings);
    if (read_prompt(j, e) != OK || read_sweep(j, e) != OK || open_models(j, e) != OK ||
        buf_status(&j->settings, e) != OK)
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
    struct job j = {.args = a, .settings = BUF_INIT(1 << 20)};
    int code = run_job(&j, e);

    for (size_t i = 0; j.models && i < j.n_models; i++) {
        plan_release(&j.models[i].plan);
        backend_close(j.models[i].backend);
    }
    free(j.models);
    store_close(j.store);
    template_free(j.tpl);
    free(j.lengths);
    free(j.depths);
    free(j.data);
    free(j.prompts);
    free(j.refusals);
    free(j.haystacks);
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
