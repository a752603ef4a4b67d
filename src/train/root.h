/* root.h - private: the learner root's side of a step: admission over ticks. */
#ifndef DAPO_TRAIN_ROOT_H
#define DAPO_TRAIN_ROOT_H

#include "train/generate.h"

struct root; /* opaque */

/* Begin the step s->drawing on the root, with at most `available` prompts to draw; the
 * groups that go on are its first candidates.  Local; *out is NULL after a fault. */
int root_new(struct root **out, struct session *s, struct ticks *t, int64_t available,
             struct fault *f);
void root_free(struct root *r);
/* Most bytes of a decision, for ticks_new. */
size_t root_decision_most(const struct session *s);
/* End the step with the next tick: it is not to be completed. */
void root_abandon(struct root *r);
/* Answer one tick if its reports are here.  Returns whether it did; *done once the
 * step has ended and the last tick under way is answered. */
bool root_turn(struct root *r, bool *done);
/* The first thing that went wrong at the root, after which it ends the step. */
int root_fault(const struct root *r, struct fault *f);
/* The step has ended: fill the shared part of *out (its arrays too, unless the step was
 * abandoned) and leave to the next one what goes on.  0 or a fault's code. */
int root_settle(struct root *r, struct settled *out, struct fault *f);

#endif
