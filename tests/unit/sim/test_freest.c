/* test_freest.c - the freest replica, against looking at all of them. */
#include "check.h"
#include "dapo/random.h"
#include "sim/freest.h"

enum { N = 13 };

static void least(const int *load, int *best)
{
    *best = 0;
    for (int i = 1; i < N; i++)
        if (load[i] < load[*best])
            *best = i;
}

static void it_is_the_lowest_of_the_least_loaded(void)
{
    struct fault f = FAULT_INIT;
    struct freest t;
    int load[N] = {0}, best;
    int64_t all = 0;

    CHECK_OK(freest_new(&t, N, &f), &f);
    for (uint32_t i = 0; i < 5000; i++) {
        int r = (int)random_below(N, 5, RANDOM_TEST, i, 0, 0, 0);
        int by = (int)random_below(5, 5, RANDOM_TEST, i, 1, 0, 0) - load[r] / 4;

        load[r] += by;
        all += by;
        freest_add(&t, r, by);
        least(load, &best);
        CHECK_INT(freest(&t), best);
    }
    CHECK_INT(t.all, all);
    freest_free(&t);
}

CASES(CASE(it_is_the_lowest_of_the_least_loaded));
