/* delta.c - a layer's linear attention (Gated DeltaNet), forward and backward:
 *
 *     q, k, v = conv(in_proj_qkv h)
 *     decay, beta = delta_gates(in_proj_a h, in_proj_b h)
 *     out = out_proj(norm(delta(q, k, v, decay, beta)) silu(in_proj_z h))
 *
 * The norm is per value head, with plain weights.  Source: Yang et al. 2024,
 * arXiv:2412.06464, and Qwen3_5GatedDeltaNet of Hugging Face's transformers.
 */
#include "model/back.h"

/* The parts of a row behind the convolution. */
struct parts {
    float *q, *k, *v;
    int stride;
};

static struct parts parts_of(const struct model_config *c, float *row)
{
    size_t keys = (size_t)c->delta.key_heads * (size_t)c->delta.key_dim;

    return (struct parts){row, row + keys, row + 2 * keys, mixed_width(c)};
}

static const float *vector_of(const struct model *m, int layer, enum slot s)
{
    return param_of(m, slot_of(m, layer, s));
}

static float *vector_grad(const struct model *m, int layer, enum slot s)
{
    return grad_of(m, slot_of(m, layer, s));
}

/* q, k and v behind the convolution, into w->conv. */
static int convolve(const struct model *m, int layer, const struct acts *a,
                    const struct flow *w, float *inputs, struct fault *f)
{
    return m->be->conv(w->conv, a->mixed, vector_of(m, layer, CONV), inputs, w->scan,
                       mixed_width(&m->cfg), m->cfg.kernel, f);
}

/* o normed per head into w->n, then behind its gate into w->g. */
static int gated_norm(const struct model *m, int layer, const struct acts *a,
                      const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    size_t n = (size_t)w->rows * (size_t)value_width(c);

    if (m->be->rmsnorm(w->n, a->rstd_o, a->o, vector_of(m, layer, GATED_NORM),
                       w->rows * c->delta.value_heads, c->delta.value_dim, c->norm_eps,
                       f))
        return f->code;
    return m->be->swiglu(w->g, a->z, w->n, n, f);
}

int delta_forward(const struct model *m, int layer, const struct acts *a,
                  const struct flow *w, struct fault *f)
{
    const struct model_config *c = &m->cfg;
    struct parts p = parts_of(c, w->conv);

    if (project(m, layer, IN_QKV, a->mixed, w->h, w->rows, f) ||
        project(m, layer, IN_Z, a->z, w->h, w->rows, f) ||
        project(m, layer, IN_B, a->b, w->h, w->rows, f) ||
        project(m, layer, IN_A, a->a, w->h, w->rows, f))
        return f->code;
    if (convolve(m, layer, a, w, w->inputs, f) ||
        m->be->delta_gates(a->decay, a->beta, a->a, a->b, vector_of(m, layer, A_LOG),
                           vector_of(m, layer, DT_BIAS), w->rows, c->delta.value_heads,
                           f) ||
        m->be->delta(a->o, w->state, p.q, p.k, p.v, p.stride, a->decay, a->beta,
                     w->scan, &c->delta, f) ||
        gated_norm(m, layer, a, w, f))
        return f->code;
    return project(m, layer, OUT, a->mid, w->g, w->rows, f);
}

/* -- backward ---------------------------------------------------------------------- */

void carve_delta_back(struct back *b, struct carve *c, const struct model_config *cfg,
                      int rows, size_t scratch)
{
    int heads = cfg->delta.value_heads, value = value_width(cfg);
    int mixed = mixed_width(cfg);

    b->dg = carve_floats(c, rows, value);
    b->dz = carve_floats(c, rows, value);
    b->dn = carve_floats(c, rows, value);
    b->dmixed = carve_floats(c, rows, mixed);
    b->dconv = carve_floats(c, rows, mixed);
    b->ddecay = carve_floats(c, rows, heads);
    b->dbeta = carve_floats(c, rows, heads);
    b->da = carve_floats(c, rows, heads);
    b->db = carve_floats(c, rows, heads);
    b->scratch = carve_values(c, scratch);
}

/* From dx through out_proj, the gate and the norm to d_o, in b->dg, and dz. */
static int output_back(const struct back *b, struct fault *f)
{
    const struct model *m = b->m;
    const struct model_config *c = &m->cfg;
    const struct acts *a = b->a;
    const struct flow *w = b->flow;
    size_t n = (size_t)b->rows * (size_t)value_width(c);

    if (gated_norm(m, b->layer, a, w, f) ||
        project_back(b, OUT, b->dg, b->dx, w->g, 0, f) ||
        m->be->swiglu_back(b->dz, b->dn, b->dg, a->z, w->n, n, f))
        return f->code;
    return m->be->rmsnorm_back(b->dg, vector_grad(m, b->layer, GATED_NORM), b->dn, a->o,
                               vector_of(m, b->layer, GATED_NORM), a->rstd_o,
                               b->rows * c->delta.value_heads, c->delta.value_dim, 0,
                               f);
}

/* From d_o to the gradients of what the projections gave: dmixed, da and db. */
static int rule_back(const struct back *b, struct fault *f)
{
    const struct model *m = b->m;
    const struct model_config *c = &m->cfg;
    const struct acts *a = b->a;
    const struct flow *w = b->flow;
    struct parts p = parts_of(c, w->conv), d = parts_of(c, b->dconv);
    int layer = b->layer;

    if (convolve(m, layer, a, w, NULL, f) ||
        m->be->delta_back(d.q, d.k, d.v, b->ddecay, b->dbeta, b->dg, p.q, p.k, p.v,
                          p.stride, a->decay, a->beta, w->scan, &c->delta, b->scratch,
                          f) ||
        m->be->conv_back(b->dmixed, vector_grad(m, layer, CONV), b->dconv, a->mixed,
                         vector_of(m, layer, CONV), w->scan, mixed_width(c), c->kernel,
                         f))
        return f->code;
    return m->be->delta_gates_back(
        b->da, b->db, vector_grad(m, layer, A_LOG), vector_grad(m, layer, DT_BIAS),
        b->ddecay, b->dbeta, a->a, a->b, vector_of(m, layer, A_LOG),
        vector_of(m, layer, DT_BIAS), b->rows, c->delta.value_heads, f);
}

int delta_backward(const struct back *b, struct fault *f)
{
    const struct acts *a = b->a;

    if (output_back(b, f) || rule_back(b, f) || norm_forward(b, NORM1, a->x, f) ||
        project_back(b, IN_QKV, b->dh, b->dmixed, b->h, 0, f) ||
        project_back(b, IN_Z, b->dh, b->dz, b->h, 1, f) ||
        project_back(b, IN_B, b->dh, b->db, b->h, 1, f) ||
        project_back(b, IN_A, b->dh, b->da, b->h, 1, f))
        return f->code;
    return norm_back(b, NORM1, a->x, a->rstd1, f);
}
