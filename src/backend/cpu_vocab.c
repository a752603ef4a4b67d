/* cpu_vocab.c - log-probabilities of the CPU backend. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/cpu_vocab.h"
#include "backend/vec.h"

float cpu_row_most(const float *x, int n)
{
    vec most = vec_all(-INFINITY);
    int j = 0;

    for (; j + LANES <= n; j += LANES)
        most = vec_max(vec_load(x + j), most);
    if (j < n)
        most = vec_max(vec_load_part(x + j, n - j, -INFINITY), most);
    return vec_most(most);
}

static void exps(float *restrict e, float *restrict z, const float *restrict x, int n,
                 float most, float inverse)
{
    for (int j = 0; j < n; j++) {
        z[j] = (x[j] - most) * inverse;
        e[j] = exp_fast(z[j]);
        z[j] = z[j] < -87.3f ? 0.0f : z[j]; /* 0 * -inf has no place in the entropy */
    }
}

struct soft cpu_row_soft(const float *x, int n, float temperature, float *e,
                         double *sums)
{
    struct soft s = {.most = cpu_row_most(x, n), .temperature = temperature};

    for (int at = 0, block = 0; at < n; at += SOFT_BLOCK, block++) {
        float some[SOFT_BLOCK], z[SOFT_BLOCK];
        int k = n - at < SOFT_BLOCK ? n - at : SOFT_BLOCK;
        vec sum = {0.0f}, mean = {0.0f};

        exps(some, z, x + at, k, s.most, 1.0f / temperature);
        for (int j = k; j < SOFT_BLOCK; j++)
            some[j] = z[j] = 0.0f;
        for (int j = 0; j < SOFT_BLOCK; j += LANES) {
            sum += vec_load(some + j);
            mean = vec_fma(vec_load(some + j), vec_load(z + j), mean);
        }
        s.sum += (double)vec_sum(sum);
        s.mean += (double)vec_sum(mean);
        if (e)
            memcpy(e + at, some, row_at(k, sizeof *e));
        if (sums)
            sums[block] = (double)vec_sum(sum);
    }
    return s;
}

float cpu_soft_logp(const struct soft *s, float x)
{
    return (float)(((double)x - (double)s->most) / (double)s->temperature -
                   log(s->sum));
}

int cpu_logprob(float *logp, float *entropy, float *lse, const float *logits,
                const int *targets, int rows, int vocab, int stride, float temperature,
                struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *x = logits + row_at(r, stride);
        struct soft s = cpu_row_soft(x, vocab, temperature, NULL, NULL);

        if (logp)
            logp[r] = cpu_soft_logp(&s, x[targets[r]]);
        if (entropy)
            entropy[r] = (float)(log(s.sum) - s.mean / s.sum);
        if (lse)
            lse[r] = (float)((double)s.most / (double)temperature + log(s.sum));
    }
    return 0;
}

static void slopes(float *x, int n, float inverse, float lse, float slope)
{
    for (int j = 0; j < n; j++)
        x[j] = -slope * exp_fast(__builtin_fmaf(x[j], inverse, -lse));
}

int cpu_logprob_back(float *logits, const float *dlogp, const float *lse,
                     const int *targets, int rows, int vocab, int stride,
                     float temperature, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        float *x = logits + row_at(r, stride);
        float slope = dlogp[r] / temperature;

        slopes(x, vocab, 1.0f / temperature, lse[r], slope);
        x[targets[r]] += slope;
        for (int j = vocab; j < stride; j++)
            x[j] = 0.0f;
    }
    return 0;
}
