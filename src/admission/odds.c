/* odds.c - the launch rule's probabilities and the running estimates behind them. */
#include <math.h>
#include <stdlib.h>

#include "admission/odds.h"
#include "dapo/mem.h"

/* Groups up to which the exact sum is used; its cost grows with the square. */
#define EXACT 48
/* Steps the estimates remember: long enough to be steady at 8 candidates a step, short
 * enough to follow a policy that learns. */
#define MEMORY 16.0
/* Keeps every q inside (0, 1), so that no launch looks certain which is not. */
#define MARGIN 1e-9

static double fewer_exact(int need, const int64_t *undecided, const double *q, int size)
{
    double d[EXACT] = {1.0}, sum = 0; /* d[i] = P(i trainable), i < need */

    for (int k = 0; k < size; k++)
        for (int64_t n = 0; n < undecided[k]; n++) {
            for (int i = need - 1; i > 0; i--)
                d[i] = d[i] * (1 - q[k]) + d[i - 1] * q[k];
            d[0] *= 1 - q[k];
        }
    for (int i = 0; i < need; i++)
        sum += d[i];
    return sum;
}

double odds_fewer(int64_t need, const int64_t *undecided, const double *q, int size)
{
    double mean = 0, variance = 0, p;
    int64_t groups = 0;

    for (int k = 0; k < size; k++) {
        groups += undecided[k];
        mean += (double)undecided[k] * q[k];
        variance += (double)undecided[k] * q[k] * (1 - q[k]);
    }
    if (need <= 0)
        return 0;
    if (groups < need)
        return 1;
    if (groups <= EXACT)
        p = fewer_exact((int)need, undecided, q, size);
    else
        p = 0.5 * erfc(-((double)need - 0.5 - mean) / sqrt(2 * variance));
    return fmin(p, nextafter(1, 0));
}

/* E[p^k] of Beta(a, a). */
static double moment(double a, int k)
{
    double e = 1;

    for (int i = 0; i < k; i++)
        e *= (a + i) / (2 * a + i);
    return e;
}

void odds_prior(double *q, int size, double trainable)
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
    size_t n = (size_t)size;

    *e = (struct estimate){.size = size, .weight = weight};
    e->prior = mem_new(n, sizeof(double), "estimates", f);
    e->equal = mem_new(n, sizeof(double), "estimates", f);
    e->trainable = mem_new(n, sizeof(double), "estimates", f);
    e->q = mem_new(n, sizeof(double), "estimates", f);
    if (!e->prior || !e->equal || !e->trainable || !e->q) {
        estimate_free(e);
        return f->code;
    }
    odds_prior(e->prior, size, trainable);
    estimate_update(e);
    return 0;
}

void estimate_free(struct estimate *e)
{
    free(e->prior);
    free(e->equal);
    free(e->trainable);
    free(e->q);
    *e = (struct estimate){0};
}

void estimate_age(struct estimate *e)
{
    for (int k = 0; k < e->size; k++) {
        e->equal[k] *= 1 - 1 / MEMORY;
        e->trainable[k] *= 1 - 1 / MEMORY;
    }
}

/* Does member i end before member j? */
static bool before(const int64_t *tokens, int i, int j)
{
    return tokens[i] < tokens[j] || (tokens[i] == tokens[j] && i < j);
}

void estimate_add(struct estimate *e, const unsigned char *correct,
                  const int64_t *tokens)
{
    int first = 0, other = -1, run = 0;

    for (int i = 1; i < e->size; i++)
        if (before(tokens, i, first))
            first = i;
    for (int i = 0; i < e->size; i++)
        if (correct[i] != correct[first] && (other < 0 || before(tokens, i, other)))
            other = i;
    for (int i = 0; i < e->size; i++)
        run += other < 0 || before(tokens, i, other);
    for (int k = 0; k < e->size && k <= run; k++) {
        e->equal[k] += 1;
        e->trainable[k] += other >= 0;
    }
}

void estimate_update(struct estimate *e)
{
    for (int k = 0; k < e->size; k++) {
        double q =
            (e->weight * e->prior[k] + e->trainable[k]) / (e->weight + e->equal[k]);

        e->q[k] = fmin(fmax(q, MARGIN), 1 - MARGIN);
    }
}
