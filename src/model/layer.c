/* layer.c - the forward of one layer and of the head, for training and decoding alike.
 */
#include "dapo/pulse.h"
#include "model/impl.h"

void carve_acts(struct acts *a, struct carve *c, const struct model_config *cfg,
                int rows)
{
    int q = cfg->heads * cfg->head_dim, k = cfg->kv_heads * cfg->head_dim;

    a->x = carve_floats(c, rows, cfg->dim);
    a->q = carve_floats(c, rows, q);
    a->k = carve_floats(c, rows, k);
    a->v = carve_floats(c, rows, k);
    a->q0 = cfg->qk_norm ? carve_floats(c, rows, q) : a->q;
    a->k0 = cfg->qk_norm ? carve_floats(c, rows, k) : a->k;
    a->o = carve_floats(c, rows, q);
    a->mid = carve_floats(c, rows, cfg->dim);
    a->gate = carve_floats(c, rows, cfg->ffn);
    a->up = carve_floats(c, rows, cfg->ffn);
    a->rstd1 = carve_floats(c, rows, 1);
    a->rstd2 = carve_floats(c, rows, 1);
    a->rstd_q = carve_floats(c, rows, cfg->heads);
    a->rstd_k = carve_floats(c, rows, cfg->kv_heads);
    a->lse = carve_floats(c, rows, cfg->heads);
}

int project(const struct model *m, int layer, enum slot s, float *y, const float *x,
            int rows, struct fault *f)
{
    int matrix = slot_of(m, layer, s), bias = slot_of(m, layer, s + 1);

    if (m->be->linear(y, x, m->weights[matrix], rows, f))
        return f->code;
    if (bias < 0)
        return 0;
    return m->be->bias(y, param_of(m, bias), rows, m->table.tensors[bias].cols, f);
}

static int head_norms(const struct model *m, int layer, const struct acts *a, int rows,
                      struct fault *f)
{
    const struct model_config *c = &m->cfg;

    return m->be->rmsnorm(a->q, a->rstd_q, a->q0,
                          param_of(m, slot_of(m, layer, Q_NORM)), rows * c->heads,
                          c->head_dim, c->norm_eps, f) ||
                   m->be->rmsnorm(a->k, a->rstd_k, a->k0,
                                  param_of(m, slot_of(m, layer, K_NORM)),
                                  rows * c->kv_heads, c->head_dim, c->norm_eps, f)
               ? f->code
               : 0;
}

/* Queries, keys and values of the rows, rotated; keys and values go to the cache if
 * there is one. */
static int attention_inputs(const struct model *m, int layer, const struct acts *a,
                            const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    const struct backend *be = m->be;
    int width = c->kv_heads * c->head_dim;

    if (project(m, layer, Q, a->q0, w->h, w->rows, f) ||
        project(m, layer, K, a->k0, w->h, w->rows, f) ||
        project(m, layer, V, a->v, w->h, w->rows, f))
        return f->code;
    if (c->qk_norm && head_norms(m, layer, a, w->rows, f))
        return f->code;
    if (be->rope(a->q, w->pos, c->inv_freq, c->rope_mscale, w->rows, c->heads,
                 c->head_dim, c->head_dim, 1, f) ||
        be->rope(a->k, w->pos, c->inv_freq, c->rope_mscale, w->rows, c->kv_heads,
                 c->head_dim, c->head_dim, 1, f))
        return f->code;
    if (w->keys && (be->scatter(w->keys, a->k, w->kv_row, w->rows, width, 0, f) ||
                    be->scatter(w->values, a->v, w->kv_row, w->rows, width, 0, f)))
        return f->code;
    return 0;
}

int layer_forward(const struct model *m, int layer, const struct acts *a, float *out,
                  const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    const struct backend *be = m->be;
    const float *norm1 = param_of(m, slot_of(m, layer, NORM1));
    const float *norm2 = param_of(m, slot_of(m, layer, NORM2));
    size_t n = (size_t)w->rows * (size_t)c->dim;

    pulse_beat(); /* of a large model, the only sign of life for minutes */
    if (be->rmsnorm(w->h, a->rstd1, a->x, norm1, w->rows, c->dim, c->norm_eps, f) ||
        attention_inputs(m, layer, a, w, f) ||
        be->attend(a->o, a->lse, a->q, w->keys ? w->keys : a->k,
                   w->values ? w->values : a->v, w->attend, &m->heads, f) ||
        project(m, layer, O, a->mid, a->o, w->rows, f) || be->add(a->mid, a->x, n, f))
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

    if (m->be->rmsnorm(h, rstd, x, param_of(m, m->table.norm), n, c->dim, c->norm_eps,
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
