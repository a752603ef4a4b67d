/* test_cancel.c - cutting, closing, failing and the bill, worked out by hand. */
#include "unit/admission/by_hand.h"

/* -- cancelling -------------------------------------------------------------------- */

static void what_is_behind_the_last_known_is_cut(void)
{
    struct admission_config c = config(2, 3, 6);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 6);
    give(a, 1, 0, "01");
    CHECK_INT(cancels(a, &first), 0);
    give(a, 4, 0, "10"); /* 1 and 4 are known: 5 is out, 0, 2 and 3 may still be in */
    CHECK_INT(admission_known(a), 2);
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 5);
    CHECK_INT(launch(a), 0);
    give(a, 0, 0, "01"); /* 0 and 1 */
    CHECK_INT(cancels(a, &first), 3);
    CHECK_INT(first, 2);
    CHECK_INT(cancels(a, &first), 0); /* each is named once */
    CHECK_INT(admission_closed(a), CLOSED_OPEN);
    give(a, 0, 2, "1");
    give(a, 1, 2, "1");
    closed_is(a, "full", 2);
    batch_is(a, "0 1");
    CHECK(!admission_settled(a));
    for (int64_t i = 2; i < 6; i++)
        for (int j = i == 4 ? 2 : 0; j < 3; j++)
            CHECK_OK(admission_cut(a, i, j, i, &f), &f);
    CHECK(admission_settled(a));
    /* 2, 3: 3 * 2 + 3 * 3; 4: 10 + 10 + 4; 5: 3 * 5 */
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 60, [FATE_CANCELLED] = 54});
    admission_free(a);
}

static void invariant_1_late_tokens_are_billed(void)
{
    struct admission_config c = config(1, 2, 4);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    give(a, 1, 0, "1");
    give(a, 0, 0, "01");
    closed_is(a, "full", 1);
    CHECK_INT(cancels(a, &first), 3);
    give(a, 1, 1, "0"); /* was done before the cancel got there: surplus */
    give(a, 2, 0, "11");
    give(a, 3, 0, "0");
    CHECK(!admission_settled(a));
    CHECK_INT(admission_begin(a, ENDLESS, &f), FAULT_BUG);
    CHECK_OK(admission_cut(a, 3, 1, 7, &f), &f);
    CHECK(admission_settled(a));
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 20,
                                       [FATE_SURPLUS] = 20,
                                       [FATE_ALL_CORRECT] = 20,
                                       [FATE_CANCELLED] = 17});
    closed_is(a, "full", 1);
    batch_is(a, "0");
    admission_free(a);
}

static void a_stop_trains_the_resolved_prefix(void)
{
    struct admission_config c = config(4, 2, 8);
    struct admission *a = step(&c, ENDLESS);
    int64_t first = -1;

    CHECK_INT(launch(a), 4);
    give(a, 0, 0, "01");
    give(a, 1, 0, "11");
    give(a, 2, 0, "0");
    give(a, 3, 0, "01");
    CHECK_INT(cancels(a, &first), 0);
    admission_stop(a, CLOSED_STOPPED);
    closed_is(a, "stopped", 2);
    batch_is(a, "0");
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 2);
    give(a, 2, 1, "1");
    admission_stop(a, CLOSED_STOPPED);
    closed_is(a, "stopped", 2);
    ledger_is(a,
              (int64_t[FATE_COUNT]){
                  [FATE_TRAINED] = 20, [FATE_ALL_CORRECT] = 20, [FATE_SURPLUS] = 40});
    admission_free(a);
}

/* -- failures ---------------------------------------------------------------------- */

static void a_failed_candidate_resolves_as_not_trainable(void)
{
    struct admission_config c = config(2, 2, 3);
    struct fault f = FAULT_INIT;
    struct admission *a = step(&c, ENDLESS);
    int64_t first = -1;

    CHECK_INT(launch(a), 2);
    give(a, 0, 0, "1");
    CHECK_OK(admission_failed(a, 0, &f), &f);
    CHECK_OK(admission_failed(a, 0, &f), &f);
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 0);
    CHECK_INT(launch(a), 1);
    give(a, 1, 0, "01");
    give(a, 2, 0, "01");
    closed_is(a, "full", 3);
    batch_is(a, "1 2");
    CHECK(!admission_settled(a));
    CHECK_OK(admission_cut(a, 0, 1, 5, &f), &f); /* what its other member had */
    CHECK(admission_settled(a));
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 40, [FATE_FAILED] = 15});
    admission_free(a);
}

/* B = 1: candidate 0 becomes known, so 1, 2, 3 are cut; then it fails.  1 is complete
 * and has no signal, 2 was cancelled and must be generated again, 3 waits for it. */
static void a_failure_withdraws_its_cut(void)
{
    struct admission_config c = config(1, 3, 4);
    double state[2 * HISTORY_COUNT * 3 + 1];
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1, index = -1;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    CHECK_OK(admission_history(a, 2, HISTORY_MIXED, &f), &f);
    give(a, 1, 0, "111");
    give(a, 0, 0, "01");
    CHECK_INT(cancels(a, &first), 2);
    CHECK_INT(first, 2);
    CHECK_OK(admission_cut(a, 2, 0, 3, &f), &f);
    CHECK_OK(admission_failed(a, 0, &f), &f);
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 0);
    CHECK_OK(admission_cut(a, 0, 2, 6, &f), &f);
    CHECK_INT(admission_closed(a), CLOSED_OPEN);
    CHECK(!admission_launch(a, 9, &index)); /* 2 is not back yet */
    give(a, 2, 1, "0");
    CHECK_OK(admission_cut(a, 2, 2, 0, &f), &f);
    CHECK(admission_launch(a, 9, &index));
    CHECK_INT(index, 2);
    CHECK_INT(admission_started(a), 4);
    give(a, 2, 0, "011");
    closed_is(a, "full", 3);
    batch_is(a, "2");
    admission_state_get(a, state); /* what was told of 2 holds for its second start */
    CHECK_NEAR(state[HISTORY_MIXED * 3], 1, 0);
    CHECK(!admission_settled(a));
    for (int i = 0; i < 3; i++)
        CHECK_OK(admission_cut(a, 3, i, 1, &f), &f);
    CHECK(admission_settled(a));
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 30,
                                       [FATE_ALL_CORRECT] = 30,
                                       [FATE_CANCELLED] = 16,
                                       [FATE_FAILED] = 26});
    admission_free(a);
}

/* Cut ones that failed by themselves, or that nobody has been told to cancel yet, need
 * no new start when the cut is withdrawn. */
static void a_withdrawn_cut_wastes_nothing(void)
{
    struct admission_config c = config(1, 3, 3);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t index;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 0, 0, "01"); /* cuts 1 and 2 */
    CHECK(admission_cancel(a, &index));
    CHECK_INT(index, 1);
    CHECK_OK(admission_failed(a, 1, &f), &f);
    for (int i = 0; i < 3; i++)
        CHECK_OK(admission_cut(a, 1, i, 0, &f), &f);
    CHECK_OK(admission_failed(a, 0, &f), &f);
    CHECK_OK(admission_cut(a, 0, 2, 0, &f), &f);
    CHECK(!admission_launch(a, 9, &index));
    CHECK(!admission_cancel(a, &index)); /* 2 was never told, and goes on */
    give(a, 2, 0, "011");
    closed_is(a, "full", 3);
    batch_is(a, "2");
    admission_free(a);
}

CASES(CASE(what_is_behind_the_last_known_is_cut),
      CASE(invariant_1_late_tokens_are_billed), CASE(a_stop_trains_the_resolved_prefix),
      CASE(a_failed_candidate_resolves_as_not_trainable),
      CASE(a_failure_withdraws_its_cut), CASE(a_withdrawn_cut_wastes_nothing));
