/* plan.c - which completions go into which update and to which learner. */
#include <stdint.h>
#include <stdlib.h>

#include "dapo/learner.h"
#include "dapo/mem.h"

struct item {
    uint64_t cost;
    int index;
};

/* a*T + b*T^2 in integers, so that every machine deals alike. */
static uint64_t cost(int length)
{
    uint64_t t = length > 0 ? (uint64_t)length : 0;

    return t * 8192 + t * t;
}

static int costliest_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool before(const struct item *x, const struct item *y)
{
    return x->cost != y->cost ? x->cost < y->cost : x->index < y->index;
}

/* Restore the heap (least loaded on top) after the top's load grew. */
static void sink(struct item *heap, int n)
{
    for (int i = 0, c; (c = 2 * i + 1) < n; i = c) {
        struct item t = heap[i];

        if (c + 1 < n && before(&heap[c + 1], &heap[c]))
            c++;
        if (!before(&heap[c], &t))
            return;
        heap[i] = heap[c];
        heap[c] = t;
    }
}

int plan_deal(const int *lengths, int n, int learners, int *owner, struct fault *f)
{
    struct item *items, *load;
    int rc = 0;

    items = mem_new((size_t)n, sizeof *items, "the batch plan", f);
    load = mem_new((size_t)learners, sizeof *load, "the batch plan", f);
    if (!items || !load) {
        rc = f->code;
        goto out;
    }
    for (int i = 0; i < n; i++)
        items[i] = (struct item){cost(lengths[i]), i};
    for (int r = 0; r < learners; r++)
        load[r].index = r;
    qsort(items, (size_t)n, sizeof *items, costliest_first);
    for (int i = 0; i < n; i++) {
        owner[items[i].index] = load[0].index;
        load[0].cost += items[i].cost;
        sink(load, learners);
    }
out:
    free(items);
    free(load);
    return rc;
}

int plan_update_first(int groups, int updates, int u)
{
    int each = groups / updates, more = groups % updates;

    return u * each + (u < more ? u : more);
}
