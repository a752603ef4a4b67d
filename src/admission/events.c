/* events.c - what is heard of started candidates and their members. */
#include "admission/step.h"

/* A started candidate, or NULL with FAULT_BUG. */
static struct candidate *find(struct admission *a, int64_t index, struct fault *f)
{
    if (index >= 0 && index < a->started)
        return &a->candidates[index];
    fault_set(f, FAULT_BUG, "candidate %lld was never started", (long long)index);
    return NULL;
}

static int check_report(const struct admission *a, int64_t index, int member,
                        int64_t tokens, struct fault *f)
{
    if (member < 0 || member >= a->c.size)
        return fault_set(f, FAULT_BUG, "candidate %lld has no member %d",
                         (long long)index, member);
    if (tokens < 0 || tokens > INT32_MAX)
        return fault_set(f, FAULT_BUG, "candidate %lld, member %d: %lld tokens",
                         (long long)index, member, (long long)tokens);
    if (step_members(a, index)[member].reported)
        return fault_set(f, FAULT_BUG, "candidate %lld, member %d was reported twice",
                         (long long)index, member);
    return 0;
}

/* Wrap each change to a candidate in -1 and +1 of this. */
static void recount(struct admission *a, int64_t index, int sign)
{
    if (index < a->live)
        step_count(a, &a->candidates[index], sign);
}

/* Bill a member's tokens. */
static void report(struct admission *a, int64_t index, struct member *m, int64_t tokens)
{
    struct candidate *c = &a->candidates[index];

    m->reported = true;
    m->tokens = (int32_t)tokens;
    c->reported++;
    c->tokens += tokens;
    if (!candidate_goes_on(a, index))
        a->awaited--;
}

int admission_finished(struct admission *a, int64_t index, int member, bool correct,
                       int64_t tokens, struct fault *f)
{
    struct candidate *c = find(a, index, f);
    struct member *m;
    int rc;

    if (!c)
        return FAULT_BUG;
    if ((rc = check_report(a, index, member, tokens, f)))
        return rc;
    recount(a, index, -1);
    m = &step_members(a, index)[member];
    report(a, index, m, tokens);
    m->finished = true;
    m->correct = correct;
    c->finished++;
    c->correct += correct;
    recount(a, index, 1);
    if (candidate_complete(c, a->c.size))
        step_completed(a, index);
    step_advance(a);
    return 0;
}

int admission_cut(struct admission *a, int64_t index, int member, int64_t tokens,
                  struct fault *f)
{
    struct candidate *c = find(a, index, f);
    int rc;

    if (!c)
        return FAULT_BUG;
    if (!c->named && !candidate_lost(c) && (!a->closed || candidate_goes_on(a, index)))
        return fault_set(f, FAULT_BUG, "candidate %lld was cut without being cancelled",
                         (long long)index);
    if ((rc = check_report(a, index, member, tokens, f)))
        return rc;
    report(a, index, &step_members(a, index)[member], tokens);
    return 0;
}

int admission_failed(struct admission *a, int64_t index, struct fault *f)
{
    struct candidate *c = find(a, index, f);

    if (!c)
        return FAULT_BUG;
    if (c->failed)
        return 0;
    if (candidate_complete(c, a->c.size))
        return fault_set(f, FAULT_BUG, "candidate %lld failed, but is complete",
                         (long long)index);
    recount(a, index, -1);
    c->failed = true;
    recount(a, index, 1);
    if (a->unnamed > index)
        a->unnamed = index;
    step_advance(a);
    return 0;
}

int admission_history(struct admission *a, int64_t index, enum history h,
                      struct fault *f)
{
    struct candidate *c = find(a, index, f);

    if (!c)
        return FAULT_BUG;
    if ((unsigned)h >= HISTORY_COUNT)
        return fault_set(f, FAULT_BUG, "candidate %lld: %d is no history",
                         (long long)index, (int)h);
    if (c->reported || c->failed)
        return fault_set(f, FAULT_BUG, "candidate %lld has verdicts already",
                         (long long)index);
    recount(a, index, -1);
    c->history = h;
    recount(a, index, 1);
    return 0;
}
