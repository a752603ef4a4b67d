/* test_vec.c - the vector layer of the CPU backend against libm. */
#include <math.h>
#include <string.h>

#include "backend/cpu_kernels.h"
#include "backend/vec.h"
#include "check.h"
#include "fill.h"

static double exp_of(float x)
{
    return (double)vec_exp(vec_fill(x))[3];
}

static void exponential_is_libms(void)
{
    double worst = 0;

    for (int i = -8700; i <= 8799; i++) {
        float x = (float)i / 100 + fill_at(1, (uint64_t)(i + 9000)) / 200;
        double want = exp((double)x), gap = fabs(exp_of(x) - want) / want;

        worst = gap > worst ? gap : worst;
    }
    CHECK_NEAR(worst, 0, 2.4e-7); /* 2 units in the last place */
    CHECK_NEAR(exp_of(0), 1, 0);
    CHECK_NEAR(exp_of(-88), 0, 0);
    CHECK_NEAR(exp_of(-INFINITY), 0, 0);
    CHECK_NEAR(exp_of(1e30f) / exp(88), 1, 1e-5);
    CHECK(isnan(exp_of(NAN)));
}

/* A value's bits don't depend on its lane or on its neighbours. */
static void lanes_are_alike(void)
{
    for (int i = 0; i < 50; i++) {
        vec x;

        for (int l = 0; l < LANES; l++)
            x[l] = 30 * fill_at(2, (uint64_t)(i * LANES + l));
        for (int l = 0; l < LANES; l++) {
            float all = vec_exp(x)[l], one = vec_exp(vec_fill(x[l]))[0];

            CHECK(!memcmp(&all, &one, sizeof one));
        }
    }
}

static void fused_and_reduced(void)
{
    const float tiny = 1.0f / 4096; /* its square vanishes beside 1, unless fused */
    vec v, one = vec_fill(1 + tiny);
    float a[35], parts[3] = {5, 6, 7};

    CHECK_NEAR((double)vec_fma(one, one, vec_fill(-1 - 2 * tiny))[5],
               (double)(tiny * tiny), 0);
    for (int l = 0; l < LANES; l++)
        v[l] = (float)l;
    CHECK_NEAR((double)vec_sum(v), 120, 0);
    CHECK_NEAR((double)vec_most(-v), 0, 0);
    CHECK_NEAR((double)vec_max(v, vec_fill(7))[6], 7, 0);
    CHECK_NEAR((double)vec_max(v, vec_fill(7))[9], 9, 0);
    CHECK(isnan(vec_max(v, vec_fill(NAN))[0]));
    CHECK_NEAR((double)vec_max(vec_fill(NAN), v)[2], 2, 0);
    v = vec_load_part(parts, 2, -1);
    CHECK_NEAR((double)(v[0] + v[1] + v[2] + v[15]), 9, 0);
    for (int i = 0; i < 35; i++)
        a[i] = (float)i;
    CHECK_NEAR((double)vec_dot(a, a, 35), 34 * 35 * 69 / 6, 0);
}

static void tiles_are_transposed(void)
{
    enum { KEYS = 37, DIM = 21 };
    float *x = fill_new(KEYS * DIM, 3), *tile = fill_new(DIM * TILE, 4);
    const float *rows[KEYS];

    for (int j = 0; j < KEYS; j++)
        rows[j] = x + j * DIM;
    cpu_kernel_transpose(tile, rows, KEYS, DIM);
    for (int d = 0; d < DIM; d++)
        for (int j = 0; j < TILE; j++)
            CHECK_NEAR((double)tile[d * TILE + j],
                       j < KEYS ? (double)x[j * DIM + d] : 0.0, 0);
    free(x);
    free(tile);
}

/* Scores are fused products summed in the order of d: a plain loop gives their bits. */
static void scores_are_a_plain_loop(void)
{
    enum { ROWS = 7, DIM = 19 };
    float *a = fill_new(ROWS * DIM, 5), *tile = fill_new(DIM * TILE, 6), s[ROWS * TILE];

    for (int n = 1; n <= TILE; n += 9) {
        cpu_kernel_scores(s, TILE, a, ROWS, tile, DIM, n);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < n; j++) {
                float want = 0;

                for (int d = 0; d < DIM; d++)
                    want = fmaf(a[i * DIM + d], tile[d * TILE + j], want);
                CHECK(!memcmp(&s[i * TILE + j], &want, sizeof want));
            }
        }
    }
    free(a);
    free(tile);
}

static void mixtures_are_a_plain_loop(void)
{
    enum { ROWS = 7, TERMS = 150, COLS = 112 };
    float *w = fill_new(ROWS * TERMS, 7), *x = fill_new(TERMS * COLS, 8);
    float *o = fill_new(ROWS * COLS, 9);
    struct mix m = {.w = w,
                    .x = x,
                    .w_row = TERMS,
                    .w_term = 1,
                    .ld = COLS,
                    .rows = ROWS,
                    .n = TERMS,
                    .cols = COLS};

    cpu_kernel_mix(o, &m);
    for (int i = 0; i < ROWS; i++) {
        for (int c = 0; c < COLS; c++) {
            float want = fill_at(9, (uint64_t)(i * COLS + c));

            for (int t = 0; t < TERMS; t++)
                want = fmaf(w[i * TERMS + t], x[t * COLS + c], want);
            CHECK(!memcmp(&o[i * COLS + c], &want, sizeof want));
        }
    }
    free(w);
    free(x);
    free(o);
}

/* As the scalar rounding, ties, infinities and NaN included, and only n of them. */
static void bf16_is_the_scalar_rounding(void)
{
    for (int i = 0; i < 200; i++) {
        uint16_t y[LANES];
        vec x;
        int n = 1 + i % LANES;

        memset(y, 0xab, sizeof y);
        for (int l = 0; l < LANES; l++)
            x[l] = 100 * fill_at(4, (uint64_t)(i * LANES + l));
        x[0] = 1 + (float)(1 + 2 * (i % 4)) / 256; /* a tie */
        x[1] = i % 3 == 0 ? INFINITY : i % 3 == 1 ? -0.0f : 3.4e38f;
        vec_store_bf16(y, x, n);
        for (int l = 0; l < LANES; l++)
            CHECK_INT(y[l], l < n ? bf16_from(x[l]) : 0xabab);
        x[0] = NAN;
        vec_store_bf16(y, x, 1);
        CHECK(isnan(bits_float((uint32_t)y[0] << 16)));
    }
}

CASES(CASE(exponential_is_libms), CASE(lanes_are_alike),
      CASE(bf16_is_the_scalar_rounding), CASE(fused_and_reduced),
      CASE(tiles_are_transposed), CASE(scores_are_a_plain_loop),
      CASE(mixtures_are_a_plain_loop));
