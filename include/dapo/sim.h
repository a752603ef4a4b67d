/* sim.h - what a policy of admission costs: virtual replicas on a virtual clock.
 *
 * The decisions are those of admission.h, the very code that a run uses; only the
 * machine and the completions are virtual.  Pure: no MPI; files only where a workload
 * is read from one.
 *
 * How it works: the machine.  R replicas of S slots decode in lock step, as ticks make
 * them: an iteration gives one token to every busy slot, and costs what it costs on the
 * busiest replica,
 *     t(A) = fixed_s + each_s * A = t0 * (1 + A / h)   seconds,
 * where A are its busy slots, t0 = fixed_s and h = fixed_s / each_s: the number of
 * sequences at which an iteration takes twice as long as with none.  Members wait for a
 * slot of the replica their candidate was given to, in the order of submission, and
 * start in the iteration after it became free.  Prefill, grading, learning, publishing
 * and files take no time.
 *
 * When it decides:
 * - ideal (slice = 0): after every iteration in which a member finished, and is obeyed
 *   at once.  With one replica this is the machine of a whole pool of slots.
 * - as a job does (slice > 0): once per tick, that is after every `slice` iterations;
 *   what is decided after slice k is obeyed before slice k + lag, and the root knows
 *   only what was reported.  A tick takes as long as its slice, but no less than
 *   tick_s / lag (replicas with nothing to decode wait for the decision on its way).
 *
 * Draws are keyed by draw number, so every policy meets the same prompts with the same
 * completions, and differences between policies are those of the policies.
 */
#ifndef DAPO_SIM_H
#define DAPO_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/admission.h"
#include "dapo/fault.h"
#include "dapo/group.h"

/* -- where completions come from --------------------------------------------------- */

struct sim_member {
    int tokens;   /* its length if it is decoded to the end, >= 1 */
    bool correct; /* its verdict then */
    bool drawn;   /* replay: not recorded, drawn from the run's statistics */
};

/* A supply of candidates, numbered as they are drawn: number = cursor + index. */
struct sim_source {
    void *context;
    /* Fill the G members of candidate `number`, as step `step` (from 0) generates it;
     * *prompt, in [0, prompts), says whose it is.  The same arguments, the same
     * members. 0 or a fault. */
    int (*draw)(void *context, int64_t step, int64_t number, struct sim_member *members,
                int64_t *prompt, struct fault *f);
    int64_t available; /* candidates there are in all; INT64_MAX: no end */
    int64_t prompts; /* different prompts; 0: none is met twice, *prompt is not read */
    int size;        /* G */
    int max_tokens;  /* a completion of this length counts as truncated */
};

/* -- one simulation ---------------------------------------------------------------- */

struct sim_machine {
    int replicas, slots;    /* R, S; both >= 1 */
    double fixed_s, each_s; /* t(A), seconds; >= 0 and not both 0 */
    int slice;              /* iterations between ticks; 0 = ideal */
    int lag;                /* slice > 0: ticks from a report to the obeying, >= 1 */
    int most_starts;        /* slice > 0: candidates one decision can start, >= 1 */
    double tick_s;          /* slice > 0: round trip of a tick, seconds */
    double max_seconds;     /* the budget of a step; 0 = none */
};

/* One step.  Tokens are those decoded in it. */
struct sim_step {
    enum closed_by closed;
    int groups;                 /* trained */
    int64_t started, consumed;  /* candidates; without those that go on */
    double seconds;             /* from its beginning until it is settled */
    int64_t iterations, ticks;  /* decode iterations of the busiest; ticks (0: ideal) */
    int64_t rounds;             /* times candidates were started with none under way */
    int64_t decoded;            /* tokens */
    int64_t tokens[FATE_COUNT]; /* admission's ledger of the step */
    int64_t stale;              /* trained groups that an earlier step launched */
    int64_t sequences, truncated;  /* trained completions; those of full length */
    double length, length_squared; /* sums over trained groups of mean length, tokens */
    int64_t drawn_groups;          /* launched in this step with drawn members */
    int64_t drawn_tokens;          /* of `decoded`, by drawn members */
};

struct sim; /* opaque */

/* 0; FAULT_CONFIG for a machine or policy out of range; FAULT_SYSTEM.  `s` is copied,
 * its context stays the caller's. */
int sim_new(struct sim **out, const struct admission_config *a,
            const struct sim_machine *m, const struct sim_source *s, struct fault *f);
void sim_free(struct sim *s);
/* Candidates are counted from `cursor` on (a resumed run); before the first step. */
void sim_seek(struct sim *s, int64_t cursor);
/* Simulate one step.  FAULT_BUG if admission neither starts nor ends it. */
int sim_step(struct sim *s, struct sim_step *out, struct fault *f);
/* Draw numbers of the groups trained in the last step, in the batch's order. */
const int64_t *sim_batch(const struct sim *s, int *n);
/* No candidate is left to draw. */
bool sim_exhausted(const struct sim *s);

/* -- figures over many steps ------------------------------------------------------- */

struct sim_figures {
    int64_t steps, short_steps; /* those that trained fewer than B groups */
    int64_t groups, started, stale, sequences, truncated;
    double seconds;
    int64_t iterations, ticks, decoded;
    int64_t worst_rounds; /* most of any step: waves, where refill = waves */
    int64_t tokens[FATE_COUNT];
    double length, length_squared;
    int64_t drawn_groups, drawn_tokens;
};
/* groups_wanted: B. */
void sim_add(struct sim_figures *t, const struct sim_step *s, int groups_wanted);
/* Seconds per B trained groups: short steps are paid for by the full ones.  This and
 * the next are NaN if nothing was trained. */
double sim_step_seconds(const struct sim_figures *t, int groups_wanted);
/* Mean length of the trained groups, and its standard error (groups as independent). */
double sim_mean_length(const struct sim_figures *t, double *error);
/* Busy slots over all slots, while iterations ran. */
double sim_occupancy(const struct sim_figures *t, const struct sim_machine *m);

/* -- bounds ------------------------------------------------------------------------ */

/* Seconds of a step that no policy can beat, means over `steps` steps of the patient
 * sampler that takes candidates in order until B are trainable (or max_candidates were
 * taken, if > 0).  With W tokens in the groups generated, the longest of L tokens,
 *     T = max(L, W / (R S)) * fixed_s + W / R * each_s.
 *   oracle   only the B trained groups: for who foresees verdicts and lengths
 *   blind    also the groups without signal before the B-th: for who can't foresee
 *   overlap  blind without L: for who may also let steps overlap (surplus = resume)
 * per B trained groups, as sim_step_seconds.  FAULT_DATA if none is trainable. */
struct sim_bounds {
    double oracle, blind, overlap;
};
int sim_bounds(struct sim_bounds *out, const struct sim_source *s,
               const struct sim_machine *m, int groups, int64_t max_candidates,
               int64_t cursor, int64_t steps, struct fault *f);

/* -- workloads --------------------------------------------------------------------- */

/* Prompts and completions by law, or as recorded.
 *
 * Pass rates.  `rates` NULL: p ~ a Beta(2,2) + (1-a)/2 Beta(.2,4) + (1-a)/2 Beta(4,.2),
 * a such that a group of `trainable_size` is trainable with probability `trainable`;
 * each verdict is right with probability p.  Else a JSON file {"prompt": [accuracy at
 * each visit], ...}: prompts come in seeded permutations per epoch, the n-th time with
 * the n-th accuracy (from the first again behind the last).  Accuracies that are
 * multiples of 1/G say exactly how many are right.  If they are multiples of 1/k for
 * another k up to 64, p ~ Beta(x + 1/2, k - x + 1/2) with x of k right; else they are
 * p.
 *
 * Lengths.  `lengths` NULL: log L = log(median) + slope (1/2 - p) + between N_group +
 * within N_member, N standard normal: hard prompts are longer, and a group's
 * completions alike.  Else a CSV file with columns problem_idx, correct and tokens: a
 * group gets one of the problems whose share of right samples is nearest to p, a member
 * the length of one of its samples with the same verdict (of any, if there is none).
 * Rounded and clamped to 1..max_tokens. */
struct sim_work_config {
    int size;       /* G */
    int max_tokens; /* T */
    uint64_t seed;
    double trainable; /* in (0, 1) */
    int trainable_size;
    double median, between, within, slope;
    int64_t prompts;   /* by law: different prompts, met in turn; 0 = no end of them */
    const char *rates; /* path or NULL */
    const char *lengths;
};
struct sim_work; /* opaque */
/* FAULT_CONFIG if `trainable` is out of the mixture's reach or a number out of range;
 * FAULT_FILE, FAULT_DATA for the files. */
int sim_work_new(struct sim_work **out, const struct sim_work_config *c,
                 struct fault *f);
void sim_work_free(struct sim_work *w);
/* Valid until sim_work_free. */
struct sim_source sim_work_source(struct sim_work *w);

/* What a source is like: over its first `groups` candidates. */
struct sim_law {
    double trainable;        /* share of groups */
    double length;           /* mean, tokens */
    double trainable_length; /* mean over trainable groups; NaN if there is none */
    double truncated;        /* share of the trainable groups' completions */
};
int sim_law(struct sim_law *out, const struct sim_source *s, int64_t groups,
            struct fault *f);

/* -- decode speed ------------------------------------------------------------------ */

/* Least squares of seconds[i] = fixed_s * iterations[i] + each_s * tokens[i] with both
 * >= 0, over n observations (steps of a run: replica seconds in decoding, iterations
 * and tokens summed over replicas).  *error: root mean square of the relative
 * residuals.  FAULT_DATA if nothing can be fitted. */
struct sim_speed {
    double fixed_s, each_s, error;
};
int sim_fit(struct sim_speed *out, const double *iterations, const double *tokens,
            const double *seconds, int n, struct fault *f);

/* -- a recorded run as a source ---------------------------------------------------- */

/* A recorded candidate; its G members stand at [first, first + G) of `members`. */
struct sim_record_group {
    int64_t prompt; /* row of the prompt file, >= 0 */
    int64_t first;
};
struct sim_record_member {
    int tokens;          /* decoded; its length if it ended by itself, then >= 1 */
    bool ended, correct; /* it did; its verdict then */
};
/* A step: its candidates [first, first + n) of `groups` had the draw numbers cursor,
 * cursor + 1, ...; the first `consumed` of them decided its batch. */
struct sim_record_step {
    int64_t cursor, consumed, first, n;
};
struct sim_record { /* plain data; steps ascending, without gaps */
    int size, max_tokens;
    int64_t n_steps, n_groups, n_members;
    struct sim_record_step *steps;
    struct sim_record_group *groups;
    struct sim_record_member *members;
};

/* Candidates as the run had them: a number as the same step generated it, else as the
 * step that consumed it did.  What is not recorded is drawn from the run's completions:
 * - a member that was cut after c tokens becomes one that was longer than c, of the
 * same prompt if one was recorded, else of any (of none: max_tokens, wrong);
 * - a number that no step started becomes a whole complete group, drawn at random.
 * `r` stays the caller's and must outlive it.  FAULT_DATA if no group is complete, or
 * if the record contradicts itself. */
struct sim_tape; /* opaque */
int sim_tape_new(struct sim_tape **out, const struct sim_record *r, uint64_t seed,
                 struct fault *f);
void sim_tape_free(struct sim_tape *t);
/* From draw number steps[0].cursor on; its prompts are numbered anew. */
struct sim_source sim_tape_source(struct sim_tape *t);

#endif
