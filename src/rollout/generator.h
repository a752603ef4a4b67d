/* generator.h - private: what rollout.c (groups in and out) and iterate.c share. */
#ifndef DAPO_ROLLOUT_GENERATOR_H
#define DAPO_ROLLOUT_GENERATOR_H

#include "dapo/rollout.h"
#include "rollout/sched.h"

/* A member that ended of itself and that the caller has not been told of. */
struct event {
    struct entry *e;
    int member;
};

struct rollout {
    struct model *m;
    const struct backend *be;
    struct kv *kv;
    struct rollout_config c;
    int *stop; /* [c.n_stop] */
    struct sched s;
    float *u, *logp; /* [slots] this iteration's uniform numbers and log-probs */
    int *drawn;      /* [slots] its tokens */
    struct event *events;
    size_t cap;
    int first_event, n_events; /* events[first_event .. n_events-1] are news */
    int unfinished;            /* members of the held groups */
    int64_t step, policy_version;
    double began;
    struct rollout_stats stats;
};

#endif
