/* head.c - log-probs and their gradient, a chunk of rows at a time. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/impl.h"

/* Rows of logits held at once: enough for the product to run at full rate. */
enum { CHUNK = 128 };

struct chunk {
    const struct model *m;
    int n;         /* rows of this chunk */
    const int *at; /* their rows in the forward */
    const int *targets;
    float temperature;
    float *x, *h, *dh;                                           /* [CHUNK][dim] */
    float *rstd;                                                 /* [CHUNK] */
    float *logits;                                               /* [CHUNK][vocab] */
    float logp[CHUNK], entropy[CHUNK], lse[CHUNK], dlogp[CHUNK]; /* host */
};

static void carve_chunk(struct chunk *k, struct carve *c, int rows)
{
    const struct model_config *cfg = &k->m->cfg;

    k->x = carve_floats(c, rows, cfg->dim);
    k->h = carve_floats(c, rows, cfg->dim);
    k->dh = carve_floats(c, rows, cfg->dim);
    k->rstd = carve_floats(c, rows, 1);
    k->logits = carve_floats(c, rows, cfg->vocab);
}

static int chunk_open(struct chunk *k, struct model *m, int rows, struct fault *f)
{
    struct carve c = {0};

    k->m = m;
    carve_chunk(k, &c, rows);
    if (pool_fit(&m->head_pool, m->be, &c, f))
        return f->code;
    c = (struct carve){.base = m->head_pool.base};
    carve_chunk(k, &c, rows);
    return 0;
}

static int chunk_forward(struct chunk *k, bool want_entropy, struct fault *f)
{
    const struct model *m = k->m;

    if (m->be->gather(k->x, m->train.out, k->at, k->n, m->cfg.dim, f) ||
        head_forward(m, k->logits, k->h, k->rstd, k->x, k->n, f) ||
        m->be->logprob(k->logp, want_entropy ? k->entropy : NULL, k->lse, k->logits,
                       k->targets, k->n, m->real_vocab, m->cfg.vocab, k->temperature,
                       f))
        return f->code;
    return 0;
}

/* From dlogp through the vocabulary product and the last norm into the rows' dx. */
static int chunk_back(struct chunk *k, struct fault *f)
{
    const struct model *m = k->m;
    const struct weight *w = m->weights[m->table.head];
    int dim = m->cfg.dim, norm = m->table.norm;

    if (m->be->logprob_back(k->logits, k->dlogp, k->lse, k->targets, k->n,
                            m->real_vocab, m->cfg.vocab, k->temperature, f) ||
        (!m->lora &&
         m->be->linear_dw(grad_of(m, m->table.head), k->logits, k->h, w, k->n, f)) ||
        m->be->linear_dx(k->dh, k->logits, w, k->n, 0, f) ||
        /* h is free now: it takes the gradient of the norm's input */
        m->be->rmsnorm_back(k->h, grad_of(m, norm), k->dh, k->x, norm_of(m, norm),
                            k->rstd, k->n, dim, 0, f) ||
        m->be->scatter(m->train.dx, k->h, k->at, k->n, dim, 1, f))
        return f->code;
    return 0;
}

static int check_rows(const struct model *m, const int *at, int n, struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (at[i] < 0 || at[i] >= m->train.flow.rows)
            return fault_set(f, FAULT_BUG, "row %d was asked of a forward of %d rows",
                             at[i], m->train.flow.rows);
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): the header tells why of each */
int model_head(struct model *m, const int *at, const int *targets, int n,
               float temperature, float *logp, float *entropy, model_slope *slope,
               void *ctx, struct fault *f)
{
    struct chunk k = {.temperature = temperature};

    if (n < 0 || !(temperature > 0))
        return fault_set(f, FAULT_BUG, "%d log-probs at temperature %g", n,
                         (double)temperature);
    if (check_rows(m, at, n, f) || check_ids(m, targets, n, f))
        return f->code;
    if (chunk_open(&k, m, n < CHUNK ? n : CHUNK, f) || (slope && train_start(m, f)))
        return f->code;
    for (int i = 0; i < n; i += k.n) {
        size_t bytes;

        k.n = n - i < CHUNK ? n - i : CHUNK;
        k.at = at + i;
        k.targets = targets + i;
        bytes = (size_t)k.n * sizeof(float);
        if (chunk_forward(&k, slope || entropy, f))
            return f->code;
        if (logp)
            memcpy(logp + i, k.logp, bytes);
        if (entropy)
            memcpy(entropy + i, k.entropy, bytes);
        if (!slope)
            continue;
        slope(ctx, i, k.n, k.logp, k.entropy, k.dlogp);
        if (chunk_back(&k, f))
            return f->code;
    }
    return 0;
}

/* The `top` largest of n values, largest first; of equal ones the lower index. */
static void pick_top(const float *x, int n, int top, int *ids)
{
    int held = 0;

    for (int j = 0; j < n; j++) {
        int i = held;

        if (held == top && !(x[j] > x[ids[top - 1]]))
            continue;
        for (; i > 0 && x[j] > x[ids[i - 1]]; i--)
            if (i < top)
                ids[i] = ids[i - 1];
        ids[i] = j;
        if (held < top)
            held++;
    }
}

int model_top(struct model *m, int at, int top, int *ids, float *logp, struct fault *f)
{
    struct chunk k = {.n = 1, .at = &at, .targets = (const int[]){0}, .temperature = 1};
    float *host;
    int rc;

    if (top < 1 || top > m->real_vocab)
        return fault_set(f, FAULT_CONFIG, "the %d most likely of %d tokens were asked",
                         top, m->real_vocab);
    if (check_rows(m, &at, 1, f) || chunk_open(&k, m, 1, f) ||
        chunk_forward(&k, false, f))
        return f->code;
    host = mem_new((size_t)m->real_vocab, sizeof *host, "logits", f);
    if (!host)
        return f->code;
    rc = m->be->get(host, k.logits, (size_t)m->real_vocab * sizeof *host, f);
    if (!rc)
        pick_top(host, m->real_vocab, top, ids);
    /* One op call per id: the very bits that model_head would give. */
    for (int i = 0; !rc && i < top; i++)
        rc = m->be->logprob(&logp[i], NULL, NULL, k.logits, &ids[i], 1, m->real_vocab,
                            m->cfg.vocab, 1, f);
    free(host);
    return rc;
}
