/* rollout.h - the generator: continuous batching, KV pages, sampler, slices.
 *
 * One generator is one replica.  Its work is cut into slices: a bounded run of decode
 * iterations, each one forward over the tokens of all busy slots (and a bounded number
 * of prompt tokens being prefilled).  A group's prompt is prefilled once, its pages are
 * shared by the members.  Between slices the caller submits, cancels and collects.
 * On the CPU backend a completion's ids and log-probs are the same bits whatever else
 * is in the batch (invariant 4); draws are keyed by (seed, step, candidate, member,
 * position).
 */
#ifndef DAPO_ROLLOUT_H
#define DAPO_ROLLOUT_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/group.h"
#include "dapo/model.h"
#include "dapo/random.h"

struct rollout_config {
    int slots;                  /* sequences decoded at once, >= 1 */
    int kv_pages;               /* pages of KV_PAGE tokens; 0 = enough for every slot */
    int max_prompt, max_tokens; /* tokens; a completion ends at max_tokens */
    int prefill_chunk;          /* prompt tokens per iteration */
    struct sampling sampling;
    float train_temperature; /* of the stored log-probs */
    int n_stop;
    const int *stop;
    uint64_t seed;
    enum random_use use; /* RANDOM_SAMPLE, or RANDOM_EVAL */
};

struct rollout; /* opaque */

/* FAULT_CONFIG if the pages can't hold a single longest sequence. */
int rollout_new(struct rollout **out, struct model *m, const struct rollout_config *c,
                struct fault *f);
void rollout_free(struct rollout *r);

/* Start a step: drops everything unfinished; draws are keyed by `step` from here on. */
void rollout_begin(struct rollout *r, int64_t step, int64_t policy_version);

/* Take over `g` (from group_new); its members queue for slots in order of submission.
 * FAULT_DATA if the prompt is empty, over max_prompt or has an id out of range. */
int rollout_submit(struct rollout *r, struct group *g, struct fault *f);

/* Members waiting or being decoded; free slots nobody waits for. */
int rollout_busy(const struct rollout *r);
int rollout_free_slots(const struct rollout *r);

/* Decode at most `iterations` iterations; returns early when nothing is left, and, if
 * `until_finish`, after the iteration in which a member finished.  *done (may be NULL)
 * gets the number of iterations run. */
int rollout_slice(struct rollout *r, int iterations, bool until_finish, int *done,
                  struct fault *f);

/* The next member that finished since the last call: its group and member number; false
 * if there is none.  The group stays owned by the generator. */
bool rollout_next(struct rollout *r, struct group **g, int *member);

/* Stop a candidate: its unfinished members end as FINISH_CANCELLED with the tokens they
 * have.  Unknown or finished candidates are ignored. */
void rollout_cancel(struct rollout *r, int64_t index);

/* Hand a group back to the caller (complete or cancelled): it leaves the generator. */
struct group *rollout_take(struct rollout *r, int64_t index);

struct rollout_stats {                      /* since rollout_begin */
    int64_t iterations, decoded, prefilled; /* iterations, tokens, prompt tokens */
    int64_t slot_iterations;                /* busy slots summed over iterations */
    double seconds, prefill_seconds;
};
struct rollout_stats rollout_stats(const struct rollout *r);

#endif
