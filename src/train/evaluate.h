/* evaluate.h - private: held-out accuracy over the generating ranks. */
#ifndef DAPO_TRAIN_EVALUATE_H
#define DAPO_TRAIN_EVALUATE_H

#include "dapo/train.h"
#include "train/session.h"

/* Evaluate the current weights on s->eval: problem i goes to replica i % replicas.  The
 * draws do not depend on the step, so two evaluations are paired.  `rows`: as in
 * train_evaluate_all. */
int evaluate_all(struct session *s, const char *rows, struct eval_result *out,
                 struct fault *f);

#endif
