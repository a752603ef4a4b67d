/* test_dense.c - dense products on every backend. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "dapo/mem.h"
#include "fill.h"

/* Rows of x W^T, of dy W and of dy^T x, on backend `b`. */
struct products {
    int out, in, rows;
    float *w, *x, *dy, *y, *dx, *dw;
};

static struct products products_new(int out, int in, int rows)
{
    struct products p = {.out = out, .in = in, .rows = rows};

    p.w = fill_new(row_at(out, in), 1);
    p.x = fill_new(row_at(rows, in), 2);
    p.dy = fill_new(row_at(rows, out), 3);
    p.y = fill_new(row_at(rows, out), 4);
    p.dx = fill_new(row_at(rows, in), 5);
    p.dw = fill_new(row_at(out, in), 6);
    return p;
}

static void products_free(struct products *p)
{
    free(p->w);
    free(p->x);
    free(p->dy);
    free(p->y);
    free(p->dx);
    free(p->dw);
}

static void run(const struct backend *b, struct products *p, enum compute type, int add)
{
    struct fault f = FAULT_INIT;
    struct weight *w;

    CHECK_OK(b->open(0, 1, &f), &f);
    CHECK_OK(b->weight_new(&w, p->out, p->in, type, &f), &f);
    CHECK_OK(b->weight_set(w, p->w, &f), &f);
    CHECK_OK(b->linear(p->y, p->x, w, p->rows, &f), &f);
    CHECK_OK(b->linear_dx(p->dx, p->dy, w, p->rows, add, &f), &f);
    CHECK_OK(b->linear_dw(p->dw, p->dy, p->x, w, p->rows, &f), &f);
    b->weight_free(w);
}

static void agree(const struct backend *b, int out, int in, int rows, enum compute type)
{
    struct products want = products_new(out, in, rows);
    struct products got = products_new(out, in, rows);
    int add = rows % 2;

    run(&backend_ref, &want, type, add);
    run(b, &got, type, add);
    CHECK_NEAR(fill_gap(got.y, want.y, row_at(rows, out)), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dx, want.dx, row_at(rows, in)), 0, 1e-5);
    CHECK_NEAR(fill_gap(got.dw, want.dw, row_at(out, in)), 0, 1e-5);
    products_free(&want);
    products_free(&got);
}

static void products_agree_with_ref(void)
{
    static const int shapes[][3] = {{1, 1, 1},     {3, 5, 2},    {64, 48, 7},
                                    {100, 33, 17}, {48, 64, 64}, {65, 70, 70},
                                    {16, 24, 300}, {8, 8, 520}};

    for (int b = 0; backend_list[b]; b++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (int type = COMPUTE_F32; type <= COMPUTE_BF16; type++)
                agree(backend_list[b], shapes[i][0], shapes[i][1], shapes[i][2],
                      (enum compute)type);
}

/* (1, 2, 3) times rows (1, 0, -1) and (2, 1, 0). */
static void product_by_hand(void)
{
    for (int b = 0; backend_list[b]; b++) {
        struct products p = products_new(2, 3, 1);

        memcpy(p.w, (float[]){1, 0, -1, 2, 1, 0}, 6 * sizeof(float));
        memcpy(p.x, (float[]){1, 2, 3}, 3 * sizeof(float));
        memcpy(p.dy, (float[]){1, 10}, 2 * sizeof(float));
        memset(p.dw, 0, 6 * sizeof(float));
        run(backend_list[b], &p, COMPUTE_F32, 0);
        CHECK(!memcmp(p.y, (float[]){-2, 4}, sizeof(float[2])));
        CHECK(!memcmp(p.dx, (float[]){21, 10, -1}, sizeof(float[3])));
        CHECK(!memcmp(p.dw, (float[]){1, 2, 3, 10, 20, 30}, sizeof(float[6])));
        products_free(&p);
    }
}

/* bf16 has 8 significant bits: 1 + 1/256 is a tie and goes to the even 1, 1 + 3/256 to
 * the even 1 + 4/256, and what lies above a tie goes up. */
static void bf16_rounds_to_nearest_even(void)
{
    static const float values[][2] = {{1.00390625f, 1.0f},
                                      {1.01171875f, 1.015625f},
                                      {1.00390637f, 1.0078125f},
                                      {-1.00390625f, -1.0f},
                                      {3.0f, 3.0f}};

    for (int b = 0; backend_list[b]; b++) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            struct products p = products_new(1, 1, 1);

            *p.w = values[i][0];
            *p.x = 1.0f;
            run(backend_list[b], &p, COMPUTE_BF16, 0);
            CHECK_NEAR((double)*p.y, (double)values[i][1], 0);
            *p.w = 1.0f;
            *p.x = *p.dy = values[i][0];
            run(backend_list[b], &p, COMPUTE_BF16, 0);
            CHECK_NEAR((double)*p.y, (double)values[i][1], 0);
            CHECK_NEAR((double)*p.dx, (double)values[i][1], 0);
            products_free(&p);
        }
    }
    CHECK(isnan(bf16_round(NAN)));
    CHECK(isinf(bf16_round(INFINITY)));
}

/* Invariant 4: row i of a call has the bits of a call with that row alone. */
static void rows_alone(const struct backend *b, int out, int in, enum compute type)
{
    enum { MOST = 300 };
    struct products p = products_new(out, in, MOST);
    struct fault f = FAULT_INIT;
    float *y = fill_new((size_t)out, 0), *dx = fill_new((size_t)in, 0);
    struct weight *w;

    CHECK_OK(b->weight_new(&w, out, in, type, &f), &f);
    CHECK_OK(b->weight_set(w, p.w, &f), &f);
    for (int rows = 1; rows <= MOST; rows += rows < 66 ? 1 : 39) {
        int row = (rows * 7) % rows;

        CHECK_OK(b->linear(p.y, p.x, w, rows, &f), &f);
        CHECK_OK(b->linear_dx(p.dx, p.dy, w, rows, 0, &f), &f);
        for (int k = 0; k < 3; k++, row = (row + rows / 3) % rows) {
            CHECK_OK(b->linear(y, p.x + row_at(row, in), w, 1, &f), &f);
            CHECK_OK(b->linear_dx(dx, p.dy + row_at(row, out), w, 1, 0, &f), &f);
            CHECK(!memcmp(y, p.y + row_at(row, out), (size_t)out * sizeof *y));
            CHECK(!memcmp(dx, p.dx + row_at(row, in), (size_t)in * sizeof *dx));
        }
    }
    b->weight_free(w);
    free(y);
    free(dx);
    products_free(&p);
}

static void inv4_product_rows_do_not_depend_on_the_batch(void)
{
    static const int shapes[][2] = {
        /* the last two: sums that oneDNN would cut, by the number of rows */
        {64, 64},   {77, 51},  {144, 96},   {256, 192},
        {128, 512}, {96, 576}, {320, 1664}, {1664, 130}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        rows_alone(&backend_cpu, shapes[i][0], shapes[i][1], COMPUTE_F32);
        rows_alone(&backend_cpu, shapes[i][0], shapes[i][1], COMPUTE_BF16);
    }
}

/* weight_set takes over new values, for the backward's copy too. */
static void weights_can_be_set_again(void)
{
    for (int b = 0; backend_list[b]; b++) {
        for (int type = COMPUTE_F32; type <= COMPUTE_BF16; type++) {
            struct fault f = FAULT_INIT;
            float master = 2, x = 3, y, dx;
            struct weight *w;

            CHECK_OK(backend_list[b]->weight_new(&w, 1, 1, (enum compute)type, &f), &f);
            for (int i = 0; i < 2; i++, master = 4) {
                CHECK_OK(backend_list[b]->weight_set(w, &master, &f), &f);
                CHECK_OK(backend_list[b]->linear(&y, &x, w, 1, &f), &f);
                CHECK_OK(backend_list[b]->linear_dx(&dx, &x, w, 1, 0, &f), &f);
                CHECK_NEAR((double)y, (double)(3 * master), 0);
                CHECK_NEAR((double)dx, (double)(3 * master), 0);
            }
            backend_list[b]->weight_free(w);
        }
    }
}

CASES(CASE(product_by_hand), CASE(products_agree_with_ref),
      CASE(bf16_rounds_to_nearest_even), CASE(weights_can_be_set_again),
      CASE(inv4_product_rows_do_not_depend_on_the_batch));
