/* cpu_kernels.c - see cpu_kernels.h. */
#include "backend/cpu_kernels.h"
#include "backend/vec.h"

#define MOST_ROWS 4 /* rows in registers at a time, each with up to 4 vectors */

int cpu_kernel_pad(int n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* Lanes of a pair of rows exchanged at distance s: the halving step of a transpose. */
#define EXCHANGE(r, s)                                                        \
    for (int i = 0; i < LANES; i++) {                                         \
        if (!(i & (s))) {                                                     \
            vec a = (r)[i], b = (r)[i + (s)];                                 \
                                                                              \
            (r)[i] = __builtin_shufflevector(a, b, ALL_LANES(LOW, s));        \
            (r)[i + (s)] = __builtin_shufflevector(a, b, ALL_LANES(HIGH, s)); \
        }                                                                     \
    }

/* Vectors of keys that the kernels take together for n keys: 1, 2 or 4. */
static int vectors(int n)
{
    return n <= LANES ? 1 : n <= 2 * LANES ? 2 : 4;
}

/* LANES keys from row 0 on, of which n are there. */
static void transpose(float *tile, const float *const *rows, int n, int dim)
{
    for (int d = 0; d < dim; d += LANES) {
        int k = dim - d < LANES ? dim - d : LANES;
        vec r[LANES];

        for (int i = 0; i < LANES; i++)
            r[i] = i >= n       ? (vec){0.0f}
                   : k == LANES ? vec_load(rows[i] + d)
                                : vec_load_part(rows[i] + d, k, 0.0f);
        EXCHANGE(r, 1)
        EXCHANGE(r, 2)
        EXCHANGE(r, 4)
        EXCHANGE(r, 8)
        for (int i = 0; i < k; i++)
            vec_store(tile + (size_t)(d + i) * TILE, r[i]);
    }
}

void cpu_kernel_transpose(float *tile, const float *const *rows, int n, int dim)
{
    int j = 0;

    for (; j < n; j += LANES)
        transpose(tile + j, rows + j, n - j, dim);
    for (; j < vectors(n) * LANES; j += LANES)
        for (int d = 0; d < dim; d++)
            vec_store(tile + (size_t)d * TILE + j, (vec){0.0f});
}

/* `rows` and `vecs` are constants in each use, so the sums live in registers. */
static inline __attribute__((always_inline)) void scores(float *s, size_t ld,
                                                         const float *a, int rows,
                                                         const float *tile, int dim,
                                                         int vecs)
{
    vec sum[MOST_ROWS][4] = {0};

    for (int d = 0; d < dim; d++) {
        for (int i = 0; i < rows; i++) {
            vec all = vec_fill(a[i * dim + d]);

            for (int v = 0; v < vecs; v++)
                sum[i][v] =
                    vec_fma(all, vec_load(tile + d * TILE + v * LANES), sum[i][v]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            vec_store(s + (size_t)i * ld + v * LANES, sum[i][v]);
}

static inline __attribute__((always_inline)) void scores_wide(float *s, size_t ld,
                                                              const float *a, int rows,
                                                              const float *tile,
                                                              int dim, int vecs)
{
    switch (vecs) {
    case 1:
        scores(s, ld, a, rows, tile, dim, 1);
        break;
    case 2:
        scores(s, ld, a, rows, tile, dim, 2);
        break;
    default:
        scores(s, ld, a, rows, tile, dim, 4);
    }
}

void cpu_kernel_scores(float *s, size_t ld, const float *a, int rows, const float *tile,
                       int dim, int n)
{
    int vecs = vectors(n), i = 0;

    for (; i + MOST_ROWS <= rows; i += MOST_ROWS)
        scores_wide(s + (size_t)i * ld, ld, a + (size_t)i * (size_t)dim, MOST_ROWS,
                    tile, dim, vecs);
    for (; i + 2 <= rows; i += 2)
        scores_wide(s + (size_t)i * ld, ld, a + (size_t)i * (size_t)dim, 2, tile, dim,
                    vecs);
    if (i < rows)
        scores_wide(s + (size_t)i * ld, ld, a + (size_t)i * (size_t)dim, 1, tile, dim,
                    vecs);
}

static inline __attribute__((always_inline)) void
mix(float *o, const struct mix *m, int row, int col, int rows, int vecs)
{
    const float *w = m->w + (size_t)row * m->w_row, *x = m->x + col;
    vec sum[MOST_ROWS][4];

    o += (size_t)row * (size_t)m->cols + (size_t)col;
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            sum[i][v] = vec_load(o + (size_t)i * (size_t)m->cols + v * LANES);
    for (int t = 0; t < m->n; t++) {
        for (int i = 0; i < rows; i++) {
            vec all = vec_fill(w[(size_t)i * m->w_row + (size_t)t * m->w_term]);

            for (int v = 0; v < vecs; v++)
                sum[i][v] = vec_fma(all, vec_load(x + (size_t)t * m->ld + v * LANES),
                                    sum[i][v]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            vec_store(o + (size_t)i * (size_t)m->cols + v * LANES, sum[i][v]);
}

static inline __attribute__((always_inline)) void
mix_wide(float *o, const struct mix *m, int row, int rows)
{
    int col = 0;

    for (; col + 4 * LANES <= m->cols; col += 4 * LANES)
        mix(o, m, row, col, rows, 4);
    for (; col + 2 * LANES <= m->cols; col += 2 * LANES)
        mix(o, m, row, col, rows, 2);
    if (col < m->cols)
        mix(o, m, row, col, rows, 1);
}

/* Terms taken together: their rows of x stay in the nearest cache for all rows of o. */
#define TERMS 64

void cpu_kernel_mix(float *o, const struct mix *all)
{
    struct mix m = *all;

    for (int t = 0; t < all->n; t += TERMS) {
        int i = 0;

        m.n = all->n - t < TERMS ? all->n - t : TERMS;
        m.w = all->w + (size_t)t * all->w_term;
        m.x = all->x + (size_t)t * all->ld;
        for (; i + MOST_ROWS <= m.rows; i += MOST_ROWS)
            mix_wide(o, &m, i, MOST_ROWS);
        for (; i + 2 <= m.rows; i += 2)
            mix_wide(o, &m, i, 2);
        if (i < m.rows)
            mix_wide(o, &m, i, 1);
    }
}
