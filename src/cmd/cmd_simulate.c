/* cmd_simulate.c - dapo simulate JOB: what its policy of admission would cost. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/run_record.h"
#include "cmd/show_sim.h"
#include "dapo/log.h"
#include "dapo/train.h"

#define SWEPT "replicas|half|trainable"
#define LAW_GROUPS 65536 /* of which the workload's means are taken */

struct simulate {
    struct cmd_env *e;
    struct sweep sweep;
    struct sim_out out;
    int64_t replicas, steps, prompts;
    double trainable, median, between, within, slope;
    double step_s, half, tick_s;
    bool ideal;
    const char *rates, *lengths, *speed;
    struct sim_work *work;          /* the workload of the last point ... */
    struct sim_work_config work_of; /* ... what was asked for ... */
    struct sim_law law;             /* ... and what it is like */
};

static int take_workload(struct simulate *s, struct fault *f)
{
    struct cmd_env *e = s->e;
    int rc = cmd_real(e, "--trainable", 1e-6, 1 - 1e-6, &s->trainable, f);

    if (!rc)
        rc = cmd_option(e, "--rates", &s->rates, f);
    if (!rc)
        rc = cmd_int(e, "--prompts", 0, 1 << 30, &s->prompts, f);
    if (!rc)
        rc = cmd_option(e, "--lengths", &s->lengths, f);
    if (!rc)
        rc = cmd_real(e, "--median", 1, 1e9, &s->median, f);
    if (!rc)
        rc = cmd_real(e, "--between", 0, 10, &s->between, f);
    if (!rc)
        rc = cmd_real(e, "--within", 0, 10, &s->within, f);
    return rc ? rc : cmd_real(e, "--slope", -20, 20, &s->slope, f);
}

static int take_machine(struct simulate *s, struct fault *f)
{
    struct cmd_env *e = s->e;
    int rc = cmd_int(e, "--replicas", 1, 1 << 20, &s->replicas, f);

    if (!rc)
        rc = cmd_option(e, "--speed", &s->speed, f);
    if (!rc)
        rc = cmd_real(e, "--step-seconds", 1e-12, 1e9, &s->step_s, f);
    if (!rc)
        rc = cmd_real(e, "--half", 1e-6, 1e12, &s->half, f);
    if (!rc)
        rc = cmd_real(e, "--tick-seconds", 0, 1e6, &s->tick_s, f);
    s->ideal = cmd_flag(e, "--ideal");
    return rc;
}

static int take_options(struct simulate *s, struct fault *f)
{
    struct cmd_env *e = s->e;
    int rc = take_workload(s, f);

    if (!rc)
        rc = take_machine(s, f);
    if (!rc)
        rc = cmd_int(e, "--steps", 1, 1000000000, &s->steps, f);
    if (!rc)
        rc = cmd_option(e, "--csv", &s->out.path, f);
    if (!rc)
        rc = sweep_take(&s->sweep, e, SWEPT, f);
    return rc ? rc : cmd_rest(e, 0, 0, f);
}

/* Seconds of a decode iteration as a recorded run measured them. */
static int take_speed(struct simulate *s, struct fault *f)
{
    struct sim_speed speed;
    int rc;

    if (!s->speed)
        return 0;
    rc = run_speed(&speed, s->speed, f);
    if (rc)
        return rc;
    s->step_s = speed.fixed_s;
    s->half = speed.each_s > 0 ? speed.fixed_s / speed.each_s : 1e12;
    if (!(s->step_s > 0))
        return fault_set(f, FAULT_DATA,
                         "%s: its decode iterations have no fixed part; give "
                         "--step-seconds and --half",
                         s->speed);
    return 0;
}

/* -- one point --------------------------------------------------------------------- */

struct point {
    struct config cfg;
    struct admission_config policy;
    struct sim_machine machine;
    struct sim_work_config work;
    int64_t steps;
};

static int make_point(const struct simulate *s, int number, struct point *p,
                      struct fault *f)
{
    const struct config *c = &p->cfg;
    double replicas = (double)s->replicas, half = s->half, trainable = s->trainable;
    int rc = sweep_config(&s->sweep, number, s->e, NULL, &p->cfg, f);

    if (!rc)
        rc = sweep_real(&s->sweep, number, "replicas", 1, 1 << 20, &replicas, f);
    if (!rc)
        rc = sweep_real(&s->sweep, number, "half", 1e-6, 1e12, &half, f);
    if (!rc)
        rc = sweep_real(&s->sweep, number, "trainable", 1e-6, 1 - 1e-6, &trainable, f);
    if (rc)
        return rc;
    train_policy(c, &p->policy);
    p->steps = s->steps ? s->steps : 2000 / c->admission.groups;
    if (p->steps < 16 && !s->steps)
        p->steps = 16;
    p->machine = (struct sim_machine){
        .replicas = (int)replicas,
        .slots = (int)c->rollout.slots,
        .fixed_s = s->step_s,
        .each_s = s->step_s / half,
        .slice = s->ideal ? 0 : (int)c->rollout.slice,
        .lag = TICK_LAG,
        .most_starts = train_most_starts((int)replicas),
        .tick_s = s->tick_s,
        .max_seconds = c->admission.max_seconds,
    };
    p->work = (struct sim_work_config){
        .size = (int)c->admission.group_size,
        .max_tokens = (int)c->rollout.max_tokens,
        .seed = (uint64_t)c->run.seed,
        .trainable = trainable,
        .trainable_size = (int)s->e->cfg.admission.group_size,
        .median = s->median > 0 ? s->median : (double)c->rollout.max_tokens / 4,
        .between = s->between,
        .within = s->within,
        .slope = s->slope,
        .prompts = s->prompts,
        .rates = s->rates,
        .lengths = s->lengths,
    };
    return 0;
}

/* Points differ in nothing else that make_point says of the workload. */
static bool same_workload(const struct sim_work_config *a,
                          const struct sim_work_config *b)
{
    return a->size == b->size && a->max_tokens == b->max_tokens && a->seed == b->seed &&
           a->trainable == b->trainable;
}

/* Policies and machines meet one workload: read and measured once for all of them. */
static int take_work(struct simulate *s, const struct sim_work_config *c,
                     struct fault *f)
{
    struct sim_source source;
    int rc;

    if (s->work && same_workload(&s->work_of, c))
        return 0;
    sim_work_free(s->work);
    rc = sim_work_new(&s->work, c, f);
    if (rc)
        return rc;
    s->work_of = *c;
    source = sim_work_source(s->work);
    return sim_law(&s->law, &source, LAW_GROUPS, f);
}

static int simulate_point(struct simulate *s, const struct point *p, const char *note,
                          struct sim_row *row, struct fault *f)
{
    struct sim_source source;
    struct sim_step step;
    struct sim *sim;
    int rc = take_work(s, &p->work, f);

    if (rc)
        return rc;
    *row = (struct sim_row){.m = p->machine,
                            .groups = p->policy.groups,
                            .reference = s->law.trainable_length};
    source = sim_work_source(s->work);
    rc = sim_bounds(&row->bound, &source, &p->machine, p->policy.groups,
                    p->policy.max_candidates, 0, p->steps, f);
    if (!rc)
        rc = sim_new(&sim, &p->policy, &p->machine, &source, f);
    if (rc)
        return rc;
    for (int64_t i = 0; !rc && i < p->steps; i++) {
        log_progress("simulate", (long)i, (long)p->steps, note);
        rc = sim_step(sim, &step, f);
        if (!rc)
            sim_add(&row->t, &step, p->policy.groups);
    }
    log_progress_end();
    sim_free(sim);
    return rc;
}

/* -- what is printed --------------------------------------------------------------- */

static void show_assumptions(const struct simulate *s, const struct point *p)
{
    const struct sim_machine *m = &p->machine;

    printf("# B=%d G=%d replicas=%d slots=%d steps=%" PRId64 " seed=%" PRIu64 "\n",
           p->policy.groups, p->policy.size, m->replicas, m->slots, p->steps,
           p->work.seed);
    printf("# iteration: %g s * (1 + busy slots / %g)", m->fixed_s,
           m->each_s > 0 ? m->fixed_s / m->each_s : INFINITY);
    if (m->slice)
        printf("; decisions every %d iterations, obeyed %d ticks later\n", m->slice,
               m->lag);
    else
        printf("; ideal: decisions at every completion, obeyed at once\n");
    if (s->rates)
        printf("# pass rates: %s\n", s->rates);
    else
        printf("# pass rates: Beta mixture, P(trainable) = %g at G = %d\n",
               p->work.trainable, p->work.trainable_size);
    if (s->lengths)
        printf("# lengths: %s, at most %d tokens\n", s->lengths, p->work.max_tokens);
    else
        printf("# lengths: log-normal, median %g, spread %g between and %g within "
               "groups, slope %g, at most %d tokens\n",
               p->work.median, p->work.between, p->work.within, p->work.slope,
               p->work.max_tokens);
    if (s->sweep.n)
        printf("# of the first row; the others differ in what they say\n");
}

static int simulate_points(struct simulate *s, struct fault *f)
{
    int points = sweep_points(&s->sweep), rc = 0;

    for (int i = 0; !rc && i < points; i++) {
        struct point p;
        struct sim_row row;
        char note[48];

        snprintf(note, sizeof note, "steps, point %d of %d", i + 1, points);
        rc = make_point(s, i, &p, f);
        if (!rc && i == 0) {
            show_assumptions(s, &p);
            sim_show_head(&s->out);
        }
        if (!rc)
            rc = simulate_point(s, &p, note, &row, f);
        if (rc)
            break;
        sim_show_row(&s->out, i, NULL, &row);
        fflush(stdout);
        rc = cmd_written(f);
    }
    return rc;
}

int cmd_simulate(struct cmd_env *e, struct fault *f)
{
    struct simulate s = {
        .e = e,
        .out = {.table = SIM_SIMULATE, .sweep = &s.sweep},
        .replicas = 1,
        .trainable = 0.5,
        .between = 0.6,
        .within = 0.5,
        .slope = 0.8,
        .step_s = 1,
        .half = 64,
    };
    int rc = take_options(&s, f);

    if (!rc)
        rc = take_speed(&s, f);
    if (!rc)
        rc = sim_out_open(&s.out, f);
    if (!rc)
        rc = simulate_points(&s, f);
    rc = sim_out_close(&s.out, rc, f);
    sim_work_free(s.work);
    sweep_free(&s.sweep);
    return rc;
}
