/* admission.h - dynamic sampling: candidates, budgets, order, fates, the token ledger.
 *
 * Pure: no MPI, no clock, no I/O.  Events go in (a member finished, slots are free),
 * decisions come out (start this candidate, cancel those, the step is full), so the
 * same code runs under MPI, in tests with virtual replicas and, later, in simulations.
 *
 * How it works: admission.  A step wants B trainable groups (0 < correct < G, the
 * constraint of eq. 11 in Yu et al., DAPO, arXiv:2503.14476) of at most M*B candidates.
 *
 * - Order.  Candidates are numbered as they are drawn.  One is *resolved* when all G
 *   verdicts are in, or when it failed.  The batch is the first B trainable ones in
 *   this order; the step is full when the longest resolved prefix holds B.  That is
 *   what a patient sampler that generates one candidate at a time would train, whatever
 *   the replicas, slots, latencies and `speculation` were (invariant 2).
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
 * - A short step (max_candidates, data_exhausted) trains what it found, be it nothing.
 * - Waves (`refill = waves`): start what is missing, wait for all of it, repeat; at
 *   worst 1 + (M-1)*B waves.  Never a surplus, but slots idle at each wave's end.
 * - Without `dynamic`: exactly B candidates, all complete ones are trained.
 * - Failures.  A failed candidate resolves as not trainable.  If it was known by then,
 *   and so had helped to cut others, those count again: admission_launch names the
 *   cancelled ones a second time.
 * - Bill.  Tokens have their candidate's fate.  Complete and without signal is
 *   all_correct or all_wrong, wherever it stood: it could never have been trained.
 *   Complete, trainable, behind the last one needed is surplus; the rest is cancelled.
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
    int64_t max_candidates; /* M*B >= B; 0 = no bound (strict) */
    enum refill refill;
    int full_multiplier; /* refill = full: groups of a round over B, >= 1 */
    enum order_rule order;
    enum surplus surplus;         /* resume needs order = candidate, refill = stream */
    int max_age;                  /* resume: steps a group may have waited, >= 1 */
    int64_t max_candidate_tokens; /* budgets of a step, 0 = none; see below */
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

/* 0, FAULT_CONFIG naming the field that is out of range, or FAULT_SYSTEM.  Memory is
 * taken here, 10 bytes per possible completion (M*B*G) and 32 per candidate: no event
 * can run out of it. */
int admission_new(struct admission **out, const struct admission_config *c,
                  struct fault *f);
void admission_free(struct admission *a);

/* Open a step with at most `available` prompts to draw (INT64_MAX: no end; 0 closes it
 * at once).  FAULT_BUG if the last one is not settled. */
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
 * next call of admission_launch, else it is HISTORY_NEW.  FAULT_BUG if it has verdicts.
 */
int admission_history(struct admission *a, int64_t index, enum history h,
                      struct fault *f);
/* The next candidate to cancel; false if there is none.  Each is named once per start.
 * All that is cut or failed, and all that is unfinished when the step closes, is named,
 * unless every member is accounted for already. */
bool admission_cancel(struct admission *a, int64_t *index);
/* Whether the step is closed, and why; CLOSED_STOPPED before the first step.  Changes
 * only within admission_begin, _stop and the events below. */
enum closed_by admission_closed(const struct admission *a);
/* 0, or the FAULT_SYSTEM that closed the step. */
int admission_fault(const struct admission *a, struct fault *f);
/* Close it from outside (CLOSED_STOPPED or CLOSED_MAX_SECONDS): its batch is that of
 * the longest resolved prefix.  No effect on a closed step. */
void admission_stop(struct admission *a, enum closed_by why);

/* -- events ------------------------------------------------------------------------ */
/* All return 0 or FAULT_BUG, which leaves everything as it was: an unknown candidate or
 * member, a member reported twice, negative tokens. */

/* A member of a started candidate finished with this verdict and length.  After the
 * step closed, or for a cancelled or failed candidate, the tokens are still billed. */
int admission_finished(struct admission *a, int64_t index, int member, bool correct,
                       int64_t tokens, struct fault *f);
/* A member was cancelled after `tokens` tokens (0 if it never got a slot).  FAULT_BUG
 * unless admission_cancel named its candidate, or that failed, or the step is closed.
 */
int admission_cut(struct admission *a, int64_t index, int member, int64_t tokens,
                  struct fault *f);
/* A member of the candidate, or all of it, could not be generated: the candidate
 * resolves as not trainable, and admission_cancel names it if others of its members are
 * out.  Report every member all the same, those that failed as cut, after this call (0
 * tokens if it never ran).  Again: no effect.  FAULT_BUG if the candidate is complete.
 */
int admission_failed(struct admission *a, int64_t index, struct fault *f);

/* -- the settled step -------------------------------------------------------------- */
/* True once the step is closed and every started member is accounted for (finished or
 * cut): the ledger is final. */
bool admission_settled(const struct admission *a);
/* Fate of a started candidate of a closed step; FATE_COUNT if it never started. */
enum fate admission_fate(const struct admission *a, int64_t index);
/* The trained candidates in candidate order; *n of them (may be fewer than B, or 0).
 * Final once the step is closed; valid until the next begin. */
const int64_t *admission_batch(const struct admission *a, int *n);
/* How far the cursor moves: candidates up to and including the last that decided the
 * batch (all of them in a short step); the prompts of those behind it are drawn again
 * by the next step.  0 while the step is open. */
int64_t admission_consumed(const struct admission *a);
/* Candidates started so far: the numbers are below it. */
int64_t admission_started(const struct admission *a);
/* surplus = resume: the candidates [consumed, started) of a closed step go on: the next
 * begin numbers them 0, 1, ... in the same order with the verdicts they have, and
 * resolves those over max_age as FATE_STALE.  How many there are; 0 with discard, and
 * for the caller's members: do not cut them, report those that finish from then on in
 * the next step.  A member's tokens are reported once, in full, when it ends. */
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
/* q[k] = P(trainable | the first k verdicts were equal), k in [0, G); fixed within a
 * step.  q[0] is the share of trainable groups, worth a metric. */
double admission_estimate(const struct admission *a, int k);
/* The same of a class of history. */
double admission_estimate_of(const struct admission *a, enum history h, int k);
/* The counts behind the estimates and the carried candidates' verdicts, for
 * checkpoints: [n] doubles, *n = admission_state_size.  They follow only candidates
 * that decided a batch, in candidate order, so they do not depend on timing either. Set
 * between steps (FAULT_BUG within one); FAULT_DATA if the numbers are no counts. */
int admission_state_size(const struct admission *a);
void admission_state_get(const struct admission *a, double *state);
int admission_state_set(struct admission *a, const double *state, int n,
                        struct fault *f);

#endif
