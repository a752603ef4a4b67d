/* test_merge.c - what adapters need of every backend: merging a low-rank product into a
 * matrix, scaling, a norm whose weight is frozen. */
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"

/* base + 0.5 * (1 3; 2 -1) (10 20 30; 1 2 3), by hand. */
static void merge_by_hand(void)
{
    static const float base[] = {1, 2, 3, 4, 5, 6}, b_[] = {1, 3, 2, -1};
    static const float a[] = {10, 20, 30, 1, 2, 3};
    static const float want[] = {7.5f, 15, 22.5f, 13.5f, 24, 34.5f};

    EACH(b)
    {
        float w[6], in_place[6];
        struct fault f = FAULT_INIT;

        CHECK_OK(b->merge(w, base, b_, a, 0.5f, 2, 3, 2, &f), &f);
        CHECK_NEAR(fill_gap(w, want, 6), 0, 1e-7);
        memcpy(in_place, base, sizeof base);
        CHECK_OK(b->merge(in_place, in_place, b_, a, 0.5f, 2, 3, 2, &f), &f);
        CHECK(!memcmp(in_place, w, sizeof w));
        in_place[0] = -0.0f;
        CHECK_OK(b->merge(w, in_place, b_, a, 0.5f, 2, 3, 0, &f), &f);
        CHECK(!memcmp(w, in_place, sizeof w)); /* bits: -0 stays */
        CHECK_OK(b->merge(w, w, b_, a, 0.5f, 2, 3, 0, &f), &f);
        CHECK(!memcmp(w, in_place, sizeof w));
    }
}

static void scale_by_hand(void)
{
    EACH(b)
    {
        float y[] = {1, -2, 3, 4};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->scale(y, 0.25f, 3, &f), &f);
        CHECK(!memcmp(y, (float[]){0.25f, -0.5f, 0.75f, 4}, sizeof y));
    }
}

/* Widths on both sides of a vector, a tile and several of them. */
static const int shapes[][3] = {{1, 1, 1},   {3, 5, 2},   {4, 16, 3},  {5, 31, 4},
                                {9, 33, 32}, {8, 64, 8},  {13, 97, 7}, {2, 200, 1},
                                {37, 47, 5}, {6, 128, 16}};

static void merge_agrees_with_ref(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        int out = shapes[i][0], in = shapes[i][1], rank = shapes[i][2];
        size_t n = row_at(out, in);
        float *base = fill_new(n, 1), *b_ = fill_new(row_at(out, rank), 2);
        float *a = fill_new(row_at(rank, in), 3), *want = fill_new(n, 4);
        struct fault f = FAULT_INIT;

        CHECK_OK(backend_ref.merge(want, base, b_, a, 1.7f, out, in, rank, &f), &f);
        EACH(b)
        {
            float *got = fill_new(n, 5);

            CHECK_OK(b->merge(got, base, b_, a, 1.7f, out, in, rank, &f), &f);
            CHECK_NEAR(fill_gap(got, want, n), 0, 1e-6);
            free(got);
        }
        free(base);
        free(b_);
        free(a);
        free(want);
    }
}

/* The bits of a value are its own: each merged alone gives those of the whole. */
static void merged_values_do_not_depend_on_company(void)
{
    enum { OUT = 7, IN = 71, RANK = 6 };
    float *base = fill_new(OUT * IN, 1), *b_ = fill_new(OUT * RANK, 2);
    float *a = fill_new(RANK * IN, 3), whole[OUT * IN], one, column[RANK];
    struct fault f = FAULT_INIT;

    EACH(b)
    {
        CHECK_OK(b->merge(whole, base, b_, a, 0.3f, OUT, IN, RANK, &f), &f);
        for (int o = 0; o < OUT; o++)
            for (int i = 0; i < IN; i++) {
                for (int k = 0; k < RANK; k++)
                    column[k] = a[k * IN + i];
                CHECK_OK(b->merge(&one, &base[o * IN + i], b_ + o * RANK, column, 0.3f,
                                  1, 1, RANK, &f),
                         &f);
                CHECK(!memcmp(&one, &whole[o * IN + i], sizeof one));
            }
    }
    free(base);
    free(b_);
    free(a);
}

/* Without dw the gradient of x is the same. */
static void norm_with_a_frozen_weight(void)
{
    enum { ROWS = 3, COLS = 37 };
    float *x = fill_new(ROWS * COLS, 1), *w = fill_new(COLS, 2);
    float *dy = fill_new(ROWS * COLS, 3);

    EACH(b)
    {
        float y[ROWS * COLS], rstd[ROWS], dw[COLS] = {0};
        float dx[2][ROWS * COLS] = {{0}};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->rmsnorm(y, rstd, x, w, ROWS, COLS, 1e-6f, &f), &f);
        CHECK_OK(b->rmsnorm_back(dx[0], dw, dy, x, w, rstd, ROWS, COLS, 0, &f), &f);
        CHECK_OK(b->rmsnorm_back(dx[1], NULL, dy, x, w, rstd, ROWS, COLS, 0, &f), &f);
        CHECK(!memcmp(dx[0], dx[1], sizeof dx[0]));
        CHECK(dw[0] != 0 && dx[0][0] != 0);
    }
    free(x);
    free(w);
    free(dy);
}

CASES(CASE(merge_by_hand), CASE(scale_by_hand), CASE(merge_agrees_with_ref),
      CASE(merged_values_do_not_depend_on_company), CASE(norm_with_a_frozen_weight));
