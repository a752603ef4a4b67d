/* test_optim.c - gradient norm and AdamW on every backend. */
#include "backend/ops.h"
#include "check.h"
#include "fill.h"

/* w, m and v after each step, from tests/ref/adamw.py. */
static const float want[3][3][4] = {
    {{1.07950246f, -1.86049759f, 0.49000001f, 0.426467091f},
     {-0.0200000014f, -0.0200000014f, 0, -0.0500000007f},
     {0.000400000048f, 0.000400000019f, 0, 0.00249999994f}},
    {{1.15066969f, -1.72720361f, 0.480200022f, 0.412685096f},
     {-0.0280000027f, -0.0580000021f, 0, 0.00500000129f},
     {0.000496000051f, 0.00199600006f, 0, 0.00497499993f}},
    {{1.19941819f, -1.59732628f, 0.470596045f, 0.345163763f},
     {-0.0252000019f, -0.112199999f, 0, 0.154500008f},
     {0.00049104006f, 0.0055760406f, 0, 0.02742525f}},
};

static void adamw_is_pytorchs(void)
{
    static const float slope[] = {0.1f, -0.2f, 0, 1}, less[] = {0.3f, 0, 0, 1.5f};

    EACH(b)
    {
        float w[] = {1, -2, 0.5f, 1.0f / 3}, m[4] = {0}, v[4] = {0}, g[4];
        struct fault f = FAULT_INIT;

        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < 4; i++)
                g[i] = 2 * (slope[i] * (float)(step + 1) - less[i]);
            CHECK_OK(b->adamw(w, m, v, g, 4, 0.1f, 0.9f, 0.99f, 1e-3f, 0.2f, step + 1,
                              0.5f, &f),
                     &f);
            CHECK_NEAR(fill_gap(w, want[step][0], 4), 0, 1e-6);
            CHECK_NEAR(fill_gap(m, want[step][1], 4), 0, 1e-6);
            CHECK_NEAR(fill_gap(v, want[step][2], 4), 0, 1e-6);
        }
    }
}

static void adamw_agrees_with_ref(void)
{
    enum { N = 103 };
    const size_t n = N;

    EACH(b)
    {
        float *a[2][3], *g = fill_new(n, 4);
        struct fault f = FAULT_INIT;

        for (int side = 0; side < 2; side++) {
            for (uint64_t i = 0; i < 3; i++)
                a[side][i] = fill_new(n, i);
            for (size_t i = 0; i < n; i++)
                a[side][2][i] = fabsf(a[side][2][i]);
            CHECK_OK((side ? b : &backend_ref)
                         ->adamw(a[side][0], a[side][1], a[side][2], g, n, 1e-2f, 0.9f,
                                 0.95f, 1e-8f, 0.1f, 7, 0.25f, &f),
                     &f);
        }
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(fill_gap(a[1][i], a[0][i], n), 0, 1e-5);
        for (int i = 0; i < 6; i++)
            free(a[i / 3][i % 3]);
        free(g);
    }
}

/* 3^2 + 4^2; and a large sum that f32 would lose: 2^25 ones. */
static void sums_of_squares(void)
{
    enum { N = 1 << 20 };
    float *x = fill_new(N, 0);
    double sum;

    EACH(b)
    {
        struct fault f = FAULT_INIT;

        CHECK_OK(b->sumsq(&sum, (float[]){3, -4}, 2, &f), &f);
        CHECK_NEAR(sum, 25, 0);
        for (int i = 0; i < N; i++)
            x[i] = 1;
        x[0] = 8192; /* 2^26: in f32 the ones would vanish beside it */
        CHECK_OK(b->sumsq(&sum, x, N, &f), &f);
        CHECK_NEAR(sum, 67108864.0 + N - 1, 0);
        CHECK_OK(b->sumsq(&sum, x, 0, &f), &f);
        CHECK_NEAR(sum, 0, 0);
    }
    free(x);
}

CASES(CASE(adamw_is_pytorchs), CASE(adamw_agrees_with_ref), CASE(sums_of_squares));
