/* test_tape.c - a recorded run, replayed. */
#include <string.h>

#include "by_hand.h"

/* Two members each.  Step 1 (cursor 10): prompt 7 all correct, prompt 3 trained, prompt
 * 5 cut after 4 and 0 tokens; consumed 2.  Step 2 (cursor 12): prompt 5 again, trained;
 * prompt 9, one member cut after 7 tokens. */
static struct sim_record_member members[] = {
    {8, true, true},   {5, true, true},   /* 10 */
    {4, true, true},   {2, true, false},  /* 11 */
    {4, false, false}, {0, false, false}, /* 12 as step 1 had it */
    {6, true, false},  {3, true, true},   /* 12 */
    {7, true, true},   {7, false, false}, /* 13, not consumed */
};
static struct sim_record_group groups[] = {{7, 0}, {3, 2}, {5, 4}, {5, 6}, {9, 8}};
static struct sim_record_step steps[] = {{10, 2, 0, 3}, {12, 1, 3, 2}};
static const struct sim_record record = {2, 9, 2, 5, 10, steps, groups, members};

static void draw(struct sim_tape *t, int64_t step, int64_t number, struct sim_member *m,
                 int64_t *prompt)
{
    struct sim_source s = sim_tape_source(t);
    struct fault f = FAULT_INIT;

    CHECK_OK(s.draw(s.context, step, number, m, prompt, &f), &f);
}

static void what_was_recorded_comes_back(void)
{
    struct fault f = FAULT_INIT;
    struct sim_tape *t;
    struct sim_member m[2];
    int64_t prompt;

    CHECK_OK(sim_tape_new(&t, &record, 1, &f), &f);
    CHECK_INT(sim_tape_source(t).prompts, 4);
    draw(t, 0, 11, m, &prompt);
    CHECK_INT(prompt, 0); /* 3 is the least of 3, 5, 7, 9 */
    CHECK_INT(m[0].tokens, 4);
    CHECK(m[0].correct && !m[1].correct && !m[0].drawn && !m[1].drawn);
    draw(t, 1, 12, m, &prompt);
    CHECK_INT(m[0].tokens, 6);
    CHECK(!m[0].drawn);
    draw(t, 5, 11, m, &prompt); /* of a step that is not recorded: as it was consumed */
    CHECK_INT(m[1].tokens, 2);
    CHECK(!m[1].drawn);
    sim_tape_free(t);
}

/* Cut after 4 tokens: of the same prompt only the completion of 6 was longer.  Not
 * started: any of its two.  Cut after 7, and none of the same prompt was longer: the
 * one of 8 of another. */
static void what_was_cut_is_drawn(void)
{
    struct fault f = FAULT_INIT;
    bool seen[9] = {false};

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct sim_tape *t;
        struct sim_member m[2];
        int64_t prompt;

        CHECK_OK(sim_tape_new(&t, &record, seed, &f), &f);
        draw(t, 0, 12, m, &prompt);
        CHECK_INT(prompt, 1);
        CHECK(m[0].drawn && m[0].tokens == 6 && !m[0].correct);
        CHECK(m[1].drawn && (m[1].tokens == 6 || m[1].tokens == 3));
        seen[m[1].tokens] = true;
        draw(t, 1, 13, m, &prompt);
        CHECK(!m[0].drawn && m[0].tokens == 7);
        CHECK(m[1].drawn && m[1].tokens == 8 && m[1].correct);
        sim_tape_free(t);
    }
    CHECK(seen[3] && seen[6]);
}

/* Nobody was longer than 8 tokens: it would have gone on to the limit of 9.  Cut at the
 * limit, which can't be: one more. */
static void what_was_longest_runs_to_the_limit(void)
{
    struct sim_record_member m[] = {
        {8, true, true}, {3, true, true}, {8, false, false}, {9, false, false}};
    struct sim_record_group g[] = {{0, 0}, {1, 2}};
    struct sim_record_step s[] = {{0, 1, 0, 2}};
    struct sim_record r = {2, 9, 1, 2, 4, s, g, m};
    struct sim_member got[2];
    struct sim_tape *t;
    struct fault f = FAULT_INIT;
    int64_t prompt;

    CHECK_OK(sim_tape_new(&t, &r, 1, &f), &f);
    draw(t, 0, 1, got, &prompt);
    CHECK(got[0].tokens == 9 && !got[0].correct && got[0].drawn);
    CHECK(got[1].tokens == 10 && !got[1].correct);
    sim_tape_free(t);
}

/* Nobody started 14: one of the complete groups 10, 11 and 12, whole. */
static void what_never_was_is_a_whole_group(void)
{
    struct fault f = FAULT_INIT;
    bool seen[9] = {false};

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct sim_tape *t;
        struct sim_member m[2];
        int64_t prompt;

        CHECK_OK(sim_tape_new(&t, &record, seed, &f), &f);
        draw(t, 1, 14, m, &prompt);
        CHECK(m[0].drawn && m[1].drawn);
        CHECK((m[0].tokens == 8 && m[1].tokens == 5) ||
              (m[0].tokens == 4 && m[1].tokens == 2) ||
              (m[0].tokens == 6 && m[1].tokens == 3));
        seen[m[0].tokens] = true;
        sim_tape_free(t);
    }
    CHECK(seen[4] && seen[6] && seen[8]);
}

/* The run's own policy meets its batches: number 11, then number 12.  6 slots hold
 * three candidates; after 4 iterations 11 is complete and number 12 is cut, whose drawn
 * members (both of them) have 4 tokens each, or 3 and 4.  Number 13 is launched in step
 * 2 with one drawn member, and number 14, which nobody started, with two. */
static void batches_are_those_of_the_run(void)
{
    struct admission_config a = pair_policy();
    struct sim_machine m = {.replicas = 1, .slots = 6, .fixed_s = 1};
    struct sim_source source;
    struct sim_tape *t;
    struct sim_step s[2];
    struct fault f = FAULT_INIT;
    struct sim *sim;
    int n;

    CHECK_OK(sim_tape_new(&t, &record, 1, &f), &f);
    source = sim_tape_source(t);
    CHECK_OK(sim_new(&sim, &a, &m, &source, &f), &f);
    sim_seek(sim, record.steps[0].cursor);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(sim_step(sim, &s[i], &f), &f);
        CHECK_INT(sim_batch(sim, &n)[0], 11 + i);
        CHECK_INT(n, 1);
        CHECK_INT(s[i].consumed, record.steps[i].consumed);
    }
    CHECK_INT(s[0].started, 3);
    CHECK_INT(s[0].drawn_groups, 1);
    CHECK(s[0].drawn_tokens == 8 || s[0].drawn_tokens == 7);
    CHECK_INT(s[0].tokens[FATE_CANCELLED], s[0].drawn_tokens);
    CHECK_INT(s[1].drawn_groups, 2);
    sim_free(sim);
    sim_tape_free(t);
}

static void contradictions_are_refused(void)
{
    struct sim_record_step gap[] = {{10, 2, 0, 3}, {13, 1, 3, 2}};
    struct sim_record_step beyond[] = {{10, 2, 0, 6}};
    struct sim_record_step more[] = {{10, 4, 0, 3}};
    struct sim_record_group outside[] = {{7, 9}};
    struct sim_record_member cut[] = {{3, true, true}, {5, false, true}};
    struct sim_record_member empty[] = {{0, true, true}, {5, true, true}};
    struct sim_record bad[] = {
        {2, 9, 2, 5, 10, gap, groups, members},
        {2, 9, 1, 5, 10, beyond, groups, members},
        {2, 9, 1, 5, 10, more, groups, members},
        {2, 9, 1, 1, 10, steps, outside, members},
        {2, 9, 0, 5, 10, steps, groups, members},
        {0, 9, 2, 5, 10, steps, groups, members},
        {2, 9, 1, 1, 2, &(struct sim_record_step){0, 1, 0, 1}, groups, cut},
        {2, 9, 1, 1, 2, &(struct sim_record_step){0, 1, 0, 1}, groups, empty},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fault f = FAULT_INIT;
        struct sim_tape *t;

        CHECK_INT(sim_tape_new(&t, &bad[i], 1, &f), FAULT_DATA);
        CHECK(!t);
    }
}

CASES(CASE(what_was_recorded_comes_back), CASE(what_was_cut_is_drawn),
      CASE(what_was_longest_runs_to_the_limit), CASE(what_never_was_is_a_whole_group),
      CASE(batches_are_those_of_the_run), CASE(contradictions_are_refused));
