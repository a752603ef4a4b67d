/* test_grad.c - gradients against finite differences, and that cutting does not change
 * them (invariant 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "tiny.h"

enum { ROWS = 300, REAL = 53 };

/* Three sequences in one pack; log-probs of every token that follows another. */
struct task {
    int rows, n_seq, n;
    int ids[ROWS], start[4], at[ROWS], next[ROWS];
    float coef[ROWS];
};

static struct task make_task(const int *lengths, int n_seq)
{
    struct task t = {.n_seq = n_seq};

    for (int s = 0; s < n_seq; s++) {
        for (int i = 0; i < lengths[s]; i++, t.rows++) {
            t.ids[t.rows] = (i * i * 5 + i * 11 + lengths[s] * 3) % REAL;
            if (i == 0)
                continue;
            t.at[t.n] = t.rows - 1;
            t.next[t.n] = t.ids[t.rows];
            t.coef[t.n++] = (float)((i * 3 + lengths[s]) % 7 - 3) / 3.0f;
        }
        t.start[s + 1] = t.rows;
    }
    return t;
}

static void slope(void *ctx, int first, int n, const float *logp, const float *entropy,
                  float *dlogp)
{
    const float *coef = ctx;

    (void)logp;
    (void)entropy;
    memcpy(dlogp, coef + first, (size_t)n * sizeof *dlogp);
}

static void forward(struct model *m, const struct task *t)
{
    struct fault f = FAULT_INIT;

    CHECK_OK(model_forward(m, &(struct pack){t->rows, t->n_seq, t->ids, t->start}, &f),
             &f);
}

static double loss(struct model *m, const struct task *t)
{
    struct fault f = FAULT_INIT;
    float logp[ROWS];
    double sum = 0;

    CHECK_OK(model_refresh(m, &f), &f);
    forward(m, t);
    CHECK_OK(model_head(m, t->at, t->next, t->n, 0.7f, logp, NULL, NULL, NULL, &f), &f);
    for (int i = 0; i < t->n; i++)
        sum += (double)t->coef[i] * (double)logp[i];
    return sum;
}

/* Adds the gradient of `t`, in `parts` calls of model_head. */
static void add_gradient(struct model *m, struct task *t, int parts)
{
    struct fault f = FAULT_INIT;

    forward(m, t);
    for (int k = 0; k < parts; k++) {
        int lo = t->n * k / parts, n = t->n * (k + 1) / parts - lo;

        CHECK_OK(model_head(m, t->at + lo, t->next + lo, n, 0.7f, NULL, NULL, slope,
                            t->coef + lo, &f),
                 &f);
    }
    CHECK_OK(model_backward(m, &f), &f);
}

/* -- finite differences ---------------------------------------------------------------
 */

/* Slope of the loss along `d`, by the five-point rule. */
static double along(struct model *m, const struct task *t, size_t first, const float *d,
                    size_t n, float h)
{
    float *p = model_params(m) + first, *keep;
    struct fault f = FAULT_INIT;
    static const float at[4] = {-2, -1, 1, 2};
    static const double weight[4] = {1, -8, 8, -1};
    double sum = 0;

    keep = mem_new(n, sizeof *keep, "values", &f);
    memcpy(keep, p, n * sizeof *p);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < n; i++)
            p[i] = keep[i] + at[k] * h * d[i];
        sum += weight[k] * loss(m, t);
    }
    memcpy(p, keep, n * sizeof *p);
    free(keep);
    return sum / (12 * (double)h);
}

static double norm(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Between the rounding of an f32 forward (from 0.002 down) and the next term of the
 * rule (from 0.006 up). */
static const float STEP = 0.003f;
/* With linear attention some gradients are small beside the rounding. */
static const float LINEAR_STEP = 0.008f;

/* Along the gradient itself, where the slope is its norm, and along signs that have
 * nothing to do with it. */
static void check_tensor(struct model *m, const struct task *t,
                         const struct model_tensor *x, const float *grad)
{
    size_t n = (size_t)x->rows * (size_t)x->cols;
    struct fault f = FAULT_INIT;
    float *d = mem_new(n, sizeof *d, "a direction", &f);
    double g = norm(grad, n), want = 0;
    bool linear = model_n_linear(model_cfg(m)) > 0;
    float step = linear ? LINEAR_STEP : STEP;
    double within = linear ? 1e-2 : 2e-3;

    CHECK(g > 1e-3);
    for (size_t i = 0; i < n; i++)
        d[i] = (float)((double)grad[i] / g);
    CHECK_NEAR(along(m, t, x->first, d, n, step) / g, 1, within);
    for (size_t i = 0; i < n; i++) {
        d[i] = (i * 2654435761u >> 13 & 1 ? 1.0f : -1.0f) / sqrtf((float)n);
        want += (double)d[i] * (double)grad[i];
    }
    CHECK_NEAR(along(m, t, x->first, d, n, step) / g, want / g, within);
    free(d);
}

static void differences_of(struct model *m)
{
    struct fault f = FAULT_INIT;
    struct task t = make_task((const int[]){9, 1, 4}, 3);
    const struct model_tensor *x;
    float *grad;
    int n;

    CHECK_OK(model_grad_zero(m, &f), &f);
    add_gradient(m, &t, 1);
    grad = mem_new(model_n_params(m), sizeof *grad, "the gradient", &f);
    memcpy(grad, model_grad(m, &f), model_n_params(m) * sizeof *grad);
    x = model_tensors(m, &n);
    for (int i = 0; i < n; i++)
        check_tensor(m, &t, &x[i], grad + x[i].first);
    free(grad);
    model_free(m);
}

static void finite_differences(enum arch arch)
{
    differences_of(tiny_model(arch, &backend_ref, COMPUTE_F32, REAL));
}

static void qwen2_finite_differences(void)
{
    finite_differences(ARCH_QWEN2);
}

static void qwen3_finite_differences(void)
{
    finite_differences(ARCH_QWEN3);
}

static void llama_finite_differences(void)
{
    finite_differences(ARCH_LLAMA);
}

static void qwen35_finite_differences(void)
{
    finite_differences(ARCH_QWEN35);
}

/* Of A and B, straight through the merged matrices. */
static void adapter_finite_differences(void)
{
    static const char *const targets[] = {"all", "q_proj,up_proj",
                                          "o_proj mlp.down_proj", "all"};

    for (int arch = ARCH_QWEN2; arch <= ARCH_QWEN35; arch++) {
        struct model *m = tiny_model((enum arch)arch, &backend_ref, COMPUTE_F32, REAL);

        tiny_adapter(m, targets[arch]);
        differences_of(m);
    }
}

/* Of a matrix with fewer rows than the rank, beside one with more. */
static void wide_adapter_finite_differences(void)
{
    struct model *m = tiny_model(ARCH_QWEN35, &backend_cpu, COMPUTE_F32, REAL);
    int n;

    tiny_adapter_of(m, 7, "in_proj_a,in_proj_b,out_proj");
    CHECK(model_tensors(m, &n)[1].rows < 7);
    differences_of(m);
}

/* -- cutting --------------------------------------------------------------------------
 */

static float *copy_gradient(struct model *m)
{
    struct fault f = FAULT_INIT;
    float *g = mem_new(model_n_params(m), sizeof *g, "the gradient", &f);

    memcpy(g, model_grad(m, &f), model_n_params(m) * sizeof *g);
    CHECK_OK(model_grad_zero(m, &f), &f);
    return g;
}

static double distance(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum) / norm(a, n);
}

static void packing(bool adapter)
{
    static const int lengths[3] = {150, 23, 110};

    for (int arch = ARCH_QWEN2; arch <= ARCH_QWEN35; arch++) {
        struct model *m = tiny_model((enum arch)arch, &backend_cpu, COMPUTE_F32, REAL);
        struct task all = make_task(lengths, 3), empty = make_task(lengths, 0);
        struct task turned = make_task((const int[]){23, 110, 150}, 3);
        struct fault f = FAULT_INIT;
        float *a, *b;
        size_t n;

        if (adapter)
            tiny_adapter(m, "all");
        n = model_n_params(m);
        CHECK_OK(model_grad_zero(m, &f), &f);
        add_gradient(m, &all, 1);
        a = copy_gradient(m);
        add_gradient(m, &turned, 3);
        b = copy_gradient(m);
        CHECK_NEAR(distance(a, b, n), 0, 1e-6);
        free(b);
        for (int s = 0; s < 3; s++) {
            struct task one = make_task(lengths + s, 1);

            add_gradient(m, &one, 1);
            add_gradient(m, &empty, 1);
        }
        b = copy_gradient(m);
        CHECK_NEAR(distance(a, b, n), 0, 1e-6);
        free(a);
        free(b);
        model_free(m);
    }
}

static void invariant_3_packing(void)
{
    packing(false);
}

static void invariant_3_packing_with_an_adapter(void)
{
    packing(true);
}

/* The same rows in two calls of the head, with weights that sum to the first's. */
static void heads_of_the_same_rows_add_up(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, REAL);
    struct task t = make_task((const int[]){40}, 1);
    struct fault f = FAULT_INIT;
    float *a, *b, part[2][ROWS];

    CHECK_OK(model_grad_zero(m, &f), &f);
    add_gradient(m, &t, 1);
    a = copy_gradient(m);
    for (int i = 0; i < t.n; i++) {
        part[0][i] = 0.75f * t.coef[i];
        part[1][i] = 0.25f * t.coef[i];
    }
    forward(m, &t);
    for (int k = 0; k < 2; k++)
        CHECK_OK(model_head(m, t.at, t.next, t.n, 0.7f, NULL, NULL, slope, part[k], &f),
                 &f);
    CHECK_OK(model_backward(m, &f), &f);
    b = copy_gradient(m);
    CHECK_NEAR(distance(a, b, model_n_params(m)), 0, 1e-6);
    free(a);
    free(b);
    model_free(m);
}

/* -- the head -------------------------------------------------------------------------
 */

/* Entropy and log-probs of all tokens after one row, at temperature 1. */
static void top_is_sorted_log_softmax(void)
{
    struct model *m = tiny_model(ARCH_QWEN3, &backend_cpu, COMPUTE_F32, REAL);
    struct task t = make_task((const int[]){12}, 1);
    int ids[REAL], at[REAL], all[REAL];
    float logp[REAL], each[REAL], entropy[REAL];
    struct fault f = FAULT_INIT;
    double sum = 0, h = 0;

    forward(m, &t);
    for (int i = 0; i < REAL; i++) {
        at[i] = 7;
        all[i] = i;
    }
    CHECK_OK(model_head(m, at, all, REAL, 1, each, entropy, NULL, NULL, &f), &f);
    CHECK_OK(model_top(m, 7, REAL, ids, logp, &f), &f);
    for (int i = 0; i < REAL; i++) {
        CHECK(logp[i] == each[ids[i]]);
        CHECK(i == 0 || logp[i] <= logp[i - 1]);
        sum += exp((double)logp[i]);
        h -= exp((double)logp[i]) * (double)logp[i];
    }
    CHECK_NEAR(sum, 1, 1e-5);
    CHECK_NEAR((double)entropy[0], h, 1e-5);
    CHECK_INT(model_top(m, 7, REAL + 1, ids, logp, &f), FAULT_CONFIG);
    CHECK_INT(model_top(m, 12, 1, ids, logp, &f), FAULT_BUG);
    model_free(m);
}

static void wrong_calls_are_faults(void)
{
    struct model *m = tiny_model(ARCH_LLAMA, &backend_cpu, COMPUTE_F32, REAL);
    int ids[600] = {0}, bad = REAL, row = 4, zero = 0, first = 0;
    struct task t = make_task((const int[]){4}, 1);
    struct attend_rows r = {1, &zero, &zero, {KV_PAGE, 1, &first, NULL}};
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;
    float *logits, logp;

    CHECK_INT(model_forward(m, &(struct pack){1, 1, &bad, (const int[]){0, 1}}, &f),
              FAULT_DATA);
    CHECK_INT(model_forward(m, &(struct pack){513, 1, ids, (const int[]){0, 513}}, &f),
              FAULT_CONFIG);
    CHECK_INT(model_forward(m, &(struct pack){4, 1, ids, (const int[]){0, 3}}, &f),
              FAULT_BUG);
    forward(m, &t);
    CHECK_INT(model_backward(m, &f), FAULT_BUG);
    CHECK_INT(model_head(m, &row, ids, 1, 1, &logp, NULL, NULL, NULL, &f), FAULT_BUG);
    CHECK_INT(model_head(m, &zero, &bad, 1, 1, &logp, NULL, NULL, NULL, &f),
              FAULT_DATA);
    CHECK_OK(kv_new(&kv, m, 2, 1, &f), &f);
    CHECK_OK(model_step(m, kv, ids, &r, &zero, 1, &logits, &f), &f);
    CHECK_INT(model_step(m, kv, &bad, &r, &zero, 1, &logits, &f), FAULT_DATA);
    first = 2 * KV_PAGE;
    CHECK_INT(model_step(m, kv, ids, &r, &zero, 1, &logits, &f), FAULT_BUG);
    first = 0;
    r.pos = (const int[]){KV_PAGE};
    CHECK_INT(model_step(m, kv, ids, &r, &zero, 1, &logits, &f), FAULT_BUG);
    CHECK_INT(kv_copy(kv, 0, 2, 1, &f), FAULT_BUG);
    CHECK_INT(kv_new(&(struct kv *){NULL}, m, 0, 1, &f), FAULT_CONFIG);
    kv_free(kv);
    model_free(m);
}

CASES(CASE(qwen2_finite_differences), CASE(qwen3_finite_differences),
      CASE(llama_finite_differences), CASE(qwen35_finite_differences),
      CASE(adapter_finite_differences), CASE(wide_adapter_finite_differences),
      CASE(invariant_3_packing), CASE(invariant_3_packing_with_an_adapter),
      CASE(heads_of_the_same_rows_add_up), CASE(top_is_sorted_log_softmax),
      CASE(wrong_calls_are_faults));
