/* bench_decode.c - batched decoding against the dense products it consists of.
 *
 * For each model and type three blocks alternate: decode iterations of the generator;
 * the same products through op `linear`; the same products by oneDNN itself.  All three
 * walk the same number of weights in the same order, so that a weight is as cold in one
 * as in the others.  Goal: decoding at 50% of oneDNN's rate or more. */
#include "dapo/rollout.h"
#include "measure.h"

enum { SLOTS = 32, GROUP = 8, PROMPT = 32, TOKENS = 128, ITERATIONS = 6 };

static struct rollout *generator_new(struct model *m)
{
    struct fault f = FAULT_INIT;
    struct rollout_config c = {.slots = SLOTS,
                               .max_prompt = PROMPT,
                               .max_tokens = TOKENS,
                               .prefill_chunk = 128,
                               .sampling = {1.0f, 0, 1.0f},
                               .train_temperature = 1.0f,
                               .seed = 1,
                               .use = RANDOM_SAMPLE};
    struct rollout *r;

    if (rollout_new(&r, m, &c, &f))
        give_up("generator", &f);
    return r;
}

static void submit(struct rollout *r, const struct model *m)
{
    struct fault f = FAULT_INIT;
    int ids[PROMPT];

    rollout_begin(r, 1, 0);
    for (int g = 0; g < SLOTS / GROUP; g++) {
        struct group *group;

        for (int i = 0; i < PROMPT; i++)
            ids[i] = (g * PROMPT + i * 7) % model_real_vocab(m);
        group = group_new(g, 0, ids, PROMPT, GROUP, &f);
        if (!group || rollout_submit(r, group, &f))
            give_up("submit", &f);
    }
}

/* The products of an iteration, in its order. */
struct products {
    int n;
    struct dense *library;
    struct weight **own;
    float *x, *y;
    double flops;
};

static void products_new(struct products *p, struct model *m, enum compute type)
{
    struct fault f = FAULT_INIT;
    int tensors, head = 0, widest = 0;
    const struct model_tensor *t = model_tensors(m, &tensors);

    *p = (struct products){.library = calloc((size_t)tensors, sizeof *p->library),
                           .own = calloc((size_t)tensors, sizeof *p->own)};
    /* A tied embedding comes first in the table and last in an iteration. */
    for (int i = 1; i <= tensors; i++) {
        const struct model_tensor *w = &t[i < tensors ? i : head];

        if (w->vector)
            continue;
        if (backend_cpu.weight_new(&p->own[p->n], w->rows, w->cols, type, &f) ||
            backend_cpu.weight_set(p->own[p->n], model_params(m) + w->first, &f))
            give_up("weight", &f);
        p->library[p->n] = dense_new(SLOTS, w->rows, w->cols, type);
        p->flops += dense_flops(&p->library[p->n++]);
        widest = w->rows > widest ? w->rows : widest;
        widest = w->cols > widest ? w->cols : widest;
    }
    p->x = calloc((size_t)widest * SLOTS, sizeof *p->x);
    p->y = calloc((size_t)widest * SLOTS, sizeof *p->y);
    for (int i = 0; i < widest * SLOTS; i++)
        p->x[i] = 0.01f * (float)(i % 17);
}

static void products_free(struct products *p)
{
    for (int i = 0; i < p->n; i++) {
        dense_free(&p->library[i]);
        backend_cpu.weight_free(p->own[i]);
    }
    free(p->library);
    free(p->own);
    free(p->x);
    free(p->y);
}

static double library_seconds(const struct products *p)
{
    double start = clock_cpu();

    for (int k = 0; k < ITERATIONS; k++)
        for (int i = 0; i < p->n; i++)
            dense_run(&p->library[i]);
    return (clock_cpu() - start) / ITERATIONS;
}

static double linear_seconds(const struct products *p)
{
    struct fault f = FAULT_INIT;
    double start = clock_cpu();

    for (int k = 0; k < ITERATIONS; k++)
        for (int i = 0; i < p->n; i++)
            if (backend_cpu.linear(p->y, p->x, p->own[i], SLOTS, &f))
                give_up("linear", &f);
    return (clock_cpu() - start) / ITERATIONS;
}

static double decode_seconds(struct rollout *r)
{
    struct fault f = FAULT_INIT;
    double start = clock_cpu();
    int done;

    if (rollout_slice(r, ITERATIONS, false, &done, &f) || done != ITERATIONS)
        give_up("decode", &f);
    return (clock_cpu() - start) / ITERATIONS;
}

static void bench(const struct model_config *c, enum compute type)
{
    enum { BLOCKS = (TOKENS - 8) / ITERATIONS };
    double own[BLOCKS], linear[BLOCKS], library[BLOCKS], read[BLOCKS], of_library,
        of_op;
    struct model *m = model_for_bench(c, type);
    struct rollout *r = generator_new(m);
    struct products p;
    struct fault f = FAULT_INIT;
    size_t values = model_n_params(m);

    products_new(&p, m, type);
    submit(r, m);
    library_seconds(&p);
    linear_seconds(&p);
    /* The prompts, and the first iterations' making of kernels. */
    if (rollout_slice(r, 6, false, NULL, &f))
        give_up("decode", &f);
    for (int b = 0; b < BLOCKS; b++) {
        library[b] = library_seconds(&p);
        linear[b] = linear_seconds(&p);
        own[b] = decode_seconds(r);
        read[b] = read_seconds(model_params(m), values);
    }
    of_library = median_ratio(library, own, BLOCKS);
    of_op = median_ratio(linear, own, BLOCKS);
    if (type == COMPUTE_F32)
        say_model(m);
    printf("  decode %s, %d slots: %.3f ms an iteration, %.0f tokens/s, %.1f GFLOP/s\n",
           type_name(type), SLOTS, 1e3 * median(own, BLOCKS),
           SLOTS / median(own, BLOCKS), p.flops / median(own, BLOCKS) / 1e9);
    printf("    its products alone: oneDNN %.3f ms (%.1f GFLOP/s), op linear %.3f ms; "
           "reading the masters once: %.1f GB/s\n",
           1e3 * median(library, BLOCKS), p.flops / median(library, BLOCKS) / 1e9,
           1e3 * median(linear, BLOCKS),
           (double)values * sizeof(float) / median(read, BLOCKS) / 1e9);
    printf("    decode at %.0f%% of oneDNN's rate (of op linear's: %.0f%%)\n",
           100 * of_library, 100 * of_op);
    products_free(&p);
    rollout_free(r);
    model_free(m);
}

int main(void)
{
    const struct model_config large = model_30m(), small = model_1m();

    bench(&large, COMPUTE_F32);
    bench(&large, COMPUTE_BF16);
    bench(&small, COMPUTE_F32);
    bench(&small, COMPUTE_BF16);
    backend_cpu.close();
    return 0;
}
