/* test_carry.c - groups that go on in a later step: the same draws, the new weights. */
#include "unit/rollout/drive.h"

enum { GROUPS = 5, SIZE = 4 };

static struct group *whole(struct model *m, const struct rollout_config *c, int i)
{
    struct group *g = drive_group(i, 5 + 7 * i, SIZE);

    drive_plainly(m, c, 0, g);
    return g;
}

static void run(struct rollout *r, int iterations)
{
    struct fault f = FAULT_INIT;

    CHECK_OK(rollout_slice(r, iterations, false, NULL, &f), &f);
}

/* Take all groups out, end the step, and give them back under other numbers. */
static void interrupt(struct rollout *r, int64_t step, const int *from, const int *to)
{
    struct group *g[GROUPS];
    struct fault f = FAULT_INIT;

    for (int i = 0; i < GROUPS; i++)
        g[i] = rollout_release(r, from[i]);
    CHECK_INT(rollout_busy(r), 0);
    rollout_begin(r, step, 10 + step);
    for (int i = 0; i < GROUPS; i++) {
        g[i]->index = to[i];
        CHECK_OK(rollout_submit(r, g[i], &f), &f);
    }
}

/* Interrupted after 1, 2, ... iterations, twice, in few slots and small chunks, where
 * members wait, catch up and have ended: the tokens are those of a generator without
 * any cleverness that never stopped. */
static void interrupted(enum arch arch)
{
    static const int first[GROUPS] = {0, 1, 2, 3, 4}, second[GROUPS] = {7, 3, 0, 1, 9};
    struct model *m = drive_model_of(arch);
    struct rollout_config c = drive_config(6);
    struct group *want[GROUPS];
    struct fault f = FAULT_INIT;

    for (int i = 0; i < GROUPS; i++)
        want[i] = whole(m, &c, i);
    for (int k = 1; k < 40; k += 3) {
        struct rollout *r;

        c.prefill_chunk = 1 + k % 7;
        r = drive_new(m, &c);
        for (int i = 0; i < GROUPS; i++)
            CHECK_OK(rollout_submit(r, drive_group(i, 5 + 7 * i, SIZE), &f), &f);
        run(r, k);
        interrupt(r, 5, first, second);
        run(r, k);
        interrupt(r, 6, second, first);
        drive_end(r, 8);
        for (int i = 0; i < GROUPS; i++) {
            struct group *g = rollout_take(r, i);

            CHECK(g && same_group(g, want[i]));
            group_free(g);
        }
        rollout_free(r);
    }
    for (int i = 0; i < GROUPS; i++)
        group_free(want[i]);
    model_free(m);
}

static void interruption_changes_no_bit(void)
{
    drive_both(interrupted);
}

/* Under other weights: the old tokens stay, what follows is drawn by the new ones given
 * the old tokens, and every token says which version drew it. */
static void new_weights(enum arch arch)
{
    struct model *m = drive_model_of(arch);
    struct rollout_config c = drive_config(3);
    struct group *want = drive_group(2, 12, SIZE), *g = drive_group(2, 12, SIZE);
    struct fault f = FAULT_INIT;
    struct rollout *r = drive_new(m, &c);
    float *w = model_params(m);
    int old[SIZE], newer = 0;

    rollout_begin(r, 4, 8);
    CHECK_OK(rollout_submit(r, g, &f), &f);
    run(r, 9);
    CHECK(rollout_release(r, 2) == g);
    for (int k = 0; k < SIZE; k++) {
        old[k] = g->members[k].n_tokens;
        g->members[k].n_carried = old[k];
        for (int t = 0; t < old[k]; t++)
            CHECK_OK(completion_add(&want->members[k], g->members[k].ids[t],
                                    g->members[k].logprobs[t], &f),
                     &f);
        want->members[k].finish = g->members[k].finish;
    }
    for (size_t i = 0; i < model_n_params(m); i += 3)
        w[i] *= 1.5f;
    CHECK_OK(model_refresh(m, &f), &f);
    drive_plainly(m, &c, 4, want);

    rollout_begin(r, 5, 9);
    g->index = 0;
    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 8);
    CHECK(rollout_take(r, 0) == g);
    CHECK(same_group(g, want));
    CHECK_INT(g->policy_version, 8);
    CHECK_INT(g->born_step, 4);
    CHECK_INT(g->born_index, 2);
    for (int k = 0; k < SIZE; k++)
        for (int t = 0; t < g->members[k].n_tokens; t++) {
            newer += t >= old[k];
            CHECK_INT(g->members[k].versions[t], t < old[k] ? 8 : 9);
        }
    CHECK(newer > 0 && old[0] > 0);

    /* A step that is dropped leaves what it began with. */
    for (int k = 0; k < SIZE; k++) {
        completion_rewind(&g->members[k]);
        CHECK_INT(g->members[k].n_tokens, old[k]);
    }
    CHECK_INT(group_tokens(g), group_carried(g));
    rollout_begin(r, 5, 9);
    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 8);
    CHECK(same_group(g, want));
    group_free(want);
    rollout_free(r);
    model_free(m);
}

static void new_weights_draw_on_from_old_tokens(void)
{
    drive_both(new_weights);
}

/* News of members that ended is told once, in the step in which they ended; what can't
 * go on is refused. */
static void what_has_ended_is_not_told_again(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(4);
    struct rollout *r = drive_new(m, &c);
    struct group *g = drive_group(1, 6, 2), *told;
    struct fault f = FAULT_INIT;
    int member;

    CHECK_OK(rollout_submit(r, g, &f), &f);
    drive_end(r, 8);
    CHECK(rollout_release(r, 1) == g);
    CHECK(!rollout_next(r, &told, &member));
    CHECK(!rollout_release(r, 1));
    CHECK_OK(rollout_submit(r, g, &f), &f);
    CHECK_INT(rollout_busy(r), 0);
    CHECK(!rollout_next(r, &told, &member));
    CHECK(rollout_take(r, 1) == g);
    g->members[1].finish = FINISH_CANCELLED;
    CHECK_INT(rollout_submit(r, g, &f), FAULT_BUG);
    g->members[1].finish = FINISH_NONE;
    g->members[1].n_tokens--;
    g->members[1].ids[0] = REAL_VOCAB;
    f = FAULT_INIT;
    CHECK_INT(rollout_submit(r, g, &f), FAULT_DATA);
    group_free(g);
    rollout_free(r);
    model_free(m);
}

CASES(CASE(interruption_changes_no_bit), CASE(new_weights_draw_on_from_old_tokens),
      CASE(what_has_ended_is_not_told_again));
