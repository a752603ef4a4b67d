/* test_schedules.c - random verdicts on random machines against a patient sampler.
 *
 * Whatever the machine and the policy, with order = candidate the trained batch, the
 * reason and the consumed prompts must be those of a sampler that generates one
 * candidate after the other, the estimates must be the same bits, and the ledger must
 * hold every token that was generated.  With order = completion they must be those of
 * one who takes groups as they complete.
 */
#include "unit/admission/machine.h"

enum { STEPS = 2 };

/* Nothing is in flight between two steps of one that discards. */
static int64_t run_step(struct machine *m, struct admission *a)
{
    struct outcome want = sample(m->table, m->cursor, m->c, NULL);
    struct fault f = FAULT_INIT;
    int ticks = 0;

    new_replicas(m);
    memset(m->life, 0, sizeof m->life);
    m->restarted = m->reported = 0;
    m->completion = (struct outcome){0};
    CHECK_OK(admission_begin(a, m->table->n - m->cursor, &f), &f);
    while (!admission_settled(a) && ticks++ < 100000)
        tick(m, a);
    if (!admission_settled(a))
        broken("the step ends");
    if (m->c->order == ORDER_COMPLETION) {
        if (!m->completion.why)
            m->completion.why = want.why;
        m->completion.consumed = admission_started(a);
        want = m->completion;
    }
    check_outcome(a, &want);
    check_ledger(m, a);
    return want.consumed;
}

static struct admission_config random_config(void)
{
    int groups = 1 + below(MAX_B), m = 1 + below(PROMPTS / 2 / groups);
    bool dynamic = chance(90);

    return (struct admission_config){
        .groups = groups,
        .size = dynamic ? 2 + below(MAX_G - 1) : 1 + below(MAX_G),
        .max_candidates = chance(80) ? groups * m : 0,
        .max_candidate_tokens = chance(70) ? 0 : 1 + below(chance(50) ? 40 : 200),
        .max_train_tokens = chance(70) ? 0 : 1 + below(chance(50) ? 20 : 100),
        .dynamic = dynamic,
        .prior_trainable = 0.1 + 0.8 * below(100) / 100,
        .prior_weight = 1 + below(20)};
}

/* A step with nothing started in advance wastes nothing; full rounds cancel nothing. */
static void check_waste(const struct admission *a, const struct admission_config *c)
{
    bool budgets = c->max_candidate_tokens || c->max_train_tokens;
    bool advance = c->refill == REFILL_STREAM && c->speculation < 1;
    int64_t tokens[FATE_COUNT];

    admission_ledger(a, tokens);
    if (c->refill == REFILL_FULL && c->dynamic && tokens[FATE_CANCELLED])
        broken("whole rounds");
    if (!budgets && !advance && c->refill != REFILL_FULL &&
        (tokens[FATE_SURPLUS] || tokens[FATE_CANCELLED]))
        broken("waste although nothing was started in advance");
}

/* STEPS steps over the table with other policies and machines, then the estimates. */
static void run_schedule(const struct table *t, struct admission_config c,
                         double *state)
{
    static const double speculation[] = {0, 0.1, 0.5, 0.9, 1};
    static struct machine m;
    struct fault f = FAULT_INIT;
    struct admission *a;

    c.refill = chance(60) ? REFILL_STREAM : chance(50) ? REFILL_WAVES : REFILL_FULL;
    c.full_multiplier = 1 + below(3);
    c.speculation = speculation[below(5)];
    CHECK_OK(admission_new(&a, &c, &f), &f);
    m.table = t;
    m.c = &c;
    m.cursor = 0;
    for (int s = 0; s < STEPS; s++) {
        m.cursor += run_step(&m, a);
        check_waste(a, &c);
    }
    admission_state_get(a, state);
    admission_free(a);
}

/* What happened over all of these schedules is in `seen`. */
static void try(uint64_t from, int tables, int failing, enum order_rule order)
{
    static struct table t;

    seed = from;
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < tables; i++) {
        struct admission_config c = random_config();
        double state[2][2 * HISTORY_COUNT * MAX_G + 1] = {{0}};

        c.order = order;
        fill_table(&t, failing);
        for (int k = 0; k < 3; k++) {
            run_schedule(&t, c, state[k > 0]);
            if (k > 0 && order == ORDER_CANDIDATE &&
                memcmp(state[0], state[1], sizeof state[0]))
                broken("the same bits of the estimates");
        }
    }
}

/* 3 x 20000 schedules of two steps each. */
static void invariants_1_and_2_timing_cannot_choose_the_batch(void)
{
    try(1, 20000, 0, ORDER_CANDIDATE);
    CHECK(seen.surplus > 1000);
    CHECK(seen.cancelled > 1000);
    CHECK(seen.raced > 1000);
    CHECK_INT(seen.failed + seen.restarts, 0);
    CHECK(seen.closed[CLOSED_FULL] > 1000);
    CHECK(seen.closed[CLOSED_MAX_CANDIDATES] > 1000);
    CHECK(seen.closed[CLOSED_DATA_EXHAUSTED] > 1000);
    CHECK(seen.closed[CLOSED_MAX_CANDIDATE_TOKENS] > 1000);
    CHECK(seen.closed[CLOSED_MAX_TRAIN_TOKENS] > 1000);
}

/* Nor when candidates fail, at any moment, before or after they have cut others. */
static void invariants_1_and_2_hold_with_failures(void)
{
    try(2, 7000, 25, ORDER_CANDIDATE);
    CHECK(seen.failed > 1000);
    CHECK(seen.restarts > 100);
    CHECK(seen.surplus > 100);
}

static void completion_order_takes_what_completes(void)
{
    try(3, 4000, 10, ORDER_COMPLETION);
    CHECK(seen.failed > 1000);
    CHECK(seen.surplus > 1000);
    CHECK(seen.cancelled > 1000);
    for (int why = CLOSED_FULL; why <= CLOSED_MAX_TRAIN_TOKENS; why++)
        CHECK(seen.closed[why] > 300);
}

CASES(CASE(invariants_1_and_2_timing_cannot_choose_the_batch),
      CASE(invariants_1_and_2_hold_with_failures),
      CASE(completion_order_takes_what_completes));
