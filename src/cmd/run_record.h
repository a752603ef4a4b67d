/* run_record.h - private: a recorded run, read for the simulator. */
#ifndef DAPO_CMD_RUN_RECORD_H
#define DAPO_CMD_RUN_RECORD_H

#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "dapo/sim.h"

/* Seconds of a decode iteration, from the metrics of the run's steps: replica seconds
 * in decoding, tokens, and iterations = tokens / (slot occupancy * slots). */
int run_speed(struct sim_speed *out, const char *dir, struct fault *f);

#endif
