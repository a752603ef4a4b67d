/* generate.h - private: the generation phase of a step. */
#ifndef DAPO_TRAIN_GENERATE_H
#define DAPO_TRAIN_GENERATE_H

#include "train/session.h"

/* A replica's seconds in one step, but for decoding (rollout_stats). */
struct leader_times {
    double judge;
    double empty; /* nothing to decode */
    double wait;  /* work at hand, but the decision that is due hasn't come */
};

/* What everyone knows once a step has settled: the numbers up to `batch`, and the
 * arrays, are the root's. */
struct settled {
    bool abandoned;     /* the run was asked to stop: the step in flight is dropped */
    int64_t version;    /* updates in the weights that generated it */
    int64_t trained_at; /* updates in the weights that its training began with */
    int64_t started, consumed; /* candidates that end with this step; see admission.h */
    int64_t carried;           /* those behind them, which go on in the next */
    enum closed_by closed;
    int n_batch; /* trained groups, candidate order */
    int size;    /* G */
    int64_t ledger[FATE_COUNT];
    int64_t ticks;
    double tick_seconds, seconds;
    int64_t messages, bytes;  /* root: of ticks and settling, through it */
    int64_t longest, busiest; /* iterations and slot iterations of the replica with most
                                 in each tick, summed over the ticks */
    int64_t *batch;           /* [n_batch] candidate indices */
    int *fate, *replica;      /* [started] */
    int *n_prompt;            /* [n_batch] */
    int *n_tokens;            /* [n_batch][size] lengths of the trained completions */
    /* This replica's own: */
    struct group **mine; /* [n_mine] its groups, candidate order, with fate */
    int n_mine;
    struct rollout_stats stats;
    int64_t tokens_in, tokens_out; /* its groups': from earlier steps, for later ones */
    struct leader_times times;
};
void settled_free(struct settled *r);
/* Room for the arrays of started, n_batch and size; settled_free after a fault too. */
int settled_room(struct settled *r, struct fault *f);

/* Generate and admit candidates of the step s->drawing, with at most `available`
 * prompts to draw, until it is settled. */
int generate_all(struct session *s, int64_t available, struct settled *out,
                 struct fault *f);

/* The same in two parts.  In between a learner does what it likes, if the root calls
 * generation_tick often: replicas wait for its answers.  A replica works in the second
 * part only. */
struct generation; /* opaque */
int generation_begin_all(struct generation **out, struct session *s, int64_t available,
                         struct fault *f);
/* Answer what has come from the replicas (root; nothing on other ranks).  Never waits.
 */
void generation_tick(void *generation);
/* Settle it and free `g`.  `rc` != 0, with *f set: what this rank did meanwhile failed,
 * which ends the step and is everyone's. */
int generation_end_all(struct generation *g, int rc, struct settled *out,
                       struct fault *f);

#endif
