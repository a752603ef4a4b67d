/* The batch plan: who gets which completion, which update gets which group. */
#include <string.h>

#include "check.h"
#include "dapo/learner.h"
#include "dapo/random.h"

/* By hand.  Longest first to the least loaded of 2: 9 -> 0, 7 -> 1, 5 -> 1 (7 < 9),
 * 4 -> 0 (9 < 12), 3 -> 1 (12 < 13), 1 -> 0 (13 < 15): loads 14 and 15. */
static void deal_by_hand(void)
{
    static const int length[] = {3, 9, 4, 7, 1, 5};
    static const int want[] = {1, 0, 0, 1, 0, 1};
    struct fault f = FAULT_INIT;
    int owner[6];

    CHECK_OK(plan_deal(length, 6, 2, owner, &f), &f);
    for (int i = 0; i < 6; i++)
        CHECK_INT(owner[i], want[i]);
}

/* The square counts: 16384 costs as much as 3 times 8192, not twice. */
static void long_completions_cost_their_square(void)
{
    static const int length[] = {16384, 8192, 8192, 8192};
    struct fault f = FAULT_INIT;
    int owner[4];

    CHECK_OK(plan_deal(length, 4, 2, owner, &f), &f);
    CHECK_INT(owner[0], 0);
    for (int i = 1; i < 4; i++)
        CHECK_INT(owner[i], 1);
}

static void equal_lengths_go_round(void)
{
    static const int length[] = {5, 5, 5, 5, 5, 5, 5};
    struct fault f = FAULT_INIT;
    int owner[7];

    CHECK_OK(plan_deal(length, 7, 3, owner, &f), &f);
    for (int i = 0; i < 7; i++)
        CHECK_INT(owner[i], i % 3);
}

enum { MOST = 300 };

static void check_deal(uint32_t trial)
{
    struct fault f = FAULT_INIT;
    int n = (int)random_below(MOST + 1, 1, RANDOM_TEST, trial, 0, 0, 0);
    int learners = 1 + (int)random_below(70, 1, RANDOM_TEST, trial, 1, 0, 0);
    int length[MOST], owner[MOST], again[MOST];
    double load[70] = {0}, least, most, longest = 0;

    for (int i = 0; i < n; i++)
        length[i] = (int)random_below(20000, 1, RANDOM_TEST, trial, 2, (uint32_t)i, 0);
    memset(owner, -1, sizeof owner);
    CHECK_OK(plan_deal(length, n, learners, owner, &f), &f);
    CHECK_OK(plan_deal(length, n, learners, again, &f), &f);
    CHECK(memcmp(owner, again, (size_t)n * sizeof *owner) == 0);
    for (int i = 0; i < n; i++) {
        double t = length[i], cost = t * (8192 + t);

        CHECK(owner[i] >= 0 && owner[i] < learners);
        load[owner[i]] += cost;
        longest = cost > longest ? cost : longest;
    }
    least = most = load[0];
    for (int r = 1; r < learners; r++) {
        least = load[r] < least ? load[r] : least;
        most = load[r] > most ? load[r] : most;
    }
    CHECK(most - least <= longest);
}

static void deal_is_complete_repeatable_and_even(void)
{
    for (uint32_t trial = 0; trial < 200; trial++)
        check_deal(trial);
}

/* 10 groups in 4 updates: 3, 3, 2, 2. */
static void updates_by_hand(void)
{
    static const int want[] = {0, 3, 6, 8, 10};

    for (int u = 0; u <= 4; u++)
        CHECK_INT(plan_update_first(10, 4, u), want[u]);
    for (int u = 0; u <= 16; u++)
        CHECK_INT(plan_update_first(512, 16, u), 32 * u);
    CHECK_INT(plan_update_first(2, 4, 2), 2); /* fewer groups than updates: 1 1 0 0 */
    CHECK_INT(plan_update_first(2, 4, 4), 2);
    CHECK_INT(plan_update_first(0, 4, 4), 0);
}

CASES(CASE(deal_by_hand), CASE(long_completions_cost_their_square),
      CASE(equal_lengths_go_round), CASE(deal_is_complete_repeatable_and_even),
      CASE(updates_by_hand))
