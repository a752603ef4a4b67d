/* sim.c - one step after another: what a job's root and its replicas do in turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "sim/freest.h"
#include "sim/machine.h"

/* What the root told the replicas in one tick. */
struct decision {
    int64_t *item; /* uids: those to start, then those to cancel */
    size_t n_start, n, cap;
};

/* What a replica tells the root. */
struct event {
    int replica, member;
    bool finished; /* else cut */
    int tokens;
    int64_t at, uid;
};

struct sim {
    struct sim_machine c;
    struct sim_source source;
    struct admission *admission;
    int wanted; /* B */
    struct machine m;
    struct freest given; /* members given out and not yet reported back */
    struct decision
        *ring; /* [lag] decisions on their way; ideal: one, obeyed at once */
    struct event *report;
    size_t n_report, report_cap;
    unsigned char *history; /* [prompts] enum history of the last visit */
    struct sim_member *fresh;
    int *cut;       /* [G] */
    int64_t *batch; /* [n_batch] draw numbers */
    int n_batch;
    int64_t cursor, step;
    double waited;     /* seconds in which nothing was decoded */
    struct sim_step o; /* the step under way */
};

/* -- life -------------------------------------------------------------------------- */

static int check_machine(const struct sim_machine *m, struct fault *f)
{
    if (m->replicas < 1 || m->slots < 1)
        return fault_set(f, FAULT_CONFIG, "%d replicas of %d slots: want at least 1",
                         m->replicas, m->slots);
    if (!(m->fixed_s >= 0 && m->each_s >= 0 && m->fixed_s + m->each_s > 0 &&
          isfinite(m->fixed_s + m->each_s)))
        return fault_set(f, FAULT_CONFIG,
                         "a decode iteration of %g + %g s a sequence: want numbers not "
                         "below 0, and not both 0",
                         m->fixed_s, m->each_s);
    if (m->slice < 0 || (m->slice > 0 && (m->lag < 1 || m->most_starts < 1)))
        return fault_set(f, FAULT_CONFIG,
                         "slices of %d iterations, lag %d ticks, %d starts a tick",
                         m->slice, m->lag, m->most_starts);
    if (!(m->tick_s >= 0 && m->max_seconds >= 0))
        return fault_set(f, FAULT_CONFIG, "a tick of %g s, a step of at most %g s",
                         m->tick_s, m->max_seconds);
    return 0;
}

static int allocate(struct sim *s, const struct admission_config *a, struct fault *f)
{
    size_t size = (size_t)a->size;
    int rc = admission_new(&s->admission, a, f);

    if (!rc)
        rc = machine_new(&s->m, &s->c, a->size, f);
    if (!rc)
        rc = freest_new(&s->given, s->c.replicas, f);
    if (rc)
        return rc;
    s->ring =
        mem_new(s->c.slice ? (size_t)s->c.lag : 1, sizeof *s->ring, "decisions", f);
    s->history = mem_new((size_t)s->source.prompts, 1, "visits", f);
    s->fresh = mem_new(size, sizeof *s->fresh, "a candidate", f);
    s->cut = mem_new(size, sizeof *s->cut, "a candidate", f);
    s->batch = mem_new((size_t)a->groups, sizeof *s->batch, "the batch", f);
    return s->ring && s->history && s->fresh && s->cut && s->batch ? 0 : f->code;
}

int sim_new(struct sim **out, const struct admission_config *a,
            const struct sim_machine *m, const struct sim_source *source,
            struct fault *f)
{
    struct sim *s;
    int rc = check_machine(m, f);

    *out = NULL;
    if (!rc && a->size != source->size)
        rc = fault_set(f, FAULT_CONFIG, "groups of %d from a source of groups of %d",
                       a->size, source->size);
    if (rc)
        return rc;
    if (!(s = mem_new(1, sizeof *s, "a simulation", f)))
        return f->code;
    s->c = *m;
    s->source = *source;
    s->wanted = a->groups;
    rc = allocate(s, a, f);
    if (rc)
        sim_free(s);
    else
        *out = s;
    return rc;
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    admission_free(s->admission);
    machine_free(&s->m);
    freest_free(&s->given);
    for (int i = 0; s->ring && i < (s->c.slice ? s->c.lag : 1); i++)
        free(s->ring[i].item);
    free(s->ring);
    free(s->report);
    free(s->history);
    free(s->fresh);
    free(s->cut);
    free(s->batch);
    free(s);
}

void sim_seek(struct sim *s, int64_t cursor)
{
    s->cursor = cursor;
}

/* -- the root ---------------------------------------------------------------------- */

/* Draw the candidate that admission numbered `index` and give it to a replica. */
static int launch(struct sim *s, int64_t index, int64_t *uid, struct fault *f)
{
    struct seat *seat = machine_seat(&s->m, uid, f);
    int64_t prompt = 0;
    bool drawn = false;
    int rc;

    if (!seat)
        return f->code;
    if (*uid - s->m.base != index)
        return fault_set(f, FAULT_BUG, "admission started candidate %lld after %lld",
                         (long long)index, (long long)(*uid - s->m.base) - 1);
    rc = s->source.draw(s->source.context, s->step, s->cursor + index, s->fresh,
                        &prompt, f);
    if (rc)
        return rc;
    for (int k = 0; k < s->source.size; k++) {
        member_of(&s->m, *uid, k)->law = s->fresh[k];
        drawn |= s->fresh[k].drawn;
    }
    s->o.drawn_groups += drawn;
    seat->prompt = prompt;
    seat->step = s->step;
    seat->replica = freest(&s->given);
    freest_add(&s->given, seat->replica, s->source.size);
    return s->source.prompts ? admission_history(s->admission, index,
                                                 (enum history)s->history[prompt], f)
                             : 0;
}

static int tell(struct decision *d, int64_t uid, struct fault *f)
{
    int rc = mem_grow((void **)&d->item, &d->cap, d->n + 1, sizeof *d->item,
                      "a decision", f);

    if (!rc)
        d->item[d->n++] = uid;
    return rc;
}

/* One decision.  What is cancelled frees no slots for it until that is reported. */
static int decide(struct sim *s, struct decision *d, size_t most, struct fault *f)
{
    int64_t index, uid, idle = s->given.all == 0;
    int rc = 0;

    d->n = d->n_start = 0;
    while (!rc && d->n_start < most) {
        int room = s->c.slots - s->given.load[freest(&s->given)];

        if (room <= 0 || !admission_launch(s->admission, room, &index))
            break;
        rc = launch(s, index, &uid, f);
        if (!rc)
            rc = tell(d, uid, f);
        d->n_start++;
    }
    s->o.rounds += idle && d->n_start > 0;
    for (size_t i = 0; !rc && i < most && admission_cancel(s->admission, &index); i++)
        rc = tell(d, s->m.base + index, f);
    return rc;
}

static int hear(struct sim *s, const struct event *e, struct fault *f)
{
    const struct member *k = member_of(&s->m, e->uid, e->member);
    int64_t index = e->uid - s->m.base;

    freest_add(&s->given, e->replica, -1);
    if (k->law.drawn)
        s->o.drawn_tokens += e->tokens;
    return e->finished ? admission_finished(s->admission, index, e->member,
                                            k->law.correct, e->tokens, f)
                       : admission_cut(s->admission, index, e->member, e->tokens, f);
}

/* Replica by replica, as a tick's reports lie; within one by iteration. */
static int by_replica(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->replica != y->replica)
        return x->replica < y->replica ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->uid != y->uid)
        return x->uid < y->uid ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static int hear_reports(struct sim *s, struct fault *f)
{
    int rc = 0;

    if (s->c.slice && s->n_report > 1)
        qsort(s->report, s->n_report, sizeof *s->report, by_replica);
    for (size_t i = 0; !rc && i < s->n_report; i++)
        rc = hear(s, &s->report[i], f);
    s->n_report = 0;
    return rc;
}

/* -- the replicas ------------------------------------------------------------------ */

static int report(struct sim *s, const struct event *e, struct fault *f)
{
    int rc = mem_grow((void **)&s->report, &s->report_cap, s->n_report + 1,
                      sizeof *s->report, "a report", f);

    if (!rc)
        s->report[s->n_report++] = *e;
    return rc;
}

static int cancel(struct sim *s, int64_t uid, struct fault *f)
{
    int rc = machine_cancel(&s->m, uid, s->cut, f);

    for (int k = 0; !rc && k < s->source.size; k++)
        if (s->cut[k] >= 0)
            rc = report(s,
                        &(struct event){.replica = seat_of(&s->m, uid)->replica,
                                        .member = k,
                                        .tokens = s->cut[k],
                                        .at = s->m.now,
                                        .uid = uid},
                        f);
    return rc;
}

static int obey(struct sim *s, struct decision *d, struct fault *f)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < d->n; i++) {
        if (d->item[i] < s->m.base)
            continue; /* it had ended by itself, and its step with it */
        rc = i < d->n_start ? machine_submit(&s->m, d->item[i], f)
                            : cancel(s, d->item[i], f);
    }
    d->n = d->n_start = 0;
    return rc;
}

/* Decode at most so many iterations; ideal: up to the next ending. */
static int decode(struct sim *s, int64_t most, struct fault *f)
{
    int64_t end = s->m.now + most;
    struct ending e;
    bool any = false;
    int rc = 0;

    while (!rc && s->m.now < end && s->m.active > 0 && !(any && !s->c.slice)) {
        machine_run(&s->m, end - s->m.now);
        while (!(rc = machine_ended(&s->m, &e, &any, f)) && any) {
            struct event v = {.replica = seat_of(&s->m, e.uid)->replica,
                              .member = e.member,
                              .finished = true,
                              .tokens = member_of(&s->m, e.uid, e.member)->law.tokens,
                              .at = s->m.now,
                              .uid = e.uid};

            if ((rc = report(s, &v, f)))
                break;
        }
        any = s->n_report > 0;
    }
    return rc;
}

/* -- a step ------------------------------------------------------------------------ */

static double seconds(const struct sim *s)
{
    return s->m.seconds + s->waited;
}

static void mind_the_time(struct sim *s, double began)
{
    if (s->c.max_seconds > 0 && seconds(s) - began >= s->c.max_seconds)
        admission_stop(s->admission, CLOSED_MAX_SECONDS);
}

static int stuck(const struct sim *s, struct fault *f)
{
    return fault_set(
        f, FAULT_BUG,
        "step %lld: admission neither starts a candidate nor ends the step",
        (long long)s->step + 1);
}

/* Iterations until the budget of seconds is used up: no ending may skip it. */
static int64_t until_late(const struct sim *s, double began)
{
    double left = began + s->c.max_seconds - seconds(s);
    double each = s->c.fixed_s + s->c.each_s * s->m.busiest;

    if (s->c.max_seconds <= 0 || !(left / each < 0x1p62))
        return INT64_C(1) << 62;
    return left > each ? (int64_t)ceil(left / each) : 1;
}

static int step_ideal(struct sim *s, double began, struct fault *f)
{
    int rc = 0;

    while (!rc && !admission_settled(s->admission)) {
        rc = decide(s, s->ring, SIZE_MAX, f);
        if (!rc)
            rc = obey(s, s->ring, f);
        if (!rc && s->n_report > 0) {
            rc = hear_reports(s, f); /* of what was cut; slots are free now */
            continue;
        }
        if (!rc && s->m.active == 0 && !admission_settled(s->admission))
            rc = stuck(s, f);
        if (!rc)
            rc = decode(s, until_late(s, began), f);
        if (!rc)
            rc = hear_reports(s, f);
        mind_the_time(s, began);
    }
    return rc;
}

static int step_ticks(struct sim *s, double began, struct fault *f)
{
    int64_t nothing = 0; /* ticks in a row in which nothing happened */
    int rc = 0;

    for (;;) {
        struct decision *d = &s->ring[s->o.ticks % s->c.lag];
        double slice = s->m.seconds;

        rc = obey(s, d, f);
        if (!rc)
            rc = decode(s, s->c.slice, f);
        if (rc)
            return rc;
        s->waited += fmax(0, s->c.tick_s / s->c.lag - (s->m.seconds - slice));
        s->o.ticks++;
        if ((rc = hear_reports(s, f)))
            return rc;
        mind_the_time(s, began);
        if ((rc = decide(s, d, (size_t)s->c.most_starts, f)))
            return rc;
        if (admission_settled(s->admission))
            break;
        nothing = s->given.all == 0 && d->n == 0 ? nothing + 1 : 0;
        if (nothing > s->c.lag)
            return stuck(s, f);
    }
    /* The end is a decision like others: it has to get there. */
    for (int i = 0; !rc && i < s->c.lag; i++)
        rc = obey(s, &s->ring[++s->o.ticks % s->c.lag], f);
    s->waited += s->c.tick_s;
    return rc;
}

/* What the step was, before its candidates are forgotten. */
static void settle(struct sim *s)
{
    const int64_t *batch = admission_batch(s->admission, &s->n_batch);
    struct sim_step *o = &s->o;

    o->closed = admission_closed(s->admission);
    o->groups = s->n_batch;
    o->started = admission_started(s->admission) - admission_carried(s->admission);
    o->consumed = admission_consumed(s->admission);
    admission_ledger(s->admission, o->tokens);
    for (int i = 0; i < s->n_batch; i++) {
        int64_t uid = s->m.base + batch[i];
        double sum = 0;

        for (int k = 0; k < s->source.size; k++) {
            int n = member_of(&s->m, uid, k)->law.tokens;

            sum += n;
            o->truncated += n >= s->source.max_tokens;
        }
        sum /= s->source.size;
        o->length += sum;
        o->length_squared += sum * sum;
        o->stale += seat_of(&s->m, uid)->step < s->step;
        s->batch[i] = s->cursor + batch[i];
    }
    o->sequences = (int64_t)s->n_batch * s->source.size;
}

/* What the consumed candidates say of their prompts' next visit. */
static void remember(struct sim *s)
{
    for (int64_t i = 0; s->source.prompts && i < s->o.consumed; i++) {
        int64_t uid = s->m.base + i;
        enum fate fate = admission_fate(s->admission, i);
        int correct = 0;

        if (fate == FATE_CANCELLED || fate == FATE_FAILED || fate == FATE_COUNT)
            continue;
        for (int k = 0; k < s->source.size; k++)
            correct += member_of(&s->m, uid, k)->law.correct;
        s->history[seat_of(&s->m, uid)->prompt] =
            (unsigned char)history_after(correct, s->source.size);
    }
}

int sim_step(struct sim *s, struct sim_step *out, struct fault *f)
{
    int64_t left =
        s->source.available == INT64_MAX ? INT64_MAX : s->source.available - s->cursor;
    int64_t iterations = s->m.now, decoded = s->m.decoded;
    double began = seconds(s);
    int rc = admission_begin(s->admission, left, f);

    s->o = (struct sim_step){0};
    if (!rc)
        rc = s->c.slice ? step_ticks(s, began, f) : step_ideal(s, began, f);
    if (rc)
        return rc;
    settle(s);
    remember(s);
    s->o.seconds = seconds(s) - began;
    s->o.iterations = s->m.now - iterations;
    s->o.decoded = s->m.decoded - decoded;
    machine_forget(&s->m,
                   admission_carried(s->admission) ? s->o.consumed : (int64_t)s->m.n);
    s->cursor += s->o.consumed;
    s->step++;
    *out = s->o;
    return 0;
}

const int64_t *sim_batch(const struct sim *s, int *n)
{
    *n = s->n_batch;
    return s->batch;
}

bool sim_exhausted(const struct sim *s)
{
    return s->cursor >= s->source.available;
}
