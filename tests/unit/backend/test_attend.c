/* test_attend.c - attention and its backward on every backend. */
#include <limits.h>
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"

/* Packed training sequences: `lengths` ends in 0. */
struct packed {
    int rows, n_seq;
    int *seq, *pos, *first;
    struct heads h;
    float *q, *k, *v, *dout, *o, *lse, *dq, *dk, *dv;
};

static struct attend_rows rows_of(const struct packed *p)
{
    return (struct attend_rows){
        .rows = p->rows,
        .seq = p->seq,
        .pos = p->pos,
        .map = {.page = INT_MAX, .stride = 1, .first = p->first}};
}

static int *ints_new(size_t n)
{
    int *x = calloc(n ? n : 1, sizeof *x);

    if (!x)
        abort();
    return x;
}

static struct packed packed_new(const int *lengths, int heads, int kv_heads, int dim)
{
    struct packed p = {.h = {heads, kv_heads, dim, 0.3f}};
    size_t nq, nk;

    for (; lengths[p.n_seq]; p.n_seq++)
        p.rows += lengths[p.n_seq];
    p.seq = ints_new((size_t)p.rows);
    p.pos = ints_new((size_t)p.rows);
    p.first = ints_new((size_t)p.n_seq);
    for (int s = 0, r = 0; s < p.n_seq; s++) {
        p.first[s] = r;
        for (int i = 0; i < lengths[s]; i++, r++) {
            p.seq[r] = s;
            p.pos[r] = i;
        }
    }
    nq = row_at(p.rows, heads * dim);
    nk = row_at(p.rows, kv_heads * dim);
    p.q = fill_new(nq, 1);
    p.k = fill_new(nk, 2);
    p.v = fill_new(nk, 3);
    p.dout = fill_new(nq, 4);
    p.o = fill_new(nq, 5);
    p.dq = fill_new(nq, 6);
    p.lse = fill_new(row_at(p.rows, heads), 7);
    p.dk = fill_new(nk, 8);
    p.dv = fill_new(nk, 9);
    return p;
}

static void packed_free(struct packed *p)
{
    void *all[] = {p->seq,  p->pos, p->first, p->q,  p->k,  p->v,
                   p->dout, p->o,   p->lse,   p->dq, p->dk, p->dv};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void run(const struct backend *b, struct packed *p)
{
    struct attend_rows r = rows_of(p);
    struct fault f = FAULT_INIT;

    CHECK_OK(b->attend(p->o, p->lse, p->q, p->k, p->v, &r, &p->h, &f), &f);
    CHECK_OK(b->attend_back(p->dq, p->dk, p->dv, p->dout, p->o, p->lse, p->q, p->k,
                            p->v, &r, &p->h, &f),
             &f);
}

static void agree(const struct backend *b, const int *lengths, int heads, int kv_heads,
                  int dim)
{
    struct packed want = packed_new(lengths, heads, kv_heads, dim);
    struct packed got = packed_new(lengths, heads, kv_heads, dim);
    size_t nq = row_at(want.rows, heads * dim), nk = row_at(want.rows, kv_heads * dim);

    run(&backend_ref, &want);
    run(b, &got);
    CHECK_NEAR(fill_gap(got.o, want.o, nq), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.lse, want.lse, row_at(want.rows, heads)), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dq, want.dq, nq), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dk, want.dk, nk), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dv, want.dv, nk), 0, 1e-5);
    packed_free(&want);
    packed_free(&got);
}

static void attention_agrees_with_ref(void)
{
    for (int b = 0; backend_list[b]; b++) {
        agree(backend_list[b], (int[]){1, 0}, 1, 1, 1);
        agree(backend_list[b], (int[]){5, 3, 0}, 2, 1, 4);
        agree(backend_list[b], (int[]){70, 1, 64, 0}, 4, 2, 16);
        agree(backend_list[b], (int[]){130, 33, 0}, 7, 1, 64);
        agree(backend_list[b], (int[]){40, 0}, 3, 3, 80);
        agree(backend_list[b], (int[]){17, 0}, 2, 2, 128);
    }
}

/* Two keys with scores 0 and ln 3: weights 1/4 and 3/4. */
static void two_keys_by_hand(void)
{
    for (int b = 0; backend_list[b]; b++) {
        float q[] = {0, 0, 1, 0}, k[] = {0, 5, logf(3), 7}, v[] = {4, 8, 0, 16};
        float o[4], lse[2];
        struct attend_rows r = {.rows = 2,
                                .seq = (int[]){0, 0},
                                .pos = (int[]){0, 1},
                                .map = {INT_MAX, 1, (int[]){0}, NULL}};
        struct heads h = {1, 1, 2, 1.0f};
        struct fault f = FAULT_INIT;

        CHECK_OK(backend_list[b]->attend(o, lse, q, k, v, &r, &h, &f), &f);
        CHECK_NEAR((double)o[0], 4, 1e-6);
        CHECK_NEAR((double)o[1], 8, 1e-6);
        CHECK_NEAR((double)o[2], 1, 1e-6);
        CHECK_NEAR((double)o[3], 14, 1e-5);
        CHECK_NEAR((double)lse[0], 0, 1e-7);
        CHECK_NEAR((double)lse[1], log(4), 1e-6);
    }
}

/* The loss sum of dout o by central differences, in single inputs but with the double
 * sums of ref. */
static double loss(const struct packed *p)
{
    struct attend_rows r = rows_of(p);
    struct fault f = FAULT_INIT;
    double sum = 0;

    CHECK_OK(backend_ref.attend(p->o, NULL, p->q, p->k, p->v, &r, &p->h, &f), &f);
    for (size_t i = 0; i < row_at(p->rows, p->h.heads * p->h.dim); i++)
        sum += (double)p->dout[i] * (double)p->o[i];
    return sum;
}

static void differences(struct packed *p, float *x, const float *slope, size_t n)
{
    const float h = 1.0f / 256;

    for (size_t i = 0; i < n; i++) {
        float keep = x[i];
        double up, down;

        x[i] = keep + h;
        up = loss(p);
        x[i] = keep - h;
        down = loss(p);
        x[i] = keep;
        CHECK_NEAR((double)slope[i], (up - down) / (2 * (double)h), 2e-4);
    }
}

static void gradients_are_the_differences(void)
{
    struct packed p = packed_new((int[]){6, 3, 0}, 4, 2, 6);
    size_t nq = row_at(p.rows, 24), nk = row_at(p.rows, 12);

    memset(p.dk, 0, nk * sizeof *p.dk);
    memset(p.dv, 0, nk * sizeof *p.dv);
    run(&backend_ref, &p);
    differences(&p, p.q, p.dq, nq);
    differences(&p, p.k, p.dk, nk);
    differences(&p, p.v, p.dv, nk);
    packed_free(&p);
}

/* The keys of packed sequences spread over pages in another order. */
static void to_pages(const struct packed *p, int page, int stride, int *first, float *k,
                     float *v)
{
    size_t width = row_at(p->h.kv_heads, p->h.dim);

    for (int s = 0; s < p->n_seq; s++)
        for (int j = 0; j < stride; j++)
            first[s * stride + j] =
                ((s * stride + j) * 7 + 3) % (p->n_seq * stride) * page;
    for (int r = 0; r < p->rows; r++) {
        struct kv_map map = {page, stride, first, NULL};
        size_t to = kv_row(&map, p->seq[r], p->pos[r]) * width;

        memcpy(k + to, p->k + (size_t)r * width, width * sizeof *k);
        memcpy(v + to, p->v + (size_t)r * width, width * sizeof *v);
    }
}

/* Rows of a decode, one by one and in a shuffled batch, against the training layout. */
static void rows_in_pages(const struct backend *b, struct packed *p, int page,
                          int longest)
{
    int stride = (longest + page - 1) / page, n = p->n_seq * stride;
    size_t width = row_at(p->h.heads, p->h.dim), kv = row_at(n * page, p->h.kv_heads);
    int *first = ints_new((size_t)n), *seq = ints_new((size_t)p->rows);
    int *pos = ints_new((size_t)p->rows);
    float *k = fill_new(kv * (size_t)p->h.dim, 20),
          *v = fill_new(kv * (size_t)p->h.dim, 21);
    float *q = fill_new((size_t)p->rows * width, 0), *alone = fill_new(width, 0);
    float *o = fill_new((size_t)p->rows * width, 0),
          *lse = fill_new(row_at(p->rows, p->h.heads), 0);
    struct attend_rows r = {.rows = p->rows, .map = {page, stride, first, NULL}};
    struct fault f = FAULT_INIT;

    to_pages(p, page, stride, first, k, v);
    for (int i = 0; i < p->rows; i++) { /* a permutation: 101 is prime */
        int from = (i * 101 + 13) % p->rows;

        seq[i] = p->seq[from];
        pos[i] = p->pos[from];
        memcpy(q + (size_t)i * width, p->q + (size_t)from * width, width * sizeof *q);
    }
    r.seq = seq;
    r.pos = pos;
    CHECK_OK(b->attend(o, lse, q, k, v, &r, &p->h, &f), &f);
    for (int i = 0; i < p->rows; i++) {
        int from = (i * 101 + 13) % p->rows, heads = p->h.heads;
        struct attend_rows one = {
            .rows = 1, .seq = seq + i, .pos = pos + i, .map = r.map};

        CHECK(!memcmp(o + (size_t)i * width, p->o + (size_t)from * width,
                      width * sizeof *o));
        CHECK(!memcmp(lse + row_at(i, heads), p->lse + row_at(from, heads),
                      row_at(heads, sizeof *lse)));
        CHECK_OK(b->attend(alone, NULL, q + (size_t)i * width, k, v, &one, &p->h, &f),
                 &f);
        CHECK(!memcmp(alone, p->o + (size_t)from * width, width * sizeof *o));
    }
    free(first);
    free(seq);
    free(pos);
    free(k);
    free(v);
    free(q);
    free(o);
    free(alone);
    free(lse);
}

static void inv4_rows_do_not_depend_on_pages_or_company(void)
{
    static const struct {
        int heads, kv_heads, dim;
    } shapes[] = {{2, 2, 64}, {4, 2, 16}, {7, 1, 64},
                  {6, 2, 24}, {3, 3, 8},  {2, 1, 128}};

    for (int b = 0; backend_list[b]; b++) {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            struct packed p = packed_new((int[]){90, 1, 23, 66, 0}, shapes[i].heads,
                                         shapes[i].kv_heads, shapes[i].dim);
            if (backend_list[b] == &backend_ref && i > 1) {
                packed_free(&p);
                continue;
            }
            run(backend_list[b], &p);
            rows_in_pages(backend_list[b], &p, 16, 90);
            rows_in_pages(backend_list[b], &p, 5, 90);
            rows_in_pages(backend_list[b], &p, 70, 90); /* not whole tiles */
            packed_free(&p);
        }
    }
}

CASES(CASE(two_keys_by_hand), CASE(attention_agrees_with_ref),
      CASE(gradients_are_the_differences),
      CASE(inv4_rows_do_not_depend_on_pages_or_company));
