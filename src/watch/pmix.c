/* pmix.c - facts of the job and news of its peers, from PMIx.
 *
 * Open MPI has a PMIx client inside; this is a second user of it (initialisation is
 * counted).  A site whose launcher has no PMIx server, or a build without the library
 * (HAVE_PMIX), loses the facts and the news, no more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/log.h"
#include "watch/watch_private.h"

#ifdef HAVE_PMIX
#include <pmix.h>
#include <stdatomic.h>

static pmix_proc_t me;
static bool up;
static size_t handler = SIZE_MAX;

static bool start(void)
{
    if (!up && getenv("PMIX_NAMESPACE"))
        up = PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS;
    return up;
}

/* A number of the job's or of this rank's; -1 if it isn't known. */
static int fact(const char *key, bool of_job)
{
    pmix_proc_t of = me;
    pmix_value_t *v = NULL;
    int out = -1;

    if (of_job)
        of.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&of, key, NULL, 0, &v) != PMIX_SUCCESS)
        return -1;
    if (v->type == PMIX_UINT32)
        out = (int)v->data.uint32;
    else if (v->type == PMIX_UINT16)
        out = (int)v->data.uint16;
    PMIX_VALUE_RELEASE(v);
    return out;
}

/* "OpenPMIx 4.2.2rc2 (PMIx Standard: ..." -> "4.2.2rc2" */
static void short_version(const char *text, char *out, size_t n)
{
    const char *digit = text + strcspn(text, "0123456789");

    snprintf(out, n, "%.*s", (int)strcspn(digit, " ,("), digit);
}

static void take(int *to, int value)
{
    if (value >= 0)
        *to = value;
}

void pmix_facts(struct site *out)
{
    const char *server = getenv("PMIX_VERSION");

    short_version(PMIx_Get_version(), out->pmix_client, sizeof out->pmix_client);
    if (server)
        short_version(server, out->pmix_server, sizeof out->pmix_server);
    if (!start())
        return;
    out->rank = (int)me.rank;
    take(&out->size, fact(PMIX_JOB_SIZE, true));
    take(&out->local_size, fact(PMIX_LOCAL_SIZE, true));
    take(&out->local_rank, fact(PMIX_LOCAL_RANK, false));
    take(&out->nodes, fact(PMIX_NUM_NODES, true));
}

/* Runs on PMIx's own thread. */
static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cb)
{
    unsigned rank = source ? source->rank : 0;

    (void)id, (void)results, (void)n_results;
    if (status == PMIX_ERR_LOST_CONNECTION && source &&
        !PMIX_CHECK_NSPACE(source->nspace, me.nspace)) {
        /* Its own server.  Ranks that went on would keep the run to themselves. */
        log_line(LOG_ERROR,
                 "the launcher has died; so does this rank: the same command "
                 "goes on from the newest checkpoint");
        _exit(FAULT_STOPPED);
    }
    for (size_t i = 0; i < n; i++)
        if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) && info[i].value.data.proc)
            rank = info[i].value.data.proc->rank;
    if (rank < PMIX_RANK_VALID)
        log_line(LOG_ERROR, "the launcher reports rank %u: %s", rank,
                 PMIx_Error_string(status));
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cb);
}

struct answer {
    _Atomic bool here;
    pmix_status_t status;
    size_t id;
};

static void on_registered(pmix_status_t status, size_t id, void *p)
{
    struct answer *a = p;

    a->status = status;
    a->id = id;
    a->here = true;
}

bool pmix_watch(void)
{
    pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED,      PMIX_ERR_PROC_ABORTING,
                             PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_KILLED_BY_CMD,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_NODE_DOWN,
                             PMIX_ERR_LOST_CONNECTION,   PMIX_ERR_JOB_TERMINATED,
                             PMIX_JCTRL_PREEMPT_ALERT};
    /* Outlives this call if the server never answers. */
    static struct answer a;

    if (!start())
        return false;
    PMIx_Register_event_handler(codes, sizeof codes / sizeof codes[0], NULL, 0,
                                on_event, on_registered, &a);
    for (int i = 0; !a.here && i < 2000; i++)
        usleep(1000);
    if (!a.here || a.status != PMIX_SUCCESS)
        return false;
    handler = a.id;
    return true;
}

void pmix_unwatch(void)
{
    if (handler != SIZE_MAX)
        PMIx_Deregister_event_handler(handler, NULL, NULL);
    handler = SIZE_MAX;
    if (up)
        PMIx_Finalize(NULL, 0);
    up = false;
}

void pmix_end_job(int status, const char *why)
{
    if (start())
        PMIx_Abort(status, why, NULL, 0);
}

#else

void pmix_facts(struct site *out)
{
    snprintf(out->pmix_client, sizeof out->pmix_client, "none");
}

bool pmix_watch(void)
{
    return false;
}

void pmix_unwatch(void)
{
}

void pmix_end_job(int status, const char *why)
{
    (void)status, (void)why;
}

#endif
