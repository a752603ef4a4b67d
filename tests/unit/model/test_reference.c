/* test_reference.c - against transformers (tests/ref/make_models.py) and against the
 * float64 forward of a real trained model. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static const char *const names[] = {"qwen2", "qwen3", "llama", "qwen35", "qwen35_vl"};

static void check_model(const char *name, const struct backend *be,
                        enum compute compute, double within)
{
    char dir[128];
    struct fault f = FAULT_INIT;
    struct model *m = NULL;

    snprintf(dir, sizeof dir, "tests/ref/models/%s", name);
    CHECK_OK(be->open(0, 1, &f), &f);
    CHECK_OK(model_open(&m, dir, be, compute, 48 - PADDED, &f), &f);
    if (!m)
        return;
    reference_check(m, dir, compute, within);
    model_free(m);
}

/* Linear attention divides by lengths and root mean squares that may be small: rounding
 * grows (in the reference, too: transformers has this rule in float32). */
static double slack(const char *name, double f32_or_bf16)
{
    return strncmp(name, "qwen35", 6) ? 1 : f32_or_bf16;
}

static void transformers_f32(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_model(names[i], &backend_ref, COMPUTE_F32, 1e-5 * slack(names[i], 6));
        check_model(names[i], &backend_cpu, COMPUTE_F32, 1e-5 * slack(names[i], 6));
    }
}

/* Products of 8-bit mantissas: 2^-8 each, a few layers deep. */
static void transformers_bf16(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_model(names[i], &backend_cpu, COMPUTE_BF16, 0.02 * slack(names[i], 5));
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
    struct attend_rows r = {n_prompt, seq, pos, {8 * KV_PAGE, 1, &first, NULL}};
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
        CHECK_OK(kv_new(&kv, m, 8, 1, &f), &f);
        greedy(m, kv, g);
        kv_free(kv);
        model_free(m);
        json_decref(g);
    }
}

CASES(CASE(transformers_f32), CASE(transformers_bf16), CASE(stories260k_golden));
