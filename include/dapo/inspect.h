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

#endif
