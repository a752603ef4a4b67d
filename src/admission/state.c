/* state.c - what a checkpoint keeps: counts, and the candidates that go on.
 *
 * Layout, in doubles: equal[HISTORY_COUNT][size], trainable[HISTORY_COUNT][size], the
 * number of carried candidates, and for each of them
 *     history, age, flags (1 failed, 2 stale), then per member: what (enum heard),
 * tokens.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "admission/step.h"

enum heard { OUT, WRONG, RIGHT, CUT };
enum { FLAG_FAILED = 1, FLAG_STALE = 2 };

static int counts(const struct admission *a)
{
    return 2 * HISTORY_COUNT * a->c.size;
}

static int per_candidate(const struct admission *a)
{
    return 3 + 2 * a->c.size;
}

int admission_state_size(const struct admission *a)
{
    return counts(a) + 1 + (int)admission_carried(a) * per_candidate(a);
}

static double *put(const struct admission *a, int64_t index, double *s)
{
    const struct candidate *c = &a->candidates[index];
    const struct member *m = step_members(a, index);

    *s++ = (int)c->history;
    *s++ = c->age;
    *s++ = (c->failed ? FLAG_FAILED : 0) + (c->stale ? FLAG_STALE : 0);
    for (int k = 0; k < a->c.size; k++) {
        *s++ = m[k].finished ? (m[k].correct ? RIGHT : WRONG)
                             : (m[k].reported ? CUT : OUT);
        *s++ = m[k].tokens;
    }
    return s;
}

void admission_state_get(const struct admission *a, double *state)
{
    size_t n = (size_t)counts(a) / 2;

    memcpy(state, a->estimate.equal, n * sizeof *state);
    memcpy(state + n, a->estimate.trainable, n * sizeof *state);
    state += counts(a);
    *state++ = (double)admission_carried(a);
    for (int64_t i = a->started - admission_carried(a); i < a->started; i++)
        state = put(a, i, state);
}

/* Is x a whole number in [0, most]? */
static bool whole(double x, double most)
{
    return x >= 0 && x <= most && x == floor(x);
}

static int check_counts(const struct admission *a, const double *state, struct fault *f)
{
    int n = counts(a) / 2;

    for (int k = 0; k < n; k++)
        if (!(isfinite(state[k]) && state[n + k] >= 0 && state[n + k] <= state[k]))
            return fault_set(f, FAULT_DATA,
                             "admission estimate %d counts %g trainable of %g groups",
                             k, state[n + k], state[k]);
    return 0;
}

static bool is_candidate(const struct admission *a, const double *s)
{
    if (!whole(s[0], HISTORY_COUNT - 1) || !whole(s[1], INT_MAX - 1) ||
        !whole(s[2], FLAG_FAILED | FLAG_STALE))
        return false;
    for (int k = 0; k < a->c.size; k++)
        if (!whole(s[3 + 2 * k], CUT) || !whole(s[4 + 2 * k], INT32_MAX) ||
            (s[3 + 2 * k] == OUT && s[4 + 2 * k] != 0))
            return false;
    return true;
}

static int check_carried(const struct admission *a, const double *s, int n,
                         struct fault *f)
{
    double most = a->c.surplus == SURPLUS_RESUME ? INT_MAX : 0;

    if (most > 0 && a->c.max_candidates && a->c.max_candidates < INT_MAX)
        most = (double)a->c.max_candidates;
    if (n < 1 || !whole(s[0], most) || s[0] * per_candidate(a) != n - 1)
        return fault_set(f, FAULT_DATA,
                         "the admission state's %d numbers do not hold the carried "
                         "candidates it announces",
                         n);
    for (int i = 0; i < (int)s[0]; i++)
        if (!is_candidate(a, s + 1 + i * per_candidate(a)))
            return fault_set(f, FAULT_DATA,
                             "carried candidate %d of the admission state is no "
                             "candidate",
                             i);
    return 0;
}

static void take(struct admission *a, int64_t index, const double *s)
{
    struct candidate *c = &a->candidates[index];
    struct member *m = step_members(a, index);
    int flags = (int)s[2];

    *c = (struct candidate){.history = (enum history)s[0],
                            .age = (int)s[1],
                            .failed = flags & FLAG_FAILED,
                            .stale = flags & FLAG_STALE};
    for (int k = 0; k < a->c.size; k++) {
        enum heard heard = (enum heard)s[3 + 2 * k];

        m[k] = (struct member){.tokens = (int32_t)s[4 + 2 * k],
                               .reported = heard != OUT,
                               .finished = heard == WRONG || heard == RIGHT,
                               .correct = heard == RIGHT};
        c->reported += m[k].reported;
        c->finished += m[k].finished;
        c->correct += m[k].correct;
        c->tokens += m[k].tokens;
    }
}

int admission_state_set(struct admission *a, const double *state, int n,
                        struct fault *f)
{
    const double *carried = state + counts(a);
    size_t half = (size_t)counts(a) / 2;
    int rc;

    if (!a->closed)
        return fault_set(f, FAULT_BUG, "the admission state was set within a step");
    if (n < counts(a))
        return fault_set(
            f, FAULT_DATA,
            "the checkpoint has %d numbers of admission's state, and %d "
            "or more are wanted: dapo sft's has none; use another run.name",
            n, counts(a) + 1);
    rc = check_counts(a, state, f);
    if (!rc)
        rc = check_carried(a, carried, n - counts(a), f);
    if (!rc)
        rc = step_reserve(a, (int64_t)carried[0], f);
    if (rc)
        return rc;
    memcpy(a->estimate.equal, state, half * sizeof *state);
    memcpy(a->estimate.trainable, state + half, half * sizeof *state);
    estimate_update(&a->estimate);
    a->closed = CLOSED_STOPPED;
    a->consumed = a->trainable = a->awaited = a->carried = a->restarted = 0;
    a->started = a->live = (int64_t)carried[0];
    for (int64_t i = 0; i < a->started; i++)
        take(a, i, carried + 1 + i * per_candidate(a));
    return 0;
}
