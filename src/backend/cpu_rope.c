/* cpu_rope.c - rotary positions of the CPU backend, from a table of angles. */
#include <math.h>

#include "backend/cpu.h"

/* Cosines and sines by position, [positions][2][half]: they depend on a model's
 * frequencies only, and in double they cost more than the rotation. */
static struct {
    const float *angles;
    int positions, half;
    float mscale;
    float inv_freq[512]; /* of the table; rotary <= 1024 */
} table;

static void fill(float *angles, int from, int to)
{
    int half = table.half;

    for (int pos = from; pos < to; pos++) {
        float *c = angles + row_at(pos, 2 * half), *s = c + half;

        for (int i = 0; i < half; i++) {
            double angle = (double)pos * (double)table.inv_freq[i];

            c[i] = (float)cos(angle) * table.mscale;
            s[i] = (float)sin(angle) * table.mscale;
        }
    }
}

/* Make the table reach position `last`; a table of other frequencies is dropped. */
static int reach(int last, const float *inv_freq, float mscale, int half,
                 struct fault *f)
{
    size_t bytes = row_at(half, sizeof *inv_freq);
    int want = last + 1;
    float *angles;

    if (half > (int)(sizeof table.inv_freq / sizeof table.inv_freq[0]))
        return fault_set(f, FAULT_CONFIG,
                         "a rotation of %d values is too wide; backend cpu takes 1024",
                         2 * half);
    if (table.angles && table.half == half && table.mscale == mscale &&
        !memcmp(table.inv_freq, inv_freq, bytes) && want <= table.positions)
        return 0;
    angles = cpu_scratch(SCRATCH_ROPE, row_at(want, 2 * half) * sizeof *angles, f);
    table.angles = NULL;
    if (!angles)
        return f->code;
    table.half = half;
    table.mscale = mscale;
    memcpy(table.inv_freq, inv_freq, bytes);
    fill(angles, 0, want);
    table.positions = want;
    table.angles = angles;
    return 0;
}

void cpu_rope_close(void)
{
    table.angles = NULL;
}

static void rotate(float *restrict x, float *restrict y, const float *restrict c,
                   const float *restrict s, float sign, int half)
{
    for (int i = 0; i < half; i++) {
        float a = x[i], b = y[i], t = sign * s[i];

        x[i] = a * c[i] - b * t;
        y[i] = b * c[i] + a * t;
    }
}

int cpu_rope(float *x, const int *pos, const float *inv_freq, float mscale, int rows,
             int heads, int dim, int rotary, int sign, struct fault *f)
{
    int half = rotary / 2, last = 0;

    for (int r = 0; r < rows; r++)
        last = pos[r] > last ? pos[r] : last;
    /* Steps of 1,024, so that a decode doesn't extend the table at each token. */
    if (reach(last | 1023, inv_freq, mscale, half, f))
        return f->code;
    for (int r = 0; r < rows; r++) {
        const float *c = table.angles + row_at(pos[r], 2 * half);

        for (int h = 0; h < heads; h++) {
            float *v = x + row_at(r, heads * dim) + row_at(h, dim);

            rotate(v, v + half, c, c + half, (float)sign, half);
        }
    }
    return 0;
}
