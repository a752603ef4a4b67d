/* cpu_dense.c - dense products through oneDNN matmul.
 *
 * oneDNN compiles a kernel for each number of rows.  To bound how many there are, rows
 * are cut into chunks and a chunk is padded to the next size of a short list.  A row's
 * bits don't depend on that: the library sums each output over the inputs in one order
 * (the suite tests it).  The kernels belong to a shape, not to a weight: the layers of
 * a model share them. */
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/cpu.h"
#include "dapo/mem.h"

#define CHUNK 256 /* rows of linear and linear_dx */
#define CHUNK_DW \
    512 /* rows summed by one linear_dw: each pass reads and writes all of dw */

enum direction { FORWARD, DX, DX_ADD, DW, DIRECTIONS };

/* dst[m][n] (+)= src[m][k] b[k][n] */
struct product {
    dnnl_primitive_t run;
    dnnl_memory_t src, b, dst; /* without memory of their own; b unused if packed */
};

/* All that weights of one shape and type share. */
struct shape {
    int out, in;
    enum compute type;
    dnnl_memory_desc_t packed[DIRECTIONS]; /* layout of W^T (FORWARD) and W (DX) */
    char name[DIRECTIONS][64];             /* implementation; "" for any */
    int fewest[DIRECTIONS];                /* rows that it serves */
    struct product product[DIRECTIONS][CHUNK_DW + 1]; /* by padded rows, made at need */
    struct shape *next;
};

/* A packed copy of a weight. */
struct pack {
    dnnl_memory_t memory;
    void *bytes;
    int stale; /* does not hold the values of the last weight_set yet */
};

struct weight {
    struct shape *shape;
    const float *master;
    struct pack *forward, *back; /* back: bf16 only, filled at the first linear_dx */
};

static struct {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct shape *shapes;
} dense;

/* 0, or a fault that names what oneDNN refused. */
static int must(dnnl_status_t status, const char *what, struct fault *f)
{
    if (status == dnnl_success)
        return 0;
    if (status == dnnl_out_of_memory)
        return fault_set(f, FAULT_SYSTEM, "no memory for oneDNN: %s", what);
    return fault_set(f, FAULT_BUG, "oneDNN refused to %s (status %d)", what,
                     (int)status);
}

int cpu_dense_open(struct fault *f)
{
    if (dense.stream)
        return 0;
    if (must(dnnl_engine_create(&dense.engine, dnnl_cpu, 0), "open the CPU", f) ||
        must(dnnl_stream_create(&dense.stream, dense.engine, dnnl_stream_default_flags),
             "open a stream", f)) {
        cpu_dense_close();
        return f->code;
    }
    return 0;
}

static void shape_free(struct shape *s)
{
    for (int d = 0; d < DIRECTIONS; d++) {
        for (int m = 0; m <= CHUNK_DW; m++) {
            struct product *p = &s->product[d][m];

            dnnl_primitive_destroy(p->run);
            dnnl_memory_destroy(p->src);
            dnnl_memory_destroy(p->b);
            dnnl_memory_destroy(p->dst);
        }
    }
    free(s);
}

void cpu_dense_close(void)
{
    for (struct shape *s = dense.shapes, *next; s; s = next) {
        next = s->next;
        shape_free(s);
    }
    dnnl_stream_destroy(dense.stream);
    dnnl_engine_destroy(dense.engine);
    dense.shapes = NULL;
    dense.stream = NULL;
    dense.engine = NULL;
}

/* The sizes that rows are padded to are 1 .. 16, then steps of 8 to 64 and of 32. */
static int step(int rows)
{
    return rows <= 16 ? 1 : rows <= 64 ? 8 : 32;
}

static int padded(const struct shape *s, enum direction d, int rows)
{
    rows = (rows + step(rows) - 1) / step(rows) * step(rows);
    return rows < s->fewest[d] ? s->fewest[d] : rows;
}

/* The size before a size; 0 before 1. */
static int below(int size)
{
    return size - step(size);
}

static dnnl_data_type_t data_type(const struct shape *s)
{
    return s->type == COMPUTE_BF16 ? dnnl_bf16 : dnnl_f32;
}

static int plain(dnnl_memory_desc_t *out, int rows, int cols, dnnl_data_type_t type,
                 dnnl_format_tag_t tag, struct fault *f)
{
    dnnl_dims_t dims = {rows, cols};

    return must(dnnl_memory_desc_init_by_tag(out, 2, dims, type, tag),
                "describe a matrix", f);
}

/* Name of the implementation that oneDNN chose; "" if it won't say. */
static const char *implementation(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;

    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    return name ? name : "";
}

/* The first implementation of a product, or the one called `want` if that isn't "". */
static int choose(dnnl_primitive_desc_t *out, const dnnl_matmul_desc_t *desc,
                  dnnl_primitive_attr_t attr, const char *want, struct fault *f)
{
    dnnl_primitive_desc_iterator_t it = NULL;
    int rc =
        must(dnnl_primitive_desc_iterator_create(&it, desc, attr, dense.engine, NULL),
             "find a product", f);

    *out = NULL;
    while (!rc && !*out) {
        dnnl_primitive_desc_t pd = dnnl_primitive_desc_iterator_fetch(it);

        if (!*want || !strcmp(implementation(pd), want)) {
            *out = pd;
            break;
        }
        dnnl_primitive_desc_destroy(pd);
        rc = must(dnnl_primitive_desc_iterator_next(it), "find a product again", f);
    }
    dnnl_primitive_desc_iterator_destroy(it);
    return rc;
}

static int product_pd(dnnl_primitive_desc_t *out, const dnnl_memory_desc_t *src,
                      const dnnl_memory_desc_t *b, const dnnl_memory_desc_t *dst,
                      int add, const char *want, struct fault *f)
{
    dnnl_matmul_desc_t desc;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    int rc = must(dnnl_matmul_desc_init(&desc, src, b, NULL, dst), "plan a product", f);

    if (!rc)
        rc = must(dnnl_primitive_attr_create(&attr), "plan a product", f);
    if (!rc && add)
        rc = must(dnnl_post_ops_create(&ops), "plan a sum", f) ||
             must(dnnl_post_ops_append_sum(ops, 1.0f), "plan a sum", f) ||
             must(dnnl_primitive_attr_set_post_ops(attr, ops), "plan a sum", f);
    if (!rc)
        rc = choose(out, &desc, attr, want, f);
    dnnl_post_ops_destroy(ops);
    dnnl_primitive_attr_destroy(attr);
    return rc ? f->code : 0;
}

/* The layouts of a product of `rows` rows.  Weights (FORWARD, and DX in bf16) are
 * packed as oneDNN likes; `b` is then taken from the shape. */
static int layouts(const struct shape *s, enum direction d, int rows,
                   dnnl_memory_desc_t *src, dnnl_memory_desc_t *b,
                   dnnl_memory_desc_t *dst, struct fault *f)
{
    dnnl_data_type_t type = data_type(s);

    *b = s->packed[d];
    switch (d) {
    case FORWARD:
        return plain(src, rows, s->in, type, dnnl_ab, f) ||
               plain(dst, rows, s->out, dnnl_f32, dnnl_ab, f);
    case DW: /* the rows of dy and x are the inner index */
        return plain(src, s->out, rows, type, dnnl_ba, f) ||
               plain(b, rows, s->in, type, dnnl_ab, f) ||
               plain(dst, s->out, s->in, dnnl_f32, dnnl_ab, f);
    default:
        return plain(src, rows, s->out, type, dnnl_ab, f) ||
               plain(dst, rows, s->in, dnnl_f32, dnnl_ab, f);
    }
}

static int product_new(struct product *p, struct shape *s, enum direction d, int rows,
                       struct fault *f)
{
    dnnl_memory_desc_t src, b, dst;
    dnnl_primitive_desc_t pd = NULL;
    int rc = layouts(s, d, rows, &src, &b, &dst, f);

    if (!rc)
        rc = product_pd(&pd, &src, &b, &dst, d == DX_ADD || d == DW, s->name[d], f);
    if (!rc)
        rc = must(dnnl_memory_create(&p->src, &src, dense.engine, DNNL_MEMORY_NONE),
                  "hold rows", f) ||
             must(dnnl_memory_create(&p->b, &b, dense.engine, DNNL_MEMORY_NONE),
                  "hold rows", f) ||
             must(dnnl_memory_create(&p->dst, &dst, dense.engine, DNNL_MEMORY_NONE),
                  "hold rows", f);
    if (!rc)
        rc = must(dnnl_primitive_create(&p->run, pd), "make a product", f);
    dnnl_primitive_desc_destroy(pd);
    return rc ? f->code : 0;
}

/* The implementation that oneDNN takes for `rows` rows: its name and, unless that is
 * settled, the layout it packs the weight to. */
static int prefer(struct shape *s, enum direction d, int rows, struct fault *f)
{
    dnnl_memory_desc_t src, b, dst;
    dnnl_primitive_desc_t pd = NULL;

    if (layouts(s, d, rows, &src, &b, &dst, f) ||
        product_pd(&pd, &src, &b, &dst, d == DX_ADD, "", f))
        return f->code;
    s->packed[d] = *dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    snprintf(s->name[d], sizeof s->name[d], "%s", implementation(pd));
    dnnl_primitive_desc_destroy(pd);
    return 0;
}

/* The fewest rows from which on that implementation serves every number of rows. */
static int fewest_rows(const struct shape *s, enum direction d)
{
    struct fault f = FAULT_INIT;
    int fewest = CHUNK;

    for (int rows = CHUNK; rows > 0; rows = below(rows)) {
        dnnl_memory_desc_t src, b, dst;
        dnnl_primitive_desc_t pd = NULL;

        if (layouts(s, d, rows, &src, &b, &dst, &f) ||
            product_pd(&pd, &src, &b, &dst, d == DX_ADD, s->name[d], &f))
            break;
        dnnl_primitive_desc_destroy(pd);
        fewest = rows;
    }
    return fewest;
}

/* Settle, once for all numbers of rows, which implementation serves a direction, and
 * how it wants its weight packed (`tag` any) or that it takes it plain.  Left to itself
 * oneDNN 2.6 multiplies few rows of small bf16 matrices by another unit than many rows,
 * with other bits.  What suits a decode of 32 rows comes first; fewer rows are padded
 * to what it serves. */
static int settle(struct shape *s, enum direction d, dnnl_format_tag_t tag,
                  struct fault *f)
{
    static const int sizes[] = {32, CHUNK};
    int k = d == FORWARD ? s->in : s->out, n = d == FORWARD ? s->out : s->in;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (d == DX_ADD)
            s->packed[d] = s->packed[DX];
        else if (plain(&s->packed[d], k, n, data_type(s), tag, f))
            return f->code;
        if (prefer(s, d, sizes[i], f))
            return f->code;
        s->fewest[d] = fewest_rows(s, d);
        if (s->fewest[d] <= sizes[i])
            break;
    }
    return 0;
}

static int shape_find(struct shape **out, int n_out, int n_in, enum compute type,
                      struct fault *f)
{
    struct shape *s = dense.shapes;
    int rc;

    while (s && !(s->out == n_out && s->in == n_in && s->type == type))
        s = s->next;
    *out = s;
    if (s)
        return 0;
    s = mem_new(1, sizeof *s, "the products of a shape", f);
    if (!s)
        return f->code;
    s->out = n_out;
    s->in = n_in;
    s->type = type;
    /* The backward in f32 reads the master as it is: as fast, and no copy. */
    rc = settle(s, FORWARD, dnnl_format_tag_any, f) ||
         settle(s, DX, type == COMPUTE_BF16 ? dnnl_format_tag_any : dnnl_ab, f) ||
         settle(s, DX_ADD, dnnl_format_tag_any, f);
    if (rc) {
        free(s);
        return f->code;
    }
    s->next = dense.shapes;
    dense.shapes = *out = s;
    return 0;
}

static void pack_free(struct pack *p)
{
    if (!p)
        return;
    dnnl_memory_destroy(p->memory);
    host_free(p->bytes);
    free(p);
}

static int pack_new(struct pack **out, const dnnl_memory_desc_t *layout,
                    struct fault *f)
{
    struct pack *p = mem_new(1, sizeof *p, "a weight", f);

    *out = p;
    if (!p || host_alloc(&p->bytes, dnnl_memory_desc_get_size(layout), f))
        return f->code;
    p->stale = 1;
    return must(dnnl_memory_create(&p->memory, layout, dense.engine, p->bytes),
                "hold a weight", f);
}

/* Copy the master (seen as k x n by `tag`) into the pack, rounding on the way. */
static int pack_fill(struct pack *p, const struct weight *w, int k, int n,
                     dnnl_format_tag_t tag, struct fault *f)
{
    const dnnl_memory_desc_t *to;
    dnnl_memory_desc_t from;
    dnnl_memory_t memory = NULL;
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t reorder = NULL;
    int rc = plain(&from, k, n, dnnl_f32, tag, f);
    /* The library has no const for what it only reads. */
    void *master = (void *)(uintptr_t)w->master;

    if (!rc)
        rc = must(dnnl_memory_create(&memory, &from, dense.engine, master),
                  "hold a weight", f) ||
             must(dnnl_memory_get_memory_desc(p->memory, &to), "hold a weight", f) ||
             must(dnnl_reorder_primitive_desc_create(&pd, &from, dense.engine, to,
                                                     dense.engine, NULL),
                  "pack a weight", f) ||
             must(dnnl_primitive_create(&reorder, pd), "pack a weight", f);
    if (!rc) {
        dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, memory}, {DNNL_ARG_TO, p->memory}};

        rc = must(dnnl_primitive_execute(reorder, dense.stream, 2, args),
                  "pack a weight", f);
    }
    p->stale = rc != 0;
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(pd);
    dnnl_memory_destroy(memory);
    return rc ? f->code : 0;
}

int cpu_weight_new(struct weight **out, int n_out, int n_in, enum compute type,
                   struct fault *f)
{
    struct weight *w;
    int rc;

    *out = NULL;
    if (cpu_dense_open(f))
        return f->code;
    w = mem_new(1, sizeof *w, "a weight", f);
    if (!w)
        return f->code;
    rc = shape_find(&w->shape, n_out, n_in, type, f);
    if (!rc)
        rc = pack_new(&w->forward, &w->shape->packed[FORWARD], f);
    if (rc)
        cpu_weight_free(w);
    else
        *out = w;
    return rc;
}

void cpu_weight_free(struct weight *w)
{
    if (!w)
        return;
    pack_free(w->forward);
    pack_free(w->back);
    free(w);
}

int cpu_weight_set(struct weight *w, const float *master, struct fault *f)
{
    w->master = master;
    if (w->back)
        w->back->stale = 1;
    return pack_fill(w->forward, w, w->shape->in, w->shape->out, dnnl_ba, f);
}

/* The packed copy that linear_dx reads, brought up to date. */
static int back_pack(struct weight *w, struct fault *f)
{
    struct shape *s = w->shape;

    if (!w->back && pack_new(&w->back, &s->packed[DX], f)) {
        pack_free(w->back);
        w->back = NULL;
        return f->code;
    }
    return w->back->stale ? pack_fill(w->back, w, s->out, s->in, dnnl_ab, f) : 0;
}

static int product_find(struct product **out, struct shape *s, enum direction d,
                        int rows, struct fault *f)
{
    *out = &s->product[d][rows];
    return (*out)->run ? 0 : product_new(*out, s, d, rows, f);
}

static int execute(const struct product *p, const void *src, dnnl_memory_t b,
                   const void *b_bytes, float *dst, struct fault *f)
{
    dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, p->src},
                              {DNNL_ARG_WEIGHTS, b ? b : p->b},
                              {DNNL_ARG_DST, p->dst}};

    if (must(dnnl_memory_set_data_handle(p->src, (void *)(uintptr_t)src), "take rows",
             f) ||
        must(dnnl_memory_set_data_handle(p->dst, dst), "take rows", f))
        return f->code;
    if (!b && must(dnnl_memory_set_data_handle(p->b, (void *)(uintptr_t)b_bytes),
                   "take a weight", f))
        return f->code;
    return must(dnnl_primitive_execute(p->run, dense.stream, 3, args), "multiply", f);
}

static void to_bf16(uint16_t *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_from(x[i]);
}

/* x[rows][cols] in the type of the product, followed by zero rows up to `room`.  x
 * itself if that is what it is already. */
static const void *take_rows(enum scratch which, const float *x, int rows, int room,
                             int cols, enum compute type, struct fault *f)
{
    size_t width = type == COMPUTE_BF16 ? sizeof(uint16_t) : sizeof(float);
    size_t n = row_at(rows, cols);
    char *p;

    if (type == COMPUTE_F32 && rows == room)
        return x;
    p = cpu_scratch(which, row_at(room, cols) * width, f);
    if (!p)
        return NULL;
    if (type == COMPUTE_BF16)
        to_bf16((uint16_t *)(void *)p, x, n);
    else
        memcpy(p, x, n * width);
    memset(p + n * width, 0, (row_at(room, cols) - n) * width);
    return p;
}

/* One chunk of linear (FORWARD) or linear_dx: dst[rows][n] (+)= src[rows][k] b. */
static int multiply(float *dst, const float *src, const struct weight *w,
                    enum direction d, int rows, struct fault *f)
{
    struct shape *s = w->shape;
    int room = padded(s, d, rows), k = d == FORWARD ? s->in : s->out;
    int n = d == FORWARD ? s->out : s->in;
    dnnl_memory_t b = d == FORWARD ? w->forward->memory
                      : w->back    ? w->back->memory
                                   : NULL;
    size_t bytes = row_at(rows, n) * sizeof(float);
    const void *from = take_rows(SCRATCH_SRC, src, rows, room, k, s->type, f);
    float *to = dst;
    struct product *p;

    if (!from || product_find(&p, s, d, room, f))
        return f->code;
    if (rows != room) {
        to = cpu_scratch(SCRATCH_DST, row_at(room, n) * sizeof(float), f);
        if (!to)
            return f->code;
        if (d == DX_ADD)
            memcpy(to, dst, bytes);
    }
    if (execute(p, from, b, w->master, to, f))
        return f->code;
    if (to != dst)
        memcpy(dst, to, bytes);
    return 0;
}

int cpu_linear(float *y, const float *x, const struct weight *w, int rows,
               struct fault *f)
{
    for (int r = 0, n; r < rows; r += n) {
        n = rows - r < CHUNK ? rows - r : CHUNK;
        if (multiply(y + row_at(r, w->shape->out), x + row_at(r, w->shape->in), w,
                     FORWARD, n, f))
            return f->code;
    }
    return 0;
}

int cpu_linear_dx(float *dx, const float *dy, const struct weight *w, int rows, int add,
                  struct fault *f)
{
    /* The packed copy is a cache: filling it does not change the weight. */
    struct weight *cache = (struct weight *)(uintptr_t)w;

    if (rows > 0 && w->shape->type == COMPUTE_BF16 && back_pack(cache, f))
        return f->code;
    for (int r = 0, n; r < rows; r += n) {
        n = rows - r < CHUNK ? rows - r : CHUNK;
        if (multiply(dx + row_at(r, w->shape->in), dy + row_at(r, w->shape->out), w,
                     add ? DX_ADD : DX, n, f))
            return f->code;
    }
    return 0;
}

int cpu_linear_dw(float *dw, const float *dy, const float *x, const struct weight *w,
                  int rows, struct fault *f)
{
    struct shape *s = w->shape;
    struct product *p;

    for (int r = 0, n; r < rows; r += n) {
        const void *src, *b;
        int room;

        n = rows - r < CHUNK_DW ? rows - r : CHUNK_DW;
        room = padded(s, DW, n); /* rows of zeros add nothing */
        src =
            take_rows(SCRATCH_SRC, dy + row_at(r, s->out), n, room, s->out, s->type, f);
        if (!src)
            return f->code;
        b = take_rows(SCRATCH_SRC2, x + row_at(r, s->in), n, room, s->in, s->type, f);
        if (!b || product_find(&p, s, DW, room, f) || execute(p, src, NULL, b, dw, f))
            return f->code;
    }
    return 0;
}
