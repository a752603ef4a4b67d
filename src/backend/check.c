/* check.c - see check.h. */
#include <math.h>
#include <stdlib.h>

#include "backend/check.h"
#include "backend/span.h"
#include "dapo/mem.h"

static struct {
    const struct backend *inner;
    int open;
} watched;

/* A weight remembers its shape, which the arrays of a product follow from. */
struct weight {
    struct weight *inner;
    int out, in;
};

#define COUNT(s) ((int)(sizeof(s) / sizeof(s)[0]))
/* Run an op of the watched backend on the arrays s. */
#define WATCH(op, s, ...)                                      \
    (spans_before((s), COUNT(s), watched.inner, f) ||          \
             watched.inner->op(__VA_ARGS__, f) ||              \
             spans_after(#op, (s), COUNT(s), watched.inner, f) \
         ? f->code                                             \
         : 0)

#define DECLARE_CHECK(op) static OP_TYPE(op) check_##op;
OWN_OPS(DECLARE_CHECK)
HOST_OPS(DECLARE_CHECK)

static int check_open(int device, int threads, struct fault *f)
{
    watched.open = 1;
    return watched.inner->open(device, threads, f);
}

static void check_close(void)
{
    watched.open = 0;
    watched.inner->close();
}

static int check_alloc(void **out, size_t bytes, struct fault *f)
{
    return watched.inner->alloc(out, bytes, f);
}

static void check_free(void *p)
{
    watched.inner->free(p);
}

static int check_put(void *dst, const void *host, size_t bytes, struct fault *f)
{
    return watched.inner->put(dst, host, bytes, f);
}

static int check_get(void *host, const void *src, size_t bytes, struct fault *f)
{
    return watched.inner->get(host, src, bytes, f);
}

static int check_zero(void *p, size_t bytes, struct fault *f)
{
    return watched.inner->zero(p, bytes, f);
}

static int check_sync(struct fault *f)
{
    return watched.inner->sync(f);
}

static int check_weight_new(struct weight **out, int n_out, int n_in, enum compute type,
                            struct fault *f)
{
    struct weight *w = mem_new(1, sizeof *w, "a weight", f);

    *out = NULL;
    if (!w)
        return f->code;
    w->out = n_out;
    w->in = n_in;
    if (watched.inner->weight_new(&w->inner, n_out, n_in, type, f)) {
        free(w);
        return f->code;
    }
    *out = w;
    return 0;
}

static void check_weight_free(struct weight *w)
{
    if (w)
        watched.inner->weight_free(w->inner);
    free(w);
}

static int check_weight_set(struct weight *w, const float *master, struct fault *f)
{
    struct span s[] = {IN(master, row_at(w->out, w->in))};

    return WATCH(weight_set, s, w->inner, master);
}

static int check_linear(float *y, const float *x, const struct weight *w, int rows,
                        struct fault *f)
{
    struct span s[] = {OUT(y, row_at(rows, w->out)), IN(x, row_at(rows, w->in))};

    return WATCH(linear, s, y, x, w->inner, rows);
}

static int check_linear_dx(float *dx, const float *dy, const struct weight *w, int rows,
                           int add, struct fault *f)
{
    struct span s[] = {ADD_IF(add, dx, row_at(rows, w->in)),
                       IN(dy, row_at(rows, w->out))};

    return WATCH(linear_dx, s, dx, dy, w->inner, rows, add);
}

static int check_linear_dw(float *dw, const float *dy, const float *x,
                           const struct weight *w, int rows, struct fault *f)
{
    struct span s[] = {INOUT(dw, row_at(w->out, w->in)), IN(dy, row_at(rows, w->out)),
                       IN(x, row_at(rows, w->in))};

    return WATCH(linear_dw, s, dw, dy, x, w->inner, rows);
}

static int check_merge(float *w, const float *base, const float *b, const float *a,
                       float scale, int n_out, int n_in, int rank, struct fault *f)
{
    struct span s[] = {OUT(w, row_at(n_out, n_in)), IN(base, row_at(n_out, n_in)),
                       IN(b, row_at(n_out, rank)), IN(a, row_at(rank, n_in))};

    return WATCH(merge, s, w, base, b, a, scale, n_out, n_in, rank);
}

static int check_scale(float *y, float a, size_t n, struct fault *f)
{
    struct span s[] = {INOUT(y, n)};

    return WATCH(scale, s, y, a, n);
}

static int check_add(float *y, const float *x, size_t n, struct fault *f)
{
    struct span s[] = {INOUT(y, n), IN(x, n)};

    return WATCH(add, s, y, x, n);
}

static int check_bias(float *y, const float *b, int rows, int cols, struct fault *f)
{
    struct span s[] = {INOUT(y, row_at(rows, cols)), IN(b, (size_t)cols)};

    return WATCH(bias, s, y, b, rows, cols);
}

static int check_bias_back(float *db, const float *dy, int rows, int cols,
                           struct fault *f)
{
    struct span s[] = {INOUT(db, (size_t)cols), IN(dy, row_at(rows, cols))};

    return WATCH(bias_back, s, db, dy, rows, cols);
}

/* Rows of an array that an index reaches. */
static size_t reached(const int *index, int rows, int cols)
{
    int last = -1;

    for (int i = 0; i < rows; i++)
        last = index[i] > last ? index[i] : last;
    return row_at(last + 1, cols);
}

static int check_embed(float *y, const float *table, const int *ids, int rows, int cols,
                       struct fault *f)
{
    struct span s[] = {OUT(y, row_at(rows, cols)), IN(table, reached(ids, rows, cols)),
                       HOST_IN(ids, (size_t)rows)};

    return WATCH(embed, s, y, table, ids, rows, cols);
}

static int check_embed_back(float *dtable, const float *dy, const int *ids, int rows,
                            int cols, struct fault *f)
{
    struct span s[] = {INOUT(dtable, reached(ids, rows, cols)),
                       IN(dy, row_at(rows, cols)), HOST_IN(ids, (size_t)rows)};

    return WATCH(embed_back, s, dtable, dy, ids, rows, cols);
}

static int check_gather(float *y, const float *x, const int *index, int rows, int cols,
                        struct fault *f)
{
    struct span s[] = {OUT(y, row_at(rows, cols)), IN(x, reached(index, rows, cols)),
                       HOST_IN(index, (size_t)rows)};

    return WATCH(gather, s, y, x, index, rows, cols);
}

static int check_scatter(float *y, const float *x, const int *index, int rows, int cols,
                         int add, struct fault *f)
{
    struct span s[] = {INOUT(y, reached(index, rows, cols)), IN(x, row_at(rows, cols)),
                       HOST_IN(index, (size_t)rows)};

    return WATCH(scatter, s, y, x, index, rows, cols, add);
}

static int check_rmsnorm(float *y, float *rstd, const float *x, const float *w,
                         int rows, int cols, float eps, struct fault *f)
{
    struct span s[] = {OUT(y, row_at(rows, cols)), OUT(rstd, (size_t)rows),
                       IN(x, row_at(rows, cols)), IN(w, (size_t)cols)};

    return WATCH(rmsnorm, s, y, rstd, x, w, rows, cols, eps);
}

static int check_rmsnorm_back(float *dx, float *dw, const float *dy, const float *x,
                              const float *w, const float *rstd, int rows, int cols,
                              int add, struct fault *f)
{
    size_t n = row_at(rows, cols);
    struct span s[] = {ADD_IF(add, dx, n),  INOUT(dw, (size_t)cols),
                       IN(dy, n),           IN(x, n),
                       IN(w, (size_t)cols), IN(rstd, (size_t)rows)};

    return WATCH(rmsnorm_back, s, dx, dw, dy, x, w, rstd, rows, cols, add);
}

static int check_rope(float *x, const int *pos, const float *inv_freq, float mscale,
                      int rows, int heads, int dim, int rotary, int sign,
                      struct fault *f)
{
    struct span s[] = {INOUT(x, row_at(rows, heads * dim)), HOST_IN(pos, (size_t)rows),
                       HOST_IN(inv_freq, (size_t)(rotary / 2))};

    return WATCH(rope, s, x, pos, inv_freq, mscale, rows, heads, dim, rotary, sign);
}

static int check_swiglu(float *y, const float *gate, const float *up, size_t n,
                        struct fault *f)
{
    struct span s[] = {OUT(y, n), IN(gate, n), IN(up, n)};

    return WATCH(swiglu, s, y, gate, up, n);
}

static int check_swiglu_back(float *dgate, float *dup, const float *dy,
                             const float *gate, const float *up, size_t n,
                             struct fault *f)
{
    struct span s[] = {OUT(dgate, n), OUT(dup, n), IN(dy, n), IN(gate, n), IN(up, n)};

    return WATCH(swiglu_back, s, dgate, dup, dy, gate, up, n);
}

static int check_gate(float *y, const float *x, const float *g, int rows, int cols,
                      int stride, struct fault *f)
{
    size_t n = row_at(rows, cols);
    struct span s[] = {OUT(y, n), IN(x, n),
                       ROWS_IN(g, (size_t)cols, (size_t)rows, (size_t)stride)};

    return WATCH(gate, s, y, x, g, rows, cols, stride);
}

static int check_gate_back(float *dx, float *dg, const float *dy, const float *x,
                           const float *g, int rows, int cols, int stride,
                           struct fault *f)
{
    size_t n = row_at(rows, cols), row = (size_t)cols, apart = (size_t)stride;
    struct span s[] = {OUT(dx, n), ROWS_OUT(dg, row, (size_t)rows, apart), IN(dy, n),
                       IN(x, n), ROWS_IN(g, row, (size_t)rows, apart)};

    return WATCH(gate_back, s, dx, dg, dy, x, g, rows, cols, stride);
}

/* Values of the states that rows reach, `width` to a slot. */
static size_t states_reached(const struct scan_rows *r, size_t width)
{
    int slots = 0;

    for (int i = 0; i < r->rows; i++)
        slots = r->slot[i] >= slots ? r->slot[i] + 1 : slots;
    return (size_t)slots * width;
}

static int check_conv(float *y, const float *x, const float *w, float *state,
                      const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    size_t n = row_at(r->rows, cols);
    struct span s[] = {OUT(y, n), IN(x, n), IN(w, row_at(cols, kernel)),
                       INOUT(state, states_reached(r, row_at(kernel - 1, cols)))};

    return WATCH(conv, s, y, x, w, state, r, cols, kernel);
}

static int check_conv_back(float *dx, float *dw, const float *dy, const float *x,
                           const float *w, const struct scan_rows *r, int cols,
                           int kernel, struct fault *f)
{
    size_t n = row_at(r->rows, cols), nw = row_at(cols, kernel);
    struct span s[] = {OUT(dx, n), INOUT(dw, nw), IN(dy, n), IN(x, n), IN(w, nw)};

    return WATCH(conv_back, s, dx, dw, dy, x, w, r, cols, kernel);
}

static int check_delta_gates(float *decay, float *beta, const float *a, const float *b,
                             const float *a_log, const float *dt_bias, int rows,
                             int heads, struct fault *f)
{
    size_t n = row_at(rows, heads), row = (size_t)heads;
    struct span s[] = {OUT(decay, n), OUT(beta, n),   IN(a, n),
                       IN(b, n),      IN(a_log, row), IN(dt_bias, row)};

    return WATCH(delta_gates, s, decay, beta, a, b, a_log, dt_bias, rows, heads);
}

static int check_delta_gates_back(float *da, float *db, float *da_log, float *ddt_bias,
                                  const float *ddecay, const float *dbeta,
                                  const float *a, const float *b, const float *a_log,
                                  const float *dt_bias, int rows, int heads,
                                  struct fault *f)
{
    size_t n = row_at(rows, heads), row = (size_t)heads;
    struct span s[] = {
        OUT(da, n),     OUT(db, n),      INOUT(da_log, row), INOUT(ddt_bias, row),
        IN(ddecay, n),  IN(dbeta, n),    IN(a, n),           IN(b, n),
        IN(a_log, row), IN(dt_bias, row)};

    return WATCH(delta_gates_back, s, da, db, da_log, ddt_bias, ddecay, dbeta, a, b,
                 a_log, dt_bias, rows, heads);
}

static int check_delta(float *o, float *state, const float *q, const float *k,
                       const float *v, int stride, const float *decay,
                       const float *beta, const struct scan_rows *r,
                       const struct delta_heads *h, struct fault *f)
{
    size_t keys = row_at(h->key_heads, h->key_dim), rows = (size_t)r->rows;
    size_t values = row_at(h->value_heads, h->value_dim), apart = (size_t)stride;
    size_t gates = row_at(r->rows, h->value_heads);
    struct span s[] = {OUT(o, rows * values),
                       INOUT(state, states_reached(r, values * (size_t)h->key_dim)),
                       ROWS_IN(q, keys, rows, apart),
                       ROWS_IN(k, keys, rows, apart),
                       ROWS_IN(v, values, rows, apart),
                       IN(decay, gates),
                       IN(beta, gates)};

    return WATCH(delta, s, o, state, q, k, v, stride, decay, beta, r, h);
}

static int check_delta_back(float *dq, float *dk, float *dv, float *ddecay,
                            float *dbeta, const float *d_o, const float *q,
                            const float *k, const float *v, int stride,
                            const float *decay, const float *beta,
                            const struct scan_rows *r, const struct delta_heads *h,
                            float *scratch, struct fault *f)
{
    size_t keys = row_at(h->key_heads, h->key_dim), rows = (size_t)r->rows;
    size_t values = row_at(h->value_heads, h->value_dim), apart = (size_t)stride;
    size_t gates = row_at(r->rows, h->value_heads);
    struct span s[] = {ROWS_OUT(dq, keys, rows, apart),
                       ROWS_OUT(dk, keys, rows, apart),
                       ROWS_OUT(dv, values, rows, apart),
                       OUT(ddecay, gates),
                       OUT(dbeta, gates),
                       IN(d_o, rows * values),
                       ROWS_IN(q, keys, rows, apart),
                       ROWS_IN(k, keys, rows, apart),
                       ROWS_IN(v, values, rows, apart),
                       IN(decay, gates),
                       IN(beta, gates),
                       WORK(scratch, watched.inner->delta_scratch(r, h))};

    return WATCH(delta_back, s, dq, dk, dv, ddecay, dbeta, d_o, q, k, v, stride, decay,
                 beta, r, h, scratch);
}

static size_t check_delta_scratch(const struct scan_rows *r,
                                  const struct delta_heads *h)
{
    return watched.inner->delta_scratch(r, h);
}

/* Rows of the key and value arrays that some query sees. */
static size_t kv_reached(const struct attend_rows *r)
{
    size_t end = 0;

    for (int i = 0; i < r->rows; i++) {
        const int *first = r->map.first + row_at(r->seq[i], r->map.stride);

        for (int page = 0; page <= r->pos[i] / r->map.page; page++) {
            int rest = r->pos[i] - page * r->map.page;
            int rows = rest < r->map.page ? rest + 1 : r->map.page;
            size_t after_page = (size_t)first[page] + (size_t)rows;

            end = after_page > end ? after_page : end;
        }
    }
    return end;
}

static int check_attend(float *o, float *lse, const float *q, const float *k,
                        const float *v, const struct attend_rows *r,
                        const struct heads *h, struct fault *f)
{
    size_t nq = row_at(r->rows, h->heads * h->dim);
    size_t nk = kv_reached(r) * row_at(h->kv_heads, h->dim);
    struct span s[] = {OUT(o, nq), OUT(lse, row_at(r->rows, h->heads)), IN(q, nq),
                       IN(k, nk), IN(v, nk)};

    return WATCH(attend, s, o, lse, q, k, v, r, h);
}

static int check_attend_back(float *dq, float *dk, float *dv, const float *dout,
                             const float *o, const float *lse, const float *q,
                             const float *k, const float *v,
                             const struct attend_rows *r, const struct heads *h,
                             struct fault *f)
{
    size_t nq = row_at(r->rows, h->heads * h->dim);
    size_t nk = kv_reached(r) * row_at(h->kv_heads, h->dim);
    struct span s[] = {OUT(dq, nq),  INOUT(dk, nk), INOUT(dv, nk),
                       IN(dout, nq), IN(o, nq),     IN(lse, row_at(r->rows, h->heads)),
                       IN(q, nq),    IN(k, nk),     IN(v, nk)};

    return WATCH(attend_back, s, dq, dk, dv, dout, o, lse, q, k, v, r, h);
}

static int check_logprob(float *logp, float *entropy, float *lse, const float *logits,
                         const int *targets, int rows, int vocab, int stride,
                         float temperature, struct fault *f)
{
    size_t n = (size_t)rows;
    struct span s[] = {HOST_OUT(logp, n), HOST_OUT(entropy, n), HOST_OUT(lse, n),
                       IN(logits, row_at(rows, stride)), HOST_IN(targets, n)};

    return WATCH(logprob, s, logp, entropy, lse, logits, targets, rows, vocab, stride,
                 temperature);
}

static int check_logprob_back(float *logits, const float *dlogp, const float *lse,
                              const int *targets, int rows, int vocab, int stride,
                              float temperature, struct fault *f)
{
    size_t n = (size_t)rows;
    struct span s[] = {INOUT(logits, row_at(rows, stride)), HOST_IN(dlogp, n),
                       HOST_IN(lse, n), HOST_IN(targets, n)};

    return WATCH(logprob_back, s, logits, dlogp, lse, targets, rows, vocab, stride,
                 temperature);
}

static int check_sample(int *ids, float *logp, const float *logits, const float *u,
                        int rows, int vocab, int stride,
                        const struct sampling *sampling, float train_temperature,
                        struct fault *f)
{
    size_t n = (size_t)rows;
    struct span s[] = {HOST_OUT(logp, n), IN(logits, row_at(rows, stride)),
                       HOST_IN(u, n)};

    return WATCH(sample, s, ids, logp, logits, u, rows, vocab, stride, sampling,
                 train_temperature);
}

static int check_sumsq(double *out, const float *x, size_t n, struct fault *f)
{
    struct span s[] = {IN(x, n)};

    if (WATCH(sumsq, s, out, x, n))
        return f->code;
    return isfinite(*out)
               ? 0
               : fault_set(f, FAULT_BUG, "check: op sumsq of backend %s gave %g",
                           watched.inner->name, *out);
}

static int check_adamw(float *w, float *m, float *v, const float *g, size_t n, float lr,
                       float beta1, float beta2, float eps, float weight_decay,
                       int64_t step, float grad_scale, struct fault *f)
{
    struct span s[] = {INOUT(w, n), INOUT(m, n), INOUT(v, n), IN(g, n)};

    return WATCH(adamw, s, w, m, v, g, n, lr, beta1, beta2, eps, weight_decay, step,
                 grad_scale);
}

#define CHECK_ENTRY(op) .op = check_##op,

int check_wrap(const struct backend **out, const struct backend *inner, struct fault *f)
{
    static const struct backend checker = {
        .name = "check",
        HOST_OPS(CHECK_ENTRY) /**/
        OWN_OPS(CHECK_ENTRY)  /**/
    };

    if (watched.open && watched.inner != inner)
        return fault_set(f, FAULT_CONFIG,
                         "backend check:%s is open; close it before check:%s",
                         watched.inner->name, inner->name);
    watched.inner = inner;
    *out = &checker;
    return 0;
}
