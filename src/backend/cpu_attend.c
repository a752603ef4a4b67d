/* cpu_attend.c - attention of the CPU backend. */
#include <math.h>

#include "backend/cpu_attend.h"
#include "backend/vec.h"

/* Rows of all keys, page by page. */
static int find_keys(struct run *u, struct fault *f)
{
    const struct kv_map *map = &u->r->map;
    const int *first = map->first + row_at(u->r->seq[u->first], map->stride);
    size_t *at = cpu_scratch(SCRATCH_KEY_AT, row_at(u->keys, sizeof *at), f);

    if (!at)
        return FAULT_SYSTEM;
    for (int from = 0, page = 0, n; from < u->keys; from += n, page++) {
        n = u->keys - from < map->page ? u->keys - from : map->page;
        for (int j = 0; j < n; j++)
            at[from + j] = (size_t)(first[page] + j) * u->kv_width;
    }
    u->key_at = at;
    return 0;
}

int cpu_run_at(struct run *u, const struct attend_rows *r, const struct heads *h,
               int first, struct fault *f)
{
    *u = (struct run){.r = r,
                      .h = h,
                      .first = first,
                      .group = h->heads / h->kv_heads,
                      .padded = cpu_kernel_pad(h->dim),
                      .q_width = row_at(h->heads, h->dim),
                      .kv_width = row_at(h->kv_heads, h->dim)};
    while (first + u->rows < r->rows && r->seq[first + u->rows] == r->seq[first]) {
        int pos = r->pos[first + u->rows++];

        u->keys = pos + 1 > u->keys ? pos + 1 : u->keys;
    }
    return find_keys(u, f);
}

void cpu_run_fetch(const float *k, const struct run *u, int from, int to)
{
    for (int j = from; j < to && j < u->keys; j++)
        for (int d = 0; d < u->h->dim; d += LANES) /* a vector is a cache line */
            __builtin_prefetch(k + cpu_run_key(u, j) + d, 0, 2);
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

/* Queries of one key-value head on their way through attention. */
struct block {
    float *q, *o;  /* [n][dim], scaled; [n][padded] */
    float *scores; /* [n][ld] */
    int first, n, keys;
    int sees[BLOCK];
    float sum[BLOCK];
};

/* Work space of a run. */
struct space {
    struct block *blocks;
    float *tiles;  /* [dim][TILE] each */
    float *values; /* [][padded] */
    size_t ld;
};

/* For `blocks` blocks of n queries, and `tiles` tiles of keys and as many of values. */
static int space_take(struct space *s, const struct run *u, int blocks, int n,
                      int tiles, struct fault *f)
{
    size_t dim = (size_t)u->h->dim, padded = (size_t)u->padded, width = dim + padded;
    size_t queries = row_at(blocks, n);
    float *rows, *scores;

    *s = (struct space){.ld = (size_t)(u->keys + TILE - 1) / TILE * TILE};
    scores = cpu_scratch(SCRATCH_SCORES, queries * s->ld * sizeof(float), f);
    s->tiles = cpu_scratch(SCRATCH_KEYS, row_at(tiles, TILE) * dim * sizeof(float), f);
    s->values =
        cpu_scratch(SCRATCH_VALUES, row_at(tiles, TILE) * padded * sizeof(float), f);
    rows = cpu_scratch(SCRATCH_ROWS, queries * width * sizeof(float), f);
    s->blocks = cpu_scratch(SCRATCH_BLOCKS, row_at(blocks, sizeof *s->blocks), f);
    if (!scores || !s->tiles || !s->values || !rows || !s->blocks)
        return FAULT_SYSTEM;
    for (int b = 0; b < blocks; b++) {
        s->blocks[b].q = rows + row_at(b, n) * width;
        s->blocks[b].o = s->blocks[b].q + row_at(n, u->h->dim);
        s->blocks[b].scores = scores + row_at(b, n) * s->ld;
    }
    return 0;
}

/* Queries first .. first + n - 1 of the run's head. */
static void block_take(struct block *b, const float *q, const struct run *u, int first,
                       int n)
{
    b->first = first;
    b->n = n;
    b->keys = 0;
    for (int i = 0; i < n; i++) {
        b->sees[i] = cpu_run_sees(u, first + i);
        b->keys = b->sees[i] > b->keys ? b->sees[i] : b->keys;
    }
    cpu_run_take(b->q, u->h->dim, q, u->h->scale, u, first, n);
    memset(b->o, 0, row_at(n, u->padded) * sizeof(float));
}

static void block_scores(struct block *b, const float *tile, const struct space *s,
                         const struct run *u, int number)
{
    int from = number * TILE, n = b->keys - from < TILE ? b->keys - from : TILE;

    cpu_kernel_scores(b->scores + from, s->ld, b->q, b->n, tile, u->h->dim, n);
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
    for (int j = 0; j < padded; j += LANES) {
        vec e = vec_exp(vec_load(s + j) - m);

        total += e;
        vec_store(s + j, e);
    }
    *sum = vec_sum(total);
    return m;
}

/* The scores become weights. */
static void block_weigh(struct block *b, float *lse, const struct space *s,
                        const struct run *u)
{
    for (int i = 0; i < b->n; i++) {
        float most = softmax(b->scores + (size_t)i * s->ld, b->sees[i], &b->sum[i]);

        if (lse)
            lse[cpu_run_lse(u, b->first + i)] = most + logf(b->sum[i]);
    }
}

/* Add the weighted values of keys from .. to-1, which lie in rows at x. */
static void block_mix(struct block *b, const float *x, size_t ld, int from, int to,
                      const struct space *s, const struct run *u)
{
    struct mix m = {.x = x, .w_row = s->ld, .w_term = 1, .ld = ld, .cols = u->padded};
    int shared = to, rest;

    /* What all queries see together, then what only some do one by one. */
    for (int i = 0; i < b->n; i++)
        shared = b->sees[i] < shared ? b->sees[i] : shared;
    if (shared > from) {
        m.w = b->scores + from;
        m.rows = b->n;
        m.n = shared - from;
        cpu_kernel_mix(b->o, &m);
    }
    rest = shared > from ? shared : from;
    m.x = x + (size_t)(rest - from) * ld;
    m.rows = 1;
    for (int i = 0; i < b->n; i++) {
        m.n = (b->sees[i] < to ? b->sees[i] : to) - rest;
        if (m.n <= 0)
            continue;
        m.w = b->scores + (size_t)i * s->ld + rest;
        cpu_kernel_mix(b->o + row_at(i, u->padded), &m);
    }
}

static void block_give(float *o, const struct block *b, const struct run *u)
{
    for (int i = 0; i < b->n; i++) {
        float *to = o + cpu_run_query(u, b->first + i);
        const float *from = b->o + row_at(i, u->padded);
        float inverse = 1.0f / b->sum[i];

        for (int d = 0; d < u->h->dim; d++)
            to[d] = from[d] * inverse;
    }
}

/* Copy values from .. to-1 of the run's head to rows of whole vectors. */
static void pack_values(float *rows, const float *v, const struct run *u, int from,
                        int to)
{
    int dim = u->h->dim;

    for (int j = from; j < to; j++, rows += u->padded) {
        memcpy(rows, v + cpu_run_key(u, j), row_at(dim, sizeof *rows));
        memset(rows + dim, 0, row_at(u->padded - dim, sizeof *rows));
    }
}

/* Many queries: head by head, so that the tiles of one head serve all of them. */
static int attend_many(float *o, float *lse, const float *q, const float *k,
                       const float *v, struct run *u, struct fault *f)
{
    int tiles = (u->keys + TILE - 1) / TILE, queries = u->rows * u->group;
    struct space s;

    if (space_take(&s, u, 1, BLOCK, tiles, f))
        return f->code;
    for (u->kv_head = 0; u->kv_head < u->h->kv_heads; u->kv_head++) {
        for (int t = 0; t < tiles; t++)
            cpu_run_tile(s.tiles + row_at(t * TILE, u->h->dim), k, u, t);
        pack_values(s.values, v, u, 0, u->keys);
        for (int i = 0; i < queries; i += BLOCK) {
            struct block *b = s.blocks;

            block_take(b, q, u, i, queries - i < BLOCK ? queries - i : BLOCK);
            for (int t = 0; t * TILE < b->keys; t++)
                block_scores(b, s.tiles + row_at(t * TILE, u->h->dim), &s, u, t);
            block_weigh(b, lse, &s, u);
            block_mix(b, s.values, (size_t)u->padded, 0, b->keys, &s, u);
            block_give(o, b, u);
        }
    }
    return 0;
}

/* Keys from `from` on that lie together, at most a tile. */
static int stretch(const struct run *u, int from)
{
    int page = u->r->map.page, rest = page - from % page, n = u->keys - from;

    n = n < TILE ? n : TILE;
    return n < rest ? n : rest;
}

/* Few queries, as in a decode: all heads together, so that keys and values are read
 * once and in the order of their memory. */
static int attend_few(float *o, float *lse, const float *q, const float *k,
                      const float *v, struct run *u, struct fault *f)
{
    int heads = u->h->kv_heads, n = u->rows * u->group;
    struct space s;

    if (space_take(&s, u, heads, n, 1, f))
        return f->code;
    for (u->kv_head = 0; u->kv_head < heads; u->kv_head++)
        block_take(&s.blocks[u->kv_head], q, u, 0, n);
    for (int t = 0; t * TILE < u->keys; t++) {
        for (u->kv_head = 0; u->kv_head < heads; u->kv_head++) {
            cpu_run_fetch(k, u, (t + 1) * TILE, (t + 2) * TILE);
            cpu_run_tile(s.tiles, k, u, t);
            block_scores(&s.blocks[u->kv_head], s.tiles, &s, u, t);
        }
    }
    for (u->kv_head = 0; u->kv_head < heads; u->kv_head++)
        block_weigh(&s.blocks[u->kv_head], lse, &s, u);
    for (int from = 0, to; from < u->keys; from = to) {
        to = from + stretch(u, from);
        for (u->kv_head = 0; u->kv_head < heads; u->kv_head++) {
            const float *x = v + cpu_run_key(u, from);
            size_t ld = u->kv_width;

            cpu_run_fetch(v, u, to, to + (to - from));
            if (u->padded != u->h->dim) {
                pack_values(s.values, v, u, from, to);
                x = s.values;
                ld = (size_t)u->padded;
            }
            block_mix(&s.blocks[u->kv_head], x, ld, from, to, &s, u);
        }
    }
    for (u->kv_head = 0; u->kv_head < heads; u->kv_head++)
        block_give(o, &s.blocks[u->kv_head], u);
    return 0;
}

int cpu_attend(float *o, float *lse, const float *q, const float *k, const float *v,
               const struct attend_rows *r, const struct heads *h, struct fault *f)
{
    for (int i = 0; i < r->rows;) {
        struct run u;

        if (cpu_run_at(&u, r, h, i, f) ||
            (u.rows * u.group <= BLOCK ? attend_few : attend_many)(o, lse, q, k, v, &u,
                                                                   f))
            return f->code;
        i += u.rows;
    }
    return 0;
}
