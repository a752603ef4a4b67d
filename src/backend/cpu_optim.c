/* cpu_optim.c - gradient norm and AdamW of the CPU backend. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/vec.h"

typedef float eight __attribute__((vector_size(32)));
typedef double wide __attribute__((vector_size(64)));

static inline wide squares(const float *x)
{
    eight v;
    wide w;

    memcpy(&v, x, sizeof v);
    w = __builtin_convertvector(v, wide);
    return w * w;
}

int cpu_sumsq(double *out, const float *x, size_t n, struct fault *f)
{
    wide sum[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
    double total = 0.0;
    size_t i = 0;

    (void)f;
    for (; i + 32 <= n; i += 32)
        for (size_t k = 0; k < 4; k++)
            sum[k] += squares(x + i + 8 * k);
    sum[0] += sum[1] + (sum[2] + sum[3]);
    for (int l = 0; l < 8; l++)
        total += sum[0][l];
    for (; i < n; i++)
        total += (double)x[i] * (double)x[i];
    *out = total;
    return 0;
}

/* The numbers of one AdamW step, bias corrections included. */
struct adamw {
    float keep;                                 /* 1 - lr * weight decay */
    float rate;                                 /* lr / (1 - beta1^step) */
    float root;                                 /* 1 / sqrt(1 - beta2^step) */
    float rest1, beta2, rest2, eps, grad_scale; /* rest = 1 - beta */
};

static void adamw(float *restrict w, float *restrict m, float *restrict v,
                  const float *restrict g, size_t n, struct adamw a)
{
    for (size_t i = 0; i < n; i++) {
        float d = g[i] * a.grad_scale;
        float mi = m[i] + a.rest1 * (d - m[i]);
        float vi = a.beta2 * v[i] + a.rest2 * d * d;

        w[i] = w[i] * a.keep - a.rate * mi / (sqrtf(vi) * a.root + a.eps);
        m[i] = mi;
        v[i] = vi;
    }
}

int cpu_adamw(float *w, float *m, float *v, const float *g, size_t n, float lr,
              float beta1, float beta2, float eps, float weight_decay, int64_t step,
              float grad_scale, struct fault *f)
{
    double unbias1 = 1.0 - pow((double)beta1, (double)step);
    double unbias2 = 1.0 - pow((double)beta2, (double)step);

    (void)f;
    adamw(w, m, v, g, n,
          (struct adamw){.keep = (float)(1.0 - (double)lr * (double)weight_decay),
                         .rate = (float)((double)lr / unbias1),
                         .root = (float)(1.0 / sqrt(unbias2)),
                         .rest1 = (float)(1.0 - (double)beta1),
                         .beta2 = beta2,
                         .rest2 = (float)(1.0 - (double)beta2),
                         .eps = eps,
                         .grad_scale = grad_scale});
    return 0;
}
