/* span.h - private: what "check:NAME" knows about the arrays of an op. */
#ifndef DAPO_BACKEND_SPAN_H
#define DAPO_BACKEND_SPAN_H

#include "backend/ops.h"

enum role { READ, ADDED, WRITTEN, SCRATCH };

/* An array of an op: in backend memory, unless `host`.  What lies between its rows is
 * not looked at, nor touched. */
struct span {
    const char *name;
    const void *p; /* NULL: not asked for */
    size_t n;      /* values of 4 bytes in a row */
    enum role role;
    int host;
    size_t rows, stride; /* a plain array is one row */
    uint64_t hash;
};

#define SPAN(x, n, role, host, rows, stride)  \
    {                                         \
#x, x, n, role, host, rows, stride, 0 \
    }
#define IN(x, n) SPAN(x, n, READ, 0, 1, 0)
#define INOUT(x, n) SPAN(x, n, ADDED, 0, 1, 0)
#define OUT(x, n) SPAN(x, n, WRITTEN, 0, 1, 0)
#define WORK(x, n) SPAN(x, n, SCRATCH, 0, 1, 0)
#define ADD_IF(add, x, n) SPAN(x, n, (add) ? ADDED : WRITTEN, 0, 1, 0)
#define HOST_IN(x, n) SPAN(x, n, READ, 1, 1, 0)
#define HOST_OUT(x, n) SPAN(x, n, WRITTEN, 1, 1, 0)
/* `rows` rows of n values, `stride` apart. */
#define ROWS_IN(x, n, rows, stride) SPAN(x, n, READ, 0, rows, stride)
#define ROWS_OUT(x, n, rows, stride) SPAN(x, n, WRITTEN, 0, rows, stride)

/* Before an op of backend b: hash what it only reads, fill with NaN what it must write
 * and its work space.
 * 0 or the fault of moving memory. */
int spans_before(struct span *s, int n, const struct backend *b, struct fault *f);

/* After it: FAULT_BUG, naming op and array, if an output is not finite or an input has
 * changed. */
int spans_after(const char *op, const struct span *s, int n, const struct backend *b,
                struct fault *f);

#endif
