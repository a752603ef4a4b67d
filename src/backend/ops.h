/* ops.h - private: the list of operations, from which each backend's prototypes and
 * table are made, and the arithmetic that all backends share. */
#ifndef DAPO_BACKEND_OPS_H
#define DAPO_BACKEND_OPS_H

#include <stdint.h>
#include <string.h>
#include "dapo/backend.h"

/* Memory ops of a backend that lives in host memory (host.c). */
#define HOST_OPS(X) X(alloc) X(free) X(put) X(get) X(zero) X(sync)

/* Ops that each backend has of its own. */
#define OWN_OPS(X)      \
    X(open)             \
    X(close)            \
    X(weight_new)       \
    X(weight_free)      \
    X(weight_set)       \
    X(linear)           \
    X(linear_dx)        \
    X(linear_dw)        \
    X(merge)            \
    X(add)              \
    X(scale)            \
    X(bias)             \
    X(bias_back)        \
    X(embed)            \
    X(embed_back)       \
    X(gather)           \
    X(scatter)          \
    X(rmsnorm)          \
    X(rmsnorm_back)     \
    X(rope)             \
    X(swiglu)           \
    X(swiglu_back)      \
    X(gate)             \
    X(gate_back)        \
    X(conv)             \
    X(conv_back)        \
    X(delta_gates)      \
    X(delta_gates_back) \
    X(delta)            \
    X(delta_back)       \
    X(delta_scratch)    \
    X(attend)           \
    X(attend_back)      \
    X(logprob)          \
    X(logprob_back)     \
    X(sample)           \
    X(sumsq)            \
    X(adamw)

/* The function type of an op, to declare functions with. */
#define OP_TYPE(op) __typeof__(*((const struct backend *)0)->op)

#define DECLARE_HOST(op) OP_TYPE(op) host_##op;
HOST_OPS(DECLARE_HOST)
#undef DECLARE_HOST
#define HOST_ENTRY(op) .op = host_##op,

/* Element [row][0] of a matrix with `cols` columns. */
static inline size_t row_at(int row, int cols)
{
    return (size_t)row * (size_t)cols;
}

/* Row of the key and value arrays at which position `pos` of sequence `seq` lies. */
static inline size_t kv_row(const struct kv_map *map, int seq, int pos)
{
    const int *first = map->first + row_at(seq, map->stride);

    return (size_t)first[pos / map->page] + (size_t)(pos % map->page);
}

/* Rows from `first` on that go on from one another: of one slot and sequence. */
static inline int scan_run(const struct scan_rows *r, int first)
{
    int n = 1;

    while (first + n < r->rows && r->slot[first + n] == r->slot[first] &&
           r->pos[first + n] != 0)
        n++;
    return n;
}

/* Rows of the longest of them; 0 of no rows. */
static inline int scan_longest(const struct scan_rows *r)
{
    int longest = 0;

    for (int i = 0, n; i < r->rows; i += n) {
        n = scan_run(r, i);
        longest = n > longest ? n : longest;
    }
    return longest;
}

static inline uint32_t float_bits(float x)
{
    uint32_t b;

    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float bits_float(uint32_t b)
{
    float x;

    memcpy(&x, &b, sizeof x);
    return x;
}

/* The 16 high bits of x rounded to nearest, ties to even; NaN stays NaN. */
static inline uint16_t bf16_from(float x)
{
    uint32_t b = float_bits(x);
    uint32_t near = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    uint32_t nan = (b >> 16) | 0x40u;

    return (uint16_t)((b & 0x7fffffffu) > 0x7f800000u ? nan : near);
}

static inline float bf16_round(float x)
{
    return bits_float((uint32_t)bf16_from(x) << 16);
}

#endif
