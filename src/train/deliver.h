/* deliver.h - private: admitted completions go from generators to learners. */
#ifndef DAPO_TRAIN_DELIVER_H
#define DAPO_TRAIN_DELIVER_H

#include "train/generate.h"

/* The share of one learner: its sequences by update. */
struct share {
    int updates;          /* of the step; at most n_batch */
    struct sequence *seq; /* [n] update after update, within it in batch order */
    int n;
    int *first;  /* [updates + 1] first sequence of each update */
    void *store; /* what the sequences' pointers look into */
};
void share_free(struct share *h);

/* Deal the batch to the learners, update by update, and send each completion from the
 * replica that has it straight to the learner that trains on it.  Every rank computes
 * the same plan from `r`, so no sizes are exchanged. */
int deliver_all(struct session *s, const struct settled *r, struct share *out,
                struct fault *f);

#endif
