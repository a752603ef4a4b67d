/* test_simulation.c - what admission's decisions cost, on a virtual machine.
 *
 * The workload law and the machine are those of a simulation written independently in
 * Python, whose figures are the known answers here (300 steps, B = 4, G = 8, S = 64
 * slots, T = 1024; time over the bound of whoever can't foresee verdicts, for a decode
 * step that costs 1 + active/h, and tokens of complete groups without signal and of
 * surplus and cancelled ones, in percent).  That simulation knew the law's q[k]; here
 * they are learned from the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/admission.h"
#include "dapo/random.h"

enum { B = 4, G = 8, S = 64, T = 1024, STEPS = 300, MAX_CANDIDATES = 40 };

/* -- the workload ------------------------------------------------------------------ */

struct prompt {
    bool correct[G];
    int length[G];
};

static float uniform(int64_t prompt, uint32_t what, uint32_t i)
{
    return random_uniform(11, RANDOM_TEST, (uint32_t)prompt, what, i, 0);
}

static double normal(int64_t prompt, uint32_t i)
{
    return random_normal(12, RANDOM_TEST, (uint32_t)prompt, i, 0, 0);
}

static double beta_function(double x, double y)
{
    return exp(lgamma(x) + lgamma(y) - lgamma(x + y));
}

/* P(trainable) for pass rates of Beta(x, y). */
static double mixed(double x, double y)
{
    return 1 -
           (beta_function(x + G, y) + beta_function(x, y + G)) / beta_function(x, y);
}

/* Pass rate: Beta(2, 2) with weight a, else Beta(.2, 4) or its mirror, a such that
 * P(trainable) is as wanted. */
static double pass_rate(int64_t prompt, double trainable)
{
    double low = mixed(.2, 4), a = (trainable - low) / (mixed(2, 2) - low);
    double u = (double)uniform(prompt, 0, 0), x, y;

    if (u < a) { /* the middle one of three uniforms */
        double v[3];

        for (uint32_t i = 0; i < 3; i++)
            v[i] = (double)uniform(prompt, 1, i);
        return fmax(fmin(v[0], v[1]), fmin(fmax(v[0], v[1]), v[2]));
    }
    for (uint32_t i = 0;; i += 2) { /* Johnk 1964 */
        x = pow((double)uniform(prompt, 2, i), 1 / .2);
        y = pow((double)uniform(prompt, 2, i + 1), 1 / 4.);
        if (x + y > 0 && x + y <= 1)
            break;
    }
    return u < (1 + a) / 2 ? x / (x + y) : y / (x + y);
}

/* Harder prompts are longer, and a prompt's completions are alike. */
static struct prompt draw(int64_t number, double trainable)
{
    struct prompt p;
    double rate = pass_rate(number, trainable);

    for (uint32_t j = 0; j < G; j++) {
        double x = log(256) + 0.8 * (0.5 - rate) + 0.6 * normal(number, 0) +
                   0.5 * normal(number, j + 1);

        p.correct[j] = (double)uniform(number, 3, j) < rate;
        p.length[j] = (int)fmin(fmax(rint(exp(x)), 1), T);
    }
    return p;
}

/* -- the machine ------------------------------------------------------------------- */

struct sequence {
    int64_t index;
    int member, left, done;
};

struct replica {
    int n_active, n_waiting;
    struct sequence active[S], waiting[MAX_CANDIDATES * G];
};

struct machine {
    int n, slots; /* replicas, slots of each */
    struct replica replica[4];
    struct prompt prompt[MAX_CANDIDATES];
};

struct cost {
    double time[2], bound[2]; /* for h = 8 and 200 */
    int64_t tokens[FATE_COUNT], all, trained;
    double q[G]; /* mean estimates of the second half */
};

static const double half[2] = {8, 200};

static void fill(struct machine *m)
{
    for (int i = 0; i < m->n; i++) {
        struct replica *r = &m->replica[i];

        while (r->n_active < m->slots && r->n_waiting > 0) {
            r->active[r->n_active++] = r->waiting[0];
            memmove(r->waiting, r->waiting + 1,
                    (size_t)--r->n_waiting * sizeof r->waiting[0]);
        }
    }
}

static void launch(struct machine *m, struct admission *a, int64_t cursor,
                   double trainable)
{
    for (;;) {
        struct replica *best = &m->replica[0];
        int64_t index;

        for (int i = 1; i < m->n; i++)
            if (m->replica[i].n_active + m->replica[i].n_waiting <
                best->n_active + best->n_waiting)
                best = &m->replica[i];
        if (!admission_launch(a, m->slots - best->n_active - best->n_waiting, &index))
            return;
        m->prompt[index] = draw(cursor + index, trainable);
        for (int j = 0; j < G; j++)
            best->waiting[best->n_waiting++] = (struct sequence){
                .index = index, .member = j, .left = m->prompt[index].length[j]};
        fill(m);
    }
}

/* Decode until the next completions, and report them. */
static void decode(struct machine *m, struct admission *a, struct cost *c)
{
    struct fault f = FAULT_INIT;
    int next = T, active = 0;

    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->replica[i].n_active; k++, active++)
            if (m->replica[i].active[k].left < next)
                next = m->replica[i].active[k].left;
    for (int h = 0; h < 2; h++)
        c->time[h] += next * (1 + active / half[h]);
    c->all += (int64_t)next * active;
    for (int i = 0; i < m->n; i++) {
        struct replica *r = &m->replica[i];
        int kept = 0;

        for (int k = 0; k < r->n_active; k++) {
            struct sequence s = r->active[k];

            s.left -= next;
            s.done += next;
            if (s.left > 0)
                r->active[kept++] = s;
            else
                CHECK_OK(admission_finished(a, s.index, s.member,
                                            m->prompt[s.index].correct[s.member],
                                            s.done, &f),
                         &f);
        }
        r->n_active = kept;
    }
}

/* Drop a candidate's sequences from a list and report them; what is left of it. */
static int drop(struct sequence *list, int n, int64_t index, struct admission *a)
{
    struct fault f = FAULT_INIT;
    int kept = 0;

    for (int k = 0; k < n; k++)
        if (list[k].index == index)
            CHECK_OK(admission_cut(a, index, list[k].member, list[k].done, &f), &f);
        else
            list[kept++] = list[k];
    return kept;
}

static void cancel(struct machine *m, struct admission *a)
{
    int64_t index;

    while (admission_cancel(a, &index))
        for (int i = 0; i < m->n; i++) {
            struct replica *r = &m->replica[i];

            r->n_active = drop(r->active, r->n_active, index, a);
            r->n_waiting = drop(r->waiting, r->n_waiting, index, a);
        }
}

/* No schedule can be faster without knowing verdicts: everything up to the last group
 * needed is generated, in all slots, and the longest takes its time. */
static void add_bound(struct cost *c, const struct machine *m, int64_t consumed)
{
    double longest = 0, work = 0;

    for (int64_t i = 0; i < consumed; i++)
        for (int j = 0; j < G; j++) {
            longest = fmax(longest, m->prompt[i].length[j]);
            work += m->prompt[i].length[j];
        }
    for (int h = 0; h < 2; h++)
        c->bound[h] += fmax(longest, work / S) + work / half[h];
}

static struct cost simulate(double trainable, enum refill refill, double speculation,
                            int replicas)
{
    struct admission_config config = {.groups = B,
                                      .size = G,
                                      .max_candidates = MAX_CANDIDATES,
                                      .refill = refill,
                                      .dynamic = true,
                                      .speculation = speculation,
                                      .prior_trainable = 0.5,
                                      .prior_weight = 8};
    struct machine m = {.n = replicas, .slots = S / replicas};
    struct cost c = {0};
    struct fault f = FAULT_INIT;
    struct admission *a;
    int64_t cursor = 0, tokens[FATE_COUNT];
    int n;

    CHECK_OK(admission_new(&a, &config, &f), &f);
    for (int step = 0; step < STEPS; step++) {
        CHECK_OK(admission_begin(a, INT64_MAX, &f), &f);
        while (!admission_closed(a)) {
            launch(&m, a, cursor, trainable);
            decode(&m, a, &c);
            cancel(&m, a);
            fill(&m);
        }
        CHECK(admission_settled(a));
        admission_batch(a, &n);
        admission_ledger(a, tokens);
        for (int i = 0; i < FATE_COUNT; i++)
            c.tokens[i] += tokens[i];
        c.trained += n;
        add_bound(&c, &m, admission_consumed(a));
        cursor += admission_consumed(a);
        for (int k = 0; k < G && step >= STEPS / 2; k++)
            c.q[k] += admission_estimate(a, k) / (STEPS - STEPS / 2);
    }
    admission_free(a);
    return c;
}

/* -- against the figures ----------------------------------------------------------- */

static double percent(const struct cost *c, enum fate x, enum fate y)
{
    return 100.0 * (double)(c->tokens[x] + c->tokens[y]) / (double)c->all;
}

static void figures_are_those_of_the_python_simulation(void)
{
    static const struct {
        double trainable;
        enum refill refill;
        double speculation, time_8, time_200, degenerate, speculative;
    } t[] = {
        {0.3, REFILL_WAVES, 0, 1.66, 3.90, 71.8, 0},
        {0.3, REFILL_STREAM, 0.5, 1.17, 1.23, 65.2, 9.0},
        {0.5, REFILL_WAVES, 0, 1.43, 2.49, 52.1, 0},
        {0.5, REFILL_STREAM, 1, 1.32, 2.11, 52.1, 0},
        {0.5, REFILL_STREAM, 0.5, 1.13, 1.09, 46.3, 11.8},
        {0.5, REFILL_STREAM, 0, 1.26, 1.06, 40.4, 23.6},
        {0.8, REFILL_WAVES, 0, 1.17, 1.45, 21.1, 0},
        {0.8, REFILL_STREAM, 0.5, 1.10, 1.05, 19.6, 8.8},
    };

    /* One machine of 64 slots, and the same slots in four replicas. */
    for (size_t i = 0; i < 2 * sizeof t / sizeof t[0]; i++) {
        struct cost c = simulate(t[i / 2].trainable, t[i / 2].refill,
                                 t[i / 2].speculation, i % 2 ? 4 : 1);

        CHECK_NEAR(c.time[0] / c.bound[0] / t[i / 2].time_8, 1, 0.06);
        CHECK_NEAR(c.time[1] / c.bound[1] / t[i / 2].time_200, 1, 0.06);
        CHECK_NEAR(percent(&c, FATE_ALL_CORRECT, FATE_ALL_WRONG), t[i / 2].degenerate,
                   4);
        CHECK_NEAR(percent(&c, FATE_SURPLUS, FATE_CANCELLED), t[i / 2].speculative,
                   t[i / 2].speculative > 0 ? 3 : 0);
        CHECK_INT(c.trained, STEPS * B);
    }
}

/* What the run taught is the law's q, which the other simulation was given. */
static void estimates_find_the_law(void)
{
    static const double trainable[3] = {0.3, 0.5, 0.8};
    static const double q[3][5] = {{0.30, 0.30, 0.21, 0.15, 0.11},
                                   {0.50, 0.50, 0.36, 0.27, 0.19},
                                   {0.80, 0.80, 0.69, 0.57, 0.45}};

    for (int i = 0; i < 3; i++) {
        struct cost c = simulate(trainable[i], REFILL_STREAM, 0.5, 1);

        for (int k = 0; k < 5; k++)
            CHECK_NEAR(c.q[k], q[i][k], 0.07);
    }
}

static void invariant_1_every_decoded_token_is_billed(void)
{
    for (int i = 0; i < 3; i++) {
        struct cost c = simulate(0.5, REFILL_STREAM, i / 2.0, 3);
        int64_t sum = 0;

        for (int k = 0; k < FATE_COUNT; k++)
            sum += c.tokens[k];
        CHECK_INT(sum, c.all);
    }
}

CASES(CASE(figures_are_those_of_the_python_simulation), CASE(estimates_find_the_law),
      CASE(invariant_1_every_decoded_token_is_billed));
