/* pages.h - private: who holds which page of the KV cache.
 *
 * A page is free or has a count of holders: the sequences whose map names it, and the
 * group whose prompt it stores.  It becomes free when the last holder drops it.  Pages
 * are handed out in a fixed order (last dropped, first taken), so a run repeats.
 */
#ifndef DAPO_ROLLOUT_PAGES_H
#define DAPO_ROLLOUT_PAGES_H

#include "dapo/fault.h"

struct pages {
    int total, n_free;
    int *free;    /* [n_free] a stack */
    int *holders; /* [total] */
};

/* `total` >= 1 free pages.  0 or FAULT_SYSTEM; pages_free is allowed either way. */
int pages_new(struct pages *p, int total, struct fault *f);
void pages_free(struct pages *p);
/* Forget all holders. */
void pages_reset(struct pages *p);

/* A page with one holder; -1 if none is free. */
int pages_take(struct pages *p);
/* One more holder of a held page. */
void pages_share(struct pages *p, int page);
/* One holder fewer. */
void pages_drop(struct pages *p, int page);

#endif
