/* bench_train.c - a training step against oneDNN's f32 products at 512 rows.
 *
 * The step is a whole update on one rank: forward, loss, backward, norm of the
 * gradient, AdamW, packing the new weights.  Its rate counts 6 N T operations for N
 * parameters and T tokens (a product forward, two backward), so attention and the
 * optimizer count for nothing.  Blocks of the library's products alternate with the
 * steps. Goal: 40% or more.
 *
 * Then a step of the same model with an adapter of rank 16 on every matrix, in turn
 * with whole steps: how much of the time, and of the memory that learning adds, is
 * left. */
#include "dapo/learner.h"
#include "measure.h"

enum { LIBRARY_ROWS = 512, STEPS = 3 };

struct batch {
    int n; /* sequences */
    struct sequence *seq;
    int *ids;
    float *logp;
};

/* n sequences of one prompt token and `length` - 1 others: every row but one is in the
 * loss, so that no product that 6 N T counts is left out. */
static struct batch batch_new(int n, int length, int vocab)
{
    struct batch b = {.n = n,
                      .seq = calloc((size_t)n, sizeof *b.seq),
                      .ids = calloc((size_t)(n * length), sizeof *b.ids),
                      .logp = calloc((size_t)(n * length), sizeof *b.logp)};

    for (int i = 0; i < n * length; i++) {
        b.ids[i] = (int)((unsigned)i * 2654435761u % (unsigned)vocab);
        b.logp[i] = -6.0f;
    }
    for (int s = 0; s < n; s++)
        b.seq[s] = (struct sequence){.n_prompt = 1,
                                     .n = length - 1,
                                     .prompt = b.ids + s * length,
                                     .ids = b.ids + s * length + 1,
                                     .old_logp = b.logp + s * length,
                                     .advantage = s % 2 ? 1 : -1,
                                     .order = s};
    return b;
}

static void batch_free(struct batch *b)
{
    free(b->seq);
    free(b->ids);
    free(b->logp);
}

static int alone(void *ctx, float *x, size_t n, struct fault *f)
{
    (void)ctx, (void)x, (void)n, (void)f;
    return 0;
}

static int alone_f64(void *ctx, double *x, size_t n, struct fault *f)
{
    (void)ctx, (void)x, (void)n, (void)f;
    return 0;
}

static struct learner *learner_for_bench(struct model *m, int microbatch)
{
    struct loss_config loss = {.clip_low = 0.2, .clip_high = 0.28, .temperature = 1};
    struct optimizer_config o = {
        .lr = 1e-6, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .grad_clip = 1};
    struct fault f = FAULT_INIT;
    struct learner *l;

    if (learner_new(&l, m, &loss, &o, microbatch, &f))
        give_up("learner", &f);
    return l;
}

static double step_seconds(struct learner *l, const struct batch *b)
{
    const struct learner_reduce r = {NULL, alone, alone_f64, alone_f64, 0};
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    double start = clock_cpu();

    if (learner_update_all(l, b->seq, b->n, &r, &u, &f) || u.skipped)
        give_up("update", &f);
    return clock_cpu() - start;
}

/* Operations per second of N = K = 512, 768 and 1024. */
static double library_rate(const struct dense *d, int n)
{
    double start = clock_cpu(), flops = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++, flops += dense_flops(&d[i]))
            dense_run(&d[i]);
    return flops / (clock_cpu() - start);
}

static void bench(const struct model_config *c, enum compute type, int sequences,
                  int length, int microbatch)
{
    struct dense d[3] = {dense_new(LIBRARY_ROWS, 512, 512, COMPUTE_F32),
                         dense_new(LIBRARY_ROWS, 768, 768, COMPUTE_F32),
                         dense_new(LIBRARY_ROWS, 1024, 1024, COMPUTE_F32)};
    double own[STEPS], library[STEPS];
    struct model *m = model_for_bench(c, type);
    struct learner *l = learner_for_bench(m, microbatch);
    struct batch b = batch_new(sequences, length, c->vocab);
    int tokens = sequences * length;
    double ratio, flops = 6.0 * (double)model_n_params(m) * tokens;

    step_seconds(l, &b);
    library_rate(d, 3);
    for (int i = 0; i < STEPS; i++) {
        library[i] = library_rate(d, 3);
        own[i] = flops / step_seconds(l, &b);
        library[i] = (library[i] + library_rate(d, 3)) / 2;
    }
    ratio = median_ratio(own, library, STEPS);
    if (type == COMPUTE_F32)
        say_model(m);
    printf("  step %s, %d tokens in sequences of %d, microbatches of %d: %.3f s\n",
           type_name(type), tokens, length, microbatch, flops / median(own, STEPS));
    printf("    %.1f GFLOP/s; oneDNN f32, %d rows: %.1f GFLOP/s\n",
           median(own, STEPS) / 1e9, LIBRARY_ROWS, median(library, STEPS) / 1e9);
    printf("    step at %.0f%% of oneDNN's f32 rate\n", 100 * ratio);
    batch_free(&b);
    learner_free(l);
    model_free(m);
    for (int i = 0; i < 3; i++)
        dense_free(&d[i]);
}

/* Bytes of gradient and moments. */
static double trained_bytes(const struct model *m)
{
    return 3.0 * sizeof(float) * (double)model_n_params(m);
}

static void bench_adapter(const struct model_config *c, enum compute type,
                          int sequences, int length, int microbatch)
{
    const struct lora_config lora = {.rank = 16, .alpha = 32, .targets = "all"};
    struct model *whole = model_for_bench(c, type), *part = model_for_bench(c, type);
    struct batch b = batch_new(sequences, length, c->vocab);
    double seconds[2][STEPS], merge[STEPS];
    struct learner *l[2];
    struct fault f = FAULT_INIT;

    if (model_lora(part, &lora, 1, &f))
        give_up("adapter", &f);
    l[0] = learner_for_bench(whole, microbatch);
    l[1] = learner_for_bench(part, microbatch);
    for (int k = 0; k < 2; k++)
        step_seconds(l[k], &b);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 2; k++)
            seconds[k][i] = step_seconds(l[k], &b);
        merge[i] = clock_cpu();
        if (model_refresh(part, &f))
            give_up("merging", &f);
        merge[i] = clock_cpu() - merge[i];
    }
    printf("  adapter of rank %d, %s: %.3f s a step, %.2f of a whole one; merging and "
           "packing %.1f ms; gradient and moments %.1f MB, not %.1f\n",
           lora.rank, type_name(type), median(seconds[1], STEPS),
           median_ratio(seconds[1], seconds[0], STEPS), 1e3 * median(merge, STEPS),
           trained_bytes(part) / 1e6, trained_bytes(whole) / 1e6);
    batch_free(&b);
    for (int k = 0; k < 2; k++)
        learner_free(l[k]);
    model_free(whole);
    model_free(part);
}

int main(void)
{
    const struct model_config large = model_30m(), small = model_1m();

    bench(&large, COMPUTE_F32, 8, 256, 2048);
    bench(&large, COMPUTE_BF16, 8, 256, 2048);
    bench(&small, COMPUTE_F32, 64, 96, 2048);
    bench(&small, COMPUTE_BF16, 64, 96, 2048);
    bench_adapter(&large, COMPUTE_F32, 8, 256, 2048);
    bench_adapter(&large, COMPUTE_BF16, 8, 256, 2048);
    backend_cpu.close();
    return 0;
}
