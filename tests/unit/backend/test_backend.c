/* test_backend.c - backends by name, and the one that watches another. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "backend/check.h"
#include "check.h"
#include "fill.h"

static void backends_by_name(void)
{
    const struct backend *b;
    struct fault f = FAULT_INIT;

    CHECK_OK(backend_find(&b, "cpu", &f), &f);
    CHECK(b == &backend_cpu);
    CHECK_OK(backend_find(&b, "ref", &f), &f);
    CHECK(b == &backend_ref);
    CHECK_INT(backend_find(&b, "gpu", &f), FAULT_CONFIG);
    CHECK(!b && strstr(f.text, "\"gpu\"") && strstr(f.text, "cpu, ref"));
    CHECK_INT(backend_find(&b, "", &f), FAULT_CONFIG);
    CHECK_INT(backend_find(&b, "check:", &f), FAULT_CONFIG);
    CHECK_INT(backend_find(&b, "check:check:cpu", &f), FAULT_CONFIG);
    CHECK_INT(backend_find(&b, "cuda", &f), FAULT_DEVICE);
    CHECK_INT(backend_find(&b, "check:cuda", &f), FAULT_DEVICE);
}

/* Opening twice is opening once, and a closed backend opens again. */
static void opening_is_idempotent(void)
{
    for (int i = 0; backend_list[i]; i++) {
        const struct backend *b = backend_list[i];
        struct fault f = FAULT_INIT;
        struct weight *w;

        CHECK_OK(b->open(0, 1, &f), &f);
        CHECK_OK(b->open(0, 1, &f), &f);
        b->close();
        CHECK_OK(b->open(0, 1, &f), &f);
        CHECK_OK(b->weight_new(&w, 3, 2, COMPUTE_F32, &f), &f);
        b->weight_free(w);
        b->weight_free(NULL);
        b->free(NULL);
        b->close();
    }
}

static void linear_attention(const struct backend *b, float **a,
                             const struct scan_rows *r, const struct delta_heads *h)
{
    float decay[8], beta[8], *scratch = fill_new(b->delta_scratch(r, h), 0);
    float *d = a[4];
    struct fault f = FAULT_INIT;

    CHECK_OK(b->gate(a[4], a[1], a[2] + 4, 8, 4, 8, &f), &f);
    CHECK_OK(b->gate_back(a[4], a[5] + 4, a[1], a[3], a[2] + 4, 8, 4, 8, &f), &f);
    CHECK_OK(b->conv(a[4], a[1], a[2], a[5], r, 8, 4, &f), &f);
    CHECK_OK(b->conv_back(a[4], a[5], a[1], a[2], a[3], r, 8, 4, &f), &f);
    CHECK_OK(b->conv_back(a[4], NULL, a[1], a[2], a[3], r, 8, 4, &f), &f);
    CHECK_OK(b->delta_gates(decay, beta, a[1], a[2], a[11], a[11], 4, 2, &f), &f);
    CHECK_OK(b->delta_gates_back(a[4], a[5], a[6], NULL, a[1], a[2], decay, beta, a[11],
                                 a[11], 4, 2, &f),
             &f);
    CHECK_OK(b->delta(a[4], a[5], a[1], a[1] + 2, a[1] + 4, 8, decay, beta, r, h, &f),
             &f);
    CHECK_OK(b->delta_back(d, d + 2, d + 4, a[5], a[6], a[2], a[1], a[1] + 2, a[1] + 4,
                           8, decay, beta, r, h, scratch, &f),
             &f);
    free(scratch);
}

/* Every op once, through `b`; the arrays are large enough for each. */
static void every_op(const struct backend *b)
{
    float *a[12], rstd[4], logp[4], entropy[4], lse[4];
    int ids[] = {0, 2, 1, 3}, out[4];
    struct attend_rows r = {.rows = 4,
                            .seq = (int[]){0, 0, 0, 1},
                            .pos = (int[]){0, 1, 2, 0},
                            .map = {INT_MAX, 1, (int[]){0, 3}, NULL}};
    struct heads h = {2, 1, 4, 0.5f};
    struct scan_rows scan = {4, (int[]){0, 0, 0, 1}, (int[]){0, 1, 2, 0}};
    struct delta_heads delta = {1, 2, 2, 2}; /* 2 + 2 + 4 values of 8 in a row */
    struct weight *w;
    double sum;
    struct fault f = FAULT_INIT;

    for (uint64_t i = 0; i < 12; i++)
        a[i] = fill_new(64, i);
    for (int i = 0; i < 64; i++)
        a[11][i] = 1;
    CHECK_OK(b->weight_new(&w, 8, 4, COMPUTE_BF16, &f), &f);
    CHECK_OK(b->weight_set(w, a[0], &f), &f);
    CHECK_OK(b->linear(a[1], a[2], w, 4, &f), &f);
    CHECK_OK(b->linear_dx(a[2], a[1], w, 4, 0, &f), &f);
    CHECK_OK(b->linear_dx(a[2], a[1], w, 4, 1, &f), &f);
    CHECK_OK(b->linear_dw(a[3], a[1], a[2], w, 4, &f), &f);
    CHECK_OK(b->merge(a[1], a[2], a[3], a[4], 0.5f, 8, 4, 2, &f), &f);
    CHECK_OK(b->add(a[1], a[2], 64, &f), &f);
    CHECK_OK(b->scale(a[1], 0.5f, 64, &f), &f);
    CHECK_OK(b->bias(a[1], a[2], 4, 8, &f), &f);
    CHECK_OK(b->bias_back(a[2], a[1], 4, 8, &f), &f);
    CHECK_OK(b->embed(a[1], a[2], ids, 4, 8, &f), &f);
    CHECK_OK(b->embed_back(a[2], a[1], ids, 4, 8, &f), &f);
    CHECK_OK(b->gather(a[1], a[2], ids, 4, 8, &f), &f);
    CHECK_OK(b->scatter(a[2], a[1], ids, 4, 8, 0, &f), &f);
    CHECK_OK(b->rmsnorm(a[1], rstd, a[2], a[3], 4, 8, 1e-6f, &f), &f);
    CHECK_OK(b->rmsnorm(a[1], NULL, a[1], a[3], 4, 8, 1e-6f, &f), &f);
    CHECK_OK(b->rmsnorm_back(a[4], a[5], a[1], a[2], a[3], rstd, 4, 8, 0, &f), &f);
    CHECK_OK(b->rmsnorm_back(a[4], NULL, a[1], a[2], a[3], rstd, 4, 8, 1, &f), &f);
    CHECK_OK(b->rope(a[1], ids, a[11], 1, 4, 2, 4, 2, 1, &f), &f);
    CHECK_OK(b->swiglu(a[1], a[2], a[3], 64, &f), &f);
    CHECK_OK(b->swiglu_back(a[4], a[5], a[1], a[2], a[3], 64, &f), &f);
    linear_attention(b, a, &scan, &delta);
    CHECK_OK(b->attend(a[4], a[5], a[1], a[2], a[3], &r, &h, &f), &f);
    CHECK_OK(b->attend_back(a[6], a[7], a[8], a[9], a[4], a[5], a[1], a[2], a[3], &r,
                            &h, &f),
             &f);
    CHECK_OK(b->logprob(logp, entropy, lse, a[1], ids, 4, 7, 8, 1, &f), &f);
    CHECK_OK(b->sample(out, logp, a[1], (float[]){0, 0.2f, 0.4f, 0.9f}, 4, 7, 8,
                       &(struct sampling){1, 5, 0.9f}, 1, &f),
             &f);
    CHECK_OK(b->logprob_back(a[1], logp, lse, ids, 4, 7, 8, 1, &f), &f);
    CHECK_OK(b->sumsq(&sum, a[1], 64, &f), &f);
    CHECK_OK(
        b->adamw(a[1], a[2], a[11], a[3], 64, 0.1f, 0.9f, 0.99f, 1e-8f, 0, 1, 1, &f),
        &f);
    b->weight_free(w);
    for (int i = 0; i < 12; i++)
        free(a[i]);
}

/* A process may have no rows at all: nothing happens, not even to what lies there. */
static void no_rows(const struct backend *b)
{
    float a[4][64], was[4][64];
    struct scan_rows none = {0, NULL, NULL};
    struct delta_heads h = {1, 2, 2, 2};
    float *scratch = fill_new(b->delta_scratch(&none, &h), 0);
    struct fault f = FAULT_INIT;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 64; j++)
            a[i][j] = was[i][j] = fill_at((uint64_t)i, (uint64_t)j);
    CHECK_OK(b->merge(a[0], a[1], a[2], a[3], 0.5f, 0, 4, 2, &f), &f);
    CHECK_OK(b->scale(a[0], 0.5f, 0, &f), &f);
    CHECK_OK(b->gate(a[0], a[1], a[2], 0, 4, 8, &f), &f);
    CHECK_OK(b->gate_back(a[0], a[1], a[2], a[2], a[3], 0, 4, 8, &f), &f);
    CHECK_OK(b->conv(a[0], a[1], a[2], a[3], &none, 8, 4, &f), &f);
    CHECK_OK(b->conv_back(a[0], a[1], a[2], a[2], a[3], &none, 8, 4, &f), &f);
    CHECK_OK(b->delta_gates(a[0], a[1], a[2], a[2], a[3], a[3], 0, 2, &f), &f);
    CHECK_OK(b->delta_gates_back(a[0], a[0] + 2, a[1], a[1] + 2, a[2], a[2], a[3], a[3],
                                 a[2], a[3], 0, 2, &f),
             &f);
    CHECK_OK(
        b->delta(a[0], a[1], a[2], a[2] + 2, a[2] + 4, 8, a[3], a[3], &none, &h, &f),
        &f);
    CHECK_OK(b->delta_back(a[0], a[0] + 2, a[0] + 4, a[1], a[1] + 2, a[2], a[3],
                           a[3] + 2, a[3] + 4, 8, a[2], a[2], &none, &h, scratch, &f),
             &f);
    CHECK(!memcmp(a, was, sizeof a));
    free(scratch);
}

static void no_rows_is_nothing_to_do(void)
{
    EACH(b)
    {
        no_rows(b);
    }
}

static void check_passes_sound_backends(void)
{
    static const char *const names[] = {"check:ref", "check:cpu"};

    for (int i = 0; i < 2; i++) {
        const struct backend *b;
        struct fault f = FAULT_INIT;
        void *p;
        float x[] = {1, 2}, y[2];

        CHECK_OK(backend_find(&b, names[i], &f), &f);
        CHECK_OK(b->open(0, 1, &f), &f);
        CHECK_INT(backend_find(&b, names[!i], &f),
                  FAULT_CONFIG); /* the first is open */
        CHECK_OK(backend_find(&b, names[i], &f), &f);
        every_op(b);
        no_rows(b);
        CHECK_OK(b->alloc(&p, sizeof x, &f), &f);
        CHECK_OK(b->put(p, x, sizeof x, &f), &f);
        CHECK_OK(b->get(y, p, sizeof y, &f), &f);
        CHECK(!memcmp(x, y, sizeof x));
        CHECK_OK(b->zero(p, sizeof x, &f), &f);
        CHECK_OK(b->sync(&f), &f);
        b->free(p);
        b->close();
    }
}

/* Backends with one bad op each. */
static int forgets_the_last(float *y, const float *x, const int *index, int rows,
                            int cols, struct fault *f)
{
    return backend_ref.gather(y, x, index, rows - 1, cols, f);
}

static int spoils_its_input(float *y, const float *x, size_t n, struct fault *f)
{
    ((float *)(uintptr_t)x)[n - 1] += 1;
    return backend_ref.add(y, x, n - 1, f);
}

static size_t one_value(const struct scan_rows *r, const struct delta_heads *h)
{
    (void)r;
    (void)h;
    return 1;
}

/* As if its work space came full of zeros. */
static int starts_from_its_scratch(float *dq, float *dk, float *dv, float *ddecay,
                                   float *dbeta, const float *d_o, const float *q,
                                   const float *k, const float *v, int stride,
                                   const float *decay, const float *beta,
                                   const struct scan_rows *r,
                                   const struct delta_heads *h, float *scratch,
                                   struct fault *f)
{
    int rc = backend_ref.delta_back(dq, dk, dv, ddecay, dbeta, d_o, q, k, v, stride,
                                    decay, beta, r, h, NULL, f);

    dbeta[0] += scratch[0];
    return rc;
}

static void check_finds_work_space_taken_for_zeros(void)
{
    struct backend bad = backend_ref;
    const struct backend *b;
    struct scan_rows r = {1, (int[]){0}, (int[]){0}};
    struct delta_heads h = {1, 1, 1, 1};
    float in[] = {1, 2, 3, 0.5f, 0.5f, 1}, out[5], scratch[] = {0};
    struct fault f = FAULT_INIT;

    bad.delta_back = starts_from_its_scratch;
    bad.delta_scratch = one_value;
    CHECK_OK(check_wrap(&b, &bad, &f), &f);
    CHECK_INT(b->delta_back(out, out + 1, out + 2, out + 3, out + 4, in + 5, in, in + 1,
                            in + 2, 3, in + 3, in + 4, &r, &h, scratch, &f),
              FAULT_BUG);
    CHECK(strstr(f.text, "delta_back") && strstr(f.text, "dbeta[0]"));
}

static void check_finds_bad_backends(void)
{
    struct backend bad = backend_ref;
    const struct backend *b;
    float x[] = {1, 2, 3, 4}, y[] = {0, 0, 0, 0};
    struct fault f = FAULT_INIT;

    bad.name = "bad";
    bad.gather = forgets_the_last;
    bad.add = spoils_its_input;
    CHECK_OK(check_wrap(&b, &bad, &f), &f);
    CHECK_INT(b->gather(y, x, (int[]){0, 1}, 2, 2, &f), FAULT_BUG);
    CHECK(strstr(f.text, "gather") && strstr(f.text, "y[2]"));
    CHECK_INT(b->add(y, x, 2, &f), FAULT_BUG);
    CHECK(strstr(f.text, "add") && strstr(f.text, "input x"));
    y[0] = y[2] = y[3] = NAN; /* rows of 1 value, 2 apart, of which y[1] is the first */
    y[1] = INFINITY;
    CHECK_OK(b->gate_back(x, y + 1, x + 2, x + 2, x, 1, 1, 2, &f), &f);
    CHECK(isfinite(y[1]) && isnan(y[0]) && isnan(y[2]));
    CHECK_INT(b->gate(x, x + 2, y + 1, 2, 1, 2, &f), FAULT_BUG);
    CHECK(strstr(f.text, "gate") && strstr(f.text, "nan in y[1]"));
    x[1] = INFINITY;
    CHECK_INT(b->swiglu(y, x, x, 2, &f), FAULT_BUG);
    CHECK(strstr(f.text, "inf in y[1]"));
}

CASES(CASE(backends_by_name), CASE(opening_is_idempotent),
      CASE(no_rows_is_nothing_to_do), CASE(check_passes_sound_backends),
      CASE(check_finds_bad_backends), CASE(check_finds_work_space_taken_for_zeros));
