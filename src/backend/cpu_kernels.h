/* cpu_kernels.h - private: the small dense products of attention.
 *
 * Both kernels take each sum in the order of its index alone, one fused product at a
 * time, so a row's bits don't depend on which rows were computed beside it. */
#ifndef DAPO_BACKEND_CPU_KERNELS_H
#define DAPO_BACKEND_CPU_KERNELS_H

#include <stddef.h>

#define TILE 64 /* keys in a transposed tile */

/* Values rounded up to whole vectors. */
int cpu_kernel_pad(int n);

/* tile[d][j] = rows[j][d] for j < n <= TILE and d < dim; 0 behind them, as far as
 * cpu_kernel_scores reads: to 16, 32 or TILE keys. */
void cpu_kernel_transpose(float *tile, const float *const *rows, int n, int dim);

/* s[i][j] = sum over d of a[i][d] tile[d][j], i < rows, j < n rounded up likewise.
 * a is [rows][dim], s rows are `ld` apart. */
void cpu_kernel_scores(float *s, size_t ld, const float *a, int rows, const float *tile,
                       int dim, int n);

/* o[i][c] += sum over t < n of w(i, t) x[t][c], i < rows, c < cols, a multiple of 16.
 * w(i, t) = w[i * w_row + t * w_term]; o rows are `cols` apart, x rows `ld`. */
struct mix {
    const float *w, *x;
    size_t w_row, w_term, ld;
    int rows, n, cols;
};
void cpu_kernel_mix(float *o, const struct mix *m);

#endif
