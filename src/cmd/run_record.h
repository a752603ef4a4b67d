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

/* X(field, metric) - what is taken of a step's metrics; NaN where a file lacks it. */
#define RUN_METRIC_LIST(X)                                                         \
    X(iterations, "rollout/iterations")          /* replicas summed */             \
    X(tokens, "rollout/drawn_tokens")            /* decoded in it */               \
    X(decode, "time/decode_seconds")             /* replicas summed */             \
    X(most_iterations, "rollout/max_iterations") /* of the busiest replica */      \
    X(generate, "time/generate_seconds")         /* until the batch had settled */ \
    X(whole, "time/step_seconds")                                                  \
    X(cursor, "train/data_cursor_consumed") /* prompts consumed, with this step's */

/* What its step files say but for their candidates, [n] each, steps ascending. */
struct run_metrics {
    int n;
    int64_t *step;
#define X(field, metric) double *field;
    RUN_METRIC_LIST(X)
#undef X
    int64_t (*ledger)[FATE_COUNT]; /* tokens */
    int replicas;                  /* of the last step, in [1, 2^20] */
    bool exhausted;                /* it closed for want of prompts */
};
/* Steps in [first, last]; FAULT_DATA if there is none. */
int run_metrics_read(struct run_metrics *out, const char *dir, int64_t first,
                     int64_t last, struct fault *f);
void run_metrics_free(struct run_metrics *m);
/* Seconds of a decode iteration, fitted to all steps of the run as sim_fit does. */
int run_speed(struct sim_speed *out, const char *dir, struct fault *f);

struct run_record {
    struct config cfg; /* as resolved then */
    struct bytes job;  /* the same as text */
    struct run_metrics m;
    struct sim_record r;
    int64_t *batch;       /* draw numbers trained, step by step */
    int64_t *batch_first; /* [n + 1] where each step's begin */
    struct sim_figures t; /* what the run itself cost */
};
/* The steps of [first, last], which must be there without a gap. */
int run_record_read(struct run_record *out, const char *dir, int64_t first,
                    int64_t last, struct fault *f);
void run_record_free(struct run_record *r);

#endif
