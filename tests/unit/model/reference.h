/* reference.h - what PyTorch computes with the tiny models of tests/ref, and holding a
 * model against it. */
#ifndef DAPO_TEST_REFERENCE_H
#define DAPO_TEST_REFERENCE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/model.h"
#include "model/safetensors.h"

enum { PADDED = 5, SEQS = 3, ROWS = 27 };

/* -- the reference file --------------------------------------------------------------
 */

struct reference {
    struct st_file *file;
    int n; /* log-probs */
    int ids[ROWS], start[SEQS + 1], at[ROWS], target[ROWS];
    float coef[ROWS], logp[ROWS], entropy[ROWS];
    float *logits; /* [ROWS][vocab] */
};

/* The tensor `name`; its length must be `n`, or anything if n is 0. */
static inline float *fetch(const struct st_file *file, const char *name, size_t n)
{
    struct fault f = FAULT_INIT;
    const struct st_tensor *t = st_find(file, name);
    float *x;

    if (!t || (n && t->values != n)) {
        fprintf(stderr, "%s: no %s of %zu values\n", st_path(file), name, n);
        exit(1);
    }
    x = mem_new(t->values, sizeof *x, name, &f);
    CHECK_OK(st_read(file, t, x, &f), &f);
    return x;
}

static inline void fetch_floats(const struct st_file *file, const char *name,
                                float *out, size_t n)
{
    float *x = fetch(file, name, n);

    memcpy(out, x, n * sizeof *x);
    free(x);
}

static inline void fetch_ints(const struct st_file *file, const char *name, int *out,
                              size_t n)
{
    float *x = fetch(file, name, n);

    for (size_t i = 0; i < n; i++)
        out[i] = (int)x[i];
    free(x);
}

/* The ref.safetensors of a folder of tests/ref. */
static inline void reference_open(struct reference *r, const char *dir, int vocab)
{
    char path[300];
    struct fault f = FAULT_INIT;
    size_t n;

    snprintf(path, sizeof path, "%.200s/ref.safetensors", dir);
    CHECK_OK(st_open(&r->file, path, &f), &f);
    n = st_find(r->file, "at")->values;
    r->n = (int)n;
    fetch_ints(r->file, "ids", r->ids, ROWS);
    fetch_ints(r->file, "start", r->start, SEQS + 1);
    fetch_ints(r->file, "at", r->at, n);
    fetch_ints(r->file, "target", r->target, n);
    fetch_floats(r->file, "coef", r->coef, n);
    fetch_floats(r->file, "logp", r->logp, n);
    fetch_floats(r->file, "entropy", r->entropy, n);
    r->logits = fetch(r->file, "logits", (size_t)ROWS * (size_t)vocab);
}

static inline void reference_close(struct reference *r)
{
    st_close(r->file);
    free(r->logits);
}

/* -- comparisons ---------------------------------------------------------------------
 */

/* |got - want| over the root mean square of want: at its largest for f32; its root mean
 * square for bf16, where single values may be far off. */
static inline double off_by(const float *got, const float *want, size_t n,
                            enum compute compute)
{
    double most = 0, squares = 0, wanted = 1e-30;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - (double)want[i]);

        most = d > most || isnan(d) ? d : most;
        squares += d * d;
        wanted += (double)want[i] * (double)want[i];
    }
    return compute == COMPUTE_F32 ? most / sqrt(wanted / (double)n)
                                  : sqrt(squares / wanted);
}

static inline void slope(void *ctx, int first, int n, const float *logp,
                         const float *entropy, float *dlogp)
{
    const struct reference *r = ctx;

    (void)logp;
    (void)entropy;
    memcpy(dlogp, r->coef + first, (size_t)n * sizeof *dlogp);
}

static inline void check_gradient(struct model *m, const struct reference *r,
                                  enum compute compute, double within)
{
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t = model_tensors(m, &n);
    const float *grad = model_grad(m, &f);

    for (int i = 0; i < n; i++) {
        char name[128];
        size_t values = (size_t)t[i].rows * (size_t)t[i].cols;
        float *want;
        double off;

        snprintf(name, sizeof name, "grad.%s", t[i].name);
        want = fetch(r->file, name, values);
        off = off_by(grad + t[i].first, want, values, compute);
        if (!(off <= within))
            fprintf(stderr, "%s is off by %g\n", name, off);
        CHECK(off <= within);
        free(want);
    }
}

static inline void check_logits(struct model *m, const struct reference *r,
                                enum compute compute, double within)
{
    int first[SEQS], seq[ROWS], pos[ROWS], all[ROWS], vocab = model_cfg(m)->vocab;
    struct attend_rows rows = {ROWS, seq, pos, {2 * KV_PAGE, 1, first, NULL}};
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;
    float *logits;

    CHECK_OK(kv_new(&kv, m, 2 * SEQS, SEQS, &f), &f);
    for (int s = 0; s < SEQS; s++) {
        first[s] = 2 * s * KV_PAGE;
        for (int i = r->start[s]; i < r->start[s + 1]; i++) {
            seq[i] = s;
            pos[i] = i - r->start[s];
            all[i] = i;
        }
    }
    CHECK_OK(model_step(m, kv, r->ids, &rows, all, ROWS, &logits, &f), &f);
    CHECK_NEAR(off_by(logits, r->logits, (size_t)ROWS * (size_t)vocab, compute), 0,
               within);
    kv_free(kv);
}

/* Logits, log-probs, entropies and gradients of `m` against those of the folder `dir`.
 */
static inline void reference_check(struct model *m, const char *dir,
                                   enum compute compute, double within)
{
    struct reference r = {0};
    struct fault f = FAULT_INIT;
    float logp[ROWS], entropy[ROWS];

    reference_open(&r, dir, model_cfg(m)->vocab);
    check_logits(m, &r, compute, within);
    CHECK_OK(model_forward(m, &(struct pack){ROWS, SEQS, r.ids, r.start}, &f), &f);
    CHECK_OK(model_grad_zero(m, &f), &f);
    CHECK_OK(model_head(m, r.at, r.target, r.n, 0.8f, logp, entropy, slope, &r, &f),
             &f);
    CHECK_OK(model_backward(m, &f), &f);
    CHECK_NEAR(off_by(logp, r.logp, (size_t)r.n, compute), 0, within);
    CHECK_NEAR(off_by(entropy, r.entropy, (size_t)r.n, compute), 0, within);
    check_gradient(m, &r, compute, 3 * within);
    reference_close(&r);
}

#endif
