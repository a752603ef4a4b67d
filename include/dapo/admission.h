/* admission.h - dynamic sampling: candidates, budgets, order, fates, the token ledger.
 *
 * Pure: no MPI, no clock, no I/O.  Events go in (a member finished, slots are free),
 * decisions come out (start this candidate, cancel those, the step is full), so the
 * same code runs under MPI, in tests with virtual replicas and, later, in simulations.
 *
 * A step wants B trainable groups (0 < correct < G) of at most max_candidates.  The
 * batch is the first B trainable candidates in candidate order: the step is full when B
 * are complete and every smaller index is resolved too.  Nothing but verdicts in
 * candidate order and the budgets can change it (invariant 2).
 * Source: Yu et al., DAPO, arXiv:2503.14476, eq. 11 (the constraint); launch rule and
 * cut as README "How it works".
 */
#ifndef DAPO_ADMISSION_H
#define DAPO_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/group.h"

/* X(name, printed) - order of admission.refill's choices. */
#define REFILL_LIST(X)                                                          \
    X(STREAM, "stream") /* launch while P(needed) >= speculation; no barrier */ \
    X(WAVES, "waves")   /* launch what is missing, wait for all of it, repeat */
enum refill {
#define X(name, text) REFILL_##name,
    REFILL_LIST(X)
#undef X
        REFILL_COUNT
};

/* X(name, printed) - why a step closed. */
#define CLOSED_LIST(X)                                                                 \
    X(OPEN, "open")                     /* not closed yet */                           \
    X(FULL, "full")                     /* B trainable groups */                       \
    X(MAX_CANDIDATES, "max_candidates") /* M*B candidates resolved, fewer trainable */ \
    X(DATA_EXHAUSTED, "data_exhausted") /* no prompt left to draw */                   \
    X(STOPPED, "stopped")               /* the run was asked to stop */
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
    int64_t max_candidates; /* M*B >= B */
    enum refill refill;
    bool dynamic;           /* false: exactly B candidates, all trained (GRPO) */
    double speculation;     /* launch threshold in [0, 1] */
    double prior_trainable; /* P(trainable) before anything was seen, in (0, 1) */
    double prior_weight;    /* groups the prior is worth, > 0 */
};

struct admission; /* opaque */

int admission_new(struct admission **out, const struct admission_config *c,
                  struct fault *f);
void admission_free(struct admission *a);

/* Open a step with at most `available` prompts to draw (INT64_MAX: no end). */
int admission_begin(struct admission *a, int64_t available, struct fault *f);

/* -- decisions --------------------------------------------------------------------- */
/* Whether to start a candidate now, given free slots with nobody waiting for them
 * (> 0).  If so *index is its number (0, 1, 2, ... without gaps) and it counts as
 * started. */
bool admission_launch(struct admission *a, int free_slots, int64_t *index);
/* The next candidate to cancel (each is named once); false if there is none.  All that
 * is cut or unfinished when the step closes is named. */
bool admission_cancel(struct admission *a, int64_t *index);
/* Whether the step is closed, and why. */
enum closed_by admission_closed(const struct admission *a);
/* Close it from outside (CLOSED_STOPPED). */
void admission_stop(struct admission *a);

/* -- events ------------------------------------------------------------------------ */
/* A member of a started candidate finished with this verdict and length.  After the
 * step closed, or for a cancelled candidate, the tokens are still billed.  FAULT_BUG on
 * an unknown candidate, a member twice. */
int admission_finished(struct admission *a, int64_t index, int member, bool correct,
                       int64_t tokens, struct fault *f);
/* A member was cancelled after `tokens` tokens (0 if it never got a slot). */
int admission_cut(struct admission *a, int64_t index, int member, int64_t tokens,
                  struct fault *f);
/* A candidate could not be generated; it resolves as not trainable. */
int admission_failed(struct admission *a, int64_t index, struct fault *f);

/* -- the settled step -------------------------------------------------------------- */
/* True once the step is closed and every started member is accounted for (finished,
 * cut or failed): the ledger is final. */
bool admission_settled(const struct admission *a);
/* Fate of a started candidate of a closed step. */
enum fate admission_fate(const struct admission *a, int64_t index);
/* The trained candidates in candidate order; *n of them (may be fewer than B, or 0). */
const int64_t *admission_batch(const struct admission *a, int *n);
/* How far the cursor moves: candidates up to and including the last that decided the
 * batch; the prompts of those behind it are drawn again by the next step. */
int64_t admission_consumed(const struct admission *a);
int64_t admission_started(const struct admission *a);
/* Tokens by fate; their sum is every token reported (invariant 1). */
void admission_ledger(const struct admission *a, int64_t tokens[FATE_COUNT]);

/* Running estimates of P(trainable | k equal verdicts so far), carried between steps
 * and in checkpoints: [n] doubles, *n = admission_state_size.  They follow only
 * candidates that decided a batch, in candidate order, so they do not depend on timing
 * either. */
int admission_state_size(const struct admission *a);
void admission_state_get(const struct admission *a, double *state);
int admission_state_set(struct admission *a, const double *state, struct fault *f);

#endif
