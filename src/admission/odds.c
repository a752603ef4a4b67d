/* odds.c - the launch rule's probabilities. */
#include <math.h>

#include "admission/odds.h"

/* Groups up to which the exact sum is used; its cost grows with the square. */
#define EXACT 48

static double fewer_exact(int need, const int64_t *undecided, const double *q, int n)
{
    double d[EXACT] = {1.0}, sum = 0; /* d[i] = P(i trainable), i < need */

    for (int k = 0; k < n; k++)
        for (int64_t j = 0; j < undecided[k]; j++) {
            for (int i = need - 1; i > 0; i--)
                d[i] = d[i] * (1 - q[k]) + d[i - 1] * q[k];
            d[0] *= 1 - q[k];
        }
    for (int i = 0; i < need; i++)
        sum += d[i];
    return sum;
}

double odds_fewer(int64_t need, const int64_t *undecided, const double *q, int n)
{
    double mean = 0, variance = 0, p;
    int64_t groups = 0;

    for (int k = 0; k < n; k++) {
        groups += undecided[k];
        mean += (double)undecided[k] * q[k];
        variance += (double)undecided[k] * q[k] * (1 - q[k]);
    }
    if (need <= 0)
        return 0;
    if (groups < need)
        return 1;
    if (groups <= EXACT)
        p = fewer_exact((int)need, undecided, q, n);
    else
        p = 0.5 * erfc(-((double)need - 0.5 - mean) / sqrt(2 * variance));
    return fmin(p, nextafter(1, 0));
}
