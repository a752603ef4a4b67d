/* admission.c - events in, decisions out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "admission/step.h"
#include "dapo/mem.h"

bool candidate_known(const struct candidate *c)
{
    return !c->failed && group_trainable(c->correct, c->finished);
}

bool candidate_complete(const struct candidate *c, int size)
{
    return !c->failed && c->finished == size;
}

bool candidate_trains(const struct admission *a, const struct candidate *c)
{
    return candidate_complete(c, a->c.size) && (!a->c.dynamic || candidate_known(c));
}

/* -- life -------------------------------------------------------------------------- */

static int check_config(const struct admission_config *c, struct fault *f)
{
    if (c->groups < 1)
        return fault_set(f, FAULT_CONFIG, "%d groups per step; want at least 1",
                         c->groups);
    if (c->size < (c->dynamic ? 2 : 1))
        return fault_set(f, FAULT_CONFIG,
                         "%d completions per group; dynamic sampling needs 2, else 1",
                         c->size);
    if (c->max_candidates < c->groups)
        return fault_set(f, FAULT_CONFIG,
                         "max_candidates %lld is below the %d groups of a step",
                         (long long)c->max_candidates, c->groups);
    if ((unsigned)c->refill >= REFILL_COUNT)
        return fault_set(f, FAULT_CONFIG, "%d is no refill policy", (int)c->refill);
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

static int allocate(struct admission *a, struct fault *f)
{
    size_t size = (size_t)a->c.size, n = (size_t)a->c.max_candidates, members;

    if (!size_mul(n, size, &members))
        return fault_set(f, FAULT_CONFIG, "max_candidates %lld is too large",
                         (long long)a->c.max_candidates);
    a->candidates = mem_new(n, sizeof *a->candidates, "candidates", f);
    a->reported = mem_new(members, sizeof *a->reported, "candidates", f);
    a->correct = mem_new(members, sizeof *a->correct, "candidates", f);
    a->tokens = mem_new(members, sizeof *a->tokens, "candidates", f);
    a->batch = mem_new((size_t)a->c.groups, sizeof *a->batch, "candidates", f);
    a->undecided = mem_new(size + 1, sizeof *a->undecided, "candidates", f);
    if (!a->candidates || !a->reported || !a->correct || !a->tokens || !a->batch ||
        !a->undecided)
        return f->code;
    return estimate_init(&a->estimate, a->c.size, a->c.prior_trainable,
                         a->c.prior_weight, f);
}

int admission_new(struct admission **out, const struct admission_config *c,
                  struct fault *f)
{
    struct admission *a;
    int rc = check_config(c, f);

    *out = NULL;
    if (rc)
        return rc;
    a = mem_new(1, sizeof *a, "admission", f);
    if (!a)
        return f->code;
    a->c = *c;
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
    free(a->reported);
    free(a->correct);
    free(a->tokens);
    free(a->batch);
    free(a->undecided);
    free(a);
}

/* -- what follows from an event ---------------------------------------------------- */

static size_t at(const struct admission *a, int64_t index, int member)
{
    return (size_t)index * (size_t)a->c.size + (size_t)member;
}

/* Forget what was heard of a candidate. */
static void clear(struct admission *a, int64_t index)
{
    size_t i = at(a, index, 0), n = (size_t)a->c.size;

    a->candidates[index] = (struct candidate){0};
    memset(a->reported + i, 0, n * sizeof *a->reported);
    memset(a->correct + i, 0, n);
    memset(a->tokens + i, 0, n * sizeof *a->tokens);
}

/* Count a live candidate in (+1) or out (-1): known, or undecided, or neither. */
static void count(struct admission *a, const struct candidate *c, int sign)
{
    if (candidate_known(c))
        a->known += sign;
    else if (!c->failed && c->finished < a->c.size)
        a->undecided[c->finished] += sign;
}

/* A failure withdrew the cut: count again those behind it that need no new start. */
static void take_back(struct admission *a)
{
    while (a->live < a->started && a->known < a->c.groups) {
        struct candidate *c = &a->candidates[a->live];

        if (c->named && !c->failed && !candidate_complete(c, a->c.size))
            return; /* admission_launch starts it again */
        count(a, c, 1);
        a->live++;
    }
}

/* Nothing behind the B-th known trainable candidate can be trained. */
static void cut(struct admission *a)
{
    if (!a->c.dynamic || a->known < a->c.groups)
        return;
    for (;;) {
        struct candidate *c = &a->candidates[a->live - 1];

        if (a->known == a->c.groups && candidate_known(c))
            break;
        count(a, c, -1);
        a->live--;
    }
    if (a->unnamed > a->live)
        a->unnamed = a->live;
}

/* The step is decided by its first `resolved` candidates: note the batch and learn from
 * exactly these, in order. */
static void close_step(struct admission *a, enum closed_by why)
{
    a->closed = why;
    a->n_batch = 0;
    if (a->unnamed > a->resolved)
        a->unnamed = a->resolved;
    if (a->resolved == 0)
        return;
    estimate_age(&a->estimate);
    for (int64_t i = 0; i < a->resolved; i++) {
        const struct candidate *c = &a->candidates[i];

        if (candidate_complete(c, a->c.size))
            estimate_add(&a->estimate, a->correct + at(a, i, 0),
                         a->tokens + at(a, i, 0));
        if (candidate_trains(a, c))
            a->batch[a->n_batch++] = i;
    }
    estimate_update(&a->estimate);
}

static void advance(struct admission *a)
{
    if (a->closed)
        return;
    take_back(a);
    cut(a);
    while (a->resolved < a->live && a->trainable < a->c.groups) {
        const struct candidate *c = &a->candidates[a->resolved];

        if (!c->failed && !candidate_complete(c, a->c.size))
            break;
        a->trainable += candidate_trains(a, c);
        a->resolved++;
    }
    if (a->trainable == a->c.groups)
        close_step(a, CLOSED_FULL);
    else if (a->resolved == a->limit)
        close_step(a, a->short_by);
}

/* -- decisions --------------------------------------------------------------------- */

int admission_begin(struct admission *a, int64_t available, struct fault *f)
{
    int64_t most = a->c.dynamic ? a->c.max_candidates : a->c.groups;

    if (!admission_settled(a))
        return fault_set(f, FAULT_BUG, "a step began before the last one was settled");
    if (available < 0)
        return fault_set(f, FAULT_BUG, "%lld prompts are available",
                         (long long)available);
    memset(a->undecided, 0, (size_t)a->c.size * sizeof *a->undecided);
    a->closed = CLOSED_OPEN;
    a->short_by = available < most ? CLOSED_DATA_EXHAUSTED : CLOSED_MAX_CANDIDATES;
    a->limit = available < most ? available : most;
    a->started = a->live = a->known = a->resolved = a->trainable = 0;
    a->wave = a->unnamed = a->awaited = a->restarted = 0;
    a->n_batch = 0;
    advance(a); /* with nothing to draw the step is over */
    return 0;
}

/* Does the policy want one more candidate? */
static bool wanted(struct admission *a)
{
    if (!a->c.dynamic)
        return true;
    if (a->c.refill == REFILL_WAVES) {
        if (a->live < a->wave)
            return true;
        if (a->resolved < a->live)
            return false;
        a->wave = a->live + a->c.groups - a->trainable;
        return true;
    }
    return a->known < a->c.groups &&
           odds_fewer(a->c.groups - a->known, a->undecided, a->estimate.q, a->c.size) >=
               a->c.speculation;
}

bool admission_launch(struct admission *a, int free_slots, int64_t *index)
{
    struct candidate *c;

    if (a->closed || free_slots <= 0 || a->live >= a->limit || !wanted(a))
        return false;
    c = &a->candidates[a->live];
    if (a->live < a->started) {
        if (c->reported < a->c.size)
            return false; /* its cancelled members are still on their way back */
        a->restarted += c->tokens;
    } else {
        a->started++;
    }
    clear(a, a->live);
    count(a, c, 1);
    a->awaited += a->c.size;
    *index = a->live++;
    return true;
}

bool admission_cancel(struct admission *a, int64_t *index)
{
    int64_t end = a->closed ? a->resolved : a->live;

    while (a->unnamed < a->started) {
        struct candidate *c = &a->candidates[a->unnamed++];
        bool useless = c->failed || a->unnamed > end;

        if (!useless || c->named || c->reported == a->c.size)
            continue;
        c->named = true;
        *index = a->unnamed - 1;
        return true;
    }
    return false;
}

enum closed_by admission_closed(const struct admission *a)
{
    return a->closed;
}

void admission_stop(struct admission *a, enum closed_by why)
{
    if (!a->closed)
        close_step(a, why);
}

/* -- events ------------------------------------------------------------------------ */

/* A started candidate, or NULL with FAULT_BUG. */
static struct candidate *find(struct admission *a, int64_t index, struct fault *f)
{
    if (index >= 0 && index < a->started)
        return &a->candidates[index];
    fault_set(f, FAULT_BUG, "candidate %lld was never started", (long long)index);
    return NULL;
}

/* Bill a member's tokens, once. */
static int report(struct admission *a, struct candidate *c, int member, int64_t tokens,
                  struct fault *f)
{
    int64_t index = c - a->candidates;
    bool *reported;

    if (member < 0 || member >= a->c.size)
        return fault_set(f, FAULT_BUG, "candidate %lld has no member %d",
                         (long long)index, member);
    if (tokens < 0)
        return fault_set(f, FAULT_BUG, "candidate %lld, member %d: %lld tokens",
                         (long long)index, member, (long long)tokens);
    reported = &a->reported[at(a, index, member)];
    if (*reported)
        return fault_set(f, FAULT_BUG, "candidate %lld, member %d was reported twice",
                         (long long)index, member);
    *reported = true;
    c->reported++;
    a->awaited--;
    a->tokens[at(a, index, member)] = tokens;
    c->tokens += tokens;
    return 0;
}

int admission_finished(struct admission *a, int64_t index, int member, bool correct,
                       int64_t tokens, struct fault *f)
{
    struct candidate *c = find(a, index, f);
    int rc;

    if (!c)
        return FAULT_BUG;
    if ((rc = report(a, c, member, tokens, f)))
        return rc;
    if (index < a->live)
        count(a, c, -1);
    a->correct[at(a, index, member)] = correct;
    c->finished++;
    c->correct += correct;
    if (index < a->live)
        count(a, c, 1);
    advance(a);
    return 0;
}

int admission_cut(struct admission *a, int64_t index, int member, int64_t tokens,
                  struct fault *f)
{
    struct candidate *c = find(a, index, f);

    if (!c)
        return FAULT_BUG;
    if (!c->named && !c->failed && !a->closed)
        return fault_set(f, FAULT_BUG, "candidate %lld was cut without being cancelled",
                         (long long)index);
    return report(a, c, member, tokens, f);
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
    if (index < a->live)
        count(a, c, -1);
    c->failed = true;
    if (a->unnamed > index)
        a->unnamed = index;
    advance(a);
    return 0;
}
