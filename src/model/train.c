/* train.c - forward and backward of packed sequences. */
#include <limits.h>
#include <stdlib.h>

#include "dapo/pulse.h"
#include "model/back.h"

/* Enough for any pack, and rows * heads stays an int (config: heads <= 1024). */
enum { MOST_ROWS = 1 << 20 };

static int check_pack(const struct model *m, const struct pack *p, struct fault *f)
{
    if (p->rows < 0 || p->rows > MOST_ROWS || p->n_seq < 0)
        return fault_set(f, FAULT_CONFIG,
                         "a pack of %d tokens is too large; the most is %d", p->rows,
                         MOST_ROWS);
    for (int s = 0; s < p->n_seq; s++) {
        int n = p->start[s + 1] - p->start[s];

        if (p->start[0] != 0 || n < 0 || p->start[s + 1] > p->rows)
            return fault_set(f, FAULT_BUG,
                             "sequence %d of a pack has rows %d to %d of %d", s,
                             p->start[s], p->start[s + 1], p->rows);
        if (n > m->cfg.max_position)
            return fault_set(f, FAULT_CONFIG,
                             "a sequence has %d tokens, but the model has only %d "
                             "positions; lower the token limits",
                             n, m->cfg.max_position);
    }
    if (p->rows != (p->n_seq ? p->start[p->n_seq] : 0))
        return fault_set(f, FAULT_BUG, "the sequences of a pack cover %d of %d rows",
                         p->n_seq ? p->start[p->n_seq] : 0, p->rows);
    return check_ids(m, p->ids, p->rows, f);
}

/* Sequence and position of each row; sequence s is one endless page from start[s]. */
static int map_pack(struct model *m, const struct pack *p, struct fault *f)
{
    struct train *t = &m->train;

    if (grow_ints(&t->ids, &t->room[0], p->rows, f) ||
        grow_ints(&t->pos, &t->room[1], p->rows, f) ||
        grow_ints(&t->seq, &t->room[2], p->rows, f) ||
        grow_ints(&t->first, &t->room[3], p->n_seq, f))
        return f->code;
    for (int s = 0; s < p->n_seq; s++) {
        t->first[s] = p->start[s];
        for (int i = p->start[s]; i < p->start[s + 1]; i++) {
            t->ids[i] = p->ids[i];
            t->seq[i] = s;
            t->pos[i] = i - p->start[s];
        }
    }
    t->attend =
        (struct attend_rows){.rows = p->rows,
                             .seq = t->seq,
                             .pos = t->pos,
                             .map = {.page = INT_MAX, .stride = 1, .first = t->first}};
    t->scan = (struct scan_rows){.rows = p->rows, .slot = t->seq, .pos = t->pos};
    t->flow.rows = p->rows;
    t->flow.pos = t->pos;
    t->flow.attend = &t->attend;
    t->flow.scan = &t->scan;
    return fit_even(m, p->rows, f);
}

static void carve_train(struct train *t, struct carve *c,
                        const struct model_config *cfg, int rows)
{
    for (int l = 0; l < cfg->layers; l++)
        carve_acts(&t->acts[l], c, cfg, rows, model_is_linear(cfg, l));
    t->out = carve_floats(c, rows, cfg->dim);
    carve_flow(&t->flow, c, cfg, rows);
}

int model_forward(struct model *m, const struct pack *p, struct fault *f)
{
    struct train *t = &m->train;
    struct carve c = {0};

    t->started = false;
    t->flow.rows = 0;
    if (check_pack(m, p, f) || map_pack(m, p, f))
        return f->code;
    carve_train(t, &c, &m->cfg, p->rows);
    if (pool_fit(&t->pool, m->be, &c, f)) {
        t->flow.rows = 0;
        return f->code;
    }
    c = (struct carve){.base = t->pool.base};
    carve_train(t, &c, &m->cfg, p->rows);
    if (p->rows == 0)
        return 0;
    if (m->be->embed(t->acts[0].x, param_of(m, m->table.embed), t->ids, p->rows,
                     m->cfg.dim, f))
        return f->code;
    for (int l = 0; l < m->cfg.layers; l++) {
        float *out = l + 1 < m->cfg.layers ? t->acts[l + 1].x : t->out;

        if (layer_forward(m, l, &t->acts[l], out, &t->flow, f))
            return f->code;
    }
    return 0;
}

/* -- backward ---------------------------------------------------------------------- */

static void carve_attention_back(struct back *b, struct carve *c,
                                 const struct model_config *cfg, int rows)
{
    int q = cfg->heads * cfg->head_dim, k = cfg->kv_heads * cfg->head_dim;

    b->dq = carve_floats(c, rows, q);
    b->d_o = carve_floats(c, rows, q);
    b->dk = carve_floats(c, rows, k);
    b->dv = carve_floats(c, rows, k);
    b->dk0 = carve_floats(c, rows, k);
    b->dqg = carve_floats(c, rows, cfg->gated ? 2 * q : 0);
}

/* `scratch`: floats that delta_back wants. */
static void carve_back(struct back *b, struct carve *c, const struct model_config *cfg,
                       int rows, size_t scratch)
{
    struct carve softmax, linear;

    b->dx = carve_floats(c, rows, cfg->dim);
    b->dh = carve_floats(c, rows, cfg->dim);
    softmax = linear = *c;
    b->dgate = carve_floats(c, rows, cfg->ffn);
    b->dup = carve_floats(c, rows, cfg->ffn);
    carve_attention_back(b, &softmax, cfg, rows);
    carve_join(c, &softmax);
    if (model_n_linear(cfg))
        carve_delta_back(b, &linear, cfg, rows, scratch);
    carve_join(c, &linear);
}

static int fit_back(struct model *m, struct back *b, struct fault *f)
{
    struct train *t = &m->train;
    struct carve c = {0};
    size_t scratch = 0;

    if (model_n_linear(&m->cfg))
        scratch = m->be->delta_scratch(&t->scan, &m->cfg.delta);
    carve_back(b, &c, &m->cfg, t->flow.rows, scratch);
    if (pool_fit(&t->back, m->be, &c, f))
        return f->code;
    c = (struct carve){.base = t->back.base};
    carve_back(b, &c, &m->cfg, t->flow.rows, scratch);
    t->dx = b->dx;
    return 0;
}

/* What delta_back wants for one sequence of `longest` tokens, or of as many as can be.
 */
static int scratch_of(size_t *out, const struct model_config *c,
                      const struct backend *be, int longest, struct fault *f)
{
    int n = longest < MOST_ROWS ? longest : MOST_ROWS;
    int *slot = mem_new((size_t)n, sizeof *slot, "a plan", f);
    int *pos = mem_new((size_t)n, sizeof *pos, "a plan", f);
    int rc = slot && pos ? 0 : f->code;

    for (int i = 0; !rc && i < n; i++)
        pos[i] = i;
    if (!rc)
        *out = be->delta_scratch(&(struct scan_rows){n, slot, pos}, &c->delta);
    free(slot);
    free(pos);
    return rc;
}

int model_train_bytes(size_t *out, const struct model_config *c,
                      const struct backend *be, int rows, int longest, struct fault *f)
{
    struct acts *acts = mem_new((size_t)c->layers, sizeof *acts, "a plan", f);
    struct train t = {.acts = acts};
    struct carve forward = {0}, backward = {0};
    struct back b = {0};
    size_t scratch = 0;
    int rc = acts ? 0 : f->code;

    if (!rc && model_n_linear(c))
        rc = scratch_of(&scratch, c, be, longest, f);
    if (!rc) {
        carve_train(&t, &forward, c, rows);
        carve_back(&b, &backward, c, rows, scratch);
        if (forward.over || backward.over ||
            !size_add(forward.used, backward.used, out))
            *out = SIZE_MAX;
    }
    free(acts);
    return rc;
}

int train_start(struct model *m, struct fault *f)
{
    struct back b = {.m = m, .flow = &m->train.flow};

    if (m->train.started)
        return 0;
    if (!model_grad(m, f) || fit_back(m, &b, f) ||
        m->be->zero(m->train.dx,
                    (size_t)m->train.flow.rows * (size_t)m->cfg.dim * sizeof(float), f))
        return f->code;
    m->train.started = true;
    return 0;
}

int project_back(const struct back *b, enum slot s, float *dx, const float *dy,
                 const float *x, int add, struct fault *f)
{
    const struct model *m = b->m;
    int matrix = slot_of(m, b->layer, s), bias = bias_of(m, b->layer, s);
    const struct weight *w = m->weights[matrix];

    if (m->lora) {
        if (lora_back(m, matrix, dy, x, b->rows, f))
            return f->code;
    } else if (m->be->linear_dw(grad_of(m, matrix), dy, x, w, b->rows, f) ||
               (bias >= 0 && m->be->bias_back(grad_of(m, bias), dy, b->rows,
                                              m->table.tensors[bias].cols, f))) {
        return f->code;
    }
    return m->be->linear_dx(dx, dy, w, b->rows, add, f);
}

int norm_forward(const struct back *b, enum slot s, const float *x, struct fault *f)
{
    const struct model_config *c = &b->m->cfg;

    return b->m->be->rmsnorm(b->h, NULL, x, norm_of(b->m, slot_of(b->m, b->layer, s)),
                             b->rows, c->dim, c->norm_eps, f);
}

int norm_back(const struct back *b, enum slot s, const float *x, const float *rstd,
              struct fault *f)
{
    int i = slot_of(b->m, b->layer, s);

    return b->m->be->rmsnorm_back(b->dx, grad_of(b->m, i), b->dh, x, norm_of(b->m, i),
                                  rstd, b->rows, b->m->cfg.dim, 1, f);
}

/* out = mid + down(swiglu(gate(h), up(h))), h = norm2(mid) */
static int mlp_back(const struct back *b, struct fault *f)
{
    const struct backend *be = b->m->be;
    const struct acts *a = b->a;
    size_t n = (size_t)b->rows * (size_t)b->m->cfg.ffn;

    /* project_back is done with s as its input before it needs a place for ds. */
    if (be->swiglu(b->s, a->gate, a->up, n, f) ||
        project_back(b, DOWN, b->s, b->dx, b->s, 0, f) ||
        be->swiglu_back(b->dgate, b->dup, b->s, a->gate, a->up, n, f) ||
        norm_forward(b, NORM2, a->mid, f) ||
        project_back(b, GATE, b->dh, b->dgate, b->h, 0, f) ||
        project_back(b, UP, b->dh, b->dup, b->h, 1, f) ||
        norm_back(b, NORM2, a->mid, a->rstd2, f))
        return f->code;
    return 0;
}

/* From dq and dk to the gradients of the projections' outputs, *dq0 and *dk0. */
static int head_norms_back(const struct back *b, float **dq0, float **dk0,
                           struct fault *f)
{
    const struct model *m = b->m;
    const struct model_config *c = &m->cfg;
    const struct acts *a = b->a;
    const float *q0 = c->gated ? b->flow->q0 : a->q0;
    int qn = slot_of(m, b->layer, Q_NORM), kn = slot_of(m, b->layer, K_NORM);

    *dq0 = c->qk_norm ? b->d_o : b->dq;
    *dk0 = c->qk_norm ? b->dk0 : b->dk;
    if (!c->qk_norm)
        return 0;
    if ((c->gated && queries(m, a, b->flow, f)) ||
        m->be->rmsnorm_back(*dq0, grad_of(m, qn), b->dq, q0, norm_of(m, qn), a->rstd_q,
                            b->rows * c->heads, c->head_dim, 0, f) ||
        m->be->rmsnorm_back(*dk0, grad_of(m, kn), b->dk, a->k0, norm_of(m, kn),
                            a->rstd_k, b->rows * c->kv_heads, c->head_dim, 0, f))
        return f->code;
    return 0;
}

/* dq, dk, dv of the rotated queries and keys, then of the unrotated ones. */
static int attend_rotate_back(const struct back *b, struct fault *f)
{
    const struct model *m = b->m;
    const struct model_config *c = &m->cfg;
    const struct acts *a = b->a;
    size_t bytes =
        (size_t)b->rows * (size_t)(c->kv_heads * c->head_dim) * sizeof(float);

    if (m->be->zero(b->dk, bytes, f) || m->be->zero(b->dv, bytes, f) ||
        m->be->attend_back(b->dq, b->dk, b->dv, b->d_o, a->o, a->lse, a->q, a->k, a->v,
                           b->flow->attend, &m->heads, f) ||
        m->be->rope(b->dq, b->flow->pos, c->inv_freq, c->rope_mscale, b->rows, c->heads,
                    c->head_dim, c->rotary, -1, f) ||
        m->be->rope(b->dk, b->flow->pos, c->inv_freq, c->rope_mscale, b->rows,
                    c->kv_heads, c->head_dim, c->rotary, -1, f))
        return f->code;
    return 0;
}

/* d_o from that of what o_proj took, which is in its place; with gates also their
 * gradients, into dqg. */
static int gate_back(const struct back *b, struct fault *f)
{
    int dim = b->m->cfg.head_dim;

    if (!b->m->cfg.gated)
        return 0;
    return b->m->be->gate_back(b->d_o, b->dqg + dim, b->d_o, b->a->o, b->a->qg + dim,
                               b->rows * b->m->cfg.heads, dim, 2 * dim, f);
}

/* The gradient of q_proj's output: that of the queries, between the gates if there are
 * any. */
static int queries_back(const struct back *b, float **dq0, struct fault *f)
{
    const struct model_config *c = &b->m->cfg;
    float *dq = *dq0;

    if (!c->gated)
        return 0;
    *dq0 = b->dqg;
    return b->m->be->scatter(b->dqg, dq, b->m->even, b->rows * c->heads, c->head_dim, 0,
                             f);
}

/* mid = x + o_proj(attend(...)), from h = norm1(x) */
static int attention_back(const struct back *b, struct fault *f)
{
    const struct acts *a = b->a;
    bool gated = b->m->cfg.gated;
    float *dq0, *dk0;

    if ((gated && open_gate(b->m, a, b->flow, f)) ||
        project_back(b, O, b->d_o, b->dx, gated ? b->flow->g : a->o, 0, f) ||
        gate_back(b, f) || attend_rotate_back(b, f) ||
        head_norms_back(b, &dq0, &dk0, f) || queries_back(b, &dq0, f) ||
        norm_forward(b, NORM1, a->x, f))
        return f->code;
    if (project_back(b, Q, b->dh, dq0, b->h, 0, f) ||
        project_back(b, K, b->dh, dk0, b->h, 1, f) ||
        project_back(b, V, b->dh, b->dv, b->h, 1, f) ||
        norm_back(b, NORM1, a->x, a->rstd1, f))
        return f->code;
    return 0;
}

int model_backward(struct model *m, struct fault *f)
{
    struct train *t = &m->train;
    struct back b = {.m = m, .rows = t->flow.rows, .flow = &t->flow};

    if (!t->started)
        return fault_set(f, FAULT_BUG,
                         "a backward without a head's gradient before it");
    t->started = false;
    if (b.rows == 0)
        return 0;
    if (fit_back(m, &b, f)) /* fits already: only names the arrays */
        return f->code;
    b.h = t->flow.h;
    b.s = t->flow.s;
    for (int l = m->cfg.layers - 1; l >= 0; l--) {
        b.layer = l;
        b.a = &t->acts[l];
        pulse_beat();
        if (mlp_back(&b, f) || (model_is_linear(&m->cfg, l) ? delta_backward(&b, f)
                                                            : attention_back(&b, f)))
            return f->code;
    }
    if (m->lora)
        return 0;
    return m->be->embed_back(grad_of(m, m->table.embed), t->dx, t->ids, b.rows,
                             m->cfg.dim, f);
}
