/* tally.h - private: the metrics of a step that are sums over all groups. */
#ifndef DAPO_TRAIN_TALLY_H
#define DAPO_TRAIN_TALLY_H

#include "train/generate.h"

extern const struct metric_name {
    const char *name, *unit, *text;
} metric_names[METRIC_COUNT];

/* Fill reward/ and rollout/ metrics and the seconds by fate from every rank's groups.
 * FAULT_BUG unless the tokens drawn are those billed and carried. */
int tally_all(struct session *s, const struct settled *r,
              double ledger_seconds[FATE_COUNT], struct fault *f);

#endif
