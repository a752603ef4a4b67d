/* rollout.c - the generator: its making, groups in and out. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "rollout/generator.h"

/* -- making one -------------------------------------------------------------------- */

static int check_sampling(const struct rollout_config *c, struct fault *f)
{
    const struct sampling *s = &c->sampling;

    if (!isfinite(s->temperature) || s->temperature < 0)
        return fault_set(f, FAULT_CONFIG,
                         "sampling temperature = %g: want 0 (greedy) or more",
                         (double)s->temperature);
    if (s->top_k < 0)
        return fault_set(f, FAULT_CONFIG, "top_k = %d: want 0 (all) or more", s->top_k);
    if (!(s->top_p > 0 && s->top_p <= 1))
        return fault_set(f, FAULT_CONFIG, "top_p = %g: want it in (0, 1]",
                         (double)s->top_p);
    if (!isfinite(c->train_temperature) || c->train_temperature <= 0)
        return fault_set(f, FAULT_CONFIG, "training temperature = %g: want more than 0",
                         (double)c->train_temperature);
    return 0;
}

static int check_config(const struct rollout_config *c, const struct model_config *m,
                        struct fault *f)
{
    const int most = 1 << 20;
    int64_t least, rows = m->max_position;

    if (c->slots < 1 || c->slots > most || c->prefill_chunk < 1 ||
        c->prefill_chunk > most)
        return fault_set(f, FAULT_CONFIG,
                         "%d slots, prefill_chunk %d: want both in [1, %d]", c->slots,
                         c->prefill_chunk, most);
    if (c->max_prompt < 1 || c->max_tokens < 1)
        return fault_set(f, FAULT_CONFIG,
                         "max_prompt %d, max_tokens %d: want both at least 1",
                         c->max_prompt, c->max_tokens);
    if ((int64_t)c->max_prompt + c->max_tokens > rows)
        return fault_set(f, FAULT_CONFIG,
                         "max_prompt %d + max_tokens %d is over the %d positions of "
                         "the model; lower one of them",
                         c->max_prompt, c->max_tokens, m->max_position);
    least = sched_least_pages(c->max_prompt, c->max_tokens);
    if (c->kv_pages < 0 || (c->kv_pages > 0 && c->kv_pages < least))
        return fault_set(f, FAULT_CONFIG,
                         "%d KV pages of %d tokens can't hold one longest sequence, "
                         "max_prompt %d + max_tokens %d; it needs %lld pages (or 0: as "
                         "many as the slots can use)",
                         c->kv_pages, KV_PAGE, c->max_prompt, c->max_tokens,
                         (long long)least);
    if (c->kv_pages > INT_MAX / KV_PAGE ||
        sched_ample_pages(c->slots, c->max_prompt, c->max_tokens) > INT_MAX / KV_PAGE)
        return fault_set(f, FAULT_CONFIG,
                         "%d slots of max_prompt %d + max_tokens %d or %d KV pages "
                         "are over %d pages of %d tokens; lower one of them",
                         c->slots, c->max_prompt, c->max_tokens, c->kv_pages,
                         INT_MAX / KV_PAGE, KV_PAGE);
    return check_sampling(c, f);
}

int rollout_pages(const struct rollout_config *c)
{
    int ample = (int)sched_ample_pages(c->slots, c->max_prompt, c->max_tokens);

    return c->kv_pages > 0 && c->kv_pages < ample ? c->kv_pages : ample;
}

int rollout_states(const struct rollout_config *c, const struct model_config *m)
{
    return model_n_linear(m) ? c->slots + sched_prompt_states(c->slots) : 0;
}

static int fill_new(struct rollout *r, struct fault *f)
{
    const struct rollout_config *c = &r->c;
    size_t n = (size_t)c->slots;
    int pages = rollout_pages(c), states = rollout_states(c, model_cfg(r->m)), rc;

    r->u = mem_new(n, sizeof *r->u, "the slots", f);
    r->logp = mem_new(n, sizeof *r->logp, "the slots", f);
    r->drawn = mem_new(n, sizeof *r->drawn, "the slots", f);
    r->stop = mem_new((size_t)c->n_stop, sizeof *r->stop, "the stop ids", f);
    if (!r->u || !r->logp || !r->drawn || !r->stop)
        return FAULT_SYSTEM;
    if (c->n_stop)
        memcpy(r->stop, c->stop, (size_t)c->n_stop * sizeof *r->stop);
    r->c.stop = r->stop;
    rc = sched_new(&r->s, c->slots, pages, states, c->prefill_chunk, c->max_prompt,
                   c->max_tokens, f);
    return rc ? rc : kv_new(&r->kv, r->m, pages, states, f);
}

int rollout_new(struct rollout **out, struct model *m, const struct rollout_config *c,
                struct fault *f)
{
    struct rollout *r;
    int rc = check_config(c, model_cfg(m), f);

    *out = NULL;
    if (rc)
        return rc;
    if (!(r = mem_new(1, sizeof *r, "the generator", f)))
        return FAULT_SYSTEM;
    r->m = m;
    r->be = model_backend(m);
    r->c = *c;
    if ((rc = fill_new(r, f))) {
        rollout_free(r);
        return rc;
    }
    rollout_begin(r, 0, 0);
    *out = r;
    return 0;
}

void rollout_free(struct rollout *r)
{
    if (!r)
        return;
    if (r->kv)
        kv_free(r->kv);
    sched_free(&r->s);
    free(r->u);
    free(r->logp);
    free(r->drawn);
    free(r->stop);
    free(r->events);
    free(r);
}

/* -- groups in and out ------------------------------------------------------------- */

void rollout_begin(struct rollout *r, int64_t step, int64_t policy_version)
{
    sched_reset(&r->s);
    r->first_event = r->n_events = r->unfinished = 0;
    r->step = step;
    r->policy_version = policy_version;
    r->stats = (struct rollout_stats){0};
    r->began = clock_now();
}

/* It ended of itself in an earlier step, or can go on from its tokens. */
static int check_member(const struct rollout *r, const struct group *g, int member,
                        struct fault *f)
{
    const struct completion *m = &g->members[member];
    bool ended = finish_complete(m->finish);
    bool open = m->finish == FINISH_NONE && m->n_tokens < r->c.max_tokens;

    if ((!ended && !open) || (g->born_step < 0 && m->n_tokens > 0))
        return fault_set(f, FAULT_BUG, "candidate %lld, member %d can't go on",
                         (long long)g->index, member);
    for (int t = 0; t < m->n_tokens; t++)
        if (m->ids[t] < 0 || m->ids[t] >= model_real_vocab(r->m))
            return fault_set(f, FAULT_DATA,
                             "candidate %lld, member %d: token %d is id %d, outside "
                             "the model's [0, %d)",
                             (long long)g->index, member, t, m->ids[t],
                             model_real_vocab(r->m));
    return 0;
}

static int check_group(const struct rollout *r, const struct group *g, struct fault *f)
{
    int vocab = model_real_vocab(r->m);

    if (g->index < 0 || g->index > UINT32_MAX || sched_find(&r->s, g->index))
        return fault_set(f, FAULT_BUG,
                         "candidate %lld was submitted twice or is out "
                         "of range",
                         (long long)g->index);
    if (g->size < 1)
        return fault_set(f, FAULT_BUG, "candidate %lld has no members",
                         (long long)g->index);
    if (g->n_prompt < 1)
        return fault_set(f, FAULT_DATA, "prompt %lld is empty", (long long)g->prompt);
    if (g->n_prompt > r->c.max_prompt)
        return fault_set(f, FAULT_DATA,
                         "prompt %lld has %d tokens, over max_prompt %d; raise it or "
                         "drop the prompt",
                         (long long)g->prompt, g->n_prompt, r->c.max_prompt);
    for (int i = 0; i < g->n_prompt; i++)
        if (g->prompt_ids[i] < 0 || g->prompt_ids[i] >= vocab)
            return fault_set(f, FAULT_DATA,
                             "prompt %lld: token %d is id %d, outside the model's "
                             "[0, %d)",
                             (long long)g->prompt, i, g->prompt_ids[i], vocab);
    for (int i = 0; i < g->size; i++) {
        int rc = check_member(r, g, i, f);

        if (rc)
            return rc;
    }
    return 0;
}

/* Room for every event the held groups can cause, so that a slice allocates nothing but
 * the completions' own tokens. */
static int reserve_events(struct rollout *r, int members, struct fault *f)
{
    int news = r->n_events - r->first_event, rc;
    void *events = r->events;

    if (r->first_event) {
        memmove(r->events, r->events + r->first_event,
                (size_t)news * sizeof *r->events);
        r->first_event = 0;
        r->n_events = news;
    }
    rc = mem_grow(&events, &r->cap,
                  (size_t)news + (size_t)r->unfinished + (size_t)members,
                  sizeof *r->events, "the finished members", f);
    r->events = events;
    return rc;
}

int rollout_submit(struct rollout *r, struct group *g, struct fault *f)
{
    int rc = check_group(r, g, f);

    if (rc || (rc = reserve_events(r, g->size, f)) || (rc = sched_add(&r->s, g, f)))
        return rc;
    if (g->born_step < 0) {
        g->born_step = r->step;
        g->born_index = g->index;
        g->policy_version = r->policy_version;
    }
    for (int i = 0; i < g->size; i++) {
        r->unfinished += g->members[i].finish == FINISH_NONE;
        g->members[i].version = (int)r->policy_version;
    }
    return 0;
}

int rollout_busy(const struct rollout *r)
{
    return r->unfinished;
}

int rollout_free_slots(const struct rollout *r)
{
    return sched_room(&r->s);
}

bool rollout_next(struct rollout *r, struct group **g, int *member)
{
    const struct event *v;

    if (r->first_event == r->n_events)
        return false;
    v = &r->events[r->first_event++];
    *g = v->e->g;
    *member = v->member;
    return true;
}

void rollout_cancel(struct rollout *r, int64_t index)
{
    struct entry *e = sched_find(&r->s, index);

    if (!e || e->ended == e->g->size)
        return;
    for (int i = 0; i < e->g->size; i++)
        if (e->g->members[i].finish == FINISH_NONE) {
            e->g->members[i].finish = FINISH_CANCELLED;
            r->unfinished--;
        }
    e->g->finished_s = clock_now() - r->began;
    sched_cancel(&r->s, e);
}

static struct group *let_go(struct rollout *r, struct entry *e)
{
    int kept = r->first_event;

    for (int i = r->first_event; i < r->n_events; i++)
        if (r->events[i].e != e)
            r->events[kept++] = r->events[i];
    r->n_events = kept;
    return sched_remove(&r->s, e);
}

struct group *rollout_take(struct rollout *r, int64_t index)
{
    struct entry *e = sched_find(&r->s, index);

    return e && e->ended == e->g->size ? let_go(r, e) : NULL;
}

struct group *rollout_release(struct rollout *r, int64_t index)
{
    struct entry *e = sched_find(&r->s, index);

    if (!e)
        return NULL;
    r->unfinished -= e->g->size - e->ended;
    sched_cancel(&r->s, e);
    return let_go(r, e);
}

struct rollout_stats rollout_stats(const struct rollout *r)
{
    return r->stats;
}
