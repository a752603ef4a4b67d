/* learn.h - private: a step's updates and the publishing of their result. */
#ifndef DAPO_TRAIN_LEARN_H
#define DAPO_TRAIN_LEARN_H

#include "train/deliver.h"

/* Open the learner (and, with KL, the reference model) on learning ranks.  Local. */
int learn_open(struct session *s, struct fault *f);
/* Learners: the step's updates on this rank's share, collective over them alone; the
 * caller agrees.  Metrics ppo/ and train/ into s->metrics. */
int learn_all(struct session *s, struct share *share, struct fault *f);
/* The root's weights to every rank; invariant 10: every rank's checksum equals the
 * root's, FAULT_BUG otherwise. */
int publish_all(struct session *s, struct fault *f);

#endif
