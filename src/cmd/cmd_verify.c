/* cmd_verify.c - dapo verify RUN, dapo repair RUN: what is whole, and putting in order.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "dapo/inspect.h"
#include "dapo/log.h"
#include "dapo/store.h"

static void progress(size_t done, size_t all, const char *file)
{
    log_progress("verify", (long)done, (long)all, file);
}

static size_t print_findings(const struct inspect_findings *x, bool all)
{
    static const char *const level[] = {"ok", "warning", "damaged"};
    size_t damaged = 0;

    for (size_t i = 0; i < x->n; i++) {
        const struct inspect_finding *item = &x->item[i];

        damaged += item->level == INSPECT_DAMAGED;
        if (!all && item->level == INSPECT_OK)
            continue;
        printf("%-8s %s%s%s\n", level[item->level], item->file, *item->text ? ": " : "",
               item->text);
    }
    return damaged;
}

static void print_resumes(const struct inspect_findings *x)
{
    if (x->resumes >= 0)
        printf("resumes from step %" PRId64 "\n", x->resumes);
    else
        printf("resumes from nothing: no whole checkpoint; a job starts at step 1\n");
}

int cmd_verify(struct cmd_env *e, struct fault *f)
{
    struct inspect_findings x;
    bool quiet = cmd_flag(e, "--quiet");
    size_t damaged;
    int rc = cmd_rest(e, 1, 1, f);

    if (!rc)
        rc = inspect_check_run(&x, e->argv[0], progress, f);
    if (rc)
        return rc;
    log_progress_end();
    damaged = print_findings(&x, !quiet);
    print_resumes(&x);
    inspect_findings_free(&x);
    rc = cmd_written(f);
    if (!rc && damaged)
        rc = fault_set(f, FAULT_DATA,
                       "%s: %zu damaged files; dapo repair sets them aside", e->argv[0],
                       damaged);
    return rc;
}

static int repair_all(struct cmd_env *e, struct inspect_findings *x, struct fault *f)
{
    struct store *s;
    int rc = store_open_all(&s, e->comm, e->argv[0], f); /* nobody writes into it */

    if (rc)
        return rc;
    rc = comm_rank(e->comm) == 0 ? inspect_check_run(x, e->argv[0], progress, f) : 0;
    log_progress_end();
    rc = comm_agree_all(e->comm, rc, f);
    if (!rc)
        rc = store_repair_all(s, x, f);
    store_close_all(s);
    return rc;
}

int cmd_repair_all(struct cmd_env *e, struct fault *f)
{
    struct inspect_findings x = {.resumes = -1};
    struct store *view;
    int rc = cmd_rest(e, 1, 1, f);

    rc = comm_agree_all(e->comm, rc, f);
    if (rc || (rc = store_view_all(&view, e->comm, e->argv[0], f)))
        return rc; /* not a run: nothing is made */
    store_close_all(view);
    rc = repair_all(e, &x, f);
    if (!rc && comm_rank(e->comm) == 0) {
        print_findings(&x, false);
        print_resumes(&x);
    }
    inspect_findings_free(&x);
    return rc;
}
