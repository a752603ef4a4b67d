/* tape.c - a recorded run as a source of candidates. */
#include <limits.h>
#include <stdlib.h>

#include "dapo/mem.h"
#include "dapo/random.h"
#include "dapo/sim.h"

struct sim_tape {
    const struct sim_record *r;
    uint64_t seed;
    int64_t *prompt; /* [n_groups] numbered anew, from 0 */
    int64_t prompts;
    int64_t *of;       /* groups by prompt ... */
    int64_t *of_first; /* ... [prompts + 1] where each one's begin */
    int64_t *complete; /* groups all of whose members ended */
    int64_t n_complete;
    int64_t *ended; /* members that ended, by ascending length */
    int64_t n_ended;
};

/* -- what was recorded ------------------------------------------------------------- */

static int check(const struct sim_record *r, struct fault *f)
{
    bool bad = r->size < 1 || r->max_tokens < 1 || r->n_steps < 1;

    for (int64_t i = 0; !bad && i < r->n_steps; i++) {
        const struct sim_record_step *s = &r->steps[i], *before = s - (i > 0);

        bad = s->cursor < 0 || s->consumed < 0 || s->n < s->consumed || s->first < 0 ||
              s->n > r->n_groups - s->first || s->cursor > INT64_MAX - s->n ||
              (i > 0 && s->cursor != before->cursor + before->consumed);
    }
    for (int64_t i = 0; !bad && i < r->n_groups; i++)
        bad = r->groups[i].prompt < 0 || r->groups[i].first < 0 ||
              r->size > r->n_members - r->groups[i].first;
    for (int64_t i = 0; !bad && i < r->n_members; i++)
        bad = r->members[i].tokens < (r->members[i].ended ? 1 : 0);
    return bad ? fault_set(
                     f, FAULT_DATA,
                     "the recorded steps don't follow one another, or a candidate "
                     "is not whole")
               : 0;
}

static const struct sim_record_member *members_of(const struct sim_tape *t,
                                                  int64_t group)
{
    return t->r->members + t->r->groups[group].first;
}

static bool is_complete(const struct sim_tape *t, int64_t group)
{
    for (int k = 0; k < t->r->size; k++)
        if (!members_of(t, group)[k].ended)
            return false;
    return true;
}

struct keyed {
    int64_t key, value;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Groups by prompt; prompts get the numbers of their order. */
static int sort_groups(struct sim_tape *t, struct fault *f)
{
    size_t n = (size_t)t->r->n_groups;
    struct keyed *x = mem_new(n, sizeof *x, "recorded groups", f);

    t->prompt = mem_new(n, sizeof *t->prompt, "recorded groups", f);
    t->of = mem_new(n, sizeof *t->of, "recorded groups", f);
    t->of_first = mem_new(n + 1, sizeof *t->of_first, "recorded groups", f);
    t->complete = mem_new(n, sizeof *t->complete, "recorded groups", f);
    if (!x || !t->prompt || !t->of || !t->of_first || !t->complete) {
        free(x);
        return f->code;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = (struct keyed){t->r->groups[i].prompt, (int64_t)i};
        if (is_complete(t, (int64_t)i))
            t->complete[t->n_complete++] = (int64_t)i;
    }
    qsort(x, n, sizeof *x, by_key);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || x[i].key != x[i - 1].key)
            t->of_first[t->prompts++] = (int64_t)i;
        t->of[i] = x[i].value;
        t->prompt[x[i].value] = t->prompts - 1;
    }
    t->of_first[t->prompts] = (int64_t)n;
    free(x);
    return 0;
}

static int sort_members(struct sim_tape *t, struct fault *f)
{
    size_t n = (size_t)t->r->n_members;
    struct keyed *x = mem_new(n, sizeof *x, "recorded completions", f);

    t->ended = mem_new(n, sizeof *t->ended, "recorded completions", f);
    if (!x || !t->ended) {
        free(x);
        return f->code;
    }
    for (size_t i = 0; i < n; i++)
        if (t->r->members[i].ended)
            x[t->n_ended++] = (struct keyed){t->r->members[i].tokens, (int64_t)i};
    qsort(x, (size_t)t->n_ended, sizeof *x, by_key);
    for (int64_t i = 0; i < t->n_ended; i++)
        t->ended[i] = x[i].value;
    free(x);
    return 0;
}

int sim_tape_new(struct sim_tape **out, const struct sim_record *r, uint64_t seed,
                 struct fault *f)
{
    struct sim_tape *t;
    int rc = check(r, f);

    *out = NULL;
    if (rc)
        return rc;
    if (!(t = mem_new(1, sizeof *t, "a recorded run", f)))
        return f->code;
    t->r = r;
    t->seed = seed;
    rc = sort_groups(t, f);
    if (!rc)
        rc = sort_members(t, f);
    if (!rc && t->n_complete == 0)
        rc = fault_set(f, FAULT_DATA,
                       "no complete group was recorded: there is nothing to draw from");
    if (rc)
        sim_tape_free(t);
    else
        *out = t;
    return rc;
}

void sim_tape_free(struct sim_tape *t)
{
    if (!t)
        return;
    free(t->prompt);
    free(t->of);
    free(t->of_first);
    free(t->complete);
    free(t->ended);
    free(t);
}

/* -- drawing ----------------------------------------------------------------------- */

/* The step that consumed this number; -1 if none did. */
static int64_t consumer(const struct sim_record *r, int64_t number)
{
    int64_t low = 0, high = r->n_steps;

    while (low < high) { /* the first step that ends behind it */
        int64_t mid = low + (high - low) / 2;

        if (r->steps[mid].cursor + r->steps[mid].consumed <= number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->n_steps && r->steps[low].cursor <= number ? low : -1;
}

/* The recorded group of a number as step `step` would have it; -1 if there is none. */
static int64_t recorded(const struct sim_record *r, int64_t step, int64_t number)
{
    int64_t other = consumer(r, number);

    if (step < r->n_steps && other != step && number >= r->steps[step].cursor &&
        number - r->steps[step].cursor < r->steps[step].n)
        other = step;
    return other < 0 ? -1 : r->steps[other].first + number - r->steps[other].cursor;
}

static uint64_t below(const struct sim_tape *t, int64_t n, int64_t number, int member)
{
    return random_below((uint64_t)n, t->seed, RANDOM_SIM, (uint32_t)number,
                        (uint32_t)(number >> 32), (uint32_t)member, UINT32_MAX);
}

/* Longer completions of the same prompt: how many, or the `pick`-th of them in *m. */
static int64_t longer_of_prompt(const struct sim_tape *t, int64_t group, int than,
                                int64_t pick, struct sim_record_member *m)
{
    int64_t p = t->prompt[group], n = 0;

    for (int64_t i = t->of_first[p]; i < t->of_first[p + 1]; i++)
        for (int k = 0; k < t->r->size; k++) {
            struct sim_record_member x = members_of(t, t->of[i])[k];

            if (x.ended && x.tokens > than && n++ == pick)
                *m = x;
        }
    return n;
}

/* How a member that was cut after so many tokens might have ended. */
static struct sim_record_member end_of(const struct sim_tape *t, int64_t group, int cut,
                                       int64_t number, int member)
{
    struct sim_record_member m = {t->r->max_tokens, true, false};
    int64_t n = longer_of_prompt(t, group, cut, -1, &m), low = 0, high = t->n_ended;

    if (n > 0) {
        longer_of_prompt(t, group, cut, (int64_t)below(t, n, number, member), &m);
        return m;
    }
    while (low < high) {
        int64_t mid = low + (high - low) / 2;

        if (t->r->members[t->ended[mid]].tokens <= cut)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < t->n_ended)
        return t->r->members[t->ended[low + (int64_t)below(t, t->n_ended - low, number,
                                                           member)]];
    if (m.tokens <= cut)
        m.tokens = cut < INT_MAX ? cut + 1 : cut;
    return m;
}

static int draw(void *context, int64_t step, int64_t number, struct sim_member *out,
                int64_t *prompt, struct fault *f)
{
    const struct sim_tape *t = context;
    int64_t group = recorded(t->r, step, number);
    bool unknown = group < 0;

    (void)f;
    if (unknown)
        group = t->complete[below(t, t->n_complete, number, 0)];
    *prompt = t->prompt[group];
    for (int k = 0; k < t->r->size; k++) {
        struct sim_record_member m = members_of(t, group)[k];
        bool cut = !m.ended;

        if (cut)
            m = end_of(t, group, m.tokens, number, k + 1);
        out[k] = (struct sim_member){m.tokens, m.correct, cut || unknown};
    }
    return 0;
}

struct sim_source sim_tape_source(struct sim_tape *t)
{
    return (struct sim_source){
        .context = t,
        .draw = draw,
        .available = INT64_MAX,
        .prompts = t->prompts,
        .size = t->r->size,
        .max_tokens = t->r->max_tokens,
    };
}
