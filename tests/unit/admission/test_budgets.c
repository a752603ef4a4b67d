/* test_budgets.c - token budgets, exact at the boundary: worked out by hand. */
#include "unit/admission/by_hand.h"

/* Four groups of two, 20 tokens each: no, yes, yes, yes trainable; B = 3. */
static struct admission *four(struct admission_config c)
{
    struct admission *a = step(&c, ENDLESS);

    CHECK_INT(launch(a), 4);
    for (int64_t i = 3; i > 0; i--)
        give(a, i, 0, "01");
    give(a, 0, 0, "11");
    return a;
}

static struct admission_config budgets(int64_t candidates, int64_t train)
{
    struct admission_config c = config(3, 2, 4);

    c.speculation = 0;
    c.max_candidate_tokens = candidates;
    c.max_train_tokens = train;
    return c;
}

static void candidate_tokens_are_exact(void)
{
    static const struct {
        int64_t budget;
        const char *why, *batch;
        int64_t consumed;
    } t[] = {{0, "full", "1 2 3", 4},
             {81, "full", "1 2 3", 4},
             {80, "full", "1 2 3", 4},
             {79, "max_candidate_tokens", "1 2", 3},
             {60, "max_candidate_tokens", "1 2", 3},
             {59, "max_candidate_tokens", "1", 2},
             {20, "max_candidate_tokens", "", 1},
             {19, "max_candidate_tokens", "", 1}, /* the first one itself */
             {1, "max_candidate_tokens", "", 1}};

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct admission *a = four(budgets(t[i].budget, 0));

        closed_is(a, t[i].why, t[i].consumed);
        batch_is(a, t[i].batch);
        admission_free(a);
    }
}

/* Candidate 0 is not trained: it costs no train tokens. */
static void train_tokens_are_exact(void)
{
    static const struct {
        int64_t budget;
        const char *why, *batch;
        int64_t consumed;
    } t[] = {{61, "full", "1 2 3", 4},           {60, "full", "1 2 3", 4},
             {59, "max_train_tokens", "1 2", 3}, {40, "max_train_tokens", "1 2", 3},
             {39, "max_train_tokens", "1", 2},   {20, "max_train_tokens", "1", 2},
             {19, "max_train_tokens", "", 1}};

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct admission *a = four(budgets(0, t[i].budget));

        closed_is(a, t[i].why, t[i].consumed);
        batch_is(a, t[i].batch);
        admission_free(a);
    }
}

/* Whose turn would break both is named by the candidates'. */
static void the_first_to_break_is_named(void)
{
    struct admission *a = four(budgets(40, 20));

    closed_is(a, "max_candidate_tokens", 2);
    admission_free(a);
    a = four(budgets(79, 39));
    closed_is(a, "max_train_tokens", 2);
    batch_is(a, "1");
    admission_free(a);
    a = four(budgets(80, 60)); /* the last one fills the step and both budgets */
    closed_is(a, "full", 4);
    admission_free(a);
}

/* A first candidate over the budget is surplus, and its prompt is spent: the next step
 * begins behind it. */
static void a_first_candidate_over_the_budget_is_spent(void)
{
    struct admission_config c = budgets(0, 15);
    struct fault f = FAULT_INIT;
    struct admission *a = step(&c, 2);
    int64_t index;

    CHECK_INT(launch(a), 2);
    give(a, 0, 0, "01");
    closed_is(a, "max_train_tokens", 1);
    batch_is(a, "");
    CHECK_INT(admission_fate(a, 0), FATE_SURPLUS);
    CHECK(admission_cancel(a, &index));
    CHECK_INT(index, 1);
    CHECK_OK(admission_cut(a, 1, 0, 1, &f), &f);
    CHECK_OK(admission_cut(a, 1, 1, 1, &f), &f);
    CHECK_OK(admission_begin(a, 1, &f), &f);
    CHECK_INT(launch(a), 1);
    give(a, 0, 0, "00");
    closed_is(a, "data_exhausted", 1);
    admission_free(a);
}

/* 30 tokens: 0 has 10 of them, 1 has 20 and one to come, so 2 and 3 can't fit any more
 * and are cut, and none is launched; 1 itself is waited for, it might fail. */
static void what_cannot_fit_is_cut(void)
{
    struct admission_config c = config(3, 3, 12);
    struct fault f = FAULT_INIT;
    int64_t first = -1;

    for (int fail = 0; fail < 2; fail++) {
        struct admission *a;

        c.speculation = 1;
        c.max_candidate_tokens = 29;
        a = step(&c, ENDLESS);
        CHECK_INT(launch(a), 3);
        give(a, 1, 0, "00");
        CHECK_INT(cancels(a, &first), 0);
        give(a, 0, 0, "0");
        CHECK_INT(cancels(a, &first), 1);
        CHECK_INT(first, 2);
        CHECK_INT(launch(a), 0);
        for (int i = 0; i < 3; i++)
            CHECK_OK(admission_cut(a, 2, i, 4, &f), &f);
        if (fail) {
            CHECK_OK(admission_failed(a, 1, &f), &f);
            CHECK_INT(cancels(a, &first), 1);
            CHECK_OK(admission_cut(a, 1, 2, 0, &f), &f);
            CHECK(admission_launch(a, 1, &first));
            CHECK_INT(first, 2); /* once more */
            give(a, 0, 1, "1");
            CHECK_OK(admission_finished(a, 0, 2, true, 9, &f), &f);
            CHECK_INT(admission_closed(a), CLOSED_OPEN); /* 29 of 29 */
            CHECK_OK(admission_finished(a, 2, 0, true, 1, &f), &f);
            give(a, 2, 1, "11");
            closed_is(a, "max_candidate_tokens", 2);
            batch_is(a, "0");
        } else {
            give(a, 0, 1, "0");
            CHECK_INT(admission_closed(a), CLOSED_OPEN);
            give(a, 1, 2, "0");
            give(a, 0, 2, "0");
            closed_is(a, "max_candidate_tokens", 1); /* the first alone: 30 of 29 */
            batch_is(a, "");
        }
        admission_free(a);
    }
}

/* Known trainable groups alone go over: 0 has 20 tokens, 1 another 20, of 30. */
static void what_cannot_be_trained_is_cut(void)
{
    struct admission_config c = config(3, 3, 12);
    struct admission *a;
    int64_t first = -1;

    c.max_train_tokens = 30;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 2, 0, "00");
    give(a, 1, 0, "01");
    CHECK_INT(cancels(a, &first), 0);
    give(a, 0, 0, "01");
    CHECK_INT(cancels(a, &first), 1);
    CHECK_INT(first, 2);
    CHECK_INT(launch(a), 0);
    give(a, 0, 2, "0");
    CHECK_INT(admission_closed(a), CLOSED_OPEN);
    admission_free(a);
}

/* In order of completion: 3, 2, 1 take 60, 0 comes last. */
static void in_completion_order_budgets_follow_completion(void)
{
    struct admission_config c = budgets(0, 40);
    struct admission *a;

    c.order = ORDER_COMPLETION;
    a = four(c);
    closed_is(a, "max_train_tokens", 4);
    batch_is(a, "2 3");
    admission_free(a);
    c = budgets(20, 0);
    c.order = ORDER_COMPLETION;
    a = four(c);
    closed_is(a, "max_candidate_tokens", 4);
    batch_is(a, "3");
    admission_free(a);
}

/* Without dynamic sampling a budget shortens the step too. */
static void budgets_hold_without_dynamic_sampling(void)
{
    struct admission_config c = budgets(0, 45);
    struct admission *a;

    c.dynamic = false;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 3);
    give(a, 0, 0, "00");
    give(a, 1, 0, "01");
    give(a, 2, 0, "11");
    closed_is(a, "max_train_tokens", 2);
    batch_is(a, "0 1");
    admission_free(a);
}

CASES(CASE(candidate_tokens_are_exact), CASE(train_tokens_are_exact),
      CASE(the_first_to_break_is_named),
      CASE(a_first_candidate_over_the_budget_is_spent), CASE(what_cannot_fit_is_cut),
      CASE(what_cannot_be_trained_is_cut),
      CASE(in_completion_order_budgets_follow_completion),
      CASE(budgets_hold_without_dynamic_sampling));
