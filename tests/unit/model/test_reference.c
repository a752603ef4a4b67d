/* test_reference.c - against transformers (tests/ref/make_models.py) and against the
 * float64 forward of a real trained model. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/model.h"
#include "model/safetensors.h"

static const char *const names[] = {"qwen2", "qwen3", "llama"};
enum { PADDED = 5, SEQS = 3, ROWS = 27 };

/* -- the reference file --------------------------------------------------------------
 */

struct reference {
    struct st_file *file;
    int n; /* log-probs */
    int ids[ROWS], start[SEQS + 1], at[ROWS], target[ROWS];
    float coef[ROWS], logp[ROWS], entropy[ROWS];
    float *logits; /* [ROWS][vocab] */
};

/* The tensor `name`; its length must be `n`, or anything if n is 0. */
static float *fetch(const struct st_file *file, const char *name, size_t n)
{
    struct fault f = FAULT_INIT;
    const struct st_tensor *t = st_find(file, name);
    float *x;

    if (!t || (n && t->values != n)) {
        fprintf(stderr, "%s: no %s of %zu values\n", st_path(file), name, n);
        exit(1);
    }
    x = mem_new(t->values, sizeof *x, name, &f);
    CHECK_OK(st_read(file, t, x, &f), &f);
    return x;
}

static void fetch_floats(const struct st_file *file, const char *name, float *out,
                         size_t n)
{
    float *x = fetch(file, name, n);

    memcpy(out, x, n * sizeof *x);
    free(x);
}

static void fetch_ints(const struct st_file *file, const char *name, int *out, size_t n)
{
    float *x = fetch(file, name, n);

    for (size_t i = 0; i < n; i++)
        out[i] = (int)x[i];
    free(x);
}

static void reference_open(struct reference *r, const char *name, int vocab)
{
    char path[128];
    struct fault f = FAULT_INIT;
    size_t n;

    snprintf(path, sizeof path, "tests/ref/models/%s/ref.safetensors", name);
    CHECK_OK(st_open(&r->file, path, &f), &f);
    n = st_find(r->file, "at")->values;
    r->n = (int)n;
    fetch_ints(r->file, "ids", r->ids, ROWS);
    fetch_ints(r->file, "start", r->start, SEQS + 1);
    fetch_ints(r->file, "at", r->at, n);
    fetch_ints(r->file, "target", r->target, n);
    fetch_floats(r->file, "coef", r->coef, n);
    fetch_floats(r->file, "logp", r->logp, n);
    fetch_floats(r->file, "entropy", r->entropy, n);
    r->logits = fetch(r->file, "logits", (size_t)ROWS * (size_t)vocab);
}

static void reference_close(struct reference *r)
{
    st_close(r->file);
    free(r->logits);
}

/* -- comparisons ---------------------------------------------------------------------
 */

/* |got - want| over the root mean square of want: at its largest for f32; its root mean
 * square for bf16, where single values may be far off. */
static double off_by(const float *got, const float *want, size_t n,
                     enum compute compute)
{
    double most = 0, squares = 0, wanted = 1e-30;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - (double)want[i]);

        most = d > most || isnan(d) ? d : most;
        squares += d * d;
        wanted += (double)want[i] * (double)want[i];
    }
    return compute == COMPUTE_F32 ? most / sqrt(wanted / (double)n)
                                  : sqrt(squares / wanted);
}

static void slope(void *ctx, int first, int n, const float *logp, const float *entropy,
                  float *dlogp)
{
    const struct reference *r = ctx;

    (void)logp;
    (void)entropy;
    memcpy(dlogp, r->coef + first, (size_t)n * sizeof *dlogp);
}

static void check_gradient(struct model *m, const struct reference *r,
                           enum compute compute, double within)
{
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t = model_tensors(m, &n);
    const float *grad = model_grad(m, &f);

    for (int i = 0; i < n; i++) {
        char name[128];
        size_t values = (size_t)t[i].rows * (size_t)t[i].cols;
        float *want;
        double off;

        snprintf(name, sizeof name, "grad.%s", t[i].name);
        want = fetch(r->file, name, values);
        off = off_by(grad + t[i].first, want, values, compute);
        if (!(off <= within))
            fprintf(stderr, "%s is off by %g\n", name, off);
        CHECK(off <= within);
        free(want);
    }
}

static void check_logits(struct model *m, const struct reference *r,
                         enum compute compute, double within)
{
    int first[SEQS], seq[ROWS], pos[ROWS], all[ROWS], vocab = model_cfg(m)->vocab;
    struct attend_rows rows = {ROWS, seq, pos, {2 * KV_PAGE, 1, first}};
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;
    float *logits;

    CHECK_OK(kv_new(&kv, m, 2 * SEQS, &f), &f);
    for (int s = 0; s < SEQS; s++) {
        first[s] = 2 * s * KV_PAGE;
        for (int i = r->start[s]; i < r->start[s + 1]; i++) {
            seq[i] = s;
            pos[i] = i - r->start[s];
            all[i] = i;
        }
    }
    CHECK_OK(model_step(m, kv, r->ids, &rows, all, ROWS, &logits, &f), &f);
    CHECK_NEAR(off_by(logits, r->logits, (size_t)ROWS * (size_t)vocab, compute), 0,
               within);
    kv_free(kv);
}

static void check_model(const char *name, const struct backend *be,
                        enum compute compute, double within)
{
    char dir[128];
    struct fault f = FAULT_INIT;
    struct model *m = NULL;
    struct reference r = {0};
    float logp[ROWS], entropy[ROWS];

    snprintf(dir, sizeof dir, "tests/ref/models/%s", name);
    CHECK_OK(be->open(0, 1, &f), &f);
    CHECK_OK(model_open(&m, dir, be, compute, 48 - PADDED, &f), &f);
    if (!m)
        return;
    reference_open(&r, name, model_cfg(m)->vocab);
    check_logits(m, &r, compute, within);
    CHECK_OK(model_forward(m, &(struct pack){ROWS, SEQS, r.ids, r.start}, &f), &f);
    CHECK_OK(model_grad_zero(m, &f), &f);
    CHECK_OK(model_head(m, r.at, r.target, r.n, 0.8f, logp, entropy, slope, &r, &f),
             &f);
    CHECK_OK(model_backward(m, &f), &f);
    CHECK_NEAR(off_by(logp, r.logp, (size_t)r.n, compute), 0, within);
    CHECK_NEAR(off_by(entropy, r.entropy, (size_t)r.n, compute), 0, within);
    check_gradient(m, &r, compute, 3 * within);
    reference_close(&r);
    model_free(m);
}

static void transformers_f32(void)
{
    for (int i = 0; i < 3; i++) {
        check_model(names[i], &backend_ref, COMPUTE_F32, 1e-5);
        check_model(names[i], &backend_cpu, COMPUTE_F32, 1e-5);
    }
}

/* Products of 8-bit mantissas: 2^-8 each, a few layers deep. */
static void transformers_bf16(void)
{
    for (int i = 0; i < 3; i++)
        check_model(names[i], &backend_cpu, COMPUTE_BF16, 0.02);
}

/* -- a real model ---------------------------------------------------------------------
 */

static json_t *golden_open(const char *dir)
{
    char path[600];
    json_t *g;

    snprintf(path, sizeof path, "%s/weights/stories260K/golden.json", dir);
    g = json_load_file(path, 0, NULL);
    CHECK(g != NULL);
    return g;
}

static double number_at(const json_t *g, const char *key, int i)
{
    return json_number_value(json_array_get(json_object_get(g, key), (size_t)i));
}

static int likeliest(const float *x, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

/* Prefill the prompt, compare its logits, then 48 greedy tokens. */
static void greedy(struct model *m, struct kv *kv, const json_t *g)
{
    int n_prompt = (int)json_array_size(json_object_get(g, "prompt_ids"));
    int ids[64], seq[64] = {0}, pos[64], first = 0, vocab = model_cfg(m)->vocab, last;
    struct attend_rows r = {n_prompt, seq, pos, {8 * KV_PAGE, 1, &first}};
    struct fault f = FAULT_INIT;
    float *logits, logp;

    for (int i = 0; i < n_prompt; i++) {
        ids[i] = (int)number_at(g, "prompt_ids", i);
        pos[i] = i;
    }
    last = n_prompt - 1;
    CHECK_OK(model_step(m, kv, ids, &r, &last, 1, &logits, &f), &f);
    for (int j = 0; j < vocab; j++)
        CHECK_NEAR((double)logits[j], number_at(g, "logits_after_prompt", j), 1e-4);
    r.rows = 1;
    last = 0;
    for (int i = 0; i < 48; i++) {
        int id = likeliest(logits, vocab);

        CHECK_INT(id, (int)number_at(g, "greedy_ids", i));
        CHECK_OK(model_backend(m)->logprob(&logp, NULL, NULL, logits, &id, 1, vocab,
                                           vocab, 1, &f),
                 &f);
        CHECK_NEAR((double)logp, number_at(g, "greedy_logprobs", i), 1e-4);
        pos[0] = n_prompt + i;
        CHECK_OK(model_step(m, kv, &id, &r, &last, 1, &logits, &f), &f);
    }
}

static void stories260k_golden(void)
{
    const char *data = check_data();
    char dir[600];
    struct fault f = FAULT_INIT;

    if (!data)
        return;
    snprintf(dir, sizeof dir, "%s/weights/stories260K", data);
    for (int b = 0; backend_list[b]; b++) {
        struct model *m = NULL;
        struct kv *kv = NULL;
        json_t *g = golden_open(data);

        CHECK_OK(backend_list[b]->open(0, 1, &f), &f);
        CHECK_OK(model_open(&m, dir, backend_list[b], COMPUTE_F32, 0, &f), &f);
        CHECK_OK(kv_new(&kv, m, 8, &f), &f);
        greedy(m, kv, g);
        kv_free(kv);
        model_free(m);
        json_decref(g);
    }
}

CASES(CASE(transformers_f32), CASE(transformers_bf16), CASE(stories260k_golden));
