/* The runs and trials of a database, as the command line names them. */
#include "cli_impl.h"

#include "needlegrid/store_read.h"

struct search {
    int64_t wanted;
    bool found;
    int64_t first, last; /* 0 = there is no run */
    size_t n;
};

static enum status look_at(void *context, const struct run_record *run, struct error *e)
{
    struct search *s = context;

    (void)e;
    s->found = s->found || run->run_id == s->wanted;
    if (s->n++ == 0)
        s->first = run->run_id;
    s->last = run->run_id;
    return OK;
}

enum status no_runs(const char *db, struct error *e)
{
    return error_set(e, ERR_NOT_FOUND, "%s has no runs yet; `needlegrid run --db %s` makes one", db,
                     db);
}

enum status parse_run(struct store *store, const char *db, const char *text, int64_t *out,
                      struct error *e)
{
    struct search s = {.n = 0};
    uint64_t id;

    if (parse_u64("run", text, 1, INT64_MAX, &id, e) != OK)
        return e->code;
    s.wanted = (int64_t)id;
    if (store_each_run(store, look_at, &s, e) != OK)
        return e->code;
    if (s.n == 0)
        return no_runs(db, e);
    if (!s.found && s.n == 1)
        return error_set(e, ERR_NOT_FOUND, "%s has no run %lld, only run %lld", db,
                         (long long)s.wanted, (long long)s.first);
    if (!s.found)
        return error_set(e, ERR_NOT_FOUND, "%s has no run %lld: its runs are %lld to %lld", db,
                         (long long)s.wanted, (long long)s.first, (long long)s.last);
    *out = s.wanted;
    return OK;
}

enum status only_run(struct store *store, const char *db, int64_t *out, struct error *e)
{
    struct search s = {.n = 0};

    if (store_each_run(store, look_at, &s, e) != OK)
        return e->code;
    if (s.n == 0)
        return no_runs(db, e);
    if (s.n > 1)
        return error_set(e, ERR_USAGE, "%s has %zu runs: say which with --run", db, s.n);
    *out = s.first;
    return OK;
}

enum status parse_trial(const char *text, int64_t *out, struct error *e)
{
    uint64_t id;

    if (parse_u64("trial", text, 1, INT64_MAX, &id, e) != OK)
        return error_set(e, ERR_USAGE, "trial \"%s\": must be a number, as `needlegrid show` lists",
                         text);
    *out = (int64_t)id;
    return OK;
}

enum status no_trial(const char *db, int64_t trial_id, struct error *e)
{
    return error_set(e, ERR_NOT_FOUND, "%s: no trial %lld; `needlegrid show` lists them", db,
                     (long long)trial_id);
}
