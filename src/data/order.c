/* order.c - the order in which prompts are drawn. */
#include <stdlib.h>

#include "dapo/data.h"
#include "dapo/mem.h"
#include "dapo/random.h"

/* Two epochs: the candidates in flight around an epoch's end alternate between them. */
enum { KEPT = 2 };

struct order {
    size_t n;
    uint64_t seed;
    bool shuffle;
    struct {
        bool valid;
        uint64_t epoch;
        uint32_t *row; /* [n] */
    } kept[KEPT];
};

int order_new(struct order **out, size_t n, uint64_t seed, bool shuffle,
              struct fault *f)
{
    struct order *o;

    *out = NULL;
    if (n < 1 || n > UINT32_MAX)
        return fault_set(f, FAULT_DATA,
                         "a prompt order needs 1 to 2^32 - 1 rows, not %zu", n);
    o = mem_new(1, sizeof *o, "the prompt order", f);
    if (!o)
        return f->code;
    o->n = n;
    o->seed = seed;
    o->shuffle = shuffle;
    for (int k = 0; shuffle && k < KEPT; k++) {
        o->kept[k].row = mem_new(n, sizeof(uint32_t), "the prompt order", f);
        if (!o->kept[k].row) {
            order_free(o);
            return f->code;
        }
    }
    *out = o;
    return 0;
}

void order_free(struct order *o)
{
    if (!o)
        return;
    for (int k = 0; k < KEPT; k++)
        free(o->kept[k].row);
    free(o);
}

/* Fisher-Yates, downwards. */
static void permute(uint32_t *row, size_t n, uint64_t seed, uint64_t epoch)
{
    for (size_t i = 0; i < n; i++)
        row[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = (size_t)random_below(i + 1, seed, RANDOM_ORDER, (uint32_t)epoch, 0,
                                        (uint32_t)i, (uint32_t)(epoch >> 32));
        uint32_t other = row[j];

        row[j] = row[i];
        row[i] = other;
    }
}

size_t order_at(struct order *o, uint64_t position)
{
    uint64_t epoch = position / o->n;
    size_t at = (size_t)(position % o->n);
    int k = (int)(epoch % KEPT);

    if (!o->shuffle)
        return at;
    if (!o->kept[k].valid || o->kept[k].epoch != epoch) {
        permute(o->kept[k].row, o->n, o->seed, epoch);
        o->kept[k].epoch = epoch;
        o->kept[k].valid = true;
    }
    return o->kept[k].row[at];
}
