/* measure.h - what the speed programs share: models, medians, ceilings.
 *
 * Other jobs may share the machine, so a figure is the median over short blocks, a
 * ratio is taken between blocks that alternate with each other, and time is the CPU
 * time of the process, which a neighbour stretches less than the wall clock. */
#ifndef DAPO_BENCH_MEASURE_H
#define DAPO_BENCH_MEASURE_H

#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/model.h"

#define MOST_BLOCKS 64

static inline void give_up(const char *what, const struct fault *f)
{
    fprintf(stderr, "%s: %s\n", what, f ? f->text : "failed");
    exit(1);
}

static inline int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Sorts v. */
static inline double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Quotients of pairs of blocks that ran one after the other. */
static inline double median_ratio(const double *a, const double *b, int n)
{
    double q[MOST_BLOCKS];

    for (int i = 0; i < n; i++)
        q[i] = a[i] / b[i];
    return median(q, n);
}

/* -- models ------------------------------------------------------------------------ */

/* About 30 million parameters, as in the issue of small Qwen2.5 models. */
static inline struct model_config model_30m(void)
{
    return (struct model_config){.arch = ARCH_QWEN2,
                                 .vocab = 8192,
                                 .dim = 512,
                                 .layers = 8,
                                 .heads = 8,
                                 .kv_heads = 2,
                                 .head_dim = 64,
                                 .ffn = 1664,
                                 .max_position = 4096,
                                 .norm_eps = 1e-6f,
                                 .rope_theta = 1e6,
                                 .tied = true,
                                 .qkv_bias = true};
}

/* The size of the demo's. */
static inline struct model_config model_1m(void)
{
    struct model_config c = model_30m();

    c.vocab = 320;
    c.dim = 128;
    c.layers = 4;
    c.heads = 4;
    c.kv_heads = 2;
    c.head_dim = 32;
    c.ffn = 384;
    return c;
}

static inline struct model *model_for_bench(const struct model_config *c,
                                            enum compute type)
{
    struct fault f = FAULT_INIT;
    struct model *m;

    if (backend_cpu.open(0, 1, &f) || model_random(&m, c, &backend_cpu, type, 0, 1, &f))
        give_up("model", &f);
    return m;
}

static inline const char *type_name(enum compute type)
{
    return type == COMPUTE_F32 ? "f32" : "bf16";
}

static inline void say_model(const struct model *m)
{
    const struct model_config *c = model_cfg(m);

    printf("model of %.1fM parameters: dim %d, %d layers, %d heads (%d kv) of %d, "
           "ffn %d, vocab %d\n",
           (double)model_n_params(m) / 1e6, c->dim, c->layers, c->heads, c->kv_heads,
           c->head_dim, c->ffn, c->vocab);
}

/* -- the library alone --------------------------------------------------------------
 */

/* One product of oneDNN, y[m][n] = x[m][k] W, W packed as the library likes for m. */
struct dense {
    int m, n, k;
    dnnl_primitive_t run;
    dnnl_memory_t x, w, y;
};

static inline void must_dnnl(dnnl_status_t status)
{
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN: status %d\n", (int)status);
        exit(1);
    }
}

static inline dnnl_engine_t dense_engine(void)
{
    static dnnl_engine_t engine;

    if (!engine)
        must_dnnl(dnnl_engine_create(&engine, dnnl_cpu, 0));
    return engine;
}

/* Memory of its own, filled with small numbers: of any type, each 2-byte half is 0.01
 * in bf16. */
static inline dnnl_memory_t dense_memory(const dnnl_memory_desc_t *d)
{
    size_t n = dnnl_memory_desc_get_size(d) / 2;
    dnnl_memory_t memory;
    void *bytes;

    must_dnnl(dnnl_memory_create(&memory, d, dense_engine(), DNNL_MEMORY_ALLOCATE));
    must_dnnl(dnnl_memory_get_data_handle(memory, &bytes));
    for (size_t i = 0; i < n; i++)
        memcpy((char *)bytes + 2 * i, &(uint16_t){0x3c24}, 2);
    return memory;
}

static inline struct dense dense_new(int m, int n, int k, enum compute type)
{
    dnnl_data_type_t t = type == COMPUTE_F32 ? dnnl_f32 : dnnl_bf16;
    dnnl_memory_desc_t x, w, y;
    dnnl_matmul_desc_t desc;
    dnnl_primitive_desc_t pd;
    struct dense d = {.m = m, .n = n, .k = k};

    must_dnnl(dnnl_memory_desc_init_by_tag(&x, 2, (dnnl_dims_t){m, k}, t, dnnl_ab));
    must_dnnl(dnnl_memory_desc_init_by_tag(&w, 2, (dnnl_dims_t){k, n}, t,
                                           dnnl_format_tag_any));
    must_dnnl(
        dnnl_memory_desc_init_by_tag(&y, 2, (dnnl_dims_t){m, n}, dnnl_f32, dnnl_ab));
    must_dnnl(dnnl_matmul_desc_init(&desc, &x, &w, NULL, &y));
    must_dnnl(dnnl_primitive_desc_create(&pd, &desc, NULL, dense_engine(), NULL));
    must_dnnl(dnnl_primitive_create(&d.run, pd));
    d.x = dense_memory(&x);
    d.w = dense_memory(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0));
    d.y = dense_memory(&y);
    must_dnnl(dnnl_primitive_desc_destroy(pd));
    return d;
}

static inline void dense_free(struct dense *d)
{
    dnnl_primitive_destroy(d->run);
    dnnl_memory_destroy(d->x);
    dnnl_memory_destroy(d->w);
    dnnl_memory_destroy(d->y);
}

static inline void dense_run(const struct dense *d)
{
    static dnnl_stream_t stream;
    dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, d->x}, {DNNL_ARG_WEIGHTS, d->w}, {DNNL_ARG_DST, d->y}};

    if (!stream)
        must_dnnl(dnnl_stream_create(&stream, dense_engine(), dnnl_stream_in_order));
    must_dnnl(dnnl_primitive_execute(d->run, stream, 3, args));
}

static inline double dense_flops(const struct dense *d)
{
    return 2.0 * d->m * d->n * d->k;
}

/* -- the memory alone ---------------------------------------------------------------
 */

/* Seconds to read n floats once, in order. */
static inline double read_seconds(const float *x, size_t n)
{
    typedef float wide __attribute__((vector_size(64)));
    wide sum[4] = {{0}};
    double start = clock_cpu();
    volatile float sink;

    for (size_t i = 0; i + 64 <= n; i += 64) {
        wide v[4];

        memcpy(v, x + i, sizeof v);
        for (int j = 0; j < 4; j++)
            sum[j] += v[j];
    }
    sink = sum[0][0] + sum[1][0] + sum[2][0] + sum[3][0];
    (void)sink;
    return clock_cpu() - start;
}

#endif
