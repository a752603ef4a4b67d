/* ref_conv.c - causal convolution of the reference backend. */
#include <math.h>
#include <stdlib.h>

#include "backend/ref.h"
#include "dapo/mem.h"

/* The input at position pos - kernel + 1 + j is the last value of: the slot's old
 * inputs, then the new one. */
static double tap(const float *state, const float *x, int c, int cols, int kernel,
                  int j)
{
    return (double)(j < kernel - 1 ? state[row_at(j, cols) + (size_t)c] : x[c]);
}

static void conv_row(float *y, const float *x, const float *w, float *state, int cols,
                     int kernel)
{
    for (int c = 0; c < cols; c++) {
        double sum = 0.0;

        for (int j = 0; j < kernel; j++)
            sum += (double)w[row_at(c, kernel) + (size_t)j] *
                   tap(state, x, c, cols, kernel, j);
        y[c] = (float)(sum / (1.0 + exp(-sum)));
        for (int j = 0; j < kernel - 1; j++)
            state[row_at(j, cols) + (size_t)c] =
                (float)tap(state, x, c, cols, kernel, j + 1);
    }
}

int ref_conv(float *y, const float *x, const float *w, float *state,
             const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    size_t width = row_at(kernel - 1, cols);
    float *own = mem_new(width, sizeof *own, "the state of a convolution", f);

    if (!own)
        return f->code;
    for (int i = 0; i < r->rows; i++) {
        float *s = state ? state + (size_t)r->slot[i] * width : own;

        for (size_t j = 0; r->pos[i] == 0 && j < width; j++)
            s[j] = 0.0f;
        conv_row(y + row_at(i, cols), x + row_at(i, cols), w, s, cols, kernel);
    }
    free(own);
    return 0;
}

/* With z the sum, s its sigmoid and dz = dy s (1 + z (1 - s)):
 * dx_(t-kernel+1+j) += w_j dz_t,  dw_j += dz_t x_(t-kernel+1+j). */
static void back_value(float *dx, float *dw, float dy, const float *x, const float *w,
                       int pos, int cols, int kernel)
{
    int first = pos < kernel - 1 ? kernel - 1 - pos : 0;
    double z = 0.0, s, dz;

    for (int j = first; j < kernel; j++)
        z += (double)w[j] * (double)x[-(ptrdiff_t)row_at(kernel - 1 - j, cols)];
    s = 1.0 / (1.0 + exp(-z));
    dz = (double)dy * s * (1.0 + z * (1.0 - s));
    for (int j = first; j < kernel; j++) {
        ptrdiff_t back = -(ptrdiff_t)row_at(kernel - 1 - j, cols);

        dx[back] += (float)(dz * (double)w[j]);
        if (dw)
            dw[j] += (float)(dz * (double)x[back]);
    }
}

int ref_conv_back(float *dx, float *dw, const float *dy, const float *x, const float *w,
                  const struct scan_rows *r, int cols, int kernel, struct fault *f)
{
    (void)f;
    for (size_t i = 0; i < row_at(r->rows, cols); i++)
        dx[i] = 0.0f;
    for (int i = 0; i < r->rows; i++) {
        for (int c = 0; c < cols; c++) {
            size_t at = row_at(i, cols) + (size_t)c, wide = row_at(c, kernel);

            back_value(dx + at, dw ? dw + wide : NULL, dy[at], x + at, w + wide,
                       r->pos[i], cols, kernel);
        }
    }
    return 0;
}
