/* estimate.h - private: how likely a group is to be trainable, as the run shows it. */
#ifndef DAPO_ADMISSION_ESTIMATE_H
#define DAPO_ADMISSION_ESTIMATE_H

#include "dapo/admission.h"
#include "dapo/fault.h"

/* The probability that a group is trainable after k of its G verdicts, all equal, came
 * in, for a pass rate distributed as Beta(a, a):
 *     q[k] = 1 - E[p^G] / E[p^k] (k >= 1),   q[0] = 1 - 2 E[p^G],
 *     E[p^k] = prod_{i<k} (a + i) / (2a + i),
 * with a such that q[0] = trainable.  Where that is out of reach (it grows with a
 * towards 1 - 2^(1-G)) the largest a is used and q[0] is set to `trainable` still. */
void estimate_prior(double *q, int size, double trainable);

/* Counts by class of history h and number of equal verdicts k.  With n and t a class's
 * counts, N and T those of all other classes, and w the weight,
 *     rest[k] = (w prior[k] + T) / (w + N)     what else is known
 *     q[h][k] = (w rest[k] + t) / (w + n)      what the class adds
 *     all[k]  = (w prior[k] + T + t) / (w + N + n)
 * so a class without groups of its own is judged by the others, and one class alone by
 * itself and the prior. */
struct estimate {
    int size;          /* G */
    double weight;     /* groups */
    double *prior;     /* [size] */
    double *equal;     /* [HISTORY_COUNT][size] groups with k equal verdicts, decayed */
    double *trainable; /* [HISTORY_COUNT][size] those of them that proved trainable */
    double *q;         /* [HISTORY_COUNT][size] */
    double *all;       /* [size] */
};

int estimate_init(struct estimate *e, int size, double trainable, double weight,
                  struct fault *f);
void estimate_free(struct estimate *e);
/* A step's groups follow: let older ones weigh a little less. */
void estimate_age(struct estimate *e);
/* One complete group: who was right and how long each member was.  "First" means
 * shortest, ties by member: the order in which members end if they start together,
 * and one that no schedule can change. */
void estimate_add(struct estimate *e, enum history h, const unsigned char *correct,
                  const int64_t *tokens);
/* Recompute q and all after counts changed. */
void estimate_update(struct estimate *e);

#endif
