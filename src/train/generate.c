/* generate.c - the generation phase: root and leaders take turns until it has settled.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/leader.h"
#include "train/root.h"

/* Written by signal handlers, read between slices. */
static volatile sig_atomic_t stop_flag;

void train_request_stop(void)
{
    stop_flag = 1;
}

bool stop_requested(void)
{
    return stop_flag != 0;
}

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

/* One rank may be root and leader at once: neither may block for the other. */
static void take_turns(struct root *root, struct leader *leader)
{
    bool root_done = !root, leader_done = !leader;
    double pause = 0;

    while (!root_done || !leader_done) {
        bool moved = root && root_turn(root, &root_done);

        if (leader && leader_turn(leader, &leader_done))
            moved = true;
        if (moved)
            pause = 0;
        else
            clock_backoff(&pause);
    }
    log_progress_end();
}

/* The shared part goes from the root to everyone. */
static int share_all(struct session *s, struct settled *r, struct fault *f)
{
    bool root = comm_rank(s->comm) == 0;
    int rc = 0;
    size_t n, b, t;

    if (!root) {
        struct group **mine = r->mine;
        int n_mine = r->n_mine;

        comm_bcast_all(s->comm, SCOPE_WORLD, r, sizeof *r);
        r->mine = mine;
        r->n_mine = n_mine;
        r->batch = NULL;
        r->fate = r->replica = r->n_prompt = r->n_tokens = NULL;
    } else {
        comm_bcast_all(s->comm, SCOPE_WORLD, r, sizeof *r);
    }
    if (r->abandoned)
        return 0;
    n = (size_t)r->started;
    b = (size_t)r->n_batch;
    t = b * (size_t)r->size;
    if (!root) {
        r->batch = mem_new(b, sizeof *r->batch, "the batch", f);
        r->fate = mem_new(n, sizeof(int), "fates", f);
        r->replica = mem_new(n, sizeof(int), "fates", f);
        r->n_prompt = mem_new(b, sizeof(int), "the batch", f);
        r->n_tokens = mem_new(t, sizeof(int), "the batch", f);
        if (!r->batch || !r->fate || !r->replica || !r->n_prompt || !r->n_tokens)
            rc = f->code;
    }
    rc = comm_agree_all(s->comm, rc, f);
    if (rc)
        return rc;
    comm_bcast_all(s->comm, SCOPE_WORLD, r->batch, b * sizeof *r->batch);
    comm_bcast_all(s->comm, SCOPE_WORLD, r->fate, n * sizeof(int));
    comm_bcast_all(s->comm, SCOPE_WORLD, r->replica, n * sizeof(int));
    comm_bcast_all(s->comm, SCOPE_WORLD, r->n_prompt, b * sizeof(int));
    comm_bcast_all(s->comm, SCOPE_WORLD, r->n_tokens, t * sizeof(int));
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

int generate_all(struct session *s, int64_t available, struct settled *out,
                 struct fault *f)
{
    bool is_root = comm_rank(s->comm) == 0, ticking = is_root || s->generator;
    struct ticks *t = NULL;
    struct root *root = NULL;
    struct leader *leader = NULL;
    double start = clock_now();
    int rc = 0;

    *out = (struct settled){0};
    if (ticking)
        rc = ticks_new(&t, s->comm, root_decision_most(s), f);
    if (!rc && is_root)
        rc = root_new(&root, s, t, available, f);
    if (!rc && s->generator)
        rc = leader_new(&leader, s, t, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc) {
        take_turns(root, leader);
        if (root)
            rc = root_fault(root, f);
        if (!rc && leader)
            rc = leader_fault(leader, f);
        if (!rc && leader)
            rc = leader_take(leader, &out->mine, &out->n_mine, f);
        if (!rc && root)
            rc = root_settle(root, out, f);
        rc = comm_agree_all(s->comm, rc, f);
    }
    if (!rc) {
        out->seconds = clock_now() - start;
        rc = share_all(s, out, f);
    }
    if (!rc && !out->abandoned)
        settle_mine(s, out);
    root_free(root);
    leader_free(leader);
    ticks_free(t);
    return rc;
}
