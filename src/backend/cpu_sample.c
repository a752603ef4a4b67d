/* cpu_sample.c - the sampler of the CPU backend.
 *
 * Nothing is sorted.  top-k and top-p both keep a head of the ranking (larger logits
 * first, lower ids first among equals), so each comes down to its last member: a logit,
 * and how many of the ids that share it stay. */
#include <math.h>

#include "backend/cpu.h"
#include "backend/cpu_vocab.h"

#define BIN_BITS 11
#define BINS (1 << BIN_BITS)

struct cut {
    float least; /* the smallest logit that stays */
    int ties;    /* of the ids that have it, the first so many stay */
};

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

/* The shortest head of the ranking whose weights (1 if NULL) reach `target`, all if
 * they don't.  A radix select: three passes, each settles some bits of the key. */
static struct cut find_cut(const float *x, const float *weight, int n, double target,
                           double *bins)
{
    uint32_t key = 0, known = 0; /* bits settled, and which */
    double above = 0.0, each = 1.0;
    int ties = 0;

    for (int shift = 32 - BIN_BITS; known != UINT32_MAX;
         shift = shift > BIN_BITS ? shift - BIN_BITS : 0) {
        uint32_t fresh = (uint32_t)(BINS - 1) << shift & ~known;
        int b = BINS - 1, least = 0;

        memset(bins, 0, BINS * sizeof *bins);
        for (int j = 0; j < n; j++) {
            uint32_t k = rank_key(x[j]);

            if ((k & known) == key)
                bins[(k & fresh) >> shift] += weight ? (double)weight[j] : 1.0;
        }
        while (least < BINS - 1 && bins[least] <= 0.0)
            least++;
        for (; b > least && (bins[b] <= 0.0 || above + bins[b] < target); b--)
            above += bins[b];
        key |= (uint32_t)b << shift;
        known |= fresh;
    }
    for (int j = 0; j < n; j++) {
        if (rank_key(x[j]) == key && (!weight || weight[j] > 0.0f)) {
            each = weight ? (double)weight[j] : 1.0;
            ties++;
        }
    }
    for (int want = 1; want < ties; want++)
        if (above + want * each >= target)
            ties = want;
    return (struct cut){.least = key_float(key), .ties = ties};
}

/* Zero the weights behind the cut; returns the sum of the others. */
static double apply_cut(float *e, const float *x, int n, struct cut c)
{
    double sum = 0.0;
    int ties = 0;

    for (int j = 0; j < n; j++) {
        if (x[j] < c.least || (!(x[j] > c.least) && ties++ >= c.ties))
            e[j] = 0.0f;
        sum += (double)e[j];
    }
    return sum;
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

struct work {
    float *e;
    double *sums, *bins;
};

static int work_take(struct work *w, int vocab, struct fault *f)
{
    size_t blocks = (size_t)((vocab + SOFT_BLOCK - 1) / SOFT_BLOCK);
    size_t doubles = (blocks + BINS) * sizeof(double);
    char *p = cpu_scratch(SCRATCH_SAMPLE, doubles + row_at(vocab, sizeof(float)), f);

    if (!p)
        return f->code;
    w->sums = (double *)(void *)p;
    w->bins = w->sums + blocks;
    w->e = (float *)(void *)(p + doubles);
    return 0;
}

/* Exclude what top-k and then top-p drop; returns what is left of the sum. */
static double exclude(const struct work *w, const float *x, int n,
                      const struct sampling *s, double sum)
{
    if (s->top_k > 0 && s->top_k < n)
        sum = apply_cut(w->e, x, n, find_cut(x, NULL, n, s->top_k, w->bins));
    if (s->top_p < 1.0f)
        sum = apply_cut(w->e, x, n,
                        find_cut(x, w->e, n, (double)s->top_p * sum, w->bins));
    for (int at = 0, b = 0; at < n; at += SOFT_BLOCK, b++) {
        w->sums[b] = 0.0;
        for (int j = at; j < at + SOFT_BLOCK && j < n; j++)
            w->sums[b] += (double)w->e[j];
    }
    return sum;
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
        double sum;

        own = cpu_row_soft(x, n, s->temperature, w->e, w->sums);
        train = s->temperature == train_temperature
                    ? own
                    : cpu_row_soft(x, n, train_temperature, NULL, NULL);
        sum = own.sum;
        if ((s->top_k > 0 && s->top_k < n) || s->top_p < 1.0f)
            sum = exclude(w, x, n, s, sum);
        id = draw(w->e, w->sums, n, u * sum);
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
