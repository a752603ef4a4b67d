/* step.c - step files: every group of a step, whatever became of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "store/rows.h"

/* What all ranks must write alike: rank 0's. */
struct alike {
    int64_t step, policy_version, n_metrics;
    int64_t tokens[FATE_COUNT];
    double seconds[FATE_COUNT];
    char closed_by[32];
    struct identity identity;
    int64_t spans;
};

static void write_ledger(struct h5 *h, hid_t file, const struct alike *a)
{
    char names[FATE_COUNT][16] = {0};
    int mark = h->n;
    hid_t text = h5_text_type(h, sizeof names[0]);

    for (int i = 0; i < FATE_COUNT; i++)
        snprintf(names[i], sizeof names[i], "%s", fate_text((enum fate)i));
    h5_group(h, file, "/ledger");
    h5_small(h, file, "/ledger/fate", text, FATE_COUNT, names);
    h5_small(h, file, "/ledger/tokens", H5T_NATIVE_INT64, FATE_COUNT, a->tokens);
    h5_small(h, file, "/ledger/seconds", H5T_NATIVE_DOUBLE, FATE_COUNT, a->seconds);
    h5_drop(h, mark);
}

static void write_metrics(struct h5 *h, hid_t file, const struct metric *m, int n)
{
    h5_group(h, file, "/metrics");
    for (int i = 0; i < n; i++) {
        char name[sizeof m->name + 16];

        snprintf(name, sizeof name, "/metrics/%s", m[i].name);
        h5_groups_to(h, file, name);
        h5_small(h, file, name, H5T_NATIVE_DOUBLE, -1, &m[i].value);
    }
}

static void write_head(struct h5 *h, hid_t file, const struct alike *a)
{
    write_identity(h, file, "step", &a->identity);
    h5_set_i64(h, file, "step", a->step);
    h5_set_i64(h, file, "policy_version", a->policy_version);
    h5_set_text(h, file, "closed_by", a->closed_by, sizeof a->closed_by);
}

/* Names are paths in the file: words of [a-zA-Z0-9_.-] between single slashes. */
static bool name_ok(const char *name)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-.";
    size_t n;

    do {
        n = strspn(name, word);
        if (n == 0 || name[0] == '.')
            return false;
        name += n;
    } while (*name++ == '/');
    return name[-1] == '\0';
}

static int check_metrics(const struct metric *m, int n, struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (!memchr(m[i].name, '\0', sizeof m[i].name) || !name_ok(m[i].name))
            return fault_set(f, FAULT_BUG, "a metric can't be named '%.64s'",
                             m[i].name);
    return 0;
}

/* Rank 0's metrics and head, on every rank; *metrics is to be freed. */
static int share_all(struct comm *c, const struct step_record *r, struct alike *a,
                     struct metric **metrics, struct fault *f)
{
    int rc = 0;

    *a = (struct alike){.step = r->step, .policy_version = r->policy_version};
    a->n_metrics = r->n_metrics;
    a->spans = r->spans;
    memcpy(a->tokens, r->ledger_tokens, sizeof a->tokens);
    memcpy(a->seconds, r->ledger_seconds, sizeof a->seconds);
    snprintf(a->closed_by, sizeof a->closed_by, "%s", r->closed_by ? r->closed_by : "");
    identity_copy(&a->identity, r->identity);
    comm_bcast_all(c, SCOPE_WORLD, a, sizeof *a);
    *metrics = mem_new((size_t)a->n_metrics, sizeof **metrics, "metrics", f);
    if (!*metrics)
        rc = f->code;
    else if (comm_rank(c) == 0) {
        if (a->n_metrics)
            memcpy(*metrics, r->metrics, (size_t)a->n_metrics * sizeof **metrics);
        rc = check_metrics(*metrics, r->n_metrics, f);
    }
    if ((rc = comm_agree_all(c, rc, f)))
        return rc;
    comm_bcast_all(c, SCOPE_WORLD, *metrics, (size_t)a->n_metrics * sizeof **metrics);
    return 0;
}

/* Invariant 1: the ledger is what the rows sum up to. */
static int balance_all(struct comm *c, const struct alike *a, const struct rows *rows,
                       struct fault *f)
{
    int64_t sum[FATE_COUNT] = {0};

    for (int i = 0; i < rows->n; i++)
        sum[rows->group[i]->fate] += group_tokens(rows->group[i]);
    comm_sum_i64_all(c, SCOPE_WORLD, sum, FATE_COUNT);
    for (int i = 0; i < FATE_COUNT; i++)
        if (sum[i] != a->tokens[i])
            return fault_set(f, FAULT_BUG,
                             "step %" PRId64 ": the ledger bills %" PRId64
                             " tokens to %s, the groups hold %" PRId64,
                             a->step, a->tokens[i], fate_text((enum fate)i), sum[i]);
    return 0;
}

int store_step_all(struct store *s, const struct step_record *r, struct fault *f)
{
    struct rows rows = {0};
    struct metric *metrics = NULL;
    struct alike a;
    struct draft d;
    int rc = share_all(s->comm, r, &a, &metrics, f);

    if (!rc)
        rc = rows_make_all(&rows, s->comm, r, a.spans, f);
    if (!rc)
        rc = balance_all(s->comm, &a, &rows, f);
    if (rc)
        goto out;
    rc = draft_begin_all(&d, s, SCOPE_WORLD, step_path(s->rollouts, a.step, f),
                         columns_bytes(&rows), f);
    if (!rc) {
        write_head(&d.h, d.file, &a);
        write_ledger(&d.h, d.file, &a);
        write_metrics(&d.h, d.file, metrics, (int)a.n_metrics);
        rc = columns_write_all(&d, &rows, f);
    }
    if (!rc)
        h5_set_i64(&d.h, d.file, "complete", 1);
    rc = draft_publish_all(&d, rc, f);
out:
    rows_free(&rows);
    free(metrics);
    return rc;
}
