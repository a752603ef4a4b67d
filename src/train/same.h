/* same.h - private: every rank must have been given the same job.
 *
 * Each rank reads the job file, the model and the prompts for itself; a stale copy on
 * one node, or an edit while the job starts, would end in a hang or, worse, in training
 * on something else.
 */
#ifndef DAPO_TRAIN_SAME_H
#define DAPO_TRAIN_SAME_H

#include "train/session.h"

/* FAULT_CONFIG naming the first settings in which a rank differs from rank 0.  Before
 * anything that a setting decides is done together; ranks.threads may differ. */
int same_job_all(struct comm *c, const struct config *cfg, struct fault *f);
/* FAULT_DATA naming what of tokenizer, model (with its weights), reference model and
 * prompts a rank has otherwise than rank 0.  What neither has opened is equal. */
int same_inputs_all(struct session *s, struct fault *f);

#endif
