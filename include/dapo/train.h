/* train.h - the step loop that joins the modules, and the jobs built from its parts.
 *
 * A step: evaluate if due; candidates are generated and admitted over ticks; admitted
 * groups are delivered to the learners; updates; weights are published; the step file
 * is written; a checkpoint if due.  Every rank of the world calls every function ending
 * in _all; a fault of one rank is everyone's.
 */
#ifndef DAPO_TRAIN_H
#define DAPO_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/comm.h"
#include "dapo/config.h"
#include "dapo/fault.h"

/* Train by the job: 0 when done (the log says why: steps, data or short_batch),
 * FAULT_STOPPED after a signal and a clean save. */
int train_run_all(struct comm *c, const struct config *cfg, struct fault *f);

/* Supervised training (dapo sft) on data.train rows that have a "solution": run.steps
 * updates of sft.batch examples, all ranks learn; writes the model to sft.out, merged
 * where an adapter was trained, which then is in sft.out/adapter.  Stopped between two
 * updates as train_run_all is between two steps it saves a checkpoint in
 * run.dir/NAME.sft and returns FAULT_STOPPED; the same job goes on from there, and
 * removes the folder when it is done. */
int train_supervised_all(struct comm *c, const struct config *cfg, struct fault *f);

/* Evaluation of model.path on data.eval (dapo eval). */
struct eval_result {
    int64_t problems, completions; /* problems, samples * problems */
    double average_at_n;           /* accuracy over completions */
    double pass_at_n;              /* problems with at least one right completion */
    double found_rate;             /* completions in which an answer was found */
    double truncated_rate;         /* completions that hit rollout.max_tokens */
    double mean_tokens;
    double seconds;
};
/* `rows`: file for one JSON line per problem (id, correct, found, samples, tokens),
 * NULL for none; rank 0 writes it. */
int train_evaluate_all(struct comm *c, const struct config *cfg, const char *rows,
                       struct eval_result *out, struct fault *f);

/* What a job will need, without running it (dapo plan).  Local; reads model.path's
 * config.json only.  Memory is of the CPU backend, at full length: every sequence as
 * long as allowed, every candidate generated.  Allocator, MPI and code come on top. */
struct plan {
    int64_t groups, max_candidates; /* per step */
    bool unbounded; /* admission.strict: there may be more candidates than that */
    int64_t completions, candidate_completions; /* of these */
    int64_t updates;                            /* per step */
    int64_t max_prompt, max_completion;         /* tokens of one */
    int64_t learners, replicas;                 /* ranks; one rank alone is both */
    double params;                              /* values of the model */
    double trained, adapted; /* trained values; those of matrices with an adapter */
    double learner_bytes, rollout_bytes; /* per rank; the same if one is both */
    double activation_bytes;             /* of learner_bytes: forward and backward */
    double kv_bytes; /* of rollout_bytes; with data.eval once more; states, too */
    double step_file_bytes; /* the largest: every candidate at full length */
    double checkpoint_bytes;
    double run_bytes, run_files; /* of all steps, and of the checkpoints kept */
};
/* `ranks` >= 1.  FAULT_CONFIG if the job can't run: no rank left to generate, sequences
 * over the model's positions or the cache, or a rank over `memory` bytes (0 = not
 * checked); FAULT_FILE if model.path is not here; FAULT_DATA for its config.json. */
int train_plan(const struct config *cfg, int64_t ranks, double memory, struct plan *out,
               struct fault *f);

struct doctor_job; /* doctor.h */
/* What a job of `ranks` ranks asks of the place it runs in: all of *out but dir and
 * broken.  Returns as train_plan; what is known without it is filled in whatever that
 * says. */
int train_needs(const struct config *cfg, int64_t ranks, struct doctor_job *out,
                struct fault *f);

struct lora_config; /* model.h */
/* The adapter that the job trains, in *out; false if it trains the whole model. */
bool train_adapter(const struct config *c, struct lora_config *out);

struct admission_config; /* admission.h */
/* What the job's settings ask of admission. */
void train_policy(const struct config *c, struct admission_config *out);
/* Most candidates the root starts, and most it cancels, in one tick. */
int train_most_starts(int replicas);

/* The setting may differ between a run and its resumption ("section.key"). */
bool train_may_change(const char *setting);
/* From here on SIGTERM and SIGUSR1 to any rank are such requests. */
void train_catch_signals(void);
/* Ask the run to stop after a clean save: what the signal handlers do.  Idempotent. */
void train_request_stop(void);

#endif
