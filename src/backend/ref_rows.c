/* ref_rows.c - elementwise and row ops, and the optimizer, of the reference backend. */
#include <math.h>

#include "backend/ref.h"

int ref_add(float *y, const float *x, size_t n, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
    return 0;
}

int ref_scale(float *y, float a, size_t n, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < n; i++)
        y[i] *= a;
    return 0;
}

int ref_bias(float *y, const float *b, int rows, int cols, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[row_at(r, cols) + (size_t)c] += b[c];
    return 0;
}

int ref_bias_back(float *db, const float *dy, int rows, int cols, struct fault *f)
{
    (void)f;
    for (int c = 0; c < cols; c++) {
        double sum = 0.0;

        for (int r = 0; r < rows; r++)
            sum += (double)dy[row_at(r, cols) + (size_t)c];
        db[c] += (float)sum;
    }
    return 0;
}

int ref_embed(float *y, const float *table, const int *ids, int rows, int cols,
              struct fault *f)
{
    return ref_gather(y, table, ids, rows, cols, f);
}

int ref_embed_back(float *dtable, const float *dy, const int *ids, int rows, int cols,
                   struct fault *f)
{
    return ref_scatter(dtable, dy, ids, rows, cols, 1, f);
}

int ref_gather(float *y, const float *x, const int *index, int rows, int cols,
               struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[row_at(r, cols) + (size_t)c] = x[row_at(index[r], cols) + (size_t)c];
    return 0;
}

int ref_scatter(float *y, const float *x, const int *index, int rows, int cols, int add,
                struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            float *to = y + row_at(index[r], cols) + c;
            float from = x[row_at(r, cols) + (size_t)c];

            *to = add ? *to + from : from;
        }
    }
    return 0;
}

int ref_rmsnorm(float *y, float *rstd, const float *x, const float *w, int rows,
                int cols, float eps, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *xr = x + row_at(r, cols);
        float *yr = y + row_at(r, cols);
        double sum = 0.0, scale;

        for (int c = 0; c < cols; c++)
            sum += (double)xr[c] * (double)xr[c];
        scale = 1.0 / sqrt(sum / cols + (double)eps);
        for (int c = 0; c < cols; c++)
            yr[c] = (float)((double)xr[c] * scale * (double)w[c]);
        if (rstd)
            rstd[r] = (float)scale;
    }
    return 0;
}

/* With s = rstd and g = dy * w:  dx = s (g - x s^2 mean(g x)),  dw = dy x s. */
int ref_rmsnorm_back(float *dx, float *dw, const float *dy, const float *x,
                     const float *w, const float *rstd, int rows, int cols, int add,
                     struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *dyr = dy + row_at(r, cols), *xr = x + row_at(r, cols);
        float *dxr = dx + row_at(r, cols);
        double s = (double)rstd[r], dot = 0.0;

        for (int c = 0; c < cols; c++)
            dot += (double)dyr[c] * (double)w[c] * (double)xr[c];
        dot *= s * s / cols;
        for (int c = 0; c < cols; c++) {
            double d = s * ((double)dyr[c] * (double)w[c] - (double)xr[c] * dot);

            if (dw)
                dw[c] += (float)((double)dyr[c] * (double)xr[c] * s);
            dxr[c] = (float)(add ? (double)dxr[c] + d : d);
        }
    }
    return 0;
}

int ref_rope(float *x, const int *pos, const float *inv_freq, float mscale, int rows,
             int heads, int dim, int rotary, int sign, struct fault *f)
{
    int half = rotary / 2;

    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int h = 0; h < heads; h++) {
            float *v = x + row_at(r, heads * dim) + row_at(h, dim);

            for (int i = 0; i < half; i++) {
                double angle = sign * (double)pos[r] * (double)inv_freq[i];
                double c = (double)((float)cos(angle) * mscale);
                double s = (double)((float)sin(angle) * mscale);
                double a = (double)v[i], b = (double)v[i + half];

                v[i] = (float)(a * c - b * s);
                v[i + half] = (float)(b * c + a * s);
            }
        }
    }
    return 0;
}

int ref_swiglu(float *y, const float *gate, const float *up, size_t n, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < n; i++) {
        double g = (double)gate[i];

        y[i] = (float)(g / (1.0 + exp(-g)) * (double)up[i]);
    }
    return 0;
}

/* silu(g) = g s(g), with s the sigmoid; silu'(g) = s (1 + g (1 - s)). */
int ref_swiglu_back(float *dgate, float *dup, const float *dy, const float *gate,
                    const float *up, size_t n, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < n; i++) {
        double g = (double)gate[i], d = (double)dy[i], u = (double)up[i];
        double s = 1.0 / (1.0 + exp(-g));

        dgate[i] = (float)(d * u * s * (1.0 + g * (1.0 - s)));
        dup[i] = (float)(d * g * s);
    }
    return 0;
}

int ref_gate(float *y, const float *x, const float *g, int rows, int cols, int stride,
             struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            size_t i = row_at(r, cols) + (size_t)c;

            y[i] = (float)((double)x[i] /
                           (1.0 + exp(-(double)g[row_at(r, stride) + (size_t)c])));
        }
    }
    return 0;
}

int ref_gate_back(float *dx, float *dg, const float *dy, const float *x, const float *g,
                  int rows, int cols, int stride, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            size_t i = row_at(r, cols) + (size_t)c, j = row_at(r, stride) + (size_t)c;
            double s = 1.0 / (1.0 + exp(-(double)g[j])), d = (double)dy[i];

            dg[j] = (float)(d * (double)x[i] * s * (1.0 - s));
            dx[i] = (float)(d * s);
        }
    }
    return 0;
}

int ref_sumsq(double *out, const float *x, size_t n, struct fault *f)
{
    double sum = 0.0;

    (void)f;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    *out = sum;
    return 0;
}

int ref_adamw(float *w, float *m, float *v, const float *g, size_t n, float lr,
              float beta1, float beta2, float eps, float weight_decay, int64_t step,
              float grad_scale, struct fault *f)
{
    double b1 = (double)beta1, b2 = (double)beta2, rate = (double)lr;
    double unbias1 = 1.0 - pow(b1, (double)step), unbias2 = 1.0 - pow(b2, (double)step);

    (void)f;
    for (size_t i = 0; i < n; i++) {
        double d = (double)g[i] * (double)grad_scale;
        double wi = (double)w[i] * (1.0 - rate * (double)weight_decay);
        double mi = b1 * (double)m[i] + (1.0 - b1) * d;
        double vi = b2 * (double)v[i] + (1.0 - b2) * d * d;

        w[i] = (float)(wi - rate * (mi / unbias1) / (sqrt(vi / unbias2) + (double)eps));
        m[i] = (float)mi;
        v[i] = (float)vi;
    }
    return 0;
}
