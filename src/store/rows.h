/* rows.h - private: which rank's groups go where in a step file.
 *
 * Rows stand in candidate order, then member, whatever rank they come from.  Every rank
 * learns all candidates' sizes, so every rank computes the same places.
 */
#ifndef DAPO_STORE_ROWS_H
#define DAPO_STORE_ROWS_H

#include "store/rundir.h"

enum table { CANDIDATES, COMPLETIONS, TOKENS, ANSWERS, TABLES };

/* The items of one table: in the file, and this rank's runs of them, ascending. */
struct part {
    int64_t total, mine, most; /* items; most: the largest `mine` of any rank */
    int n;
    hsize_t *first, *count;
};

struct rows {
    int n;                      /* this rank's groups */
    const struct group **group; /* [n] in candidate order */
    int64_t (*at)[TABLES];      /* [n] where each one's items begin */
    struct part part[TABLES];
};

/* FAULT_BUG for a group that can't be recorded, or two of the same index. */
int rows_make_all(struct rows *out, struct comm *c, const struct step_record *r,
                  struct fault *f);
void rows_free(struct rows *r);

/* One row of candidates or completions, or the chunk of tokens or answer bytes that
 * belongs to one completion. */
struct place {
    const struct group *g;
    const struct completion *c; /* NULL in the candidates' table */
    int member;
    int64_t at[TABLES]; /* where it begins */
};
union cell {
    int64_t i;
    double d;
};
/* The n items of a column at a place: *v filled, or a pointer into the group. */
typedef const void *column_get(const struct place *p, union cell *v, size_t *n);

/* Packs a column's items of this rank in file order, some at a time. */
struct cells {
    const struct rows *rows;
    enum table table;
    column_get *get;
    size_t width;
    int group, member; /* next chunk */
    size_t used;       /* items of it already packed */
    int64_t at[TABLES];
};
void cells_begin(struct cells *p, const struct rows *r, enum table t, column_get *get,
                 size_t width);
/* Up to `most` items into `out`; how many.  0 at the end. */
size_t cells_next(struct cells *p, void *out, size_t most);

/* All columns (columns.c) of all ranks' rows, and about how many bytes they take. */
int columns_write_all(struct draft *d, const struct rows *rows, struct fault *f);
size_t columns_bytes(const struct rows *rows);

#endif
