/* cpu_scan.h - private: what the recurrent ops share, and one step of the gated delta
 * rule, for which forward and backward must give the same bits. */
#ifndef DAPO_BACKEND_CPU_SCAN_H
#define DAPO_BACKEND_CPU_SCAN_H

#include <math.h>

#include "backend/cpu.h"
#include "backend/vec.h"

#define MOST_VECS 8 /* vectors of columns of a state worked on together */

/* Vectors of `cols` columns to take together, at most `most` (1, 2, 4 or 8): so many
 * whole ones, or one that may not be. */
static inline int cpu_delta_vecs(int cols, int most)
{
    while (most > 1 && cols < most * LANES)
        most /= 2;
    return most;
}

/* What makes x a vector of length `scale`: scale / sqrt(sum x^2 + 1e-6), n values. */
static inline float cpu_delta_factor(const float *x, int n, float scale)
{
    return 1.0f / sqrtf(vec_dot(x, x, n) + 1e-6f) * scale;
}

static inline void cpu_delta_unit(float *to, const float *x, int n, float scale)
{
    float factor = cpu_delta_factor(x, n, scale);

    for (int i = 0; i < n; i++)
        to[i] = x[i] * factor;
}

/* The inputs of the op, and unit vectors of one key head, of as many rows as are worked
 * on together. */
struct delta_in {
    const float *q, *k, *v, *decay, *beta;
    int stride;
    const struct delta_heads *h;
    float *unit_q, *unit_k; /* [rows][key_dim], q divided by sqrt(key_dim) */
};

/* Where the values of a key head lie in a row of q or k. */
static inline size_t cpu_delta_key(const struct delta_in *in, int row, int key_head)
{
    return row_at(row, in->stride) + row_at(key_head, in->h->key_dim);
}

static inline void cpu_delta_units(const struct delta_in *in, int first, int n,
                                   int key_head)
{
    int dim = in->h->key_dim;

    for (int t = 0; t < n; t++) {
        size_t at = cpu_delta_key(in, first + t, key_head);

        cpu_delta_unit(in->unit_q + row_at(t, dim), in->q + at, dim,
                       1.0f / sqrtf((float)dim));
        cpu_delta_unit(in->unit_k + row_at(t, dim), in->k + at, dim, 1.0f);
    }
}

/* Columns of one value head through rows of a sequence. */
struct strip {
    int first, n;        /* rows */
    int head, col, cols; /* cols <= LANES, or whole vectors */
};

/* Where the strip's columns of row t lie in rows of v or o `width` apart. */
static inline size_t cpu_strip_at(const struct delta_in *in, const struct strip *w,
                                  int t, int width)
{
    return row_at(w->first + t, width) + row_at(w->head, in->h->value_dim) +
           (size_t)w->col;
}

static inline void cpu_strip_load(vec *to, const float *from, int cols, int vecs)
{
    for (int c = 0; c < vecs; c++)
        to[c] = vec_load_some(from + c * LANES, cols - c * LANES);
}

/* What one head does in one row. */
struct delta_row {
    const float *q, *k; /* [dim] unit vectors, q divided by sqrt(dim) */
    float decay, beta;
    int dim; /* of keys */
};

static inline struct delta_row cpu_delta_row(const struct delta_in *in,
                                             const struct strip *w, int t)
{
    size_t gate = row_at(w->first + t, in->h->value_heads) + (size_t)w->head;

    return (struct delta_row){.q = in->unit_q + row_at(t, in->h->key_dim),
                              .k = in->unit_k + row_at(t, in->h->key_dim),
                              .decay = in->decay[gate],
                              .beta = in->beta[gate],
                              .dim = in->h->key_dim};
}

/* Some columns of a state, `vecs` vectors, rows `ld` apart: to = the state after the
 * row, from = before (to may be from).  v comes as the values and leaves as
 * e = v - decay S^T k; o = S^T q of the state after it, NULL to skip.  Each sum has one
 * order, whatever `vecs`, which is a constant in each use. */
static inline __attribute__((always_inline)) void
cpu_delta_step(float *to, const float *from, size_t ld, const struct delta_row *r,
               vec *v, vec *o, int vecs)
{
    vec sum[2][MOST_VECS] = {0}, u[MOST_VECS], out[MOST_VECS] = {0};
    int i = 0;

    for (; i + 2 <= r->dim; i += 2) { /* two chains: one would wait for itself */
        const float *s = from + (size_t)i * ld;
        vec k0 = vec_fill(r->k[i]), k1 = vec_fill(r->k[i + 1]);

        for (int c = 0; c < vecs; c++) {
            sum[0][c] = vec_fma(k0, vec_load(s + c * LANES), sum[0][c]);
            sum[1][c] = vec_fma(k1, vec_load(s + ld + c * LANES), sum[1][c]);
        }
    }
    for (int c = 0; c < vecs && i < r->dim; c++)
        sum[0][c] = vec_fma(vec_fill(r->k[i]),
                            vec_load(from + (size_t)i * ld + c * LANES), sum[0][c]);
    for (int c = 0; c < vecs; c++) {
        v[c] -= r->decay * (sum[0][c] + sum[1][c]);
        u[c] = r->beta * v[c];
    }
    for (i = 0; i < r->dim; i++) {
        vec k = vec_fill(r->k[i]), q = vec_fill(r->q[i]), decay = vec_fill(r->decay);

        for (int c = 0; c < vecs; c++) {
            size_t at = (size_t)i * ld + (size_t)(c * LANES);
            vec s = vec_fma(k, u[c], decay * vec_load(from + at));

            vec_store(to + at, s);
            if (o)
                out[c] = vec_fma(q, s, out[c]);
        }
    }
    for (int c = 0; o && c < vecs; c++)
        o[c] = out[c];
}

#endif
