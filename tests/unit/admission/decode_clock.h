/* decode_clock.h - admission against virtual replicas on a clock that counts decode
 * steps.
 *
 * The workload law and the machine are those of a simulation written independently in
 * Python.  A prompt has a pass rate p; its G completions are right with p each and
 *     log length = log 256 + 0.8 (0.5 - p) + 0.6 N_prompt + 0.5 N_completion,
 * rounded, in 1..1024: hard prompts are longer, and a prompt's completions are alike.
 * p follows Beta(2, 2), or Beta(.2, 4), or its mirror, mixed so that a group is
 * trainable with a given probability.  A decode step gives one token to each of the A
 * active sequences and costs 1 + A/h.
 */
#ifndef DECODE_CLOCK_H
#define DECODE_CLOCK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/admission.h"
#include "dapo/random.h"

enum { MOST_G = 16, MOST_REPLICAS = 4, LONGEST = 1024, STORE = 16384, HALVES = 2 };

static const double half[HALVES] = {8, 200}; /* h: compute-bound, memory-bound */

/* -- the workload ------------------------------------------------------------------ */

struct prompt {
    bool correct[MOST_G];
    int length[MOST_G];
};

static inline double uniform(int64_t prompt, uint32_t what, uint32_t i)
{
    return (double)random_uniform(11, RANDOM_TEST, (uint32_t)prompt, what, i, 0);
}

static inline double normal(int64_t prompt, uint32_t i)
{
    return random_normal(12, RANDOM_TEST, (uint32_t)prompt, i, 0, 0);
}

static inline double beta_function(double x, double y)
{
    return exp(lgamma(x) + lgamma(y) - lgamma(x + y));
}

/* P(trainable) of a group of `size` for pass rates of Beta(x, y). */
static inline double mixed(double x, double y, int size)
{
    return 1 - (beta_function(x + size, y) + beta_function(x, y + size)) /
                   beta_function(x, y);
}

static inline double pass_rate(int64_t prompt, double middle)
{
    double u = uniform(prompt, 0, 0), x, y;

    if (u < middle) { /* Beta(2, 2): the middle one of three uniforms */
        double v[3];

        for (uint32_t i = 0; i < 3; i++)
            v[i] = uniform(prompt, 1, i);
        return fmax(fmin(v[0], v[1]), fmin(fmax(v[0], v[1]), v[2]));
    }
    for (uint32_t i = 0;; i += 2) { /* Johnk 1964 */
        x = pow(uniform(prompt, 2, i), 1 / .2);
        y = pow(uniform(prompt, 2, i + 1), 1 / 4.);
        if (x + y > 0 && x + y <= 1)
            break;
    }
    return u < (1 + middle) / 2 ? x / (x + y) : y / (x + y);
}

/* The share of Beta(2, 2) that makes a group trainable with this probability. */
static inline double middle_share(double trainable, int size)
{
    double low = mixed(.2, 4, size);

    return (trainable - low) / (mixed(2, 2, size) - low);
}

static inline struct prompt draw(int64_t number, double middle, int size)
{
    struct prompt p = {0};
    double rate = pass_rate(number, middle);

    for (int j = 0; j < size; j++) {
        double x = log(256) + 0.8 * (0.5 - rate) + 0.6 * normal(number, 0) +
                   0.5 * normal(number, (uint32_t)j + 1);

        p.correct[j] = uniform(number, 3, (uint32_t)j) < rate;
        p.length[j] = (int)fmin(fmax(rint(exp(x)), 1), LONGEST);
    }
    return p;
}

static inline double mean_length(const struct prompt *p, int size)
{
    double sum = 0;

    for (int j = 0; j < size; j++)
        sum += p->length[j];
    return sum / size;
}

/* -- the machine ------------------------------------------------------------------- */

struct sequence {
    int64_t prompt;
    int member, left, done;
};

struct replica {
    int n_active;
    int64_t head, tail; /* of waiting, a ring */
    struct sequence *active, *waiting;
};

struct machine {
    struct admission_config c;
    double middle;
    int n, slots; /* replicas, slots of each */
    int64_t ring, cursor;
    struct replica replica[MOST_REPLICAS];
    struct prompt store[STORE]; /* by number, modulo */
};

/* What STEPS steps cost. */
struct cost {
    double time[HALVES];  /* of decoding */
    double bound[HALVES]; /* of whoever can't foresee verdicts, knows lengths, and packs
                             perfectly: everything up to the last group needed */
    double rate[HALVES];  /* the same without the longest one's time */
    int64_t tokens[FATE_COUNT], all, trained, steps;
    double length, length2; /* of trained groups' mean lengths: sum, sum of squares */
    double q[MOST_G];       /* mean estimates of the second half */
};

static inline struct prompt *prompt_of(struct machine *m, int64_t number)
{
    return &m->store[number % STORE];
}

static inline void fill(struct machine *m)
{
    for (int i = 0; i < m->n; i++) {
        struct replica *r = &m->replica[i];

        while (r->n_active < m->slots && r->head < r->tail)
            r->active[r->n_active++] = r->waiting[r->head++ % m->ring];
    }
}

static inline int64_t load(const struct replica *r)
{
    return r->n_active + r->tail - r->head;
}

static inline void launch(struct machine *m, struct admission *a)
{
    for (;;) {
        struct replica *best = &m->replica[0];
        struct prompt *p;
        int64_t index;

        for (int i = 1; i < m->n; i++)
            if (load(&m->replica[i]) < load(best))
                best = &m->replica[i];
        if (!admission_launch(a, m->slots - (int)load(best), &index))
            return;
        index += m->cursor;
        p = prompt_of(m, index);
        *p = draw(index, m->middle, m->c.size);
        for (int j = 0; j < m->c.size; j++)
            best->waiting[best->tail++ % m->ring] =
                (struct sequence){.prompt = index, .member = j, .left = p->length[j]};
        fill(m);
    }
}

/* Decode until the next completions, and report them. */
static inline void decode(struct machine *m, struct admission *a, struct cost *c)
{
    struct fault f = FAULT_INIT;
    int next = LONGEST, active = 0;

    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->replica[i].n_active; k++, active++)
            if (m->replica[i].active[k].left < next)
                next = m->replica[i].active[k].left;
    if (active == 0) {
        check_true(false, "something to decode", __FILE__, __LINE__);
        exit(1);
    }
    for (int h = 0; h < HALVES; h++)
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
                CHECK_OK(admission_finished(a, s.prompt - m->cursor, s.member,
                                            prompt_of(m, s.prompt)->correct[s.member],
                                            s.done, &f),
                         &f);
        }
        r->n_active = kept;
    }
}

/* Drop a candidate's sequences and report them. */
static inline void drop(struct machine *m, struct replica *r, int64_t prompt,
                        struct admission *a)
{
    struct fault f = FAULT_INIT;
    int64_t index = prompt - m->cursor, to = r->head;
    int kept = 0;

    for (int k = 0; k < r->n_active; k++)
        if (r->active[k].prompt == prompt)
            CHECK_OK(
                admission_cut(a, index, r->active[k].member, r->active[k].done, &f),
                &f);
        else
            r->active[kept++] = r->active[k];
    r->n_active = kept;
    for (int64_t k = r->head; k < r->tail; k++) {
        struct sequence s = r->waiting[k % m->ring];

        if (s.prompt == prompt)
            CHECK_OK(admission_cut(a, index, s.member, 0, &f), &f);
        else
            r->waiting[to++ % m->ring] = s;
    }
    r->tail = to;
}

static inline void cancel(struct machine *m, struct admission *a)
{
    int64_t index;

    while (admission_cancel(a, &index))
        for (int i = 0; i < m->n; i++)
            drop(m, &m->replica[i], m->cursor + index, a);
}

/* -- the account ------------------------------------------------------------------- */

/* Of the candidates that decided; those too old had no say. */
static inline void add_bound(struct cost *c, struct machine *m,
                             const struct admission *a)
{
    double longest = 0, work = 0, slots = m->n * m->slots;

    for (int64_t i = 0; i < admission_consumed(a); i++)
        for (int j = 0; j < m->c.size && admission_fate(a, i) != FATE_STALE; j++) {
            longest = fmax(longest, prompt_of(m, m->cursor + i)->length[j]);
            work += prompt_of(m, m->cursor + i)->length[j];
        }
    for (int h = 0; h < HALVES; h++) {
        c->bound[h] += fmax(longest, work / slots) + work / half[h];
        c->rate[h] += work / slots + work / half[h];
    }
}

static inline void settle(struct machine *m, struct admission *a, struct cost *c)
{
    int64_t tokens[FATE_COUNT];
    int n;
    const int64_t *batch = admission_batch(a, &n);

    CHECK(admission_settled(a));
    admission_ledger(a, tokens);
    for (int i = 0; i < FATE_COUNT; i++)
        c->tokens[i] += tokens[i];
    for (int i = 0; i < n; i++) {
        double mean = mean_length(prompt_of(m, m->cursor + batch[i]), m->c.size);

        c->length += mean;
        c->length2 += mean * mean;
    }
    c->trained += n;
    c->steps++;
    add_bound(c, m, a);
    m->cursor += admission_consumed(a);
}

/* Candidates up to the B-th trainable one: what who foresees verdicts would start. */
static inline int64_t needed(const struct machine *m)
{
    int64_t n = 0;

    for (int groups = 0; groups < m->c.groups; n++) {
        struct prompt p = draw(m->cursor + n, m->middle, m->c.size);
        int correct = 0;

        for (int j = 0; j < m->c.size; j++)
            correct += p.correct[j];
        groups += group_trainable(correct, m->c.size);
    }
    return n;
}

/* `seer`: no candidate is started that isn't needed. */
static inline struct cost simulate(const struct admission_config *config,
                                   double trainable, int slots, int replicas, int steps,
                                   bool seer)
{
    struct machine *m = calloc(1, sizeof *m);
    struct cost c = {0};
    struct fault f = FAULT_INIT;
    struct admission *a;

    m->c = *config;
    m->middle = middle_share(trainable, config->size);
    m->n = replicas;
    m->slots = slots / replicas;
    m->ring = (int64_t)STORE * config->size;
    for (int i = 0; i < replicas; i++) {
        m->replica[i].active = calloc((size_t)m->slots, sizeof(struct sequence));
        m->replica[i].waiting = calloc((size_t)m->ring, sizeof(struct sequence));
    }
    CHECK_OK(admission_new(&a, config, &f), &f);
    for (int step = 0; step < steps; step++) {
        CHECK_OK(admission_begin(a, seer ? needed(m) : INT64_MAX, &f), &f);
        cancel(m, a); /* stale ones */
        while (!admission_closed(a)) {
            fill(m);
            launch(m, a);
            decode(m, a, &c);
            cancel(m, a);
        }
        settle(m, a, &c);
        for (int k = 0; k < config->size && step >= steps / 2; k++)
            c.q[k] += admission_estimate(a, k) / (steps - steps / 2);
    }
    admission_free(a);
    for (int i = 0; i < replicas; i++) {
        free(m->replica[i].active);
        free(m->replica[i].waiting);
    }
    free(m);
    return c;
}

#endif
