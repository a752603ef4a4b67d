/* step.c - what follows from an event: cutting, deciding, closing. */
#include <stdlib.h>
#include <string.h>

#include "admission/step.h"
#include "dapo/mem.h"

bool candidate_known(const struct candidate *c)
{
    return !candidate_lost(c) && group_trainable(c->correct, c->finished);
}

bool candidate_complete(const struct candidate *c, int size)
{
    return !candidate_lost(c) && c->finished == size;
}

bool candidate_trains(const struct admission *a, const struct candidate *c)
{
    return candidate_complete(c, a->c.size) && (!a->c.dynamic || candidate_known(c));
}

static bool resolved(const struct admission *a, const struct candidate *c)
{
    return candidate_lost(c) || c->finished == a->c.size;
}

bool candidate_goes_on(const struct admission *a, int64_t index)
{
    return a->closed && a->c.surplus == SURPLUS_RESUME && index >= a->consumed;
}

/* At least doubled, so that starting one after the other costs O(1) each. */
int step_reserve(struct admission *a, int64_t n, struct fault *f)
{
    size_t members;

    if (n < 0 || !size_mul((size_t)n, (size_t)a->c.size, &members))
        return fault_set(f, FAULT_SYSTEM, "no memory for %lld candidates",
                         (long long)n);
    if (mem_grow((void **)&a->candidates, &a->room, (size_t)n, sizeof *a->candidates,
                 "candidates", f))
        return f->code;
    return mem_grow((void **)&a->members, &a->room_members, members, sizeof *a->members,
                    "candidates", f);
}

/* Tokens that a live candidate counts towards the budgets. */
static int64_t spent_tokens(const struct candidate *c)
{
    return candidate_lost(c) ? 0 : c->tokens;
}

static int64_t train_tokens(const struct admission *a, const struct candidate *c)
{
    return !a->c.dynamic || candidate_known(c) ? spent_tokens(c) : 0;
}

void step_count(struct admission *a, const struct candidate *c, int sign)
{
    a->needed = -1;
    a->spent += sign * spent_tokens(c);
    a->to_train += sign * train_tokens(a, c);
    if (resolved(a, c))
        a->done += sign;
    if (candidate_known(c))
        a->known += sign;
    else if (!resolved(a, c))
        a->undecided[(int)c->history * a->c.size + c->finished] += sign;
}

static bool over(int64_t tokens, int64_t budget)
{
    return budget > 0 && tokens > budget;
}

int64_t step_target(const struct admission *a)
{
    return (int64_t)a->c.groups * (a->c.surplus == SURPLUS_RESUME ? 2 : 1);
}

bool step_enough(const struct admission *a)
{
    return (a->c.dynamic && a->known >= step_target(a)) ||
           over(a->spent, a->c.max_candidate_tokens) ||
           over(a->to_train, a->c.max_train_tokens);
}

/* A failure withdrew the cut: count again those behind it that need no new start. */
static void take_back(struct admission *a)
{
    while (a->live < a->started && !step_enough(a)) {
        struct candidate *c = &a->candidates[a->live];

        if (c->named && !c->failed && !candidate_complete(c, a->c.size))
            return; /* admission_launch starts it again */
        step_count(a, c, 1);
        a->live++;
    }
}

/* Nothing behind the B-th known trainable candidate can be trained, and nothing behind
 * the one whose finished members alone go over a budget: its own end decides. */
static void cut(struct admission *a)
{
    while (a->live > 0) {
        const struct candidate *c = &a->candidates[a->live - 1];

        if (!(a->c.dynamic && a->known - candidate_known(c) >= a->c.groups) &&
            !over(a->spent - spent_tokens(c), a->c.max_candidate_tokens) &&
            !over(a->to_train - train_tokens(a, c), a->c.max_train_tokens))
            break;
        step_count(a, c, -1);
        a->live--;
    }
    if (a->unnamed > a->live)
        a->unnamed = a->live;
}

/* Its turn: take it into the account and the batch, unless a budget forbids. */
static enum closed_by take(struct admission *a, int64_t index)
{
    const struct candidate *c = &a->candidates[index];
    bool trains = candidate_trains(a, c);

    if (!candidate_complete(c, a->c.size))
        return CLOSED_OPEN;
    if (over(a->taken + c->tokens, a->c.max_candidate_tokens))
        return CLOSED_MAX_CANDIDATE_TOKENS;
    if (trains && over(a->taken_train + c->tokens, a->c.max_train_tokens))
        return CLOSED_MAX_TRAIN_TOKENS;
    a->taken += c->tokens;
    if (!trains)
        return CLOSED_OPEN;
    a->taken_train += c->tokens;
    a->batch[a->trainable++] = index;
    return a->trainable == a->c.groups ? CLOSED_FULL : CLOSED_OPEN;
}

static void take_prefix(struct admission *a)
{
    while (!a->decided && a->resolved < a->live &&
           resolved(a, &a->candidates[a->resolved])) {
        a->decided = take(a, a->resolved);
        if (!a->decided || a->decided == CLOSED_FULL)
            a->resolved++;
    }
}

void step_completed(struct admission *a, int64_t index)
{
    if (a->c.order == ORDER_COMPLETION && !a->closed && !a->decided)
        a->decided = take(a, index);
}

void step_advance(struct admission *a)
{
    int64_t round = a->wave < a->limit ? a->wave : a->limit;

    if (a->closed)
        return;
    if (a->cuts) {
        take_back(a);
        cut(a);
    }
    if (a->c.order == ORDER_CANDIDATE)
        take_prefix(a);
    if (!a->decided && a->done == a->limit)
        a->decided = a->short_by;
    if (a->decided && (!a->whole_rounds || (a->done == a->live && a->live == round)))
        step_close(a, a->decided);
}

static int by_index(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

static void learn(struct admission *a)
{
    if (a->consumed == 0)
        return;
    estimate_age(&a->estimate);
    for (int64_t i = 0; i < a->consumed; i++) {
        const struct candidate *c = &a->candidates[i];
        const struct member *m = step_members(a, i);

        if (!candidate_complete(c, a->c.size))
            continue;
        for (int k = 0; k < a->c.size; k++) {
            a->correct[k] = m[k].correct;
            a->tokens[k] = m[k].tokens;
        }
        estimate_add(&a->estimate, c->history, a->correct, a->tokens);
    }
    estimate_update(&a->estimate);
}

void step_close(struct admission *a, enum closed_by why)
{
    bool broken = a->decided == CLOSED_MAX_CANDIDATE_TOKENS ||
                  a->decided == CLOSED_MAX_TRAIN_TOKENS;

    a->closed = why;
    a->unnamed = 0;
    if (a->c.order == ORDER_COMPLETION) {
        a->consumed = a->started;
        qsort(a->batch, (size_t)a->trainable, sizeof *a->batch, by_index);
    } else {
        a->consumed = a->resolved ? a->resolved : broken;
    }
    for (int64_t i = 0; i < a->trainable; i++)
        a->candidates[a->batch[i]].trained = true;
    if (a->c.surplus == SURPLUS_RESUME) {
        a->awaited = 0;
        for (int64_t i = 0; i < a->consumed; i++)
            a->awaited += a->c.size - a->candidates[i].reported;
    }
    learn(a);
}
