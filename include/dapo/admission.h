/* admission.h - dynamic sampling: candidates, budgets, order, fates, the token ledger.
 *
 * Pure: no MPI, no clock, no I/O.  Events go in (a member finished, slots are free),
 * decisions come out (start this candidate, cancel those, the step is full), so the
 * same code runs under MPI, in tests with virtual replicas and in simulations.
 *
 * How it works: admission.  A step wants B trainable groups (0 < correct < G, the
 * constraint of eq. 11 in Yu et al., DAPO, arXiv:2503.14476) of at most M*B candidates.
 *
 * - Order.  Candidates are numbered as they are drawn.  One is *resolved* when all G
 *   verdicts are in, or when it failed or is stale.  The batch is the first B trainable
 *   ones in this order; the step is full when the longest resolved prefix holds B.
 *   That is what a patient sampler that generates one candidate at a time would train,
 *   whatever the replicas, slots, latencies, refill and `speculation` were (invariant
 *   2).
 * - Known early.  A group is known to be trainable once two finished verdicts differ.
 * - Launch.  Nothing waits for a round to end: with a slot free, the next candidate is
 *   started iff P(it is needed) >= `speculation`.  It is needed iff fewer than B before
 *   it prove trainable; known ones count 1, undecided ones their q[k], the probability
 *   that a group is trainable whose first k verdicts were equal.  1 starts only what is
 *   needed for certain, 0 fills every slot.
 * - Cut.  With B known, nothing behind the B-th can be trained: those are cancelled.
 *   Their prompts return; speculation costs tokens, never data.
 * - Estimates.  q is a prior (pass rates from a symmetric Beta law that makes a group
 *   trainable with `prior_trainable`, worth `prior_weight` groups) plus counts over the
 *   candidates that decided a batch; each step multiplies older counts by 15/16.  Of a
 *   group the k shortest members count as its first k, so schedules leave no trace.
 *   Each class of history has its own counts, and the prior of a class is what the
 *   others say: a class never seen is judged as they are.
 * - Token budgets.  In candidate order the step closes before the first candidate whose
 *   tokens would take the sum over max_candidate_tokens, or whose training would take
 *   the sum over max_train_tokens; a sum equal to the budget is allowed.  A failed or
 *   stale candidate counts nothing, whatever it generated: how much that was is a
 *   matter of timing.  So the one that breaks a budget is waited for (it might fail),
 *   but what is behind it is cut, and nothing is started, as soon as finished members
 *   alone go over.  If it is the first of the step it counts as decided, as surplus:
 *   the cursor passes it, or no later step would.
 * - A short step (max_candidates, data_exhausted, a budget) trains what it found, be it
 *   nothing.
 * - Waves (`refill = waves`): start what is missing, wait for all of it, repeat; at
 *   worst 1 + (M-1)*B waves.  Never a surplus, but slots idle at each wave's end.
 * - Full rounds (`refill = full`, verl's): start full_multiplier * B, wait for all of
 *   them, repeat while fewer than B are trainable; nothing is cut, the step closes at a
 *   round's end.  M*B bounds the candidates here too, and cuts the last round short:
 *   verl's max_num_gen_batches = n is M = n * full_multiplier.
 * - Completion order (`order = completion`): the batch is the first B trainable groups
 *   to be complete, budgets count candidates as they complete, nothing is cut, and
 *   every prompt that was started is spent.  For comparison: trained completions are
 *   14% shorter than all trainable ones (B = 4 in simulation).
 * - Resume (`surplus = resume`): 2B are aimed at instead of B and nothing is cut; what
 *   is behind the last candidate that decided goes on as the first candidates of the
 *   next step, in order.  It may be passed over again and wait: over max_age steps it
 *   resolves as stale, unless it is complete without signal.  Unbiased, and the fastest
 *   policy; the price is groups of several policy versions.
 * - Without `dynamic`: exactly B candidates, all complete ones are trained.
 * - Failures.  A failed candidate resolves as not trainable.  If it was known by then,
 *   and so had helped to cut others, those count again: admission_launch names the
 *   cancelled ones a second time.
 * - Bill.  Tokens have their candidate's fate.  Complete and without signal is
 *   all_correct or all_wrong, wherever it stood: it could never have been trained.
 *   Complete, trainable and not in the batch is surplus; the rest is cancelled.
 */
#ifndef DAPO_ADMISSION_H
#define DAPO_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/group.h"

/* X(name, printed) - order of admission.refill's choices. */
#define REFILL_LIST(X)                                                           \
    X(STREAM, "stream") /* launch while P(needed) >= speculation; no barrier */  \
    X(WAVES, "waves")   /* launch what is missing, wait for all of it, repeat */ \
    X(FULL, "full")     /* launch full_multiplier * B, wait for all, repeat (verl) */
enum refill {
#define X(name, text) REFILL_##name,
    REFILL_LIST(X)
#undef X
        REFILL_COUNT
};

/* X(name, printed) - whose verdicts count first: admission.order. */
#define ORDER_LIST(X)                                                           \
    X(CANDIDATE, "candidate")   /* draw order: timing can't choose the batch */ \
    X(COMPLETION, "completion") /* who is complete first; biased to the short */
enum order_rule {
#define X(name, text) ORDER_##name,
    ORDER_LIST(X)
#undef X
        ORDER_COUNT
};

/* X(name, printed) - what becomes of groups behind the last trained one. */
#define SURPLUS_LIST(X)                                                             \
    X(DISCARD, "discard") /* billed as surplus or cancelled; prompts are redrawn */ \
    X(RESUME, "resume")   /* they go on as the next step's first candidates */
enum surplus {
#define X(name, text) SURPLUS_##name,
    SURPLUS_LIST(X)
#undef X
        SURPLUS_COUNT
};

/* X(name, printed) - why a step closed. */
#define CLOSED_LIST(X)                                                                 \
    X(OPEN, "open")                     /* not closed yet */                           \
    X(FULL, "full")                     /* B trainable groups */                       \
    X(MAX_CANDIDATES, "max_candidates") /* M*B candidates resolved, fewer trainable */ \
    X(DATA_EXHAUSTED, "data_exhausted") /* no prompt left to draw */                   \
    X(MAX_CANDIDATE_TOKENS, "max_candidate_tokens") /* the next would go over it */    \
    X(MAX_TRAIN_TOKENS, "max_train_tokens") /* the next to train would go over it */   \
    X(MAX_SECONDS, "max_seconds")           /* out of time: not a matter of order */   \
    X(STOPPED, "stopped")                   /* the run was asked to stop */
enum closed_by {
#define X(name, text) CLOSED_##name,
    CLOSED_LIST(X)
#undef X
        CLOSED_COUNT
};
const char *closed_text(enum closed_by c);

struct admission_config {
    int groups;             /* B >= 1 */
    int size;               /* G >= 1 (>= 2 if dynamic) */
    int64_t max_candidates; /* M*B >= B; 0 = no bound (strict, the paper's rule) */
    enum refill refill;
    int full_multiplier; /* refill = full: groups of a round over B, >= 1 */
    enum order_rule order;
    enum surplus surplus;         /* resume needs order = candidate, refill = stream */
    int max_age;                  /* resume: steps a group may have waited, >= 1 */
    int64_t max_candidate_tokens; /* budgets of a step, 0 = none */
    int64_t max_train_tokens;
    bool dynamic;           /* false: exactly B candidates, all trained (GRPO) */
    double speculation;     /* launch threshold in [0, 1] */
    double prior_trainable; /* P(trainable) before anything was seen, in (0, 1) */
    double prior_weight;    /* groups the prior is worth, > 0 */
};

/* What earlier visits say of a prompt; each class has its own estimates. */
#define HISTORY_LIST(X)                                                  \
    X(NEW, "new")             /* not visited */                          \
    X(ALL_WRONG, "all_wrong") /* the last visit's verdicts, all wrong */ \
    X(ALL_CORRECT, "all_correct")                                        \
    X(MIXED, "mixed")
enum history {
#define X(name, text) HISTORY_##name,
    HISTORY_LIST(X)
#undef X
        HISTORY_COUNT
};
/* The class after a visit with these verdicts (complete: finished = size). */
enum history history_after(int correct, int size);

struct admission; /* opaque */

/* 0, FAULT_CONFIG naming the field that is out of range, or FAULT_SYSTEM.  With a
 * bound, memory is taken here: 8 bytes per possible completion (M*B*G) and 32 per
 * candidate, and no event can run out of it.  Without one it grows as candidates are
 * launched; see admission_fault. */
int admission_new(struct admission **out, const struct admission_config *c,
                  struct fault *f);
void admission_free(struct admission *a);

/* Open a step with at most `available` prompts to draw, those of carried candidates
 * included (INT64_MAX: no end; 0 closes it at once).  Carried candidates may close it
 * at once too, and may have become stale: ask admission_cancel.  FAULT_BUG if the last
 * one is not settled or fewer prompts are available than were carried; FAULT_SYSTEM
 * after admission_fault. */
int admission_begin(struct admission *a, int64_t available, struct fault *f);

/* -- decisions --------------------------------------------------------------------- */
/* Whether to start a candidate now, given free slots with nobody waiting for them
 * (false if none).  If so *index is its number and it counts as started.
 *
 * Numbers are 0, 1, 2, ... without gaps, with one exception: after admission_failed a
 * candidate that was cancelled may be named again, once all its members are accounted
 * for.  Generate it anew; its earlier tokens stay billed as cancelled.
 *
 * With several replicas: ask once per start, for the replica with the most free slots
 * (a group of G may wait for some of its slots), take what was given out from that
 * replica's count, and stop at the first false: the answer depends on verdicts, not on
 * who asks. */
bool admission_launch(struct admission *a, int free_slots, int64_t *index);
/* What is known of the prompt of the candidate just launched; to be told before the
 * next call of admission_launch, else it is HISTORY_NEW (named again: what was told
 * first).  FAULT_BUG if it was never started or a member was reported. */
int admission_history(struct admission *a, int64_t index, enum history h,
                      struct fault *f);
/* The next candidate to cancel; false if there is none.  Each is named once per start.
 * All that is cut, failed or stale, and all that is unfinished and not carried when the
 * step closes, is named, unless every member is accounted for already. */
bool admission_cancel(struct admission *a, int64_t *index);
/* Whether the step is closed, and why; CLOSED_STOPPED before the first step.  Changes
 * only within admission_begin, _stop and the events below, or when memory runs out. */
enum closed_by admission_closed(const struct admission *a);
/* 0, or the FAULT_SYSTEM that closed the step (CLOSED_STOPPED) when there was no memory
 * for a candidate to launch: only without a bound.  Final: the next begin fails. */
int admission_fault(const struct admission *a, struct fault *f);
/* Close it from outside (CLOSED_MAX_SECONDS; all else is CLOSED_STOPPED): its batch is
 * that of the longest resolved prefix (in completion order: of the complete).  A step
 * that was decided and waits for the end of a full round closes by its own reason.  No
 * effect on a closed step. */
void admission_stop(struct admission *a, enum closed_by why);

/* -- events ------------------------------------------------------------------------ */
/* All return 0 or FAULT_BUG, which leaves everything as it was: an unknown candidate or
 * member, a member reported twice, tokens outside [0, INT32_MAX]. */

/* A member of a started candidate finished with this verdict and length.  After the
 * step closed, or for a cancelled or failed candidate, the tokens are still billed. */
int admission_finished(struct admission *a, int64_t index, int member, bool correct,
                       int64_t tokens, struct fault *f);
/* A member was cancelled after `tokens` tokens (0 if it never got a slot).  FAULT_BUG
 * unless admission_cancel named its candidate, or that failed or is stale, or the step
 * is closed and it is not carried. */
int admission_cut(struct admission *a, int64_t index, int member, int64_t tokens,
                  struct fault *f);
/* A member of the candidate, or all of it, could not be generated: the candidate
 * resolves as not trainable, and admission_cancel names it if others of its members are
 * out.  Report every member all the same, those that failed as cut, after this call (0
 * tokens if it never ran).  Again: no effect.  FAULT_BUG if the candidate is complete.
 */
int admission_failed(struct admission *a, int64_t index, struct fault *f);

/* -- the settled step -------------------------------------------------------------- */
/* True once the step is closed and every started member that is not carried is
 * accounted for (finished or cut): the ledger is final. */
bool admission_settled(const struct admission *a);
/* Fate of a started candidate of a closed step; FATE_COUNT if it never started or is
 * carried. */
enum fate admission_fate(const struct admission *a, int64_t index);
/* The trained candidates in candidate order; *n of them (may be fewer than B, or 0).
 * Final once the step is closed; valid until the next begin. */
const int64_t *admission_batch(const struct admission *a, int *n);
/* How far the cursor moves: candidates up to and including the last that decided the
 * batch (all of them in a step short of candidates; those before the one that broke a
 * budget, or it alone; all that were started with order = completion).  The prompts of
 * those behind are drawn again by the next step, or carried.  0 while the step is open,
 * and possibly in one that was stopped. */
int64_t admission_consumed(const struct admission *a);
/* Candidates started so far: the numbers are below it. */
int64_t admission_started(const struct admission *a);
/* surplus = resume: how many candidates [consumed, started) of a closed step go on; 0
 * with discard.  The next begin numbers them 0, 1, ... in the same order with the
 * verdicts they have, so candidate i is still the prompt at cursor + i; they count
 * towards its M*B and budgets.  Do not cut their members: report those that finish,
 * under the old number up to the next begin and under the new one after it.  A member's
 * tokens are reported once, in full, when it ends. */
int64_t admission_carried(const struct admission *a);
/* Tokens of the members of carried candidates that were reported: before this step
 * (`in`), and by now (`out`, 0 while the step is open).  The bill with them: tokens
 * reported in this step + in = sum of the ledger + out. */
void admission_carried_tokens(const struct admission *a, int64_t *in, int64_t *out);
/* Tokens by fate; their sum is every token reported (invariant 1).  While the step is
 * open, what is not complete stands under cancelled and nothing under trained. */
void admission_ledger(const struct admission *a, int64_t tokens[FATE_COUNT]);

/* -- the state between steps ------------------------------------------------------- */
/* Groups of the open step that are known to be trainable, at most B: the progress. */
int64_t admission_known(const struct admission *a);
/* q[k] = P(trainable | the first k verdicts were equal), k in [0, G), over all classes
 * of history; fixed within a step.  q[0] is the share of trainable groups. */
double admission_estimate(const struct admission *a, int k);
/* The same of one class: what the launch rule goes by. */
double admission_estimate_of(const struct admission *a, enum history h, int k);
/* The counts behind the estimates and the carried candidates' verdicts, lengths and
 * ages, for checkpoints: [n] doubles, n = admission_state_size, which grows with
 * admission_carried.  The counts follow only candidates that decided a batch, in
 * candidate order, so they do not depend on timing either.  Set between steps
 * (FAULT_BUG within one): the next begin then carries what the state holds, whose
 * members that were not reported are still awaited.  FAULT_DATA if the numbers are no
 * such state: they are not trusted.  FAULT_SYSTEM. */
int admission_state_size(const struct admission *a);
void admission_state_get(const struct admission *a, double *state);
int admission_state_set(struct admission *a, const double *state, int n,
                        struct fault *f);

#endif
