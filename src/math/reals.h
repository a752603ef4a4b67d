/* reals.h - private to reals.c and solve.c: sets of real numbers. */
#ifndef DAPO_MATH_REALS_H
#define DAPO_MATH_REALS_H

#include "math/compare.h"

/* From lo to hi; NULL is minus or plus infinity, where the flag means nothing. */
struct span {
    const struct node *lo, *hi;
    bool lo_in, hi_in; /* the end belongs to it */
};
struct reals {
    int n;
    struct span at[MAX_SPANS];
    const struct node *var; /* whose values they are; NULL: not said */
};

/* All false: more than MAX_SPANS, or an order of two ends isn't known. */
bool reals_sort(struct math *m, struct reals *s); /* ascending, merged, none empty */
bool reals_complement(struct math *m, struct reals *s);
bool reals_union(struct reals *a, const struct reals *b);
bool reals_intersect(struct math *m, struct reals *a, const struct reals *b);
struct math_result reals_compare(struct math *m, struct reals *a, struct reals *b);

/* solve.c: a tree as a set: intervals, braces, unions, named sets, relations that are
 * linear in one variable (or the absolute value of such).  A bare list of relations
 * holds together if it can, and is a union otherwise; one of intervals is a union.
 * False if it isn't such a set. */
bool reals_read(struct math *m, const struct node *a, struct reals *out);

#endif
