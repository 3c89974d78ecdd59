/* needlegrid show: one trial, or a list of them. */
#include "cli_impl.h"

#include "needlegrid/score.h"
#include "needlegrid/store_verdict.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"run", "ID", NULL, "list this run only", false},
    {"outcome", "NAME", NULL, "list only hit, partial, decoy, refusal, wrong, empty, ... or miss",
     false},
    {"scorer", "NAME", NULL, "by this scorer's verdicts (`needlegrid score`)", false},
    {"limit", "N", "20", "list at most so many", false},
    {NULL, NULL, NULL, NULL, false},
};

struct listing {
    const char *outcome; /* NULL = any; "miss" = counted and no hit */
    uint64_t limit;
    uint64_t listed;
    uint64_t found;
    struct buf out;
};

static bool wanted(const struct listing *l, const struct trial_record *t)
{
    if (!l->outcome)
        return true;
    if (strcmp(l->outcome, "miss") == 0)
        return t->counted && t->score < 1;
    return strcmp(l->outcome, t->outcome) == 0;
}

/* Text on one line: control characters as spaces, at most n bytes, cut at a character. */
static void append_line(struct buf *out, const char *text, size_t n)
{
    size_t length = strlen(text);

    if (length > n) {
        length = n;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++)
        buf_putc(out, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i]);
}

static const char *expected_text(const struct trial_record *t)
{
    if (t->absent)
        return "nothing";
    return t->expected ? t->expected : "-";
}

static enum status list_trial(void *context, const struct trial_row *row, struct error *e)
{
    const struct trial_record *t = &row->trial;
    struct listing *l = context;

    if (!wanted(l, t))
        return OK;
    l->found++;
    if (l->listed == l->limit)
        return OK;
    l->listed++;
    buf_printf(&l->out, "%8lld  run %-3lld %-20s %7lld  ", (long long)row->trial_id,
               (long long)row->run_id, row->model_name, (long long)t->context_length);
    buf_printf(&l->out, isnan(t->target_depth) ? "     -" : "%5.1f%%", t->target_depth);
    buf_printf(&l->out, "  sample %-3lld %-8s %s <- ", (long long)t->sample, t->outcome,
               expected_text(t));
    append_line(&l->out, t->response ? t->response : "", 40);
    buf_putc(&l->out, '\n');
    return buf_status(&l->out, e);
}

/* NULL stands for all. */
static enum status check_outcome(const char *name, struct error *e)
{
    struct buf names = BUF_INIT(1 << 10);
    enum status status = ERR_USAGE;

    if (!name || strcmp(name, "miss") == 0)
        return OK;
    for (enum outcome o = 0; o < OUTCOME_COUNT && status != OK; o++) {
        if (strcmp(name, outcome_name(o)) == 0)
            status = OK;
        buf_printf(&names, "%s, ", outcome_name(o));
    }
    if (status != OK)
        error_set(e, status, "--outcome \"%s\": must be one of %smiss", name, buf_str(&names));
    buf_release(&names);
    return status;
}

static enum status list_trials(const struct args *a, struct store *s, struct error *e)
{
    struct listing l = {.outcome = args_get(a, "outcome"), .out = BUF_INIT(64 << 20)};
    struct trial_filter filter = {.scorer = args_get(a, "scorer")};
    const char *run_id = args_get(a, "run");
    enum status status;

    if (parse_u64("limit", args_get(a, "limit"), 1, 1000000, &l.limit, e) != OK ||
        check_outcome(l.outcome, e) != OK ||
        (run_id && parse_run(s, args_get(a, "db"), run_id, &filter.run_id, e) != OK) ||
        check_verdicts(s, args_get(a, "db"), filter.run_id, filter.scorer, true, e) != OK)
        return e->code;
    status = store_each_trial(s, &filter, list_trial, &l, e);
    buf_printf(&l.out, "%llu of %llu trials; `needlegrid show ID` shows one\n",
               (unsigned long long)l.listed, (unsigned long long)l.found);
    if (status == OK)
        status = write_stdout(&l.out, e);
    buf_release(&l.out);
    return status;
}

static void append_answer(struct buf *out, const struct trial_record *t)
{
    buf_printf(out, "expected       %s%s\n", expected_text(t),
               t->absent ? ": no needle has this key" : "");
    if (t->decoys)
        buf_printf(out, "other values   %s\n", t->decoys);
    buf_printf(out, "response       ");
    append_line(out, t->response ? t->response : "", 2000);
    buf_printf(out, "\noutcome        %s (scorer %s, score %g, finished by %s)\n", t->outcome,
               t->scorer ? t->scorer : "-", t->score, t->finish_reason ? t->finish_reason : "-");
    if (t->has_logprob)
        buf_printf(out, "log-prob.      %.4f a token of the expected answer, worst rank %lld\n",
                   t->logprob, (long long)t->worst_rank);
    if (t->error)
        buf_printf(out, "error          %s\n", t->error);
}

struct shown {
    struct store *store;
    struct buf out;
};

static void append_depth(struct buf *out, const struct trial_record *t)
{
    buf_puts(out, "depth          ");
    if (isnan(t->target_depth))
        buf_puts(out, "none asked");
    else
        buf_printf(out, "%g%% asked", t->target_depth);
    if (!isnan(t->actual_depth))
        buf_printf(out, ", %.2f%% actual", t->actual_depth);
    if (t->needle_tokens)
        buf_printf(out, "; needle at tokens %lld to %lld", (long long)t->needle_at,
                   (long long)(t->needle_at + t->needle_tokens - 1));
    buf_putc(out, '\n');
}

static enum status show_verdict(void *context, const struct verdict_row *v, struct error *e)
{
    struct buf *out = context;

    buf_printf(out, "also           %s by %s", v->item.outcome, v->scorer);
    if (v->pattern)
        buf_printf(out, " \"%s\"", v->pattern);
    if (v->item.error)
        buf_printf(out, ": %s\n", v->item.error);
    else
        buf_printf(out, ", score %g\n", v->item.score);
    return buf_status(out, e);
}

static enum status show_trial(void *context, const struct trial_row *row, struct error *e)
{
    const struct trial_record *t = &row->trial;
    const struct trial_filter this = {.trial_id = row->trial_id};
    struct shown *shown = context;
    struct buf *out = &shown->out;

    buf_printf(out, "trial          %lld of run %lld: %s, %s, task %s\n", (long long)row->trial_id,
               (long long)row->run_id, row->model_name, row->rule, row->task);
    buf_printf(out, "context        %lld tokens, prompt %lld\n", (long long)t->context_length,
               (long long)t->prompt_tokens);
    append_depth(out, t);
    buf_printf(out, "sample         %lld, seed %llu, haystack %s\n", (long long)t->sample,
               (unsigned long long)t->seed, t->haystack_name ? t->haystack_name : "-");
    buf_printf(out, "key            %s\n", t->needle_key ? t->needle_key : "-");
    append_answer(out, t);
    if (store_each_verdict(shown->store, &this, show_verdict, out, e) != OK)
        return e->code;
    buf_printf(out, "\nprompt (excerpt)\n%s\n", t->excerpt ? t->excerpt : "");
    return buf_status(out, e);
}

static enum status show_one(const struct args *a, struct store *s, struct error *e)
{
    struct shown shown = {s, BUF_INIT(16 << 20)};
    struct trial_filter filter = {.scorer = args_get(a, "scorer")};
    enum status status;

    if (parse_trial(args_positional(a, 0), &filter.trial_id, e) != OK)
        return e->code;
    status = check_verdicts(s, args_get(a, "db"), 0, filter.scorer, true, e);
    if (status == OK)
        status = store_each_trial(s, &filter, show_trial, &shown, e);
    if (status == OK && shown.out.len == 0)
        status = no_trial(args_get(a, "db"), filter.trial_id, e);
    if (status == OK)
        status = write_stdout(&shown.out, e);
    buf_release(&shown.out);
    return status;
}

static int run(const struct args *a, struct error *e)
{
    enum status status;
    struct store *s;

    if (store_open(&s, args_get(a, "db"), STORE_READ, e) != OK)
        return EXIT_USAGE;
    status = args_positional_count(a) ? show_one(a, s, e) : list_trials(a, s, e);
    store_close(s);
    if (status == OK)
        return EXIT_PASSED;
    return status == ERR_IO ? EXIT_INCOMPLETE : EXIT_USAGE; /* stdout may be a full disk */
}

const struct command command_show = {
    .name = "show",
    .positional = "[TRIAL]",
    .max_positional = 1,
    .summary = "one trial (prompt, needle, answer), or a list of trials",
    .options = options,
    .examples = "  needlegrid show --db results/demo.db --outcome miss\n"
                "  needlegrid show 17 --db results/demo.db\n",
    .run = run,
};
