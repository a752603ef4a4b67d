/* rows.c - see rows.h. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm_mpi.h"
#include "dapo/mem.h"
#include "store/rows.h"

int64_t answer_bytes(const struct completion *c)
{
    return c->answer ? (int64_t)strlen(c->answer) : 0;
}

static int look_at(const struct group *g, bool spans, struct row *row, struct fault *f)
{
    if (!g)
        return fault_set(f, FAULT_BUG, "a group to record is NULL");
    *row = (struct row){.index = g->index, .items = {[CANDIDATES] = 1}};
    if (g->index < 0 || g->size < 0 || (unsigned)g->fate >= FATE_COUNT)
        return fault_set(f, FAULT_BUG,
                         "candidate %" PRId64
                         " (fate %d, %d members) can't be recorded",
                         g->index, (int)g->fate, g->size);
    row->items[COMPLETIONS] = g->size;
    for (int m = 0; m < g->size; m++) {
        const struct completion *c = g->members + m;

        if (c->n_tokens < 0 || (unsigned)c->finish >= FINISH_COUNT ||
            (unsigned)c->verdict >= VERDICT_COUNT ||
            (c->n_tokens > 0 && (!c->ids || !c->logprobs || (spans && !c->versions))))
            return fault_set(f, FAULT_BUG,
                             "candidate %" PRId64 ", member %d can't be recorded",
                             g->index, m);
        row->items[TOKENS] += c->n_tokens;
        row->items[ANSWERS] += answer_bytes(c);
    }
    return 0;
}

static int by_index(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* Every rank's rows, in rank order, on all: out[*n]. */
static int gather_rows_all(struct comm *c, const struct row *mine, int n_mine,
                           struct row **out, int *n, struct fault *f)
{
    int size = comm_size(c), rc = 0, width = (int)sizeof(struct row);
    int64_t *each = mem_new((size_t)size, sizeof *each, "a step's layout", f);
    int *count = mem_new(2 * (size_t)size, sizeof *count, "a step's layout", f);
    int64_t total = 0;

    *out = NULL;
    *n = 0;
    if ((rc = comm_agree_all(c, each && count ? 0 : f->code, f)))
        goto out;
    comm_gather_i64_all(c, n_mine, each);
    for (int r = 0; r < size; r++) {
        count[r] = (int)each[r] * width;
        count[size + r] = (int)total * width;
        total += each[r];
        if (total > INT_MAX / width) {
            rc = fault_set(f, FAULT_BUG, "a step has too many candidates to record");
            goto out;
        }
    }
    *out = mem_new((size_t)total, sizeof **out, "a step's layout", f);
    if ((rc = comm_agree_all(c, *out ? 0 : f->code, f)))
        goto out;
    MUST(MPI_Allgatherv(mine, n_mine * width, MPI_BYTE, *out, count, count + size,
                        MPI_BYTE, comm_mpi(c)));
    *n = (int)total;
out:
    free(each);
    free(count);
    return rc;
}

static void part_add(struct part *p, int64_t first, int64_t count)
{
    int last = p->n - 1;

    if (count == 0)
        return;
    if (last >= 0 && p->first[last] + p->count[last] == (hsize_t)first) {
        p->count[last] += (hsize_t)count;
        return;
    }
    p->first[p->n] = (hsize_t)first;
    p->count[p->n++] = (hsize_t)count;
}

/* From all rows in candidate order: where this rank's lie. */
static void place_mine(struct rows *r, const struct row *all, int n, int me,
                       const struct step_record *record)
{
    for (int i = 0; i < n; i++) {
        bool mine = all[i].rank == me;

        for (int t = 0; t < TABLES; t++) {
            struct part *p = r->part + t;

            if (mine) {
                r->at[r->n][t] = p->total;
                part_add(p, p->total, all[i].items[t]);
            }
            p->total += all[i].items[t];
        }
        if (mine)
            r->group[r->n++] = record->groups[all[i].local];
    }
}

static int rows_new(struct rows *r, int n, struct fault *f)
{
    size_t room = (size_t)n;
    bool ok;

    *r = (struct rows){0};
    r->group = mem_new(room, sizeof *r->group, "a step's layout", f);
    r->at = mem_new(room, sizeof *r->at, "a step's layout", f);
    ok = r->group && r->at;
    for (int t = 0; t < TABLES; t++) {
        struct part *p = r->part + t;

        p->first = mem_new(room, sizeof *p->first, "a step's layout", f);
        p->count = mem_new(room, sizeof *p->count, "a step's layout", f);
        ok = ok && p->first && p->count;
    }
    return ok ? 0 : f->code;
}

void rows_free(struct rows *r)
{
    for (int t = 0; t < TABLES; t++) {
        free(r->part[t].first);
        free(r->part[t].count);
    }
    free(r->all);
    free(r->group);
    free(r->at);
    *r = (struct rows){0};
}

int rows_make_all(struct rows *out, struct comm *c, const struct step_record *r,
                  bool spans, struct fault *f)
{
    size_t room = r->n_groups > 0 ? (size_t)r->n_groups : 0;
    struct row *mine = mem_new(room, sizeof *mine, "a step's layout", f), *all;
    int rc = rows_new(out, (int)room, f), n;

    out->spans = spans;
    if (!mine)
        rc = f->code;
    for (int i = 0; !rc && i < r->n_groups; i++) {
        rc = look_at(r->groups[i], spans, mine + i, f);
        mine[i].rank = comm_rank(c);
        mine[i].local = i;
    }
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = gather_rows_all(c, mine, (int)room, &out->all, &out->n_all, f);
    all = out->all;
    n = out->n_all;
    if (!rc) {
        if (n)
            qsort(all, (size_t)n, sizeof *all, by_index);
        for (int i = 1; !rc && i < n; i++)
            if (all[i].index == all[i - 1].index)
                rc = fault_set(f, FAULT_BUG, "candidate %" PRId64 " is recorded twice",
                               all[i].index);
    }
    if (!rc)
        place_mine(out, all, n, comm_rank(c), r);
    free(mine);
    return rc;
}

void cells_begin(struct cells *p, const struct rows *r, column_get *get, size_t width)
{
    *p = (struct cells){.rows = r, .get = get, .width = width};
}

size_t cells_next(struct cells *p, void *out, size_t most)
{
    size_t done = 0;

    while (done < most && p->group < p->rows->n) {
        const struct group *g = p->rows->group[p->group];
        struct place place = {.g = g, .c = g->members + p->member};
        const void *items = NULL;
        size_t n = 0, k;
        union cell v;

        if (p->member < g->size)
            items = p->get(&place, &v, &n);
        k = n - p->used < most - done ? n - p->used : most - done;
        if (k && items)
            memcpy((char *)out + done * p->width,
                   (const char *)items + p->used * p->width, k * p->width);
        done += k;
        p->used += k;
        if (p->used < n)
            break;
        p->used = 0;
        if (++p->member >= g->size) {
            p->member = 0;
            p->group++;
        }
    }
    return done;
}
