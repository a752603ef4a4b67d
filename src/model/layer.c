/* layer.c - the forward of one layer and of the head, for training and decoding alike.
 */
#include "dapo/pulse.h"
#include "model/impl.h"

static void carve_softmax(struct acts *a, struct carve *c,
                          const struct model_config *cfg, int rows)
{
    int q = cfg->heads * cfg->head_dim, k = cfg->kv_heads * cfg->head_dim;

    a->q = carve_floats(c, rows, q);
    a->k = carve_floats(c, rows, k);
    a->v = carve_floats(c, rows, k);
    a->qg = cfg->gated ? carve_floats(c, rows, 2 * q) : NULL;
    a->q0 = cfg->gated ? NULL : cfg->qk_norm ? carve_floats(c, rows, q) : a->q;
    a->k0 = cfg->qk_norm ? carve_floats(c, rows, k) : a->k;
    a->o = carve_floats(c, rows, q);
    a->rstd_q = carve_floats(c, rows, cfg->heads);
    a->rstd_k = carve_floats(c, rows, cfg->kv_heads);
    a->lse = carve_floats(c, rows, cfg->heads);
}

static void carve_linear(struct acts *a, struct carve *c,
                         const struct model_config *cfg, int rows)
{
    int heads = cfg->delta.value_heads, value = value_width(cfg);

    a->mixed = carve_floats(c, rows, mixed_width(cfg));
    a->z = carve_floats(c, rows, value);
    a->o = carve_floats(c, rows, value);
    a->a = carve_floats(c, rows, heads);
    a->b = carve_floats(c, rows, heads);
    a->decay = carve_floats(c, rows, heads);
    a->beta = carve_floats(c, rows, heads);
    a->rstd_o = carve_floats(c, rows, heads);
}

static void carve_common(struct acts *a, struct carve *c,
                         const struct model_config *cfg, int rows)
{
    *a = (struct acts){0};
    a->x = carve_floats(c, rows, cfg->dim);
    a->mid = carve_floats(c, rows, cfg->dim);
    a->gate = carve_floats(c, rows, cfg->ffn);
    a->up = carve_floats(c, rows, cfg->ffn);
    a->rstd1 = carve_floats(c, rows, 1);
    a->rstd2 = carve_floats(c, rows, 1);
}

void carve_acts(struct acts *a, struct carve *c, const struct model_config *cfg,
                int rows, bool linear)
{
    carve_common(a, c, cfg, rows);
    if (linear)
        carve_linear(a, c, cfg, rows);
    else
        carve_softmax(a, c, cfg, rows);
}

void carve_both(struct acts a[2], struct carve *c, const struct model_config *cfg,
                int rows)
{
    struct carve other;

    carve_common(&a[0], c, cfg, rows);
    a[1] = a[0];
    other = *c;
    carve_softmax(&a[0], c, cfg, rows);
    if (model_n_linear(cfg))
        carve_linear(&a[1], &other, cfg, rows);
    carve_join(c, &other);
}

void carve_flow(struct flow *w, struct carve *c, const struct model_config *cfg,
                int rows)
{
    int q = cfg->gated ? cfg->heads * cfg->head_dim : 0;
    int value = 0, mixed = 0, g;

    if (model_n_linear(cfg)) {
        value = value_width(cfg);
        mixed = mixed_width(cfg);
    }
    g = q > value ? q : value;
    w->h = carve_floats(c, rows, cfg->dim);
    w->s = carve_floats(c, rows, cfg->ffn);
    w->q0 = carve_floats(c, rows, q);
    w->n = carve_floats(c, rows, value);
    w->g = carve_floats(c, rows, g);
    w->conv = carve_floats(c, rows, mixed);
}

int fit_even(struct model *m, int rows, struct fault *f)
{
    size_t n = m->cfg.gated ? (size_t)rows * (size_t)m->cfg.heads : 0, had = m->n_even;
    void *p = m->even;

    if (mem_grow(&p, &m->n_even, n, sizeof *m->even, "the rows of queries", f))
        return f->code;
    m->even = p;
    for (size_t i = had; i < m->n_even; i++)
        m->even[i] = (int)(2 * i);
    return 0;
}

int project(const struct model *m, int layer, enum slot s, float *y, const float *x,
            int rows, struct fault *f)
{
    int matrix = slot_of(m, layer, s), bias = bias_of(m, layer, s);

    if (m->be->linear(y, x, m->weights[matrix], rows, f))
        return f->code;
    if (bias < 0)
        return 0;
    return m->be->bias(y, param_of(m, bias), rows, m->table.tensors[bias].cols, f);
}

static int head_norms(const struct model *m, int layer, const struct acts *a,
                      const float *q0, int rows, struct fault *f)
{
    const struct model_config *c = &m->cfg;

    return m->be->rmsnorm(a->q, a->rstd_q, q0, norm_of(m, slot_of(m, layer, Q_NORM)),
                          rows * c->heads, c->head_dim, c->norm_eps, f) ||
                   m->be->rmsnorm(a->k, a->rstd_k, a->k0,
                                  norm_of(m, slot_of(m, layer, K_NORM)),
                                  rows * c->kv_heads, c->head_dim, c->norm_eps, f)
               ? f->code
               : 0;
}

int queries(const struct model *m, const struct acts *a, const struct flow *w,
            struct fault *f)
{
    return m->be->gather(w->q0, a->qg, m->even, w->rows * m->cfg.heads, m->cfg.head_dim,
                         f);
}

/* Queries, keys and values of the rows, rotated; keys and values go to the cache if
 * there is one. */
static int attention_inputs(const struct model *m, int layer, const struct acts *a,
                            const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    const struct backend *be = m->be;
    int width = c->kv_heads * c->head_dim;

    if (project(m, layer, Q, c->gated ? a->qg : a->q0, w->h, w->rows, f) ||
        (c->gated && queries(m, a, w, f)) ||
        project(m, layer, K, a->k0, w->h, w->rows, f) ||
        project(m, layer, V, a->v, w->h, w->rows, f))
        return f->code;
    if (c->qk_norm && head_norms(m, layer, a, c->gated ? w->q0 : a->q0, w->rows, f))
        return f->code;
    if (be->rope(a->q, w->pos, c->inv_freq, c->rope_mscale, w->rows, c->heads,
                 c->head_dim, c->rotary, 1, f) ||
        be->rope(a->k, w->pos, c->inv_freq, c->rope_mscale, w->rows, c->kv_heads,
                 c->head_dim, c->rotary, 1, f))
        return f->code;
    if (w->keys && (be->scatter(w->keys, a->k, w->kv_row, w->rows, width, 0, f) ||
                    be->scatter(w->values, a->v, w->kv_row, w->rows, width, 0, f)))
        return f->code;
    return 0;
}

int open_gate(const struct model *m, const struct acts *a, const struct flow *w,
              struct fault *f)
{
    int dim = m->cfg.head_dim;

    return m->be->gate(w->g, a->o, a->qg + dim, w->rows * m->cfg.heads, dim, 2 * dim,
                       f);
}

static int attention_forward(const struct model *m, int layer, const struct acts *a,
                             const struct flow *w, struct fault *f)
{
    bool gated = m->cfg.gated;

    if (attention_inputs(m, layer, a, w, f) ||
        m->be->attend(a->o, a->lse, a->q, w->keys ? w->keys : a->k,
                      w->values ? w->values : a->v, w->attend, &m->heads, f) ||
        (gated && open_gate(m, a, w, f)))
        return f->code;
    return project(m, layer, O, a->mid, gated ? w->g : a->o, w->rows, f);
}

int layer_forward(const struct model *m, int layer, const struct acts *a, float *out,
                  const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    const struct backend *be = m->be;
    const float *norm1 = norm_of(m, slot_of(m, layer, NORM1));
    const float *norm2 = norm_of(m, slot_of(m, layer, NORM2));
    size_t n = (size_t)w->rows * (size_t)c->dim;

    pulse_beat(); /* of a large model, the only sign of life for minutes */
    if (be->rmsnorm(w->h, a->rstd1, a->x, norm1, w->rows, c->dim, c->norm_eps, f) ||
        (model_is_linear(c, layer) ? delta_forward(m, layer, a, w, f)
                                   : attention_forward(m, layer, a, w, f)) ||
        be->add(a->mid, a->x, n, f))
        return f->code;
    if (be->rmsnorm(w->h, a->rstd2, a->mid, norm2, w->rows, c->dim, c->norm_eps, f) ||
        project(m, layer, GATE, a->gate, w->h, w->rows, f) ||
        project(m, layer, UP, a->up, w->h, w->rows, f) ||
        be->swiglu(w->s, a->gate, a->up, (size_t)w->rows * (size_t)c->ffn, f) ||
        project(m, layer, DOWN, out, w->s, w->rows, f) || be->add(out, a->mid, n, f))
        return f->code;
    return 0;
}

int head_forward(const struct model *m, float *logits, float *h, float *rstd,
                 const float *x, int n, struct fault *f)
{
    const struct model_config *c = &m->cfg;

    if (m->be->rmsnorm(h, rstd, x, norm_of(m, m->table.norm), n, c->dim, c->norm_eps,
                       f) ||
        m->be->linear(logits, h, m->weights[m->table.head], n, f))
        return f->code;
    return 0;
}

int check_ids(const struct model *m, const int *ids, int n, struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->real_vocab)
            return fault_set(f, FAULT_DATA,
                             "token id %d is outside of the model's vocabulary of %d",
                             ids[i], m->real_vocab);
    return 0;
}
