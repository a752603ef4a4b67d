/* ledger.c - the settled step: batch, fates, the bill, and the state to carry on. */
#include <math.h>
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

    if (index < 0 || index >= a->started)
        return FATE_COUNT;
    c = &a->candidates[index];
    if (c->failed)
        return FATE_FAILED;
    if (!candidate_complete(c, a->c.size))
        return FATE_CANCELLED;
    if (candidate_trains(a, c))
        return a->closed && index < a->resolved ? FATE_TRAINED : FATE_SURPLUS;
    return c->correct ? FATE_ALL_CORRECT : FATE_ALL_WRONG;
}

const int64_t *admission_batch(const struct admission *a, int *n)
{
    *n = a->n_batch;
    return a->batch;
}

int64_t admission_consumed(const struct admission *a)
{
    return a->closed ? a->resolved : 0;
}

int64_t admission_started(const struct admission *a)
{
    return a->started;
}

void admission_ledger(const struct admission *a, int64_t tokens[FATE_COUNT])
{
    memset(tokens, 0, FATE_COUNT * sizeof *tokens);
    tokens[FATE_CANCELLED] = a->restarted;
    for (int64_t i = 0; i < a->started; i++)
        tokens[admission_fate(a, i)] += a->candidates[i].tokens;
}

int64_t admission_known(const struct admission *a)
{
    return a->known;
}

int admission_state_size(const struct admission *a)
{
    return 2 * a->c.size;
}

void admission_state_get(const struct admission *a, double *state)
{
    size_t n = (size_t)a->c.size;

    memcpy(state, a->estimate.equal, n * sizeof *state);
    memcpy(state + n, a->estimate.trainable, n * sizeof *state);
}

int admission_state_set(struct admission *a, const double *state, struct fault *f)
{
    size_t n = (size_t)a->c.size;

    if (!a->closed)
        return fault_set(f, FAULT_BUG, "estimates were set within a step");
    for (size_t k = 0; k < n; k++)
        if (!(isfinite(state[k]) && state[n + k] >= 0 && state[n + k] <= state[k]))
            return fault_set(f, FAULT_DATA,
                             "admission estimate %zu counts %g trainable of %g groups",
                             k, state[n + k], state[k]);
    memcpy(a->estimate.equal, state, n * sizeof *state);
    memcpy(a->estimate.trainable, state + n, n * sizeof *state);
    estimate_update(&a->estimate);
    return 0;
}

double admission_estimate(const struct admission *a, int k)
{
    return a->estimate.q[k];
}
