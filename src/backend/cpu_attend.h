/* cpu_attend.h - private: what attention and its backward share.
 *
 * Rows are taken in runs of one sequence, and a run in blocks of queries: a query is
 * one row and one of the heads that share a key-value head. */
#ifndef DAPO_BACKEND_CPU_ATTEND_H
#define DAPO_BACKEND_CPU_ATTEND_H

#include "backend/cpu.h"
#include "backend/cpu_kernels.h"

#define BLOCK 16 /* queries worked on together */

/* Consecutive rows of one sequence, seen from one key-value head. */
struct run {
    const struct attend_rows *r;
    const struct heads *h;
    int first, rows, keys;      /* keys: the largest position + 1 */
    int kv_head, group, padded; /* heads that share it; dim in whole vectors */
    size_t q_width, kv_width;   /* of a q row and a k row */
    const size_t *key_at;       /* [keys] where the row of each key starts in k and v */
};

/* The run that starts at row `first`; good until the next.  0 or FAULT_SYSTEM. */
int cpu_run_at(struct run *u, const struct attend_rows *r, const struct heads *h,
               int first, struct fault *f);

/* Query i < rows * group of a run: its first value in q, o and their gradients, its
 * index in lse, and how many keys it sees. */
size_t cpu_run_query(const struct run *u, int i);
size_t cpu_run_lse(const struct run *u, int i);
int cpu_run_sees(const struct run *u, int i);

/* Key `pos` of the run's head: where its values start in k and v. */
static inline size_t cpu_run_key(const struct run *u, int pos)
{
    return u->key_at[pos] + row_at(u->kv_head, u->h->dim);
}

/* Start to fetch keys from .. to-1 of k or v: rows of one head lie too far apart for
 * the hardware to guess. */
void cpu_run_fetch(const float *k, const struct run *u, int from, int to);

/* Transpose keys `tile` * TILE and on (of k or of v) into tile[dim][TILE]. */
void cpu_run_tile(float *tile, const float *k, const struct run *u, int number);

/* to[i][d] = scale * from's query first + i, i < n, rows `width` apart, padded with 0
 */
void cpu_run_take(float *to, int width, const float *from, float scale,
                  const struct run *u, int first, int n);

#endif
