/* cpu_rows.c - elementwise and row ops of the CPU backend. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/vec.h"

static void add_to(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

int cpu_add(float *y, const float *x, size_t n, struct fault *f)
{
    (void)f;
    add_to(y, x, n);
    return 0;
}

int cpu_scale(float *y, float a, size_t n, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < n; i++)
        y[i] *= a;
    return 0;
}

int cpu_bias(float *y, const float *b, int rows, int cols, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++)
        add_to(y + row_at(r, cols), b, (size_t)cols);
    return 0;
}

int cpu_bias_back(float *db, const float *dy, int rows, int cols, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++)
        add_to(db, dy + row_at(r, cols), (size_t)cols);
    return 0;
}

int cpu_embed(float *y, const float *table, const int *ids, int rows, int cols,
              struct fault *f)
{
    return cpu_gather(y, table, ids, rows, cols, f);
}

int cpu_embed_back(float *dtable, const float *dy, const int *ids, int rows, int cols,
                   struct fault *f)
{
    return cpu_scatter(dtable, dy, ids, rows, cols, 1, f);
}

int cpu_gather(float *y, const float *x, const int *index, int rows, int cols,
               struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++)
        memcpy(y + row_at(r, cols), x + row_at(index[r], cols),
               row_at(cols, sizeof *y));
    return 0;
}

int cpu_scatter(float *y, const float *x, const int *index, int rows, int cols, int add,
                struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        float *to = y + row_at(index[r], cols);
        const float *from = x + row_at(r, cols);

        if (add)
            add_to(to, from, (size_t)cols);
        else
            memcpy(to, from, row_at(cols, sizeof *y));
    }
    return 0;
}

int cpu_rmsnorm(float *y, float *rstd, const float *x, const float *w, int rows,
                int cols, float eps, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *xr = x + row_at(r, cols);
        float *yr = y + row_at(r, cols);
        float scale = 1.0f / sqrtf(vec_dot(xr, xr, cols) / (float)cols + eps);
        int c = 0;

        for (; c + LANES <= cols; c += LANES) /* y may be x: load, then store */
            vec_store(yr + c, vec_load(xr + c) * scale * vec_load(w + c));
        for (; c < cols; c++)
            yr[c] = xr[c] * scale * w[c];
        if (rstd)
            rstd[r] = scale;
    }
    return 0;
}

/* Sum of a[i] b[i] c[i]. */
static float dot3(const float *a, const float *b, const float *c, int n)
{
    vec sum = {0.0f};
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        sum = vec_fma(vec_load(a + i) * vec_load(b + i), vec_load(c + i), sum);
    if (i < n)
        sum = vec_fma(vec_load_part(a + i, n - i, 0.0f) *
                          vec_load_part(b + i, n - i, 0.0f),
                      vec_load_part(c + i, n - i, 0.0f), sum);
    return vec_sum(sum);
}

/* With s = rstd and g = dy * w:  dx = s (g - x s^2 mean(g x)),  dw = dy x s. */
int cpu_rmsnorm_back(float *dx, float *dw, const float *dy, const float *x,
                     const float *w, const float *rstd, int rows, int cols, int add,
                     struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *dyr = dy + row_at(r, cols), *xr = x + row_at(r, cols);
        float *dxr = dx + row_at(r, cols);
        float s = rstd[r], dot = dot3(dyr, w, xr, cols) * s * s / (float)cols;
        int c = 0;

        for (; c + LANES <= cols; c += LANES) {
            vec g = vec_load(dyr + c), v = vec_load(xr + c);
            vec d = s * (g * vec_load(w + c) - v * dot);

            if (dw)
                vec_store(dw + c, vec_load(dw + c) + g * v * s);
            vec_store(dxr + c, add ? vec_load(dxr + c) + d : d);
        }
        for (; c < cols; c++) {
            float d = s * (dyr[c] * w[c] - xr[c] * dot);

            if (dw)
                dw[c] += dyr[c] * xr[c] * s;
            dxr[c] = add ? dxr[c] + d : d;
        }
    }
    return 0;
}

static vec silu_times(vec gate, vec up)
{
    return gate / (1.0f + vec_exp(-gate)) * up;
}

int cpu_swiglu(float *y, const float *gate, const float *up, size_t n, struct fault *f)
{
    size_t i = 0;
    int rest = (int)(n % LANES);

    (void)f;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, silu_times(vec_load(gate + i), vec_load(up + i)));
    if (rest)
        vec_store_part(y + i,
                       silu_times(vec_load_part(gate + i, rest, 0.0f),
                                  vec_load_part(up + i, rest, 0.0f)),
                       rest);
    return 0;
}

/* silu(g) = g s(g), with s the sigmoid; silu'(g) = s (1 + g (1 - s)). */
static void swiglu_slopes(vec *dgate, vec *dup, vec dy, vec g, vec up)
{
    vec s = 1.0f / (1.0f + vec_exp(-g));

    *dgate = dy * up * s * (1.0f + g * (1.0f - s));
    *dup = dy * g * s;
}

int cpu_swiglu_back(float *dgate, float *dup, const float *dy, const float *gate,
                    const float *up, size_t n, struct fault *f)
{
    size_t i = 0;
    int rest = (int)(n % LANES);
    vec dg, du;

    (void)f;
    for (; i + LANES <= n; i += LANES) {
        swiglu_slopes(&dg, &du, vec_load(dy + i), vec_load(gate + i), vec_load(up + i));
        vec_store(dgate + i, dg);
        vec_store(dup + i, du);
    }
    swiglu_slopes(&dg, &du, vec_load_part(dy + i, rest, 0.0f),
                  vec_load_part(gate + i, rest, 0.0f),
                  vec_load_part(up + i, rest, 0.0f));
    vec_store_part(dgate + i, dg, rest);
    vec_store_part(dup + i, du, rest);
    return 0;
}

int cpu_gate(float *y, const float *x, const float *g, int rows, int cols, int stride,
             struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++, y += cols, x += cols, g += stride)
        for (int c = 0; c < cols; c += LANES)
            vec_store_some(y + c,
                           vec_load_some(x + c, cols - c) /
                               (1.0f + vec_exp(-vec_load_some(g + c, cols - c))),
                           cols - c);
    return 0;
}

int cpu_gate_back(float *dx, float *dg, const float *dy, const float *x, const float *g,
                  int rows, int cols, int stride, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        size_t at = row_at(r, cols), wide = row_at(r, stride);

        for (int c = 0; c < cols; c += LANES, at += LANES, wide += LANES) {
            int n = cols - c;
            vec s = 1.0f / (1.0f + vec_exp(-vec_load_some(g + wide, n)));
            vec d = vec_load_some(dy + at, n);

            vec_store_some(dg + wide, d * vec_load_some(x + at, n) * s * (1.0f - s), n);
            vec_store_some(dx + at, d * s, n);
        }
    }
    return 0;
}
