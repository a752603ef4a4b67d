/* odds.h - private: how likely a group is to be trainable, and a candidate needed. */
#ifndef DAPO_ADMISSION_ODDS_H
#define DAPO_ADMISSION_ODDS_H

#include <stdint.h>
#include "dapo/fault.h"

/* P(fewer than `need` of these groups prove trainable), where undecided[k] groups have
 * probability q[k] in (0, 1) each, k in [0, size), independently: the lower tail of a
 * Poisson binomial.  Exact up to 48 groups, beyond that the normal approximation with
 * continuity correction.  0 if need <= 0; 1 if, and only if, there are fewer than
 * `need` groups, so that comparing with 1 means certainty. */
double odds_fewer(int64_t need, const int64_t *undecided, const double *q, int size);

/* The probability that a group is trainable after k of its G verdicts, all equal, came
 * in, for a pass rate distributed as Beta(a, a):
 *     q[k] = 1 - E[p^G] / E[p^k] (k >= 1),   q[0] = 1 - 2 E[p^G],
 *     E[p^k] = prod_{i<k} (a + i) / (2a + i),
 * with a such that q[0] = trainable.  Where that is out of reach (it grows with a
 * towards 1 - 2^(1-G)) the largest a is used and q[0] is set to `trainable` still. */
void odds_prior(double *q, int size, double trainable);

/* q[k] as the run shows it: a prior worth `weight` groups, and counts. */
struct estimate {
    int size;          /* G */
    double weight;     /* groups */
    double *prior;     /* [size] */
    double *equal;     /* [size] groups whose first k verdicts were equal, decayed */
    double *trainable; /* [size] those of them that proved trainable */
    double *q;         /* [size] (weight*prior + trainable) / (weight + equal) */
};

int estimate_init(struct estimate *e, int size, double trainable, double weight,
                  struct fault *f);
void estimate_free(struct estimate *e);
/* A step's groups follow: let older ones weigh a little less. */
void estimate_age(struct estimate *e);
/* One complete group: who was right and how long each member was.  "First" means
 * shortest, ties by member: the order in which members end if they start together,
 * and one that no schedule can change. */
void estimate_add(struct estimate *e, const unsigned char *correct,
                  const int64_t *tokens);
/* Recompute q after counts changed. */
void estimate_update(struct estimate *e);

#endif
