#include "backend/cpu.h"
#include "backend/ref.h"
int cpu_gate(float *y, const float *x, const float *g, int rows, int cols, int stride,
             struct fault *f)
{
    return ref_gate(y, x, g, rows, cols, stride, f);
}
int cpu_gate_back(float *dx, float *dg, const float *dy, const float *x, const float *g,
                  int rows, int cols, int stride, struct fault *f)
{
    return ref_gate_back(dx, dg, dy, x, g, rows, cols, stride, f);
}
int cpu_conv(float *y, const float *x, const float *w, float *state,
             const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    return ref_conv(y, x, w, state, r, cols, kernel, f);
}
int cpu_conv_back(float *dx, float *dw, const float *dy, const float *x, const float *w,
                  const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    return ref_conv_back(dx, dw, dy, x, w, r, cols, kernel, f);
}
int cpu_delta_gates(float *decay, float *beta, const float *a, const float *b,
                    const float *a_log, const float *dt_bias, int rows, int heads,
                    struct fault *f)
{
    return ref_delta_gates(decay, beta, a, b, a_log, dt_bias, rows, heads, f);
}
int cpu_delta_gates_back(float *da, float *db, float *da_log, float *ddt_bias,
                         const float *ddecay, const float *dbeta, const float *a,
                         const float *b, const float *a_log, const float *dt_bias,
                         int rows, int heads, struct fault *f)
{
    return ref_delta_gates_back(da, db, da_log, ddt_bias, ddecay, dbeta, a, b, a_log,
                                dt_bias, rows, heads, f);
}
int cpu_delta(float *o, float *state, const float *q, const float *k, const float *v,
              int stride, const float *decay, const float *beta,
              const struct scan_rows *r, const struct delta_heads *h, struct fault *f)
{
    return ref_delta(o, state, q, k, v, stride, decay, beta, r, h, f);
}
int cpu_delta_back(float *dq, float *dk, float *dv, float *ddecay, float *dbeta,
                   const float *d_o, const float *q, const float *k, const float *v,
                   int stride, const float *decay, const float *beta,
                   const struct scan_rows *r, const struct delta_heads *h,
                   float *scratch, struct fault *f)
{
    return ref_delta_back(dq, dk, dv, ddecay, dbeta, d_o, q, k, v, stride, decay, beta,
                          r, h, scratch, f);
}
size_t cpu_delta_scratch(const struct scan_rows *r, const struct delta_heads *h)
{
    return ref_delta_scratch(r, h);
}
