/* machine.c - see machine.h. */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "sim/machine.h"

int machine_new(struct machine *m, const struct sim_machine *c, int size,
                struct fault *f)
{
    *m = (struct machine){.c = *c, .size = size};
    m->queues = mem_new((size_t)c->replicas, sizeof *m->queues, "replicas", f);
    m->with = mem_new((size_t)c->slots + 1, sizeof *m->with, "replicas", f);
    if (!m->queues || !m->with)
        return f->code;
    for (int i = 0; i < c->replicas; i++)
        m->queues[i] = (struct queue){-1, -1, 0};
    m->with[0] = c->replicas;
    return 0;
}

void machine_free(struct machine *m)
{
    free(m->seats);
    free(m->members);
    free(m->queues);
    free(m->with);
    free(m->heap);
    *m = (struct machine){0};
}

/* -- candidates -------------------------------------------------------------------- */

struct seat *machine_seat(struct machine *m, int64_t *uid, struct fault *f)
{
    size_t size = (size_t)m->size, members;

    if (!size_mul(m->n + 1, size, &members)) {
        fault_set(f, FAULT_SYSTEM, "too many candidates in one step");
        return NULL;
    }
    if (mem_grow((void **)&m->seats, &m->seat_cap, m->n + 1, sizeof *m->seats,
                 "candidates", f) ||
        mem_grow((void **)&m->members, &m->member_cap, members, sizeof *m->members,
                 "candidates", f))
        return NULL;
    memset(m->members + m->n * size, 0, size * sizeof *m->members);
    m->seats[m->n] = (struct seat){.behind = -1};
    *uid = m->base + (int64_t)m->n;
    return &m->seats[m->n++];
}

void machine_forget(struct machine *m, int64_t n)
{
    size_t gone = (size_t)n, size = (size_t)m->size;

    m->n -= gone;
    memmove(m->seats, m->seats + gone, m->n * sizeof *m->seats);
    memmove(m->members, m->members + gone * size, m->n * size * sizeof *m->members);
    m->base += n;
    if (m->n == 0)
        m->n_heap = 0;
}

/* -- the endings to come, a binary heap -------------------------------------------- */

static bool sooner(const struct ending *a, const struct ending *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static int push(struct machine *m, struct ending e, struct fault *f)
{
    size_t i = m->n_heap;

    if (mem_grow((void **)&m->heap, &m->heap_cap, i + 1, sizeof *m->heap, "events", f))
        return f->code;
    m->n_heap++;
    for (; i > 0 && sooner(&e, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = e;
    return 0;
}

static void pop(struct machine *m)
{
    struct ending last = m->heap[--m->n_heap];
    size_t i = 0, k;

    for (; (k = 2 * i + 1) < m->n_heap; i = k) {
        if (k + 1 < m->n_heap && sooner(&m->heap[k + 1], &m->heap[k]))
            k++;
        if (!sooner(&m->heap[k], &last))
            break;
        m->heap[i] = m->heap[k];
    }
    m->heap[i] = last;
}

/* The next ending that still counts; NULL if nothing runs. */
static const struct ending *next_ending(struct machine *m)
{
    while (m->n_heap > 0) {
        const struct ending *e = &m->heap[0];

        if (e->uid >= m->base && !seat_of(m, e->uid)->cancelled)
            return e;
        pop(m);
    }
    return NULL;
}

/* -- slots ------------------------------------------------------------------------- */

/* One replica's busy slots change by `by`. */
static void count(struct machine *m, struct queue *q, int by)
{
    m->with[q->active]--;
    q->active += by;
    m->with[q->active]++;
    m->active += by;
    if (q->active > m->busiest)
        m->busiest = q->active;
    while (m->busiest > 0 && m->with[m->busiest] == 0)
        m->busiest--;
}

static int start(struct machine *m, int64_t uid, struct fault *f)
{
    struct seat *s = seat_of(m, uid);
    struct member *k = member_of(m, uid, s->next);

    k->state = MEMBER_RUNNING;
    k->start = m->now;
    return push(
        m, (struct ending){m->now + k->law.tokens, m->started++, uid, s->next++}, f);
}

static int fill(struct machine *m, struct queue *q, struct fault *f)
{
    int room = m->c.slots - q->active, started = 0, rc = 0;

    while (!rc && started < room && q->head >= 0) {
        const struct seat *s = seat_of(m, q->head);

        if (!s->cancelled && s->next < m->size) {
            rc = start(m, q->head, f);
            started++;
        } else {
            q->head = s->behind;
            if (q->head < 0)
                q->tail = -1;
        }
    }
    if (started)
        count(m, q, started);
    return rc;
}

int machine_submit(struct machine *m, int64_t uid, struct fault *f)
{
    struct queue *q = &m->queues[seat_of(m, uid)->replica];

    if (q->tail >= 0)
        seat_of(m, q->tail)->behind = uid;
    else
        q->head = uid;
    q->tail = uid;
    return fill(m, q, f);
}

int machine_cancel(struct machine *m, int64_t uid, int *cut, struct fault *f)
{
    struct seat *s = seat_of(m, uid);
    struct queue *q = &m->queues[s->replica];
    int running = 0;

    s->cancelled = true;
    for (int k = 0; k < m->size; k++) {
        struct member *e = member_of(m, uid, k);

        cut[k] = e->state == MEMBER_WAITING ? 0 : -1;
        if (e->state == MEMBER_RUNNING) {
            cut[k] = (int)(m->now - e->start);
            running++;
        }
        e->state = MEMBER_ENDED;
    }
    if (running)
        count(m, q, -running);
    return fill(m, q, f);
}

/* -- time -------------------------------------------------------------------------- */

void machine_run(struct machine *m, int64_t most)
{
    const struct ending *e = next_ending(m);
    int64_t n = e && e->at - m->now < most ? e->at - m->now : most;

    if (m->active == 0)
        return;
    m->seconds += (double)n * (m->c.fixed_s + m->c.each_s * m->busiest);
    m->decoded += n * m->active;
    m->now += n;
}

int machine_ended(struct machine *m, struct ending *out, bool *any, struct fault *f)
{
    const struct ending *e = next_ending(m);
    struct queue *q;

    *any = e && e->at == m->now;
    if (!*any)
        return 0;
    *out = *e;
    pop(m);
    q = &m->queues[seat_of(m, out->uid)->replica];
    member_of(m, out->uid, out->member)->state = MEMBER_ENDED;
    count(m, q, -1);
    return fill(m, q, f);
}
