/* admission.c - the life of an admission, and the beginning and end of a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "admission/step.h"
#include "dapo/mem.h"

/* -- life -------------------------------------------------------------------------- */

static int check_sizes(const struct admission_config *c, struct fault *f)
{
    if (c->groups < 1)
        return fault_set(f, FAULT_CONFIG, "%d groups per step; want at least 1",
                         c->groups);
    if (c->size < (c->dynamic ? 2 : 1))
        return fault_set(f, FAULT_CONFIG,
                         "%d completions per group; dynamic sampling needs 2, else 1",
                         c->size);
    if (c->max_candidates != 0 && c->max_candidates < c->groups)
        return fault_set(f, FAULT_CONFIG,
                         "max_candidates %lld is below the %d groups of a step",
                         (long long)c->max_candidates, c->groups);
    if (c->max_candidate_tokens < 0 || c->max_train_tokens < 0)
        return fault_set(f, FAULT_CONFIG,
                         "a token budget is negative; want 0 for none, or more");
    return 0;
}

static int check_policy(const struct admission_config *c, struct fault *f)
{
    if ((unsigned)c->refill >= REFILL_COUNT || (unsigned)c->order >= ORDER_COUNT ||
        (unsigned)c->surplus >= SURPLUS_COUNT)
        return fault_set(f, FAULT_CONFIG,
                         "refill %d, order %d or surplus %d is no policy",
                         (int)c->refill, (int)c->order, (int)c->surplus);
    if (c->refill == REFILL_FULL && c->full_multiplier < 1)
        return fault_set(f, FAULT_CONFIG, "full_multiplier %d; want at least 1",
                         c->full_multiplier);
    if (c->surplus == SURPLUS_RESUME &&
        (c->refill != REFILL_STREAM || c->order != ORDER_CANDIDATE))
        return fault_set(f, FAULT_CONFIG,
                         "surplus = resume needs refill = stream and order = "
                         "candidate");
    if (c->surplus == SURPLUS_RESUME && c->max_age < 1)
        return fault_set(f, FAULT_CONFIG, "max_age %d; want at least 1", c->max_age);
    if (!(c->speculation >= 0 && c->speculation <= 1))
        return fault_set(f, FAULT_CONFIG, "speculation %g is not in [0, 1]",
                         c->speculation);
    if (!(c->prior_trainable > 0 && c->prior_trainable < 1))
        return fault_set(f, FAULT_CONFIG, "prior_trainable %g is not in (0, 1)",
                         c->prior_trainable);
    if (!(c->prior_weight > 0 && isfinite(c->prior_weight)))
        return fault_set(f, FAULT_CONFIG, "prior_weight %g is not a positive number",
                         c->prior_weight);
    return 0;
}

/* All candidates at once where there is a bound: untouched memory costs nothing. */
static int allocate_candidates(struct admission *a, struct fault *f)
{
    size_t size = (size_t)a->c.size, n = (size_t)a->c.max_candidates, members;

    if (n == 0)
        return step_reserve(a, a->c.groups, f);
    if (!size_mul(n, size, &members))
        return fault_set(f, FAULT_CONFIG, "max_candidates %lld is too large",
                         (long long)a->c.max_candidates);
    a->candidates = mem_new(n, sizeof *a->candidates, "candidates", f);
    a->members = mem_new(members, sizeof *a->members, "candidates", f);
    a->room = n;
    a->room_members = members;
    return a->candidates && a->members ? 0 : f->code;
}

static int allocate(struct admission *a, struct fault *f)
{
    size_t size = (size_t)a->c.size;
    int rc = allocate_candidates(a, f);

    if (rc)
        return rc;
    a->batch = mem_new((size_t)a->c.groups, sizeof *a->batch, "candidates", f);
    a->undecided = mem_new(HISTORY_COUNT * size, sizeof *a->undecided, "candidates", f);
    a->correct = mem_new(size, sizeof *a->correct, "candidates", f);
    a->tokens = mem_new(size, sizeof *a->tokens, "candidates", f);
    if (!a->batch || !a->undecided || !a->correct || !a->tokens)
        return f->code;
    return estimate_init(&a->estimate, a->c.size, a->c.prior_trainable,
                         a->c.prior_weight, f);
}

int admission_new(struct admission **out, const struct admission_config *c,
                  struct fault *f)
{
    struct admission *a;
    int rc = check_sizes(c, f);

    *out = NULL;
    if (!rc)
        rc = check_policy(c, f);
    if (rc)
        return rc;
    a = mem_new(1, sizeof *a, "admission", f);
    if (!a)
        return f->code;
    a->c = *c;
    a->whole_rounds = c->dynamic && c->refill == REFILL_FULL;
    a->cuts = !a->whole_rounds && c->order == ORDER_CANDIDATE &&
              c->surplus == SURPLUS_DISCARD;
    a->fault = FAULT_INIT;
    a->closed = CLOSED_STOPPED; /* until the first begin */
    rc = allocate(a, f);
    if (rc)
        admission_free(a);
    else
        *out = a;
    return rc;
}

void admission_free(struct admission *a)
{
    if (!a)
        return;
    estimate_free(&a->estimate);
    free(a->candidates);
    free(a->members);
    free(a->batch);
    free(a->undecided);
    free(a->correct);
    free(a->tokens);
    free(a);
}

/* -- begin and end ----------------------------------------------------------------- */

/* The candidates that go on come first, a step older. */
static void carry(struct admission *a, int64_t from, int64_t n)
{
    size_t size = (size_t)a->c.size;

    if (n == 0)
        return;
    memmove(a->candidates, a->candidates + from, (size_t)n * sizeof *a->candidates);
    memmove(a->members, step_members(a, from), (size_t)n * size * sizeof *a->members);
    for (int64_t i = 0; i < n; i++) {
        struct candidate *c = &a->candidates[i];
        bool degenerate = candidate_complete(c, a->c.size) && !candidate_trains(a, c);

        c->age++;
        if (c->age > a->c.max_age && !c->failed && !degenerate)
            c->stale = true;
        a->carried += c->tokens;
        a->awaited += a->c.size - c->reported;
        step_count(a, c, 1);
    }
    a->started = a->live = n;
}

int admission_begin(struct admission *a, int64_t available, struct fault *f)
{
    int64_t most = a->c.max_candidates ? a->c.max_candidates : INT64_MAX;
    int64_t from = a->consumed, n = admission_carried(a);

    if (!a->c.dynamic)
        most = a->c.groups;
    if (a->fault.code) {
        *f = a->fault;
        return f->code;
    }
    if (!admission_settled(a))
        return fault_set(f, FAULT_BUG, "a step began before the last one was settled");
    if (available < n)
        return fault_set(f, FAULT_BUG, "%lld prompts are available, %lld in flight",
                         (long long)available, (long long)n);
    memset(a->undecided, 0, HISTORY_COUNT * (size_t)a->c.size * sizeof *a->undecided);
    a->closed = a->decided = CLOSED_OPEN;
    a->short_by = available < most ? CLOSED_DATA_EXHAUSTED : CLOSED_MAX_CANDIDATES;
    a->limit = available < most ? available : most;
    a->started = a->live = a->wave = a->unnamed = a->awaited = 0;
    a->restarted = a->carried = 0;
    a->known = a->done = a->spent = a->to_train = 0;
    a->resolved = a->trainable = a->taken = a->taken_train = a->consumed = 0;
    a->needed = -1;
    carry(a, from, n);
    step_advance(a); /* with nothing to draw the step is over */
    return 0;
}

enum closed_by admission_closed(const struct admission *a)
{
    return a->closed;
}

void admission_stop(struct admission *a, enum closed_by why)
{
    if (why != CLOSED_MAX_SECONDS)
        why = CLOSED_STOPPED;
    if (!a->closed)
        step_close(a, a->decided ? a->decided : why);
}

int admission_fault(const struct admission *a, struct fault *f)
{
    if (a->fault.code)
        *f = a->fault;
    return a->fault.code;
}
