/* backend.h - device memory and the numeric operations, behind one table.
 *
 * Conventions.  Matrices are row-major [row][col].  Arrays are f32 in backend memory
 * unless a type is given; ids and positions are int32.  Every op works row by row:
 * a row of the output is the same bits whatever other rows are in the call (invariants
 * 4 and 5), so a forward may be cut into calls at will.  "+=" in a comment means the op
 * adds to its output.  Ops return 0 or a fault; all take `struct fault *` last.
 *
 * Dense products go through `struct weight`, which holds a matrix in compute form (f32
 * or bf16, packed for the library); accumulation is always f32.
 */
#ifndef DAPO_BACKEND_H
#define DAPO_BACKEND_H

#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

enum compute { COMPUTE_F32, COMPUTE_BF16 }; /* order of model.compute's choices */

struct weight; /* a dense matrix [out][in] in compute form; the backend's own */

/* Where the keys of a sequence live.  Position j of sequence s is row
 *     first[s * stride + j / page] + j % page
 * of the key and value arrays.  A packed training sequence is one page as long as can
 * be (page = INT_MAX, stride = 1); a KV cache has short pages, and members of a group
 * share those of their prompt. */
struct kv_map {
    int page, stride;
    const int *first; /* host memory, [sequences][stride] */
    /* Where linear attention keeps what it remembers of each sequence: host memory,
     * [sequences]; NULL: state s for sequence s.  No op of this table reads it. */
    const int *state;
};

/* One query row: sequence and position; it sees keys 0..pos of its sequence. */
struct attend_rows {
    int rows;
    const int *seq, *pos; /* host memory, [rows] */
    struct kv_map map;
};

/* Heads: q rows are [heads][dim], k and v rows [kv_heads][dim]; heads % kv_heads == 0.
 */
struct heads {
    int heads, kv_heads, dim;
    float scale; /* of q.k, usually 1/sqrt(dim) */
};

/* Rows that go on from a state, one state for each slot.  Rows of a slot come in rising
 * position, one after the other, in this call or in later ones; rows of other slots may
 * stand between them.  A row at position 0 starts from nothing, whatever the slot held.
 * Training layout: every row of each sequence in one call, together, from position 0;
 * `slot` then only tells sequences apart. */
struct scan_rows {
    int rows;
    const int *slot, *pos; /* host memory, [rows] */
};

/* Heads of the gated delta rule: q and k are [key_heads][key_dim] in a row, v and o
 * [value_heads][value_dim]; value_heads % key_heads == 0, and value head h reads key
 * head h / (value_heads / key_heads). */
struct delta_heads {
    int key_heads, value_heads, key_dim, value_dim;
};

struct sampling {
    float temperature; /* 0 = take the most likely */
    int top_k;         /* 0 = all */
    float top_p;       /* 1 = all */
};

struct backend {
    const char *name;

    /* -- device and memory ---------------------------------------------------- */
    int (*open)(int device, int threads, struct fault *f); /* idempotent */
    void (*close)(void);
    int (*alloc)(void **out, size_t bytes,
                 struct fault *f); /* zeroed, 64-byte aligned */
    void (*free)(void *p);
    int (*put)(void *dst, const void *host, size_t bytes, struct fault *f);
    int (*get)(void *host, const void *src, size_t bytes, struct fault *f);
    int (*zero)(void *p, size_t bytes, struct fault *f);
    int (*sync)(struct fault *f);

    /* -- dense products ------------------------------------------------------- */
    int (*weight_new)(struct weight **out, int n_out, int n_in, enum compute type,
                      struct fault *f);
    void (*weight_free)(struct weight *w);
    /* Take over the values of master[n_out][n_in] (f32, backend memory), rounded to
     * nearest even for bf16; in bf16 the activation is rounded too, on its way into
     * each product.  `master` must outlive the weight and is what linear_dx may read,
     * in f32 at each call, in bf16 at the first one after weight_set. */
    int (*weight_set)(struct weight *w, const float *master, struct fault *f);
    /* y[rows][out] = x[rows][in] W^T */
    int (*linear)(float *y, const float *x, const struct weight *w, int rows,
                  struct fault *f);
    /* dx[rows][in] (+= if add) dy[rows][out] W */
    int (*linear_dx)(float *dx, const float *dy, const struct weight *w, int rows,
                     int add, struct fault *f);
    /* dw[out][in] += dy[rows][out]^T x[rows][in] */
    int (*linear_dw)(float *dw, const float *dy, const float *x, const struct weight *w,
                     int rows, struct fault *f);
    /* w[out][in] = base[out][in] + scale * (b[out][rank] a[rank][in]), the inner sum
     * from 0 on in order and each value by itself, so that every process gets the same
     * bits; rank 0 copies base, -0 too.  w may be base.  Source: Hu et al. 2021,
     * eq. 3. */
    int (*merge)(float *w, const float *base, const float *b, const float *a,
                 float scale, int n_out, int n_in, int rank, struct fault *f);

    /* -- elementwise and rows ------------------------------------------------- */
    /* y[i] += x[i], n values */
    int (*add)(float *y, const float *x, size_t n, struct fault *f);
    /* y[i] *= a, n values */
    int (*scale)(float *y, float a, size_t n, struct fault *f);
    /* y[row][col] += b[col] */
    int (*bias)(float *y, const float *b, int rows, int cols, struct fault *f);
    /* db[col] += sum over rows of dy */
    int (*bias_back)(float *db, const float *dy, int rows, int cols, struct fault *f);
    /* y[row] = table[ids[row]]; ids in host memory, each in [0, table rows), checked by
     * the caller */
    int (*embed)(float *y, const float *table, const int *ids, int rows, int cols,
                 struct fault *f);
    /* dtable[ids[row]] += dy[row], rows in order */
    int (*embed_back)(float *dtable, const float *dy, const int *ids, int rows,
                      int cols, struct fault *f);
    /* y[i] = x[index[i]] for i < rows (gather); index in host memory */
    int (*gather)(float *y, const float *x, const int *index, int rows, int cols,
                  struct fault *f);
    /* y[index[i]] = x[i] (scatter; indices distinct), y[index[i]] += x[i] if add */
    int (*scatter)(float *y, const float *x, const int *index, int rows, int cols,
                   int add, struct fault *f);
    /* y = x / rms(x) * w per row; rms(x)^2 = mean(x^2) + eps; rstd[row] = 1/rms, NULL
     * to skip.  Source: Zhang & Sennrich 2019, eq. 4.  y may be x. */
    int (*rmsnorm)(float *y, float *rstd, const float *x, const float *w, int rows,
                   int cols, float eps, struct fault *f);
    /* dx (+= if add), dw += unless NULL; x is the op's input */
    int (*rmsnorm_back)(float *dx, float *dw, const float *dy, const float *x,
                        const float *w, const float *rstd, int rows, int cols, int add,
                        struct fault *f);
    /* Rotate the first `rotary` <= dim values (an even number) of each head of
     * x[row][head][dim] in place by pos[row] (host): pairs (i, i + rotary/2) by the
     * angle pos * inv_freq[i], inv_freq[rotary/2] in host memory, times `sign` (-1
     * undoes it and is the backward).  Angles in double, cos and sin rounded to f32,
     * scaled by `mscale` (1 unless the rope scaling says otherwise).
     * Source: Su et al. 2021; the half-split layout of Hugging Face. */
    int (*rope)(float *x, const int *pos, const float *inv_freq, float mscale, int rows,
                int heads, int dim, int rotary, int sign, struct fault *f);
    /* y = silu(gate) * up, n values.  Source: Shazeer 2020. */
    int (*swiglu)(float *y, const float *gate, const float *up, size_t n,
                  struct fault *f);
    int (*swiglu_back)(float *dgate, float *dup, const float *dy, const float *gate,
                       const float *up, size_t n, struct fault *f);

    /* y = x sigmoid(g).  x and y are [rows][cols]; rows of g lie `stride` >= cols
     * apart, so that it may be a part of wider rows: of queries and gates in turn,
     * [rows][heads][2][dim], the gates are g = start + dim with rows * heads rows of
     * dim values and stride 2 dim (and the queries a gather of every second row of dim
     * values).  y may be x.  Source: Qiu et al. 2025, arXiv:2505.06708. */
    int (*gate)(float *y, const float *x, const float *g, int rows, int cols,
                int stride, struct fault *f);
    /* dx = dy s, dg = dy x s (1 - s), s = sigmoid(g); dg lies as g does, and what is
     * between its rows stays.  dx may be dy. */
    int (*gate_back)(float *dx, float *dg, const float *dy, const float *x,
                     const float *g, int rows, int cols, int stride, struct fault *f);

    /* -- linear attention ----------------------------------------------------- */
    /* Causal convolution of each column over the rows of its sequence, and SiLU:
     *     y[row][c] = silu(sum over j < kernel of w[c][j] x[pos - kernel + 1 + j][c])
     * with 0 before position 0.  w is [cols][kernel], 1 <= kernel <= 16; y is not x.
     * state[slot][kernel - 1][cols] holds a slot's last inputs, oldest first; it may be
     * NULL in training layout.
     * Source: conv1d of Hugging Face's Qwen3.5; Gu & Dao 2023, section 3.4. */
    int (*conv)(float *y, const float *x, const float *w, float *state,
                const struct scan_rows *r, int cols, int kernel, struct fault *f);
    /* dx =, dw += (NULL to skip); x is the op's input; training layout */
    int (*conv_back)(float *dx, float *dw, const float *dy, const float *x,
                     const float *w, const struct scan_rows *r, int cols, int kernel,
                     struct fault *f);
    /* decay = exp(-exp(a_log[h]) softplus(a + dt_bias[h])), beta = sigmoid(b), all
     * [rows][heads].
     * Source: Yang et al. 2024, arXiv:2412.06464, section 3.4 (the decay of Mamba2). */
    int (*delta_gates)(float *decay, float *beta, const float *a, const float *b,
                       const float *a_log, const float *dt_bias, int rows, int heads,
                       struct fault *f);
    /* da =, db =; da_log[h] += and ddt_bias[h] +=, each NULL to skip */
    int (*delta_gates_back)(float *da, float *db, float *da_log, float *ddt_bias,
                            const float *ddecay, const float *dbeta, const float *a,
                            const float *b, const float *a_log, const float *dt_bias,
                            int rows, int heads, struct fault *f);
    /* The gated delta rule.  For each value head in each row, with S the state of the
     * row's slot, [key_dim][value_dim]:
     *     q' = q / sqrt(sum q^2 + 1e-6) / sqrt(key_dim),  k' = k / sqrt(sum k^2 + 1e-6)
     *     S = decay S,  S += k' (beta (v - S^T k'))^T,  o = S^T q'
     * decay and beta are [rows][value_heads], o is [rows][value_heads][value_dim]; rows
     * of q, k and v lie `stride` apart, so that they may be parts of one wider row.
     * state is [slots][value_heads][key_dim][value_dim]; it may be NULL in training
     * layout.
     * Source: Yang et al. 2024, arXiv:2412.06464, section 3.1; norms and order as
     * torch_recurrent_gated_delta_rule of Hugging Face's Qwen3.5. */
    int (*delta)(float *o, float *state, const float *q, const float *k, const float *v,
                 int stride, const float *decay, const float *beta,
                 const struct scan_rows *r, const struct delta_heads *h,
                 struct fault *f);
    /* dq, dk, dv (rows `stride` apart, as q, k and v; what is between them stays),
     * ddecay and dbeta, all =, of the op's inputs, so through the norms; training
     * layout.  `scratch` is backend memory of delta_scratch floats; what it holds is
     * undefined before and after. */
    int (*delta_back)(float *dq, float *dk, float *dv, float *ddecay, float *dbeta,
                      const float *d_o, const float *q, const float *k, const float *v,
                      int stride, const float *decay, const float *beta,
                      const struct scan_rows *r, const struct delta_heads *h,
                      float *scratch, struct fault *f);
    /* How many floats, maybe 0; grows with the longest sequence of the rows. */
    size_t (*delta_scratch)(const struct scan_rows *r, const struct delta_heads *h);

    /* -- attention ------------------------------------------------------------ */
    /* o[row][head][dim] = softmax(scale q k^T) v over keys 0..pos; lse[row][head] =
     * log sum exp of the scaled scores, NULL to skip.  The result of a row depends only
     * on its own q, k and v values, not on pages or on other rows. */
    int (*attend)(float *o, float *lse, const float *q, const float *k, const float *v,
                  const struct attend_rows *r, const struct heads *h, struct fault *f);
    /* dq = ..., dk +=, dv += (the caller zeroes dk and dv); training layout */
    int (*attend_back)(float *dq, float *dk, float *dv, const float *dout,
                       const float *o, const float *lse, const float *q, const float *k,
                       const float *v, const struct attend_rows *r,
                       const struct heads *h, struct fault *f);

    /* -- the vocabulary ------------------------------------------------------- */
    /* logits are [rows][stride], of which the first `vocab` columns are real: padded
     * rows of the vocabulary count neither in the sampler nor in the loss.
     * logp[row] = log softmax(logits / temperature)[target]; entropy[row] in nats and
     * lse[row], each NULL to skip.  targets in host memory; outputs in host memory. */
    int (*logprob)(float *logp, float *entropy, float *lse, const float *logits,
                   const int *targets, int rows, int vocab, int stride,
                   float temperature, struct fault *f);
    /* In place: logits[row][j] = dlogp[row] * d logp[row] / d logits[row][j]
     *     = dlogp[row] / temperature * ((j == target) - softmax_j); 0 in padded
     * columns. lse from logprob. */
    int (*logprob_back)(float *logits, const float *dlogp, const float *lse,
                        const int *targets, int rows, int vocab, int stride,
                        float temperature, struct fault *f);
    /* Draw ids[row] with the uniform number u[row] in [0, 1): temperature, then top-k,
     * then top-p, then inverse transform in id order.  Ties at the k-th value: lower
     * ids stay.  logp[row]: log-prob of the draw over the full vocabulary at
     * `train_temperature`, the same bits as op logprob gives.  u, ids and logp in host
     * memory.  A logit of -inf is never drawn; where one is NaN or +inf, or all are
     * -inf, there is nothing to draw from: that row's logp is NaN and its id any below
     * vocab. */
    int (*sample)(int *ids, float *logp, const float *logits, const float *u, int rows,
                  int vocab, int stride, const struct sampling *s,
                  float train_temperature, struct fault *f);

    /* -- optimizer ------------------------------------------------------------ */
    /* *out = sum of x^2 in double, in a fixed order */
    int (*sumsq)(double *out, const float *x, size_t n, struct fault *f);
    /* One AdamW step on n values; g is multiplied by grad_scale first.  `step` counts
     * from 1.  w -= lr * wd * w; then w -= lr * mhat / (sqrt(vhat) + eps), as PyTorch.
     * Source: Loshchilov & Hutter 2019, alg. 2. */
    int (*adamw)(float *w, float *m, float *v, const float *g, size_t n, float lr,
                 float beta1, float beta2, float eps, float weight_decay, int64_t step,
                 float grad_scale, struct fault *f);
};

extern const struct backend
    backend_ref; /* plain loops, double accumulators: for tests */
extern const struct backend backend_cpu; /* oneDNN and vector loops */

/* NULL-terminated: every backend of this build. */
extern const struct backend *const backend_list[];

/* "cpu", "ref", or "check:NAME", which runs NAME and after each op verifies that its
 * outputs are finite and its inputs unchanged (for debugging).  FAULT_CONFIG names the
 * known ones; FAULT_DEVICE if it is known but can't be had here. */
int backend_find(const struct backend **out, const char *name, struct fault *f);

#endif
