/* test_rows.c - elementwise and row ops on every backend. */
#include <stdint.h>
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"

/* Every case runs on each backend; `ref` itself is held to values from outside. */
static const int widths[] = {1, 7, 16, 33, 64, 260};

/* rms of (3, 4) is sqrt(25 / 2); y = x / rms * w. */
static void rmsnorm_by_hand(void)
{
    EACH(b)
    {
        float x[] = {3, 4, 1, 1}, w[] = {1, 2}, y[4], rstd[2];
        struct fault f = FAULT_INIT;

        CHECK_OK(b->rmsnorm(y, rstd, x, w, 2, 2, 0, &f), &f);
        CHECK_NEAR((double)rstd[0], sqrt(2.0) / 5, 1e-7);
        CHECK_NEAR((double)y[0], 3 * sqrt(2.0) / 5, 1e-6);
        CHECK_NEAR((double)y[1], 8 * sqrt(2.0) / 5, 1e-6);
        CHECK_OK(b->rmsnorm(x, NULL, x, w, 2, 2, 3, &f),
                 &f); /* in place, mean + 3 = 4 */
        CHECK_NEAR((double)x[2], 0.5, 1e-7);
        CHECK_NEAR((double)x[3], 1, 1e-7);
    }
}

/* A quarter turn of the pair (x0, x2) and none of (x1, x3). */
static void rope_by_hand(void)
{
    EACH(b)
    {
        const float quarter = 1.57079637f;
        float x[] = {1, 2, 3, 4}, want[] = {-3, 2, 1, 4};
        int pos[] = {1};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->rope(x, pos, (float[]){quarter, 0}, 1, 1, 1, 4, 4, 1, &f), &f);
        CHECK_NEAR(fill_gap(x, want, 4), 0, 1e-6);
        CHECK_OK(b->rope(x, pos, (float[]){quarter, 0}, 1, 1, 1, 4, 4, -1, &f), &f);
        CHECK_NEAR(fill_gap(x, (float[]){1, 2, 3, 4}, 4), 0, 1e-6);
        pos[0] = 3;
        CHECK_OK(b->rope(x, pos, (float[]){quarter, 0}, 2, 1, 1, 4, 4, 1, &f), &f);
        CHECK_NEAR(fill_gap(x, (float[]){6, 4, -2, 8}, 4), 0, 1e-6);
        pos[0] = 40001; /* much further than before: a quarter turn, to 40001 ulps */
        CHECK_OK(b->rope(x, pos, (float[]){quarter, 0}, 0.5f, 1, 1, 4, 4, 1, &f), &f);
        CHECK_NEAR(fill_gap(x, (float[]){1, 2, 3, 4}, 4), 0, 2e-3);
    }
}

/* Of heads of 6 values the first 4 turn, in pairs (x0, x2) and (x1, x3). */
static void rope_of_a_part_by_hand(void)
{
    EACH(b)
    {
        const float quarter = 1.57079637f;
        float x[] = {1, 2, 3, 4, 5, 6, 0, 1, 0, 2, 7, 8};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->rope(x, (int[]){1}, (float[]){quarter, 2 * quarter}, 1, 1, 2, 6, 4,
                         1, &f),
                 &f);
        CHECK_NEAR(fill_gap(x, (float[]){-3, -2, 1, -4, 5, 6, 0, -1, 0, -2, 7, 8}, 12),
                   0, 1e-6);
    }
}

/* sigmoid(ln 3) = 3/4; gates 2 apart, and what is between them stays. */
static void gate_by_hand(void)
{
    EACH(b)
    {
        float g[] = {logf(3), 9, 0, 9, -100, 9}, x[] = {4, 6, 5}, y[3], dx[3];
        float dg[] = {7, 7, 7, 7, 7, 7}, dy[] = {1, 2, 3};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->gate(y, x, g, 3, 1, 2, &f), &f);
        CHECK_NEAR(fill_gap(y, (float[]){3, 3, 0}, 3), 0, 1e-6);
        CHECK_OK(b->gate_back(dx, dg, dy, x, g, 3, 1, 2, &f), &f);
        CHECK_NEAR(fill_gap(dx, (float[]){0.75f, 1, 0}, 3), 0, 1e-6);
        CHECK_NEAR(fill_gap(dg, (float[]){0.75f, 7, 3, 7, 0, 7}, 6), 0, 1e-6);
        CHECK_OK(b->gate(x, x, g, 3, 1, 2, &f), &f); /* in place */
        CHECK(!memcmp(x, y, sizeof x));
        CHECK_OK(b->gate_back(dy, dg, dy, x, g, 3, 1, 2, &f), &f);
        CHECK(!memcmp(dx, dy, sizeof dx));
    }
}

/* silu(ln 3) = ln 3 * 3/4; and silu' there is 3/4 (1 + ln 3 / 4). */
static void swiglu_by_hand(void)
{
    const double l = log(3);

    EACH(b)
    {
        float gate[] = {logf(3), 0, -100, 100}, up[] = {2, 5, 1, 1}, y[4], dg[4], du[4];
        float dy[] = {10, 10, 1, 1};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->swiglu(y, gate, up, 4, &f), &f);
        CHECK_NEAR((double)y[0], 1.5 * l, 1e-6);
        CHECK_NEAR((double)y[1], 0, 0);
        CHECK_NEAR((double)y[2], 0, 1e-30);
        CHECK_NEAR((double)y[3], 100, 0);
        CHECK_OK(b->swiglu_back(dg, du, dy, gate, up, 4, &f), &f);
        CHECK_NEAR((double)dg[0], 20 * 0.75 * (1 + l / 4), 1e-5);
        CHECK_NEAR((double)du[0], 10 * 0.75 * l, 1e-6);
        CHECK_NEAR((double)dg[1], 25, 1e-5);
        CHECK_NEAR((double)dg[2], 0, 1e-30);
        CHECK_NEAR((double)dg[3], 1, 0);
    }
}

static void moving_rows_by_hand(void)
{
    EACH(b)
    {
        float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {0}, t[6] = {0};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->gather(y, x, (int[]){2, 0}, 2, 2, &f), &f);
        CHECK(!memcmp(y, (float[]){5, 6, 1, 2, 0, 0}, sizeof y));
        CHECK_OK(b->embed(t, x, (int[]){1, 1}, 2, 2, &f), &f);
        CHECK(!memcmp(t, (float[]){3, 4, 3, 4, 0, 0}, sizeof t));
        CHECK_OK(b->scatter(t, y, (int[]){1, 2}, 2, 2, 0, &f), &f);
        CHECK(!memcmp(t, (float[]){3, 4, 5, 6, 1, 2}, sizeof t));
        CHECK_OK(b->scatter(t, y, (int[]){0, 2}, 2, 2, 1, &f), &f);
        CHECK(!memcmp(t, (float[]){8, 10, 5, 6, 2, 4}, sizeof t));
        CHECK_OK(b->embed_back(t, x, (int[]){1, 1, 0}, 3, 2, &f), &f);
        CHECK(!memcmp(t, (float[]){13, 16, 9, 12, 2, 4}, sizeof t));
        CHECK_OK(b->add(t, x, 5, &f), &f);
        CHECK(!memcmp(t, (float[]){14, 18, 12, 16, 7, 4}, sizeof t));
        CHECK_OK(b->bias(t, (float[]){1, 0, 2}, 2, 3, &f), &f);
        CHECK(!memcmp(t, (float[]){15, 18, 14, 17, 7, 6}, sizeof t));
        CHECK_OK(b->bias_back(y, x, 3, 2, &f), &f);
        CHECK(!memcmp(y, (float[]){14, 18, 1, 2, 0, 0}, sizeof y));
    }
}

/* Memory comes zeroed and aligned; put, get and zero move bytes. */
static void memory(void)
{
    static const size_t sizes[] = {0, 1, 4096, (2u << 20) + 5};

    EACH(b)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct fault f = FAULT_INIT;
            char there[3] = "ab", back[3] = "";
            void *p;

            CHECK_OK(b->alloc(&p, sizes[i], &f), &f);
            CHECK_INT((uintptr_t)p % 64, 0);
            if (sizes[i] > 3) {
                CHECK_OK(b->get(back, (char *)p + sizes[i] - 3, 3, &f), &f);
                CHECK(!memcmp(back, "\0\0\0", 3));
                CHECK_OK(b->put(p, there, 3, &f), &f);
                CHECK_OK(b->get(back, p, 3, &f), &f);
                CHECK_TEXT(back, "ab");
                CHECK_OK(b->zero(p, 1, &f), &f);
                CHECK_OK(b->get(back, p, 3, &f), &f);
                CHECK_TEXT(back + 1, "b");
                CHECK_INT(back[0], 0);
            }
            CHECK_OK(b->sync(&f), &f);
            b->free(p);
        }
    }
}

enum { ROWS = 5 };

/* Four arrays of a case, for ref and for the backend. */
struct sides {
    size_t n;
    float *want[4], *got[4];
};

static struct sides sides_new(size_t n)
{
    struct sides s = {.n = n};

    for (size_t i = 0; i < 4; i++) {
        s.want[i] = fill_new(n, i);
        s.got[i] = fill_new(n, i);
    }
    return s;
}

static void sides_agree(struct sides *s)
{
    for (size_t i = 0; i < 4; i++) {
        CHECK_NEAR(fill_gap(s->got[i], s->want[i], s->n), 0, 1e-5);
        free(s->want[i]);
        free(s->got[i]);
    }
}

static void rows_with(const struct backend *b, float *const *a, int cols, int add)
{
    struct fault f = FAULT_INIT;
    size_t n = row_at(ROWS, cols);
    float *rstd = fill_new(ROWS, 0), *x = fill_new(n, 11),
          *w = fill_new((size_t)cols, 12);
    float *dy = fill_new(n, 13);

    CHECK_OK(b->rmsnorm(a[0], rstd, x, w, ROWS, cols, 0.1f, &f), &f);
    CHECK_OK(b->rmsnorm_back(a[1], a[2], dy, x, w, rstd, ROWS, cols, add, &f), &f);
    CHECK_OK(b->bias_back(a[2], dy, ROWS, cols, &f), &f);
    CHECK_OK(b->bias(a[3], w, ROWS, cols, &f), &f);
    free(rstd);
    free(x);
    free(w);
    free(dy);
}

static void gates_with(const struct backend *b, float *const *a, size_t n)
{
    struct fault f = FAULT_INIT;
    float *gate = fill_new(n, 11), *up = fill_new(n, 12), *dy = fill_new(n, 13);

    for (size_t i = 0; i < n; i++)
        gate[i] *= 30;
    CHECK_OK(b->swiglu(a[0], gate, up, n, &f), &f);
    CHECK_OK(b->swiglu_back(a[1], a[2], dy, gate, up, n, &f), &f);
    CHECK_OK(b->add(a[3], dy, n, &f), &f);
    free(gate);
    free(up);
    free(dy);
}

/* Gates in the second half of rows twice as wide. */
static void gate_with(const struct backend *b, float *const *a, int cols)
{
    struct fault f = FAULT_INIT;
    float *x = fill_new(row_at(ROWS, cols), 11), *dy = fill_new(row_at(ROWS, cols), 12);
    float *g = fill_new(row_at(ROWS, 2 * cols), 13);

    CHECK_OK(b->gate(a[0], x, g + cols, ROWS, cols, 2 * cols, &f), &f);
    CHECK_OK(b->gate_back(a[1], a[2] + cols, dy, x, g + cols, ROWS, cols, 2 * cols, &f),
             &f);
    free(x);
    free(dy);
    free(g);
}

static void rope_with(const struct backend *b, float *const *a, int dim)
{
    static const int pos[ROWS] = {0, 1, 5, 1024, 40000};
    struct fault f = FAULT_INIT;
    float inv[256];

    for (int i = 0; i < dim / 2; i++)
        inv[i] = powf(10000.0f, -2.0f * (float)i / (float)dim);
    CHECK_OK(b->rope(a[0], pos, inv, 1.0f, ROWS, 1, dim, dim, 1, &f), &f);
    CHECK_OK(b->rope(a[1], pos, inv, 0.7f, ROWS, 1, dim, dim, -1, &f), &f);
    CHECK_OK(b->rope(a[3], pos, inv, 1.0f, ROWS, 1, dim, dim / 4 * 2, 1, &f), &f);
    CHECK_OK(b->rope(a[2], pos, inv, 1.0f, ROWS - 1, 1, dim, dim, 1, &f), &f);
}

static void rows_agree_with_ref(void)
{
    EACH(b)
    {
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            size_t n = row_at(ROWS, widths[i]);
            struct sides s = sides_new(n);

            rows_with(&backend_ref, s.want, widths[i], (int)i % 2);
            rows_with(b, s.got, widths[i], (int)i % 2);
            sides_agree(&s);
            s = sides_new(n);
            gates_with(&backend_ref, s.want, n);
            gates_with(b, s.got, n);
            sides_agree(&s);
            s = sides_new(2 * n);
            gate_with(&backend_ref, s.want, widths[i]);
            gate_with(b, s.got, widths[i]);
            sides_agree(&s);
            s = sides_new(n);
            rope_with(&backend_ref, s.want, widths[i] / 2 * 2);
            rope_with(b, s.got, widths[i] / 2 * 2);
            sides_agree(&s);
        }
    }
}

/* Sum of dy y for y = rmsnorm(x), by central differences over ref's double sums. */
static void rmsnorm_gradients_are_the_differences(void)
{
    enum { COLS = 9 };
    float *x = fill_new(2 * COLS, 1), *w = fill_new(COLS, 2),
          *dy = fill_new(2 * COLS, 3);
    float y[2 * COLS], rstd[2], dx[2 * COLS], dw[COLS] = {0};
    const float h = 1.0f / 512;
    struct fault f = FAULT_INIT;

    CHECK_OK(backend_ref.rmsnorm(y, rstd, x, w, 2, COLS, 1e-3f, &f), &f);
    CHECK_OK(backend_ref.rmsnorm_back(dx, dw, dy, x, w, rstd, 2, COLS, 0, &f), &f);
    for (int i = 0; i < 3 * COLS; i++) {
        float *at = i < 2 * COLS ? x + i : w + i - 2 * COLS, keep = *at;
        double sum = 0;

        for (int side = -1; side <= 1; side += 2) {
            *at = keep + (float)side * h;
            CHECK_OK(backend_ref.rmsnorm(y, NULL, x, w, 2, COLS, 1e-3f, &f), &f);
            for (int j = 0; j < 2 * COLS; j++)
                sum += side * (double)dy[j] * (double)y[j] / (2 * (double)h);
        }
        *at = keep;
        CHECK_NEAR((double)(i < 2 * COLS ? dx[i] : dw[i - 2 * COLS]), sum, 2e-4);
    }
    free(x);
    free(w);
    free(dy);
}

static void swiglu_gradients_are_the_differences(void)
{
    const float h = 1.0f / 512;

    for (int i = -40; i <= 40; i++) {
        float gate = (float)i / 8, up = 0.7f, dy = 1.3f, dg, du, y[2];
        struct fault f = FAULT_INIT;

        CHECK_OK(backend_ref.swiglu_back(&dg, &du, &dy, &gate, &up, 1, &f), &f);
        for (int side = 0; side < 2; side++) {
            float g = gate + (side ? h : -h);

            CHECK_OK(backend_ref.swiglu(&y[side], &g, &up, 1, &f), &f);
        }
        CHECK_NEAR((double)dg, (double)dy * (double)(y[1] - y[0]) / (2 * (double)h),
                   1e-4);
    }
}

/* Invariant 4 for the row ops: alone and among others. */
static void inv4_rows_do_not_depend_on_company(void)
{
    enum { MANY = 33 };

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        int cols = widths[i];
        size_t n = row_at(MANY, cols);
        float *x = fill_new(n, 1), *w = fill_new((size_t)cols, 2), *y = fill_new(n, 0);
        float *one = fill_new((size_t)cols, 0);
        struct fault f = FAULT_INIT;

        CHECK_OK(backend_cpu.rmsnorm(y, NULL, x, w, MANY, cols, 1e-6f, &f), &f);
        CHECK_OK(backend_cpu.swiglu(y, y, x, n, &f), &f);
        for (int r = 0; r < MANY; r++) {
            const float *xr = x + row_at(r, cols);

            CHECK_OK(backend_cpu.rmsnorm(one, NULL, xr, w, 1, cols, 1e-6f, &f), &f);
            CHECK_OK(backend_cpu.swiglu(one, one, xr, (size_t)cols, &f), &f);
            CHECK(!memcmp(one, y + row_at(r, cols), row_at(cols, sizeof *one)));
        }
        free(x);
        free(w);
        free(y);
        free(one);
    }
}

CASES(CASE(rmsnorm_by_hand), CASE(rope_by_hand), CASE(rope_of_a_part_by_hand),
      CASE(gate_by_hand), CASE(swiglu_by_hand), CASE(moving_rows_by_hand), CASE(memory),
      CASE(rows_agree_with_ref), CASE(rmsnorm_gradients_are_the_differences),
      CASE(swiglu_gradients_are_the_differences),
      CASE(inv4_rows_do_not_depend_on_company));
