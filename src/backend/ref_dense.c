/* ref_dense.c - dense products of the reference backend. */
#include <stdlib.h>

#include "backend/ref.h"
#include "dapo/mem.h"

struct weight {
    int out, in;
    enum compute type;
    float *v; /* [out][in], rounded to the type */
};

static float rounded(const struct weight *w, float x)
{
    return w->type == COMPUTE_BF16 ? bf16_round(x) : x;
}

int ref_weight_new(struct weight **out, int n_out, int n_in, enum compute type,
                   struct fault *f)
{
    struct weight *w = mem_new(1, sizeof *w, "a weight", f);

    *out = NULL;
    if (!w)
        return f->code;
    *w = (struct weight){.out = n_out, .in = n_in, .type = type};
    w->v = mem_new(row_at(n_out, n_in), sizeof *w->v, "a weight", f);
    if (!w->v) {
        free(w);
        return f->code;
    }
    *out = w;
    return 0;
}

void ref_weight_free(struct weight *w)
{
    if (w)
        free(w->v);
    free(w);
}

int ref_weight_set(struct weight *w, const float *master, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < row_at(w->out, w->in); i++)
        w->v[i] = rounded(w, master[i]);
    return 0;
}

int ref_linear(float *y, const float *x, const struct weight *w, int rows,
               struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *xr = x + row_at(r, w->in);

        for (int o = 0; o < w->out; o++) {
            const float *wo = w->v + row_at(o, w->in);
            double sum = 0.0;

            for (int i = 0; i < w->in; i++)
                sum += (double)rounded(w, xr[i]) * (double)wo[i];
            y[row_at(r, w->out) + (size_t)o] = (float)sum;
        }
    }
    return 0;
}

int ref_linear_dx(float *dx, const float *dy, const struct weight *w, int rows, int add,
                  struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *dyr = dy + row_at(r, w->out);
        float *dxr = dx + row_at(r, w->in);

        for (int i = 0; i < w->in; i++) {
            double sum = 0.0;

            for (int o = 0; o < w->out; o++)
                sum += (double)rounded(w, dyr[o]) *
                       (double)w->v[row_at(o, w->in) + (size_t)i];
            dxr[i] = (float)(add ? (double)dxr[i] + sum : sum);
        }
    }
    return 0;
}

int ref_linear_dw(float *dw, const float *dy, const float *x, const struct weight *w,
                  int rows, struct fault *f)
{
    (void)f;
    for (int o = 0; o < w->out; o++) {
        for (int i = 0; i < w->in; i++) {
            double sum = 0.0;

            for (int r = 0; r < rows; r++)
                sum += (double)rounded(w, dy[row_at(r, w->out) + (size_t)o]) *
                       (double)rounded(w, x[row_at(r, w->in) + (size_t)i]);
            dw[row_at(o, w->in) + (size_t)i] += (float)sum;
        }
    }
    return 0;
}

int ref_merge(float *w, const float *base, const float *b, const float *a, float scale,
              int n_out, int n_in, int rank, struct fault *f)
{
    (void)f;
    for (int o = 0; o < n_out; o++) {
        for (int i = 0; i < n_in; i++) {
            size_t at = row_at(o, n_in) + (size_t)i;
            double sum = 0.0;

            for (int k = 0; k < rank; k++)
                sum += (double)b[row_at(o, rank) + (size_t)k] *
                       (double)a[row_at(k, n_in) + (size_t)i];
            w[at] = rank ? (float)((double)base[at] + (double)scale * sum) : base[at];
        }
    }
    return 0;
}
