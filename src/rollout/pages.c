/* pages.c - the page allocator: a stack of free pages and a count of holders each. */
#include <assert.h>
#include <stdlib.h>

#include "dapo/mem.h"
#include "rollout/pages.h"

int pages_new(struct pages *p, int total, struct fault *f)
{
    *p = (struct pages){.total = total};
    p->free = mem_new((size_t)total, sizeof *p->free, "the free pages", f);
    p->holders = mem_new((size_t)total, sizeof *p->holders, "the held pages", f);
    if (!p->free || !p->holders)
        return FAULT_SYSTEM;
    pages_reset(p);
    return 0;
}

void pages_free(struct pages *p)
{
    free(p->free);
    free(p->holders);
    *p = (struct pages){0};
}

void pages_reset(struct pages *p)
{
    p->n_free = p->total;
    for (int i = 0; i < p->total; i++) {
        p->free[i] = p->total - 1 - i; /* page 0 is taken first */
        p->holders[i] = 0;
    }
}

int pages_take(struct pages *p)
{
    int page;

    if (p->n_free == 0)
        return -1;
    page = p->free[--p->n_free];
    p->holders[page] = 1;
    return page;
}

void pages_share(struct pages *p, int page)
{
    assert(p->holders[page] > 0);
    p->holders[page]++;
}

void pages_drop(struct pages *p, int page)
{
    assert(p->holders[page] > 0);
    if (--p->holders[page] == 0)
        p->free[p->n_free++] = page;
}
