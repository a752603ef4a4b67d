/* watch.h - what surrounds a job (launcher, allocation, peers), and that it gets on.
 *
 * A thread of each rank, which makes no MPI call, watches while the rank works:
 *
 * - Words.  Now and then a rank notes its phase, step, last tick and sign of life
 *   (pulse.h) in RUN/words, a record per rank.  So a rank that hangs need not answer.
 * - Hang.  Where no rank has shown a sign of life for hang_s, the lowest rank that
 * still runs says who is silent and their last words, and ends the job with 75. Waiting
 * is no sign of life, computing is.
 * - Deaths.  A peer on the same node that dies is named at once (pidfd), one elsewhere
 *   if the launcher offers PMIx's events.  A launcher that dies takes its ranks along:
 *   nobody else would end them, and they would keep the run to themselves.
 * - Time.  Rank 0 asks Slurm how long the allocation lasts, at the start and every five
 *   minutes (limits may change), and looks for the file RUN/stop.
 * - Crashes.  A rank that gets SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, or is silent
 *   when a hang ends the job, leaves in RUN/deaths which prompts it was generating for.
 */
#ifndef DAPO_WATCH_H
#define DAPO_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/comm.h"
#include "dapo/fault.h"

/* -- where a job runs -------------------------------------------------------------- */
struct site {
    char launcher[16]; /* "srun", "mpirun", or "none" (a single process) */
    char host[64];
    int rank, size; /* as the launcher says: PMIx, else 0 of 1 */
    int local_rank, local_size, nodes;
    char pmix_client[64]; /* "4.2.2", or "none" in a build without it */
    char pmix_server[64]; /* "4.2.2", "" if the launcher doesn't say */
    int64_t slurm_job;    /* 0: not in a Slurm job */
    int slurm_tasks;      /* SLURM_NTASKS; 0: not set */
    int step_tasks;       /* of the srun step around this process; 0: none is */
    int cpus;             /* this process may run on */
};
/* This process's; local.  site_close lets go of PMIx, if no watch does. */
void site_read(struct site *out);
void site_close(void);
/* Seconds until Slurm ends this allocation: SLURM_JOB_END_TIME, else asked by `squeue`;
 * INFINITY without a limit, outside of Slurm, or when there is no answer within 10 s.
 */
double site_time_left(void);
/* What a program (argv[0] looked up in PATH) prints, at most n - 1 bytes of it; false
 * if it can't be started, prints more, fails, or takes over 10 s. */
bool site_ask(char *const argv[], char *out, size_t n);

/* -- watching ---------------------------------------------------------------------- */
struct watch_config {
    const char *dir;  /* the run directory */
    double hang_s;    /* 0 = off */
    double max_hours; /* of this job; 0 = no bound */
};
struct watch; /* opaque */

/* Start watching; local work, then agreed.  The PMIx handlers are registered here. */
int watch_start_all(struct watch **out, struct comm *c, const struct watch_config *w,
                    struct fault *f);
/* Stop it, before ranks leave one by one. */
void watch_stop_all(struct watch *w);
/* What the header should say: launcher, nodes, events, time left; rank 0. */
void watch_say(const struct watch *w);

/* Rank 0: seconds until the job must be gone, by the allocation or max_hours. */
double watch_time_left(const struct watch *w);
/* Rank 0: the file RUN/stop is there. */
bool watch_stop_file(const struct watch *w);

/* The prompts (rows of the prompt file) this rank is generating for, at most 16 of
 * them; what RUN/deaths gets if it crashes now. */
#define WATCH_PROMPTS 16
void watch_generating(const int64_t *rows, int n);

/* Prompts that were in work on a rank which crashed or hung in each of the last
 * `deaths` deaths of this run, all at the step to be done next: in a new array.  Rank
 * 0. */
int watch_poison(const char *dir, int deaths, int64_t next_step, int64_t **rows, int *n,
                 struct fault *f);

#endif
