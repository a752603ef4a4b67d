/* freest.h - private: the replica with the fewest members given out; ties to the
 * lowest.
 *
 * A binary heap of replicas that knows where each one stands: O(log replicas) a change.
 */
#ifndef DAPO_SIM_FREEST_H
#define DAPO_SIM_FREEST_H

#include <stdint.h>
#include "dapo/fault.h"

struct freest {
    int n;
    int *load;   /* [n] members given out, by replica */
    int *heap;   /* [n] replicas */
    int *place;  /* [n] of each replica in the heap */
    int64_t all; /* sum of the loads */
};
int freest_new(struct freest *t, int n, struct fault *f);
void freest_free(struct freest *t);
static inline int freest(const struct freest *t)
{
    return t->heap[0];
}
void freest_add(struct freest *t, int replica, int by);

#endif
