/* What a sweep's options mean: shared by `run`, and by `reconstruct`, which reads a run's anew. */
#include "sweep_args_impl.h"

#include "needlegrid/os.h"
#include "needlegrid/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static enum status scale_depths(struct sweep_args *j, struct error *e)
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

static enum status read_distractors(struct sweep_args *j, struct error *e)
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

static enum status read_haystack(struct sweep_args *j, struct error *e)
{
    const struct args *a = j->args;
    struct sweep *s = &j->sweep;

    s->haystack = j->haystack_override ? j->haystack_override : args_get(a, "haystack");
    s->haystack_field = args_get(a, "haystack-field");
    s->haystack_folder = j->haystacks;
    if (s->haystack && !template_has_haystack(j->tpl))
        return error_set(e, ERR_USAGE, "--haystack: task \"%s\" has no haystack", j->tpl->task);
    if (s->haystack_field && (!s->haystack || !os_has_suffix(s->haystack, ".jsonl")))
        return error_set(e, ERR_USAGE, "--haystack-field goes with --haystack FILE.jsonl alone");
    return haystack_fill_parse(args_get(a, "haystack-fill"), &s->fill, e);
}

static enum status read_sweep(struct sweep_args *j, struct error *e)
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

static enum status check_scorer(const struct sweep_args *j, struct error *e)
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

static enum status find_folders(struct sweep_args *j, struct error *e)
{
    if (data_folder(j->data_override ? j->data_override : args_get(j->args, "data"), &j->data, e) !=
        OK)
        return e->code;
    j->prompts = path_join(j->data, "prompts", e);
    j->haystacks = path_join(j->data, "haystacks", e);
    j->refusals = j->prompts ? path_join(j->prompts, "refusals.txt", e) : NULL;
    return j->prompts && j->haystacks && j->refusals ? OK : e->code;
}

static enum status read_prompt(struct sweep_args *j, const char *template_text, struct error *e)
{
    const char *task = args_get(j->args, "task");
    const char *name = prompt_name(j->args);
    enum status status;

    status = template_text ? template_parse(&j->tpl, template_text, strlen(template_text), name, e)
                           : template_open(&j->tpl, name, j->prompts, e);
    if (status != OK)
        return status;
    if (task && strcmp(task, j->tpl->task) != 0)
        return error_set(e, ERR_USAGE,
                         "prompt \"%s\" is for task \"%s\": say --task %s, or leave --task out",
                         j->tpl->name, j->tpl->task, j->tpl->task);
    return check_scorer(j, e);
}

enum status sweep_args_read(struct sweep_args *s, const char *template_text, struct error *e)
{
    if (find_folders(s, e) != OK || read_prompt(s, template_text, e) != OK ||
        read_sweep(s, e) != OK)
        return e->code;
    return OK;
}

void sweep_args_release(struct sweep_args *s)
{
    template_free(s->tpl);
    free(s->lengths);
    free(s->depths);
    free(s->data);
    free(s->prompts);
    free(s->refusals);
    free(s->haystacks);
}
