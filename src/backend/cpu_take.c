/* cpu_take.c - rows of activations on their way into a product. */
#include "backend/cpu.h"
#include "backend/vec.h"

static void to_bf16(uint16_t *y, const float *x, int n)
{
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        vec_store_bf16(y + i, vec_load(x + i), LANES);
    if (i < n)
        vec_store_bf16(y + i, vec_load_part(x + i, n - i, 0.0f), n - i);
}

const void *cpu_take_rows(enum scratch which, const float *x, int rows, int room, int k,
                          int cols, enum compute type, struct fault *f)
{
    size_t width = type == COMPUTE_BF16 ? sizeof(uint16_t) : sizeof(float);
    size_t bytes = width * (size_t)k;
    char *p;

    if (type == COMPUTE_F32 && rows == room && k == cols)
        return x;
    p = cpu_scratch(which, (size_t)room * bytes, f);
    if (!p)
        return NULL;
    for (int r = 0; r < rows; r++) {
        void *to = p + (size_t)r * bytes;

        if (type == COMPUTE_BF16)
            to_bf16(to, x + row_at(r, cols), k);
        else
            memcpy(to, x + row_at(r, cols), bytes);
    }
    memset(p + (size_t)rows * bytes, 0, (size_t)(room - rows) * bytes);
    return p;
}
