/* test_resumed.c - surplus = resume on random machines against a naive sampler, and by
 * hand.
 *
 * The naive sampler is told when each candidate was started; what of it has become too
 * old, what is trained, why the step closes and how far the cursor moves follow from
 * the table.
 */
#include <math.h>

#include "unit/admission/by_hand.h"
#include "unit/admission/machine.h"

enum { STEPS = 5 };

static bool degenerate(const struct machine *m, int64_t prompt)
{
    return m->life[prompt].heard == m->c->size && !m->life[prompt].failed &&
           !trains(&m->table->prompt[prompt], m->c);
}

/* As if the job was stopped and started again here. */
static struct admission *replaced(struct admission *a, const struct admission_config *c)
{
    struct fault f = FAULT_INIT;
    int n = admission_state_size(a);
    double *state = malloc((size_t)n * sizeof *state);
    double *again = malloc((size_t)n * sizeof *state);
    struct admission *b;

    CHECK_OK(admission_new(&b, c, &f), &f);
    admission_state_get(a, state);
    CHECK_OK(admission_state_set(b, state, n, &f), &f);
    CHECK_INT(admission_state_size(b), n);
    CHECK_INT(admission_carried(b), admission_carried(a));
    admission_state_get(b, again);
    CHECK(!memcmp(state, again, (size_t)n * sizeof *state));
    free(state);
    free(again);
    admission_free(a);
    return b;
}

/* One step of a machine that goes on; what it consumed. */
static int64_t run_step(struct machine *m, struct admission *a, int64_t carried,
                        bool stale[PROMPTS])
{
    struct outcome want;
    struct fault f = FAULT_INIT;
    int ticks = 0;

    for (int64_t i = m->cursor; i < PROMPTS; i++) {
        struct life *l = &m->life[i];

        l->starts = 0;
        stale[i] |= i < m->cursor + carried && !l->failed && !degenerate(m, i) &&
                    m->step - l->born > m->c->max_age;
    }
    m->reported = m->restarted = 0;
    m->completion.why = CLOSED_FULL; /* of no interest */
    CHECK_OK(admission_begin(a, m->table->n - m->cursor, &f), &f);
    CHECK_INT(admission_started(a), carried);
    want = sample(m->table, m->cursor, m->c, stale);
    while (!admission_settled(a) && ticks++ < 100000)
        tick(m, a);
    if (!admission_settled(a))
        broken("the step ends");
    while (chance(50)) /* news after the end, under the old numbers still */
        tick(m, a);
    check_outcome(a, &want);
    check_ledger(m, a);
    return want.consumed;
}

static void run_schedule(const struct table *t, const struct admission_config *c)
{
    static struct machine m;
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t carried = 0;
    bool stale[PROMPTS] = {false};

    CHECK_OK(admission_new(&a, c, &f), &f);
    m.table = t;
    m.c = c;
    m.cursor = 0;
    memset(m.life, 0, sizeof m.life);
    new_replicas(&m);
    for (m.step = 0; m.step < STEPS; m.step++) {
        m.cursor += run_step(&m, a, carried, stale);
        carried = admission_carried(a);
        if (chance(20))
            a = replaced(a, c);
    }
    admission_free(a);
}

/* 20000 schedules of five steps each; a quarter with failures. */
static void invariants_1_and_2_resumed_groups_keep_their_place(void)
{
    static const double speculation[] = {0, 0.1, 0.5, 0.9, 1};
    static struct table t;

    seed = 4;
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < 20000; i++) {
        int groups = 1 + below(3), m = 1 + below(12 / groups);
        struct admission_config c = {
            .groups = groups,
            .size = 2 + below(MAX_G - 1),
            .max_candidates = chance(80) ? groups * m : 0,
            .max_candidate_tokens = chance(80) ? 0 : 1 + below(200),
            .max_train_tokens = chance(80) ? 0 : 1 + below(100),
            .surplus = SURPLUS_RESUME,
            .max_age = 1 + below(2),
            .dynamic = chance(95),
            .speculation = speculation[below(5)],
            .prior_trainable = 0.1 + 0.8 * below(100) / 100,
            .prior_weight = 1 + below(20)};

        fill_table(&t, i % 4 ? 0 : 25);
        run_schedule(&t, &c);
    }
    CHECK(seen.carried > 1000);
    CHECK(seen.stale > 300);
    CHECK(seen.failed > 1000);
    CHECK_INT(seen.cancelled + seen.restarts, 0);
    for (int why = CLOSED_FULL; why <= CLOSED_MAX_TRAIN_TOKENS; why++)
        CHECK(seen.closed[why] > 300);
}

/* -- by hand ----------------------------------------------------------------------- */

static struct admission_config resuming(int groups, int64_t max_candidates)
{
    struct admission_config c = config(groups, 2, max_candidates);

    c.surplus = SURPLUS_RESUME;
    c.max_age = 1;
    return c;
}

static void begin(struct admission *a, int64_t carried)
{
    struct fault f = FAULT_INIT;

    CHECK_OK(admission_begin(a, ENDLESS, &f), &f);
    CHECK_INT(admission_started(a), carried);
}

static void tokens_are(const struct admission *a, int64_t in, int64_t out)
{
    int64_t i, o;

    admission_carried_tokens(a, &i, &o);
    CHECK_INT(i, in);
    CHECK_INT(o, out);
}

/* B = 1, so two are started.  1 is complete when 0 ends the first step: it is the batch
 * of the second, at once; what is behind it goes on with the verdicts it has. */
static void finished_groups_are_the_next_batch(void)
{
    struct admission_config c = resuming(1, 8);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1;

    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 2); /* 2B */
    give(a, 1, 0, "11");
    CHECK_INT(launch(a), 1);
    give(a, 2, 0, "01");
    CHECK_INT(launch(a), 0); /* one is known, 0 may be the other */
    give(a, 0, 0, "1");
    give(a, 0, 1, "0");
    closed_is(a, "full", 1);
    CHECK(admission_settled(a));
    CHECK_INT(cancels(a, &first), 0);
    CHECK_INT(admission_carried(a), 2);
    CHECK_INT(admission_fate(a, 0), FATE_TRAINED);
    CHECK_INT(admission_fate(a, 1), FATE_COUNT);
    tokens_are(a, 0, 40);
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 20});
    CHECK_INT(admission_begin(a, 1, &f), FAULT_BUG); /* fewer than go on */

    begin(a, 2);
    closed_is(a, "full", 2);
    batch_is(a, "1");
    tokens_are(a, 40, 0);
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 20, [FATE_ALL_CORRECT] = 20});
    CHECK_INT(admission_carried(a), 0);
    admission_free(a);
}

/* B = 1, max_age 1: a group that goes on unfinished through a whole further step is too
 * old in the third, is cancelled, and its tokens are stale. */
static void what_waits_too_long_is_stale(void)
{
    struct admission_config c = resuming(1, 8);
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t first = -1;

    c.speculation = 0;
    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 8);
    give(a, 0, 0, "01");
    closed_is(a, "full", 1);
    CHECK_INT(admission_carried(a), 7);
    give(a, 2, 0, "1"); /* under its old number; 10 tokens go on with it */
    CHECK_INT(admission_cut(a, 2, 1, 1, &f), FAULT_BUG); /* it is not cancelled */
    tokens_are(a, 0, 10);
    begin(a, 7);
    give(a, 1, 1, "1"); /* no signal */
    CHECK_INT(admission_closed(a), CLOSED_OPEN);
    give(a, 0, 0, "01");
    closed_is(a, "full", 1);
    tokens_are(a, 10, 20);
    ledger_is(a, (int64_t[FATE_COUNT]){[FATE_TRAINED] = 20});
    begin(a, 6);
    CHECK_INT(cancels(a, &first), 5); /* all but the one without signal */
    CHECK_INT(first, 1);
    for (int64_t i = 1; i < 6; i++)
        for (int j = 0; j < 2; j++)
            CHECK_OK(admission_cut(a, i, j, 3, &f), &f);
    CHECK_INT(launch(a), 2);
    give(a, 6, 0, "01");
    closed_is(a, "full", 7);
    batch_is(a, "6");
    ledger_is(a, (int64_t[FATE_COUNT]){
                     [FATE_TRAINED] = 20, [FATE_ALL_CORRECT] = 20, [FATE_STALE] = 30});
    CHECK_INT(admission_carried(a), 1);
    admission_free(a);
}

/* A step that is stopped before anything is resolved loses nothing. */
static void a_stopped_step_goes_on(void)
{
    struct admission_config c = resuming(2, 8);
    struct admission *a;

    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 4);
    give(a, 1, 0, "01");
    admission_stop(a, CLOSED_MAX_SECONDS);
    closed_is(a, "max_seconds", 0);
    CHECK(admission_settled(a));
    CHECK_INT(admission_carried(a), 4);
    begin(a, 4);
    give(a, 0, 0, "01");
    closed_is(a, "full", 2);
    batch_is(a, "0 1");
    CHECK_INT(admission_carried(a), 2);
    admission_free(a);
}

static void broken_states_are_refused(void)
{
    struct admission_config c = resuming(1, 4);
    struct fault f = FAULT_INIT;
    struct admission *a, *b;
    double state[64];
    int n;

    a = step(&c, ENDLESS);
    CHECK_INT(launch(a), 2);
    give(a, 0, 0, "01");
    n = admission_state_size(a);
    CHECK_INT(n, 17 + 7); /* 16 counts, how many, and one candidate of 3 + 2 * 2 */
    admission_state_get(a, state);
    CHECK_OK(admission_new(&b, &c, &f), &f);
    CHECK_OK(admission_state_set(b, state, n, &f), &f);
    for (int bad = 0; bad < n; bad++) {
        CHECK_INT(admission_state_set(b, state, bad, &f), FAULT_DATA);
        for (int k = 0; k < 4 && bad >= 16; k++) {
            static const double wrong[] = {-1, 0.5, 1e300, NAN};
            double was = state[bad];

            state[bad] = wrong[k];
            CHECK_INT(admission_state_set(b, state, n, &f), FAULT_DATA);
            state[bad] = was;
        }
    }
    CHECK_INT(admission_carried(b), 1);
    begin(b, 1);
    give(b, 0, 0, "10");
    closed_is(b, "full", 1);
    admission_free(b);
    c.surplus = SURPLUS_DISCARD;
    CHECK_OK(admission_new(&b, &c, &f), &f);
    CHECK_INT(admission_state_set(b, state, n, &f), FAULT_DATA);
    admission_free(b);
    admission_free(a);
}

CASES(CASE(finished_groups_are_the_next_batch), CASE(what_waits_too_long_is_stale),
      CASE(a_stopped_step_goes_on), CASE(broken_states_are_refused),
      CASE(invariants_1_and_2_resumed_groups_keep_their_place));
