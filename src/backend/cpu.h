/* cpu.h - private: the fast backend of the host.
 *
 * Dense products go to oneDNN; the rest is loops over fixed lanes, written so that gcc
 * and clang vectorise them.  The order of every sum is fixed by the row alone. */
#ifndef DAPO_BACKEND_CPU_H
#define DAPO_BACKEND_CPU_H

#include "backend/ops.h"

#define DECLARE_CPU(op) OP_TYPE(op) cpu_##op;
OWN_OPS(DECLARE_CPU)
#undef DECLARE_CPU

/* Work space that outlives a call, so that hot paths don't allocate; one buffer for
 * each use, and no two uses at the same time. */
enum scratch {
    SCRATCH_SRC,    /* rows on their way into a product */
    SCRATCH_SRC2,   /* the other factor of linear_dw */
    SCRATCH_DST,    /* rows on their way out */
    SCRATCH_SCORES, /* attention */
    SCRATCH_KEYS,
    SCRATCH_VALUES,
    SCRATCH_ROWS,
    SCRATCH_BLOCKS,
    SCRATCH_KEY_AT,
    SCRATCH_ROPE,   /* cosines and sines */
    SCRATCH_SAMPLE, /* sums of blocks, histograms */
    SCRATCH_TAPS,   /* convolution */
    SCRATCH_SCAN,   /* the delta rule */
    N_SCRATCH
};

/* At least `bytes` bytes, 64-byte aligned; what they hold is undefined after they grew.
 * NULL with FAULT_SYSTEM. */
void *cpu_scratch(enum scratch which, size_t bytes, struct fault *f);

/* The first k columns of x[rows][cols] in the type of a product, followed by zero rows
 * up to `room`.  x itself if that is what it is already; NULL with FAULT_SYSTEM. */
const void *cpu_take_rows(enum scratch which, const float *x, int rows, int room, int k,
                          int cols, enum compute type, struct fault *f);

/* What the parts keep between calls. */
int cpu_dense_open(struct fault *f);
void cpu_dense_close(void);
void cpu_rope_close(void);

#endif
