/* freest.c - see freest.h. */
#include <stdbool.h>
#include <stdlib.h>

#include "dapo/mem.h"
#include "sim/freest.h"

int freest_new(struct freest *t, int n, struct fault *f)
{
    *t = (struct freest){.n = n};
    t->load = mem_new((size_t)n, sizeof(int), "replicas", f);
    t->heap = mem_new((size_t)n, sizeof(int), "replicas", f);
    t->place = mem_new((size_t)n, sizeof(int), "replicas", f);
    if (!t->load || !t->heap || !t->place)
        return f->code;
    for (int i = 0; i < n; i++)
        t->heap[i] = t->place[i] = i;
    return 0;
}

void freest_free(struct freest *t)
{
    free(t->load);
    free(t->heap);
    free(t->place);
    *t = (struct freest){0};
}

static bool freer(const struct freest *t, int a, int b)
{
    return t->load[a] < t->load[b] || (t->load[a] == t->load[b] && a < b);
}

static void put(struct freest *t, int at, int replica)
{
    t->heap[at] = replica;
    t->place[replica] = at;
}

void freest_add(struct freest *t, int replica, int by)
{
    int i = t->place[replica];

    t->load[replica] += by;
    t->all += by;
    for (; i > 0 && freer(t, replica, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        put(t, i, t->heap[(i - 1) / 2]);
    for (int k; (k = 2 * i + 1) < t->n; i = k) {
        if (k + 1 < t->n && freer(t, t->heap[k + 1], t->heap[k]))
            k++;
        if (!freer(t, t->heap[k], replica))
            break;
        put(t, i, t->heap[k]);
    }
    put(t, i, replica);
}
