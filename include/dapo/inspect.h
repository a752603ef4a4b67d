/* inspect.h - reading a run's files from one process, without MPI and without a run.
 *
 * Everything is local.  Files are untrusted: what is read is checked as on resume.
 * FAULT_FILE if a path can't be opened, FAULT_DATA if it isn't what it should be.
 */
#ifndef DAPO_INSPECT_H
#define DAPO_INSPECT_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/group.h"
#include "dapo/model.h"
#include "dapo/store.h"

/* What kind of file `path` is. */
enum inspect_kind { INSPECT_STEP, INSPECT_CHECKPOINT, INSPECT_INDEX };
int inspect_kind(enum inspect_kind *out, const char *path, struct fault *f);

/* The files of a run directory, steps ascending, in new arrays. */
struct inspect_run {
    size_t n_steps, n_checkpoints;
    int64_t *steps, *checkpoints;
    int64_t newest; /* step of the checkpoint written last that opens; -1: none */
};
int inspect_run(struct inspect_run *out, const char *dir, struct fault *f);
/* The same without a look into the checkpoints: newest = -1. */
int inspect_list(struct inspect_run *out, const char *dir, struct fault *f);
void inspect_run_free(struct inspect_run *r);
/* Path of a run's step file or checkpoint in a new string; NULL with a fault. */
char *inspect_step_path(const char *dir, int64_t step, struct fault *f);
char *inspect_checkpoint_path(const char *dir, int64_t step, struct fault *f);

/* A step file: its head, ledger, metrics in the file's order (by name), sizes. */
struct inspect_step {
    int64_t step, policy_version;
    char closed_by[32];
    struct identity identity;
    int64_t candidates, completions, tokens; /* rows */
    int64_t ledger_tokens[FATE_COUNT];
    double ledger_seconds[FATE_COUNT];
    size_t n_metrics;
    struct metric *metrics;
};
int inspect_step(struct inspect_step *out, const char *path, struct fault *f);
void inspect_step_free(struct inspect_step *s);
/* The value of a metric; NAN if the file has none of this name. */
double inspect_metric(const struct inspect_step *s, const char *name);

/* Its candidates, in their order, and their completions: those of candidate c are rows
 * c * size .. (c + 1) * size - 1, by member.  FAULT_DATA where the sums of lengths and
 * verdicts are not the candidates', or a number is impossible.  inspect_rows_free gives
 * the arrays back. */
struct inspect_rows {
    int64_t candidates, size;                                        /* size: G */
    int64_t *index, *prompt, *fate, *replica, *n_correct, *n_tokens; /* [candidates] */
    int64_t *owner, *length, *finish, *correct; /* [candidates * size] */
};
int inspect_rows(struct inspect_rows *out, const char *path, struct fault *f);
void inspect_rows_free(struct inspect_rows *r);

/* A checkpoint without its big arrays. */
struct inspect_checkpoint {
    int64_t step, updates, cursor;
    int64_t n_params, n_state;
    struct identity identity;
    char *config; /* the resolved job file */
    int n_tensors;
    struct model_tensor *tensors; /* in the order of the flat array, covering it */
};
int inspect_checkpoint(struct inspect_checkpoint *out, const char *path,
                       struct fault *f);
void inspect_checkpoint_free(struct inspect_checkpoint *k);
/* Its weights into params[n_params], each piece against its checksum. */
int inspect_params(const char *path, float *params, int64_t n_params, struct fault *f);

/* Read all of a step file and hold it against itself: columns of equal length, offsets
 * that fit, every sum of tokens and verdicts, the ledger (invariants 1, 8), ids and
 * log-probs of possible values, the step of its name.  FAULT_DATA with the first thing
 * that is wrong. */
int inspect_check_step(const char *path, struct fault *f);
/* All of a checkpoint: its head and every piece of every array against its checksum,
 * its step against its name. */
int inspect_check_checkpoint(const char *path, struct fault *f);

/* A whole run directory, file by file, read only. */
enum inspect_level { INSPECT_OK, INSPECT_WARNING, INSPECT_DAMAGED };
struct inspect_finding {
    enum inspect_level level;
    char file[64];  /* below the run directory: "rollouts/step-000003.h5" */
    char text[256]; /* what is the matter, no control characters; empty if nothing is */
};
struct inspect_findings {
    size_t n, cap;
    struct inspect_finding *item;
    int64_t resumes; /* step of the newest checkpoint that is whole; -1: none */
};
/* Checks every step file and checkpoint as above, that no step is missing, `latest`,
 * the index, job.ini, leftovers of a killed job.  `progress` (may be NULL) is called
 * before each file.  FAULT_FILE if `dir` is no run directory; damage is not a fault but
 * a finding.  A file that a job at work removes meanwhile is a warning. */
int inspect_check_run(struct inspect_findings *out, const char *dir,
                      void (*progress)(size_t done, size_t all, const char *file),
                      struct fault *f);
void inspect_findings_free(struct inspect_findings *x);

#endif
