/* machine.h - virtual replicas for random schedules: what the tests that compare
 * admission with a naive sampler share.
 *
 * A table fixes what every prompt would give: lengths, verdicts, failures, what earlier
 * visits said.  Replicas generate it with random slots, speeds, late news and late
 * cancels.  Sequences are named by their prompt, so that they may go on in a later
 * step.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/admission.h"

enum {
    MAX_B = 5,
    MAX_G = 5,
    PROMPTS = 40,
    MAX_R = 7,
    MAX_SLOTS = 6,
    MAX_LENGTH = 12,
    QUEUE = PROMPTS * MAX_G * 4
};

static inline void broken(const char *claim)
{
    check_true(false, claim, __FILE__, __LINE__);
}

/* splitmix64; any source of randomness does. */
static uint64_t seed;
static inline int below(int n)
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z >> 33) % (unsigned)n);
}
static inline bool chance(int percent)
{
    return below(100) < percent;
}

/* -- what is generated ------------------------------------------------------------- */

struct prompt {
    int length[MAX_G];
    bool correct[MAX_G];
    enum history history;
    int fail_member; /* breaks after fail_at tokens; -1: none */
    int fail_at;
};

struct table {
    int64_t n; /* prompts there are */
    struct prompt prompt[PROMPTS];
};

static inline void fill_table(struct table *t, int failing)
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
        p->history = (enum history)below(HISTORY_COUNT);
        p->fail_member = chance(failing) ? below(MAX_G) : -1;
        p->fail_at = p->fail_member < 0 ? 0 : below(p->length[p->fail_member]);
    }
}

static inline bool fails(const struct prompt *p, int size)
{
    return p->fail_member >= 0 && p->fail_member < size;
}

static inline bool trains(const struct prompt *p, const struct admission_config *c)
{
    int correct = 0;

    for (int j = 0; j < c->size; j++)
        correct += p->correct[j];
    return !c->dynamic || (correct > 0 && correct < c->size);
}

static inline int64_t length(const struct prompt *p, int size)
{
    int64_t sum = 0;

    for (int j = 0; j < size; j++)
        sum += p->length[j];
    return sum;
}

/* -- a naive account of candidates in the order in which they count -----------------
 */

struct outcome {
    int n;
    int64_t batch[PROMPTS]; /* candidates */
    int64_t consumed, taken, taken_train;
    enum closed_by why; /* OPEN: takes more */
};

/* The next candidate that is complete, or can't be trained because it was lost. */
static inline void account(struct outcome *o, const struct admission_config *c,
                           int64_t index, const struct prompt *p, bool lost)
{
    int64_t tokens = length(p, c->size);

    if (lost)
        return;
    if (c->max_candidate_tokens && o->taken + tokens > c->max_candidate_tokens) {
        o->why = CLOSED_MAX_CANDIDATE_TOKENS;
        return;
    }
    if (trains(p, c) && c->max_train_tokens &&
        o->taken_train + tokens > c->max_train_tokens) {
        o->why = CLOSED_MAX_TRAIN_TOKENS;
        return;
    }
    o->taken += tokens;
    if (!trains(p, c))
        return;
    o->taken_train += tokens;
    o->batch[o->n++] = index;
    if (o->n == c->groups)
        o->why = CLOSED_FULL;
}

static inline int64_t most_candidates(const struct admission_config *c)
{
    if (!c->dynamic)
        return c->groups;
    return c->max_candidates ? c->max_candidates : INT64_MAX;
}

/* What one who generates a candidate after the other trains; `stale` may be NULL. */
static inline struct outcome sample(const struct table *t, int64_t cursor,
                                    const struct admission_config *c, const bool *stale)
{
    struct outcome o = {0};
    bool broke;

    while (!o.why) {
        const struct prompt *p = &t->prompt[cursor + o.consumed];
        bool full;

        if (cursor + o.consumed == t->n && t->n - cursor < most_candidates(c))
            o.why = CLOSED_DATA_EXHAUSTED;
        else if (o.consumed == most_candidates(c))
            o.why = CLOSED_MAX_CANDIDATES;
        if (o.why)
            break;
        account(&o, c, o.consumed, p,
                fails(p, c->size) || (stale && stale[cursor + o.consumed]));
        full = o.why == CLOSED_FULL;
        o.consumed += !o.why || full;
    }
    broke = o.why == CLOSED_MAX_CANDIDATE_TOKENS || o.why == CLOSED_MAX_TRAIN_TOKENS;
    o.consumed += broke && o.consumed == 0;
    return o;
}

/* -- the machine ------------------------------------------------------------------- */

struct sequence {
    int64_t prompt;
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
    int64_t orders[QUEUE]; /* prompts to cancel */
};

struct life {         /* of a prompt, in this step or carried into it */
    int home;         /* replica */
    int starts;       /* in this step */
    int born;         /* step of its start */
    int heard;        /* members that finished */
    int64_t bill;     /* tokens reported of its present attempt */
    bool failed, out; /* known to have failed; started */
};

struct machine {
    const struct table *table;
    const struct admission_config *c;
    int64_t cursor;
    int step, n, lag; /* replicas; percent of ticks in which news travel */
    struct replica replica[MAX_R];
    struct life life[PROMPTS];
    int64_t restarted;         /* tokens of earlier attempts */
    int64_t reported;          /* tokens in this step */
    struct outcome completion; /* of a naive sampler in order of completion */
};

/* That every kind of accident happened, over all schedules. */
static struct {
    int64_t restarts, failed, surplus, cancelled, raced, stale, carried;
    int64_t closed[CLOSED_COUNT];
} seen;

/* New replicas, with nothing to do. */
static inline void new_replicas(struct machine *m)
{
    m->n = 1 + below(MAX_R);
    m->lag = chance(50) ? 100 : 5 + below(95);
    for (int i = 0; i < m->n; i++) {
        struct replica *r = &m->replica[i];

        r->slots = 1 + below(MAX_SLOTS);
        r->speed = chance(50) ? 100 : 10 + below(90);
        r->n_active = r->n_waiting = r->n_news = r->n_orders = 0;
    }
}

static inline void tell(struct replica *r, enum kind kind, struct sequence s)
{
    if (r->n_news < QUEUE)
        r->news[r->n_news++] = (struct event){.kind = kind, .s = s};
    else
        broken("room for news");
}

/* One token for every active sequence. */
static inline void decode(struct machine *m, struct replica *r)
{
    int taken = 0;

    while (r->n_active < r->slots && taken < r->n_waiting)
        r->active[r->n_active++] = r->waiting[taken++];
    r->n_waiting -= taken;
    memmove(r->waiting, r->waiting + taken,
            (size_t)r->n_waiting * sizeof r->waiting[0]);
    for (int i = r->n_active - 1; i >= 0; i--) {
        struct sequence *s = &r->active[i];
        const struct prompt *p = &m->table->prompt[s->prompt];
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

static inline void obey(struct replica *r)
{
    for (int k = 0; k < r->n_orders; k++) {
        for (int i = r->n_active - 1; i >= 0; i--)
            if (r->active[i].prompt == r->orders[k]) {
                tell(r, CUT, r->active[i]);
                r->active[i] = r->active[--r->n_active];
            }
        for (int i = r->n_waiting - 1; i >= 0; i--)
            if (r->waiting[i].prompt == r->orders[k]) {
                tell(r, CUT, r->waiting[i]);
                memmove(r->waiting + i, r->waiting + i + 1,
                        (size_t)(--r->n_waiting - i) * sizeof r->waiting[0]);
            }
    }
    r->n_orders = 0;
}

static inline void deliver(struct machine *m, struct replica *r, struct admission *a)
{
    struct fault f = FAULT_INIT;

    for (int i = 0; i < r->n_news; i++) {
        const struct event *e = &r->news[i];
        const struct prompt *p = &m->table->prompt[e->s.prompt];
        int64_t index = e->s.prompt - m->cursor;
        struct life *l = &m->life[e->s.prompt];

        if (e->kind == FAILED) {
            CHECK_OK(admission_failed(a, index, &f), &f);
            l->failed = true;
            continue;
        }
        l->bill += e->s.done;
        m->reported += e->s.done;
        seen.raced += e->kind == FINISHED && admission_closed(a);
        if (e->kind == CUT) {
            CHECK_OK(admission_cut(a, index, e->s.member, e->s.done, &f), &f);
            continue;
        }
        if (++l->heard == m->c->size && !l->failed && !m->completion.why)
            account(&m->completion, m->c, index, p, false);
        CHECK_OK(admission_finished(a, index, e->s.member, p->correct[e->s.member],
                                    e->s.done, &f),
                 &f);
    }
    r->n_news = 0;
}

static inline void begin_life(struct machine *m, int64_t prompt, int home)
{
    struct life *l = &m->life[prompt];

    if (l->starts > 0) {
        seen.restarts++;
        m->restarted += l->bill;
    }
    *l = (struct life){
        .home = home, .starts = l->starts + 1, .born = m->step, .out = true};
    for (int j = 0; j < m->c->size; j++)
        m->replica[home].waiting[m->replica[home].n_waiting++] =
            (struct sequence){.prompt = prompt, .member = j};
}

/* Ask for the replica with the most free slots, or for any that has some. */
static inline void assign(struct machine *m, struct admission *a)
{
    struct fault f = FAULT_INIT;
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
        begin_life(m, m->cursor + index, best);
        CHECK_OK(admission_history(a, index,
                                   m->table->prompt[m->cursor + index].history, &f),
                 &f);
    }
}

static inline void tick(struct machine *m, struct admission *a)
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
        struct replica *r = &m->replica[m->life[m->cursor + index].home];

        r->orders[r->n_orders++] = m->cursor + index;
    }
    assign(m, a);
}

/* -- claims ------------------------------------------------------------------------ */

/* Invariant 1, fate by fate, with what was carried in and out. */
static inline void check_ledger(const struct machine *m, const struct admission *a)
{
    int64_t got[FATE_COUNT], want[FATE_COUNT] = {0}, in, out, sum = 0, on = 0;

    want[FATE_CANCELLED] = m->restarted;
    for (int64_t i = 0; i < admission_started(a); i++) {
        enum fate fate = admission_fate(a, i);

        if (i >= admission_started(a) - admission_carried(a)) {
            on += m->life[m->cursor + i].bill;
            if (fate != FATE_COUNT)
                broken("no fate yet for what goes on");
            continue;
        }
        want[fate] += m->life[m->cursor + i].bill;
        seen.failed += fate == FATE_FAILED;
        seen.surplus += fate == FATE_SURPLUS;
        seen.cancelled += fate == FATE_CANCELLED;
        seen.stale += fate == FATE_STALE;
    }
    admission_ledger(a, got);
    for (int i = 0; i < FATE_COUNT; i++, sum += got[i - 1])
        if (got[i] != want[i])
            CHECK_INT(got[i], want[i]);
    admission_carried_tokens(a, &in, &out);
    if (out != on || m->reported + in != sum + out)
        broken("reported + carried in = ledger + carried out");
    seen.carried += out > 0;
}

static inline int by_number(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

static inline void check_outcome(const struct admission *a, const struct outcome *want)
{
    int64_t sorted[PROMPTS];
    int n;
    const int64_t *batch = admission_batch(a, &n);

    memcpy(sorted, want->batch, sizeof sorted);
    qsort(sorted, (size_t)want->n, sizeof sorted[0], by_number);
    if (n != want->n || memcmp(batch, sorted, (size_t)n * sizeof *batch))
        broken("the batch of the naive sampler");
    if (admission_consumed(a) != want->consumed)
        CHECK_INT(admission_consumed(a), want->consumed);
    if (admission_closed(a) != want->why)
        CHECK_TEXT(closed_text(admission_closed(a)), closed_text(want->why));
    for (int i = 0; i < n; i++)
        if (admission_fate(a, batch[i]) != FATE_TRAINED)
            CHECK_INT(admission_fate(a, batch[i]), FATE_TRAINED);
    seen.closed[want->why]++;
}

#endif
