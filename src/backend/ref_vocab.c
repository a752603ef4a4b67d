/* ref_vocab.c - log-probabilities and sampling of the reference backend. */
#include <math.h>
#include <stdlib.h>

#include "backend/ref.h"
#include "dapo/mem.h"

/* log sum exp of x / t, and the entropy of its softmax. */
static double log_sum_exp(const float *x, int n, double t, double *entropy)
{
    double most = -INFINITY, sum = 0.0, mean = 0.0;

    for (int j = 0; j < n; j++)
        most = (double)x[j] > most ? (double)x[j] : most;
    for (int j = 0; j < n; j++) {
        double z = ((double)x[j] - most) / t, e = exp(z);

        sum += e;
        mean += e > 0.0 ? e * z : 0.0;
    }
    if (entropy)
        *entropy = log(sum) - mean / sum;
    return most / t + log(sum);
}

int ref_logprob(float *logp, float *entropy, float *lse, const float *logits,
                const int *targets, int rows, int vocab, int stride, float temperature,
                struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        const float *x = logits + row_at(r, stride);
        double t = (double)temperature, h, total = log_sum_exp(x, vocab, t, &h);

        if (logp)
            logp[r] = (float)((double)x[targets[r]] / t - total);
        if (entropy)
            entropy[r] = (float)h;
        if (lse)
            lse[r] = (float)total;
    }
    return 0;
}

int ref_logprob_back(float *logits, const float *dlogp, const float *lse,
                     const int *targets, int rows, int vocab, int stride,
                     float temperature, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        float *x = logits + row_at(r, stride);
        double t = (double)temperature, slope = (double)dlogp[r] / t;

        for (int j = 0; j < vocab; j++) {
            double p = exp((double)x[j] / t - (double)lse[r]);

            x[j] = (float)(slope * ((j == targets[r] ? 1.0 : 0.0) - p));
        }
        for (int j = vocab; j < stride; j++)
            x[j] = 0.0f;
    }
    return 0;
}

struct choice {
    float x;
    int id;
    double p; /* not normalised; 0 = excluded */
};

/* Most likely first, lower ids first among equals. */
static int by_rank(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    if (p->x < q->x || p->x > q->x)
        return p->x > q->x ? -1 : 1;
    return p->id < q->id ? -1 : 1;
}

static int by_id(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    return p->id < q->id ? -1 : 1;
}

/* top-k, then top-p over what is left: the shortest head of the ranking that holds it.
 */
static void exclude(struct choice *c, int n, const struct sampling *s)
{
    int keep = s->top_k > 0 && s->top_k < n ? s->top_k : n;
    double total = 0.0, head = 0.0;

    for (int i = 0; i < keep; i++)
        total += c[i].p;
    for (int i = 0; i < n; i++) {
        if (i >= keep || (s->top_p < 1.0f && i > 0 && head >= (double)s->top_p * total))
            c[i].p = 0.0;
        head += c[i].p;
    }
}

static int draw(struct choice *c, const float *x, int n, double u,
                const struct sampling *s)
{
    double total = 0.0, head = 0.0;
    int last;

    for (int i = 0; i < n; i++)
        c[i] = (struct choice){.x = x[i], .id = i};
    qsort(c, (size_t)n, sizeof *c, by_rank);
    last = c[0].id;
    if (s->temperature <= 0.0f)
        return last;
    for (int i = 0; i < n; i++)
        c[i].p = exp(((double)c[i].x - (double)c[0].x) / (double)s->temperature);
    exclude(c, n, s);
    qsort(c, (size_t)n, sizeof *c, by_id);
    for (int i = 0; i < n; i++)
        total += c[i].p;
    for (int i = 0; i < n; i++) {
        if (c[i].p <= 0.0)
            continue;
        last = i;
        head += c[i].p;
        if (head > u * total)
            break;
    }
    return last;
}

int ref_sample(int *ids, float *logp, const float *logits, const float *u, int rows,
               int vocab, int stride, const struct sampling *s, float train_temperature,
               struct fault *f)
{
    struct choice *c = mem_new((size_t)vocab, sizeof *c, "the sampler", f);

    if (!c)
        return f->code;
    for (int r = 0; r < rows; r++)
        ids[r] = draw(c, logits + row_at(r, stride), vocab, (double)u[r], s);
    free(c);
    return ref_logprob(logp, NULL, NULL, logits, ids, rows, vocab, stride,
                       train_temperature, f);
}
