/* fill.h - every backend, and arrays of repeatable numbers, for the backend's tests. */
#ifndef DAPO_TESTS_FILL_H
#define DAPO_TESTS_FILL_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dapo/backend.h"

#define EACH(b) \
    for (const struct backend *const *list = backend_list, *b; (b = *list); list++)

/* A number in [-1, 1) that is a function of (seed, i): splitmix64's finaliser. */
static inline float fill_at(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed * 0x9e3779b97f4a7c15u + i + 1) * 0xbf58476d1ce4e5b9u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (float)((int64_t)(z >> 40) - (1 << 23)) / (float)(1 << 23);
}

static inline float *fill_new(size_t n, uint64_t seed)
{
    float *x = malloc((n ? n : 1) * sizeof *x);

    if (!x)
        abort();
    for (size_t i = 0; i < n; i++)
        x[i] = fill_at(seed, i);
    return x;
}

/* The largest difference, relative to the largest wanted value. */
static inline double fill_gap(const float *got, const float *want, size_t n)
{
    double gap = 0, most = 1e-30;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - (double)want[i]);

        gap = d > gap || isnan(d) ? d : gap;
        most = fabs((double)want[i]) > most ? fabs((double)want[i]) : most;
    }
    return gap / most;
}

#endif
