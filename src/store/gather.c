/* gather.c - the candidates' and completions' rows of all ranks at rank 0. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm_mpi.h"
#include "dapo/mem.h"
#include "store/rows.h"

/* This rank's cells: candidates' rows, then completions'. */
static void pack(const struct rows *r, column_get *get[2][SMALL_COLUMNS],
                 const int n[2], union cell *out)
{
    size_t one;

    for (int i = 0; i < r->n; i++) {
        struct place p = {.g = r->group[i]};

        for (int k = 0; k < n[CANDIDATES]; k++)
            get[CANDIDATES][k](&p, out++, &one);
    }
    for (int i = 0; i < r->n; i++) {
        struct place p = {.g = r->group[i]};

        memcpy(p.at, r->at[i], sizeof p.at);
        for (p.member = 0; p.member < p.g->size; p.member++) {
            p.c = p.g->members + p.member;
            for (int k = 0; k < n[COMPLETIONS]; k++)
                get[COMPLETIONS][k](&p, out++, &one);
            p.at[TOKENS] += p.c->n_tokens;
            p.at[ANSWERS] += answer_bytes(p.c);
        }
    }
}

/* Where each rank's cells begin, and how many there are in all. */
static int64_t layout(struct gathered *g, const struct rows *r)
{
    int64_t *candidates = g->begin[CANDIDATES], *completions = g->begin[COMPLETIONS];
    int64_t total = 0;

    for (int i = 0; i < r->n_all; i++) {
        candidates[r->all[i].rank] += g->columns[CANDIDATES];
        completions[r->all[i].rank] +=
            g->columns[COMPLETIONS] * r->all[i].items[COMPLETIONS];
    }
    for (int k = 0; k < g->ranks; k++) {
        int64_t a = candidates[k], b = completions[k];

        candidates[k] = total;
        completions[k] = total + a;
        total += a + b;
    }
    return total;
}

/* Bytes from each rank and where they begin: count[ranks], then first[ranks]. */
static void count_bytes(const struct gathered *g, int64_t total, int *count)
{
    const int64_t *begin = g->begin[CANDIDATES];
    int width = (int)sizeof(union cell);

    for (int k = 0; k < g->ranks; k++) {
        int64_t end = k + 1 < g->ranks ? begin[k + 1] : total;

        count[k] = (int)(end - begin[k]) * width;
        count[g->ranks + k] = (int)begin[k] * width;
    }
}

static int gather_new(struct gathered *g, const struct rows *r, struct comm *c,
                      int **count, int64_t *total, struct fault *f)
{
    size_t ranks = (size_t)g->ranks;
    size_t room = (size_t)r->part[COMPLETIONS].total + (size_t)r->n_all + 1;
    bool root = comm_rank(c) == 0;

    *count = mem_new(2 * ranks, sizeof **count, "a step's rows", f);
    g->begin[0] = mem_new(ranks, sizeof(int64_t), "a step's rows", f);
    g->begin[1] = mem_new(ranks, sizeof(int64_t), "a step's rows", f);
    g->at = mem_new(ranks, sizeof *g->at, "a step's rows", f);
    if (!*count || !g->begin[0] || !g->begin[1] || !g->at)
        return f->code;
    *total = layout(g, r);
    if (*total > INT_MAX / (int64_t)sizeof(union cell))
        return fault_set(f, FAULT_BUG, "a step has too many completions to record");
    count_bytes(g, *total, *count);
    g->cell = mem_new(root ? (size_t)*total : 0, sizeof *g->cell, "a step's rows", f);
    g->column = mem_new(root ? room : 0, sizeof *g->column, "a step's rows", f);
    return g->cell && g->column ? 0 : f->code;
}

int gather_all(struct gathered *g, const struct rows *r, struct comm *c,
               column_get *get[2][SMALL_COLUMNS], const int n[2], struct fault *f)
{
    int *count = NULL, me = comm_rank(c), rc;
    union cell *mine = NULL;
    int64_t total = 0;

    *g = (struct gathered){.columns = {n[0], n[1]}, .ranks = comm_size(c)};
    rc = gather_new(g, r, c, &count, &total, f);
    if (!rc) {
        mine = mem_new((size_t)count[me] + 1, 1, "a step's rows", f);
        rc = mine ? 0 : f->code;
    }
    if (!(rc = comm_agree_all(c, rc, f))) {
        pack(r, get, n, mine);
        /* All have just agreed: nobody waits long, and a wait with back-off would slow
         * a message of many fragments down. */
        MUST(MPI_Gatherv(mine, count[me], MPI_BYTE, g->cell, count, count + g->ranks,
                         MPI_BYTE, 0, comm_mpi(c)));
    }
    free(mine);
    free(count);
    return rc;
}

void gather_column(struct gathered *g, const struct rows *r, enum table t, int k)
{
    union cell *out = g->column;

    memcpy(g->at, g->begin[t], (size_t)g->ranks * sizeof *g->at);
    for (int i = 0; i < r->n_all; i++) {
        const struct row *a = r->all + i;

        for (int64_t m = 0; m < a->items[t]; m++, g->at[a->rank] += g->columns[t])
            *out++ = g->cell[g->at[a->rank] + k];
    }
}

void gather_free(struct gathered *g)
{
    free(g->cell);
    free(g->column);
    free(g->at);
    free(g->begin[0]);
    free(g->begin[1]);
    *g = (struct gathered){0};
}
