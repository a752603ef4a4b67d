/* run_record.h - private: a recorded run, read for the simulator.
 *
 * Everything comes from the step files and job.ini.  FAULT_FILE, FAULT_DATA with the
 * path of what is wrong.
 */
#ifndef DAPO_CMD_RUN_RECORD_H
#define DAPO_CMD_RUN_RECORD_H

#include "dapo/config.h"
#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "dapo/sim.h"

/* What the metrics of its steps say, [n] each. */
struct run_metrics {
    int n;
    int64_t *step;
    double *iterations, *tokens, *decode; /* replicas summed: iterations, tokens, s */
    double *most_iterations;              /* of the busiest replica */
    double *generate, *whole;             /* s: until the batch had settled; the step */
    double *cursor;                       /* prompts consumed, this step's included */
    int replicas;
};
/* Steps in [first, last]. */
int run_metrics_read(struct run_metrics *out, const char *dir, int64_t first,
                     int64_t last, struct fault *f);
void run_metrics_free(struct run_metrics *m);
/* Seconds of a decode iteration. */
int run_speed(struct sim_speed *out, const char *dir, struct fault *f);

struct run_record {
    struct config cfg; /* as resolved then */
    struct bytes job;  /* the same as text */
    struct run_metrics m;
    struct sim_record r;
    int64_t *batch,
        *batch_first;     /* draw numbers trained; step i's from batch_first[i] */
    struct sim_figures t; /* what the run itself cost */
    bool exhausted;       /* its last step closed for want of prompts */
};
/* The steps of [first, last], which must be there without a gap. */
int run_record_read(struct run_record *out, const char *dir, int64_t first,
                    int64_t last, struct fault *f);
void run_record_free(struct run_record *r);

#endif
