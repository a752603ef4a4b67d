/* model.c - making, refreshing and freeing a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/random.h"
#include "model/impl.h"

/* -- memory -------------------------------------------------------------------------
 */

int alloc_floats(const struct backend *be, float **out, size_t n, struct fault *f)
{
    void *p;
    size_t bytes;

    if (!size_mul(n, sizeof(float), &bytes))
        return fault_set(f, FAULT_SYSTEM, "no memory for %zu values", n);
    if (be->alloc(&p, bytes, f))
        return f->code;
    *out = p;
    return 0;
}

int grow_ints(int **items, size_t *room, int need, struct fault *f)
{
    void *p = *items;
    int rc = mem_grow(&p, room, (size_t)need, sizeof **items, "rows of tokens", f);

    *items = p;
    return rc;
}

float *carve_values(struct carve *c, size_t n)
{
    size_t at = c->used;

    if (!size_mul(n, sizeof(float), &n) || !size_add(n, 63, &n) ||
        !size_add(at, n / 64 * 64, &c->used))
        c->over = true;
    return c->base ? (float *)(void *)(c->base + at) : NULL;
}

float *carve_floats(struct carve *c, int rows, int cols)
{
    size_t n;

    if (!size_mul((size_t)rows, (size_t)cols, &n))
        c->over = true;
    return carve_values(c, c->over ? 0 : n);
}

void carve_join(struct carve *c, const struct carve *other)
{
    c->used = other->used > c->used ? other->used : c->used;
    c->over |= other->over;
}

int pool_fit(struct pool *p, const struct backend *be, const struct carve *need,
             struct fault *f)
{
    void *base;

    if (need->over)
        return fault_set(f, FAULT_SYSTEM,
                         "no memory for the activations of that many "
                         "tokens; use smaller microbatches");
    if (need->used <= p->size)
        return 0;
    be->free(p->base);
    *p = (struct pool){0};
    if (be->alloc(&base, need->used, f))
        return f->code;
    *p = (struct pool){base, need->used};
    return 0;
}

/* -- life -------------------------------------------------------------------------- */

/* Room for the factors of the centred norms. */
static int make_norms(struct model *m, struct fault *f)
{
    const struct table *t = &m->table;
    size_t n = 0;

    m->norm_at = mem_new((size_t)t->n, sizeof *m->norm_at, "the norms", f);
    if (!m->norm_at)
        return f->code;
    for (int i = 0; i < t->n; i++) {
        m->norm_at[i] = n;
        n += t->tensors[i].centred ? (size_t)t->tensors[i].cols : 0;
    }
    return n ? alloc_floats(m->be, &m->norms, n, f) : 0;
}

static void refresh_norms(struct model *m)
{
    for (int i = 0; i < m->table.n; i++) {
        const struct model_tensor *x = &m->table.tensors[i];

        for (int j = 0; x->centred && j < x->cols; j++)
            m->norms[m->norm_at[i] + (size_t)j] = 1 + param_of(m, i)[j];
    }
}

/* Only matrices that a dense product uses get a compute form; an untied embedding is
 * only looked up. */
static int make_weights(struct model *m, struct fault *f)
{
    const struct table *t = &m->table;

    m->weights = mem_new((size_t)t->n, sizeof *m->weights, "the weights", f);
    if (!m->weights)
        return f->code;
    for (int i = 0; i < t->n; i++) {
        const struct model_tensor *x = &t->tensors[i];

        if (x->vector || x->conv || (i == t->embed && t->head != t->embed))
            continue;
        if (m->be->weight_new(&m->weights[i], x->rows, x->cols, m->compute, f))
            return f->code;
    }
    return 0;
}

int model_make(struct model **out, struct model_config *c, struct table *t,
               const struct backend *be, enum compute compute, int real_vocab,
               struct fault *f)
{
    struct model *m = mem_new(1, sizeof *m, "the model", f);
    int rc = m ? 0 : f->code;

    *out = NULL;
    if (!m) {
        model_config_free(c);
        table_free(t);
        return rc;
    }
    *m = (struct model){.be = be, .compute = compute, .cfg = *c, .table = *t};
    *c = (struct model_config){0};
    *t = (struct table){0};
    m->real_vocab = real_vocab ? real_vocab : m->cfg.vocab;
    m->heads = (struct heads){m->cfg.heads, m->cfg.kv_heads, m->cfg.head_dim,
                              (float)(1.0 / sqrt((double)m->cfg.head_dim))};
    if (real_vocab < 0 || real_vocab > m->cfg.vocab)
        rc = fault_set(f, FAULT_CONFIG,
                       "the tokenizer knows %d ids, but the model's vocabulary has %d; "
                       "they don't belong together",
                       real_vocab, m->cfg.vocab);
    if (!rc)
        rc = alloc_floats(be, &m->params, m->table.values, f);
    m->train.acts = mem_new((size_t)m->cfg.layers, sizeof *m->train.acts, "layers", f);
    if (!rc && !m->train.acts)
        rc = f->code;
    if (!rc)
        rc = make_norms(m, f);
    if (!rc)
        rc = make_weights(m, f);
    if (rc)
        model_free(m);
    else
        *out = m;
    return rc;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (int i = 0; m->weights && i < m->table.n; i++)
        if (m->weights[i])
            m->be->weight_free(m->weights[i]);
    lora_free(m);
    m->be->free(m->params);
    m->be->free(m->grad);
    m->be->free(m->norms);
    free(m->norm_at);
    m->be->free(m->train.pool.base);
    m->be->free(m->train.back.base);
    m->be->free(m->head_pool.base);
    m->be->free(m->step.pool.base);
    free(m->train.acts);
    free(m->train.pos);
    free(m->train.seq);
    free(m->train.first);
    free(m->train.ids);
    free(m->step.row);
    free(m->step.slot);
    free(m->even);
    free(m->weights);
    free(m->dir);
    json_decref(m->config);
    json_decref(m->generation);
    table_free(&m->table);
    model_config_free(&m->cfg);
    free(m);
}

/* Two normals per draw (Box-Muller); element e of tensor t is half e % 2 of draw e / 2.
 */
static void draw_normals(float *out, size_t n, uint64_t seed, int tensor)
{
    const double two_pi = 6.283185307179586, sigma = 0.02;

    for (size_t e = 0; e < n; e += 2) {
        size_t pair = e / 2;
        uint64_t bits = random_bits(seed, RANDOM_INIT, (uint32_t)tensor, (uint32_t)pair,
                                    (uint32_t)(pair >> 32), 0);
        double u = ((double)(uint32_t)bits + 1.0) * 0x1p-32; /* in (0, 1] */
        double v = (double)(uint32_t)(bits >> 32) * 0x1p-32;
        double r = sigma * sqrt(-2.0 * log(u));

        out[e] = (float)(r * cos(two_pi * v));
        if (e + 1 < n)
            out[e + 1] = (float)(r * sin(two_pi * v));
    }
}

static bool ends_in(const char *name, const char *tail)
{
    size_t n = strlen(name), k = strlen(tail);

    return n > k && !strcmp(name + n - k, tail);
}

/* Biases 0, norms multiply by 1; of linear attention dt_bias 1 and exp(A_log) uniform
 * in [0.01, 16), as Hugging Face has it. */
static void draw_vector(float *p, const struct model_tensor *x, uint64_t seed,
                        int tensor)
{
    bool a_log = ends_in(x->name, ".A_log");
    float value = x->centred || ends_in(x->name, ".bias") ? 0 : 1;

    for (int e = 0; e < x->cols; e++) {
        double u = a_log ? (double)random_uniform(seed, RANDOM_INIT, (uint32_t)tensor,
                                                  (uint32_t)e, 0, 0)
                         : 0;

        p[e] = a_log ? (float)log(0.01 + (16 - 0.01) * u) : value;
    }
}

static int config_copy(struct model_config *out, const struct model_config *c,
                       struct fault *f)
{
    *out = *c;
    out->inv_freq = NULL;
    return model_config_derive(out, f);
}

int model_random(struct model **out, const struct model_config *c,
                 const struct backend *be, enum compute compute, int real_vocab,
                 uint64_t seed, struct fault *f)
{
    struct model_config own;
    struct table t;
    int rc = config_copy(&own, c, f);

    *out = NULL;
    if (rc)
        return rc;
    if (table_new(&t, &own, f)) {
        model_config_free(&own);
        return f->code;
    }
    if (model_make(out, &own, &t, be, compute, real_vocab, f))
        return f->code;
    (*out)->dir = mem_new(1, 1, "a path", f);
    for (int i = 0; i < (*out)->table.n; i++) {
        const struct model_tensor *x = &(*out)->table.tensors[i];
        float *p = param_of(*out, i);
        size_t n = (size_t)x->rows * (size_t)x->cols;

        if (x->vector)
            draw_vector(p, x, seed, i);
        else
            draw_normals(p, n, seed, i);
    }
    rc = (*out)->dir ? model_refresh(*out, f) : f->code;
    if (rc) {
        model_free(*out);
        *out = NULL;
    }
    return rc;
}

int model_refresh(struct model *m, struct fault *f)
{
    refresh_norms(m);
    if (m->lora)
        return lora_refresh(m, f);
    for (int i = 0; i < m->table.n; i++)
        if (m->weights[i] && m->be->weight_set(m->weights[i], param_of(m, i), f))
            return f->code;
    return 0;
}

/* -- views ------------------------------------------------------------------------- */

const struct model_config *model_cfg(const struct model *m)
{
    return &m->cfg;
}

const struct backend *model_backend(const struct model *m)
{
    return m->be;
}

const char *model_dir(const struct model *m)
{
    return m->dir;
}

int model_real_vocab(const struct model *m)
{
    return m->real_vocab;
}

float *model_params(struct model *m)
{
    return m->lora ? lora_params(m->lora) : m->params;
}

size_t model_n_params(const struct model *m)
{
    return m->lora ? lora_values(m->lora) : m->table.values;
}

unsigned long long model_checksum(const struct model *m)
{
    const float *values = m->lora ? lora_params(m->lora) : m->params;

    return hash64(values, model_n_params(m) * sizeof(float), 0);
}

const struct model_tensor *model_tensors(const struct model *m, int *n)
{
    if (m->lora)
        return lora_tensors(m->lora, n);
    *n = m->table.n;
    return m->table.tensors;
}

float *model_grad(struct model *m, struct fault *f)
{
    if (!m->grad)
        alloc_floats(m->be, &m->grad, model_n_params(m), f);
    return m->grad;
}

int model_grad_zero(struct model *m, struct fault *f)
{
    if (!model_grad(m, f))
        return f->code;
    return m->be->zero(m->grad, model_n_params(m) * sizeof(float), f);
}
