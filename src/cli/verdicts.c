/* Whose verdicts a command reads: --scorer. */
#include "cli_impl.h"

#include "needlegrid/score.h"
#include "needlegrid/store_verdict.h"

#include <stdio.h>
#include <string.h>

static enum status check_name(const char *scorer, struct error *e)
{
    struct buf list = BUF_INIT(400);

    for (const char *const *n = scorer_names(); *n; n++) {
        if (strcmp(*n, scorer) == 0) {
            buf_release(&list);
            return OK;
        }
        buf_printf(&list, "%s%s", list.len ? ", " : "", *n);
    }
    error_set(e, ERR_USAGE, "--scorer \"%s\": must be one of %s", scorer, buf_str(&list));
    buf_release(&list);
    return ERR_USAGE;
}

enum status check_verdicts(struct store *store, const char *db, int64_t run_id, const char *scorer,
                           bool failures_too, struct error *e)
{
    struct verdict_count c;

    if (!scorer)
        return OK;
    if (check_name(scorer, e) != OK || store_count_verdicts(store, run_id, scorer, &c, e) != OK)
        return e->code;
    if (c.trials == 0)
        return OK;
    if (c.judged == 0 && c.failed == 0)
        return error_set(e, ERR_NOT_FOUND,
                         "%s has no verdict by %s%s; `needlegrid score --db %s --scorer %s` makes "
                         "them",
                         db, scorer, run_id ? " of this run" : "", db, scorer);
    if (c.judged == 0 && !failures_too)
        return error_set(e, ERR_NOT_FOUND,
                         "%s could not judge any of the %lld answers it was given; `needlegrid "
                         "show --db %s --scorer %s` lists them",
                         scorer, (long long)c.failed, db, scorer);
    if (c.failed + c.missing > 0)
        fprintf(stderr,
                "needlegrid: %lld of %lld trials have no verdict by %s: %lld could not be judged, "
                "%lld have not been\n",
                (long long)(c.failed + c.missing), (long long)c.trials, scorer, (long long)c.failed,
                (long long)c.missing);
    return OK;
}
