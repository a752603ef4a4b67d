/* cpu_vocab.c - log-probabilities of the CPU backend. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/cpu_vocab.h"
#include "backend/vec.h"

float cpu_row_most(const float *x, int n)
{
    vec most = vec_fill(-INFINITY);
    int j = 0;

    for (; j + LANES <= n; j += LANES)
        most = vec_max(vec_load(x + j), most);
    if (j < n)
        most = vec_max(vec_load_part(x + j, n - j, -INFINITY), most);
    return vec_most(most);
}

/* Sums of e = e^z and of z e over one block, in f32. */
struct block {
    vec sum, mean;
};

static void add_exps(struct block *b, vec *e, vec x, vec most, vec inverse)
{
    vec z = (x - most) * inverse;

    *e = vec_exp(z);
    b->sum += *e;
    /* Where e is 0, z may be -inf, and 0 * -inf has no place in the entropy. */
    b->mean = vec_fma(*e, vec_max(vec_fill(-88.0f), z), b->mean);
}

struct soft cpu_row_soft(const float *x, int n, float temperature, float *e,
                         double *sums)
{
    struct soft s = {.most = cpu_row_most(x, n), .temperature = temperature};
    vec most = vec_fill(s.most), inverse = vec_fill(1.0f / temperature), some;

    for (int at = 0, block = 0; at < n; at += SOFT_BLOCK, block++) {
        int end = n - at < SOFT_BLOCK ? n : at + SOFT_BLOCK, j = at;
        struct block b = {0};

        for (; j + LANES <= end; j += LANES) {
            add_exps(&b, &some, vec_load(x + j), most, inverse);
            if (e)
                vec_store(e + j, some);
        }
        if (j < end) {
            add_exps(&b, &some, vec_load_part(x + j, end - j, -INFINITY), most,
                     inverse);
            if (e)
                vec_store_part(e + j, some, end - j);
        }
        s.sum += (double)vec_sum(b.sum);
        s.mean += (double)vec_sum(b.mean);
        if (sums)
            sums[block] = (double)vec_sum(b.sum);
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

/* x[j] = -slope * e^(x[j] * inverse - lse) */
static void slopes(float *x, int n, float inverse, float lse, float slope)
{
    vec by = vec_fill(inverse), less = vec_fill(-lse);
    int j = 0;

    for (; j + LANES <= n; j += LANES)
        vec_store(x + j, -slope * vec_exp(vec_fma(vec_load(x + j), by, less)));
    vec_store_part(
        x + j, -slope * vec_exp(vec_fma(vec_load_part(x + j, n - j, 0.0f), by, less)),
        n - j);
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
