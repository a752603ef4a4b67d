/* test_schedules.c - random verdicts on random machines against a patient sampler.
 *
 * A table fixes what every prompt would give: lengths, verdicts, failures.  Virtual
 * replicas generate it with random slots, speeds, late news and late cancels.  Whatever
 * they do, the trained batch and the consumed prompts must be those of a sampler that
 * generates one candidate after the other, the estimates must be the same bits, and the
 * ledger must hold every token that was generated.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/admission.h"

enum {
    MAX_B = 5,
    MAX_G = 5,
    MAX_CANDIDATES = 20,
    STEPS = 2,
    PROMPTS = STEPS * MAX_CANDIDATES,
    MAX_R = 7,
    MAX_SLOTS = 6,
    MAX_LENGTH = 12,
    QUEUE = MAX_CANDIDATES * MAX_G * 4
};

static void broken(const char *claim)
{
    check_true(false, claim, __FILE__, __LINE__);
}

/* splitmix64; any source of randomness does. */
static uint64_t seed;
static int below(int n)
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z >> 33) % (unsigned)n);
}
static bool chance(int percent)
{
    return below(100) < percent;
}

/* -- what is generated ------------------------------------------------------------- */

struct prompt {
    int length[MAX_G];
    bool correct[MAX_G];
    int fail_member; /* breaks after fail_at tokens; -1: none */
    int fail_at;
};

struct table {
    int64_t n; /* prompts there are */
    struct prompt prompt[PROMPTS];
};

static void fill_table(struct table *t, int failing)
{
    static const int rates[] = {0, 0, 5, 20, 50, 80, 95, 100, 100};
    int hard = below(9);

    t->n = chance(50) ? PROMPTS : below(PROMPTS);
    for (int i = 0; i < PROMPTS; i++) {
        struct prompt *p = &t->prompt[i];
        int rate = rates[chance(50) ? hard : below(9)];

        for (int j = 0; j < MAX_G; j++) {
            p->correct[j] = chance(rate);
            p->length[j] = 1 + below(chance(20) ? MAX_LENGTH : 4);
        }
        p->fail_member = chance(failing) ? below(MAX_G) : -1;
        p->fail_at = p->fail_member < 0 ? 0 : below(p->length[p->fail_member]);
    }
}

/* -- the patient sampler ----------------------------------------------------------- */

struct outcome {
    int n;
    int64_t batch[MAX_B], consumed;
    enum closed_by why;
};

static struct outcome sample(const struct table *t, int64_t cursor,
                             const struct admission_config *c)
{
    struct outcome o = {.why = CLOSED_MAX_CANDIDATES};
    int64_t most = c->dynamic ? c->max_candidates : c->groups;

    for (; o.n < c->groups && o.consumed < most; o.consumed++) {
        const struct prompt *p = &t->prompt[cursor + o.consumed];
        int correct = 0;

        if (cursor + o.consumed == t->n) {
            o.why = CLOSED_DATA_EXHAUSTED;
            return o;
        }
        for (int j = 0; j < c->size; j++)
            correct += p->correct[j];
        if (p->fail_member >= 0 && p->fail_member < c->size)
            continue;
        if (!c->dynamic || (correct > 0 && correct < c->size))
            o.batch[o.n++] = o.consumed;
    }
    if (o.n == c->groups)
        o.why = CLOSED_FULL;
    return o;
}

/* -- the machine ------------------------------------------------------------------- */

struct sequence {
    int64_t index;
    int member, done;
};

enum kind { FINISHED, CUT, FAILED };

struct event {
    enum kind kind;
    struct sequence s;
};

struct replica {
    int slots, speed; /* percent of ticks in which it decodes */
    int n_active, n_waiting, n_news, n_orders;
    struct sequence active[MAX_SLOTS], waiting[QUEUE];
    struct event news[QUEUE];
    int64_t orders[QUEUE]; /* candidates to cancel */
};

struct machine {
    const struct table *table;
    int64_t cursor;
    int size;
    int n, lag; /* replicas; percent of ticks in which news travel */
    struct replica replica[MAX_R];
    int home[MAX_CANDIDATES];     /* replica of a candidate */
    int64_t bill[MAX_CANDIDATES]; /* tokens of its present attempt */
    int64_t cancelled;            /* tokens of earlier attempts */
    int started[MAX_CANDIDATES];  /* attempts */
};

/* That every kind of accident happened, over all schedules. */
static struct {
    int64_t restarts, failed, surplus, cancelled, raced, closed[CLOSED_COUNT];
} seen;

static void tell(struct replica *r, enum kind kind, struct sequence s)
{
    if (r->n_news < QUEUE)
        r->news[r->n_news++] = (struct event){.kind = kind, .s = s};
    else
        broken("room for news");
}

/* One token for every active sequence. */
static void decode(struct machine *m, struct replica *r)
{
    while (r->n_active < r->slots && r->n_waiting > 0) {
        r->active[r->n_active++] = r->waiting[0];
        memmove(r->waiting, r->waiting + 1,
                (size_t)--r->n_waiting * sizeof r->waiting[0]);
    }
    for (int i = r->n_active - 1; i >= 0; i--) {
        struct sequence *s = &r->active[i];
        const struct prompt *p = &m->table->prompt[m->cursor + s->index];
        bool failing = s->member == p->fail_member;

        s->done++;
        if (s->done < p->length[s->member] && !(failing && s->done > p->fail_at))
            continue;
        if (failing)
            tell(r, FAILED, *s);
        tell(r, failing ? CUT : FINISHED, *s);
        *s = r->active[--r->n_active];
    }
}

static void obey(struct replica *r)
{
    for (int k = 0; k < r->n_orders; k++) {
        for (int i = r->n_active - 1; i >= 0; i--)
            if (r->active[i].index == r->orders[k]) {
                tell(r, CUT, r->active[i]);
                r->active[i] = r->active[--r->n_active];
            }
        for (int i = r->n_waiting - 1; i >= 0; i--)
            if (r->waiting[i].index == r->orders[k]) {
                tell(r, CUT, r->waiting[i]);
                memmove(r->waiting + i, r->waiting + i + 1,
                        (size_t)(--r->n_waiting - i) * sizeof r->waiting[0]);
            }
    }
    r->n_orders = 0;
}

static void deliver(struct machine *m, struct replica *r, struct admission *a)
{
    struct fault f = FAULT_INIT;

    for (int i = 0; i < r->n_news; i++) {
        const struct event *e = &r->news[i];
        const struct prompt *p = &m->table->prompt[m->cursor + e->s.index];

        if (e->kind == FAILED) {
            CHECK_OK(admission_failed(a, e->s.index, &f), &f);
            continue;
        }
        m->bill[e->s.index] += e->s.done;
        seen.raced += e->kind == FINISHED && admission_closed(a);
        if (e->kind == CUT)
            CHECK_OK(admission_cut(a, e->s.index, e->s.member, e->s.done, &f), &f);
        else
            CHECK_OK(admission_finished(a, e->s.index, e->s.member,
                                        p->correct[e->s.member], e->s.done, &f),
                     &f);
    }
    r->n_news = 0;
}

/* Ask for the replica with the most free slots, or for any that has some. */
static void assign(struct machine *m, struct admission *a)
{
    bool careless = chance(30);

    for (;;) {
        int best = -1, most = 0;
        int64_t index;

        for (int i = 0; i < m->n; i++) {
            const struct replica *r = &m->replica[i];
            int free_slots = r->slots - r->n_active - r->n_waiting;

            if (free_slots > most && (best < 0 || !careless || chance(50)))
                best = i, most = free_slots;
        }
        if (best < 0 || !admission_launch(a, most, &index))
            return;
        if (m->started[index]++ > 0) {
            seen.restarts++;
            m->cancelled += m->bill[index];
            m->bill[index] = 0;
        }
        m->home[index] = best;
        for (int j = 0; j < m->size; j++)
            m->replica[best].waiting[m->replica[best].n_waiting++] =
                (struct sequence){.index = index, .member = j};
    }
}

static void tick(struct machine *m, struct admission *a)
{
    int64_t index;

    for (int i = 0; i < m->n; i++) {
        struct replica *r = &m->replica[i];

        if (chance(r->speed))
            decode(m, r);
        if (chance(m->lag))
            obey(r);
        if (chance(m->lag))
            deliver(m, r, a);
    }
    while (admission_cancel(a, &index)) {
        struct replica *r = &m->replica[m->home[index]];

        r->orders[r->n_orders++] = index;
    }
    assign(m, a);
}

/* -- the claims -------------------------------------------------------------------- */

static void check_ledger(const struct machine *m, const struct admission *a)
{
    int64_t got[FATE_COUNT], want[FATE_COUNT] = {0};

    want[FATE_CANCELLED] = m->cancelled;
    for (int64_t i = 0; i < admission_started(a); i++) {
        want[admission_fate(a, i)] += m->bill[i];
        seen.failed += admission_fate(a, i) == FATE_FAILED;
        seen.surplus += admission_fate(a, i) == FATE_SURPLUS;
        seen.cancelled += admission_fate(a, i) == FATE_CANCELLED;
    }
    admission_ledger(a, got);
    for (int i = 0; i < FATE_COUNT; i++)
        if (got[i] != want[i])
            CHECK_INT(got[i], want[i]);
}

static void check_outcome(const struct admission *a, const struct outcome *want)
{
    int n;
    const int64_t *batch = admission_batch(a, &n);

    if (n != want->n || memcmp(batch, want->batch, (size_t)n * sizeof *batch))
        broken("the batch of the patient sampler");
    if (admission_consumed(a) != want->consumed)
        CHECK_INT(admission_consumed(a), want->consumed);
    if (admission_closed(a) != want->why)
        CHECK_TEXT(closed_text(admission_closed(a)), closed_text(want->why));
    for (int i = 0; i < n; i++)
        if (admission_fate(a, batch[i]) != FATE_TRAINED)
            CHECK_INT(admission_fate(a, batch[i]), FATE_TRAINED);
    seen.closed[want->why]++;
}

/* One step on a new random machine; returns what it consumed. */
static int64_t run_step(struct admission *a, const struct table *t, int64_t cursor,
                        const struct admission_config *c)
{
    static struct machine m;
    struct outcome want = sample(t, cursor, c);
    struct fault f = FAULT_INIT;
    int ticks = 0;

    m = (struct machine){.table = t,
                         .cursor = cursor,
                         .size = c->size,
                         .n = 1 + below(MAX_R),
                         .lag = chance(50) ? 100 : 5 + below(95)};
    for (int i = 0; i < m.n; i++)
        m.replica[i] = (struct replica){.slots = 1 + below(MAX_SLOTS),
                                        .speed = chance(50) ? 100 : 10 + below(90)};
    CHECK_OK(admission_begin(a, t->n - cursor, &f), &f);
    while (!admission_settled(a) && ticks++ < 100000)
        tick(&m, a);
    if (!admission_settled(a))
        broken("the step ends");
    check_outcome(a, &want);
    check_ledger(&m, a);
    return want.consumed;
}

static struct admission_config random_config(void)
{
    int groups = 1 + below(MAX_B), m = 1 + below(MAX_CANDIDATES / groups);
    bool dynamic = chance(90);

    return (struct admission_config){.groups = groups,
                                     .size = dynamic ? 2 + below(MAX_G - 1)
                                                     : 1 + below(MAX_G),
                                     .max_candidates = groups * m,
                                     .dynamic = dynamic,
                                     .prior_trainable = 0.1 + 0.8 * below(100) / 100,
                                     .prior_weight = 1 + below(20)};
}

/* STEPS steps over the table with other policies and machines, then the estimates. */
static void run_schedule(const struct table *t, struct admission_config c,
                         double *state)
{
    static const double speculation[] = {0, 0.1, 0.5, 0.9, 1};
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t cursor = 0;

    c.refill = chance(25) ? REFILL_WAVES : REFILL_STREAM;
    c.speculation = speculation[below(5)];
    CHECK_OK(admission_new(&a, &c, &f), &f);
    for (int s = 0; s < STEPS; s++) {
        cursor += run_step(a, t, cursor, &c);
        if (c.speculation >= 1 || c.refill == REFILL_WAVES) {
            int64_t tokens[FATE_COUNT];

            admission_ledger(a, tokens);
            if (tokens[FATE_SURPLUS] || tokens[FATE_CANCELLED])
                broken("waste although nothing was started in advance");
        }
    }
    admission_state_get(a, state);
    admission_free(a);
}

static void try(int tables, int failing)
{
    static struct table t;

    for (int i = 0; i < tables; i++) {
        struct admission_config c = random_config();
        double state[2][2 * HISTORY_COUNT * MAX_G + 1] = {{0}};

        fill_table(&t, failing);
        for (int k = 0; k < 3; k++) {
            run_schedule(&t, c, state[k > 0]);
            if (k > 0 && memcmp(state[0], state[1], sizeof state[0]))
                broken("the same bits of the estimates");
        }
    }
}

/* 3 x 7000 schedules of two steps each. */
static void invariants_1_and_2_timing_cannot_choose_the_batch(void)
{
    seed = 1;
    memset(&seen, 0, sizeof seen);
    try(7000, 0);
    CHECK(seen.surplus > 1000);
    CHECK(seen.cancelled > 1000);
    CHECK(seen.raced > 1000);
    CHECK_INT(seen.failed + seen.restarts, 0);
    CHECK(seen.closed[CLOSED_FULL] > 1000);
    CHECK(seen.closed[CLOSED_MAX_CANDIDATES] > 1000);
    CHECK(seen.closed[CLOSED_DATA_EXHAUSTED] > 1000);
}

/* Nor when candidates fail, at any moment, before or after they have cut others. */
static void invariants_1_and_2_hold_with_failures(void)
{
    seed = 2;
    memset(&seen, 0, sizeof seen);
    try(3000, 25);
    CHECK(seen.failed > 1000);
    CHECK(seen.restarts > 100);
    CHECK(seen.surplus > 100);
}

CASES(CASE(invariants_1_and_2_timing_cannot_choose_the_batch),
      CASE(invariants_1_and_2_hold_with_failures));
