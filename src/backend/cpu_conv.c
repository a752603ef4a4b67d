/* cpu_conv.c - causal convolution of the CPU backend: sixteen columns at a time. */
#include "backend/cpu.h"
#include "backend/vec.h"

#define MOST_TAPS 16

/* Rows of one slot, and what the op works with. */
struct conv_run {
    const float *x, *state; /* of its first row; its slot's */
    const float *zeros;     /* [cols] */
    const float *taps;      /* [kernel][cols], w turned */
    int start, cols, kernel;
};

/* The input `d` rows after the first row of the run, d > -kernel. */
static const float *input(const struct conv_run *u, int d)
{
    if (d >= 0)
        return u->x + row_at(d, u->cols);
    return u->start + d < 0 ? u->zeros : u->state + row_at(d + u->kernel - 1, u->cols);
}

static int check_kernel(int kernel, struct fault *f)
{
    if (kernel >= 1 && kernel <= MOST_TAPS)
        return 0;
    return fault_set(f, FAULT_CONFIG,
                     "a convolution over %d rows; backend cpu takes 1 to %d", kernel,
                     MOST_TAPS);
}

/* Turn w, with `more` rows of `cols` behind it; NULL with FAULT_SYSTEM. */
static float *turn(const float *w, int cols, int kernel, int more, struct fault *f)
{
    float *t = cpu_scratch(SCRATCH_TAPS, row_at(kernel + more, cols) * sizeof *t, f);

    for (int j = 0; t && j < kernel; j++)
        for (int c = 0; c < cols; c++)
            t[row_at(j, cols) + (size_t)c] = w[row_at(c, kernel) + (size_t)j];
    if (t)
        memset(t + row_at(kernel, cols), 0, row_at(more, cols) * sizeof *t);
    return t;
}

/* Columns c .. c + n - 1 of the sum over taps. */
static vec taps_sum(const float *const *rows, const struct conv_run *u, int c, int n)
{
    vec sum = {0.0f};

    for (int j = 0; j < u->kernel; j++)
        sum = vec_fma(vec_load_some(u->taps + row_at(j, u->cols) + c, n),
                      vec_load_some(rows[j] + c, n), sum);
    return sum;
}

static void conv_row(float *y, const float *const *rows, const struct conv_run *u)
{
    for (int c = 0; c < u->cols; c += LANES) {
        int n = u->cols - c < LANES ? u->cols - c : LANES;
        vec z = taps_sum(rows, u, c, n);

        vec_store_some(y + c, z / (1.0f + vec_exp(-z)), n);
    }
}

int cpu_conv(float *y, const float *x, const float *w, float *state,
             const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    struct conv_run u = {.cols = cols, .kernel = kernel};
    const float *rows[MOST_TAPS];

    if (check_kernel(kernel, f) || !(u.taps = turn(w, cols, kernel, 1, f)))
        return f->code;
    u.zeros = u.taps + row_at(kernel, cols);
    for (int i = 0, n; i < r->rows; i += n) {
        float *s = state ? state + row_at(r->slot[i], kernel - 1) * (size_t)cols : NULL;

        n = scan_run(r, i);
        u.x = x + row_at(i, cols);
        u.state = s;
        u.start = r->pos[i];
        for (int t = 0; t < n; t++) {
            for (int j = 0; j < kernel; j++)
                rows[j] = input(&u, t - kernel + 1 + j);
            conv_row(y + row_at(i + t, cols), rows, &u);
        }
        /* In order: row j takes a row of s behind it, which is still as it was. */
        for (int j = 0; s && j < kernel - 1; j++)
            memcpy(s + row_at(j, cols), input(&u, n - kernel + 1 + j),
                   row_at(cols, sizeof *s));
    }
    return 0;
}

/* With z the sum, s its sigmoid and dz = dy s (1 + z (1 - s)):
 * dx_(t-kernel+1+j) += w_j dz_t,  dw_j += dz_t x_(t-kernel+1+j).
 * Row t of dx is written by row t, the last tap, and added to by those after it. */
static void back_row(float *dx, float *dtaps, const float *dy, const float *const *rows,
                     const struct conv_run *u, int pos)
{
    int last = u->kernel - 1, first = pos < last ? last - pos : 0;

    for (int c = 0; c < u->cols; c += LANES) {
        int n = u->cols - c < LANES ? u->cols - c : LANES;
        vec z = taps_sum(rows, u, c, n), s = 1.0f / (1.0f + vec_exp(-z));
        vec dz = vec_load_some(dy + c, n) * s * (1.0f + z * (1.0f - s));

        for (int j = first; j <= last; j++) {
            float *to = dx - row_at(last - j, u->cols) + c;
            float *sum = dtaps + row_at(j, u->cols) + c;
            vec d = vec_load_some(u->taps + row_at(j, u->cols) + c, n) * dz;

            vec_store_some(to, j == last ? d : vec_load_some(to, n) + d, n);
            vec_store_some(
                sum, vec_fma(dz, vec_load_some(rows[j] + c, n), vec_load_some(sum, n)),
                n);
        }
    }
}

int cpu_conv_back(float *dx, float *dw, const float *dy, const float *x, const float *w,
                  const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    struct conv_run u = {.cols = cols, .kernel = kernel};
    const float *rows[MOST_TAPS];
    float *taps, *dtaps;

    if (check_kernel(kernel, f) || !(taps = turn(w, cols, kernel, kernel + 1, f)))
        return f->code;
    u.taps = taps;
    u.zeros = taps + row_at(kernel, cols);
    dtaps = taps + row_at(kernel + 1, cols);
    for (int i = 0, n; i < r->rows; i += n) {
        n = scan_run(r, i);
        u.x = x + row_at(i, cols);
        u.start = r->pos[i];
        for (int t = 0; t < n; t++) {
            size_t at = row_at(i + t, cols);

            for (int j = 0; j < kernel; j++)
                rows[j] = input(&u, t - kernel + 1 + j);
            back_row(dx + at, dtaps, dy + at, rows, &u, t);
        }
    }
    for (int c = 0; dw && c < cols; c++)
        for (int j = 0; j < kernel; j++)
            dw[row_at(c, kernel) + (size_t)j] += dtaps[row_at(j, cols) + (size_t)c];
    return 0;
}
