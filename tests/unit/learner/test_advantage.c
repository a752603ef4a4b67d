/* Advantages against tables computed elsewhere (by a calculator, and verl's own tests).
 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "dapo/learner.h"

/* n completions, k of them right, rewards +-1: ddof = 1, eps = 1e-6. */
static void tables_of_right_and_wrong(void)
{
    static const struct {
        int n, k;
        double right, wrong;
    } want[] = {
        {16, 1, 3.749993, -.250000},
        {16, 8, .968245, -.968245},
        {8, 1, 2.474870, -.353553},
        {8, 4, .935413, -.935413},
    };

    for (size_t c = 0; c < sizeof want / sizeof want[0]; c++) {
        double r[16], a[16];

        for (int i = 0; i < want[c].n; i++)
            r[i] = i < want[c].k ? 1 : -1;
        advantage(r, want[c].n, 1e-6, a);
        for (int i = 0; i < want[c].n; i++)
            CHECK_NEAR(a[i], i < want[c].k ? want[c].right : want[c].wrong, 1e-6);
    }
}

/* Rewards 1e-5 apart: verl's test wants +-.6196 (of rewards rounded to float), where an
 * uncentred sum gave .0050.  In double, by hand: 5 / (5 sqrt 2 + 1) = .619496. */
static void small_differences_survive(void)
{
    for (int base = 1; base <= 2; base++) {
        double published[2] = {base, (float)(base + 1e-5)};
        double exact[2] = {base, base + 1e-5};

        advantage(published, 2, 1e-6, published);
        CHECK_NEAR(published[0], -.6196, 5e-5);
        CHECK_NEAR(published[1], +.6196, 5e-5);
        advantage(exact, 2, 1e-6, exact);
        CHECK_NEAR(exact[0], -.619496, 1e-6);
        CHECK_NEAR(exact[1], +.619496, 1e-6);
    }
}

/* [1, 3]: mean 2, std sqrt 2. */
static void pair_by_hand(void)
{
    double a[2] = {1, 3};

    advantage(a, 2, 0, a);
    CHECK_NEAR(a[0], -1 / sqrt(2), 1e-15);
    CHECK_NEAR(a[1], +1 / sqrt(2), 1e-15);
}

static void equal_rewards_give_zero_exactly(void)
{
    for (int n = 1; n <= 64; n++) {
        double r[64], a[64];

        for (int i = 0; i < n; i++)
            r[i] = 0.1 + 0.7f;
        advantage(r, n, 0, a);
        for (int i = 0; i < n; i++)
            CHECK(a[i] == 0);
    }
}

static void fill(struct group *g, const double *shaped, const bool *correct)
{
    for (int i = 0; i < g->size; i++) {
        g->members[i].shaped_reward = shaped[i];
        g->members[i].raw_reward = correct[i] ? 1 : -1;
        g->members[i].correct = correct[i];
    }
}

/* Two right, one of them and one of the wrong ones half overlong. */
static void group_uses_shaped_rewards(void)
{
    static const double shaped[] = {1, .5, -1, -1.5};
    static const double want[] = {1.050209, .630126, -.630126, -1.050209};
    static const bool correct[] = {true, true, false, false};
    struct fault f = FAULT_INIT;
    int prompt = 1;
    struct group *g = group_new(0, 0, &prompt, 1, 4, &f);

    CHECK(g != NULL);
    fill(g, shaped, correct);
    CHECK(group_trainable(group_correct(g), g->size));
    advantage_group(g, 1e-6);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(g->members[i].advantage, want[i], 1e-6);
    group_free(g);
}

/* An overlong answer gives an all-wrong group a spread: [.5, .5, .5, -1.5] would reward
 * short wrong answers, so the filter, not the advantage, must refuse it. */
static void all_wrong_with_overlong_is_not_trainable(void)
{
    static const double shaped[] = {-1, -1, -1, -1.5};
    static const bool correct[4] = {false};
    struct fault f = FAULT_INIT;
    int prompt = 1;
    struct group *g = group_new(0, 0, &prompt, 1, 4, &f);

    CHECK(g != NULL);
    fill(g, shaped, correct);
    CHECK(!group_trainable(group_correct(g), g->size));
    advantage_group(g, 0);
    CHECK_NEAR(g->members[0].advantage, .5, 1e-12);
    CHECK_NEAR(g->members[3].advantage, -1.5, 1e-12);
    group_free(g);
}

CASES(CASE(tables_of_right_and_wrong), CASE(small_differences_survive),
      CASE(pair_by_hand), CASE(equal_rewards_give_zero_exactly),
      CASE(group_uses_shaped_rewards), CASE(all_wrong_with_overlong_is_not_trainable))
