/* test_schedule.c - tiny schedules worked out by hand: exact seconds, tokens and fates.
 */
#include "by_hand.h"

static struct sim_step step_of(const struct admission_config *a,
                               const struct sim_machine *m, struct pair *p, int64_t n)
{
    struct sim_source source = pair_source(p, n);
    struct sim_step step = {0};
    struct fault f = FAULT_INIT;
    struct sim *s;

    CHECK_OK(sim_new(&s, a, m, &source, &f), &f);
    CHECK_OK(sim_step(s, &step, &f), &f);
    sim_free(s);
    return step;
}

static struct pair three[] = {
    {{3, 5}, {true, true}}, {{4, 2}, {true, false}}, {{10, 10}, {true, false}}};

/* One wave: 3 iterations of 1 + 0.5 * 2 and 2 of 1.5 are 9 s; the second wave, 2 of 2
 * and 2 of 1.5, takes 7. */
static void waves_wait_for_each_other(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 2, .slots = 2, .fixed_s = 1, .each_s = 0.5};
    struct sim_step s;

    a.refill = REFILL_WAVES;
    s = step_of(&a, &m, three, 3);
    CHECK_INT(s.closed, CLOSED_FULL);
    CHECK_NEAR(s.seconds, 16, 1e-12);
    CHECK_INT(s.iterations, 9);
    CHECK_INT(s.rounds, 2);
    CHECK_INT(s.started, 2);
    CHECK_INT(s.consumed, 2);
    CHECK_INT(s.decoded, 14);
    CHECK_INT(s.tokens[FATE_ALL_CORRECT], 8);
    CHECK_INT(s.tokens[FATE_TRAINED], 6);
    CHECK_NEAR(s.length, 3, 1e-12);
}

/* Candidates 0 and 1 fill both replicas; iterations 1 to 4 find two busy slots on the
 * busiest one (2 s each), the fifth one (1.5 s).  Candidate 2 has replica 1's free slot
 * for iterations 3 and 4, until candidate 1 is known. */
static void speculation_is_cut(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 2, .slots = 2, .fixed_s = 1, .each_s = 0.5};
    struct sim_step s = step_of(&a, &m, three, 3);

    CHECK_NEAR(s.seconds, 9.5, 1e-12);
    CHECK_INT(s.iterations, 5);
    CHECK_INT(s.rounds, 1);
    CHECK_INT(s.started, 3);
    CHECK_INT(s.consumed, 2);
    CHECK_INT(s.tokens[FATE_ALL_CORRECT], 8);
    CHECK_INT(s.tokens[FATE_TRAINED], 6);
    CHECK_INT(s.tokens[FATE_CANCELLED], 2);
    CHECK_INT(s.decoded, 16);
}

/* Two idle ticks of half a round trip each until the start arrives; 5 iterations in
 * slices of 2; a round trip until the end is known. */
static void decisions_take_their_ticks(void)
{
    struct pair p[] = {{{3, 5}, {true, false}}};
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 1,
                            .slots = 2,
                            .fixed_s = 1,
                            .slice = 2,
                            .lag = 2,
                            .most_starts = 9,
                            .tick_s = 1};
    struct sim_step s = step_of(&a, &m, p, 1);

    CHECK_INT(s.closed, CLOSED_FULL);
    CHECK_NEAR(s.seconds, 7, 1e-12);
    CHECK_INT(s.ticks, 7);
    CHECK_INT(s.iterations, 5);
}

/* Candidate 0 ends in the first iteration; that candidate 1 is cut is obeyed two ticks
 * later, after its second token. */
static void a_cut_comes_late(void)
{
    struct pair p[] = {{{1, 1}, {true, false}}, {{10, 10}, {true, false}}};
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 1,
                            .slots = 4,
                            .fixed_s = 1,
                            .each_s = 1,
                            .slice = 1,
                            .lag = 2,
                            .most_starts = 9};
    struct sim_step s = step_of(&a, &m, p, 2);

    CHECK_NEAR(s.seconds, 5 + 3, 1e-12);
    CHECK_INT(s.tokens[FATE_TRAINED], 2);
    CHECK_INT(s.tokens[FATE_CANCELLED], 4);
    CHECK_INT(s.ticks, 5 + 2);
}

/* Candidate 1 has 2 of 5 tokens when candidate 0 closes step 1, and goes on. */
static void resumed_groups_keep_their_tokens(void)
{
    struct pair p[] = {{{2, 2}, {true, false}},
                       {{5, 5}, {true, false}},
                       {{9, 9}, {true, false}},
                       {{9, 9}, {true, false}}};
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 1, .slots = 4, .fixed_s = 1};
    struct sim_source source = pair_source(p, 4);
    struct sim_step s;
    struct fault f = FAULT_INIT;
    struct sim *sim;
    int n;

    a.surplus = SURPLUS_RESUME;
    CHECK_OK(sim_new(&sim, &a, &m, &source, &f), &f);
    CHECK_OK(sim_step(sim, &s, &f), &f);
    CHECK_NEAR(s.seconds, 2, 1e-12);
    CHECK_INT(s.decoded, 8);
    CHECK_INT(s.stale, 0);
    CHECK_OK(sim_step(sim, &s, &f), &f);
    CHECK_NEAR(s.seconds, 3, 1e-12);
    CHECK_INT(s.decoded, 12);
    CHECK_INT(s.tokens[FATE_TRAINED], 10);
    CHECK_INT(s.stale, 1);
    CHECK_INT(sim_batch(sim, &n)[0], 1);
    CHECK_INT(n, 1);
    sim_free(sim);
}

/* A budget of seconds: after 4 iterations of 1 s only candidate 0 has ended. */
static void time_runs_out(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m = {
        .replicas = 1, .slots = 4, .fixed_s = 1, .max_seconds = 3.5};
    struct pair p[] = {{{1, 2}, {true, true}}, {{5, 9}, {true, false}}};
    struct sim_step s = step_of(&a, &m, p, 2);

    CHECK_INT(s.closed, CLOSED_MAX_SECONDS);
    CHECK_NEAR(s.seconds, 4, 1e-12);
    CHECK_INT(s.groups, 0);
    CHECK_INT(s.tokens[FATE_CANCELLED], 8);
}

static void data_runs_out(void)
{
    struct pair p[] = {{{1, 2}, {true, true}}};
    struct sim_machine m = {.replicas = 3, .slots = 4, .fixed_s = 1};
    struct admission_config a = pair_policy();
    struct sim_step s = step_of(&a, &m, p, 1);

    CHECK_INT(s.closed, CLOSED_DATA_EXHAUSTED);
    CHECK_INT(s.groups, 0);
}

/* Prompt 0 is always mixed, prompt 1 always right; every step takes one of each.  That
 * is learned from their visits: a third group, needed with (1 - 1/2)^2 by the share of
 * all groups, is then left alone at a threshold of 0.22. */
static int two_prompts(void *context, int64_t step, int64_t number,
                       struct sim_member *m, int64_t *prompt, struct fault *f)
{
    (void)context;
    (void)step;
    (void)f;
    *prompt = number % 2;
    m[0] = (struct sim_member){3, true, false};
    m[1] = (struct sim_member){3, *prompt == 1, false};
    return 0;
}

static void visits_are_remembered(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 1, .slots = 8, .fixed_s = 1};
    struct sim_source source = {
        .draw = two_prompts, .available = INT64_MAX, .size = 2, .max_tokens = 9};
    int64_t started[2] = {0};

    a.max_candidates = 9;
    a.speculation = 0.22;
    for (int known = 0; known < 2; known++) {
        struct sim_step s = {0};
        struct fault f = FAULT_INIT;
        struct sim *sim;

        source.prompts = known ? 2 : 0;
        CHECK_OK(sim_new(&sim, &a, &m, &source, &f), &f);
        for (int i = 0; i < 60; i++)
            CHECK_OK(sim_step(sim, &s, &f), &f);
        started[known] = s.started;
        sim_free(sim);
    }
    CHECK_INT(started[0], 3);
    CHECK_INT(started[1], 2);
}

static void machines_out_of_range_are_refused(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m[] = {
        {0, 1, 1, 0, 0, 0, 0, 0, 0},  {1, 0, 1, 0, 0, 0, 0, 0, 0},
        {1, 1, 0, 0, 0, 0, 0, 0, 0},  {1, 1, -1, 2, 0, 0, 0, 0, 0},
        {1, 1, 1, 0, 8, 0, 9, 0, 0},  {1, 1, 1, 0, 8, 1, 0, 0, 0},
        {1, 1, 1, 0, 8, 1, 9, -1, 0}, {1, 1, 1, 0, -1, 1, 9, 0, 0}};
    struct sim_source source = pair_source(three, 3);
    struct sim *s;

    for (size_t i = 0; i < sizeof m / sizeof m[0]; i++) {
        struct fault f = FAULT_INIT;

        CHECK_INT(sim_new(&s, &a, &m[i], &source, &f), FAULT_CONFIG);
        CHECK(!s);
    }
}

CASES(CASE(waves_wait_for_each_other), CASE(speculation_is_cut),
      CASE(decisions_take_their_ticks), CASE(a_cut_comes_late),
      CASE(resumed_groups_keep_their_tokens), CASE(time_runs_out), CASE(data_runs_out),
      CASE(visits_are_remembered), CASE(machines_out_of_range_are_refused));
