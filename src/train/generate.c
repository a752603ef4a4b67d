/* generate.c - the generation phase: root and leaders take turns until it has settled.
 */
#include <stddef.h>
#include <stdlib.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/carry.h"
#include "train/leader.h"
#include "train/root.h"

void settled_free(struct settled *r)
{
    for (int i = 0; i < r->n_mine; i++)
        group_free(r->mine[i]);
    free(r->mine);
    free(r->batch);
    free(r->fate);
    free(r->replica);
    free(r->n_prompt);
    free(r->n_tokens);
    *r = (struct settled){0};
}

int settled_room(struct settled *r, struct fault *f)
{
    size_t n = (size_t)r->started, b = (size_t)r->n_batch;

    r->batch = mem_new(b, sizeof *r->batch, "the batch", f);
    r->fate = mem_new(n, sizeof(int), "fates", f);
    r->replica = mem_new(n, sizeof(int), "fates", f);
    r->n_prompt = mem_new(b, sizeof(int), "the batch", f);
    r->n_tokens = mem_new(b * (size_t)r->size, sizeof(int), "the batch", f);
    return r->batch && r->fate && r->replica && r->n_prompt && r->n_tokens ? 0
                                                                           : f->code;
}

/* From the root to everyone, counted. */
static void tell_all(struct session *s, struct settled *r, void *data, size_t n)
{
    int others = comm_size(s->comm) - 1;

    comm_bcast_all(s->comm, SCOPE_WORLD, data, n);
    r->messages += others;
    r->bytes += others * (int64_t)n;
}

/* The shared part goes from the root to everyone. */
static int share_all(struct session *s, struct settled *r, struct fault *f)
{
    bool root = comm_rank(s->comm) == 0;
    int rc;
    size_t n, b;

    tell_all(s, r, r, offsetof(struct settled, batch));
    if (r->abandoned)
        return 0;
    n = (size_t)r->started;
    b = (size_t)r->n_batch;
    rc = comm_agree_all(s->comm, root ? 0 : settled_room(r, f), f);
    if (rc)
        return rc;
    tell_all(s, r, r->batch, b * sizeof *r->batch);
    tell_all(s, r, r->fate, n * sizeof(int));
    tell_all(s, r, r->replica, n * sizeof(int));
    tell_all(s, r, r->n_prompt, b * sizeof(int));
    tell_all(s, r, r->n_tokens, b * (size_t)r->size * sizeof(int));
    return 0;
}

static void settle_mine(struct session *s, struct settled *r)
{
    for (int i = 0; i < r->n_mine; i++) {
        struct group *g = r->mine[i];

        g->fate = (enum fate)r->fate[g->index];
        if (g->fate == FATE_TRAINED)
            advantage_group(g, s->cfg->loss.advantage_eps);
    }
}

/* -- a step's generation ------------------------------------------------------------
 */

struct generation {
    struct session *s;
    struct ticks *t;
    struct root *root;
    struct leader *leader;
    bool root_done, leader_done;
};

static void generation_free(struct generation *g)
{
    if (!g)
        return;
    root_free(g->root);
    leader_free(g->leader);
    ticks_free(g->t);
    free(g);
}

static int open_ends(struct generation *g, int64_t available, struct fault *f)
{
    struct session *s = g->s;
    bool is_root = comm_rank(s->comm) == 0;
    int rc = 0;

    if (is_root || s->generator)
        rc = ticks_new(&g->t, s->comm, root_decision_most(s), f);
    if (!rc && is_root)
        rc = root_new(&g->root, s, g->t, available, f);
    if (!rc && s->generator)
        rc = leader_new(&g->leader, s, g->t, f);
    g->root_done = !g->root;
    g->leader_done = !g->leader;
    return rc;
}

int generation_begin_all(struct generation **out, struct session *s, int64_t available,
                         struct fault *f)
{
    struct generation *g = mem_new(1, sizeof *g, "a step's generation", f);
    int rc = f->code;

    pulse_phase(PHASE_GENERATE, s->drawing.step);
    *out = g;
    if (g) {
        g->s = s;
        s->drawing.since = clock_now();
        rc = open_ends(g, available, f);
    }
    rc = comm_agree_all(s->comm, rc, f);
    if (rc) {
        generation_free(g);
        *out = NULL;
    }
    return rc;
}

void generation_tick(void *generation)
{
    struct generation *g = generation;

    while (g->root && root_turn(g->root, &g->root_done))
        ;
}

/* One rank may be root and leader at once: neither may block for the other. */
static void take_turns(struct generation *g)
{
    double pause = 0;

    while (!g->root_done || !g->leader_done) {
        bool moved = g->root && root_turn(g->root, &g->root_done);

        if (g->leader && leader_turn(g->leader, &g->leader_done))
            moved = true;
        if (moved)
            pause = 0;
        else
            clock_backoff(&pause);
    }
    log_progress_end();
}

static int collect(struct generation *g, struct settled *out, struct fault *f)
{
    int rc = 0;

    if (g->root)
        rc = root_fault(g->root, f);
    if (!rc && g->leader)
        rc = leader_fault(g->leader, f);
    if (!rc && g->leader)
        rc = leader_take(g->leader, out, f);
    if (!rc && g->root)
        rc = root_settle(g->root, out, f);
    if (!rc && g->leader)
        out->times = leader_times(g->leader);
    return rc;
}

int generation_end_all(struct generation *g, int rc, struct settled *out,
                       struct fault *f)
{
    struct session *s = g->s;

    *out = (struct settled){0};
    if (rc && g->root)
        root_abandon(g->root);
    take_turns(g);
    if (!rc)
        rc = collect(g, out, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc) {
        out->version = s->published;
        out->seconds = clock_now() - s->drawing.since;
        rc = share_all(s, out, f);
    }
    if (!rc && g->leader)
        rc = carry_keep(s, out, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc && !out->abandoned)
        settle_mine(s, out);
    generation_free(g);
    return rc;
}

int generate_all(struct session *s, int64_t available, struct settled *out,
                 struct fault *f)
{
    struct generation *g;
    int rc = generation_begin_all(&g, s, available, f);

    *out = (struct settled){0};
    return rc ? rc : generation_end_all(g, 0, out, f);
}
