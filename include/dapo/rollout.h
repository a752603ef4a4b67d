/* rollout.h - the generator: continuous batching, KV pages, sampler, slices.
 *
 * One generator is one replica.  Its work is cut into slices: a bounded run of decode
 * iterations, each one forward over the tokens of all busy slots (and a bounded number
 * of prompt tokens being prefilled).  A group's prompt is prefilled once, its pages are
 * shared by the members; what linear attention remembers of it each member copies.
 * Between slices the caller submits, cancels and collects.
 *
 * On the CPU backend a completion's ids and log-probs are the same bits whatever else
 * is in the batch (invariant 4); draws are keyed by (seed, use, step, candidate,
 * member, position), position 0 being the first generated token; step and candidate are
 * those the group was first submitted under.  The step counts modulo 2^32, candidate
 * numbers are below 2^32.
 *
 * Members get slots in order of submission, then of member number; nobody overtakes.  A
 * member starts when a slot, a state and every page it can ever need are free, so it is
 * never preempted and generation can't lock up.  A slice allocates nothing but the
 * completions' own tokens.
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
    int max_prompt, max_tokens; /* tokens, >= 1; a completion ends at max_tokens */
    int prefill_chunk;          /* prompt tokens per iteration, >= 1 */
    struct sampling sampling;   /* temperature, then top-k, then top-p */
    float train_temperature;    /* > 0, of the stored log-probs (full vocabulary) */
    int n_stop;
    const int *stop; /* [n_stop] ids that end a completion; copied */
    uint64_t seed;
    enum random_use use; /* RANDOM_SAMPLE, or RANDOM_EVAL */
    double iteration_s;  /* an iteration takes at least this long, in [0, 1]; the rest
                            is slept: measurements without a device per rank */
};

struct rollout; /* opaque */

/* `m` must outlive the generator and be refreshed before rollout_begin when its weights
 * change.  FAULT_CONFIG if the pages can't hold a single longest sequence (shared
 * prompt pages and one member's), if max_prompt + max_tokens is over the model's
 * positions, or if a number is out of range. */
int rollout_new(struct rollout **out, struct model *m, const struct rollout_config *c,
                struct fault *f);
void rollout_free(struct rollout *r);
/* The pages rollout_new allocates for `c` (for kv_bytes): kv_pages, at most what the
 * slots can use.  `c` must be one that rollout_new accepts. */
int rollout_pages(const struct rollout_config *c);
/* The states of linear attention it allocates: one for each slot, and some for prompts
 * whose members wait (an eighth, and one more); 0 for a model without. */
int rollout_states(const struct rollout_config *c, const struct model_config *m);

/* Start a step: frees every group still held; draws are keyed by `step` from here on.
 */
void rollout_begin(struct rollout *r, int64_t step, int64_t policy_version);

/* Take over `g` (from group_new); its members queue for slots in order of submission.
 * Sets its born_step, born_index and policy_version, and later started_s and finished_s
 * (first and last token, in seconds since rollout_begin).
 *
 * A group that was begun in an earlier step (rollout_release) goes on: its finished
 * members stay as they are and are not told again; the others' prompts and tokens are
 * computed anew under the present weights, then they draw on.  Tokens and log-probs
 * that are there stay.  Under unchanged weights that gives the tokens, to the bit, that
 * would have come without the interruption.
 *
 * On a fault `g` stays the caller's: FAULT_DATA if the prompt is empty, over max_prompt
 * or has an id out of range, or tokens do; FAULT_BUG if the candidate is held already
 * or has no members, or a member can't go on (cancelled, failed, max_tokens reached).
 */
int rollout_submit(struct rollout *r, struct group *g, struct fault *f);

/* Members waiting or being decoded. */
int rollout_busy(const struct rollout *r);
/* Slots nobody waits for, as far as pages would last for longest sequences in them. */
int rollout_free_slots(const struct rollout *r);

/* Decode at most `iterations` iterations; returns early when nothing is left, and, if
 * `until_finish`, after the iteration in which a member finished.  *done (may be NULL)
 * gets the number of iterations run.  After a fault only rollout_begin and rollout_free
 * are allowed. */
int rollout_slice(struct rollout *r, int iterations, bool until_finish, int *done,
                  struct fault *f);

/* The next member that finished (FINISH_STOP, LENGTH, or FAILED: its logits were not
 * finite) since the last call: its group and member number; false if there is none.  By
 * iteration, then order of submission, then member number.  Cancelled members are not
 * told.  The group stays owned by the generator. */
bool rollout_next(struct rollout *r, struct group **g, int *member);

/* Stop a candidate: its unfinished members end as FINISH_CANCELLED with the tokens they
 * have.  Unknown or complete candidates are ignored. */
void rollout_cancel(struct rollout *r, int64_t index);

/* Hand a group back to the caller: it leaves the generator, and so does the news of it
 * that rollout_next has not told.  NULL if it is unknown or still has unfinished
 * members. */
struct group *rollout_take(struct rollout *r, int64_t index);
/* The same, but unfinished members stay FINISH_NONE with the tokens they have: the
 * group can be submitted again.  NULL if it is unknown. */
struct group *rollout_release(struct rollout *r, int64_t index);

struct rollout_stats {                      /* since rollout_begin */
    int64_t iterations, decoded, prefilled; /* iterations, tokens, prompt tokens */
    int64_t slot_iterations;                /* busy slots summed over iterations */
    int64_t failed;                         /* members that ended as FINISH_FAILED */
    double seconds;                         /* inside iterations */
    double prefill_seconds;                 /* of these, the share of the prompt rows */
};
struct rollout_stats rollout_stats(const struct rollout *r);

#endif
