/* train.c - forward and backward of packed sequences. */
#include <limits.h>

#include "dapo/pulse.h"
#include "model/impl.h"

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

static int grow_ints(int **items, size_t *room, int need, struct fault *f)
{
    void *p = *items;
    int rc = mem_grow(&p, room, (size_t)need, sizeof **items, "rows of a pack", f);

    *items = p;
    return rc;
}

/* Sequence and position of each row; sequence s is one endless page from start[s]. */
static int map_pack(struct train *t, const struct pack *p, struct fault *f)
{
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
    t->attend = (struct attend_rows){
        .rows = p->rows, .seq = t->seq, .pos = t->pos, .map = {INT_MAX, 1, t->first}};
    t->flow.rows = p->rows;
    t->flow.pos = t->pos;
    t->flow.attend = &t->attend;
    return 0;
}

static void carve_train(struct model *m, struct carve *c, int rows)
{
    struct train *t = &m->train;

    for (int l = 0; l < m->cfg.layers; l++)
        carve_acts(&t->acts[l], c, &m->cfg, rows);
    t->out = carve_floats(c, rows, m->cfg.dim);
    t->flow.h = carve_floats(c, rows, m->cfg.dim);
    t->flow.s = carve_floats(c, rows, m->cfg.ffn);
}

int model_forward(struct model *m, const struct pack *p, struct fault *f)
{
    struct train *t = &m->train;
    struct carve c = {0};

    t->started = false;
    t->flow.rows = 0;
    if (check_pack(m, p, f) || map_pack(t, p, f))
        return f->code;
    carve_train(m, &c, p->rows);
    if (pool_fit(&t->pool, m->be, &c, f)) {
        t->flow.rows = 0;
        return f->code;
    }
    c = (struct carve){.base = t->pool.base};
    carve_train(m, &c, p->rows);
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

/* Scratch of the backward.  `dx` is the gradient of the residual stream; it enters a
 * layer as that of the output and leaves as that of the input. */
struct back {
    const struct model *m;
    const struct acts *a;
    int layer, rows;
    float *dx, *dh;      /* [rows][dim] */
    float *h, *s;        /* recomputed norm and swiglu; s then holds ds */
    float *dgate, *dup;  /* [rows][ffn] */
    float *dq, *dk, *dv; /* [rows][heads or kv_heads][head_dim] */
    float *d_o, *dk0;    /* the same; d_o is reused for dq0 */
    const struct flow *flow;
};

static void carve_back(struct model *m, struct back *b, struct carve *c, int rows)
{
    const struct model_config *cfg = &m->cfg;
    int q = cfg->heads * cfg->head_dim, k = cfg->kv_heads * cfg->head_dim;

    m->train.dx = carve_floats(c, rows, cfg->dim);
    b->dh = carve_floats(c, rows, cfg->dim);
    b->dgate = carve_floats(c, rows, cfg->ffn);
    b->dup = carve_floats(c, rows, cfg->ffn);
    b->dq = carve_floats(c, rows, q);
    b->d_o = carve_floats(c, rows, q);
    b->dk = carve_floats(c, rows, k);
    b->dv = carve_floats(c, rows, k);
    b->dk0 = carve_floats(c, rows, k);
}

static int fit_back(struct model *m, struct back *b, struct fault *f)
{
    struct carve c = {0};
    int rows = m->train.flow.rows;

    carve_back(m, b, &c, rows);
    if (pool_fit(&m->train.back, m->be, &c, f))
        return f->code;
    c = (struct carve){.base = m->train.back.base};
    carve_back(m, b, &c, rows);
    return 0;
}

int train_start(struct model *m, struct fault *f)
{
    struct back b;

    if (m->train.started)
        return 0;
    if (!model_grad(m, f) || fit_back(m, &b, f) ||
        m->be->zero(m->train.dx,
                    (size_t)m->train.flow.rows * (size_t)m->cfg.dim * sizeof(float), f))
        return f->code;
    m->train.started = true;
    return 0;
}

/* The matrix in slot `s`, y = x W^T + b: dw, db, and dx (+= if add) from dy. */
static int project_back(const struct back *b, enum slot s, float *dx, const float *dy,
                        const float *x, int add, struct fault *f)
{
    const struct model *m = b->m;
    int matrix = slot_of(m, b->layer, s), bias = slot_of(m, b->layer, s + 1);
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

static int norm_forward(const struct back *b, enum slot s, const float *x,
                        struct fault *f)
{
    const struct model_config *c = &b->m->cfg;

    return b->m->be->rmsnorm(b->h, NULL, x, param_of(b->m, slot_of(b->m, b->layer, s)),
                             b->rows, c->dim, c->norm_eps, f);
}

/* dx += the norm's part of d loss / d x, from b->dh. */
static int norm_back(const struct back *b, enum slot s, const float *x,
                     const float *rstd, struct fault *f)
{
    int i = slot_of(b->m, b->layer, s);

    return b->m->be->rmsnorm_back(b->dx, grad_of(b->m, i), b->dh, x, param_of(b->m, i),
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
    int qn = slot_of(m, b->layer, Q_NORM), kn = slot_of(m, b->layer, K_NORM);

    *dq0 = c->qk_norm ? b->d_o : b->dq;
    *dk0 = c->qk_norm ? b->dk0 : b->dk;
    if (!c->qk_norm)
        return 0;
    if (m->be->rmsnorm_back(*dq0, grad_of(m, qn), b->dq, a->q0, param_of(m, qn),
                            a->rstd_q, b->rows * c->heads, c->head_dim, 0, f) ||
        m->be->rmsnorm_back(*dk0, grad_of(m, kn), b->dk, a->k0, param_of(m, kn),
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
                    c->head_dim, c->head_dim, -1, f) ||
        m->be->rope(b->dk, b->flow->pos, c->inv_freq, c->rope_mscale, b->rows,
                    c->kv_heads, c->head_dim, c->head_dim, -1, f))
        return f->code;
    return 0;
}

/* mid = x + o_proj(attend(...)), from h = norm1(x) */
static int attention_back(const struct back *b, struct fault *f)
{
    const struct acts *a = b->a;
    float *dq0, *dk0;

    if (project_back(b, O, b->d_o, b->dx, a->o, 0, f) || attend_rotate_back(b, f) ||
        head_norms_back(b, &dq0, &dk0, f) || norm_forward(b, NORM1, a->x, f) ||
        project_back(b, Q, b->dh, dq0, b->h, 0, f) ||
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
    b.dx = t->dx;
    b.h = t->flow.h;
    b.s = t->flow.s;
    for (int l = m->cfg.layers - 1; l >= 0; l--) {
        b.layer = l;
        b.a = &t->acts[l];
        pulse_beat();
        if (mlp_back(&b, f) || attention_back(&b, f))
            return f->code;
    }
    if (m->lora)
        return 0;
    return m->be->embed_back(grad_of(m, m->table.embed), t->dx, t->ids, b.rows,
                             m->cfg.dim, f);
}
