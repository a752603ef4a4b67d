/* cpu_sample.c - the sampler of the CPU backend.
 *
 * Nothing is sorted.  top-k and top-p both keep a head of the ranking (larger logits
 * first, lower ids first among equals), so each comes down to its last member: a logit,
 * and how many of the ids that share it stay.  Ids that can't be in the head are left
 * out before it is looked for. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/cpu_vocab.h"

#define BIN_BITS 11
#define BINS (1 << BIN_BITS)

/* An id that may be drawn. */
struct choice {
    float x, e; /* logit; weight */
    int id;
};

/* Work space for one row. */
struct work {
    float *e;            /* [vocab] weights */
    double *sums, *bins; /* of blocks of e; [BINS] */
    float *most;         /* of blocks of logits */
    struct choice *some; /* [vocab] */
    int blocks;
};

static int work_take(struct work *w, int vocab, struct fault *f)
{
    size_t n = (size_t)vocab, blocks = (n + SOFT_BLOCK - 1) / SOFT_BLOCK;
    size_t doubles = (blocks + BINS) * sizeof(double);
    size_t bytes = doubles + n * sizeof *w->some + (n + blocks) * sizeof(float);
    char *p = cpu_scratch(SCRATCH_SAMPLE, bytes, f);

    if (!p)
        return FAULT_SYSTEM;
    w->blocks = (int)blocks;
    w->sums = (double *)(void *)p;
    w->bins = w->sums + blocks;
    w->some = (struct choice *)(void *)(p + doubles);
    w->e = (float *)(void *)(w->some + n);
    w->most = w->e + n;
    return 0;
}

/* Unsigned numbers in the order of the floats. */
static uint32_t rank_key(float x)
{
    uint32_t b = float_bits(x + 0.0f); /* -0 becomes 0: they are equal */

    return b & 0x80000000u ? ~b : b | 0x80000000u;
}

static float key_float(uint32_t key)
{
    return bits_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

/* The last member of the shortest head of the ranking whose weights (1 each, or e)
 * reach `target`; of all choices if they don't.  A radix select: three passes, each
 * settles some bits of the key.  *above: the weights of the larger logits. */
static float find_last(const struct choice *c, int n, int by_e, double target,
                       double *bins, double *above)
{
    uint32_t key = 0, known = 0; /* bits settled, and which */

    *above = 0.0;
    for (int shift = 32 - BIN_BITS; known != UINT32_MAX;
         shift = shift > BIN_BITS ? shift - BIN_BITS : 0) {
        uint32_t fresh = (uint32_t)(BINS - 1) << shift & ~known;
        int b = BINS - 1, least = 0;

        memset(bins, 0, BINS * sizeof *bins);
        for (int j = 0; j < n; j++) {
            uint32_t k = rank_key(c[j].x);

            if ((k & known) == key)
                bins[(k & fresh) >> shift] += by_e ? (double)c[j].e : 1.0;
        }
        while (least < BINS - 1 && bins[least] <= 0.0)
            least++;
        for (; b > least && (bins[b] <= 0.0 || *above + bins[b] < target); b--)
            *above += bins[b];
        key |= (uint32_t)b << shift;
        known |= fresh;
    }
    return key_float(key);
}

/* Keep the choices of that head, in their order; returns how many. */
static int keep_head(struct choice *c, int n, int by_e, double target, double *bins)
{
    double above;
    float last = find_last(c, n, by_e, target, bins, &above);
    int kept = 0, ties = 0;

    for (int j = 0; j < n; j++) {
        if (c[j].x < last)
            continue;
        if (!(c[j].x > last)) {
            double each = by_e ? (double)c[j].e : 1.0;

            if (ties > 0 && above + ties * each >= target)
                continue;
            ties++;
        }
        c[kept++] = c[j];
    }
    return kept;
}

/* A logit that the k-th largest is not below: k blocks have one that large. */
static float floor_of_top_k(const struct work *w, int k, double *bins)
{
    double above;

    if (k > w->blocks)
        return -INFINITY;
    for (int b = 0; b < w->blocks; b++)
        w->some[b] = (struct choice){.x = w->most[b]};
    return find_last(w->some, w->blocks, 0, k, bins, &above);
}

/* The choices with logits and weights of at least so much; returns how many. */
static int collect(const struct work *w, const float *x, int n, float least_x,
                   float least_e)
{
    int kept = 0;

    for (int b = 0; b < w->blocks; b++) {
        int end = n < (b + 1) * SOFT_BLOCK ? n : (b + 1) * SOFT_BLOCK;

        if (w->most[b] < least_x)
            continue;
        /* Always stored, seldom kept: no branch to mispredict. */
        for (int j = b * SOFT_BLOCK; j < end; j++) {
            w->some[kept] = (struct choice){x[j], w->e[j], j};
            kept += (x[j] >= least_x) & (w->e[j] >= least_e);
        }
    }
    return kept;
}

static double total(const struct choice *c, int n)
{
    double sum = 0.0;

    for (int j = 0; j < n; j++)
        sum += (double)c[j].e;
    return sum;
}

/* Draw from what top-k and then top-p leave of the row. */
static int draw_some(const struct work *w, const float *x, int n,
                     const struct sampling *s, double sum, double u)
{
    int top_k = s->top_k > 0 && s->top_k < n, kept, id = 0;
    double target, head = 0.0;

    for (int b = 0; b < w->blocks; b++) {
        int at = b * SOFT_BLOCK;

        w->most[b] = cpu_row_most(x + at, n - at < SOFT_BLOCK ? n - at : SOFT_BLOCK);
    }
    if (top_k)
        kept = collect(w, x, n, floor_of_top_k(w, s->top_k, w->bins), 0.0f);
    else /* all that weigh less than this sum up to less than half of 1 - top_p */
        kept = collect(w, x, n, -INFINITY,
                       (float)(0.5 * (1.0 - (double)s->top_p) * sum / n));
    if (top_k)
        kept = keep_head(w->some, kept, 0, s->top_k, w->bins);
    if (s->top_p < 1.0f)
        kept =
            keep_head(w->some, kept, 1,
                      (double)s->top_p * (top_k ? total(w->some, kept) : sum), w->bins);
    target = u * total(w->some, kept);
    for (int j = 0; j < kept; j++) {
        if (w->some[j].e <= 0.0f)
            continue;
        id = w->some[j].id;
        head += (double)w->some[j].e;
        if (head > target)
            break;
    }
    return id;
}

/* The first id at which the running sum of e exceeds `target`; the last with any weight
 * if rounding keeps it below. */
static int draw(const float *e, const double *sums, int n, double target)
{
    int blocks = (n + SOFT_BLOCK - 1) / SOFT_BLOCK, block = 0, id = 0, end;
    double head = 0.0;

    for (int b = 0; b < blocks; b++) {
        if (sums[b] <= 0.0)
            continue;
        block = b;
        if (head + sums[b] > target)
            break;
        head += sums[b];
    }
    end = (block + 1) * SOFT_BLOCK;
    for (int j = block * SOFT_BLOCK; j < end && j < n; j++) {
        if (e[j] <= 0.0f)
            continue;
        id = j;
        head += (double)e[j];
        if (head > target)
            break;
    }
    return id;
}

static int argmax(const float *x, int n)
{
    float most = cpu_row_most(x, n);
    int id = 0;

    while (id < n - 1 && x[id] < most)
        id++;
    return id;
}

/* Logits that are not finite make the log-probability NaN; the id is then any. */
static int sample_row(float *logp, const float *x, double u, int n,
                      const struct sampling *s, float train_temperature,
                      const struct work *w)
{
    struct soft train, own;
    int id;

    if (s->temperature <= 0.0f) {
        train = cpu_row_soft(x, n, train_temperature, NULL, NULL);
        id = argmax(x, n);
    } else {
        own = cpu_row_soft(x, n, s->temperature, w->e, w->sums);
        train = s->temperature == train_temperature
                    ? own
                    : cpu_row_soft(x, n, train_temperature, NULL, NULL);
        id = (s->top_k > 0 && s->top_k < n) || s->top_p < 1.0f
                 ? draw_some(w, x, n, s, own.sum, u)
                 : draw(w->e, w->sums, n, u * own.sum);
    }
    *logp = cpu_soft_logp(&train, x[id]);
    return id;
}

int cpu_sample(int *ids, float *logp, const float *logits, const float *u, int rows,
               int vocab, int stride, const struct sampling *s, float train_temperature,
               struct fault *f)
{
    struct work w = {0};

    if (work_take(&w, vocab, f))
        return f->code;
    for (int r = 0; r < rows; r++)
        ids[r] = sample_row(&logp[r], logits + row_at(r, stride), (double)u[r], vocab,
                            s, train_temperature, &w);
    return 0;
}
