/* policy.c - what a job's settings ask of admission and of the model. */
#include <stdio.h>

#include "dapo/admission.h"
#include "dapo/model.h"
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

bool train_adapter(const struct config *c, struct lora_config *out)
{
    _Static_assert(sizeof out->targets >= sizeof c->lora.targets, "targets fit");
    *out = (struct lora_config){.rank = (int)c->lora.rank, .alpha = c->lora.alpha};
    snprintf(out->targets, sizeof out->targets, "%s", c->lora.targets);
    return c->lora.rank > 0;
}

int train_most_starts(int replicas)
{
    return 64 + 2 * replicas;
}
