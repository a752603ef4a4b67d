/* cpu_attend.c - attention of the CPU backend. */
#include <math.h>

#include "backend/cpu_attend.h"
#include "backend/vec.h"

struct run cpu_run_at(const struct attend_rows *r, const struct heads *h, int first)
{
    struct run u = {.r = r,
                    .h = h,
                    .first = first,
                    .group = h->heads / h->kv_heads,
                    .padded = cpu_kernel_pad(h->dim),
                    .q_width = row_at(h->heads, h->dim),
                    .kv_width = row_at(h->kv_heads, h->dim)};

    while (first + u.rows < r->rows && r->seq[first + u.rows] == r->seq[first]) {
        int pos = r->pos[first + u.rows++];

        u.keys = pos + 1 > u.keys ? pos + 1 : u.keys;
    }
    return u;
}

size_t cpu_run_query(const struct run *u, int i)
{
    return (size_t)(u->first + i / u->group) * u->q_width +
           row_at(u->kv_head * u->group + i % u->group, u->h->dim);
}

size_t cpu_run_lse(const struct run *u, int i)
{
    return row_at(u->first + i / u->group, u->h->heads) +
           (size_t)(u->kv_head * u->group + i % u->group);
}

int cpu_run_sees(const struct run *u, int i)
{
    return u->r->pos[u->first + i / u->group] + 1;
}

size_t cpu_run_key(const struct run *u, int pos)
{
    return kv_row(&u->r->map, u->r->seq[u->first], pos) * u->kv_width +
           row_at(u->kv_head, u->h->dim);
}

void cpu_run_tile(float *tile, const float *k, const struct run *u, int number)
{
    const float *rows[TILE];
    int from = number * TILE, n = u->keys - from < TILE ? u->keys - from : TILE;

    for (int j = 0; j < n; j++)
        rows[j] = k + cpu_run_key(u, from + j);
    cpu_kernel_transpose(tile, rows, n, u->h->dim);
}

void cpu_run_take(float *to, int width, const float *from, float scale,
                  const struct run *u, int first, int n)
{
    for (int i = 0; i < n; i++, to += width) {
        const float *x = from + cpu_run_query(u, first + i);

        for (int d = 0; d < u->h->dim; d++)
            to[d] = scale * x[d];
        for (int d = u->h->dim; d < width; d++)
            to[d] = 0.0f;
    }
}

/* Work space of a run. */
struct space {
    float *q, *o;  /* [BLOCK][dim], [BLOCK][padded] */
    float *scores; /* [BLOCK][ld] */
    float *tiles;  /* [tiles][dim][TILE] of the keys */
    float *values; /* [keys][padded], or NULL: rows are whole vectors as they are */
    size_t ld;
    int ready; /* tiles made so far */
};

static int space_take(struct space *s, const struct run *u, struct fault *f)
{
    size_t tiles = (size_t)(u->keys + TILE - 1) / TILE, dim = (size_t)u->h->dim;
    size_t rows = dim + (size_t)u->padded;

    *s = (struct space){.ld = tiles * TILE};
    s->scores = cpu_scratch(SCRATCH_SCORES, BLOCK * s->ld * sizeof(float), f);
    s->tiles = cpu_scratch(SCRATCH_KEYS, tiles * dim * TILE * sizeof(float), f);
    s->q = cpu_scratch(SCRATCH_ROWS, BLOCK * rows * sizeof(float), f);
    if (!s->scores || !s->tiles || !s->q)
        return f->code;
    s->o = s->q + BLOCK * dim;
    if (u->padded == u->h->dim)
        return 0;
    s->values =
        cpu_scratch(SCRATCH_VALUES, row_at(u->keys, u->padded) * sizeof(float), f);
    return s->values ? 0 : f->code;
}

/* s[0..n-1] become e^(s - most); returns most and their sum.  s has room for n rounded
 * up to whole vectors. */
static float softmax(float *s, int n, float *sum)
{
    int padded = cpu_kernel_pad(n);
    vec most, total = {0.0f};
    float m;

    for (int j = n; j < padded; j++)
        s[j] = -INFINITY;
    most = vec_load(s);
    for (int j = LANES; j < padded; j += LANES)
        most = vec_max(vec_load(s + j), most);
    m = vec_most(most);
    for (int j = 0; j < padded; j++)
        s[j] = exp_fast(s[j] - m);
    for (int j = 0; j < padded; j += LANES)
        total += vec_load(s + j);
    *sum = vec_sum(total);
    return m;
}

/* o[i] += sum of the weighted values of keys from .. to-1, which lie in rows at x. */
static void mix_keys(const struct space *s, const struct run *u, const int *sees, int n,
                     const float *x, size_t ld, int from, int to)
{
    struct mix m = {.x = x, .w_row = s->ld, .w_term = 1, .ld = ld, .cols = u->padded};
    int shared = to, rest;

    /* What all queries see together, then what only some do one by one. */
    for (int i = 0; i < n; i++)
        shared = sees[i] < shared ? sees[i] : shared;
    if (shared > from) {
        m.w = s->scores + from;
        m.rows = n;
        m.n = shared - from;
        cpu_kernel_mix(s->o, &m);
    }
    rest = shared > from ? shared : from;
    m.x = x + (size_t)(rest - from) * ld;
    m.rows = 1;
    for (int i = 0; i < n; i++) {
        m.n = (sees[i] < to ? sees[i] : to) - rest;
        if (m.n <= 0)
            continue;
        m.w = s->scores + (size_t)i * s->ld + rest;
        cpu_kernel_mix(s->o + row_at(i, u->padded), &m);
    }
}

/* Over all keys, in their order, by stretches that lie together. */
static void mix_values(const struct space *s, const struct run *u, const int *sees,
                       int n, const float *v)
{
    int page = u->r->map.page, keys = 0;

    for (int i = 0; i < n; i++)
        keys = sees[i] > keys ? sees[i] : keys;
    memset(s->o, 0, row_at(n, u->padded) * sizeof(float));
    if (s->values) {
        mix_keys(s, u, sees, n, s->values, (size_t)u->padded, 0, keys);
        return;
    }
    for (int from = 0, to; from < keys; from = to) {
        to = keys - from > page ? from + page : keys;
        mix_keys(s, u, sees, n, v + cpu_run_key(u, from), u->kv_width, from, to);
    }
}

/* Queries first .. first + n - 1 of a run. */
static void attend_block(float *o, float *lse, const float *q, const float *k,
                         const float *v, const struct run *u, struct space *s,
                         int first, int n)
{
    int sees[BLOCK], keys = 0, dim = u->h->dim;
    float sum[BLOCK];

    cpu_run_take(s->q, dim, q, u->h->scale, u, first, n);
    for (int i = 0; i < n; i++) {
        sees[i] = cpu_run_sees(u, first + i);
        keys = sees[i] > keys ? sees[i] : keys;
    }
    for (int t = 0; t * TILE < keys; t++) {
        float *tile = s->tiles + row_at(t * TILE, dim);
        int some = keys - t * TILE < TILE ? keys - t * TILE : TILE;

        if (t == s->ready)
            cpu_run_tile(tile, k, u, s->ready++);
        cpu_kernel_scores(s->scores + t * TILE, s->ld, s->q, n, tile, dim, some);
    }
    for (int i = 0; i < n; i++) {
        float most = softmax(s->scores + (size_t)i * s->ld, sees[i], &sum[i]);

        if (lse)
            lse[cpu_run_lse(u, first + i)] = most + logf(sum[i]);
    }
    mix_values(s, u, sees, n, v);
    for (int i = 0; i < n; i++) {
        float *to = o + cpu_run_query(u, first + i),
              *from = s->o + row_at(i, u->padded);
        float inverse = 1.0f / sum[i];

        for (int d = 0; d < dim; d++)
            to[d] = from[d] * inverse;
    }
}

static int attend_run(float *o, float *lse, const float *q, const float *k,
                      const float *v, struct run *u, struct fault *f)
{
    struct space s;

    if (space_take(&s, u, f))
        return f->code;
    for (u->kv_head = 0; u->kv_head < u->h->kv_heads; u->kv_head++) {
        s.ready = 0;
        for (int j = 0; s.values && j < u->keys; j++) {
            float *to = s.values + row_at(j, u->padded);

            memcpy(to, v + cpu_run_key(u, j), row_at(u->h->dim, sizeof *to));
            memset(to + u->h->dim, 0, row_at(u->padded - u->h->dim, sizeof *to));
        }
        for (int i = 0, n; i < u->rows * u->group; i += n) {
            n = u->rows * u->group - i < BLOCK ? u->rows * u->group - i : BLOCK;
            attend_block(o, lse, q, k, v, u, &s, i, n);
        }
    }
    return 0;
}

int cpu_attend(float *o, float *lse, const float *q, const float *k, const float *v,
               const struct attend_rows *r, const struct heads *h, struct fault *f)
{
    for (int i = 0; i < r->rows;) {
        struct run u = cpu_run_at(r, h, i);

        if (attend_run(o, lse, q, k, v, &u, f))
            return f->code;
        i += u.rows;
    }
    return 0;
}
