/* test_conv.c - the causal convolution on every backend. */
#include <string.h>

#include "backend/ops.h"
#include "check.h"
#include "fill.h"
#include "scan.h"

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* Kernel 2 over inputs 1, 2, 3 with taps 10 and 1: 1, 12, 23; the state keeps the last.
 */
static void convolution_by_hand(void)
{
    EACH(b)
    {
        const float x[] = {0.1f, 0.2f, 0.3f}, w[] = {10, 1};
        float y[3], state[] = {5};
        struct scan_rows r = {3, (int[]){0, 0, 0}, (int[]){0, 1, 2}};
        struct fault f = FAULT_INIT;

        CHECK_OK(b->conv(y, x, w, state, &r, 1, 2, &f), &f);
        CHECK_NEAR((double)y[0], silu(0.1), 1e-7);
        CHECK_NEAR((double)y[1], silu(1.2), 1e-6);
        CHECK_NEAR((double)y[2], silu(2.3), 1e-6);
        CHECK_NEAR((double)state[0], (double)0.3f, 0);
        r = (struct scan_rows){1, (int[]){0}, (int[]){3}};
        CHECK_OK(b->conv(y, x + 1, w, state, &r, 1, 2, &f), &f);
        CHECK_NEAR((double)y[0], silu(3.2), 1e-6);
    }
}

/* One case of the op: x, y, dy, dx of all rows, w and dw. */
struct conv_case {
    int cols, kernel;
    size_t n, taps;
    float *x, *y, *dy, *dx, *w, *dw;
};

static struct conv_case case_new(const struct sequences *s, int cols, int kernel)
{
    struct conv_case c = {.cols = cols,
                          .kernel = kernel,
                          .n = row_at(s->rows, cols),
                          .taps = row_at(cols, kernel)};

    c.x = fill_new(c.n, 1);
    c.y = fill_new(c.n, 2);
    c.dy = fill_new(c.n, 3);
    c.dx = fill_new(c.n, 4);
    c.w = fill_new(c.taps, 5);
    c.dw = fill_new(c.taps, 6);
    return c;
}

static void case_free(struct conv_case *c)
{
    float *all[] = {c->x, c->y, c->dy, c->dx, c->w, c->dw};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void case_run(const struct backend *b, struct conv_case *c,
                     const struct sequences *s)
{
    struct scan_rows r = training_rows(s);
    struct fault f = FAULT_INIT;

    CHECK_OK(b->conv(c->y, c->x, c->w, NULL, &r, c->cols, c->kernel, &f), &f);
    CHECK_OK(b->conv_back(c->dx, c->dw, c->dy, c->x, c->w, &r, c->cols, c->kernel, &f),
             &f);
}

static const struct {
    int cols, kernel;
} shapes[] = {{1, 1}, {1, 4}, {5, 3}, {16, 2}, {40, 4}, {67, 16}};

static void convolution_agrees_with_ref(void)
{
    struct sequences s = sequences_new((int[]){20, 1, 3, 17, 0});

    EACH(b)
    {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            struct conv_case want = case_new(&s, shapes[i].cols, shapes[i].kernel);
            struct conv_case got = case_new(&s, shapes[i].cols, shapes[i].kernel);
            struct scan_rows r = training_rows(&s);
            struct fault f = FAULT_INIT;

            case_run(&backend_ref, &want, &s);
            case_run(b, &got, &s);
            CHECK_NEAR(fill_gap(got.y, want.y, want.n), 0, 1e-5);
            CHECK_NEAR(fill_gap(got.dx, want.dx, want.n), 0, 1e-5);
            CHECK_NEAR(fill_gap(got.dw, want.dw, want.taps), 0, 1e-5);
            memset(got.dx, 0, got.n * sizeof *got.dx);
            CHECK_OK(b->conv_back(got.dx, NULL, got.dy, got.x, got.w, &r, got.cols,
                                  got.kernel, &f),
                     &f);
            CHECK_NEAR(fill_gap(got.dx, want.dx, want.n), 0, 1e-5);
            case_free(&want);
            case_free(&got);
        }
    }
}

static double loss(const struct conv_case *c, const struct sequences *s)
{
    struct scan_rows r = training_rows(s);
    struct fault f = FAULT_INIT;
    double sum = 0;

    CHECK_OK(backend_ref.conv(c->y, c->x, c->w, NULL, &r, c->cols, c->kernel, &f), &f);
    for (size_t i = 0; i < c->n; i++)
        sum += (double)c->dy[i] * (double)c->y[i];
    return sum;
}

static void gradients_are_the_differences(void)
{
    struct sequences s = sequences_new((int[]){5, 1, 3, 0});
    struct conv_case c = case_new(&s, 3, 4);
    const float h = 1.0f / 256;

    memset(c.dw, 0, c.taps * sizeof *c.dw);
    case_run(&backend_ref, &c, &s);
    for (size_t i = 0; i < c.n + c.taps; i++) {
        float *at = i < c.n ? c.x + i : c.w + i - c.n, keep = *at;
        double up, down;

        *at = keep + h;
        up = loss(&c, &s);
        *at = keep - h;
        down = loss(&c, &s);
        *at = keep;
        CHECK_NEAR((double)(i < c.n ? c.dx[i] : c.dw[i - c.n]),
                   (up - down) / (2 * (double)h), 2e-4);
    }
    case_free(&c);
}

/* Invariant 4: all rows of a sequence together, and calls of a few rows in which the
 * sequences are mixed, into slots that hold what others left. */
static void inv4_rows_do_not_depend_on_the_cut(void)
{
    struct sequences s = sequences_new((int[]){20, 1, 3, 17, 0});

    EACH(b)
    {
        for (int cut = 1; cut < 64; cut = cut * 2 + 1) {
            struct conv_case c = case_new(&s, 40, 4);
            float *state = fill_new(row_at(s.n, 3 * 40), 9), x[64 * 40], y[64 * 40];
            struct fault f = FAULT_INIT;

            case_run(b, &c, &s);
            for (int i = 0, n; i < s.rows; i += n) {
                struct scan_rows r;

                n = s.rows - i < cut ? s.rows - i : cut;
                r = mixed_rows(&s, i, n);
                for (int k = 0; k < n; k++)
                    memcpy(x + k * 40, c.x + row_at(s.mixed[i + k], 40),
                           40 * sizeof *x);
                CHECK_OK(b->conv(y, x, c.w, state, &r, 40, 4, &f), &f);
                for (int k = 0; k < n; k++)
                    CHECK(!memcmp(y + k * 40, c.y + row_at(s.mixed[i + k], 40),
                                  40 * sizeof *y));
            }
            free(state);
            case_free(&c);
        }
    }
}

/* Two sequences in the same slot, one after the other in a call. */
static void a_slot_starts_again_at_position_0(void)
{
    struct sequences s = sequences_new((int[]){5, 6, 0}), same = s;

    memset(same.slot, 0, sizeof same.slot);
    EACH(b)
    {
        struct conv_case want = case_new(&s, 20, 4), got = case_new(&s, 20, 4);

        case_run(b, &want, &s);
        case_run(b, &got, &same);
        CHECK(!memcmp(got.y, want.y, want.n * sizeof *want.y));
        CHECK(!memcmp(got.dx, want.dx, want.n * sizeof *want.dx));
        CHECK(!memcmp(got.dw, want.dw, want.taps * sizeof *want.dw));
        case_free(&want);
        case_free(&got);
    }
}

CASES(CASE(convolution_by_hand), CASE(convolution_agrees_with_ref),
      CASE(gradients_are_the_differences), CASE(inv4_rows_do_not_depend_on_the_cut),
      CASE(a_slot_starts_again_at_position_0));
