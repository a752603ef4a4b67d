/* launch.c - decisions: what to start, what to cancel. */
#include <string.h>

#include "admission/odds.h"
#include "admission/step.h"

/* Does the next wave or round have room, or may a new one begin? */
static bool wanted_in_round(struct admission *a)
{
    if (a->live < a->wave)
        return a->whole_rounds || !step_enough(a);
    if (a->done < a->live)
        return false;
    a->wave = a->live + (a->whole_rounds ? (int64_t)a->c.full_multiplier * a->c.groups
                                         : a->c.groups - a->trainable);
    return true;
}

/* Does the policy want one more candidate? */
static bool wanted(struct admission *a)
{
    if (!a->c.dynamic)
        return !step_enough(a);
    if (a->c.refill != REFILL_STREAM)
        return wanted_in_round(a);
    if (step_enough(a))
        return false;
    if (a->needed < 0)
        a->needed = odds_fewer(step_target(a) - a->known, a->undecided, a->estimate.q,
                               HISTORY_COUNT * a->c.size);
    return a->needed >= a->c.speculation;
}

/* Forget what was heard of a candidate, but not of its prompt. */
static void clear(struct admission *a, int64_t index, enum history h)
{
    a->candidates[index] = (struct candidate){.history = h};
    memset(step_members(a, index), 0, (size_t)a->c.size * sizeof *a->members);
}

bool admission_launch(struct admission *a, int free_slots, int64_t *index)
{
    enum history known = HISTORY_NEW;

    if (a->closed || free_slots <= 0 || a->live >= a->limit || !wanted(a))
        return false;
    if (a->live < a->started) {
        const struct candidate *c = &a->candidates[a->live];

        if (c->reported < a->c.size)
            return false; /* its cancelled members are still on their way back */
        a->restarted += c->tokens;
        known = c->history;
    } else if (step_reserve(a, a->live + 1, &a->fault)) {
        step_close(a, CLOSED_STOPPED);
        return false;
    } else {
        a->started++;
    }
    clear(a, a->live, known);
    step_count(a, &a->candidates[a->live], 1);
    a->awaited += a->c.size;
    *index = a->live++;
    return true;
}

bool admission_cancel(struct admission *a, int64_t *index)
{
    int64_t end = a->live; /* of those that count */

    if (a->closed)
        end = a->c.surplus == SURPLUS_RESUME ? a->started : 0;
    while (a->unnamed < a->started) {
        struct candidate *c = &a->candidates[a->unnamed++];
        bool useless = candidate_lost(c) || a->unnamed > end;

        if (!useless || c->named || c->reported == a->c.size)
            continue;
        c->named = true;
        *index = a->unnamed - 1;
        return true;
    }
    return false;
}
