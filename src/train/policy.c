/* policy.c - what a job's settings ask of admission. */
#include "dapo/admission.h"
#include "dapo/train.h"

void train_policy(const struct config *c, struct admission_config *out)
{
    *out = (struct admission_config){
        .groups = (int)c->admission.groups,
        .size = (int)c->admission.group_size,
        .max_candidates =
            c->admission.strict ? 0 : c->admission.groups * c->admission.max_multiplier,
        .refill = (enum refill)c->admission.refill,
        .full_multiplier = (int)c->admission.full_multiplier,
        .order = (enum order_rule)c->admission.order,
        .surplus = (enum surplus)c->admission.surplus,
        .max_age = (int)c->admission.max_age,
        .max_candidate_tokens = c->admission.max_candidate_tokens,
        .max_train_tokens = c->admission.max_train_tokens,
        .dynamic = c->admission.dynamic,
        .speculation = c->admission.speculation,
        .prior_trainable = c->admission.prior,
        .prior_weight = c->admission.prior_weight,
    };
}

int train_most_starts(int replicas)
{
    return 64 + 2 * replicas;
}
