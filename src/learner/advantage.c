/* advantage.c - from shaped rewards to advantages, within one group. */
#include <math.h>
#include <stddef.h>

#include "dapo/learner.h"

/* The i-th of values that lie `stride` bytes apart. */
static double at(const double *first, size_t stride, int i)
{
    return *(const double *)(const void *)((const char *)first + (size_t)i * stride);
}

static void standardise(const double *in, double *out, size_t stride, int n, double eps)
{
    double sum = 0, squares = 0, mean, scale;
    bool equal = true;

    for (int i = 0; i < n; i++) {
        sum += at(in, stride, i);
        equal = equal && at(in, stride, i) == at(in, stride, 0);
    }
    /* The mean of equal values need not be that value after rounding, and the rest of
     * it over eps would be a signal out of nothing. */
    mean = equal ? at(in, stride, 0) : sum / n;
    for (int i = 0; i < n; i++)
        squares += (at(in, stride, i) - mean) * (at(in, stride, i) - mean);
    scale = equal ? 1 : sqrt(squares / (n - 1)) + eps;
    for (int i = 0; i < n; i++)
        *(double *)(void *)((char *)out + (size_t)i * stride) =
            (at(in, stride, i) - mean) / scale;
}

void advantage(const double *reward, int n, double eps, double *out)
{
    if (n > 0)
        standardise(reward, out, sizeof *reward, n, eps);
}

void advantage_group(struct group *g, double eps)
{
    if (g->size > 0)
        standardise(&g->members[0].shaped_reward, &g->members[0].advantage,
                    sizeof g->members[0], g->size, eps);
}
