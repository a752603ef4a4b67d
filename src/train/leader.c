/* leader.c - a replica: obey, decode a slice, judge what finished, report. */
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "train/carry.h"
#include "train/leader.h"
#include "train/stop.h"
#include "train/wire.h"

struct leader {
    struct session *s;
    struct ticks *t;
    int64_t reported, obeyed; /* ticks */
    bool ended;
    struct group **group; /* candidates of this replica; the generator's */
    size_t n, cap;
    struct bytes report;
    struct ids prompt;
    struct fault fault;
    struct leader_times times;
    double mark; /* when the last turn ended */
};

/* The groups that go on. */
static int take_over(struct leader *l, struct fault *f)
{
    struct carry *c = l->s->carry;
    int rc = mem_grow((void **)&l->group, &l->cap, (size_t)c->n_mine, sizeof *l->group,
                      "a replica's candidates", f);

    for (; c->n_lent < c->n_mine && !rc; c->n_lent += !rc) {
        rc = rollout_submit(l->s->generator, c->mine[c->n_lent], f);
        if (!rc)
            l->group[l->n++] = c->mine[c->n_lent];
    }
    return rc;
}

int leader_new(struct leader **out, struct session *s, struct ticks *t, struct fault *f)
{
    struct leader *l = mem_new(1, sizeof *l, "a replica's step", f);

    *out = l;
    if (!l)
        return f->code;
    l->s = s;
    l->t = t;
    l->fault = FAULT_INIT;
    l->mark = clock_now();
    rollout_begin(s->generator, s->drawing.step, s->published);
    return take_over(l, f);
}

void leader_free(struct leader *l)
{
    if (!l)
        return;
    free(l->group);
    bytes_free(&l->report);
    ids_free(&l->prompt);
    free(l);
}

static int start(struct leader *l, const struct decision_start *d)
{
    struct session *s = l->s;
    struct fault *f = &l->fault;
    struct group *g;
    int rc;

    l->prompt.n = 0;
    rc = prompt_ids(s, &s->train.file.row[d->row], &l->prompt, f);
    if (!rc)
        rc = mem_grow((void **)&l->group, &l->cap, l->n + 1, sizeof *l->group,
                      "a replica's candidates", f);
    if (rc)
        return rc;
    g = group_new(d->index, d->row, l->prompt.id, (int)l->prompt.n,
                  (int)s->cfg->admission.group_size, f);
    if (!g)
        return f->code;
    g->replica = d->replica;
    g->started_s = clock_now() - s->drawing.since;
    rc = rollout_submit(s->generator, g, f);
    if (rc) {
        group_free(g);
        return rc;
    }
    l->group[l->n++] = g;
    return 0;
}

/* For the record of a crash: whom this replica is generating for. */
static void note_work(const struct leader *l)
{
    int64_t rows[WATCH_PROMPTS];
    int n = 0;

    for (size_t i = 0; i < l->n && n < WATCH_PROMPTS; i++)
        for (int k = 0; k < l->group[i]->size; k++)
            if (l->group[i]->members[k].finish == FINISH_NONE) {
                rows[n++] = l->group[i]->prompt;
                break;
            }
    watch_generating(rows, n);
}

static int add_event(struct leader *l, const struct group *g, int member,
                     enum event_kind kind)
{
    const struct completion *m = &g->members[member];
    struct report_event e = {g->index,   member,      (int)kind,
                             m->correct, m->n_tokens, g->n_prompt};

    return bytes_add(&l->report, &e, sizeof e, &l->fault);
}

/* Judge and report everything that ended since the last call. */
static int collect(struct leader *l)
{
    struct session *s = l->s;
    struct group *g;
    int member, rc = 0;

    while (!rc && rollout_next(s->generator, &g, &member)) {
        struct completion *m = &g->members[member];

        g->finished_s = clock_now() - s->drawing.since;
        /* Not a matter of one completion: weights or inputs are broken, and training
         * on would bury it. */
        if (m->finish == FINISH_FAILED)
            return fault_set(&l->fault, FAULT_DATA,
                             "step %lld: the logits of candidate %lld are not finite; "
                             "resume from an earlier checkpoint with a lower "
                             "optimizer.lr, or check model.path",
                             (long long)s->drawing.step, (long long)g->index);
        rc = session_judge(s, m, s->train.file.row[g->prompt].answer, &l->fault);
        if (!rc)
            rc = add_event(l, g, member, EVENT_FINISHED);
    }
    return rc;
}

/* Cut a candidate and report the tokens of the members that had not finished. */
static int cancel(struct leader *l, int64_t index)
{
    int rc = 0;

    rollout_cancel(l->s->generator, index);
    for (size_t i = 0; i < l->n && !rc; i++) {
        struct group *g = l->group[i];

        if (g->index != index)
            continue;
        g->finished_s = clock_now() - l->s->drawing.since;
        for (int k = 0; k < g->size && !rc; k++)
            if (g->members[k].finish == FINISH_CANCELLED)
                rc = add_event(l, g, k, EVENT_CUT);
    }
    return rc;
}

static int obey(struct leader *l, const char *data, size_t n)
{
    struct decision_head head;
    size_t at = sizeof head;
    int rc = 0;

    if (n < sizeof head)
        return fault_set(&l->fault, FAULT_BUG, "a decision of %zu bytes came", n);
    memcpy(&head, data, sizeof head);
    if (head.end)
        l->ended = true;
    for (int i = 0; i < head.n_start; i++, at += sizeof(struct decision_start)) {
        struct decision_start d;

        memcpy(&d, data + at, sizeof d);
        if (!rc && d.replica == comm_replica(l->s->comm))
            rc = start(l, &d);
        if (!rc && d.replica == comm_replica(l->s->comm) && d.fails)
            rc = cancel(l, d.index);
    }
    for (int i = 0; i < head.n_cancel; i++, at += sizeof(int64_t)) {
        int64_t index;

        memcpy(&index, data + at, sizeof index);
        if (!rc)
            rc = cancel(l, index);
    }
    return rc;
}

/* The root waits for this very report: nothing to unwind to. */
static void give_up(const struct leader *l, const struct fault *f)
{
    log_line(LOG_ERROR, "%s; ending the job", f->text);
    comm_abort(l->s->comm, f->code);
}

static void begin_report(struct leader *l)
{
    struct report_head head = {.stop = stop_requested()};

    l->report.len = 0;
    if (bytes_add(&l->report, &head, sizeof head, &l->fault))
        give_up(l, &l->fault);
}

/* Decode, and say in the report's head how much that was. */
static void slice(struct leader *l)
{
    struct rollout *g = l->s->generator;
    struct rollout_stats a = rollout_stats(g), b;
    struct report_head head;

    rollout_slice(g, (int)l->s->cfg->rollout.slice, false, NULL, &l->fault);
    b = rollout_stats(g);
    memcpy(&head, l->report.data, sizeof head);
    head.iterations = (int32_t)(b.iterations - a.iterations);
    head.slot_iterations = (int32_t)(b.slot_iterations - a.slot_iterations);
    memcpy(l->report.data, &head, sizeof head);
}

/* A leader with a fault goes on ticking, so that nobody waits for it, and says so. */
static void slice_and_report(struct leader *l)
{
    struct fault *f = &l->fault;
    double start;

    note_work(l);
    if (!f->code)
        inject_pass(INJECT_GENERATE, f);
    if (!f->code)
        slice(l);
    start = clock_now();
    if (!f->code)
        collect(l);
    l->times.judge += clock_now() - start;
    if (f->code) {
        struct report_head head = {.failed = 1};

        l->report.len = sizeof head;
        memcpy(l->report.data, &head, sizeof head);
    }
    if (ticks_report(l->t, l->report.data, l->report.len, f))
        give_up(l, f);
    l->reported++;
}

/* The time since the last turn: this rank was somewhere else, or backing off. */
static void account(struct leader *l)
{
    double away = clock_now() - l->mark;

    if (l->ended || !rollout_busy(l->s->generator))
        l->times.empty += away;
    else
        l->times.wait += away;
}

static bool turn(struct leader *l)
{
    const void *data;
    size_t n;

    begin_report(l);
    if (l->reported - l->obeyed >= TICK_LAG || l->ended) {
        if (!ticks_decision(l->t, false, &data, &n))
            return false;
        l->obeyed++;
        if (!l->ended && !l->fault.code)
            obey(l, data, n);
        else if (!l->ended && n >= sizeof(struct decision_head))
            l->ended = ((const struct decision_head *)data)->end;
    }
    if (!l->ended)
        slice_and_report(l);
    return true;
}

bool leader_turn(struct leader *l, bool *done)
{
    bool moved;

    if (*done)
        return false;
    account(l);
    moved = turn(l);
    *done = l->ended && l->obeyed == l->reported;
    l->mark = clock_now();
    return moved;
}

struct leader_times leader_times(const struct leader *l)
{
    return l->times;
}

int leader_fault(const struct leader *l, struct fault *f)
{
    if (l->fault.code)
        *f = l->fault;
    return l->fault.code;
}

static int by_index(const void *a, const void *b)
{
    const struct group *const *x = a, *const *y = b;

    return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

int leader_take(struct leader *l, struct settled *out, struct fault *f)
{
    struct group **g = mem_new(l->n, sizeof *g, "a replica's groups", f);

    if (!g)
        return f->code;
    out->mine = g;
    out->stats = rollout_stats(l->s->generator);
    if (l->n)
        qsort(l->group, l->n, sizeof(struct group *), by_index);
    for (size_t i = 0; i < l->n; i++) {
        int64_t index = l->group[i]->index;

        g[i] = rollout_release(l->s->generator, index);
        if (!g[i])
            return fault_set(f, FAULT_BUG, "candidate %lld is not with its replica",
                             (long long)index);
        out->n_mine++;
        out->tokens_in += group_carried(g[i]);
    }
    l->s->carry->n_mine = l->s->carry->n_lent = 0; /* they are among these */
    return 0;
}
