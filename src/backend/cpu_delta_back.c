/* cpu_delta_back.c - backward of the gated delta rule on the CPU backend.
 *
 * With T = decay S, e = v - T^T k, u = beta e, S' = T + k u^T and o = S'^T q, and ds
 * the gradient of S' from the rows after it:
 *     ds += q do^T;  dq = S' do;  du = ds^T k;  dbeta = du.e;  dv = beta du;
 *     dT = ds - k dv^T;  dk = ds u - T dv;  ddecay = dT.S;  dS = decay dT.
 * The states before each row are made again, CHUNK rows at a time, from one kept for
 * every chunk; 64 columns of a head at a time: only dq, dk, ddecay and dbeta are sums
 * over all of them.
 */
#include <math.h>

#include "backend/cpu_scan.h"

#define CHUNK 32
#define VECS 4 /* vectors of columns taken together */
#define COLS (VECS * LANES)

struct back {
    float *dq, *dk, *dv, *ddecay, *dbeta;
    const float *d_o;
    struct delta_in in; /* unit vectors of the longest sequence */
    float *kept;        /* [chunks of the longest][key_dim][COLS] */
    float *states;      /* [CHUNK + 1][key_dim][COLS] */
    float *ds, *e;      /* [key_dim][COLS], [CHUNK][COLS] */
    float *part;        /* [key_dim][LANES], dk on the way */
};

/* Lay the work space out from `at` on; returns how many floats it is.  With at NULL
 * only that. */
static size_t layout(struct back *b, float *at, int longest)
{
    size_t dim = (size_t)b->in.h->key_dim, strip = dim * COLS;
    size_t chunks = ((size_t)longest + CHUNK - 1) / CHUNK, used = 0;
    struct {
        float **to;
        size_t n;
    } parts[] = {{&b->kept, chunks * strip},
                 {&b->states, (CHUNK + 1) * strip},
                 {&b->ds, strip},
                 {&b->e, CHUNK * COLS},
                 {&b->part, dim * LANES},
                 {&b->in.unit_q, row_at(longest, b->in.h->key_dim)},
                 {&b->in.unit_k, row_at(longest, b->in.h->key_dim)}};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (at)
            *parts[i].to = at + used;
        used += parts[i].n;
    }
    return used;
}

size_t cpu_delta_scratch(const struct scan_rows *r, const struct delta_heads *h)
{
    struct back b = {.in = {.h = h}};

    return layout(&b, NULL, scan_longest(r));
}

/* Row t of the sequence; e, NULL to skip, is kept for the way back. */
static inline __attribute__((always_inline)) void forth(float *to, const float *from,
                                                        float *e, const struct back *b,
                                                        const struct strip *w, int t,
                                                        int vecs)
{
    struct delta_row r = cpu_delta_row(&b->in, w, t);
    vec v[VECS];

    cpu_strip_load(v, b->in.v + cpu_strip_at(&b->in, w, t, b->in.stride), w->cols,
                   vecs);
    cpu_delta_step(to, from, (size_t)vecs * LANES, &r, v, NULL, vecs);
    for (int c = 0; e && c < vecs; c++)
        vec_store(e + c * LANES, v[c]);
}

/* What the backward of one row works with, by columns. */
struct cols {
    vec u[VECS], d_o[VECS], dv[VECS];
};

/* ds += q do^T, and its products: part[i] sums to (ds u)_i, and du comes out. */
static inline __attribute__((always_inline)) void back_first(const struct back *b,
                                                             const struct delta_row *r,
                                                             const struct cols *x,
                                                             vec *du, int vecs)
{
    for (int i = 0; i < r->dim; i++) {
        vec q = vec_fill(r->q[i]), k = vec_fill(r->k[i]), part = {0.0f};
        float *ds = b->ds + (size_t)i * (size_t)vecs * LANES;

        for (int c = 0; c < vecs; c++) {
            vec d = vec_fma(q, x->d_o[c], vec_load(ds + c * LANES));

            vec_store(ds + c * LANES, d);
            du[c] = vec_fma(k, d, du[c]);
            part = vec_fma(d, x->u[c], part);
        }
        vec_store(b->part + i * LANES, part);
    }
}

/* The rest of ds, for LANES rows of the state from i on: lanes of dq and dk to be
 * summed up, and of ddecay, which is added to. */
static inline __attribute__((always_inline)) void
back_second(vec *dq, vec *dk, vec *decay, const float *from, const struct back *b,
            const struct delta_row *r, const struct cols *x, int i, int vecs)
{
    for (int l = 0; l < LANES; l++) {
        size_t at = (size_t)(i + l) * (size_t)vecs * LANES;
        vec k, along = {0.0f};

        dq[l] = dk[l] = (vec){0.0f};
        if (i + l >= r->dim)
            continue;
        k = vec_fill(-r->k[i + l]);
        for (int c = 0; c < vecs; c++) {
            vec s = vec_load(from + at + c * LANES);
            vec d = vec_fma(k, x->dv[c], vec_load(b->ds + at + c * LANES));

            decay[c] = vec_fma(d, s, decay[c]);
            dq[l] = vec_fma(s, x->d_o[c], dq[l]);
            along = vec_fma(s, x->dv[c], along);
            vec_store(b->ds + at + c * LANES, r->decay * d);
        }
        dk[l] =
            vec_fma(vec_fill(-r->decay), along, vec_load(b->part + (i + l) * LANES));
    }
}

/* x[i] += y for n values. */
static void add_some(float *x, vec y, int n)
{
    vec_store_some(x, vec_load_some(x, n) + y, n);
}

/* Row t of the sequence, whose state before it is `from`.  Adds to the gradients of the
 * unit vectors and of the gates. */
static inline __attribute__((always_inline)) void
back(const float *from, const float *e, const struct back *b, const struct strip *w,
     int t, int vecs)
{
    const struct delta_heads *h = b->in.h;
    struct delta_row r = cpu_delta_row(&b->in, w, t);
    int row = w->first + t, key_head = w->head / (h->value_heads / h->key_heads);
    size_t key = cpu_delta_key(&b->in, row, key_head);
    size_t gate = row_at(row, h->value_heads) + (size_t)w->head;
    vec du[VECS] = {0}, ddecay[VECS] = {0}, dbeta = {0.0f}, along = {0.0f};
    struct cols x;
    float uo;

    cpu_strip_load(x.d_o,
                   b->d_o + cpu_strip_at(&b->in, w, t, h->value_heads * h->value_dim),
                   w->cols, vecs);
    for (int c = 0; c < vecs; c++) {
        x.u[c] = r.beta * vec_load(e + c * LANES);
        along = vec_fma(x.u[c], x.d_o[c], along);
    }
    uo = vec_sum(along);
    back_first(b, &r, &x, du, vecs);
    for (int c = 0; c < vecs; c++) {
        dbeta = vec_fma(du[c], vec_load(e + c * LANES), dbeta);
        x.dv[c] = r.beta * du[c];
        vec_store_some(b->dv + cpu_strip_at(&b->in, w, t, b->in.stride) + c * LANES,
                       x.dv[c], w->cols - c * LANES);
    }
    for (int i = 0; i < r.dim; i += LANES) {
        int n = r.dim - i;
        vec dq[LANES], dk[LANES];

        back_second(dq, dk, ddecay, from, b, &r, &x, i, vecs);
        add_some(
            b->dq + key + i,
            vec_fma(vec_fill(r.decay), vec_sums(dq), uo * vec_load_some(r.k + i, n)),
            n);
        add_some(b->dk + key + i, vec_sums(dk), n);
    }
    for (int c = 1; c < vecs; c++)
        ddecay[0] += ddecay[c];
    b->ddecay[gate] += vec_sum(ddecay[0]);
    b->dbeta[gate] += vec_sum(dbeta);
}

static inline __attribute__((always_inline)) void
strip_back(const struct back *b, const struct strip *w, int vecs)
{
    size_t size = row_at(b->in.h->key_dim, vecs * LANES), bytes = size * sizeof(float);
    int last = (w->n - 1) / CHUNK;

    memset(b->ds, 0, bytes);
    memset(b->kept, 0, bytes);
    /* The last row of a chunk writes the state that is kept for the next. */
    for (int t = 0; t < last * CHUNK; t++) {
        float *s = b->kept + (size_t)(t / CHUNK) * size;

        if (t % CHUNK == 0)
            forth(b->states, s, NULL, b, w, t, vecs);
        else
            forth((t + 1) % CHUNK ? b->states : s + size, b->states, NULL, b, w, t,
                  vecs);
    }
    for (int chunk = last; chunk >= 0; chunk--) {
        int first = chunk * CHUNK, n = w->n - first < CHUNK ? w->n - first : CHUNK;

        memcpy(b->states, b->kept + (size_t)chunk * size, bytes);
        for (int t = 0; t < n; t++)
            forth(b->states + (size_t)(t + 1) * size, b->states + (size_t)t * size,
                  b->e + t * COLS, b, w, first + t, vecs);
        for (int t = n - 1; t >= 0; t--)
            back(b->states + (size_t)t * size, b->e + t * COLS, b, w, first + t, vecs);
    }
}

/* All columns of one value head. */
static void head_back(const struct back *b, int first, int n, int head)
{
    struct strip w = {.first = first, .n = n, .head = head};

    for (; w.col < b->in.h->value_dim; w.col += w.cols) {
        int rest = b->in.h->value_dim - w.col, vecs = cpu_delta_vecs(rest, VECS);

        w.cols = rest < vecs * LANES ? rest : vecs * LANES;
        if (vecs == 4)
            strip_back(b, &w, 4);
        else if (vecs == 2)
            strip_back(b, &w, 2);
        else
            strip_back(b, &w, 1);
    }
}

/* From the gradient of unit = x scale / |x| to that of x, in place. */
static void unit_back(float *dx, const float *unit, const float *x, int n, float scale)
{
    float factor = cpu_delta_factor(x, n, scale);
    float along = vec_dot(dx, unit, n) / (scale * scale);

    for (int i = 0; i < n; i++)
        dx[i] = factor * (dx[i] - unit[i] * along);
}

/* Rows first .. first + n - 1, one sequence. */
static void run_back(const struct back *b, int first, int n)
{
    const struct delta_heads *h = b->in.h;
    int group = h->value_heads / h->key_heads, dim = h->key_dim;
    float scale = 1.0f / sqrtf((float)dim);

    for (int key_head = 0; key_head < h->key_heads; key_head++) {
        cpu_delta_units(&b->in, first, n, key_head);
        for (int t = 0; t < n; t++) {
            size_t at = cpu_delta_key(&b->in, first + t, key_head);

            memset(b->dq + at, 0, row_at(dim, sizeof *b->dq));
            memset(b->dk + at, 0, row_at(dim, sizeof *b->dk));
        }
        for (int i = 0; i < group; i++)
            head_back(b, first, n, key_head * group + i);
        for (int t = 0; t < n; t++) {
            size_t at = cpu_delta_key(&b->in, first + t, key_head);

            unit_back(b->dq + at, b->in.unit_q + row_at(t, dim), b->in.q + at, dim,
                      scale);
            unit_back(b->dk + at, b->in.unit_k + row_at(t, dim), b->in.k + at, dim,
                      1.0f);
        }
    }
}

int cpu_delta_back(float *dq, float *dk, float *dv, float *ddecay, float *dbeta,
                   const float *d_o, const float *q, const float *k, const float *v,
                   int stride, const float *decay, const float *beta,
                   const struct scan_rows *r, const struct delta_heads *h,
                   float *scratch, struct fault *f)
{
    struct back b = {.dq = dq,
                     .dk = dk,
                     .dv = dv,
                     .ddecay = ddecay,
                     .dbeta = dbeta,
                     .d_o = d_o,
                     .in = {q, k, v, decay, beta, stride, h, NULL, NULL}};
    size_t gates = row_at(r->rows, h->value_heads) * sizeof(float);

    (void)f;
    layout(&b, scratch, scan_longest(r));
    memset(ddecay, 0, gates);
    memset(dbeta, 0, gates);
    for (int i = 0, n; i < r->rows; i += n) {
        n = scan_run(r, i);
        run_back(&b, i, n);
    }
    return 0;
}
