/* cmd_replay.c - dapo replay RUN: what a recorded run would have cost otherwise. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/run_record.h"
#include "cmd/show_sim.h"
#include "dapo/log.h"
#include "dapo/train.h"

struct replay {
    struct cmd_env *e;
    struct sweep sweep;
    struct sim_out out;
    const char *dir;
    int64_t first, last, replicas, slots;
    struct run_record run;
    struct sim_tape *tape;
    struct sim_speed speed;
    double scale; /* recorded seconds over those of decoding alone, own policy */
};

static int take_options(struct replay *r, struct fault *f)
{
    struct cmd_env *e = r->e;
    int rc = cmd_int(e, "--first", 1, INT64_MAX, &r->first, f);

    if (!rc)
        rc = cmd_int(e, "--last", 1, INT64_MAX, &r->last, f);
    if (!rc)
        rc = cmd_int(e, "--replicas", 1, 1 << 20, &r->replicas, f);
    if (!rc)
        rc = cmd_option(e, "--csv", &r->out.path, f);
    if (!rc)
        rc = sweep_take(&r->sweep, e, "replicas", f);
    if (!rc)
        rc = cmd_rest(e, 1, 1, f);
    if (!rc)
        r->dir = e->job = e->argv[0];
    return rc;
}

/* -- one policy -------------------------------------------------------------------- */

/* Settings that a replay can follow. */
static bool may_differ(const char *name)
{
    static const char *const others[] = {"rollout.slots", "rollout.slice", "run.seed",
                                         "optimizer.updates_per_step"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(name, others[i]))
            return true;
    return !strncmp(name, "admission.", 10) &&
           strcmp(name, "admission.group_size") != 0;
}

static int check_changes(const struct config *own, const struct config *other,
                         struct fault *f)
{
    struct bytes names = {0};
    char *save = NULL;
    int rc = config_diff(own, other, &names, f);

    for (char *p = names.len ? strtok_r(names.data, "\n", &save) : NULL; p && !rc;
         p = strtok_r(NULL, "\n", &save))
        if (!may_differ(p))
            rc = fault_set(f, FAULT_USAGE,
                           "%s can't be replayed otherwise than the run had it; a "
                           "replay may change admission.* but group_size, "
                           "rollout.slots, rollout.slice and run.seed",
                           p);
    bytes_free(&names);
    return rc;
}

static struct sim_machine machine(const struct replay *r, const struct config *c,
                                  int replicas)
{
    return (struct sim_machine){
        .replicas = replicas,
        .slots = (int)c->rollout.slots,
        .fixed_s = r->speed.fixed_s * r->scale,
        .each_s = r->speed.each_s * r->scale,
        .slice = (int)c->rollout.slice,
        .lag = TICK_LAG,
        .most_starts = train_most_starts(replicas),
        .max_seconds = c->admission.max_seconds,
    };
}

/* Whether the step trained what the run trained then. */
static bool same_batch(const struct replay *r, const struct sim *sim,
                       const struct config *c, int64_t step)
{
    const int64_t *want = r->run.batch + r->run.batch_first[step];
    int64_t n = r->run.batch_first[step + 1] - r->run.batch_first[step];
    const int64_t *got;
    int groups;

    got = sim_batch(sim, &groups);
    if (groups < c->admission.groups && c->admission.on_short_batch == SHORT_SKIP)
        groups = 0;
    return groups == n && (n == 0 || !memcmp(got, want, (size_t)n * sizeof *got));
}

struct errors {
    double seconds, iterations; /* sums of squared relative errors of single steps */
    double modelled, recorded;  /* iterations */
};

/* Replay every recorded step under `c`. */
static int replay(const struct replay *r, const struct config *c, int replicas,
                  const char *note, struct sim_row *row, struct errors *e,
                  struct fault *f)
{
    struct sim_source source = sim_tape_source(r->tape);
    const struct run_metrics *m = &r->run.m;
    struct admission_config policy;
    struct sim_step s;
    struct sim *sim;
    int64_t begin = r->run.r.steps[0].cursor;
    const struct sim_record_step *last = &r->run.r.steps[m->n - 1];
    int rc;

    train_policy(c, &policy);
    *row = (struct sim_row){.groups = policy.groups, .m = machine(r, c, replicas)};
    *e = (struct errors){0};
    if (r->run.m.exhausted)
        source.available = last->cursor + last->consumed;
    rc = sim_new(&sim, &policy, &row->m, &source, f);
    if (rc)
        return rc;
    sim_seek(sim, begin);
    for (int i = 0; !rc && i < m->n && !sim_exhausted(sim); i++) {
        log_progress("replay", i, m->n, note);
        rc = sim_step(sim, &s, f);
        if (rc)
            break;
        sim_add(&row->t, &s, policy.groups);
        row->same += same_batch(r, sim, c, i);
        e->seconds += pow(s.seconds / m->generate[i] - 1, 2);
        e->iterations += pow((double)s.iterations / m->most_iterations[i] - 1, 2);
        e->modelled += (double)s.iterations;
        e->recorded += m->most_iterations[i];
    }
    log_progress_end();
    sim_free(sim);
    if (!rc)
        rc = sim_bounds(&row->bound, &source, &row->m, policy.groups,
                        policy.max_candidates, begin, m->n, f);
    row->recorded = sim_step_seconds(&r->run.t, (int)r->run.cfg.admission.groups);
    return rc;
}

/* -- the run itself ---------------------------------------------------------------- */

/* The speed as measured; then scaled so that the run's own policy takes its time. */
static int calibrate(struct replay *r, struct sim_row *own, struct errors *e,
                     struct fault *f)
{
    const struct run_metrics *m = &r->run.m;
    int rc = sim_fit(&r->speed, m->iterations, m->tokens, m->decode, m->n, f);

    r->scale = 1;
    if (!rc)
        rc = replay(r, &r->run.cfg, (int)r->replicas, "steps as they were", own, e, f);
    if (rc)
        return rc;
    if (!(r->run.t.seconds > 0 && own->t.seconds > 0))
        return fault_set(f, FAULT_DATA, "%s: records no seconds of generation", r->dir);
    r->scale = r->run.t.seconds / own->t.seconds;
    return replay(r, &r->run.cfg, (int)r->replicas, "steps as they were", own, e, f);
}

static void show_model(const struct replay *r, const struct errors *e)
{
    const struct run_metrics *m = &r->run.m;
    double whole = 0;

    for (int i = 0; i < m->n; i++)
        whole += m->whole[i];
    printf("# %s: steps %" PRId64 " to %" PRId64 ", B=%" PRId64 " G=%d, %" PRId64
           " replicas of %" PRId64 " slots; seconds are those of generation, %.0f%% of "
           "the run's\n",
           r->dir, m->step[0], m->step[m->n - 1], r->run.cfg.admission.groups,
           r->run.r.size, r->replicas, r->run.cfg.rollout.slots,
           100 * r->run.t.seconds / whole);
    printf(
        "# iteration as measured: %.4g s and %.4g s for each busy slot, steps within "
        "%.1f%% of it; times %.3f for ticks, grading and waiting\n",
        r->speed.fixed_s, r->speed.each_s, 100 * r->speed.error, r->scale);
    printf("# model against the run under its own policy: iterations of the busiest "
           "replica %+.1f%% in all, +-%.1f%% a step; seconds +-%.1f%% a step\n",
           100 * (e->modelled / e->recorded - 1), 100 * sqrt(e->iterations / m->n),
           100 * sqrt(e->seconds / m->n));
}

/* The run as recorded, and as modelled under its own policy. */
static int replay_own(struct replay *r, struct fault *f)
{
    struct sim_row own, recorded;
    struct errors e;
    int rc = calibrate(r, &own, &e, f);

    if (rc)
        return rc;
    show_model(r, &e);
    sim_show_head(&r->out);
    recorded = own;
    recorded.t = r->run.t;
    recorded.same = r->run.m.n;
    sim_show_row(&r->out, -1, "recorded", &recorded);
    sim_show_row(&r->out, -1, "own", &own);
    return 0;
}

static int replay_point(struct replay *r, int point, struct fault *f)
{
    struct config c;
    struct sim_row row;
    struct errors e;
    double replicas = (double)r->replicas;
    char note[64];
    int rc = sweep_config(&r->sweep, point, r->e, r->run.job.data, &c, f);

    if (!rc)
        rc = sweep_real(&r->sweep, point, "replicas", 1, 1 << 20, &replicas, f);
    if (!rc)
        rc = check_changes(&r->run.cfg, &c, f);
    snprintf(note, sizeof note, "steps, policy %d of %d", point + 1,
             sweep_points(&r->sweep));
    if (!rc)
        rc = replay(r, &c, (int)replicas, note, &row, &e, f);
    if (!rc)
        sim_show_row(&r->out, point, "other", &row);
    return rc ? rc : cmd_written(f);
}

static int replay_run(struct replay *r, struct fault *f)
{
    int rc = run_record_read(&r->run, r->dir, r->first, r->last, f);
    bool others = r->e->n_set > 0 || r->sweep.n > 0;

    if (rc)
        return rc;
    if (!r->replicas)
        r->replicas = r->run.m.replicas;
    rc = sim_tape_new(&r->tape, &r->run.r, (uint64_t)r->run.cfg.run.seed, f);
    if (!rc)
        rc = replay_own(r, f);
    for (int i = 0; !rc && others && i < sweep_points(&r->sweep); i++)
        rc = replay_point(r, i, f);
    sim_tape_free(r->tape);
    run_record_free(&r->run);
    return rc;
}

int cmd_replay(struct cmd_env *e, struct fault *f)
{
    struct replay r = {.e = e,
                       .out = {.table = SIM_REPLAY, .sweep = &r.sweep},
                       .first = 1,
                       .last = INT64_MAX};
    int rc = take_options(&r, f);

    if (!rc)
        rc = sim_out_open(&r.out, f);
    if (!rc)
        rc = replay_run(&r, f);
    rc = sim_out_close(&r.out, rc, f);
    sweep_free(&r.sweep);
    return rc;
}
