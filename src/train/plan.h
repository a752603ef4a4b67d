/* plan.h - private: what a job must meet, asked by dapo plan and by the job itself. */
#ifndef DAPO_TRAIN_PLAN_H
#define DAPO_TRAIN_PLAN_H

#include "dapo/config.h"
#include "dapo/model.h"

/* The model ends completions (FAULT_DATA) and has positions for the longest sequence
 * (FAULT_CONFIG). */
int plan_model(const struct config *c, const struct model_config *m, struct fault *f);
/* With train.max_staleness = 1 there is a rank that only generates, or FAULT_CONFIG. */
int plan_overlap(const struct config *c, int64_t ranks, struct fault *f);

#endif
