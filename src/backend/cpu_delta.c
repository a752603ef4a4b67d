/* cpu_delta.c - the gated delta rule of the CPU backend, and its gates.
 *
 * The columns of a state don't know of each other.  A long run of rows takes 64 of them
 * at a time into the nearest cache and walks through its rows; a short one, as in a
 * decode, works on the states where they lie, whose memory is then what bounds it. */
#include <math.h>

#include "backend/cpu_scan.h"

#define PIECE 64    /* rows whose unit vectors are made together */
#define LONG_RUN 4  /* rows from which on a state is worth copying */
#define LONG_VECS 4 /* vectors of columns that stay in the nearest cache */

/* What the op works on. */
struct scan {
    struct delta_in in; /* unit vectors of PIECE rows */
    float *o;
    float *block; /* [key_dim][LONG_VECS * LANES] */
    float *own;   /* states of the heads of a key head, if there are no others */
};

static int scan_space(struct scan *s, const float *state, struct fault *f)
{
    const struct delta_heads *h = s->in.h;
    size_t dim = (size_t)h->key_dim, n = dim * (2 * PIECE + LONG_VECS * LANES);
    size_t states =
        state ? 0 : row_at(h->value_heads / h->key_heads, h->value_dim) * dim;

    s->in.unit_q = cpu_scratch(SCRATCH_SCAN, (n + states) * sizeof(float), f);
    if (!s->in.unit_q)
        return f->code;
    s->in.unit_k = s->in.unit_q + PIECE * dim;
    s->block = s->in.unit_k + PIECE * dim;
    s->own = s->block + dim * LONG_VECS * LANES;
    return 0;
}

static inline __attribute__((always_inline)) void strip_rows(float *state, size_t ld,
                                                             const struct scan *s,
                                                             const struct strip *w,
                                                             int vecs)
{
    const struct delta_heads *h = s->in.h;

    for (int t = 0; t < w->n; t++) {
        struct delta_row r = cpu_delta_row(&s->in, w, t);
        float *to = s->o + cpu_strip_at(&s->in, w, t, h->value_heads * h->value_dim);
        vec v[MOST_VECS], o[MOST_VECS];

        cpu_strip_load(v, s->in.v + cpu_strip_at(&s->in, w, t, s->in.stride), w->cols,
                       vecs);
        cpu_delta_step(state, state, ld, &r, v, o, vecs);
        for (int c = 0; c < vecs; c++)
            vec_store_some(to + c * LANES, o[c], w->cols - c * LANES);
    }
}

static void strip_walk(float *state, size_t ld, const struct scan *s,
                       const struct strip *w, int vecs)
{
    switch (vecs) {
    case 1:
        strip_rows(state, ld, s, w, 1);
        break;
    case 2:
        strip_rows(state, ld, s, w, 2);
        break;
    case 4:
        strip_rows(state, ld, s, w, 4);
        break;
    default:
        strip_rows(state, ld, s, w, 8);
    }
}

/* The same on a copy, in rows of whole vectors. */
static void strip_copied(float *state, const struct scan *s, const struct strip *w,
                         int vecs)
{
    size_t ld = (size_t)vecs * LANES, bytes = row_at(w->cols, sizeof *state);

    for (int i = 0; i < s->in.h->key_dim; i++) {
        float *to = s->block + (size_t)i * ld;

        memset(to, 0, ld * sizeof *to);
        memcpy(to, state + row_at(i, s->in.h->value_dim), bytes);
    }
    strip_walk(s->block, ld, s, w, vecs);
    for (int i = 0; i < s->in.h->key_dim; i++)
        memcpy(state + row_at(i, s->in.h->value_dim), s->block + (size_t)i * ld, bytes);
}

/* Rows of one value head, whose state is [key_dim][value_dim]. */
static void head_rows(float *state, const struct scan *s, int first, int n, int head)
{
    int dim = s->in.h->value_dim, copy = n >= LONG_RUN || dim % LANES;
    struct strip w = {.first = first, .n = n, .head = head};

    for (; w.col < dim; w.col += w.cols) {
        int vecs = cpu_delta_vecs(dim - w.col, copy ? LONG_VECS : MOST_VECS);

        w.cols = dim - w.col < vecs * LANES ? dim - w.col : vecs * LANES;
        if (copy)
            strip_copied(state + w.col, s, &w, vecs);
        else
            strip_walk(state + w.col, (size_t)dim, s, &w, vecs);
    }
}

/* Rows first .. first + n - 1 of one slot, by key heads: their unit vectors serve all
 * value heads of the key head.  `state` is the slot's; NULL to start from nothing. */
static void run_rows(float *state, struct scan *s, int first, int n)
{
    const struct delta_heads *h = s->in.h;
    int group = h->value_heads / h->key_heads;
    size_t size = row_at(h->key_dim, h->value_dim);

    for (int key_head = 0; key_head < h->key_heads; key_head++) {
        float *at = state ? state + row_at(key_head, group) * size : s->own;

        if (!state)
            memset(at, 0, (size_t)group * size * sizeof *at);
        for (int t = 0; t < n; t += PIECE) {
            int rows = n - t < PIECE ? n - t : PIECE;

            cpu_delta_units(&s->in, first + t, rows, key_head);
            for (int i = 0; i < group; i++)
                head_rows(at + (size_t)i * size, s, first + t, rows,
                          key_head * group + i);
        }
    }
}

int cpu_delta(float *o, float *state, const float *q, const float *k, const float *v,
              int stride, const float *decay, const float *beta,
              const struct scan_rows *r, const struct delta_heads *h, struct fault *f)
{
    struct scan s = {.in = {q, k, v, decay, beta, stride, h, NULL, NULL}, .o = o};
    size_t size = row_at(h->value_heads, h->value_dim) * (size_t)h->key_dim;

    if (scan_space(&s, state, f))
        return f->code;
    for (int i = 0, n; i < r->rows; i += n) {
        float *at = state ? state + (size_t)r->slot[i] * size : NULL;

        n = scan_run(r, i);
        if (at && r->pos[i] == 0)
            memset(at, 0, size * sizeof *at);
        run_rows(at, &s, i, n);
    }
    return 0;
}

/* -- gates ------------------------------------------------------------------------ */

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* ln(1 + e^x) */
static float softplus(float x)
{
    return x > 0.0f ? x + log1pf(expf(-x)) : log1pf(expf(x));
}

int cpu_delta_gates(float *decay, float *beta, const float *a, const float *b,
                    const float *a_log, const float *dt_bias, int rows, int heads,
                    struct fault *f)
{
    (void)f;
    for (int h = 0; h < heads; h++) {
        float rate = expf(a_log[h]);

        for (int r = 0; r < rows; r++) {
            size_t i = row_at(r, heads) + (size_t)h;

            decay[i] = expf(-rate * softplus(a[i] + dt_bias[h]));
            beta[i] = sigmoid(b[i]);
        }
    }
    return 0;
}

/* With x = a + dt_bias, A = exp(a_log) and decay = exp(-A softplus(x)):
 * d decay/da = -decay A sigmoid(x),  d decay/d a_log = -decay A softplus(x). */
int cpu_delta_gates_back(float *da, float *db, float *da_log, float *ddt_bias,
                         const float *ddecay, const float *dbeta, const float *a,
                         const float *b, const float *a_log, const float *dt_bias,
                         int rows, int heads, struct fault *f)
{
    (void)f;
    for (int h = 0; h < heads; h++) {
        float rate = expf(a_log[h]), sum_log = 0.0f, sum_bias = 0.0f;

        for (int r = 0; r < rows; r++) {
            size_t i = row_at(r, heads) + (size_t)h;
            float x = a[i] + dt_bias[h], s = sigmoid(b[i]), steps = softplus(x);
            float d = ddecay[i] * -rate * expf(-rate * steps);

            da[i] = d * sigmoid(x);
            db[i] = dbeta[i] * s * (1.0f - s);
            sum_log += d * steps;
            sum_bias += da[i];
        }
        if (da_log)
            da_log[h] += sum_log;
        if (ddt_bias)
            ddt_bias[h] += sum_bias;
    }
    return 0;
}
