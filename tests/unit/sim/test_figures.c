/* test_figures.c - bounds, sums and the fit of the decode speed, by hand. */
#include <math.h>

#include "by_hand.h"

/* Step 1 is candidates 0 and 1 (14 tokens, longest 5; trained 6, longest 4), step 2 is
 * candidate 2 alone (20, longest 10).  Two replicas of one slot, fixed 1, each 0.5:
 * oracle max(4, 6/2) + 6/2/2 = 5.5 and 10 + 5 = 15; blind 7 + 3.5 and 10 + 5. */
static void bounds_are_those_of_hand(void)
{
    struct pair p[] = {
        {{3, 5}, {true, true}}, {{4, 2}, {true, false}}, {{10, 10}, {true, false}}};
    struct sim_source source = pair_source(p, 3);
    struct sim_machine m = {.replicas = 2, .slots = 1, .fixed_s = 1, .each_s = 0.5};
    struct sim_bounds b;
    struct fault f = FAULT_INIT;

    CHECK_OK(sim_bounds(&b, &source, &m, 1, 0, 0, 2, &f), &f);
    CHECK_NEAR(b.oracle, (5.5 + 15) / 2, 1e-12);
    CHECK_NEAR(b.blind, (10.5 + 15) / 2, 1e-12);
    CHECK_NEAR(b.overlap, (10.5 + 15) / 2, 1e-12);
    /* From the second candidate on, with slots to spare: the longest decides. */
    m.slots = 9;
    CHECK_OK(sim_bounds(&b, &source, &m, 1, 0, 1, 1, &f), &f);
    CHECK_NEAR(b.blind, 4 + 1.5, 1e-12);
    CHECK_NEAR(b.overlap, 6. / 18 + 1.5, 1e-12);
    /* A step of at most one candidate that isn't trainable is paid for by the next. */
    CHECK_OK(sim_bounds(&b, &source, &m, 1, 1, 0, 2, &f), &f);
    CHECK_NEAR(b.blind, (5 + 2) + (4 + 1.5), 1e-12);
}

static void nothing_trainable_is_a_fault(void)
{
    struct pair p[] = {{{3, 5}, {true, true}}};
    struct sim_source source = pair_source(p, 1);
    struct sim_machine m = {.replicas = 1, .slots = 1, .fixed_s = 1};
    struct sim_bounds b;
    struct fault f = FAULT_INIT;

    CHECK_INT(sim_bounds(&b, &source, &m, 1, 0, 0, 3, &f), FAULT_DATA);
}

/* Group means 3 and 5: mean 4, deviation 1, error 1/sqrt(2). */
static void figures_add_up(void)
{
    struct sim_figures t = {0};
    struct sim_step a = {.groups = 1,
                         .seconds = 3,
                         .iterations = 2,
                         .decoded = 6,
                         .rounds = 4,
                         .length = 3,
                         .length_squared = 9};
    struct sim_step b = {.groups = 1,
                         .seconds = 5,
                         .iterations = 2,
                         .decoded = 2,
                         .rounds = 2,
                         .length = 5,
                         .length_squared = 25};
    struct sim_machine m = {.replicas = 2, .slots = 2};
    double error;

    CHECK(isnan(sim_step_seconds(&t, 2)));
    CHECK(isnan(sim_mean_length(&t, &error)) && isnan(error));
    sim_add(&t, &a, 2);
    sim_add(&t, &b, 1);
    CHECK_INT(t.steps, 2);
    CHECK_INT(t.short_steps, 1);
    CHECK_INT(t.worst_rounds, 4);
    CHECK_NEAR(sim_step_seconds(&t, 2), 8, 1e-12);
    CHECK_NEAR(sim_mean_length(&t, &error), 4, 1e-12);
    CHECK_NEAR(error, 1 / sqrt(2), 1e-12);
    CHECK_NEAR(sim_occupancy(&t, &m), 8. / 16, 1e-12);
}

static void the_fit_finds_the_speed(void)
{
    double iterations[] = {100, 200, 0, 50}, tokens[] = {400, 300, 0, 400};
    double seconds[4], noisy[] = {1, 2, 3, 4};
    struct sim_speed s;
    struct fault f = FAULT_INIT;

    for (int i = 0; i < 4; i++)
        seconds[i] = 0.25 * iterations[i] + 0.125 * tokens[i];
    CHECK_OK(sim_fit(&s, iterations, tokens, seconds, 4, &f), &f);
    CHECK_NEAR(s.fixed_s, 0.25, 1e-12);
    CHECK_NEAR(s.each_s, 0.125, 1e-12);
    CHECK_NEAR(s.error, 0, 1e-12);
    /* One step can't tell the two apart: 75 s over 100 iterations. */
    CHECK_OK(sim_fit(&s, iterations, tokens, seconds, 1, &f), &f);
    CHECK_NEAR(s.fixed_s, 0.75, 1e-12);
    CHECK_NEAR(s.each_s, 0, 0);
    /* Least squares by hand of (1 1, 1), (1 2, 2), (1 3, 4): -2/3 + 3/2 x, and the
     * negative part is left out: (1 + 4 + 12) / 14 per token. */
    CHECK_OK(sim_fit(&s, (double[]){1, 1, 1}, noisy, (double[]){1, 2, 4}, 3, &f), &f);
    CHECK_NEAR(s.fixed_s, 0, 0);
    CHECK_NEAR(s.each_s, 17. / 14, 1e-12);
    CHECK_NEAR(s.error, sqrt((9. / 196 + 9. / 196 + pow(51. / 56 - 1, 2)) / 3), 1e-12);
    CHECK_INT(sim_fit(&s, iterations + 2, tokens + 2, seconds + 2, 1, &f), FAULT_DATA);
}

CASES(CASE(bounds_are_those_of_hand), CASE(nothing_trainable_is_a_fault),
      CASE(figures_add_up), CASE(the_fit_finds_the_speed));
