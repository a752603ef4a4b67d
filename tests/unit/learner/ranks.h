/* ranks.h - several learner ranks in one process, without threads.
 *
 * A collective's result is the sum of what all ranks bring to it, so the ranks can run
 * one after another: in round k each rank runs from the start with the results of its
 * first k collectives known, brings its share to the next one, and is stopped there by
 * a fault.  When no rank is stopped any more, all have run to their end as they would
 * have side by side.  Ranks that differ in number, kind or size of their collectives
 * (under MPI: a hang) fail the test.
 */
#ifndef DAPO_TEST_RANKS_H
#define DAPO_TEST_RANKS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/learner.h"

#define MOST_RANKS 8
#define MOST_CALLS 16

enum kind { SUM_F32, SUM_F64, MAX_F64 };

struct replay {
    int known;   /* collectives whose result is known */
    int call;    /* the running rank's next one */
    int brought; /* ranks that have brought their share to collective `known` */
    struct {
        enum kind kind;
        size_t n;
        void *result; /* [n] float or double */
    } calls[MOST_CALLS];
};

static inline void combine(enum kind kind, void *result, const void *x, size_t n)
{
    const double *d = x;
    double *to = result;

    for (size_t i = 0; i < n; i++)
        if (kind == SUM_F32)
            ((float *)result)[i] += ((const float *)x)[i];
        else if (kind == SUM_F64)
            to[i] += d[i];
        else
            to[i] = d[i] > to[i] ? d[i] : to[i];
}

static inline int replay_call(struct replay *p, enum kind kind, void *x, size_t n,
                              struct fault *f)
{
    size_t bytes = n * (kind == SUM_F32 ? sizeof(float) : sizeof(double));
    int i = p->call++;

    CHECK(i < MOST_CALLS);
    if (i == p->known && p->brought++ == 0) {
        p->calls[i].kind = kind;
        p->calls[i].n = n;
        p->calls[i].result = malloc(bytes);
        memcpy(p->calls[i].result, x, bytes);
        return fault_set(f, FAULT_STOPPED, "collective %d", i);
    }
    CHECK_INT(p->calls[i].kind, kind);
    CHECK_INT(p->calls[i].n, n);
    if (i == p->known) {
        combine(kind, p->calls[i].result, x, n);
        return fault_set(f, FAULT_STOPPED, "collective %d", i);
    }
    memcpy(x, p->calls[i].result, bytes);
    return 0;
}

static inline int replay_sum_f32_all(void *ctx, float *x, size_t n, struct fault *f)
{
    return replay_call(ctx, SUM_F32, x, n, f);
}

static inline int replay_sum_f64_all(void *ctx, double *x, size_t n, struct fault *f)
{
    return replay_call(ctx, SUM_F64, x, n, f);
}

static inline int replay_max_f64_all(void *ctx, double *x, size_t n, struct fault *f)
{
    return replay_call(ctx, MAX_F64, x, n, f);
}

/* What one rank holds and ends with. */
struct rank {
    struct sequence *seq;
    int n;
    int rc;
    struct fault fault;
    struct update_metrics metrics;
    float *grad; /* a copy, [model_n_params]; NULL if it failed */
};

static inline void rank_finish(struct rank *k, struct model *m)
{
    struct fault f = FAULT_INIT;
    size_t bytes = model_n_params(m) * sizeof(float);

    k->grad = k->rc ? NULL : malloc(bytes);
    if (k->grad)
        memcpy(k->grad, model_grad(m, &f), bytes);
}

/* learner_gradient_all on all ranks; each rank's end is in its struct. */
static inline void ranks_gradient(struct learner *l, struct model *m, struct rank *rank,
                                  int ranks)
{
    struct replay p = {0};
    struct learner_reduce r = {&p, replay_sum_f32_all, replay_sum_f64_all,
                               replay_max_f64_all, 0};
    int stopped = ranks;

    for (; stopped; p.known++) {
        stopped = p.brought = 0;
        for (int i = 0; i < ranks; i++) {
            struct rank *k = &rank[i];

            p.call = 0;
            r.rank = i;
            k->fault = FAULT_INIT;
            k->rc = learner_gradient_all(l, k->seq, k->n, &r, &k->metrics, &k->fault);
            stopped += k->rc == FAULT_STOPPED;
            if (k->rc != FAULT_STOPPED)
                rank_finish(k, m);
        }
        CHECK(stopped == 0 || stopped == ranks);
        CHECK_INT(p.brought, stopped);
        if (stopped && stopped != ranks)
            break;
    }
    for (int i = 0; i < MOST_CALLS; i++)
        free(p.calls[i].result);
}

static inline void ranks_free(struct rank *rank, int ranks)
{
    for (int i = 0; i < ranks; i++)
        free(rank[i].grad);
}

/* One rank alone: every sum is what it brings. */
static inline int alone_f32_all(void *ctx, float *x, size_t n, struct fault *f)
{
    (void)ctx, (void)x, (void)n, (void)f;
    return 0;
}

static inline int alone_f64_all(void *ctx, double *x, size_t n, struct fault *f)
{
    (void)ctx, (void)x, (void)n, (void)f;
    return 0;
}

static const struct learner_reduce alone = {NULL, alone_f32_all, alone_f64_all,
                                            alone_f64_all, 0};

#endif
