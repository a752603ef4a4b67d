/* check.c - settings that contradict each other. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/table.h"

static int check_lengths(const struct config *c, struct fault *f)
{
    int64_t longest = c->prompt.max_tokens + c->rollout.max_tokens;

    if (c->reward.overlong != OVERLONG_OFF &&
        c->reward.overlong_cache > c->rollout.max_tokens)
        return fault_set(f, FAULT_CONFIG,
                         "reward.overlong_cache = %" PRId64 " is longer than "
                         "rollout.max_tokens = %" PRId64
                         ": every completion would be punished; lower it or set "
                         "reward.overlong = off",
                         c->reward.overlong_cache, c->rollout.max_tokens);
    if (c->rollout.kv_tokens && c->rollout.kv_tokens < longest)
        return fault_set(f, FAULT_CONFIG,
                         "rollout.kv_tokens = %" PRId64
                         " can't hold one sequence of prompt.max_tokens + "
                         "rollout.max_tokens = %" PRId64 " tokens",
                         c->rollout.kv_tokens, longest);
    return 0;
}

static int check_sampling(const struct config *c, struct fault *f)
{
    double most = c->admission.strict ? 1 : (double)c->admission.max_multiplier;
    double members =
        (double)c->admission.groups * most * (double)c->admission.group_size;

    if (members > INT_MAX)
        return fault_set(f, FAULT_CONFIG,
                         "admission.groups * max_multiplier * group_size = %.0f "
                         "completions per step are over %d; lower one of them",
                         members, INT_MAX);
    if (c->admission.dynamic && c->admission.group_size < 2)
        return fault_set(
            f, FAULT_CONFIG,
            "admission.group_size = %" PRId64
            " with admission.dynamic = true: a group of one can't hold both "
            "a right and a wrong answer; use 2 or more",
            c->admission.group_size);
    if (c->reward.correct <= c->reward.wrong)
        return fault_set(f, FAULT_CONFIG,
                         "reward.correct = %g is not above reward.wrong = %g: right "
                         "answers would be unlearned",
                         c->reward.correct, c->reward.wrong);
    if (c->optimizer.updates_per_step > c->admission.groups)
        return fault_set(f, FAULT_CONFIG,
                         "optimizer.updates_per_step = %" PRId64
                         " is more than admission.groups = %" PRId64
                         ": some updates would have nothing to train on",
                         c->optimizer.updates_per_step, c->admission.groups);
    return 0;
}

/* Choices of admission's settings, in the order of config.def. */
enum { STREAM = 0, FULL = 2, BY_CANDIDATE = 0, RESUME = 1 };

/* Policies of admission that exclude each other. */
static int check_admission(const struct config *c, struct fault *f)
{
    bool resume = c->admission.surplus == RESUME;

    if (resume && c->admission.refill != STREAM)
        return fault_set(f, FAULT_CONFIG,
                         "admission.surplus = resume needs admission.refill = stream: "
                         "waves and full rounds end before the step does, so nothing "
                         "is left to go on; set refill = stream or surplus = discard");
    if (resume && c->admission.order != BY_CANDIDATE)
        return fault_set(f, FAULT_CONFIG,
                         "admission.surplus = resume needs admission.order = "
                         "candidate: what goes on must come first in the next step; "
                         "set order = candidate or surplus = discard");
    if (resume && !c->admission.dynamic)
        return fault_set(f, FAULT_CONFIG,
                         "admission.surplus = resume with admission.dynamic = false: "
                         "every group is trained, so there is never a surplus; set "
                         "surplus = discard");
    if (resume && c->train.max_staleness)
        return fault_set(f, FAULT_CONFIG,
                         "admission.surplus = resume does not go with "
                         "train.max_staleness = 1: a step's carried groups would be "
                         "generated on before its checkpoint is written; use one of "
                         "the two");
    if (c->admission.refill == FULL && !c->admission.strict &&
        c->admission.full_multiplier > c->admission.max_multiplier)
        return fault_set(f, FAULT_CONFIG,
                         "admission.full_multiplier = %" PRId64
                         " is over admission.max_multiplier = %" PRId64
                         ": not one round would fit; raise max_multiplier to "
                         "full_multiplier times the rounds to allow",
                         c->admission.full_multiplier, c->admission.max_multiplier);
    if (c->loss.tis_cap > 0 && !resume && c->train.max_staleness == 0)
        return fault_set(f, FAULT_CONFIG,
                         "loss.tis_cap is set, but no group is ever stale: set "
                         "train.max_staleness or admission.surplus = resume, or leave "
                         "it 0");
    return 0;
}

static int check_loss(const struct config *c, struct fault *f)
{
    if (c->loss.dual_clip != 0 && c->loss.dual_clip <= 1 + c->loss.clip_high)
        return fault_set(
            f, FAULT_CONFIG,
            "loss.dual_clip = %g must be over 1 + loss.clip_high = %g, or 0 "
            "for off",
            c->loss.dual_clip, 1 + c->loss.clip_high);
    if (c->loss.tis_cap > 0 && c->loss.tis_cap < 1)
        return fault_set(
            f, FAULT_CONFIG,
            "loss.tis_cap = %g would weigh fresh tokens down too; use 1 or "
            "more, or 0 for no weights",
            c->loss.tis_cap);
    if (*c->loss.reference && c->loss.kl_coef == 0)
        return fault_set(
            f, FAULT_CONFIG,
            "loss.reference is set, but loss.kl_coef = 0 makes no use of it; "
            "set both or neither");
    return 0;
}

static int check_prompt(const struct config *c, struct fault *f)
{
    bool custom = c->prompt.template == 4; /* the last of its choices */

    if (custom && !strstr(c->prompt.custom, "{user}"))
        return fault_set(
            f, FAULT_CONFIG,
            "prompt.template = custom needs prompt.custom with {user} in it");
    if (!custom && *c->prompt.custom)
        return fault_set(f, FAULT_CONFIG,
                         "prompt.custom is set, but prompt.template is not custom");
    if (*c->prompt.system && c->prompt.template == 0)
        return fault_set(
            f, FAULT_CONFIG,
            "prompt.system is set, but prompt.template = plain has no place "
            "for it; use another template");
    return 0;
}

static int check_lora(const struct config *c, struct fault *f)
{
    if (*c->lora.init && !c->lora.rank)
        return fault_set(f, FAULT_CONFIG,
                         "lora.init is set, but lora.rank = 0 trains the whole model; "
                         "set lora.rank to the adapter's, or leave lora.init empty");
    return 0;
}

static int check_resume(const struct config *c, struct fault *f)
{
    char *end;
    const char *r = c->run.resume;

    if (!strcmp(r, "auto") || !strcmp(r, "never"))
        return 0;
    if (*r < '0' || *r > '9' || strtoll(r, &end, 10) < 0 || *end)
        return fault_set(f, FAULT_CONFIG,
                         "run.resume = %.60s: want auto, never or a step number", r);
    return 0;
}

static int check_names(const struct config *c, struct fault *f)
{
    if (!*c->run.name || strchr(c->run.name, '/') || c->run.name[0] == '.')
        return fault_set(f, FAULT_CONFIG,
                         "run.name = %.60s: want a plain folder name without '/'",
                         c->run.name);
    for (const char *s = c->run.name; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return fault_set(f, FAULT_CONFIG,
                             "run.name has a control character: want a plain folder "
                             "name on one line");
    return 0;
}

int config_check(const struct config *c, struct fault *f)
{
    static int (*const checks[])(const struct config *, struct fault *) = {
        check_lengths, check_sampling, check_admission, check_loss,
        check_lora,    check_prompt,   check_resume,    check_names,
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && !rc; i++)
        rc = checks[i](c, f);
    return rc;
}
