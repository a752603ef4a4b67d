/* ledger.c - the settled step: batch, fates and the bill. */
#include <string.h>

#include "admission/step.h"

const char *closed_text(enum closed_by c)
{
    static const char *const text[] = {
#define X(name, text) text,
        CLOSED_LIST(X)
#undef X
    };

    return c < CLOSED_COUNT ? text[c] : "unknown";
}

bool admission_settled(const struct admission *a)
{
    return a->closed && a->awaited == 0;
}

enum fate admission_fate(const struct admission *a, int64_t index)
{
    const struct candidate *c;

    if (index < 0 || index >= a->started || candidate_goes_on(a, index))
        return FATE_COUNT;
    c = &a->candidates[index];
    if (c->failed)
        return FATE_FAILED;
    if (c->stale)
        return FATE_STALE;
    if (!candidate_complete(c, a->c.size))
        return FATE_CANCELLED;
    if (candidate_trains(a, c))
        return c->trained ? FATE_TRAINED : FATE_SURPLUS;
    return c->correct ? FATE_ALL_CORRECT : FATE_ALL_WRONG;
}

const int64_t *admission_batch(const struct admission *a, int *n)
{
    *n = a->closed ? (int)a->trainable : 0;
    return a->batch;
}

int64_t admission_consumed(const struct admission *a)
{
    return a->closed ? a->consumed : 0;
}

int64_t admission_started(const struct admission *a)
{
    return a->started;
}

int64_t admission_carried(const struct admission *a)
{
    return a->closed && a->c.surplus == SURPLUS_RESUME ? a->started - a->consumed : 0;
}

void admission_carried_tokens(const struct admission *a, int64_t *in, int64_t *out)
{
    *in = a->carried;
    *out = 0;
    for (int64_t i = a->started - admission_carried(a); i < a->started; i++)
        *out += a->candidates[i].tokens;
}

void admission_ledger(const struct admission *a, int64_t tokens[FATE_COUNT])
{
    int64_t end = a->started - admission_carried(a);

    memset(tokens, 0, FATE_COUNT * sizeof *tokens);
    tokens[FATE_CANCELLED] = a->restarted;
    for (int64_t i = 0; i < end; i++)
        tokens[admission_fate(a, i)] += a->candidates[i].tokens;
}

int64_t admission_known(const struct admission *a)
{
    return a->known < a->c.groups ? a->known : a->c.groups;
}

double admission_estimate(const struct admission *a, int k)
{
    return a->estimate.all[k];
}

double admission_estimate_of(const struct admission *a, enum history h, int k)
{
    return a->estimate.q[(int)h * a->c.size + k];
}
