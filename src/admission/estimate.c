/* estimate.c - a prior and counts: the running P(trainable | k equal verdicts). */
#include <math.h>
#include <stdlib.h>

#include "admission/estimate.h"
#include "dapo/mem.h"

/* Steps the estimates remember: long enough to be steady at 8 candidates a step, short
 * enough to follow a policy that learns. */
#define MEMORY 16.0
/* Keeps every q inside (0, 1), so that no launch looks certain which is not. */
#define MARGIN 1e-9

/* E[p^k] of Beta(a, a). */
static double moment(double a, int k)
{
    double e = 1;

    for (int i = 0; i < k; i++)
        e *= (a + i) / (2 * a + i);
    return e;
}

void estimate_prior(double *q, int size, double trainable)
{
    double low = log(1e-9), high = log(1e9);

    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;

        if (1 - 2 * moment(exp(mid), size) < trainable)
            low = mid;
        else
            high = mid;
    }
    q[0] = trainable;
    for (int k = 1; k < size; k++)
        q[k] = 1 - moment(exp(high), size) / moment(exp(high), k);
}

int estimate_init(struct estimate *e, int size, double trainable, double weight,
                  struct fault *f)
{
    size_t n = (size_t)size, all = HISTORY_COUNT * n;

    *e = (struct estimate){.size = size, .weight = weight};
    e->prior = mem_new(n, sizeof(double), "estimates", f);
    e->equal = mem_new(all, sizeof(double), "estimates", f);
    e->trainable = mem_new(all, sizeof(double), "estimates", f);
    e->q = mem_new(all, sizeof(double), "estimates", f);
    e->all = mem_new(n, sizeof(double), "estimates", f);
    if (!e->prior || !e->equal || !e->trainable || !e->q || !e->all) {
        estimate_free(e);
        return f->code;
    }
    estimate_prior(e->prior, size, trainable);
    estimate_update(e);
    return 0;
}

void estimate_free(struct estimate *e)
{
    free(e->prior);
    free(e->equal);
    free(e->trainable);
    free(e->q);
    free(e->all);
    *e = (struct estimate){0};
}

void estimate_age(struct estimate *e)
{
    for (int i = 0; i < HISTORY_COUNT * e->size; i++) {
        e->equal[i] *= 1 - 1 / MEMORY;
        e->trainable[i] *= 1 - 1 / MEMORY;
    }
}

/* Does member i end before member j? */
static bool before(const int64_t *tokens, int i, int j)
{
    return tokens[i] < tokens[j] || (tokens[i] == tokens[j] && i < j);
}

void estimate_add(struct estimate *e, enum history h, const unsigned char *correct,
                  const int64_t *tokens)
{
    int first = 0, other = -1, run = 0, at = (int)h * e->size;

    for (int i = 1; i < e->size; i++)
        if (before(tokens, i, first))
            first = i;
    for (int i = 0; i < e->size; i++)
        if (correct[i] != correct[first] && (other < 0 || before(tokens, i, other)))
            other = i;
    for (int i = 0; i < e->size; i++)
        run += other < 0 || before(tokens, i, other);
    for (int k = 0; k < e->size && k <= run; k++) {
        e->equal[at + k] += 1;
        e->trainable[at + k] += other >= 0;
    }
}

static double blend(double weight, double prior, double trainable, double groups)
{
    double q = (weight * prior + trainable) / (weight + groups);

    return fmin(fmax(q, MARGIN), 1 - MARGIN);
}

/* The counts at k of all classes but one. */
static void others(const struct estimate *e, int but, int k, double *n, double *t)
{
    *n = *t = 0;
    for (int h = 0; h < HISTORY_COUNT; h++)
        if (h != but) {
            *n += e->equal[h * e->size + k];
            *t += e->trainable[h * e->size + k];
        }
}

void estimate_update(struct estimate *e)
{
    double n, t;

    for (int k = 0; k < e->size; k++) {
        for (int h = 0; h < HISTORY_COUNT; h++) {
            int i = h * e->size + k;

            others(e, h, k, &n, &t);
            e->q[i] = blend(e->weight, blend(e->weight, e->prior[k], t, n),
                            e->trainable[i], e->equal[i]);
        }
        others(e, -1, k, &n, &t);
        e->all[k] = blend(e->weight, e->prior[k], t, n);
    }
}

enum history history_after(int correct, int size)
{
    if (correct == 0)
        return HISTORY_ALL_WRONG;
    return correct == size ? HISTORY_ALL_CORRECT : HISTORY_MIXED;
}
