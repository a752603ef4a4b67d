/* scan.h - sequences for the tests of the recurrent ops. */
#ifndef DAPO_TESTS_SCAN_H
#define DAPO_TESTS_SCAN_H

#include "dapo/backend.h"

enum { MOST_SCAN_ROWS = 256 };

/* Rows of sequences in training layout, and the same rows in another order, in which
 * each sequence still rises. */
struct sequences {
    int rows, n;
    int slot[MOST_SCAN_ROWS], pos[MOST_SCAN_ROWS];
    int mixed[MOST_SCAN_ROWS]; /* row of the training layout */
    int mixed_slot[MOST_SCAN_ROWS], mixed_pos[MOST_SCAN_ROWS];
};

/* `lengths` ends in 0.  Mixed: one row of each sequence that has one left in turn, two
 * of every second one. */
static inline struct sequences sequences_new(const int *lengths)
{
    struct sequences s = {0};
    int first[16], at[16] = {0}, k = 0;

    for (; lengths[s.n]; s.n++) {
        first[s.n] = s.rows;
        for (int i = 0; i < lengths[s.n]; i++, s.rows++) {
            s.slot[s.rows] = s.n;
            s.pos[s.rows] = i;
        }
    }
    while (k < s.rows)
        for (int i = 0; i < s.n; i++)
            for (int twice = 0; twice <= i % 2 && at[i] < lengths[i]; twice++, k++) {
                s.mixed[k] = first[i] + at[i];
                s.mixed_slot[k] = i;
                s.mixed_pos[k] = at[i]++;
            }
    return s;
}

static inline struct scan_rows training_rows(const struct sequences *s)
{
    return (struct scan_rows){s->rows, s->slot, s->pos};
}

/* Mixed rows first .. first + n - 1. */
static inline struct scan_rows mixed_rows(const struct sequences *s, int first, int n)
{
    return (struct scan_rows){n, s->mixed_slot + first, s->mixed_pos + first};
}

#endif
