/* test_odds.c - probabilities of being needed, and the estimates, against values worked
 * out by hand and by tests/ref/admission_odds.py. */
#include <math.h>
#include <string.h>

#include "admission/estimate.h"
#include "admission/odds.h"
#include "check.h"
#include "dapo/admission.h"

static void fewer_matches_exact_fractions(void)
{
    static const double q[4] = {0.5, 0.4, 0.25, 0.1};
    static const struct {
        int64_t need, undecided[4];
        double want;
    } t[] = {
        {1, {1, 0, 0, 0}, 0.5}, /* by hand */
        {1, {2, 0, 0, 0}, 0.25},
        {2, {3, 0, 0, 0}, 0.5},
        {2, {1, 0, 1, 0}, 0.875},
        {2, {0, 2, 0, 0}, 0.84},
        {1, {2, 1, 0, 3}, 0.10935}, /* by the script */
        {3, {2, 3, 1, 2}, 0.46575},
        {4, {1, 2, 3, 4}, 0.79928015625},
        {12, {12, 12, 12, 12}, 0.122893221788},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        CHECK_NEAR(odds_fewer(t[i].need, t[i].undecided, q, 4), t[i].want, 1e-12);
}

/* 49 groups and 600: exact values are the script's, the error that of the normal law.
 * The last by hand: 100 fair coins, fewer than 50 heads: Phi(-0.1) from a table. */
static void fewer_of_many_is_nearly_normal(void)
{
    static const double q[4] = {0.5, 0.4, 0.25, 0.1};

    CHECK_NEAR(odds_fewer(20, (int64_t[]){13, 12, 12, 12}, q, 4), 0.902119, 0.005);
    CHECK_NEAR(odds_fewer(180, (int64_t[]){200, 100, 100, 200}, q, 4), 0.301652, 0.002);
    CHECK_NEAR(odds_fewer(50, (int64_t[]){100, 0, 0, 0}, q, 4), 0.460172, 1e-6);
}

static void fewer_is_1_only_when_certain(void)
{
    static const double q[2] = {1e-9, 1e-9};

    CHECK(odds_fewer(3, (int64_t[]){1, 1}, q, 2) >= 1);
    CHECK(odds_fewer(3, (int64_t[]){1, 2}, q, 2) < 1);
    CHECK(odds_fewer(30, (int64_t[]){30, 30}, q, 2) < 1);
    CHECK(odds_fewer(1, (int64_t[]){0, 0}, q, 2) >= 1);
    CHECK_NEAR(odds_fewer(0, (int64_t[]){0, 0}, q, 2), 0, 0);
    CHECK_NEAR(odds_fewer(-3, (int64_t[]){5, 5}, q, 2), 0, 0);
}

static void prior_is_that_of_a_symmetric_beta(void)
{
    static const double half[8] = {0.5,         0.5,         0.373177606, 0.282136429,
                                   0.209090498, 0.147155948, 0.092878255, 0.044252390};
    static const double most[4] = {0.9, 0.9, 0.847359075, 0.792831321};
    double q[16];

    estimate_prior(q, 4, 0.6); /* uniform: E[p^k] = 1/(k+1), so 1 - (k+1)/5 */
    for (int k = 0; k < 4; k++)
        CHECK_NEAR(q[k], 1 - (k ? k + 1 : 2) / 5.0, 1e-9);
    estimate_prior(q, 8, 0.5);
    for (int k = 0; k < 8; k++)
        CHECK_NEAR(q[k], half[k], 1e-8);
    estimate_prior(q, 16, 0.9);
    for (int k = 0; k < 4; k++)
        CHECK_NEAR(q[k], most[k], 1e-8);
    estimate_prior(q, 2, 0.7); /* out of reach: two verdicts differ with 1/2 at most */
    CHECK_NEAR(q[0], 0.7, 0);
    CHECK_NEAR(q[1], 0.5, 1e-6);
}

static void estimates_are(const struct estimate *e, double q0, double q1, double q2)
{
    CHECK_NEAR(e->q[0], q0, 1e-9);
    CHECK_NEAR(e->q[1], q1, 1e-9);
    CHECK_NEAR(e->q[2], q2, 1e-9);
}

/* G = 3, uniform pass rates: q = .5 .5 .25, worth 4 groups. */
static void estimates_follow_groups(void)
{
    struct fault f = FAULT_INIT;
    struct estimate e;

    CHECK_OK(estimate_init(&e, 3, 0.5, 4, &f), &f);
    estimates_are(&e, 0.5, 0.5, 0.25);
    /* In the order of length 1, 1, 0: equal for k = 0, 1, 2. */
    estimate_add(&e, HISTORY_NEW, (unsigned char[]){1, 1, 0}, (int64_t[]){5, 3, 9});
    estimate_update(&e);
    estimates_are(&e, 3.0 / 5, 3.0 / 5, 2.0 / 5);
    /* 1, 0, 0: k = 0, 1. */
    estimate_add(&e, HISTORY_NEW, (unsigned char[]){0, 1, 0}, (int64_t[]){5, 3, 9});
    estimate_update(&e);
    estimates_are(&e, 4.0 / 6, 4.0 / 6, 2.0 / 5);
    /* Equal lengths go by member: 0, 0, 1. */
    estimate_add(&e, HISTORY_NEW, (unsigned char[]){0, 0, 1}, (int64_t[]){7, 7, 7});
    estimate_update(&e);
    estimates_are(&e, 5.0 / 7, 5.0 / 7, 3.0 / 6);
    estimate_add(&e, HISTORY_NEW, (unsigned char[]){1, 1, 1}, (int64_t[]){2, 7, 1});
    estimate_update(&e);
    estimates_are(&e, 5.0 / 8, 5.0 / 8, 3.0 / 7);
    /* Counts 4 4 3 and 3 3 2 weigh 15/16 in the next step: (2 + 3 c) / (4 + 4 c). */
    estimate_age(&e);
    estimate_update(&e);
    estimates_are(&e, 4.8125 / 7.75, 4.8125 / 7.75, 2.875 / 6.8125);
    estimate_free(&e);
}

/* A step feeds exactly the candidates that decided it: here 0 and 1 of three. */
static void a_step_teaches_what_it_consumed(void)
{
    struct admission_config c = {.groups = 1,
                                 .size = 2,
                                 .max_candidates = 3,
                                 .dynamic = true,
                                 .prior_trainable = 0.25,
                                 .prior_weight = 4};
    struct fault f = FAULT_INIT;
    struct admission *a, *b;
    int64_t index;
    double state[17];

    CHECK_OK(admission_new(&a, &c, &f), &f);
    CHECK_OK(admission_begin(a, 100, &f), &f);
    while (admission_launch(a, 1, &index))
        ;
    for (int i = 0; i < 2; i++)
        CHECK_OK(admission_finished(a, 2, i, i == 0, 5, &f), &f); /* surplus */
    for (int i = 0; i < 2; i++)
        CHECK_OK(admission_finished(a, 0, i, true, 5, &f), &f);
    CHECK_NEAR(admission_estimate(a, 0), 0.25, 0);
    for (int i = 0; i < 2; i++)
        CHECK_OK(admission_finished(a, 1, i, i == 0, 5, &f), &f);
    CHECK_INT(admission_closed(a), CLOSED_FULL);
    CHECK_INT(admission_state_size(a), 17);
    admission_state_get(a, state);
    CHECK_NEAR(state[0], 2, 0);
    CHECK_NEAR(state[1], 2, 0);
    CHECK_NEAR(state[8], 1, 0);
    CHECK_NEAR(state[9], 1, 0);
    CHECK_NEAR(admission_estimate(a, 0), 2.0 / 6, 1e-12);

    CHECK_OK(admission_new(&b, &c, &f), &f); /* as on resuming */
    CHECK_OK(admission_state_set(b, state, 17, &f), &f);
    for (int k = 0; k < 2; k++)
        CHECK_NEAR(admission_estimate(b, k), admission_estimate(a, k), 0);
    state[9] = 2.5;
    CHECK_INT(admission_state_set(b, state, 17, &f), FAULT_DATA);
    state[9] = NAN;
    CHECK_INT(admission_state_set(b, state, 17, &f), FAULT_DATA);
    state[9] = -1;
    CHECK_INT(admission_state_set(b, state, 17, &f), FAULT_DATA);
    state[1] = state[9] = INFINITY;
    CHECK_INT(admission_state_set(b, state, 17, &f), FAULT_DATA);
    CHECK_NEAR(admission_estimate(b, 1), admission_estimate(a, 1), 0);
    admission_free(a);
    admission_free(b);
}

CASES(CASE(fewer_matches_exact_fractions), CASE(fewer_of_many_is_nearly_normal),
      CASE(fewer_is_1_only_when_certain), CASE(prior_is_that_of_a_symmetric_beta),
      CASE(estimates_follow_groups), CASE(a_step_teaches_what_it_consumed));
