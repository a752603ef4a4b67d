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
    int64_t total; /* items */
    int n;
    hsize_t *first, *count;
};

/* One group of any rank, as all ranks know it. */
struct row {
    int64_t index, items[TABLES];
    int64_t rank, local; /* whose, and its position there */
};

struct rows {
    bool spans; /* step_record */
    int n_all;
    struct row *all;            /* [n_all] every rank's, in candidate order */
    int n;                      /* this rank's groups */
    const struct group **group; /* [n] in candidate order */
    int64_t (*at)[TABLES];      /* [n] where each one's items begin */
    struct part part[TABLES];
};

/* FAULT_BUG for a group that can't be recorded, or two of the same index. */
int rows_make_all(struct rows *out, struct comm *c, const struct step_record *r,
                  bool spans, struct fault *f);
void rows_free(struct rows *r);
int64_t answer_bytes(const struct completion *c);

/* One row of candidates or completions, or the chunk of tokens or answer bytes that
 * belongs to one completion. */
struct place {
    const struct group *g;
    const struct completion *c; /* NULL in the candidates' table */
    int member;
    int64_t at[TABLES]; /* where the completion's items begin */
};
union cell {
    int64_t i;
    double d;
};
/* The n items of a column at a place: *v filled, or a pointer into the group. */
typedef const void *column_get(const struct place *p, union cell *v, size_t *n);

/* Packs a column of chunks (tokens, answers) in file order, some items at a time. */
struct cells {
    const struct rows *rows;
    column_get *get;
    size_t width;
    int group, member; /* next chunk */
    size_t used;       /* items of it already packed */
};
void cells_begin(struct cells *p, const struct rows *r, column_get *get, size_t width);
/* Up to `most` items into `out`; how many.  0 at the end. */
size_t cells_next(struct cells *p, void *out, size_t most);

#define SMALL_COLUMNS 64
/* The rows of both small tables at rank 0 (gather.c). */
struct gathered {
    int columns[2];     /* of CANDIDATES and of COMPLETIONS */
    union cell *cell;   /* rank by rank: its candidates' rows, then its completions' */
    union cell *column; /* room for one column and one item more */
    int64_t *begin[2];  /* [ranks] where each one's rows of a table begin in cell */
    int64_t *at;        /* [ranks] scratch */
    int ranks;
};
int gather_all(struct gathered *g, const struct rows *r, struct comm *c,
               column_get *get[2][SMALL_COLUMNS], const int n[2], struct fault *f);
/* Rank 0: column k of a table, in candidate order, into g->column. */
void gather_column(struct gathered *g, const struct rows *r, enum table t, int k);
void gather_free(struct gathered *g);

/* All columns (columns.c) of all ranks' rows, and about how many bytes they take. */
int columns_write_all(struct draft *d, const struct rows *rows, struct fault *f);
size_t columns_bytes(const struct rows *rows);

#endif
