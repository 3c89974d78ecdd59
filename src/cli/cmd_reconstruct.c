/* needlegrid reconstruct: a stored trial's whole prompt, from the files it was made of. */
#include "sweep_args_impl.h"

#include "needlegrid/backend.h"
#include "needlegrid/mem.h"
#include "needlegrid/run.h"
#include "needlegrid/store_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"model", "FILE", NULL, "where the model lies now; default: where it lay", false},
    {"haystack", "PATH", NULL, "where the haystack lies now; default: as the run was told", false},
    {"ids", NULL, NULL, "token ids instead of text", false},
    {"data", "FOLDER", NULL, "where haystacks/ lies; default: as found by the program", false},
    {NULL, NULL, NULL, NULL, false},
};

/* What the database says of the trial; strings owned. */
struct wanted {
    int64_t run_id;
    size_t context_length;
    double target_depth; /* NaN = none */
    uint64_t sample;
    char *pair_key;
    char *template_text;
    char *settings;
    char *model_path;
    char *model_hash;
};

static enum status copy(char **out, const char *text, const char *what, struct error *e)
{
    if (!text)
        return error_set(e, ERR_FORMAT, "the database does not say the trial's %s", what);
    *out = mem_strndup(text, strlen(text), e);
    return *out ? OK : e->code;
}

static enum status note_trial(void *context, const struct trial_row *row, struct error *e)
{
    struct wanted *w = context;

    w->run_id = row->run_id;
    w->context_length = (size_t)row->trial.context_length;
    w->target_depth = row->trial.target_depth;
    w->sample = (uint64_t)row->trial.sample;
    return copy(&w->pair_key, row->trial.pair_key, "pair_key", e);
}

static enum status note_run(void *context, const struct run_record *run, struct error *e)
{
    struct wanted *w = context;

    if (run->run_id != w->run_id)
        return OK;
    if (copy(&w->template_text, run->template_text, "template", e) != OK ||
        copy(&w->settings, run->settings, "settings", e) != OK ||
        copy(&w->model_path, run->model_path, "model", e) != OK)
        return e->code;
    return copy(&w->model_hash, run->model_hash, "model's hash", e);
}

static enum status find_trial(struct wanted *w, const struct args *a, struct error *e)
{
    struct trial_filter filter = {.run_id = 0};
    const char *db = args_get(a, "db");
    struct store *s = NULL;
    enum status status;

    if (parse_trial(args_positional(a, 0), &filter.trial_id, e) != OK)
        return e->code;
    status = store_open(&s, db, STORE_READ, e);
    if (status == OK)
        status = store_each_trial(s, &filter, note_trial, w, e);
    if (status == OK && !w->pair_key)
        status = no_trial(db, filter.trial_id, e);
    if (status == OK)
        status = store_each_run(s, note_run, w, e);
    store_close(s);
    return status;
}

/* ---- making it again ---- */

static bool same_depth(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* The plan's item that is the trial; its key proves that the same prompt comes out. */
static enum status find_item(const struct wanted *w, const struct sweep *sweep,
                             const struct plan *plan, const struct tokenizer *tokenizer,
                             size_t *out, struct error *e)
{
    char key[HASH_HEX_SIZE];

    for (*out = 0; *out < plan->n; (*out)++) {
        const struct trial_spec *spec = &plan->items[*out].spec;
        if (spec->sample == w->sample && same_depth(spec->depth, w->target_depth))
            break;
    }
    if (*out == plan->n)
        return error_set(e, ERR_FORMAT, "the run's settings do not give this trial");
    if (run_pair_key(key, sweep, plan, *out, tokenizer, e) != OK)
        return e->code;
    if (strcmp(key, w->pair_key) != 0)
        return error_set(e, ERR_FORMAT,
                         "the prompt cannot be made again: haystack, tokenizer or this program's "
                         "way of building prompts is not what it was");
    return OK;
}

static enum status append_prompt(const struct args *a, const struct trial *t,
                                 const struct tokenizer *tokenizer, struct buf *out,
                                 struct error *e)
{
    if (args_flag(a, "ids")) {
        for (size_t i = 0; i < t->prompt.n; i++)
            buf_printf(out, i ? " %d" : "%d", t->prompt.ids[i]);
    } else if (tokenizer_decode(tokenizer, t->prompt.ids, t->prompt.n, out, e) != OK) {
        return e->code;
    }
    buf_putc(out, '\n');
    return buf_status(out, e);
}

static enum status rebuild(const struct args *a, const struct wanted *w, struct sweep_args *s,
                           struct backend *b, struct buf *out, struct error *e)
{
    const struct tokenizer *tokenizer = backend_info(b)->tokenizer;
    struct trial t = {.needle_at = 0};
    struct plan plan;
    enum status status;
    size_t item;

    if (strcmp(backend_info(b)->model_hash, w->model_hash) != 0)
        return error_set(e, ERR_FORMAT, "%s is not the model of this trial: its hash differs",
                         backend_info(b)->model_path);
    /* one length and no sample beyond: the trial does not depend on the others */
    s->sweep.lengths = &w->context_length;
    s->sweep.n_lengths = 1;
    s->sweep.samples = w->sample + 1;
    if (!s->sweep.packed && !isnan(w->target_depth)) {
        s->sweep.depths = &w->target_depth;
        s->sweep.n_depths = 1;
    }
    status = plan_make(&plan, &s->sweep, tokenizer, e);
    if (status != OK)
        return status;
    status = find_item(w, &s->sweep, &plan, tokenizer, &item, e);
    if (status == OK)
        status = plan_build(&plan, item, &t, e);
    if (status == OK)
        status = append_prompt(a, &t, tokenizer, out, e);
    trial_release(&t);
    plan_release(&plan);
    return status;
}

static enum status reconstruct(const struct args *a, struct wanted *w, struct buf *out,
                               struct error *e)
{
    struct embedded_options o = {.attention = "softmax", .threads = 1};
    struct args *settings = NULL;
    struct sweep_args s = {.args = NULL};
    struct backend *b = NULL;
    enum status status = find_trial(w, a, e);

    if (status == OK)
        status = args_from_json(&settings, &command_run, w->settings, "the run's settings", e);
    if (status == OK) {
        s.args = settings;
        s.data_override = args_get(a, "data");
        s.haystack_override = args_get(a, "haystack");
        status = sweep_args_read(&s, w->template_text, e);
    }
    o.model_path = args_get(a, "model") ? args_get(a, "model") : w->model_path;
    if (status == OK)
        status = embedded_open(&b, &o, e);
    if (status == OK)
        status = rebuild(a, w, &s, b, out, e);
    backend_close(b);
    sweep_args_release(&s);
    if (settings)
        args_free(settings);
    return status;
}

static int run(const struct args *a, struct error *e)
{
    struct wanted w = {.run_id = 0};
    struct buf out = BUF_INIT(1 << 30);
    int code = EXIT_USAGE;

    if (reconstruct(a, &w, &out, e) == OK)
        code = write_stdout(&out, e) == OK ? EXIT_PASSED : EXIT_INCOMPLETE;
    buf_release(&out);
    free(w.pair_key);
    free(w.template_text);
    free(w.settings);
    free(w.model_path);
    free(w.model_hash);
    return code;
}

const struct command command_reconstruct = {
    .name = "reconstruct",
    .positional = "TRIAL",
    .min_positional = 1,
    .max_positional = 1,
    .summary = "a trial's exact prompt, as text or token ids, its hashes checked",
    .options = options,
    .examples = "  needlegrid reconstruct 17 --db results/mine.db\n"
                "  needlegrid reconstruct 17 --db results/mine.db --ids\n",
    .run = run,
};
