/* root.c - the learner root: reports in, admission's decisions out.
 *
 * The root never asks a replica how busy it is: it knows what it gave out and what came
 * back, so its decisions follow reports only and a run repeats exactly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/carry.h"
#include "train/root.h"
#include "train/stop.h"
#include "train/wire.h"

struct root {
    struct session *s;
    struct ticks *t;
    struct candidate *cand; /* [n]; the first are those that go on */
    size_t n, cap;
    int *outstanding; /* [replicas] members given out and not yet back */
    int most;         /* starts, and cancels, of one decision */
    struct bytes decision;
    struct decision_start *starts;
    int64_t *cancels;
    int64_t end_tick; /* number of the tick that ended the step; -1 before */
    bool abandon;
    struct fault fault;
    double seconds;           /* of CPU, deciding */
    int64_t longest, busiest; /* of each tick's slices: iterations, slot iterations */
};

static int most_starts(const struct session *s)
{
    return train_most_starts(comm_replicas(s->comm));
}

size_t root_decision_most(const struct session *s)
{
    size_t n = (size_t)most_starts(s);

    return sizeof(struct decision_head) + n * sizeof(struct decision_start) +
           n * sizeof(int64_t);
}

static int tell_admission(struct root *r, int64_t index, int member, bool finished,
                          struct fault *f)
{
    struct admission *a = r->s->admission;
    struct member *m = &r->cand[index].member[member];

    m->told = true;
    return finished ? admission_finished(a, index, member, m->correct, m->n_tokens, f)
                    : admission_cut(a, index, member, m->n_tokens, f);
}

/* The groups that go on.  Of some of their members admission has not heard: they ended
 * when the step they were in had closed. */
static int take_over(struct root *r, struct fault *f)
{
    const struct carry *c = r->s->carry;
    int rc = mem_grow((void **)&r->cand, &r->cap, (size_t)c->n_all, sizeof *r->cand,
                      "candidates", f);

    for (int i = 0; i < c->n_all && !rc; i++) {
        rc = candidate_copy(&r->cand[r->n], &c->all[i], c->size, f);
        r->n += !rc;
    }
    for (int i = 0; i < c->n_all && !rc; i++)
        for (int m = 0; m < c->size && !rc; m++) {
            const struct member *k = &r->cand[i].member[m];

            r->outstanding[r->cand[i].replica] += !k->ended;
            if (k->ended && !k->told)
                rc = tell_admission(r, i, m, true, f);
        }
    return rc;
}

int root_new(struct root **out, struct session *s, struct ticks *t, int64_t available,
             struct fault *f)
{
    struct root *r = mem_new(1, sizeof *r, "the root's step", f);
    int rc;

    *out = NULL;
    if (!r)
        return f->code;
    r->s = s;
    r->t = t;
    r->end_tick = -1;
    r->fault = FAULT_INIT;
    r->most = most_starts(s);
    r->outstanding =
        mem_new((size_t)comm_replicas(s->comm), sizeof(int), "replicas", f);
    r->starts = mem_new((size_t)r->most, sizeof *r->starts, "decisions", f);
    r->cancels = mem_new((size_t)r->most, sizeof *r->cancels, "decisions", f);
    rc = r->outstanding && r->starts && r->cancels ? 0 : f->code;
    if (!rc)
        rc = admission_begin(s->admission, available, f);
    if (!rc)
        rc = take_over(r, f);
    if (rc) {
        root_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void root_free(struct root *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        free(r->cand[i].member);
    free(r->cand);
    free(r->outstanding);
    free(r->starts);
    free(r->cancels);
    bytes_free(&r->decision);
    free(r);
}

void root_abandon(struct root *r)
{
    r->abandon = true;
}

/* The step has closed without it: it goes on in the next one. */
static bool goes_on(const struct root *r, int64_t index)
{
    const struct admission *a = r->s->admission;

    return index >= admission_started(a) - admission_carried(a);
}

static void take_event(struct root *r, int replica, const struct report_event *e)
{
    int size = r->s->carry->size;
    struct fault *f = &r->fault;
    bool finished = e->kind == EVENT_FINISHED;
    struct member *m;

    if (e->index < 0 || (size_t)e->index >= r->n || e->member < 0 ||
        e->member >= size) {
        fault_set(f, FAULT_BUG, "replica %d reports an unknown candidate", replica);
        root_abandon(r);
        return;
    }
    m = &r->cand[e->index].member[e->member];
    m->n_tokens = e->tokens;
    m->ended = finished;
    m->correct = e->correct;
    r->cand[e->index].n_prompt = e->n_prompt;
    r->outstanding[replica]--;
    if (!goes_on(r, e->index) && tell_admission(r, e->index, e->member, finished, f))
        root_abandon(r);
}

static void take_reports(struct root *r)
{
    int32_t longest = 0, busiest = 0;

    for (int p = 0; p < comm_replicas(r->s->comm); p++) {
        size_t n;
        const char *data = ticks_view(r->t, p, &n);
        struct report_head head = {0};

        if (n < sizeof head)
            continue;
        memcpy(&head, data, sizeof head);
        longest = head.iterations > longest ? head.iterations : longest;
        busiest = head.slot_iterations > busiest ? head.slot_iterations : busiest;
        if (r->end_tick < 0 && (head.stop || head.failed))
            r->abandon = true;
        for (size_t at = sizeof head; at + sizeof(struct report_event) <= n;
             at += sizeof(struct report_event)) {
            struct report_event e;

            memcpy(&e, data + at, sizeof e);
            take_event(r, p, &e);
        }
    }
    r->longest += longest;
    r->busiest += busiest;
    if (r->end_tick < 0 && stop_due(r->s, 0))
        r->abandon = true;
}

static int add_candidate(struct root *r, int64_t index, int64_t place, int replica)
{
    const struct carry *carry = r->s->carry;
    struct candidate *c;

    if (mem_grow((void **)&r->cand, &r->cap, r->n + 1, sizeof *r->cand, "candidates",
                 &r->fault))
        return r->fault.code;
    if ((size_t)index != r->n)
        return fault_set(&r->fault, FAULT_BUG,
                         "admission started candidate %lld after %zu", (long long)index,
                         r->n);
    c = &r->cand[r->n];
    *c = (struct candidate){.replica = replica, .prompt = place};
    c->member =
        mem_new((size_t)carry->size, sizeof *c->member, "candidates", &r->fault);
    if (!c->member)
        return r->fault.code;
    r->n++;
    r->outstanding[replica] += carry->size;
    return admission_history(r->s->admission, index,
                             (enum history)carry->history[place], &r->fault);
}

/* The replica with most free slots that nobody waits for; ties to the lowest. */
static int freest(const struct root *r, int *free_slots)
{
    int slots = (int)r->s->cfg->rollout.slots, best = 0;

    for (int p = 1; p < comm_replicas(r->s->comm); p++)
        if (r->outstanding[p] < r->outstanding[best])
            best = p;
    *free_slots = slots - r->outstanding[best];
    return best;
}

static int choose_starts(struct root *r)
{
    struct session *s = r->s;
    int n = 0, free_slots;
    int64_t index;

    while (n < r->most) {
        int p = freest(r, &free_slots);
        int64_t place;

        if (free_slots <= 0 || !admission_launch(s->admission, free_slots, &index))
            break;
        place = (int64_t)order_at(s->order, (uint64_t)(s->drawing.cursor + index));
        if (add_candidate(r, index, place, p)) {
            root_abandon(r);
            break;
        }
        r->starts[n] = (struct decision_start){index, s->train.kept[place], p, 0};
        r->starts[n].fails = poison_has(s, r->starts[n].row);
        if (r->starts[n++].fails && admission_failed(s->admission, index, &r->fault)) {
            root_abandon(r);
            break;
        }
    }
    return n;
}

static int choose_cancels(struct root *r)
{
    const struct session *s = r->s;
    int n = 0;
    int64_t index;

    /* One whose prompt is set aside was never begun. */
    while (n < r->most && admission_cancel(s->admission, &index))
        if (!poison_has(s, s->train.kept[r->cand[index].prompt]))
            r->cancels[n++] = index;
    return n;
}

static void decide(struct root *r)
{
    struct decision_head head = {0};
    struct fault *f = &r->fault;
    int rc;

    if (r->end_tick < 0 && !r->abandon) {
        head.n_cancel = choose_cancels(r);
        head.n_start = choose_starts(r);
        if (admission_fault(r->s->admission, f))
            root_abandon(r);
    }
    /* What follows could not be stopped in the middle. */
    if (r->end_tick < 0 && admission_settled(r->s->admission) &&
        stop_due(r->s, r->s->tail_seconds))
        root_abandon(r);
    if (r->end_tick < 0 && (r->abandon || admission_settled(r->s->admission))) {
        head.end = 1;
        head.n_start = head.n_cancel = 0;
        r->end_tick = ticks_count(r->t);
    }
    r->decision.len = 0;
    rc = bytes_add(&r->decision, &head, sizeof head, f);
    if (!rc)
        rc = bytes_add(&r->decision, r->starts,
                       sizeof *r->starts * (size_t)head.n_start, f);
    if (!rc)
        rc = bytes_add(&r->decision, r->cancels,
                       sizeof *r->cancels * (size_t)head.n_cancel, f);
    if (!rc)
        rc = ticks_decide(r->t, r->decision.data, r->decision.len, f);
    if (rc) { /* the leaders wait for this very decision: nothing to unwind to */
        log_line(LOG_ERROR, "%s; ending the job", f->text);
        comm_abort(r->s->comm, rc);
    }
}

static void show_progress(const struct root *r)
{
    const struct config *c = r->s->cfg;
    char note[96];
    int64_t n = admission_known(r->s->admission);

    snprintf(note, sizeof note, "trainable groups, %zu candidates", r->n);
    log_progress("step", (long)(n < c->admission.groups ? n : c->admission.groups),
                 c->admission.groups, note);
}

static void watch_clock(const struct root *r)
{
    double most = r->s->cfg->admission.max_seconds;

    if (most > 0 && clock_now() - r->s->drawing.since >= most)
        admission_stop(r->s->admission, CLOSED_MAX_SECONDS);
}

bool root_turn(struct root *r, bool *done)
{
    double start;

    if (*done || !ticks_poll(r->t))
        return false;
    start = clock_cpu();
    /* Of groups that go on, what replicas say after the end counts as well. */
    if (r->end_tick < 0 || (session_spans(r->s) && !r->abandon))
        take_reports(r);
    if (r->end_tick < 0)
        watch_clock(r);
    decide(r);
    show_progress(r);
    r->seconds += clock_cpu() - start;
    *done = r->end_tick >= 0 && ticks_count(r->t) >= r->end_tick + TICK_LAG;
    return true;
}

int root_fault(const struct root *r, struct fault *f)
{
    if (r->fault.code)
        *f = r->fault;
    return r->fault.code;
}

/* admission.on_short_batch = skip: what would have been trained is billed as surplus.
 */
static void drop_short(const struct root *r, struct settled *out)
{
    const struct config *c = r->s->cfg;

    if (c->admission.on_short_batch != SHORT_SKIP ||
        out->n_batch >= (int)c->admission.groups)
        return;
    out->n_batch = 0;
    out->ledger[FATE_SURPLUS] += out->ledger[FATE_TRAINED];
    out->ledger[FATE_TRAINED] = 0;
    for (int64_t i = 0; i < out->started; i++)
        if (out->fate[i] == FATE_TRAINED)
            out->fate[i] = FATE_SURPLUS;
}

int root_settle(struct root *r, struct settled *out, struct fault *f)
{
    struct admission *a = r->s->admission;
    int size = (int)r->s->cfg->admission.group_size;
    const int64_t *batch = admission_batch(a, &out->n_batch);
    int n;

    out->abandoned = r->abandon;
    out->size = size;
    out->ticks = ticks_count(r->t);
    out->tick_seconds = ticks_seconds(r->t) + r->seconds;
    ticks_traffic(r->t, &out->messages, &out->bytes);
    out->longest = r->longest;
    out->busiest = r->busiest;
    if (r->abandon) {
        out->n_batch = 0;
        return 0;
    }
    out->carried = admission_carried(a);
    out->started = (int64_t)r->n - out->carried;
    out->consumed = admission_consumed(a);
    out->closed = admission_closed(a);
    n = (int)out->started;
    admission_ledger(a, out->ledger);
    if (settled_room(out, f))
        return f->code;
    for (int i = 0; i < n; i++) {
        out->fate[i] = (int)admission_fate(a, i);
        out->replica[i] = r->cand[i].replica;
    }
    for (int i = 0; i < out->n_batch; i++) {
        const struct candidate *c = &r->cand[batch[i]];

        out->batch[i] = batch[i];
        out->n_prompt[i] = c->n_prompt;
        for (int m = 0; m < size; m++)
            out->n_tokens[i * size + m] = c->member[m].n_tokens;
    }
    drop_short(r, out);
    return carry_leave(r->s->carry, r->s, r->cand, out, f);
}
