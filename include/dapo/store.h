/* store.h - the run directory: step files, checkpoints, the index.
 *
 * Parallel HDF5.  A file is written under a temporary name by all ranks together,
 * closed, synced and renamed, so whatever carries its final name is complete (invariant
 * 7).  No variable-length types; no write of over 1 GiB per call.  Every file has the
 * attributes schema, kind ("step", "checkpoint"), the identity and complete = 1; its
 * metadata carry HDF5's checksums.  Layout: README "What comes out", DESIGN section 7.
 *
 * Failures are agreed on: the same code and sentence on all ranks, FAULT_FILE for what
 * the operating system refuses, FAULT_DATA for a file that isn't what it should be; the
 * temporary file is removed and whatever was there before stays.  Room is reserved
 * before writing, so a full disk is such a failure.  Only if the disk fails so badly
 * that HDF5 can't even close the file does the job end at once (exit status
 * FAULT_FILE).
 */
#ifndef DAPO_STORE_H
#define DAPO_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/comm.h"
#include "dapo/fault.h"
#include "dapo/group.h"

struct model_tensor; /* model.h */

#define STORE_SCHEMA 1

struct store; /* opaque */

/* Make or open the run directory DIR (rollouts/ and checkpoints/ in it).  Leftover
 * temporary files of a killed run are removed.  FAULT_FILE where another job has DIR
 * open so (DIR/lock, which says who; where the file system has locks). */
int store_open_all(struct store **out, struct comm *c, const char *dir,
                   struct fault *f);
/* Open an existing run directory to read from it: nothing is made or removed, so a job
 * may be writing into it meanwhile.  FAULT_FILE if it isn't one. */
int store_view_all(struct store **out, struct comm *c, const char *dir,
                   struct fault *f);
void store_close_all(struct store *s);

/* Identity of a run: what must agree on resume and is written into every file. */
struct identity {
    char config[33];    /* hash of the settings that may not change */
    char tokenizer[33]; /* hashes in hexadecimal */
    char data[33];
    char model[33];  /* hash of config.json's hyperparameters and the tensor table */
    char grader[32]; /* reward_version */
    char build[64];  /* build id */
};

struct metric {
    char name[64]; /* "rollout/effective_fill_ratio" */
    double value;
};

/* -- step files
 * ---------------------------------------------------------------------------- */
struct step_record {
    int64_t step, policy_version;
    const char *closed_by;
    const struct identity *identity;
    int n_metrics;
    const struct metric *metrics;      /* same on all ranks (rank 0's are written) */
    int64_t ledger_tokens[FATE_COUNT]; /* whole step */
    double ledger_seconds[FATE_COUNT];
    int n_groups;
    const struct group *const *groups; /* this rank's, fates settled */
    bool spans; /* groups may span steps: also write born_step, born_index, n_carried
                   and each token's policy_version (same on all ranks) */
};
/* Write rollouts/step-NNNNNN.h5, candidates in candidate order whatever ranks they came
 * from: equal groups give equal bytes on any number of ranks.  Everything but the
 * groups is taken from rank 0.  Checks invariant 1 (tokens = sum over fates): FAULT_BUG
 * otherwise, as for a candidate recorded twice, an unknown fate or finish, a metric
 * whose name isn't words of [a-zA-Z0-9_.-] between single slashes.  A file of this step
 * that is there already is replaced. */
int store_step_all(struct store *s, const struct step_record *r, struct fault *f);

/* -- checkpoints
 * ------------------------------------------------------------------------------ */
/* Bytes that one rank brings, such as a group that goes on in the next step. */
struct parcel {
    int64_t number; /* in the checkpoint */
    size_t n;       /* bytes, at most 1 GiB */
    void *data;
};
struct checkpoint {
    int64_t step;    /* steps done */
    int64_t updates; /* policy version */
    int64_t cursor;  /* prompts consumed */
    int64_t n_params;
    float *params, *moment1, *moment2; /* [n_params] whole arrays on every learner; on
                                        * read, moments are filled on learners only,
                                        * params on all ranks */
    /* train.max_staleness = 1: the weights that generate the next step, [n_params], on
     * every learner; on read, into those ranks' that want them.  previous_updates: the
     * updates in them; -1: there are none, `params` generate it. */
    float *previous;
    int64_t previous_updates;
    int n_tensors; /* rows of the tensor table, for readers; write only */
    const struct model_tensor *tensors;
    int n_state;
    double *state; /* admission estimates */
    int n_parcels; /* this rank's; numbers 0, 1, ... over all ranks; write only */
    const struct parcel *parcels;
    const struct identity *identity;
    const char *config; /* resolved job file */
};
/* Write checkpoints/step-NNNNNN.h5, then checkpoints/latest, a line with its name.
 * Learners (rank 0 while there are no roles) write slices of their arrays, each piece
 * of 4 MiB under an XXH3; all else is rank 0's, under a checksum of its own.  The
 * closed file is read back against them before it gets its name, from what the system
 * holds of it and while the disk is at work on it: that finds what went wrong on the
 * way into the file; a disk that loses what it took is found out on resume.  The bytes
 * don't depend on the number of learners. */
int store_checkpoint_all(struct store *s, const struct checkpoint *k, struct fault *f);
/* Step of the newest complete checkpoint; -1 if there is none.  Newest is the one
 * written last (they carry serial numbers), not the one of the highest step: after
 * going back to an earlier step those two differ.  Files that don't open or are called
 * as another step's, and a `latest` that names a missing one are passed over with a
 * warning; no memory to read one is a fault. */
int store_latest_all(struct store *s, int64_t *step, struct fault *f);
/* Sizes and identity first, so that the caller can refuse and allocate (k->identity is
 * then id, the arrays NULL); then the rest, into k->state [n_state] on all ranks and
 * into those of params, moment1 and moment2 that aren't NULL on this rank.  k->n_params
 * and k->n_state must be the file's: FAULT_DATA.  Ranks that want an array share the
 * reading; every value is checked against its checksum: FAULT_DATA naming file and
 * dataset. */
int store_checkpoint_head_all(struct store *s, int64_t step, struct checkpoint *k,
                              struct identity *id, struct fault *f);
int store_checkpoint_read_all(struct store *s, int64_t step, struct checkpoint *k,
                              struct fault *f);
/* Parcels of a checkpoint: each rank reads the `n` it wants by their numbers into new
 * memory (the caller's, after a fault too).  *total is how many there are. */
int store_parcels_all(struct store *s, int64_t step, struct parcel *want, int n,
                      int64_t *total, struct fault *f);
/* The resolved job file a checkpoint was written under, in a new string. */
int store_checkpoint_config_all(struct store *s, int64_t step, char **text,
                                struct fault *f);
/* Delete all checkpoints but the newest `keep` (0 = keep all) and those of every
 * `every`-th step (0 = none). */
int store_retain_all(struct store *s, int keep, int64_t every, struct fault *f);

/* The run is over and nothing will go on from it: delete its checkpoints, and the
 * directory if nothing else of value is in it. */
int store_discard_all(struct store *s, struct fault *f);

/* A run that went back to an earlier step and is saved again has another history: move
 * the step files of later steps than `step` to rollouts/abandoned/, where they are no
 * longer part of the run.  Their tokens were paid for, so they are kept, also beside
 * those of a branch left before (step-NNNNNN.h5.2 ...). */
int store_set_aside_all(struct store *s, int64_t step, struct fault *f);

/* Rebuild run.h5 from the step files present: external links and a metric table
 * [step][metric].  Rank 0 works, all agree. */
int store_index_all(struct store *s, struct fault *f);

struct inspect_findings; /* inspect.h */

/* Put a run directory in order after damage, never deleting or rewriting what is there:
 * files found damaged move to DIR/damaged/, below their own folder's name; `latest`
 * names the newest whole checkpoint; the index is rebuilt.  `x` is what
 * inspect_check_run found in it, on rank 0. */
int store_repair_all(struct store *s, const struct inspect_findings *x,
                     struct fault *f);

#endif
