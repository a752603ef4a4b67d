/* iterate.c - one iteration of the generator: plan, forward, draw, append. */
#include <math.h>

#include "dapo/clock.h"
#include "rollout/generator.h"

static int forward(struct rollout *r, float **logits, struct fault *f)
{
    const struct batch *b = &r->s.batch;
    struct attend_rows rows = {
        .rows = b->rows, .seq = b->seq, .pos = b->pos, .map = sched_map(&r->s)};

    for (int i = 0; i < b->n_copy; i++) {
        int rc = kv_copy(r->kv, b->copy[i].dst, b->copy[i].src, b->copy[i].rows, f);

        if (rc)
            return rc;
    }
    for (int i = 0; i < b->n_states; i++) {
        int rc = kv_copy_state(r->kv, b->states[i].dst, b->states[i].src, f);

        if (rc)
            return rc;
    }
    return model_step(r->m, r->kv, b->ids, &rows, b->out, b->busy, logits, f);
}

static int draw(struct rollout *r, const float *logits, struct fault *f)
{
    const struct batch *b = &r->s.batch;

    for (int i = 0; i < b->busy; i++) {
        const struct slot *p = &r->s.slots[b->seq[i]];
        const struct group *g = p->e->g;

        r->u[i] = random_uniform(r->c.seed, r->c.use, (uint32_t)g->born_step,
                                 (uint32_t)g->born_index, (uint32_t)p->member,
                                 (uint32_t)g->members[p->member].n_tokens);
    }
    return r->be->sample(r->drawn, r->logp, logits, r->u, b->busy,
                         model_real_vocab(r->m), model_cfg(r->m)->vocab, &r->c.sampling,
                         r->c.train_temperature, f);
}

static bool is_stop(const struct rollout *r, int id)
{
    for (int i = 0; i < r->c.n_stop; i++)
        if (r->stop[i] == id)
            return true;
    return false;
}

/* Give a slot its token.  Logits that are not finite (broken weights) fail the member:
 * there is no probability to draw from. */
static int append(struct rollout *r, struct slot *p, int id, float logp,
                  struct fault *f)
{
    struct completion *c = &p->e->g->members[p->member];
    int rc;

    if (!isfinite(logp) || id < 0 || id >= model_real_vocab(r->m)) {
        c->finish = FINISH_FAILED;
        r->stats.failed++;
        return 0;
    }
    if ((rc = completion_add(c, id, logp, f)))
        return rc;
    p->pos++;
    r->stats.decoded++;
    if (is_stop(r, id))
        c->finish = FINISH_STOP;
    else if (c->n_tokens >= r->c.max_tokens)
        c->finish = FINISH_LENGTH;
    return 0;
}

static bool is_before(const struct event *a, const struct event *b)
{
    if (a->e != b->e)
        return a->e->serial < b->e->serial;
    return a->member < b->member;
}

/* Slots are in no particular order; events of one iteration are (from `first` on). */
static void tell(struct rollout *r, int first, struct entry *e, int member)
{
    struct event v = {e, member};
    int i = r->n_events++;

    for (; i > first && is_before(&v, &r->events[i - 1]); i--)
        r->events[i] = r->events[i - 1];
    r->events[i] = v;
}

static int collect(struct rollout *r, double started, struct fault *f)
{
    const struct batch *b = &r->s.batch;
    double now = clock_now() - r->began;
    int first = r->n_events;

    for (int i = 0; i < b->busy; i++) {
        struct slot *p = &r->s.slots[b->seq[i]];
        struct entry *e = p->e;
        int member = p->member, rc;

        if (member == 0 && e->g->members[0].n_tokens == 0)
            e->g->started_s = started;
        if ((rc = append(r, p, r->drawn[i], r->logp[i], f)))
            return rc;
        if (e->g->members[member].finish == FINISH_NONE)
            continue;
        sched_end(&r->s, b->seq[i]);
        r->unfinished--;
        tell(r, first, e, member);
        if (e->ended == e->g->size)
            e->g->finished_s = now;
    }
    return 0;
}

static int iterate(struct rollout *r, struct fault *f)
{
    const struct batch *b = &r->s.batch;
    struct rollout_stats *st = &r->stats;
    double start = clock_now(), seconds;
    float *logits = NULL;
    int rc;

    sched_plan(&r->s);
    if (b->rows == 0)
        return fault_set(f, FAULT_BUG, "the generator has members but no work");
    if ((rc = forward(r, &logits, f)) || (b->busy && (rc = draw(r, logits, f))) ||
        (rc = collect(r, start - r->began, f)))
        return rc;
    seconds = clock_now() - start;
    if (seconds < r->c.iteration_s) {
        clock_sleep(r->c.iteration_s - seconds);
        seconds = clock_now() - start;
    }
    st->iterations++;
    st->slot_iterations += b->busy;
    st->prefilled += b->rows - b->busy;
    st->seconds += seconds;
    st->prefill_seconds += seconds * (b->rows - b->busy) / b->rows;
    return 0;
}

int rollout_slice(struct rollout *r, int iterations, bool until_finish, int *done,
                  struct fault *f)
{
    int n = 0, rc = 0;

    while (n < iterations && r->unfinished > 0) {
        int news = r->n_events;

        if ((rc = iterate(r, f)))
            break;
        n++;
        if (until_finish && r->n_events > news)
            break;
    }
    if (done)
        *done = n;
    return rc;
}
