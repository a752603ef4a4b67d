/* vec.h - private: sixteen floats at a time, and an exponential that vectorises.
 *
 * A sum over n values is always sixteen sums of every sixteenth value, put together by
 * vec_sum, so that its bits depend on the values alone.  Products that are added are
 * fused explicitly (the compiler may not: -ffp-contract=off). */
#ifndef DAPO_BACKEND_VEC_H
#define DAPO_BACKEND_VEC_H

#include <string.h>
#if defined __AVX2__ || defined __AVX512F__
#include <immintrin.h>
#endif
#include "backend/ops.h"

#define LANES 16

typedef float vec __attribute__((vector_size(64)));
typedef int32_t vec_bits __attribute__((vector_size(64)));

static inline vec vec_load(const float *p)
{
    vec v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vec_store(float *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

/* The first n < LANES values, then `rest`. */
static inline vec vec_load_part(const float *p, int n, float rest)
{
    float x[LANES];

    for (int l = 0; l < LANES; l++)
        x[l] = rest;
    memcpy(x, p, (size_t)n * sizeof *x);
    return vec_load(x);
}

static inline void vec_store_part(float *p, vec v, int n)
{
    memcpy(p, &v, (size_t)n * sizeof *p);
}

/* The same where n may be LANES or more. */
static inline vec vec_load_some(const float *p, int n)
{
    return n >= LANES ? vec_load(p) : vec_load_part(p, n, 0.0f);
}

static inline void vec_store_some(float *p, vec v, int n)
{
    if (n >= LANES)
        vec_store(p, v);
    else
        vec_store_part(p, v, n);
}

static inline vec vec_fill(float x)
{
    return x - (vec){0.0f}; /* minus keeps the sign of -0 */
}

#if defined __AVX512F__
/* a b + c, rounded once */
static inline vec vec_fma(vec a, vec b, vec c)
{
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

/* a > b ? a : b, so b where a is no number */
static inline vec vec_max(vec a, vec b)
{
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
}
#elif defined __AVX2__ && defined __FMA__
struct halves {
    __m256 low, high;
};

static inline struct halves vec_split(vec v)
{
    struct halves h;

    memcpy(&h, &v, sizeof h);
    return h;
}

static inline vec vec_join(struct halves h)
{
    vec v;

    memcpy(&v, &h, sizeof v);
    return v;
}

static inline vec vec_fma(vec a, vec b, vec c)
{
    struct halves x = vec_split(a), y = vec_split(b), z = vec_split(c);

    z.low = _mm256_fmadd_ps(x.low, y.low, z.low);
    z.high = _mm256_fmadd_ps(x.high, y.high, z.high);
    return vec_join(z);
}

static inline vec vec_max(vec a, vec b)
{
    struct halves x = vec_split(a), y = vec_split(b);

    x.low = _mm256_max_ps(x.low, y.low);
    x.high = _mm256_max_ps(x.high, y.high);
    return vec_join(x);
}
#else
static inline vec vec_fma(vec a, vec b, vec c)
{
    for (int l = 0; l < LANES; l++)
        c[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return c;
}

static inline vec vec_max(vec a, vec b)
{
    for (int l = 0; l < LANES; l++)
        b[l] = a[l] > b[l] ? a[l] : b[l];
    return b;
}
#endif

/* The first n lanes in bf16, rounded to nearest even.  What f32 calls subnormal may
 * become 0. */
static inline void vec_store_bf16(uint16_t *p, vec v, int n)
{
#if defined __AVX512BF16__
    __m256bh h = _mm512_cvtneps_pbh((__m512)v);

    memcpy(p, &h, (size_t)n * sizeof *p);
#else
    for (int l = 0; l < n; l++)
        p[l] = bf16_from(v[l]);
#endif
}

/* The sum of the lanes, halving. */
static inline float vec_sum(vec v)
{
    float x[LANES];

    vec_store(x, v);
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int l = 0; l < n; l++)
            x[l] += x[l + n];
    return x[0];
}

/* Lanes that a pair of vectors exchange at distance s, for __builtin_shufflevector:
 * done at 1, 2, 4 and 8 to sixteen of them, it transposes. */
#define LOW(s, l) ((l) & (s) ? LANES + (l) - (s) : (l))
#define HIGH(s, l) ((l) & (s) ? LANES + (l) : (l) + (s))
#define ALL_LANES(pick, s)                                                        \
    pick(s, 0), pick(s, 1), pick(s, 2), pick(s, 3), pick(s, 4), pick(s, 5),       \
        pick(s, 6), pick(s, 7), pick(s, 8), pick(s, 9), pick(s, 10), pick(s, 11), \
        pick(s, 12), pick(s, 13), pick(s, 14), pick(s, 15)

/* Lane i is the sum of the lanes of r[i], which is spoiled. */
static inline vec vec_sums(vec r[LANES])
{
#define HALVE(s)                                                              \
    for (int i = 0; i < LANES; i += 2 * (s))                                  \
        r[i] = __builtin_shufflevector(r[i], r[i + (s)], ALL_LANES(LOW, s)) + \
               __builtin_shufflevector(r[i], r[i + (s)], ALL_LANES(HIGH, s));
    HALVE(1)
    HALVE(2)
    HALVE(4)
    HALVE(8)
#undef HALVE
    return r[0];
}

static inline float vec_most(vec v)
{
    float most = v[0];

    for (int l = 1; l < LANES; l++)
        most = v[l] > most ? v[l] : most;
    return most;
}

/* Sum of a[i] b[i]. */
static inline float vec_dot(const float *a, const float *b, int n)
{
    vec sum = {0.0f};
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        sum = vec_fma(vec_load(a + i), vec_load(b + i), sum);
    if (i < n)
        sum = vec_fma(vec_load_part(a + i, n - i, 0.0f),
                      vec_load_part(b + i, n - i, 0.0f), sum);
    return vec_sum(sum);
}

/* e^x to 2 units in the last place; 0 below -87.3, e^88 above 88; NaN for NaN.  Range
 * reduction by ln 2 in two parts, then the polynomial of Cephes' expf. */
static inline vec vec_exp(vec x)
{
    const vec round = vec_fill(12582912.0f); /* 1.5 * 2^23: adding it makes integers */
    vec low = vec_max(vec_fill(-87.3f), x), t, n, r, p;

    low = -vec_max(vec_fill(-88.0f), -low);
    t = vec_fma(low, vec_fill(1.44269504f), round);
    n = t - round;
    r = vec_fma(n, vec_fill(-0.693359375f), low);
    r = vec_fma(n, vec_fill(2.12194440e-4f), r);
    p = vec_fma(vec_fill(1.9875691500e-4f), r, vec_fill(1.3981999507e-3f));
    p = vec_fma(p, r, vec_fill(8.3334519073e-3f));
    p = vec_fma(p, r, vec_fill(4.1665795894e-2f));
    p = vec_fma(p, r, vec_fill(1.6666665459e-1f));
    p = vec_fma(p, r, vec_fill(5.0000001201e-1f));
    p = vec_fma(p, r * r, r) + 1.0f;
    p *= (vec)(((vec_bits)t << 23) + 0x3f800000); /* 2^n */
    return (vec)((vec_bits)p & ~(x < -87.3f));
}

#endif
