/* cpu_merge.c - adding a low-rank product to a matrix, on the CPU.
 *
 * A value is base + scale * sum, where the sum over the rank starts at 0 and goes on by
 * fused products in order, wherever in a tile the value lies. */
#include "backend/cpu.h"
#include "backend/vec.h"

enum { ROWS = 4, VECS = 2 }; /* of a tile: its sums stay in registers */

/* One merge; the arrays begin at the tile being worked on. */
struct tile {
    float *w;
    const float *base, *b, *a;
    float scale;
    int n_in, rank;
};

static inline __attribute__((always_inline)) void tile_full(const struct tile *t,
                                                            int rows, int vecs)
{
    vec sum[ROWS][VECS] = {{{0.0f}}};

    for (int k = 0; k < t->rank; k++) {
        const float *a = t->a + row_at(k, t->n_in);

        for (int r = 0; r < rows; r++) {
            vec b = vec_fill(t->b[row_at(r, t->rank) + (size_t)k]);

            for (int v = 0; v < vecs; v++)
                sum[r][v] = vec_fma(b, vec_load(a + v * LANES), sum[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vecs; v++) {
            size_t at = row_at(r, t->n_in) + (size_t)(v * LANES);

            vec_store(t->w + at,
                      vec_fma(vec_fill(t->scale), sum[r][v], vec_load(t->base + at)));
        }
}

/* The last n < LANES values of one row. */
static void tile_rest(const struct tile *t, int n)
{
    vec sum = {0.0f};

    for (int k = 0; k < t->rank; k++)
        sum = vec_fma(vec_fill(t->b[k]),
                      vec_load_part(t->a + row_at(k, t->n_in), n, 0.0f), sum);
    sum = vec_fma(vec_fill(t->scale), sum, vec_load_part(t->base, n, 0.0f));
    vec_store_part(t->w, sum, n);
}

static struct tile tile_at(const struct tile *t, int row, int col)
{
    size_t at = row_at(row, t->n_in) + (size_t)col;
    struct tile x = *t;

    x.w += at;
    x.base += at;
    x.b += row_at(row, t->rank);
    x.a += col;
    return x;
}

/* `rows` rows, 1 or ROWS. */
static inline __attribute__((always_inline)) void strip(const struct tile *t, int row,
                                                        int rows)
{
    int i = 0;

    for (; i + VECS * LANES <= t->n_in; i += VECS * LANES) {
        struct tile x = tile_at(t, row, i);

        tile_full(&x, rows, VECS);
    }
    for (; i + LANES <= t->n_in; i += LANES) {
        struct tile x = tile_at(t, row, i);

        tile_full(&x, rows, 1);
    }
    for (int r = row; i < t->n_in && r < row + rows; r++) {
        struct tile x = tile_at(t, r, i);

        tile_rest(&x, t->n_in - i);
    }
}

int cpu_merge(float *w, const float *base, const float *b, const float *a, float scale,
              int n_out, int n_in, int rank, struct fault *f)
{
    const struct tile t = {w, base, b, a, scale, n_in, rank};
    int row = 0;

    (void)f;
    if (rank == 0) { /* adding a zero would make 0 of -0 */
        memmove(w, base, row_at(n_out, n_in) * sizeof *w);
        return 0;
    }
    for (; row + ROWS <= n_out; row += ROWS)
        strip(&t, row, ROWS);
    for (; row < n_out; row++)
        strip(&t, row, 1);
    return 0;
}
