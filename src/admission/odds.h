/* odds.h - private: how likely it is that a candidate is needed. */
#ifndef DAPO_ADMISSION_ODDS_H
#define DAPO_ADMISSION_ODDS_H

#include <stdint.h>

/* P(fewer than `need` of these groups prove trainable), where undecided[k] groups have
 * probability q[k] in (0, 1) each, k in [0, n), independently: the lower tail of a
 * Poisson binomial.  Exact up to 48 groups, beyond that the normal approximation with
 * continuity correction.  0 if need <= 0; 1 if, and only if, there are fewer than
 * `need` groups, so that comparing with 1 means certainty. */
double odds_fewer(int64_t need, const int64_t *undecided, const double *q, int n);

#endif
