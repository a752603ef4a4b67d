/* leader.h - private: a replica's side of a step: slices, judging, reports. */
#ifndef DAPO_TRAIN_LEADER_H
#define DAPO_TRAIN_LEADER_H

#include "train/generate.h"

struct leader; /* opaque */

/* Begin the step s->drawing on a replica, on the weights s->published; the groups that
 * go on are in work again.  Local; free *out after a fault too. */
int leader_new(struct leader **out, struct session *s, struct ticks *t,
               struct fault *f);
void leader_free(struct leader *l);
/* Obey the decision that is due, decode a slice, report.  False if the decision due has
 * not come yet (the caller backs off); *done after the end. */
bool leader_turn(struct leader *l, bool *done);
struct leader_times leader_times(const struct leader *l);
/* The first thing that went wrong here, which leader_turn told the root: 0, or its code
 * and sentence in *f. */
int leader_fault(const struct leader *l, struct fault *f);
/* The groups it generated, in candidate order; the caller owns them (group_free).  Also
 * what its part of the step was: out->mine, n_mine, stats, tokens_in, tokens_out (those
 * of all groups; carry_keep tells which go on). */
int leader_take(struct leader *l, struct settled *out, struct fault *f);

#endif
