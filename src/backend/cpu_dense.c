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

#define CHUNK 256    /* rows of linear and linear_dx */
#define CHUNK_DW 512 /* rows of linear_dw, each pass of which goes over all of dw */

/* Inner values of one bf16 product.  On AMX oneDNN 2.6 cuts a longer sum into pieces
 * that depend on the number of rows (seen from 1024 on, at 960 never). */
#define INNER 896

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

/* What a direction of a weight multiplies with: inner values first .. first + k - 1,
 * the others are in `rest`.  A sum in parts is a DX of a shape of its own, then
 * DX_ADDs. */
struct pack {
    struct shape *shape;
    enum direction direction; /* FORWARD or DX */
    int first, k;
    dnnl_memory_t memory; /* NULL: the master, as it is */
    void *bytes;
    struct pack *rest;
};

struct weight {
    struct shape *shape;
    const float *master;
    struct pack *forward, *back; /* back: made at the first linear_dx */
    bool stale;                  /* back lacks the values of the last weight_set */
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
    for (struct pack *rest; p; p = rest) {
        rest = p->rest;
        dnnl_memory_destroy(p->memory);
        host_free(p->bytes);
        free(p);
    }
}

static int pack_part(struct pack *p, struct shape *s, enum direction d, struct fault *f)
{
    p->shape = s;
    p->direction = d;
    if (d == DX && s->type == COMPUTE_F32)
        return 0;
    if (host_alloc(&p->bytes, dnnl_memory_desc_get_size(&s->packed[d]), f))
        return f->code;
    return must(dnnl_memory_create(&p->memory, &s->packed[d], dense.engine, p->bytes),
                "hold a weight", f);
}

/* On a fault *out is what has been made. */
static int pack_new(struct pack **out, struct shape *s, enum direction d,
                    struct fault *f)
{
    int k = d == FORWARD ? s->in : s->out, n = d == FORWARD ? s->out : s->in;
    int parts = s->type == COMPUTE_BF16 ? (k + INNER - 1) / INNER : 1;
    int each = parts > 1 ? ((k - 1) / parts / 64 + 1) * 64 : k; /* whole tiles */

    for (int first = 0; first < k; first += each, out = &(*out)->rest) {
        struct pack *p = *out = mem_new(1, sizeof *p, "a weight", f);
        struct shape *own = s;

        if (!p)
            return f->code;
        p->first = first;
        p->k = k - first < each ? k - first : each;
        if ((parts > 1 && shape_find(&own, p->k, n, s->type, f)) ||
            pack_part(p, own, parts > 1 ? DX : d, f))
            return f->code;
    }
    return 0;
}

/* Copy a part of the master, b[i][j] = master[i * k_step + j * n_step], into its pack,
 * rounding on the way. */
static int pack_fill_part(struct pack *p, const float *master, int n, int k_step,
                          int n_step, struct fault *f)
{
    dnnl_dims_t dims = {p->k, n}, steps = {k_step, n_step};
    const dnnl_memory_desc_t *to;
    dnnl_memory_desc_t from;
    dnnl_memory_t memory = NULL;
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t reorder = NULL;
    int rc = must(dnnl_memory_desc_init_by_strides(&from, 2, dims, dnnl_f32, steps),
                  "describe a matrix", f);
    /* The library has no const for what it only reads. */
    void *values = (void *)(uintptr_t)(master + row_at(p->first, k_step));

    if (!rc)
        rc = must(dnnl_memory_create(&memory, &from, dense.engine, values),
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
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(pd);
    dnnl_memory_destroy(memory);
    return rc ? f->code : 0;
}

static int pack_fill(struct pack *p, const struct weight *w, int n, int k_step,
                     int n_step, struct fault *f)
{
    for (; p; p = p->rest)
        if (p->memory && pack_fill_part(p, w->master, n, k_step, n_step, f))
            return f->code;
    return 0;
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
        rc = pack_new(&w->forward, w->shape, FORWARD, f);
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
    w->stale = true;
    return pack_fill(w->forward, w, w->shape->out, 1, w->shape->in, f);
}

/* What linear_dx reads, brought up to date. */
static int back_pack(struct weight *w, struct fault *f)
{
    struct shape *s = w->shape;

    if (!w->back && pack_new(&w->back, s, DX, f)) {
        pack_free(w->back);
        w->back = NULL;
        return f->code;
    }
    w->stale = w->stale && pack_fill(w->back, w, s->in, s->in, 1, f);
    return w->stale ? f->code : 0;
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

static int parts_room(const struct pack *b, enum direction d, int rows)
{
    int room = 0;

    for (; b; b = b->rest, d = DX_ADD) {
        int own = padded(b->shape, d, rows);

        room = own > room ? own : room;
    }
    return room;
}

/* One chunk of linear or linear_dx: dst[rows][n] (+)= src[rows][k] b. */
static int multiply(float *dst, const float *src, const struct weight *w,
                    const struct pack *b, int k, int n, int rows, int add,
                    struct fault *f)
{
    enum direction d = add ? DX_ADD : b->direction;
    int room = parts_room(b, d, rows);
    size_t bytes = row_at(rows, n) * sizeof(float);
    float *to = dst;

    if (rows != room) {
        to = cpu_scratch(SCRATCH_DST, row_at(room, n) * sizeof(float), f);
        if (!to)
            return f->code;
        if (add)
            memcpy(to, dst, bytes);
    }
    for (; b; b = b->rest, d = DX_ADD) {
        const void *from = cpu_take_rows(SCRATCH_SRC, src + b->first, rows, room, b->k,
                                         k, w->shape->type, f);
        struct product *p;

        if (!from || product_find(&p, b->shape, d, room, f) ||
            execute(p, from, b->memory, w->master, to, f))
            return f->code;
    }
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
                     w->forward, w->shape->in, w->shape->out, n, 0, f))
            return f->code;
    }
    return 0;
}

int cpu_linear_dx(float *dx, const float *dy, const struct weight *w, int rows, int add,
                  struct fault *f)
{
    /* The copy is a cache: filling it does not change the weight. */
    struct weight *cache = (struct weight *)(uintptr_t)w;

    if (rows > 0 && back_pack(cache, f))
        return f->code;
    for (int r = 0, n; r < rows; r += n) {
        n = rows - r < CHUNK ? rows - r : CHUNK;
        if (multiply(dx + row_at(r, w->shape->in), dy + row_at(r, w->shape->out), w,
                     w->back, w->shape->out, w->shape->in, n, add, f))
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
        src = cpu_take_rows(SCRATCH_SRC, dy + row_at(r, s->out), n, room, s->out,
                            s->out, s->type, f);
        if (!src)
            return f->code;
        b = cpu_take_rows(SCRATCH_SRC2, x + row_at(r, s->in), n, room, s->in, s->in,
                          s->type, f);
        if (!b || product_find(&p, s, DW, room, f) || execute(p, src, NULL, b, dw, f))
            return f->code;
    }
    return 0;
}
