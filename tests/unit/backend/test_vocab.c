/* test_vocab.c - log-probabilities and the sampler on every backend. */
#include <math.h>
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"

/* Logits of the probabilities 1/2, 1/4, 1/8, 1/8, and a padded column that would win.
 */
static const float halves[] = {2.0f * 0.693147181f, 0.693147181f, 0, 0, 99};

/* The entropy of 1/2, 1/4, 1/8, 1/8 is 7/4 bits.  At temperature 1/2 the weights are
 * squared: 16, 4, 1, 1 of 22. */
static void logprob_by_hand(void)
{
    EACH(b)
    {
        float logp, entropy, lse;
        int target = 1;
        struct fault f = FAULT_INIT;

        CHECK_OK(b->logprob(&logp, &entropy, &lse, halves, &target, 1, 4, 5, 1.0f, &f),
                 &f);
        CHECK_NEAR((double)logp, -log(4), 1e-6);
        CHECK_NEAR((double)entropy, 1.75 * log(2), 1e-6);
        CHECK_NEAR((double)lse, log(8), 1e-6);
        CHECK_OK(b->logprob(&logp, NULL, NULL, halves, &target, 1, 4, 5, 0.5f, &f), &f);
        CHECK_NEAR((double)logp, log(4.0 / 22), 1e-6);
    }
}

/* 3 ((j == 1) - p_j) at temperature 1; padding gets 0. */
static void logprob_slope_by_hand(void)
{
    EACH(b)
    {
        float x[5], slope = 3, lse = logf(8);
        int target = 1;
        struct fault f = FAULT_INIT;

        memcpy(x, halves, sizeof x);
        CHECK_OK(b->logprob_back(x, &slope, &lse, &target, 1, 4, 5, 1.0f, &f), &f);
        CHECK_NEAR(fill_gap(x, (float[]){-1.5f, 2.25f, -0.375f, -0.375f, 0}, 5), 0,
                   1e-6);
        CHECK_NEAR((double)x[4], 0, 0);
    }
}

static void logprob_agrees_with_ref(void)
{
    enum { ROWS = 3, STRIDE = 1100 };
    static const int sizes[] = {1, 15, 256, 257, 1099};

    EACH(b)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            float *x = fill_new(ROWS * STRIDE, i), *y, want[3][ROWS], got[3][ROWS];
            int targets[ROWS] = {0, sizes[i] - 1, sizes[i] / 2};
            float t = i % 2 ? 0.7f : 1.0f, slope[] = {1, -2, 0.5f};
            struct fault f = FAULT_INIT;

            for (int j = 0; j < ROWS * STRIDE; j++)
                x[j] *= 20;
            y = malloc(ROWS * STRIDE * sizeof *y);
            memcpy(y, x, ROWS * STRIDE * sizeof *y);
            CHECK_OK(backend_ref.logprob(want[0], want[1], want[2], x, targets, ROWS,
                                         sizes[i], STRIDE, t, &f),
                     &f);
            CHECK_OK(b->logprob(got[0], got[1], got[2], x, targets, ROWS, sizes[i],
                                STRIDE, t, &f),
                     &f);
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(fill_gap(got[k], want[k], ROWS), 0, 1e-5);
            CHECK_OK(backend_ref.logprob_back(x, slope, want[2], targets, ROWS,
                                              sizes[i], STRIDE, t, &f),
                     &f);
            CHECK_OK(b->logprob_back(y, slope, want[2], targets, ROWS, sizes[i], STRIDE,
                                     t, &f),
                     &f);
            CHECK_NEAR(fill_gap(y, x, ROWS * STRIDE), 0, 1e-5);
            free(x);
            free(y);
        }
    }
}

static void logprob_slope_is_the_difference(void)
{
    enum { N = 7 };
    const float h = 1.0f / 256;
    float *x = fill_new(N, 5), slope = 1, lse, logp, back[N];
    int target = 2;
    struct fault f = FAULT_INIT;

    CHECK_OK(backend_ref.logprob(&logp, NULL, &lse, x, &target, 1, N, N, 0.8f, &f), &f);
    memcpy(back, x, sizeof back);
    CHECK_OK(backend_ref.logprob_back(back, &slope, &lse, &target, 1, N, N, 0.8f, &f),
             &f);
    for (int j = 0; j < N; j++) {
        float keep = x[j], ends[2];

        for (int side = 0; side < 2; side++) {
            x[j] = keep + (side ? h : -h);
            CHECK_OK(backend_ref.logprob(&ends[side], NULL, NULL, x, &target, 1, N, N,
                                         0.8f, &f),
                     &f);
        }
        x[j] = keep;
        CHECK_NEAR((double)back[j], (double)(ends[1] - ends[0]) / (2 * (double)h),
                   2e-4);
    }
    free(x);
}

static int drawn(const struct backend *b, const float *x, int vocab, int stride,
                 float u, struct sampling s)
{
    float logp, again;
    int id = -1;
    struct fault f = FAULT_INIT;

    CHECK_OK(b->sample(&id, &logp, x, &u, 1, vocab, stride, &s, 0.9f, &f), &f);
    CHECK(id >= 0 && id < vocab);
    CHECK_OK(b->logprob(&again, NULL, NULL, x, &id, 1, vocab, stride, 0.9f, &f), &f);
    CHECK(!memcmp(&logp, &again, sizeof logp)); /* invariant 5 */
    return id;
}

/* Inverse transform of 1/2, 1/4, 1/8, 1/8 in id order. */
static void draws_by_hand(void)
{
    static const struct {
        struct sampling s;
        float u;
        int id;
    } want[] = {
        {{1, 0, 1}, 0, 0},
        {{1, 0, 1}, 0.499f, 0},
        {{1, 0, 1}, 0.501f, 1},
        {{1, 0, 1}, 0.749f, 1},
        {{1, 0, 1}, 0.751f, 2},
        {{1, 0, 1}, 0.876f, 3},
        {{1, 0, 1}, 0.99999994f, 3},
        {{0, 0, 1}, 0.9f, 0}, /* greedy */
        /* 16, 4, 1, 1 of 22 */
        {{0.5f, 0, 1}, 0.72f, 0},
        {{0.5f, 0, 1}, 0.73f, 1},
        {{0.5f, 0, 1}, 0.92f, 2},
        /* top-k: 1; 2/3, 1/3; and of the equal third and fourth the lower id */
        {{1, 1, 1}, 0.99f, 0},
        {{1, 2, 1}, 0.66f, 0},
        {{1, 2, 1}, 0.67f, 1},
        {{1, 3, 1}, 0.99999994f, 2},
        {{1, 4, 1}, 0.99999994f, 3},
        {{1, 9, 1}, 0.99999994f, 3},
        /* top-p: the id that reaches p stays, the next one goes */
        {{1, 0, 0.1f}, 0.99f, 0},
        {{1, 0, 0.49f}, 0.99f, 0},
        {{1, 0, 0.51f}, 0.99f, 1},
        {{1, 0, 0.76f}, 0.99999994f, 2},
        {{1, 0, 0.88f}, 0.99999994f, 3},
        /* temperature first: at 1/2 id 0 has 16/22 = 0.727 */
        {{0.5f, 0, 0.7f}, 0.99f, 0},
        {{0.5f, 0, 0.75f}, 0.99f, 1},
        /* top-k before top-p: of ids 0 and 1 the first has 2/3 */
        {{1, 2, 0.66f}, 0.99f, 0},
        {{1, 2, 0.67f}, 0.99f, 1},
    };

    EACH(b)
    {
        for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
            CHECK_INT(drawn(b, halves, 4, 5, want[i].u, want[i].s), want[i].id);
    }
}

static void ties_go_to_lower_ids(void)
{
    EACH(b)
    {
        float x[600], negative[] = {-3, -1, -1, -2};

        for (int i = 0; i < 600; i++)
            x[i] = i % 2 ? -0.0f : 0.0f;
        CHECK_INT(drawn(b, x, 600, 600, 0.999f, (struct sampling){0, 0, 1}), 0);
        CHECK_INT(drawn(b, x, 512, 600, 0.5f, (struct sampling){1, 0, 1}), 256);
        CHECK_INT(drawn(b, x, 600, 600, 0.999f, (struct sampling){1, 300, 1}), 299);
        CHECK_INT(drawn(b, x, 600, 600, 0.999f, (struct sampling){1, 0, 0.5001f}), 300);
        CHECK_INT(drawn(b, x, 600, 600, 0.999f, (struct sampling){1, 10, 0.5f}), 4);
        CHECK_INT(drawn(b, negative, 4, 4, 0.9f, (struct sampling){0, 0, 1}), 1);
        CHECK_INT(drawn(b, negative, 4, 4, 0.9999f, (struct sampling){1, 2, 1}), 2);
        CHECK_INT(drawn(b, negative, 4, 4, 0.9999f, (struct sampling){1, 3, 1}), 3);
    }
}

/* The same draws as ref over a large vocabulary, away from the edges of its ids. */
static void draws_agree_with_ref(void)
{
    enum { VOCAB = 3000 };
    static const struct sampling ways[] = {{1, 0, 1},         {0.7f, 0, 1},
                                           {1, 50, 1},        {1, 0, 0.9f},
                                           {0.6f, 20, 0.95f}, {1.3f, 700, 0.7f}};
    float *x = fill_new(VOCAB, 3);

    for (int j = 0; j < VOCAB; j++)
        x[j] *= 12;
    EACH(b)
    {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            for (int k = 0; k < 40; k++) {
                float u = (fill_at(9, (uint64_t)k) + 1) / 2;

                CHECK_INT(drawn(b, x, VOCAB, VOCAB, u, ways[i]),
                          drawn(&backend_ref, x, VOCAB, VOCAB, u, ways[i]));
            }
        }
    }
    free(x);
}

/* Chi-square of 20,000 draws from 8 ids: 7 degrees, 1 in 100,000 exceeds 36. */
static void frequencies_are_the_probabilities(void)
{
    enum { VOCAB = 8, DRAWS = 20000 };
    float *x = fill_new(VOCAB, 4);
    double p[VOCAB], total = 0, chi = 0;
    int seen[VOCAB] = {0};

    for (int j = 0; j < VOCAB; j++)
        total += p[j] = exp((double)x[j]);
    for (int k = 0; k < DRAWS; k++)
        seen[drawn(&backend_cpu, x, VOCAB, VOCAB, (fill_at(8, (uint64_t)k) + 1) / 2,
                   (struct sampling){1, 0, 1})]++;
    for (int j = 0; j < VOCAB; j++) {
        double want = DRAWS * p[j] / total;

        chi += (seen[j] - want) * (seen[j] - want) / want;
    }
    CHECK(chi < 36);
    free(x);
}

/* Logits that are masked (-inf) are never drawn; nothing to draw from shows as NaN, in
 * its own row only. */
static void odd_logits(void)
{
    static const struct sampling ways[] = {{1, 0, 1}, {1, 3, 0.9999f}, {0, 0, 1}};

    EACH(b)
    {
        float x[] = {-INFINITY, 1, -INFINITY, -INFINITY, 0, 9,
                     NAN,       0, 3,         INFINITY,  0, 0};
        float u[] = {0.99999994f, 0.5f, 0}, logp[3];
        int ids[3];
        struct fault f = FAULT_INIT;

        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            CHECK_INT(drawn(b, x, 4, 4, 0, ways[i]), 1);
            CHECK_OK(b->sample(ids, logp, x, u, 3, 4, 4, &ways[i], 1, &f), &f);
            CHECK_INT(ids[0], 1);
            CHECK_NEAR((double)logp[0], 0, 0);
            CHECK(isnan(logp[1]) && isnan(logp[2]));
            CHECK(ids[1] >= 0 && ids[1] < 4 && ids[2] >= 0 && ids[2] < 4);
        }
    }
}

/* Invariant 4: a row's draw and log-probability are the same bits in any company. */
static void inv4_vocab_rows_do_not_depend_on_company(void)
{
    enum { ROWS = 9, VOCAB = 1000 };
    float *x = fill_new(ROWS * VOCAB, 6), u[ROWS], logp[ROWS], one;
    int ids[ROWS], id;
    struct sampling s = {0.8f, 100, 0.9f};
    struct fault f = FAULT_INIT;

    for (int r = 0; r < ROWS; r++)
        u[r] = (fill_at(7, (uint64_t)r) + 1) / 2;
    CHECK_OK(backend_cpu.sample(ids, logp, x, u, ROWS, VOCAB, VOCAB, &s, 1, &f), &f);
    for (int r = 0; r < ROWS; r++) {
        CHECK_OK(backend_cpu.sample(&id, &one, x + r * VOCAB, u + r, 1, VOCAB, VOCAB,
                                    &s, 1, &f),
                 &f);
        CHECK_INT(id, ids[r]);
        CHECK(!memcmp(&one, &logp[r], sizeof one));
    }
    free(x);
}

CASES(CASE(logprob_by_hand), CASE(logprob_slope_by_hand), CASE(logprob_agrees_with_ref),
      CASE(logprob_slope_is_the_difference), CASE(draws_by_hand),
      CASE(ties_go_to_lower_ids), CASE(draws_agree_with_ref),
      CASE(frequencies_are_the_probabilities), CASE(odd_logits),
      CASE(inv4_vocab_rows_do_not_depend_on_company));
