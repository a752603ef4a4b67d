/* cpu_optim.c - gradient norm and AdamW of the CPU backend. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/vec.h"

/* As many doubles as a vec has floats. */
typedef double wide __attribute__((vector_size(128)));

int cpu_sumsq(double *out, const float *x, size_t n, struct fault *f)
{
    wide sum = {0.0};
    double total = 0.0;
    size_t i = 0;

    (void)f;
    for (; i + LANES <= n; i += LANES) {
        wide v = __builtin_convertvector(vec_load(x + i), wide);

        sum += v * v;
    }
    for (int l = 0; l < LANES; l++)
        total += sum[l];
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
