/* by_hand.h - a source whose candidates are written out. */
#ifndef DAPO_TEST_SIM_BY_HAND_H
#define DAPO_TEST_SIM_BY_HAND_H

#include "check.h"
#include "dapo/sim.h"

/* Candidates of two members. */
struct pair {
    int tokens[2];
    bool correct[2];
};

static inline int pair_draw(void *context, int64_t step, int64_t number,
                            struct sim_member *m, int64_t *prompt, struct fault *f)
{
    const struct pair *p = context;

    (void)step;
    (void)f;
    for (int k = 0; k < 2; k++)
        m[k] = (struct sim_member){p[number].tokens[k], p[number].correct[k], false};
    *prompt = number;
    return 0;
}

static inline struct sim_source pair_source(struct pair *p, int64_t n)
{
    return (struct sim_source){
        .context = p, .draw = pair_draw, .available = n, .size = 2, .max_tokens = 10};
}

/* One group of two wanted. */
static inline struct admission_config pair_policy(void)
{
    return (struct admission_config){.groups = 1,
                                     .size = 2,
                                     .max_candidates = 3,
                                     .full_multiplier = 1,
                                     .max_age = 1,
                                     .dynamic = true,
                                     .prior_trainable = 0.5,
                                     .prior_weight = 8};
}

#endif
