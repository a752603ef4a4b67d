/* leader.h - private: a replica's side of a step: slices, judging, reports. */
#ifndef DAPO_TRAIN_LEADER_H
#define DAPO_TRAIN_LEADER_H

#include "train/generate.h"

struct leader; /* opaque */

int leader_new(struct leader **out, struct session *s, struct ticks *t,
               struct fault *f);
void leader_free(struct leader *l);
/* Obey the decision that is due, decode a slice, report.  False if the decision due has
 * not come yet (the caller backs off); *done after the end. */
bool leader_turn(struct leader *l, bool *done);
int leader_fault(const struct leader *l, struct fault *f);
/* The groups it generated, in candidate order; the caller owns them (group_free). */
int leader_take(struct leader *l, struct group ***groups, int *n, struct fault *f);

#endif
