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
#include "train/root.h"
#include "train/wire.h"

struct candidate {
    int replica, n_prompt;
    int *n_tokens; /* [G] */
};

struct root {
    struct session *s;
    struct ticks *t;
    struct candidate *cand;
    size_t n, cap;
    int *outstanding; /* [replicas] members given out and not yet back */
    int most_starts, most_cancels;
    struct bytes decision;
    struct decision_start *starts;
    int64_t *cancels;
    int64_t end_tick; /* number of the tick that ended the step; -1 before */
    bool abandon;
    struct fault fault;
    double seconds; /* of CPU, deciding */
};

static int most_starts(const struct session *s)
{
    return 64 + 2 * comm_replicas(s->comm);
}

size_t root_decision_most(const struct session *s)
{
    size_t n = (size_t)most_starts(s);

    return sizeof(struct decision_head) + n * sizeof(struct decision_start) +
           n * sizeof(int64_t);
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
    r->most_starts = r->most_cancels = most_starts(s);
    r->outstanding =
        mem_new((size_t)comm_replicas(s->comm), sizeof(int), "replicas", f);
    r->starts = mem_new((size_t)r->most_starts, sizeof *r->starts, "decisions", f);
    r->cancels = mem_new((size_t)r->most_cancels, sizeof *r->cancels, "decisions", f);
    rc = r->outstanding && r->starts && r->cancels ? 0 : f->code;
    if (!rc)
        rc = admission_begin(s->admission, available, f);
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
        free(r->cand[i].n_tokens);
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

static void take_event(struct root *r, int replica, const struct report_event *e)
{
    struct admission *a = r->s->admission;
    int size = (int)r->s->cfg->admission.group_size;
    struct fault *f = &r->fault;
    int rc;

    if (e->index < 0 || (size_t)e->index >= r->n || e->member < 0 ||
        e->member >= size) {
        fault_set(f, FAULT_BUG, "replica %d reports an unknown candidate", replica);
        root_abandon(r);
        return;
    }
    r->cand[e->index].n_prompt = e->n_prompt;
    r->cand[e->index].n_tokens[e->member] = e->tokens;
    r->outstanding[replica]--;
    rc = e->kind == EVENT_FINISHED
             ? admission_finished(a, e->index, e->member, e->correct, e->tokens, f)
             : admission_cut(a, e->index, e->member, e->tokens, f);
    if (rc)
        root_abandon(r);
}

static void take_reports(struct root *r)
{
    for (int p = 0; p < comm_replicas(r->s->comm); p++) {
        size_t n;
        const char *data = ticks_view(r->t, p, &n);
        struct report_head head = {0};

        if (n < sizeof head)
            continue;
        memcpy(&head, data, sizeof head);
        if (head.stop || head.failed)
            r->abandon = true;
        for (size_t at = sizeof head; at + sizeof(struct report_event) <= n;
             at += sizeof(struct report_event)) {
            struct report_event e;

            memcpy(&e, data + at, sizeof e);
            take_event(r, p, &e);
        }
    }
    if (stop_requested())
        r->abandon = true;
}

static int add_candidate(struct root *r, int64_t index, int replica)
{
    int size = (int)r->s->cfg->admission.group_size;
    struct candidate *c;

    if (mem_grow((void **)&r->cand, &r->cap, r->n + 1, sizeof *r->cand, "candidates",
                 &r->fault))
        return r->fault.code;
    c = &r->cand[r->n];
    c->n_tokens = mem_new((size_t)size, sizeof(int), "candidates", &r->fault);
    if (!c->n_tokens)
        return r->fault.code;
    if ((size_t)index != r->n)
        return fault_set(&r->fault, FAULT_BUG,
                         "admission started candidate %lld after %zu", (long long)index,
                         r->n);
    c->replica = replica;
    r->n++;
    r->outstanding[replica] += size;
    return 0;
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

    while (n < r->most_starts) {
        int p = freest(r, &free_slots);
        size_t at;

        if (free_slots <= 0 || !admission_launch(s->admission, free_slots, &index))
            break;
        if (add_candidate(r, index, p)) {
            root_abandon(r);
            break;
        }
        at = order_at(s->order, (uint64_t)(s->drawing.cursor + index));
        r->starts[n++] = (struct decision_start){index, s->train.kept[at], p};
    }
    return n;
}

static int choose_cancels(struct root *r)
{
    int n = 0;
    int64_t index;

    while (n < r->most_cancels && admission_cancel(r->s->admission, &index))
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
    }
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

bool root_turn(struct root *r, bool *done)
{
    double start;

    if (*done || !ticks_poll(r->t))
        return false;
    start = clock_cpu();
    if (r->end_tick < 0)
        take_reports(r);
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

    out->abandoned = r->abandon;
    out->started = (int64_t)r->n;
    out->size = size;
    out->ticks = ticks_count(r->t);
    out->tick_seconds = ticks_seconds(r->t) + r->seconds;
    if (r->abandon) {
        out->n_batch = 0;
        return 0;
    }
    out->consumed = admission_consumed(a);
    out->closed = admission_closed(a);
    admission_ledger(a, out->ledger);
    out->batch = mem_new((size_t)out->n_batch, sizeof *out->batch, "the batch", f);
    out->fate = mem_new(r->n, sizeof(int), "fates", f);
    out->replica = mem_new(r->n, sizeof(int), "fates", f);
    out->n_prompt = mem_new((size_t)out->n_batch, sizeof(int), "the batch", f);
    out->n_tokens = mem_new((size_t)(out->n_batch * size), sizeof(int), "the batch", f);
    if (!out->batch || !out->fate || !out->replica || !out->n_prompt || !out->n_tokens)
        return f->code;
    for (size_t i = 0; i < r->n; i++) {
        out->fate[i] = (int)admission_fate(a, (int64_t)i);
        out->replica[i] = r->cand[i].replica;
    }
    for (int i = 0; i < out->n_batch; i++) {
        const struct candidate *c = &r->cand[batch[i]];

        out->batch[i] = batch[i];
        out->n_prompt[i] = c->n_prompt;
        memcpy(out->n_tokens + i * size, c->n_tokens, (size_t)size * sizeof(int));
    }
    drop_short(r, out);
    return 0;
}
