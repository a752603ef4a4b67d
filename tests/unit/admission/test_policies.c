/* test_policies.c - full rounds, completion order, no bound, classes of history: worked
 * out by hand. */
#include "admission/step.h"
#include "unit/admission/by_hand.h"

/* -- refill = full ----------------------------------------------------------------- */

/* Verdicts of a group of two: trainable for the first `mixed` of a round's groups. */
static void give_round(struct admission *a, int64_t from, int64_t to, int64_t mixed)
{
    for (int64_t i = from; i < to; i++)
        give(a, i, 0, i - from < mixed ? "01" : i % 2 ? "11" : "00");
}

/* The published setting, 512 wanted and rounds of 3 x 512: 1,536 groups give 400, a
 * second round 150 more, 512 are used and the other 38 are surplus. */
static void full_rounds_of_1536_give_512(void)
{
    struct admission_config c = config(512, 2, 512 * 30);
    struct admission *a;

    c.refill = REFILL_FULL;
    c.full_multiplier = 3;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 1536);
    give_round(a, 0, 1535, 400);
    CHECK_INT(launch(a), 0); /* the barrier */
    give(a, 1535, 0, "11");
    CHECK_INT(admission_closed(a), CLOSED_OPEN);
    CHECK_INT(launch(a), 1536);
    give_round(a, 1536, 3071, 150);
    CHECK_INT(admission_known(a), 512);
    CHECK_INT(admission_closed(a), CLOSED_OPEN); /* decided, but a round is whole */
    CHECK_INT(launch(a), 0);
    give(a, 3071, 0, "00");
    closed_is(a, "full", 1536 + 112);
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 512 * 20,
                                       [FATE_SURPLUS] = 38 * 20,
                                       [FATE_ALL_CORRECT] = 1260 * 20,
                                       [FATE_ALL_WRONG] = 1262 * 20});
    admission_free(a);
}

/* At most M * B candidates, be it in the middle of a round: B = 2, rounds of 4, M = 3.
 */
static void full_rounds_end_at_max_candidates(void)
{
    struct admission_config c = config(2, 2, 6);
    struct admission *a;

    c.refill = REFILL_FULL;
    c.full_multiplier = 2;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    give_round(a, 0, 4, 1);
    CHECK_INT(launch(a), 2);
    give_round(a, 4, 6, 0);
    CHECK_INT(launch(a), 0);
    closed_is(a, "max_candidates", 6);
    batch_is(a, "0");
    admission_free(a);
    a = step(&c, 3); /* and of the prompts there are */
    CHECK_INT(launch(a), 3);
    give_round(a, 0, 3, 0);
    closed_is(a, "data_exhausted", 3);
    admission_free(a);
}

/* -- order = completion ------------------------------------------------------------ */

/* Candidate 2 ends first, then 0: they are the batch, 1 is not waited for, and no
 * prompt is drawn again. */
static void completion_order_takes_the_first_to_end(void)
{
    struct admission_config c = config(2, 2, 4);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1;

    c.speculation = 0;
    c.order = ORDER_COMPLETION;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    give(a, 1, 0, "0");
    give(a, 3, 0, "11");
    give(a, 2, 0, "10");
    CHECK_INT(cancels(a, &first), 0); /* two may be known and a third be faster */
    give(a, 0, 0, "01");
    closed_is(a, "full", 4);
    batch_is(a, "0 2");
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 1);
    CHECK_OK(admission_cut(a, 1, 1, 3, &f), &f);
    CHECK(admission_settled(a));
    ledger_is(a,
              (int64_t[FATE_COUNT]){
                  [FATE_TRAINED] = 40, [FATE_ALL_CORRECT] = 20, [FATE_CANCELLED] = 13});
    admission_free(a);
}

/* -- no bound ---------------------------------------------------------------------- */

/* 5,000 groups without signal, then one with: the paper's rule finds it. */
static void without_a_bound_it_goes_on(void)
{
    struct admission_config c = config(1, 2, 0);
    struct fault f = FAULT_INIT;
    struct admission *a = step(&c, ENDLESS);

    for (int64_t i = 0; i < 5000; i++) {
        CHECK_INT(launch(a), 1);
        give(a, i, 0, "11");
    }
    CHECK_INT(launch(a), 1);
    give(a, 5000, 0, "10");
    closed_is(a, "full", 5001);
    batch_is(a, "5000");
    CHECK_INT(admission_fault(a, &f), 0);
    admission_free(a);
    a = step(&c, 2); /* but not beyond the prompts there are */
    for (int64_t i = 0; i < 2; i++) {
        CHECK_INT(launch(a), 1);
        give(a, i, 0, "11");
    }
    closed_is(a, "data_exhausted", 2);
    admission_free(a);
}

/* As if 2^62 candidates had been started: there is no memory for one more.  The step
 * closes with what is resolved, and whoever asks or goes on hears of it. */
static void no_memory_closes_the_step(void)
{
    struct admission_config c = config(1, 8, 0);
    struct fault f = FAULT_INIT;
    struct admission *a = step(&c, ENDLESS);
    int64_t index;

    a->started = a->live = INT64_C(1) << 62;
    CHECK(!admission_launch(a, 1, &index));
    CHECK_INT(admission_fault(a, &f), FAULT_SYSTEM);
    closed_is(a, "stopped", 0);
    batch_is(a, "");
    CHECK_INT(admission_begin(a, ENDLESS, &f), FAULT_SYSTEM);
    admission_free(a);
}

/* -- stopping ---------------------------------------------------------------------- */

static void out_of_time_trains_what_is_resolved(void)
{
    struct admission_config c = config(2, 2, 8);
    struct admission *a = step(&c, ENDLESS);

    launch(a);
    give(a, 1, 0, "01");
    admission_stop(a, CLOSED_MAX_SECONDS);
    closed_is(a, "max_seconds", 0); /* 0 is not resolved: 1 does not count */
    batch_is(a, "");
    admission_stop(a, CLOSED_STOPPED);
    closed_is(a, "max_seconds", 0);
    admission_free(a);
    c.refill = REFILL_FULL;
    c.full_multiplier = 2;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    give(a, 0, 0, "01");
    give(a, 1, 0, "01");
    admission_stop(a, CLOSED_MAX_SECONDS); /* while its round still runs */
    closed_is(a, "full", 2);
    batch_is(a, "0 1");
    admission_free(a);
}

/* -- what earlier visits say ------------------------------------------------------- */

static void history_is_the_last_visit(void)
{
    CHECK_INT(history_after(0, 4), HISTORY_ALL_WRONG);
    CHECK_INT(history_after(4, 4), HISTORY_ALL_CORRECT);
    CHECK_INT(history_after(1, 4), HISTORY_MIXED);
    CHECK_INT(history_after(3, 4), HISTORY_MIXED);
    CHECK_INT(HISTORY_NEW, 0);
}

/* G = 2, prior 1/2 worth 4 groups.  A step of four new ones, two trainable, and two
 * mixed ones, both trainable:
 *   new:   rest = (4/2 + 2) / (4 + 2) = 2/3,  q = (4 * 2/3 + 2) / (4 + 4) = 7/12
 *   mixed: rest = (4/2 + 2) / (4 + 4) = 1/2,  q = (4 * 1/2 + 2) / (4 + 2) = 2/3
 *   all wrong (never seen): (4/2 + 4) / (4 + 6) = 3/5, that of all. */
static void classes_have_their_own_estimates(void)
{
    struct admission_config c = config(4, 2, 8);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t index;

    c.speculation = 0;
    c.prior_weight = 4;
    a = step(&c, ENDLESS);
    for (int64_t i = 0; i < 6; i++) {
        CHECK(admission_launch(a, 1, &index));
        if (i == 1 || i == 4)
            CHECK_OK(admission_history(a, i, HISTORY_MIXED, &f), &f);
    }
    for (int64_t i = 0; i < 6; i++)
        give(a, i, 0, i == 0 || i == 2 ? "11" : "01");
    closed_is(a, "full", 6);
    CHECK_NEAR(admission_estimate_of(a, HISTORY_NEW, 0), 7.0 / 12, 1e-12);
    CHECK_NEAR(admission_estimate_of(a, HISTORY_MIXED, 0), 2.0 / 3, 1e-12);
    CHECK_NEAR(admission_estimate_of(a, HISTORY_ALL_WRONG, 0), 3.0 / 5, 1e-12);
    CHECK_NEAR(admission_estimate(a, 0), 3.0 / 5, 1e-12);

    CHECK_OK(admission_begin(a, ENDLESS, &f), &f);
    CHECK(admission_launch(a, 1, &index));
    CHECK_INT(admission_history(a, 1, HISTORY_MIXED, &f), FAULT_BUG);
    CHECK_INT(admission_history(a, 0, HISTORY_COUNT, &f), FAULT_BUG);
    give(a, 0, 0, "1");
    CHECK_INT(admission_history(a, 0, HISTORY_MIXED, &f), FAULT_BUG);
    admission_free(a);
}

/* B = 1: a candidate whose kind is trainable for certain needs no company, one whose
 * kind never is does. */
static void history_decides_what_is_launched(void)
{
    struct admission_config c = config(1, 2, 20);
    struct fault f = FAULT_INIT;
    double state[17] = {[6] = 1000, [14] = 990, [2] = 1000, [10] = 10};
    struct admission *a;
    int64_t index;

    for (int mixed = 0; mixed < 2; mixed++) {
        c.speculation = 0.4;
        c.prior_weight = 1e-3;
        CHECK_OK(admission_new(&a, &c, &f), &f);
        CHECK_OK(admission_state_set(a, state, 17, &f), &f);
        CHECK_OK(admission_begin(a, ENDLESS, &f), &f);
        CHECK(admission_launch(a, 1, &index));
        CHECK_OK(admission_history(a, 0, mixed ? HISTORY_MIXED : HISTORY_ALL_WRONG, &f),
                 &f);
        CHECK_INT(admission_launch(a, 1, &index), !mixed);
        admission_free(a);
    }
}

CASES(CASE(full_rounds_of_1536_give_512), CASE(full_rounds_end_at_max_candidates),
      CASE(completion_order_takes_the_first_to_end), CASE(without_a_bound_it_goes_on),
      CASE(no_memory_closes_the_step), CASE(out_of_time_trains_what_is_resolved),
      CASE(history_is_the_last_visit), CASE(classes_have_their_own_estimates),
      CASE(history_decides_what_is_launched));
