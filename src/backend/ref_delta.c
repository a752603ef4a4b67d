/* ref_delta.c - the gated delta rule of the reference backend: one row and head at a
 * time. */
#include <math.h>
#include <stdlib.h>

#include "backend/ref.h"
#include "dapo/mem.h"

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* ln(1 + e^x) */
static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

int ref_delta_gates(float *decay, float *beta, const float *a, const float *b,
                    const float *a_log, const float *dt_bias, int rows, int heads,
                    struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int h = 0; h < heads; h++) {
            size_t i = row_at(r, heads) + (size_t)h;
            double rate = exp((double)a_log[h]);

            decay[i] = (float)exp(-rate * softplus((double)a[i] + (double)dt_bias[h]));
            beta[i] = (float)sigmoid((double)b[i]);
        }
    }
    return 0;
}

/* With x = a + dt_bias, A = exp(a_log) and decay = exp(-A softplus(x)):
 * d decay/da = -decay A sigmoid(x),  d decay/d a_log = -decay A softplus(x). */
int ref_delta_gates_back(float *da, float *db, float *da_log, float *ddt_bias,
                         const float *ddecay, const float *dbeta, const float *a,
                         const float *b, const float *a_log, const float *dt_bias,
                         int rows, int heads, struct fault *f)
{
    (void)f;
    for (int r = 0; r < rows; r++) {
        for (int h = 0; h < heads; h++) {
            size_t i = row_at(r, heads) + (size_t)h;
            double x = (double)a[i] + (double)dt_bias[h], rate = exp((double)a_log[h]);
            double s = sigmoid((double)b[i]), steps = softplus(x);
            double d = (double)ddecay[i] * -rate * exp(-rate * steps);

            da[i] = (float)(d * sigmoid(x));
            db[i] = (float)((double)dbeta[i] * s * (1.0 - s));
            if (da_log)
                da_log[h] += (float)(d * steps);
            if (ddt_bias)
                ddt_bias[h] += (float)(d * sigmoid(x));
        }
    }
    return 0;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* y = x / sqrt(sum x^2 + 1e-6); returns the factor. */
static double normalise(double *y, const float *x, int n)
{
    double sum = 0.0, scale;

    for (int i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    scale = 1.0 / sqrt(sum + 1e-6);
    for (int i = 0; i < n; i++)
        y[i] = (double)x[i] * scale;
    return scale;
}

/* One value head in one row: its inputs, and e = v - S^T k after the decay. */
struct step {
    double *q, *k, *e; /* q and k of length 1 */
    double q_scale, k_scale, root;
    double decay, beta;
    int kd, vd;
};

/* q, k, v point at the head's values of the row. */
static void step_take(struct step *s, const float *q, const float *k, double decay,
                      double beta)
{
    s->q_scale = normalise(s->q, q, s->kd);
    s->k_scale = normalise(s->k, k, s->kd);
    s->decay = decay;
    s->beta = beta;
}

static int step_new(struct step *s, const struct delta_heads *h, struct fault *f)
{
    double *all = mem_new((size_t)h->key_dim * 2 + (size_t)h->value_dim, sizeof *all,
                          "a step of the delta rule", f);

    *s = (struct step){.q = all, .kd = h->key_dim, .vd = h->value_dim};
    s->k = s->q + h->key_dim;
    s->e = s->k + h->key_dim;
    s->root = 1.0 / sqrt((double)h->key_dim);
    return all ? 0 : f->code;
}

/* to = the state after the step, from = before; they may be the same. */
static void step_do(double *to, const double *from, struct step *s, const float *v)
{
    for (int j = 0; j < s->vd; j++) {
        double sum = 0.0;

        for (int i = 0; i < s->kd; i++)
            sum += s->decay * from[i * s->vd + j] * s->k[i];
        s->e[j] = (double)v[j] - sum;
    }
    for (int i = 0; i < s->kd; i++)
        for (int j = 0; j < s->vd; j++)
            to[i * s->vd + j] =
                s->decay * from[i * s->vd + j] + s->k[i] * s->beta * s->e[j];
}

/* Where the values of a row and head lie in q or k, in v, in o, and in decay. */
struct place {
    size_t key, value, out, gate;
};

static struct place place_of(int row, int head, int stride, const struct delta_heads *h)
{
    int key_head = head / (h->value_heads / h->key_heads);

    return (struct place){.key = row_at(row, stride) + row_at(key_head, h->key_dim),
                          .value = row_at(row, stride) + row_at(head, h->value_dim),
                          .out = row_at(row, h->value_heads * h->value_dim) +
                                 row_at(head, h->value_dim),
                          .gate = row_at(row, h->value_heads) + (size_t)head};
}

/* The inputs of the op. */
struct inputs {
    const float *q, *k, *v, *decay, *beta;
    int stride;
    const struct delta_heads *h;
};

static struct place step_at(struct step *s, const struct inputs *in, int row, int head)
{
    struct place p = place_of(row, head, in->stride, in->h);

    step_take(s, in->q + p.key, in->k + p.key, (double)in->decay[p.gate],
              (double)in->beta[p.gate]);
    return p;
}

/* Rows first .. first + n - 1 of one head, from and to `state` (NULL: from nothing).
 * The state is f32 between rows, as it is between calls. */
static void scan(float *o, float *state, double *work, struct step *s,
                 const struct inputs *in, int first, int n, int head)
{
    size_t size = row_at(s->kd, s->vd);

    for (size_t i = 0; i < size; i++)
        work[i] = state ? (double)state[i] : 0.0;
    for (int row = first; row < first + n; row++) {
        struct place p = step_at(s, in, row, head);

        step_do(work, work, s, in->v + p.value);
        for (int j = 0; j < s->vd; j++) {
            double sum = 0.0;

            for (int i = 0; i < s->kd; i++)
                sum += work[i * s->vd + j] * s->q[i];
            o[p.out + (size_t)j] = (float)(sum * s->root);
        }
        for (size_t i = 0; i < size; i++)
            work[i] = (double)(float)work[i];
    }
    for (size_t i = 0; state && i < size; i++)
        state[i] = (float)work[i];
}

int ref_delta(float *o, float *state, const float *q, const float *k, const float *v,
              int stride, const float *decay, const float *beta,
              const struct scan_rows *r, const struct delta_heads *h, struct fault *f)
{
    struct inputs in = {q, k, v, decay, beta, stride, h};
    size_t size = row_at(h->key_dim, h->value_dim);
    struct step s;
    double *work;

    if (step_new(&s, h, f))
        return f->code;
    work = mem_new(size, sizeof *work, "a state", f);
    for (int i = 0, n; work && i < r->rows; i += n) {
        n = scan_run(r, i);
        for (int head = 0; head < h->value_heads; head++) {
            float *at =
                state
                    ? state + (row_at(r->slot[i], h->value_heads) + (size_t)head) * size
                    : NULL;

            for (size_t j = 0; at && r->pos[i] == 0 && j < size; j++)
                at[j] = 0.0f;
            scan(o, at, work, &s, &in, i, n, head);
        }
    }
    free(s.q);
    free(work);
    return work ? 0 : f->code;
}

size_t ref_delta_scratch(const struct scan_rows *r, const struct delta_heads *h)
{
    (void)r; /* it allocates what it needs */
    (void)h;
    return 0;
}

/* The outputs of the backward, and its work space: states[n + 1][kd][vd], ds[kd][vd],
 * du[vd], and the gradients of the unit vectors. */
struct back {
    float *dq, *dk, *dv, *ddecay, *dbeta;
    const float *d_o;
    double *states, *ds, *du, *q, *k;
};

/* Add the gradient of x to dx, given that of y = x scale, of length 1. */
static void norm_back(float *dx, const double *dy, const double *y, double scale, int n)
{
    double along = dot(dy, y, n);

    for (int i = 0; i < n; i++)
        dx[i] += (float)(scale * (dy[i] - y[i] * along));
}

/* One row backwards; ds comes as the gradient of the state after it and leaves as that
 * of the state before it, `from`.  With T = decay S, e = v - T^T k, u = beta e and
 * S' = T + k u^T:
 *     ds += q do^T;  dq = S' do;  du = ds^T k;  dbeta = du.e;  dv = beta du;
 *     dT = ds - k dv^T;  dk = ds u - T dv;  ddecay = dT.S;  dS = decay dT. */
static void step_back(struct back *b, const double *from, const double *to,
                      const struct step *s, struct place p)
{
    const float *d_o = b->d_o + p.out;
    double decay = 0.0, beta = 0.0;

    for (int j = 0; j < s->vd; j++) {
        b->du[j] = 0.0;
        for (int i = 0; i < s->kd; i++) {
            double *d = b->ds + i * s->vd + j;

            *d += s->root * s->q[i] * (double)d_o[j];
            b->du[j] += *d * s->k[i];
        }
        b->dv[p.value + (size_t)j] = (float)(s->beta * b->du[j]);
        beta += b->du[j] * s->e[j];
    }
    for (int i = 0; i < s->kd; i++) {
        b->q[i] = b->k[i] = 0.0;
        for (int j = 0; j < s->vd; j++) {
            int at = i * s->vd + j;
            double dv = s->beta * b->du[j];

            b->q[i] += s->root * to[at] * (double)d_o[j];
            b->k[i] += b->ds[at] * s->beta * s->e[j] - s->decay * from[at] * dv;
            b->ds[at] -= s->k[i] * dv;
            decay += b->ds[at] * from[at];
            b->ds[at] *= s->decay;
        }
    }
    norm_back(b->dq + p.key, b->q, s->q, s->q_scale, s->kd);
    norm_back(b->dk + p.key, b->k, s->k, s->k_scale, s->kd);
    b->ddecay[p.gate] = (float)decay;
    b->dbeta[p.gate] = (float)beta;
}

/* One sequence and head: forward, all states kept, then backwards. */
static void scan_back(struct back *b, struct step *s, const struct inputs *in,
                      int first, int n, int head)
{
    size_t size = row_at(s->kd, s->vd);

    for (size_t i = 0; i < size; i++)
        b->states[i] = b->ds[i] = 0.0;
    for (int t = 0; t < n; t++) {
        struct place p = step_at(s, in, first + t, head);
        double *from = b->states + (size_t)t * size;

        step_do(from + size, from, s, in->v + p.value);
    }
    for (int t = n - 1; t >= 0; t--) {
        struct place p = step_at(s, in, first + t, head);
        double *from = b->states + (size_t)t * size;

        step_do(from + size, from, s, in->v + p.value); /* for e */
        step_back(b, from, from + size, s, p);
    }
}

/* Work space for sequences of up to `longest` rows, laid out in *b; NULL with
 * FAULT_SYSTEM. */
static double *back_new(struct back *b, const struct delta_heads *h, int longest,
                        struct fault *f)
{
    size_t size = row_at(h->key_dim, h->value_dim), all = 0;
    double *work;

    if (!size_mul((size_t)longest + 2, size, &all) ||
        !size_add(all, (size_t)h->value_dim + 2 * (size_t)h->key_dim, &all))
        all = SIZE_MAX; /* more than there can be */
    work = mem_new(all, sizeof *work, "states of the delta rule", f);
    if (!work)
        return NULL;
    b->states = work;
    b->ds = work + ((size_t)longest + 1) * size;
    b->du = b->ds + size;
    b->q = b->du + h->value_dim;
    b->k = b->q + h->key_dim;
    return work;
}

int ref_delta_back(float *dq, float *dk, float *dv, float *ddecay, float *dbeta,
                   const float *d_o, const float *q, const float *k, const float *v,
                   int stride, const float *decay, const float *beta,
                   const struct scan_rows *r, const struct delta_heads *h,
                   float *scratch, struct fault *f)
{
    struct inputs in = {q, k, v, decay, beta, stride, h};
    struct back b = {dq, dk, dv, ddecay, dbeta, d_o, NULL, NULL, NULL, NULL, NULL};
    struct step s;
    double *work;

    (void)scratch;
    for (int row = 0; row < r->rows; row++)
        for (int j = 0; j < h->key_heads * h->key_dim; j++)
            dq[row_at(row, stride) + (size_t)j] = dk[row_at(row, stride) + (size_t)j] =
                0.0f;
    if (step_new(&s, h, f))
        return f->code;
    work = back_new(&b, h, scan_longest(r), f);
    for (int i = 0, n; work && i < r->rows; i += n) {
        n = scan_run(r, i);
        for (int head = 0; head < h->value_heads; head++)
            scan_back(&b, &s, &in, i, n, head);
    }
    free(s.q);
    free(work);
    return work ? 0 : f->code;
}
