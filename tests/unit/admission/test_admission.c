/* test_admission.c - the filter, budgets, launching and misuse, worked out by hand. */
#include <math.h>

#include "unit/admission/by_hand.h"

/* -- the filter -------------------------------------------------------------------- */

/* 1 - p^G - (1-p)^G at G = 4: 14 of the 16 patterns, 0.875 at p = 1/2; 0.0394 at 0.99.
 */
static void invariant_9_trainable_iff_verdicts_differ(void)
{
    struct admission_config c = config(16, 4, 16);
    struct admission *a = step(&c, ENDLESS);
    double rare = 0;
    int n, mixed = 0;

    CHECK_INT(launch(a), 16);
    for (int i = 0; i < 16; i++) {
        char v[5] = {0};

        for (int j = 0; j < 4; j++)
            v[j] = (char)('0' + (i >> j & 1));
        give(a, i, 0, v);
    }
    closed_is(a, "max_candidates", 16);
    admission_batch(a, &n);
    CHECK_INT(n, 14);
    for (int i = 0; i < 16; i++) {
        bool trained = admission_fate(a, i) == FATE_TRAINED;
        int right = __builtin_popcount((unsigned)i);

        mixed += trained;
        rare += trained ? pow(0.99, right) * pow(0.01, 4 - right) : 0;
    }
    CHECK_INT(mixed, 14);
    CHECK_NEAR(mixed / 16.0, 0.875, 0);
    CHECK_NEAR(rare, 0.0394, 0.00005);
    CHECK_INT(admission_fate(a, 0), FATE_ALL_WRONG);
    CHECK_INT(admission_fate(a, 15), FATE_ALL_CORRECT);
    CHECK_INT(admission_fate(a, 16), FATE_COUNT);
    admission_free(a);
}

/* Cases other trainers test: an unmixed and a mixed group, want one or two. */
static void selects_like_other_trainers(void)
{
    struct admission_config c = config(1, 3, 3);
    struct admission *a = step(&c, ENDLESS);

    /* [1,1,1 | .5,.5,0], want 1: keeps the second. */
    CHECK_INT(launch(a), 1);
    give(a, 0, 0, "111");
    CHECK_INT(launch(a), 1);
    give(a, 1, 0, "110");
    CHECK_INT(launch(a), 0); /* full: no refill */
    batch_is(a, "1");
    closed_is(a, "full", 2);
    admission_free(a);

    /* Two mixed, want 2: both.  Of three mixed, want 2: the first two. */
    c = config(2, 3, 3);
    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 2, 0, "101");
    give(a, 1, 0, "110");
    CHECK_INT(admission_closed(a), CLOSED_OPEN); /* 1 and 2 are not the first two */
    give(a, 0, 0, "101");
    batch_is(a, "0 1");
    closed_is(a, "full", 2);
    CHECK_INT(admission_fate(a, 2), FATE_SURPLUS);
    admission_free(a);

    /* Want 2, [0,0] then [0,1]: one is missing, one is started, one at a time. */
    c = config(2, 2, 8);
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 2);
    give(a, 0, 0, "00");
    give(a, 1, 0, "01");
    CHECK_INT(launch(a), 1);
    give(a, 2, 0, "10");
    batch_is(a, "1 2");
    closed_is(a, "full", 3);
    admission_free(a);
}

static void without_dynamic_all_complete_are_trained(void)
{
    struct admission_config c = config(3, 1, 30);
    struct fault f = FAULT_INIT;
    struct admission *a;

    c.dynamic = false;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 2, 0, "1");
    give(a, 0, 0, "0");
    give(a, 1, 0, "1");
    batch_is(a, "0 1 2");
    closed_is(a, "full", 3);
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 30});

    CHECK_OK(admission_begin(a, ENDLESS, &f), &f);
    CHECK_INT(launch(a), 3);
    give(a, 0, 0, "0");
    CHECK_OK(admission_failed(a, 1, &f), &f);
    give(a, 2, 0, "1");
    CHECK_INT(launch(a), 0); /* a failed one is not replaced */
    batch_is(a, "0 2");
    closed_is(a, "max_candidates", 3);
    CHECK_OK(admission_cut(a, 1, 0, 0, &f), &f);

    CHECK_OK(admission_begin(a, 2, &f), &f);
    CHECK_INT(launch(a), 2);
    give(a, 1, 0, "0");
    give(a, 0, 0, "0");
    batch_is(a, "0 1");
    closed_is(a, "data_exhausted", 2);
    admission_free(a);
}

/* -- budgets ----------------------------------------------------------------------- */

/* B = 2 of at most 4: the last candidate may still fill the step; not one more starts.
 */
static void max_candidates_is_exact(void)
{
    struct admission_config c = config(2, 2, 4);

    for (int last = 0; last < 2; last++) {
        struct admission *a = step(&c, ENDLESS);

        launch(a);
        give(a, 0, 0, "01");
        give(a, 1, 0, "11");
        launch(a);
        give(a, 2, 0, "00");
        CHECK_INT(launch(a), 1);
        CHECK_INT(admission_closed(a), CLOSED_OPEN);
        give(a, 3, 0, last ? "01" : "00");
        CHECK_INT(launch(a), 0);
        batch_is(a, last ? "0 3" : "0");
        closed_is(a, last ? "full" : "max_candidates", 4);
        CHECK(admission_settled(a));
        admission_free(a);
    }
}

static void data_exhaustion_is_exact(void)
{
    struct admission_config c = config(2, 2, 4);

    for (int64_t available = 2; available <= 5; available++) {
        struct admission *a = step(&c, available);

        while (launch(a))
            give(a, admission_started(a) - 1, 0, "00");
        for (int64_t i = 0; !admission_closed(a); i++)
            give(a, i, 0, "00");
        closed_is(a, available < 4 ? "data_exhausted" : "max_candidates",
                  available < 4 ? available : 4);
        batch_is(a, "");
        admission_free(a);
    }
    for (int last = 0; last < 2; last++) { /* the last prompt may fill the step */
        struct admission *a = step(&c, 3);

        CHECK_INT(launch(a), 2);
        give(a, 0, 0, "10");
        give(a, 1, 0, "11");
        CHECK_INT(launch(a), 1);
        give(a, 2, 0, last ? "01" : "00");
        closed_is(a, last ? "full" : "data_exhausted", 3);
        admission_free(a);
    }
}

static void nothing_to_draw_is_an_empty_step(void)
{
    struct admission_config c = config(2, 2, 4);
    struct admission *a = step(&c, 0);

    CHECK_INT(launch(a), 0);
    closed_is(a, "data_exhausted", 0);
    batch_is(a, "");
    CHECK(admission_settled(a));
    admission_free(a);
}

static void all_degenerate_trains_nothing(void)
{
    struct admission_config c = config(1, 2, 3);
    struct admission *a = step(&c, ENDLESS);

    for (int i = 0; i < 3; i++) {
        CHECK_INT(launch(a), 1);
        give(a, i, 0, i == 1 ? "11" : "00");
    }
    closed_is(a, "max_candidates", 3);
    batch_is(a, "");
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_ALL_WRONG] = 40, [FATE_ALL_CORRECT] = 20});
    admission_free(a);
}

/* -- launching --------------------------------------------------------------------- */

/* Uniform pass rates, G = 4: q = .6 .6 .4 .2 (test_odds).  B = 2:
 *   P(< 2 of 2 at .6) = .64, P(< 2 of 3 at .6) = .352, P(< 2 of 3 at .4) = .648,
 *   P(< 2 of .4 .4) = .84, P(< 2 of .4 .4 .6) = .144 + .408 = .552,
 *   P(< 2 of .4 .4 .4 .6) = .648 - .6 * P(1 of 3) = .648 - .6 * .432 = .3888 */
static void speculation_is_the_threshold(void)
{
    static const struct {
        double speculation;
        int before, after; /* started with no verdict; with two equal ones each */
    } t[] = {{1, 2, 2}, {0.65, 2, 3}, {0.63, 3, 4}, {0.5, 3, 4}, {0.38, 3, 5}};

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct admission_config c = config(2, 4, 40);
        struct admission *a;

        c.speculation = t[i].speculation;
        c.prior_trainable = 0.6;
        c.prior_weight = 1e12;
        a = step(&c, ENDLESS);
        CHECK_INT(launch(a), t[i].before);
        for (int64_t j = 0; j < t[i].before; j++)
            give(a, j, 0, "11");
        CHECK_INT(launch(a), t[i].after - t[i].before);
        admission_free(a);
    }
}

static void speculation_0_fills_every_slot(void)
{
    struct admission_config c = config(2, 8, 100);
    struct admission *a;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 100);
    admission_free(a);
}

/* A probability that rounds to 1 is not certainty. */
static void speculation_1_starts_only_what_is_needed(void)
{
    struct admission_config c = config(3, 2, 100);
    struct admission *a;

    c.prior_trainable = 1e-9;
    c.prior_weight = 1e12;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 1, 0, "01");
    CHECK_INT(launch(a), 0);
    give(a, 0, 0, "1");
    CHECK_INT(launch(a), 0);
    give(a, 0, 1, "1");
    CHECK_INT(launch(a), 1);
    admission_free(a);
}

static void no_free_slot_no_launch(void)
{
    struct admission_config c = config(1, 2, 2);
    struct admission *a = step(&c, ENDLESS);
    int64_t index;

    CHECK(!admission_launch(a, 0, &index));
    CHECK(!admission_launch(a, -1, &index));
    CHECK(admission_launch(a, 1, &index));
    CHECK_INT(index, 0);
    admission_free(a);
}

/* The worst case of shortfall waves: B - 1 at once, then one wave per candidate. */
static void waves_are_at_most_1_plus_m_less_1_times_b(void)
{
    for (int m = 2; m <= 3; m++) {
        struct admission_config c = config(4, 2, 4 * m);
        struct admission *a;
        int waves = 0, n;

        c.refill = REFILL_WAVES;
        c.speculation = 0; /* has no say in waves */
        a = step(&c, ENDLESS);
        while ((n = launch(a)) > 0) {
            int64_t end = admission_started(a);

            CHECK_INT(n, waves == 0 ? 4 : 1);
            waves++;
            for (int64_t i = end - n; i < end; i++) {
                give(a, i, 0, i < 3 ? "01" : "00");
                if (i + 1 < end)
                    CHECK_INT(launch(a), 0); /* the barrier */
            }
        }
        CHECK_INT(waves, 1 + (m - 1) * 4);
        closed_is(a, "max_candidates", 4 * m);
        batch_is(a, "0 1 2");
        admission_free(a);
    }
}

/* A wave is started slot by slot; verdicts that come in meanwhile don't shorten it. */
static void a_wave_is_started_as_slots_allow(void)
{
    struct admission_config c = config(3, 2, 9);
    struct admission *a;
    int64_t index;

    c.refill = REFILL_WAVES;
    a = step(&c, ENDLESS);
    CHECK(admission_launch(a, 1, &index));
    give(a, 0, 0, "00");
    CHECK_INT(launch(a), 2);
    give(a, 1, 0, "01");
    give(a, 2, 0, "01");
    CHECK_INT(launch(a), 1);
    give(a, 3, 0, "01");
    closed_is(a, "full", 4);
    batch_is(a, "1 2 3");
    admission_free(a);
}

/* -- misuse ------------------------------------------------------------------------ */

static void impossible_events_are_bugs(void)
{
    struct admission_config c = config(2, 2, 4);
    struct fault f = FAULT_INIT;
    struct admission *a = step(&c, ENDLESS);
    double state[17] = {0};

    CHECK_INT(launch(a), 2);
    give(a, 0, 0, "1");
    CHECK_INT(admission_finished(a, 0, 0, true, 1, &f), FAULT_BUG);
    CHECK_INT(admission_finished(a, 2, 0, true, 1, &f), FAULT_BUG);
    CHECK_INT(admission_finished(a, -1, 0, true, 1, &f), FAULT_BUG);
    CHECK_INT(admission_finished(a, 0, 2, true, 1, &f), FAULT_BUG);
    CHECK_INT(admission_finished(a, 0, -1, true, 1, &f), FAULT_BUG);
    CHECK_INT(admission_finished(a, 0, 1, true, -1, &f), FAULT_BUG);
    CHECK_INT(admission_cut(a, 0, 1, 1, &f), FAULT_BUG); /* nobody cancelled it */
    CHECK_INT(admission_cut(a, 7, 1, 1, &f), FAULT_BUG);
    CHECK_INT(admission_failed(a, 7, &f), FAULT_BUG);
    CHECK_INT(admission_begin(a, ENDLESS, &f), FAULT_BUG);
    CHECK_INT(admission_state_set(a, state, 17, &f), FAULT_BUG);
    give(a, 0, 1, "0");
    CHECK_INT(admission_failed(a, 0, &f), FAULT_BUG);         /* it is complete */
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_SURPLUS] = 20}); /* open: none trained */
    admission_free(a);
}

static void bad_configs_are_refused(void)
{
    struct admission_config good = config(2, 2, 4);
    struct fault f = FAULT_INIT;
    struct admission *a;

    good.size = 3; /* so that all members are more than size_t holds */
#define REFUSED(field, value)                               \
    do {                                                    \
        struct admission_config c = good;                   \
        c.field = value;                                    \
        CHECK_INT(admission_new(&a, &c, &f), FAULT_CONFIG); \
        CHECK(a == NULL);                                   \
    } while (0)
    REFUSED(groups, 0);
    REFUSED(size, 1);
    REFUSED(max_candidates, 1);
    REFUSED(max_candidates, INT64_MAX);
    REFUSED(refill, REFILL_COUNT);
    REFUSED(refill, REFILL_FULL); /* full_multiplier is 0 */
    REFUSED(order, ORDER_COUNT);
    REFUSED(surplus, SURPLUS_COUNT);
    REFUSED(surplus, SURPLUS_RESUME); /* max_age is 0 */
    REFUSED(max_candidate_tokens, -1);
    REFUSED(max_train_tokens, -1);
    REFUSED(speculation, -0.1);
    REFUSED(speculation, 1.1);
    REFUSED(speculation, NAN);
    REFUSED(prior_trainable, 0);
    REFUSED(prior_trainable, 1);
    REFUSED(prior_weight, 0);
    REFUSED(prior_weight, INFINITY);
#undef REFUSED
    CHECK_OK(admission_new(&a, &good, &f), &f);
    CHECK(admission_settled(a));
    CHECK_INT(admission_closed(a), CLOSED_STOPPED);
    admission_free(a);
    admission_free(NULL);
}

CASES(CASE(invariant_9_trainable_iff_verdicts_differ),
      CASE(selects_like_other_trainers), CASE(without_dynamic_all_complete_are_trained),
      CASE(max_candidates_is_exact), CASE(data_exhaustion_is_exact),
      CASE(nothing_to_draw_is_an_empty_step), CASE(all_degenerate_trains_nothing),
      CASE(speculation_is_the_threshold), CASE(speculation_0_fills_every_slot),
      CASE(speculation_1_starts_only_what_is_needed), CASE(no_free_slot_no_launch),
      CASE(waves_are_at_most_1_plus_m_less_1_times_b),
      CASE(a_wave_is_started_as_slots_allow), CASE(impossible_events_are_bugs),
      CASE(bad_configs_are_refused));
