/* cpu_attend_back.c - backward of attention on the CPU backend.
 *
 * With P = softmax(S), S = scale q.k and D = dout.o:
 * dv_j += P_j dout,  dS_j = P_j (dout.v_j - D),  dq = scale sum dS_j k_j,
 * dk_j += scale dS_j q. */
#include "backend/cpu_attend.h"
#include "backend/vec.h"

struct space {
    float *q, *dout, *dq;     /* [BLOCK][padded]; q scaled */
    float *packed;            /* [BLOCK][dim], on the way to a product */
    float *p, *ds;            /* [BLOCK][ld] */
    float *k_tiles, *v_tiles; /* [tiles][dim][TILE] */
    float *k, *dk, *dv;       /* [keys][padded] */
    size_t ld;
};

static int space_take(struct space *s, const struct run *u, struct fault *f)
{
    size_t dim = (size_t)u->h->dim, row = (size_t)u->padded;

    *s = (struct space){.ld = (size_t)(u->keys + TILE - 1) / TILE * TILE};
    s->p = cpu_scratch(SCRATCH_SCORES, 2 * BLOCK * s->ld * sizeof(float), f);
    s->k_tiles = cpu_scratch(SCRATCH_KEYS, 2 * s->ld * dim * sizeof(float), f);
    s->k =
        cpu_scratch(SCRATCH_VALUES, 3 * row_at(u->keys, u->padded) * sizeof(float), f);
    s->q = cpu_scratch(SCRATCH_ROWS, BLOCK * (3 * row + dim) * sizeof(float), f);
    if (!s->p || !s->k_tiles || !s->k || !s->q)
        return FAULT_SYSTEM;
    s->ds = s->p + BLOCK * s->ld;
    s->v_tiles = s->k_tiles + s->ld * dim;
    s->dk = s->k + row_at(u->keys, u->padded);
    s->dv = s->dk + row_at(u->keys, u->padded);
    s->dout = s->q + BLOCK * row;
    s->dq = s->dout + BLOCK * row;
    s->packed = s->dq + BLOCK * row;
    return 0;
}

/* Keys and values of the run's head, as the products want them. */
static void load(struct space *s, const float *k, const float *v, const struct run *u)
{
    for (int t = 0; t * TILE < u->keys; t++) {
        cpu_run_tile(s->k_tiles + row_at(t * TILE, u->h->dim), k, u, t);
        cpu_run_tile(s->v_tiles + row_at(t * TILE, u->h->dim), v, u, t);
    }
    memset(s->k, 0, 3 * row_at(u->keys, u->padded) * sizeof(float));
    for (int j = 0; j < u->keys; j++)
        memcpy(s->k + row_at(j, u->padded), k + cpu_run_key(u, j),
               row_at(u->h->dim, sizeof(float)));
}

/* Add the sums of the run's head to the gradients of keys and values. */
static void store(float *dk, float *dv, const struct space *s, const struct run *u)
{
    for (int j = 0; j < u->keys; j++) {
        size_t to = cpu_run_key(u, j), from = row_at(j, u->padded);

        for (size_t d = 0; d < (size_t)u->h->dim; d++) {
            dk[to + d] += s->dk[from + d];
            dv[to + d] += s->dv[from + d];
        }
    }
}

/* s[i][j] = from's query i times key j of the tiles. */
static void products(float *scores, const float *from, const float *tiles, float scale,
                     const struct space *s, const struct run *u, int first, int n,
                     int keys)
{
    int dim = u->h->dim;

    cpu_run_take(s->packed, dim, from, scale, u, first, n);
    for (int at = 0; at < keys; at += TILE)
        cpu_kernel_scores(scores + at, s->ld, s->packed, n, tiles + row_at(at, dim),
                          dim, keys - at < TILE ? keys - at : TILE);
}

/* Scores of one query to P, dout.v to dS, both 0 for keys from `sees` to `keys`.  The
 * rows have room for whole vectors. */
static void slopes(float *p, float *ds, float lse, float whole, int sees, int keys)
{
    for (int j = 0; j < sees; j += LANES) {
        vec e = vec_exp(vec_load(p + j) - lse);

        vec_store(p + j, e);
        vec_store(ds + j, e * (vec_load(ds + j) - whole));
    }
    for (int j = sees; j < keys; j++)
        p[j] = ds[j] = 0.0f;
}

/* The inputs and outputs of the op. */
struct back {
    float *dq;
    const float *dout, *o, *lse, *q;
};

static void back_block(const struct back *b, const struct space *s, const struct run *u,
                       int first, int n)
{
    int width = u->padded, keys = 0;
    struct mix m = {.w = s->ds,
                    .w_row = s->ld,
                    .w_term = 1,
                    .x = s->k,
                    .ld = (size_t)width,
                    .rows = n,
                    .cols = width};

    for (int i = 0; i < n; i++)
        keys = cpu_run_sees(u, first + i) > keys ? cpu_run_sees(u, first + i) : keys;
    products(s->p, b->q, s->k_tiles, u->h->scale, s, u, first, n, keys);
    products(s->ds, b->dout, s->v_tiles, 1.0f, s, u, first, n, keys);
    for (int i = 0; i < n; i++) {
        size_t at = cpu_run_query(u, first + i);

        slopes(s->p + (size_t)i * s->ld, s->ds + (size_t)i * s->ld,
               b->lse[cpu_run_lse(u, first + i)],
               vec_dot(b->dout + at, b->o + at, u->h->dim), cpu_run_sees(u, first + i),
               keys);
    }
    cpu_run_take(s->q, width, b->q, u->h->scale, u, first, n);
    cpu_run_take(s->dout, width, b->dout, 1.0f, u, first, n);

    memset(s->dq, 0, row_at(n, width) * sizeof(float));
    m.n = keys;
    cpu_kernel_mix(s->dq, &m);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < u->h->dim; d++)
            b->dq[cpu_run_query(u, first + i) + (size_t)d] =
                u->h->scale * s->dq[row_at(i, width) + (size_t)d] + 0.0f; /* no -0 */

    m = (struct mix){.w = s->ds,
                     .w_row = 1,
                     .w_term = s->ld,
                     .x = s->q,
                     .ld = (size_t)width,
                     .rows = keys,
                     .n = n,
                     .cols = width};
    cpu_kernel_mix(s->dk, &m);
    m.w = s->p;
    m.x = s->dout;
    cpu_kernel_mix(s->dv, &m);
}

int cpu_attend_back(float *dq, float *dk, float *dv, const float *dout, const float *o,
                    const float *lse, const float *q, const float *k, const float *v,
                    const struct attend_rows *r, const struct heads *h, struct fault *f)
{
    struct back b = {.dq = dq, .dout = dout, .o = o, .lse = lse, .q = q};

    for (int first = 0; first < r->rows;) {
        struct run u;
        struct space s;
        int queries;

        if (cpu_run_at(&u, r, h, first, f) || space_take(&s, &u, f))
            return f->code;
        queries = u.rows * u.group;
        for (u.kv_head = 0; u.kv_head < h->kv_heads; u.kv_head++) {
            load(&s, k, v, &u);
            for (int i = 0; i < queries; i += BLOCK)
                back_block(&b, &s, &u, i, queries - i < BLOCK ? queries - i : BLOCK);
            store(dk, dv, &s, &u);
        }
        first += u.rows;
    }
    return 0;
}
