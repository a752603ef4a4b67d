/* span.c - see span.h. */
#include <math.h>
#include <xxhash.h>

#include "backend/span.h"

#define PIECE 4096 /* values looked at together */

/* Values of a span, numbered without what is between its rows. */
static size_t span_values(const struct span *s)
{
    return s->n * s->rows;
}

/* How many from number `at` on lie together, at most PIECE; *p is the first. */
static size_t piece_at(char **p, const struct span *s, size_t at)
{
    size_t n = s->n ? s->n : 1; /* an empty span has no number `at` */
    size_t row = at / n, col = at % n, rest = n - col;

    *p = (char *)(uintptr_t)s->p + (row * s->stride + col) * sizeof(float);
    return rest < PIECE ? rest : PIECE;
}

/* Fetch such a piece into host memory. */
static int fetch(float *to, size_t *n, const struct span *s, size_t at,
                 const struct backend *b, struct fault *f)
{
    char *from;

    *n = piece_at(&from, s, at);
    return (s->host ? host_get : b->get)(to, from, *n * sizeof *to, f);
}

static int hash(uint64_t *out, const struct span *s, const struct backend *b,
                struct fault *f)
{
    float piece[PIECE];

    *out = 0;
    for (size_t at = 0, n; at < span_values(s); at += n) {
        if (fetch(piece, &n, s, at, b, f))
            return f->code;
        *out = XXH3_64bits_withSeed(piece, n * sizeof *piece, *out);
    }
    return 0;
}

/* Behind the last value. */
static const char *span_end(const struct span *s)
{
    size_t n = s->rows ? (s->rows - 1) * s->stride + s->n : 0;

    return (const char *)s->p + n * sizeof(float);
}

static int overlap(const struct span *a, const struct span *b)
{
    const char *p = a->p, *q = b->p;

    return p < span_end(b) && q < span_end(a);
}

/* Fill with NaN what the op must write, unless it also reads it (y may be x). */
static int poison(const struct span *s, const struct span *all, int n,
                  const struct backend *b, struct fault *f)
{
    float piece[PIECE];

    for (int i = 0; i < n; i++)
        if (all[i].p && (all[i].role == READ || all[i].role == ADDED) &&
            overlap(s, &all[i]))
            return 0;
    for (int i = 0; i < PIECE; i++)
        piece[i] = NAN;
    for (size_t at = 0, k; at < span_values(s); at += k) {
        char *to;

        k = piece_at(&to, s, at);
        if ((s->host ? host_put : b->put)(to, piece, k * sizeof *piece, f))
            return f->code;
    }
    return 0;
}

int spans_before(struct span *s, int n, const struct backend *b, struct fault *f)
{
    for (int i = 0; i < n; i++) {
        if (s[i].p && s[i].role == READ && hash(&s[i].hash, &s[i], b, f))
            return f->code;
        if (s[i].p && (s[i].role == WRITTEN || s[i].role == SCRATCH) &&
            poison(&s[i], s, n, b, f))
            return f->code;
    }
    return 0;
}

static int all_finite(const char *op, const struct span *s, const struct backend *b,
                      struct fault *f)
{
    float piece[PIECE];

    for (size_t at = 0, n; at < span_values(s); at += n) {
        if (fetch(piece, &n, s, at, b, f))
            return f->code;
        for (size_t i = 0; i < n; i++)
            if (!isfinite(piece[i]))
                return fault_set(f, FAULT_BUG,
                                 "check: op %s of backend %s left %g in %s[%zu]", op,
                                 b->name, (double)piece[i], s->name, at + i);
    }
    return 0;
}

static int written(const struct span *s, const struct span *all, int n)
{
    for (int i = 0; i < n; i++)
        if (all[i].p && all[i].role != READ && overlap(s, &all[i]))
            return 1;
    return 0;
}

int spans_after(const char *op, const struct span *s, int n, const struct backend *b,
                struct fault *f)
{
    uint64_t now;

    for (int i = 0; i < n; i++) {
        if (!s[i].p || s[i].role == SCRATCH)
            continue;
        if (s[i].role != READ) {
            if (all_finite(op, &s[i], b, f))
                return f->code;
        } else if (!written(&s[i], s, n)) {
            if (hash(&now, &s[i], b, f))
                return f->code;
            if (now != s[i].hash)
                return fault_set(f, FAULT_BUG,
                                 "check: op %s of backend %s changed its input %s", op,
                                 b->name, s[i].name);
        }
    }
    return 0;
}
