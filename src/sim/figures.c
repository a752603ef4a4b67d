/* figures.c - many steps in a few numbers, and what no policy can beat. */
#include <math.h>
#include <stdlib.h>

#include "dapo/mem.h"
#include "dapo/sim.h"

void sim_add(struct sim_figures *t, const struct sim_step *s, int groups_wanted)
{
    t->steps++;
    t->short_steps += s->groups < groups_wanted;
    t->groups += s->groups;
    t->started += s->started;
    t->stale += s->stale;
    t->sequences += s->sequences;
    t->truncated += s->truncated;
    t->seconds += s->seconds;
    t->iterations += s->iterations;
    t->ticks += s->ticks;
    t->decoded += s->decoded;
    if (t->steps == 1 || s->rounds > t->worst_rounds)
        t->worst_rounds = s->rounds;
    for (int i = 0; i < FATE_COUNT; i++)
        t->tokens[i] += s->tokens[i];
    t->length += s->length;
    t->length_squared += s->length_squared;
    t->drawn_groups += s->drawn_groups;
    t->drawn_tokens += s->drawn_tokens;
}

double sim_step_seconds(const struct sim_figures *t, int groups_wanted)
{
    return t->groups ? t->seconds * groups_wanted / (double)t->groups : NAN;
}

double sim_mean_length(const struct sim_figures *t, double *error)
{
    double n = (double)t->groups, mean = t->length / n;
    double variance = t->length_squared / n - mean * mean;

    if (t->groups == 0)
        return *error = NAN;
    *error = sqrt(fmax(variance, 0) / n);
    return mean;
}

double sim_occupancy(const struct sim_figures *t, const struct sim_machine *m)
{
    double slots = (double)t->iterations * m->replicas * m->slots;

    return slots > 0 ? (double)t->decoded / slots : 0;
}

/* -- bounds ------------------------------------------------------------------------ */

/* The work of some groups. */
struct work {
    double tokens, longest;
};

static void add(struct work *w, const struct sim_member *m, int size)
{
    for (int k = 0; k < size; k++) {
        w->tokens += m[k].tokens;
        w->longest = fmax(w->longest, m[k].tokens);
    }
}

static bool trainable(const struct sim_member *m, int size)
{
    int correct = 0;

    for (int k = 0; k < size; k++)
        correct += m[k].correct;
    return group_trainable(correct, size);
}

static double bound(const struct work *w, const struct sim_machine *m, bool longest)
{
    double iterations = w->tokens / m->replicas / m->slots;

    if (longest)
        iterations = fmax(iterations, w->longest);
    return iterations * m->fixed_s + w->tokens / m->replicas * m->each_s;
}

struct patient {
    const struct sim_source *s;
    struct sim_member *members;
    int64_t cursor, step;
    int64_t trained;
};

/* Candidates in order until `groups` of them are trainable. */
static int patient_step(struct patient *p, int groups, int64_t most,
                        struct work *trained, struct work *all, struct fault *f)
{
    int64_t prompt;
    int found = 0, rc;

    *trained = *all = (struct work){0};
    for (int64_t i = 0; found < groups && i < most && p->cursor < p->s->available;
         i++) {
        rc = p->s->draw(p->s->context, p->step, p->cursor++, p->members, &prompt, f);
        if (rc)
            return rc;
        add(all, p->members, p->s->size);
        if (trainable(p->members, p->s->size)) {
            add(trained, p->members, p->s->size);
            found++;
        }
    }
    p->step++;
    p->trained += found;
    return 0;
}

int sim_bounds(struct sim_bounds *out, const struct sim_source *s,
               const struct sim_machine *m, int groups, int64_t max_candidates,
               int64_t cursor, int64_t steps, struct fault *f)
{
    struct patient p = {.s = s, .cursor = cursor};
    /* Without a bound of its own a law without trainable groups would have none. */
    int64_t most = max_candidates > 0 ? max_candidates : (int64_t)groups * 100000;
    double each;
    int rc = 0;

    *out = (struct sim_bounds){0};
    p.members = mem_new((size_t)s->size, sizeof *p.members, "a candidate", f);
    if (!p.members)
        return f->code;
    for (int64_t i = 0; !rc && i < steps; i++) {
        struct work trained, all;

        rc = patient_step(&p, groups, most, &trained, &all, f);
        out->oracle += bound(&trained, m, true);
        out->blind += bound(&all, m, true);
        out->overlap += bound(&all, m, false);
    }
    free(p.members);
    if (!rc && p.trained == 0)
        return fault_set(f, FAULT_DATA,
                         "no candidate is trainable: every group's verdicts are equal");
    each = p.trained ? (double)groups / (double)p.trained : 0;
    out->oracle *= each;
    out->blind *= each;
    out->overlap *= each;
    return rc;
}

/* -- what a source is like --------------------------------------------------------- */

int sim_law(struct sim_law *out, const struct sim_source *s, int64_t groups,
            struct fault *f)
{
    struct sim_member *members =
        mem_new((size_t)s->size, sizeof *members, "a candidate", f);
    struct work all = {0}, trained = {0};
    double found = 0, truncated = 0, n = 0;
    int64_t prompt;
    int rc = members ? 0 : f->code;

    for (int64_t i = 0; !rc && i < groups && i < s->available; i++) {
        if ((rc = s->draw(s->context, 0, i, members, &prompt, f)))
            break;
        n++;
        add(&all, members, s->size);
        if (!trainable(members, s->size))
            continue;
        found++;
        add(&trained, members, s->size);
        for (int k = 0; k < s->size; k++)
            truncated += members[k].tokens >= s->max_tokens;
    }
    free(members);
    *out = (struct sim_law){
        .trainable = found / n,
        .length = all.tokens / n / s->size,
        .trainable_length = trained.tokens / found / s->size,
        .truncated = truncated / found / s->size,
    };
    return rc;
}

/* -- decode speed ------------------------------------------------------------------ */

/* Is it an observation?  NaN is none. */
static bool observed(double iterations, double tokens, double seconds)
{
    return iterations > 0 && tokens > 0 && seconds > 0;
}

int sim_fit(struct sim_speed *out, const double *iterations, const double *tokens,
            const double *seconds, int n, struct fault *f)
{
    double xx = 0, xy = 0, yy = 0, xs = 0, ys = 0, det, error = 0;
    int used = 0;

    *out = (struct sim_speed){0};
    for (int i = 0; i < n; i++) {
        if (!observed(iterations[i], tokens[i], seconds[i]))
            continue;
        xx += iterations[i] * iterations[i];
        xy += iterations[i] * tokens[i];
        yy += tokens[i] * tokens[i];
        xs += iterations[i] * seconds[i];
        ys += tokens[i] * seconds[i];
        used++;
    }
    if (used == 0)
        return fault_set(f, FAULT_DATA, "no step with decode time to fit a speed to");
    det = xx * yy - xy * xy;
    if (det > 1e-9 * xx * yy) {
        out->fixed_s = (xs * yy - ys * xy) / det;
        out->each_s = (ys * xx - xs * xy) / det;
    }
    if (!(out->fixed_s > 0 && out->each_s >= 0)) {
        /* Batches too alike to tell the two apart, or a slope of the wrong sign. */
        bool flat = out->each_s <= 0;

        out->fixed_s = flat ? xs / xx : 0;
        out->each_s = flat ? 0 : ys / yy;
    }
    for (int i = 0; i < n; i++)
        if (observed(iterations[i], tokens[i], seconds[i]))
            error += pow((out->fixed_s * iterations[i] + out->each_s * tokens[i]) /
                                 seconds[i] -
                             1,
                         2);
    out->error = sqrt(error / used);
    return 0;
}
