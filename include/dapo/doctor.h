/* doctor.h - whether this is a place where a job can run.
 *
 * Each check is a line: ok, warning or failure, what was found and, unless it is ok,
 * the remedy.  A failure is what would end or spoil a run; a warning, what makes it
 * slower, or unsafe should something else go wrong.  Checks look at all ranks and
 * nodes, and name the worst.
 */
#ifndef DAPO_DOCTOR_H
#define DAPO_DOCTOR_H

#include <stdbool.h>
#include "dapo/comm.h"
#include "dapo/fault.h"

/* What a job will ask for; 0 and NULL: not known, not checked. */
struct doctor_job {
    const char *dir;    /* the run's folder, or its folder's: need not be there */
    bool given;         /* there is a job, its numbers follow */
    int learners;       /* world ranks below this learn */
    int threads;        /* of each rank */
    double learn_bytes; /* memory of a rank that learns ... */
    double roll_bytes;  /* ... and of one that generates, at full length */
    double checkpoint_bytes, step_bytes; /* of a file, the latter at full length */
    double run_bytes;                    /* all files of the run, at full length */
    double run_files;
    bool math;                  /* reward.grader = math */
    const struct fault *broken; /* why it can't be planned; NULL if it can */
};

enum doctor_how {
    DOCTOR_START, /* what dapo train looks at before anything else: no test that takes
                   * time, only warnings are said (to the log) */
    DOCTOR_FAST,  /* all lines, on standard output, but no test that takes time */
    DOCTOR_FULL,  /* also large messages, files, programs asked for */
};

/* `message`: bytes of DOCTOR_FULL's large message.  Returns 0 if no check is a failure,
 * else the first one's code and sentence: FAULT_CONFIG for what the job or its launch
 * must change, FAULT_FILE for the run directory, FAULT_SYSTEM for a message or file
 * that was not what had been sent.  A test that hangs ends the job with FAULT_SYSTEM
 * after two minutes without progress, naming the rank and the test (not
 * DOCTOR_START's, which has a watchdog coming). Nothing is left in the run directory,
 * unless the process is killed: then a folder `.dapo-doctor-*`. */
int doctor_run_all(struct comm *c, const struct doctor_job *job, enum doctor_how how,
                   double message, struct fault *f);

/* For the head of a log: what was chosen here without being asked for,
 * "Open MPI 4.1.4, HDF5 1.10.8, oneDNN 2.6.3 on avx512_core_bf16". */
void doctor_libraries(char *text, int n);

#endif
