/* test_order.c - the order of prompts against an independent program. */
#include <string.h>

#include "check.h"
#include "dapo/data.h"

static struct order *make(size_t n, uint64_t seed, bool shuffle)
{
    struct fault f = FAULT_INIT;
    struct order *o = NULL;

    CHECK_OK(order_new(&o, n, seed, shuffle, &f), &f);
    return o;
}

/* Printed by tests/ref/order.py. */
static void permutations_are_known(void)
{
    static const size_t first[] = {9, 7, 5, 0, 3, 4, 1, 8, 6, 2};
    static const size_t second[] = {6, 1, 4, 5, 0, 9, 3, 2, 8, 7};
    static const size_t wide[] = {8, 9, 7, 5, 1, 3, 0, 6, 2, 4};
    static const size_t large[] = {10210, 7021, 15478, 5615, 7460, 8100};
    struct order *o = make(10, 42, true), *w = make(10, 1ull << 40 | 7, true);
    struct order *l = make(17290, 42, true);

    for (size_t i = 0; i < 10; i++) {
        CHECK_INT(order_at(o, i), first[i]);
        CHECK_INT(order_at(o, 10 + i), second[i]);
        CHECK_INT(order_at(w, i), wide[i]);
    }
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(order_at(l, 3 * 17290 + i), large[i]);
    order_free(o);
    order_free(w);
    order_free(l);
}

/* The cursor alone decides: jumping between epochs gives what walking gives. */
static void any_position_at_any_time(void)
{
    struct order *walk = make(7, 1, true);
    size_t seen[70];

    for (uint64_t i = 0; i < 70; i++)
        seen[i] = order_at(walk, i);
    for (uint64_t i = 0; i < 70; i++) {
        uint64_t at = i * 37 % 70; /* 37 and 70 have no common divisor */
        struct order *fresh = make(7, 1, true);

        CHECK_INT(order_at(walk, at), seen[at]);
        CHECK_INT(order_at(fresh, at), seen[at]);
        order_free(fresh);
    }
    order_free(walk);
}

static void each_epoch_has_every_row(void)
{
    struct order *o = make(1000, 3, true);
    bool same = true;

    for (uint64_t e = 0; e < 3; e++) {
        bool seen[1000] = {false};

        for (uint64_t i = 0; i < 1000; i++) {
            size_t row = order_at(o, e * 1000 + i);

            CHECK(row < 1000 && !seen[row]);
            seen[row % 1000] = true;
            same = same && row == order_at(o, i);
        }
    }
    CHECK(!same);
    order_free(o);
}

static void without_shuffling_it_is_file_order(void)
{
    struct order *o = make(5, 42, false);

    for (uint64_t i = 0; i < 12; i++)
        CHECK_INT(order_at(o, i), i % 5);
    CHECK_INT(order_at(o, UINT64_MAX), UINT64_MAX % 5);
    order_free(o);
}

static void no_rows_is_a_fault(void)
{
    struct fault f = FAULT_INIT;
    struct order *o;

    CHECK_INT(order_new(&o, 0, 1, true, &f), FAULT_DATA);
    CHECK(o == NULL);
    order_free(NULL);
}

CASES(CASE(permutations_are_known), CASE(any_position_at_any_time),
      CASE(each_epoch_has_every_row), CASE(without_shuffling_it_is_file_order),
      CASE(no_rows_is_a_fault));
