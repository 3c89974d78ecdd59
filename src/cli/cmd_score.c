/* needlegrid score: judges stored answers again, without inference. */
#include "cli_impl.h"

#include "needlegrid/json.h"
#include "needlegrid/mem.h"
#include "needlegrid/os.h"
#include "needlegrid/score.h"
#include "needlegrid/store_verdict.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"db", "FILE", "needlegrid.db", "the database", false},
    {"run", "ID", NULL, "a run in it; default: all", true},
    {"scorer", "NAME", NULL,
     "number, exact, contains, regex, all-of, logprob; default: the one of the run's prompt",
     false},
    {"pattern", "RE", NULL, "of regex: PCRE2, {value} stands for the value", false},
    {"refusals", "FILE", NULL, "patterns of refusal; default: prompts/refusals.txt", false},
    {"data", "FOLDER", NULL, "where prompts/ lies", false},
    {NULL, NULL, NULL, NULL, false},
};

/* A run to judge; strings are owned. */
struct judged_run {
    int64_t run_id;
    char *title;    /* "model, rule" */
    char *template; /* its JSON, or NULL */
};

/* The verdicts of one run, to be stored. */
struct verdicts {
    struct verdict_item *items; /* [n] */
    size_t n, cap;
    char **messages; /* [n_messages] owned: why there is no verdict */
    size_t n_messages, messages_cap;
};

/* One answer as it stands in the store, taken apart. */
struct values {
    struct buf text;
    const char **list; /* [n] into text */
    size_t n, cap;
};

struct tally {
    size_t n; /* answers judged */
    size_t failed;
    size_t counted[2]; /* before, after */
    double score[2];
};

struct job {
    const struct args *args;
    char *refusals;
    struct store *store;
    struct judged_run *runs; /* [n_runs] */
    size_t n_runs, runs_cap;
    struct scorer *scorer;
    struct values expected, decoys;
    struct verdicts verdicts;
    struct tally tally;                         /* of the run */
    size_t moved[OUTCOME_COUNT][OUTCOME_COUNT]; /* before, after */
    size_t n, failed;
    char *first_failure;
    struct buf out;
};

/* ---- the runs ---- */

static enum status note_run(void *context, const struct run_record *run, struct error *e)
{
    struct buf title = BUF_INIT(1 << 16);
    struct job *j = context;
    struct judged_run *r;

    if (mem_grow(&j->runs, &j->runs_cap, j->n_runs + 1, sizeof(*j->runs), "runs", e) != OK)
        return e->code;
    r = &j->runs[j->n_runs++];
    *r = (struct judged_run){.run_id = run->run_id};
    buf_printf(&title, "%s, %s", run->model_name, run->rule);
    if (buf_status(&title, e) == OK)
        r->title = mem_strndup(buf_str(&title), title.len, e);
    buf_release(&title);
    if (r->title && run->template_text)
        r->template = mem_strndup(run->template_text, strlen(run->template_text), e);
    return !r->title || (run->template_text && !r->template) ? e->code : OK;
}

/* True if --run names the run, or there is none. */
static enum status is_wanted(const struct job *j, int64_t run_id, bool *out, struct error *e)
{
    size_t n;
    const char *const *ids = args_all(j->args, "run", &n);

    *out = n == 0;
    for (size_t i = 0; i < n; i++) {
        int64_t id;
        if (parse_run(j->store, args_get(j->args, "db"), ids[i], &id, e) != OK)
            return e->code;
        *out = *out || id == run_id;
    }
    return OK;
}

/* ---- the scorer of a run ---- */

/* A member of the run's template that is a string, or NULL. */
static const char *template_string(const struct json *doc, const char *name)
{
    const struct json_node *node = doc ? json_member(json_root(doc), name) : NULL;
    const char *text;
    struct error e;

    return node && json_is_string(node) && json_string(doc, node, &text, &e) == OK ? text : NULL;
}

/* As the options say, else as the run's template does. */
static enum status open_scorer(struct job *j, const struct judged_run *r, struct error *e)
{
    struct scorer_spec spec = {args_get(j->args, "scorer"), args_get(j->args, "pattern"),
                               j->refusals};
    struct json *doc = NULL;
    enum status status = OK;
    bool own;

    if (r->template && json_parse(&doc, r->template, strlen(r->template), "template", e) != OK)
        doc = NULL; /* a template of another kind: the options must say it all */
    own = !spec.name;
    if (own)
        spec.name = template_string(doc, "scorer");
    if (!spec.pattern && spec.name && strcmp(spec.name, "regex") == 0)
        spec.pattern = template_string(doc, "pattern");
    if (!spec.name)
        status = error_set(e, ERR_USAGE, "run %lld: its prompt names no scorer: say --scorer",
                           (long long)r->run_id);
    else if (scorer_new(&j->scorer, &spec, e) != OK)
        status = own ? error_prefix(e, "run %lld", (long long)r->run_id) : e->code;
    json_close(doc);
    return status;
}

/* ---- one answer ---- */

/* Takes "a, b" apart. */
static enum status split_values(struct values *v, const char *joined, struct error *e)
{
    char *at;

    v->n = 0;
    buf_clear(&v->text);
    if (!joined || !*joined)
        return OK;
    buf_puts(&v->text, joined);
    if (buf_status(&v->text, e) != OK)
        return e->code;
    for (at = v->text.data; at;) {
        char *next = strstr(at, ", ");
        if (mem_grow(&v->list, &v->cap, v->n + 1, sizeof(*v->list), "values", e) != OK)
            return e->code;
        v->list[v->n++] = at;
        if (next) {
            *next = '\0';
            next += 2;
        }
        at = next;
    }
    return OK;
}

/* The message for the items that follow, kept until they are stored. */
static enum status keep_message(struct verdicts *v, const char *text, const char **out,
                                struct error *e)
{
    *out = v->n_messages ? v->messages[v->n_messages - 1] : NULL;
    if (*out && strcmp(*out, text) == 0)
        return OK;
    if (mem_grow(&v->messages, &v->messages_cap, v->n_messages + 1, sizeof(*v->messages),
                 "messages", e) != OK ||
        !(v->messages[v->n_messages] = mem_strndup(text, strlen(text), e)))
        return e->code;
    *out = v->messages[v->n_messages++];
    return OK;
}

static enum status find_outcome(const char *name, enum outcome *out, struct error *e)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (strcmp(outcome_name((enum outcome)o), name) == 0) {
            *out = (enum outcome)o;
            return OK;
        }
    }
    return error_set(e, ERR_FORMAT, "unknown outcome \"%s\" in the database", name);
}

static void count(struct job *j, const struct trial_record *t, enum outcome before,
                  const struct verdict *after)
{
    j->moved[before][after->outcome]++;
    j->tally.n++;
    j->tally.failed += after->outcome == OUTCOME_NO_VERDICT;
    if (outcome_counts(before)) {
        j->tally.counted[0]++;
        j->tally.score[0] += t->score;
    }
    if (outcome_counts(after->outcome)) {
        j->tally.counted[1]++;
        j->tally.score[1] += after->score;
    }
}

/* A failure to judge is written down as such; a failure of this program ends it. */
static enum status judge(struct job *j, const struct trial_record *t, struct verdict *v,
                         const char **message, struct error *e)
{
    const struct answer answer = {
        .response = t->response,
        .n = t->response ? strlen(t->response) : 0,
        .finish_length = t->finish_reason && strcmp(t->finish_reason, "length") == 0,
        .has_logprob = t->has_logprob,
        .logprob = t->logprob,
        .worst_rank = t->worst_rank,
    };
    struct truth truth = {.absent = t->absent};

    *message = NULL;
    if (split_values(&j->expected, t->expected, e) != OK ||
        split_values(&j->decoys, t->decoys, e) != OK)
        return e->code;
    truth.expected = j->expected.list;
    truth.n_expected = j->expected.n;
    truth.decoys = j->decoys.list;
    truth.n_decoys = j->decoys.n;
    if (scorer_judge(j->scorer, &answer, &truth, v, e) == OK)
        return OK;
    if (e->code != ERR_LIMIT && e->code != ERR_USAGE)
        return e->code;
    if (!j->first_failure && !(j->first_failure = mem_strndup(e->message, strlen(e->message), e)))
        return e->code;
    return keep_message(&j->verdicts, e->message, message, e);
}

static enum status judge_trial(void *context, const struct trial_row *row, struct error *e)
{
    const struct trial_record *t = &row->trial;
    struct job *j = context;
    struct verdicts *all = &j->verdicts;
    enum outcome before = OUTCOME_NO_VERDICT;
    struct verdict v;
    const char *message;

    if (find_outcome(t->outcome, &before, e) != OK)
        return e->code;
    if (!t->counted && before != OUTCOME_NO_VERDICT)
        return OK; /* there is no answer */
    if (judge(j, t, &v, &message, e) != OK ||
        mem_grow(&all->items, &all->cap, all->n + 1, sizeof(*all->items), "verdicts", e) != OK)
        return e->code;
    all->items[all->n++] = (struct verdict_item){row->trial_id, outcome_name(v.outcome),
                                                 outcome_counts(v.outcome), v.score, message};
    count(j, t, before, &v);
    return OK;
}

/* ---- one run ---- */

static void clear_verdicts(struct verdicts *v)
{
    for (size_t i = 0; i < v->n_messages; i++)
        free(v->messages[i]);
    v->n_messages = 0;
    v->n = 0;
}

static enum status store_verdicts(struct job *j, struct error *e)
{
    char now[24];
    const struct verdict_batch b = {
        .scorer = scorer_name(j->scorer),
        .scorer_hash = scorer_hash(j->scorer),
        .pattern = scorer_pattern(j->scorer),
        .tool_version = needlegrid_version,
        .scored_at = now,
        .items = j->verdicts.items,
        .n = j->verdicts.n,
    };

    os_utc_now(now);
    return store_put_verdicts(j->store, &b, e);
}

static void append_mean(struct buf *out, double sum, size_t n)
{
    if (n)
        buf_printf(out, "%.2f%%", 100 * sum / (double)n);
    else
        buf_puts(out, "none");
}

static void append_run(struct job *j, const struct judged_run *r)
{
    const struct tally *t = &j->tally;

    buf_printf(&j->out, "run %lld: %s: %zu answers judged by %s, %zu without a verdict",
               (long long)r->run_id, r->title, t->n, scorer_name(j->scorer), t->failed);
    buf_puts(&j->out, "; mean score ");
    append_mean(&j->out, t->score[0], t->counted[0]);
    buf_puts(&j->out, ", now ");
    append_mean(&j->out, t->score[1], t->counted[1]);
    buf_putc(&j->out, '\n');
}

/* A scorer that does not suit one of the runs is found before any is judged. */
static enum status check_run(struct job *j, const struct judged_run *r, struct error *e)
{
    enum status status = open_scorer(j, r, e);

    scorer_free(j->scorer);
    j->scorer = NULL;
    return status;
}

static enum status score_run(struct job *j, const struct judged_run *r, struct error *e)
{
    const struct trial_filter filter = {.run_id = r->run_id};
    enum status status = open_scorer(j, r, e);

    j->tally = (struct tally){.n = 0};
    if (status == OK)
        status = store_each_trial(j->store, &filter, judge_trial, j, e);
    if (status == OK)
        status = store_verdicts(j, e);
    if (status == OK)
        append_run(j, r);
    j->n += j->tally.n;
    j->failed += j->tally.failed;
    clear_verdicts(&j->verdicts);
    scorer_free(j->scorer);
    j->scorer = NULL;
    return status;
}

/* ---- before and after ---- */

static bool is_used(const struct job *j, int o, bool before)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (before ? j->moved[o][i] : j->moved[i][o])
            return true;
    return false;
}

static int column_width(int o)
{
    int n = (int)strlen(outcome_name((enum outcome)o));

    return n < 7 ? 7 : n;
}

/* Rows: the trials' own outcome; columns: the one given now. */
static void append_table(struct job *j)
{
    buf_printf(&j->out, "\n%-15s", "own \\ now");
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (is_used(j, o, false))
            buf_printf(&j->out, "  %*s", column_width(o), outcome_name((enum outcome)o));
    buf_putc(&j->out, '\n');
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (!is_used(j, i, true))
            continue;
        buf_printf(&j->out, "%-15s", outcome_name((enum outcome)i));
        for (int o = 0; o < OUTCOME_COUNT; o++) {
            if (!is_used(j, o, false))
                continue;
            if (j->moved[i][o])
                buf_printf(&j->out, "  %*zu", column_width(o), j->moved[i][o]);
            else
                buf_printf(&j->out, "  %*s", column_width(o), ".");
        }
        buf_putc(&j->out, '\n');
    }
}

/* ---- the command ---- */

static enum status find_refusals(struct job *j, struct error *e)
{
    const char *given = args_get(j->args, "refusals");
    char *data = NULL;

    if (given) {
        j->refusals = mem_strndup(given, strlen(given), e);
    } else {
        if (data_folder(args_get(j->args, "data"), &data, e) != OK)
            return e->code;
        j->refusals = path_join(data, "prompts/refusals.txt", e);
        free(data);
    }
    if (j->refusals && !os_exists(j->refusals))
        return error_set(e, ERR_USAGE, "no patterns of refusal: no such file: %s", j->refusals);
    return j->refusals ? OK : e->code;
}

/* Opening for writing would make a file that is not there. */
static enum status open_store(struct job *j, struct error *e)
{
    const char *db = args_get(j->args, "db");
    struct store *look;

    if (!os_exists(db)) {
        if (store_open(&look, db, STORE_READ, e) != OK)
            return e->code;
        store_close(look);
    }
    return store_open(&j->store, db, STORE_WRITE, e);
}

typedef enum status run_fn(struct job *j, const struct judged_run *r, struct error *e);

static enum status over_wanted_runs(struct job *j, run_fn *each, struct error *e)
{
    enum status status = OK;

    for (size_t i = 0; i < j->n_runs && status == OK; i++) {
        bool wanted;
        status = is_wanted(j, j->runs[i].run_id, &wanted, e);
        if (status == OK && wanted)
            status = each(j, &j->runs[i], e);
    }
    return status;
}

static enum status score_runs(struct job *j, struct error *e)
{
    const char *db = args_get(j->args, "db");
    enum status status = store_each_run(j->store, note_run, j, e);

    if (status == OK && j->n_runs == 0)
        return no_runs(db, e);
    if (status == OK)
        status = over_wanted_runs(j, check_run, e);
    return status == OK ? over_wanted_runs(j, score_run, e) : status;
}

static int score(struct job *j, struct error *e)
{
    if (open_store(j, e) != OK || find_refusals(j, e) != OK)
        return EXIT_USAGE;
    if (score_runs(j, e) != OK)
        return e->code == ERR_IO ? EXIT_INCOMPLETE : EXIT_USAGE;
    if (j->n)
        append_table(j);
    if (write_stdout(&j->out, e) != OK)
        return EXIT_INCOMPLETE;
    if (j->n == 0) {
        error_set(e, ERR_NOT_FOUND, "%s: there is no answer to judge", args_get(j->args, "db"));
        return EXIT_INCOMPLETE;
    }
    if (j->failed == 0)
        return EXIT_PASSED;
    if (j->failed == j->n)
        error_set(e, ERR_LIMIT, "none of the %zu answers has a verdict: %s", j->n,
                  j->first_failure);
    else
        error_set(e, ERR_LIMIT, "%zu of %zu answers have no verdict: %s", j->failed, j->n,
                  j->first_failure);
    return EXIT_INCOMPLETE;
}

static int run(const struct args *a, struct error *e)
{
    struct job j = {.args = a,
                    .expected = {.text = BUF_INIT(1 << 24)},
                    .decoys = {.text = BUF_INIT(1 << 24)},
                    .out = BUF_INIT(1 << 24)};
    int code = score(&j, e);

    store_close(j.store);
    clear_verdicts(&j.verdicts);
    free(j.verdicts.items);
    free(j.verdicts.messages);
    buf_release(&j.expected.text);
    buf_release(&j.decoys.text);
    free(j.expected.list);
    free(j.decoys.list);
    for (size_t i = 0; i < j.n_runs; i++) {
        free(j.runs[i].title);
        free(j.runs[i].template);
    }
    free(j.runs);
    free(j.refusals);
    free(j.first_failure);
    buf_release(&j.out);
    return code;
}

const struct command command_score = {
    .name = "score",
    .positional = "",
    .summary = "judge stored answers by another scorer, without inference",
    .options = options,
    .examples = "  needlegrid score --db results/demo.db --scorer contains\n"
                "  needlegrid heatmap --db results/demo.db --scorer contains\n"
                "  needlegrid score --db results/demo.db --scorer regex --pattern 'is:? {value}'\n",
    .run = run,
};
