/* tiny.h - small models of each architecture for the tests. */
#ifndef DAPO_TEST_TINY_H
#define DAPO_TEST_TINY_H

#include <stdio.h>

#include "check.h"
#include "dapo/model.h"

/* Two or three layers, 4 heads on 2; awkward widths; rope scaling and biases that the
 * architecture allows are on. */
static inline struct model_config tiny_config(enum arch arch)
{
    struct model_config c = {
        .arch = arch,
        .vocab = 61,
        .dim = 24,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .head_dim = 6,
        .ffn = 40,
        .max_position = 512,
        .norm_eps = 1e-6f,
        .rope_theta = 10000,
        .tied = arch == ARCH_QWEN2,
        .qkv_bias = arch == ARCH_QWEN2 || arch == ARCH_LLAMA,
        .out_bias = arch == ARCH_LLAMA,
        .mlp_bias = arch == ARCH_LLAMA,
        .qk_norm = arch == ARCH_QWEN3 || arch == ARCH_QWEN35,
        .n_stop = 2,
        .stop = {2, 5},
    };

    if (arch == ARCH_QWEN35) {
        c.layers = 3; /* softmax attention between linear ones */
        model_set_linear(&c, 0);
        model_set_linear(&c, 2);
        c.gated = c.centred = true;
        c.rotary = 4;
        c.delta = (struct delta_heads){2, 4, 5, 3};
        c.kernel = 4;
        c.norm_eps = 1e-3f; /* see the norm of the delta rule's output */
    }
    if (arch == ARCH_QWEN3 || arch == ARCH_QWEN35)
        c.head_dim = 10; /* heads * head_dim != dim */
    if (arch == ARCH_LLAMA)
        c.rope = (struct rope_scaling){ROPE_LLAMA3, 8, 1, 4, 64, 0, false};
    return c;
}

/* Weights large enough that attention and activations are not nearly linear, and no
 * norm or bias at its neutral value. */
static inline struct model *tiny_model(enum arch arch, const struct backend *be,
                                       enum compute compute, int real_vocab)
{
    struct model_config c = tiny_config(arch);
    struct fault f = FAULT_INIT;
    struct model *m = NULL;
    float *p;
    int n;
    const struct model_tensor *t;

    CHECK_OK(be->open(0, 1, &f), &f);
    CHECK_OK(model_random(&m, &c, be, compute, real_vocab, 7, &f), &f);
    if (!m)
        return NULL;
    p = model_params(m);
    t = model_tensors(m, &n);
    for (int i = 0; i < n; i++)
        for (size_t e = 0; e < (size_t)t[i].rows * (size_t)t[i].cols; e++)
            if (t[i].vector)
                p[t[i].first + e] += 0.1f * (float)((int)(e * 7 % 11) - 5);
            else
                p[t[i].first + e] *= 12;
    CHECK_OK(model_refresh(m, &f), &f);
    return m;
}

/* Give it an adapter of rank 3 on all matrices, or on some of them, none of whose
 * values is zero. */
static inline void tiny_adapter_of(struct model *m, int rank, const char *targets)
{
    struct lora_config c = {.rank = rank, .alpha = 1.5 * rank};
    struct fault f = FAULT_INIT;
    int n;
    const struct model_tensor *t;

    snprintf(c.targets, sizeof c.targets, "%s", targets);
    CHECK_OK(model_lora(m, &c, 11, &f), &f);
    t = model_tensors(m, &n);
    for (int i = 1; i < n; i += 2) /* B; A is drawn */
        for (size_t e = 0; e < (size_t)t[i].rows * (size_t)t[i].cols; e++)
            model_params(m)[t[i].first + e] =
                0.05f * (float)((int)(e * 13 % 17) - 8 + (e % 2 == 0));
    CHECK_OK(model_refresh(m, &f), &f);
}

static inline void tiny_adapter(struct model *m, const char *targets)
{
    tiny_adapter_of(m, 3, targets);
}

#endif
