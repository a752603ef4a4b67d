/* train.c - the step loop. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/doctor.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "train/carry.h"
#include "train/deliver.h"
#include "train/evaluate.h"
#include "train/learn.h"
#include "train/plan.h"
#include "train/resume.h"
#include "train/same.h"
#include "train/stop.h"
#include "train/tally.h"

static void on_signal(int number)
{
    (void)number;
    train_request_stop();
}

void train_catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigemptyset(&a.sa_mask);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGUSR1, &a, NULL);
}

static int make_admission(struct session *s, struct fault *f)
{
    struct admission_config a;

    train_policy(s->cfg, &a);
    return admission_new(&s->admission, &a, f);
}

/* What train.max_staleness = 1 keeps of the state before a step. */
static int open_ahead(struct session *s, struct fault *f)
{
    int rc = plan_overlap(s->cfg, comm_size(s->comm), f);

    if (rc || !s->cfg->train.max_staleness || !s->learner)
        return rc;
    s->previous = mem_new(model_n_params(s->model), sizeof *s->previous,
                          "the weights of before a step", f);
    return s->previous ? 0 : f->code;
}

/* Everything local that a training rank opens after its role is known. */
static int open_roles(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    int rc = 0;

    if (!*c->data.train)
        return fault_set(f, FAULT_CONFIG,
                         "data.train is not set: name a prompt file of dapo prepare");
    rc = prompt_set_read(&s->train, s, c->data.train, f);
    if (!rc)
        rc = prompt_set_judge(&s->train, s, c->data.train, f);
    if (!rc && *c->data.eval)
        rc = prompt_set_read(&s->eval, s, c->data.eval, f);
    if (!rc && *c->data.eval)
        rc = prompt_set_judge(&s->eval, s, c->data.eval, f);
    if (!rc)
        rc = session_identify(s, f);
    if (!rc)
        rc = order_new(&s->order, (size_t)s->train.n, (uint64_t)c->run.seed,
                       c->data.shuffle, f);
    if (!rc && comm_learns(s->comm))
        rc = learn_open(s, f);
    if (!rc && comm_generates(s->comm))
        rc = session_generator(s, RANDOM_SAMPLE, &s->generator, f);
    if (!rc && comm_rank(s->comm) == 0)
        rc = make_admission(s, f);
    if (!rc)
        rc = carry_new(&s->carry, s, f);
    if (!rc)
        rc = open_ahead(s, f);
    return rc;
}

static void say_header(const struct session *s, const char *dir)
{
    const struct config *c = s->cfg;
    const struct model_config *m = model_cfg(s->model);
    char libraries[256];

    log0_line(LOG_INFO, "dapo build=%s run=%s seed=%" PRId64, s->identity.build, dir,
              c->run.seed);
    log0_line(LOG_INFO,
              "ranks=%d learners=%d replicas=%d threads=%" PRId64 " slots=%" PRId64
              " backend=%s",
              comm_size(s->comm), comm_learners(s->comm), comm_replicas(s->comm),
              c->ranks.threads, c->rollout.slots, s->backend->name);
    doctor_libraries(libraries, sizeof libraries);
    log0_line(LOG_INFO, "libraries=\"%s\"", libraries);
    watch_say(s->watch);
    log0_line(LOG_INFO, "model=%s parameters=%zu layers=%d dim=%d vocab=%d stop_ids=%d",
              c->model.path, model_count(m), m->layers, m->dim, m->vocab, m->n_stop);
    if (m->nested)
        log0_line(LOG_INFO, "model=%s: its vision part is left out, text only",
                  c->model.path);
    if (model_adapter(s->model))
        log0_line(LOG_INFO,
                  "adapter rank=%" PRId64
                  " alpha=%g targets=%s trained=%zu base=%016llx",
                  c->lora.rank, c->lora.alpha, c->lora.targets,
                  model_n_params(s->model), model_base(s->model));
    log0_line(LOG_INFO, "grader=%s version=%s window=%" PRId64 " libraries=\"%s\"",
              grader_text((enum grader)c->reward.grader), s->identity.grader,
              c->reward.answer_window, math_libraries());
    log0_line(LOG_INFO,
              "prompts=%" PRId64 " too_long=%" PRId64 " bad_gold=%" PRId64
              " held_out=%" PRId64 " bad_gold_held_out=%" PRId64 " load_seconds=%.2f",
              s->train.n, s->train.too_long, s->train.bad_gold, s->eval.n,
              s->eval.bad_gold, clock_now() - s->started);
    if (c->admission.max_seconds > 0)
        log0_line(LOG_INFO,
                  "admission.max_seconds=%g: the clock may close a step, and then "
                  "chooses its batch: such a step does not repeat",
                  c->admission.max_seconds);
    if (c->admission.order == ORDER_COMPLETION)
        log0_line(LOG_INFO, "admission.order=completion: a step trains the groups that "
                            "are complete first, which prefers short completions");
    if (session_spans(s))
        log0_line(LOG_INFO,
                  "admission.surplus=resume: groups go on in the next step on newer "
                  "weights, up to max_age=%" PRId64 " steps; tis_cap=%g",
                  c->admission.max_age, c->loss.tis_cap);
    if (c->train.max_staleness)
        log0_line(
            LOG_INFO,
            "stale groups are trained: each step is generated while the one before "
            "it is trained, on the policy of before its updates; tis_cap=%g",
            c->loss.tis_cap);
}

static int evaluate_into_all(struct session *s, bool initial, struct fault *f)
{
    struct eval_result e;
    int rc = evaluate_all(s, NULL, &e, f);

    if (rc)
        return rc;
    s->metrics[METRIC_T_EVAL] += e.seconds;
    if (initial && stop_agreed_all(s, 0) == STOP_SIGNAL) {
        train_request_stop(); /* nothing is lost by dropping what comes on all ranks */
        return 0;
    }
    if (initial) {
        s->metrics[METRIC_EVAL_INITIAL] = e.average_at_n;
    } else {
        s->metrics[METRIC_EVAL_AVERAGE] = e.average_at_n;
        s->metrics[METRIC_EVAL_PASS] = e.pass_at_n;
        s->metrics[METRIC_EVAL_FOUND] = e.found_rate;
        s->metrics[METRIC_EVAL_TOKENS] = e.mean_tokens;
    }
    log0_line(LOG_INFO,
              "eval step=%" PRId64 " problems=%" PRId64 " avg@%" PRId64
              "=%.4f pass@%" PRId64 "=%.4f found=%.4f mean_tokens=%.1f seconds=%.1f",
              s->step, e.problems, s->cfg->eval.samples, e.average_at_n,
              s->cfg->eval.samples, e.pass_at_n, e.found_rate, e.mean_tokens,
              e.seconds);
    return 0;
}

/* Prompts left behind a cursor. */
static int64_t available(const struct session *s, int64_t cursor)
{
    return s->cfg->data.epochs ? s->cfg->data.epochs * s->train.n - cursor : INT64_MAX;
}

static bool finished_at(const struct session *s, int64_t step, int64_t cursor)
{
    return step >= s->cfg->run.steps || available(s, cursor) <= 0;
}

static bool finished(const struct session *s)
{
    return s->short_stop || finished_at(s, s->step, s->cursor);
}

static int write_step_all(struct session *s, const struct settled *r, struct fault *f)
{
    struct metric metric[METRIC_COUNT];
    struct step_record rec = {
        .step = s->step,
        .policy_version = r->version,
        .closed_by = closed_text(r->closed),
        .identity = &s->identity,
        .n_metrics = METRIC_COUNT,
        .metrics = metric,
        .n_groups = r->n_mine,
        .groups = (const struct group *const *)r->mine,
        .spans = session_spans(s),
    };
    double start = clock_now();
    int rc;

    rc = session_enter_all(s, PHASE_STEP_FILE, INJECT_STEP_FILE, f);
    if (rc)
        return rc;
    memcpy(rec.ledger_tokens, r->ledger, sizeof rec.ledger_tokens);
    rc = tally_all(s, r, rec.ledger_seconds, f);
    if (rc)
        return rc;
    s->metrics[METRIC_T_FILES] = s->files;
    s->files = 0;
    for (int i = 0; i < METRIC_COUNT; i++) {
        metric[i].value = s->metrics[i];
        snprintf(metric[i].name, sizeof metric[i].name, "%s", metric_names[i].name);
    }
    rc = store_step_all(s->store, &rec, f);
    s->files += clock_now() - start;
    return rc;
}

/* Stale groups are never trained without a word. */
static const char *staleness(const double *m, char *room, size_t size)
{
    *room = '\0';
    if (m[METRIC_STALE_RATIO] > 0)
        snprintf(room, size, " stale=%.2f behind=%.3g tis_weight=%.3f",
                 m[METRIC_STALE_RATIO], m[METRIC_STALE_MEAN], m[METRIC_TIS]);
    return room;
}

static void say_step(const struct session *s, const struct settled *r)
{
    const double *m = s->metrics;
    char stale[96];

    log0_line(LOG_INFO,
              "step=%" PRId64 " acc=%.3f groups=%d/%" PRId64 " candidates=%" PRId64
              " unknown=%.0f tokens=%.0f waste=%.2f len=%.1f loss=%+.4f norm=%.3f "
              "entropy=%.3f "
              "clip=%.4f max_log_ratio=%.2g gen=%.2fs learn=%.2fs closed_by=%s%s",
              s->step, m[METRIC_REWARD_ACCURACY], r->n_batch, s->cfg->admission.groups,
              r->started, m[METRIC_GRADER_UNKNOWN], m[METRIC_TOKENS], m[METRIC_WASTED],
              m[METRIC_MEAN_TOKENS], m[METRIC_LOSS], m[METRIC_GRAD_NORM],
              m[METRIC_ENTROPY], m[METRIC_CLIP], m[METRIC_MAX_LOG_RATIO],
              m[METRIC_T_GENERATE], m[METRIC_T_LEARN], closed_text(r->closed),
              staleness(m, stale, sizeof stale));
}

static int short_batch(const struct session *s, const struct settled *r,
                       struct fault *f)
{
    const struct config *c = s->cfg;
    const char *raise = r->closed == CLOSED_MAX_CANDIDATES ? "admission.max_multiplier"
                        : r->closed == CLOSED_DATA_EXHAUSTED ? "data.epochs"
                                                             : "that budget";

    if (c->admission.on_short_batch != SHORT_ERROR || r->n_batch >= c->admission.groups)
        return 0;
    return fault_set(
        f, FAULT_DATA,
        "step %" PRId64 " closed by %s with %d of %" PRId64
        " trainable groups and admission.on_short_batch = error; use easier "
        "or harder prompts, raise %s, or choose train",
        s->step + 1, closed_text(r->closed), r->n_batch, c->admission.groups, raise);
}

/* Generate the step that comes next on its own, on the newest weights. */
static int generate_next_all(struct session *s, struct settled *out, struct fault *f)
{
    int rc;

    s->drawing = (struct drawing){.step = s->step + 1, .cursor = s->cursor};
    rc = generate_all(s, available(s, s->cursor), out, f);
    /* After a resumption: it was due on the weights of the step before. */
    if (!rc && !out->abandoned && s->published != s->updates)
        rc = publish_all(s, f);
    return rc;
}

/* train.max_staleness = 1: what a checkpoint of this step will need of the state before
 * it, and the beginning of the next one, unless this is the last. */
static int begin_ahead_all(struct session *s, const struct settled *r,
                           struct generation **out, struct fault *f)
{
    int64_t cursor = s->cursor + r->consumed;

    s->previous_updates = s->published;
    if (s->learner)
        memcpy(s->previous, model_params(s->model),
               model_n_params(s->model) * sizeof *s->previous);
    if (finished_at(s, s->step + 1, cursor))
        return 0;
    s->drawing = (struct drawing){.step = s->step + 2, .cursor = cursor};
    return generation_begin_all(out, s, available(s, cursor), f);
}

/* The step's updates and, meanwhile, with train.max_staleness = 1, the generation of
 * the next one; it gives *next. */
static int train_batch_all(struct session *s, const struct settled *r,
                           struct share *share, struct settled *next, struct fault *f)
{
    struct generation *g = NULL;
    int rc = 0;

    if (s->cfg->train.max_staleness)
        rc = begin_ahead_all(s, r, &g, f);
    if (rc)
        return rc;
    if (s->learner) {
        learner_set_pause(s->learner, g ? generation_tick : NULL, g);
        rc = learn_all(s, share, f);
        learner_set_pause(s->learner, NULL, NULL);
    }
    return g ? generation_end_all(g, rc, next, f) : comm_agree_all(s->comm, rc, f);
}

/* What follows a settled batch: train, publish, evaluate, write. */
static int complete_step_all(struct session *s, struct settled *r, struct settled *next,
                             struct fault *f)
{
    struct share share = {0};
    double start = clock_now();
    int rc = short_batch(s, r, f);

    if (!rc)
        rc = deliver_all(s, r, &share, f);
    s->metrics[METRIC_T_DELIVER] = clock_now() - start;
    r->trained_at = s->updates;
    if (!rc)
        rc = train_batch_all(s, r, &share, next, f);
    share_free(&share);
    if (!rc)
        rc = publish_all(s, f);
    if (rc)
        return rc;
    s->metrics[METRIC_T_STEP] = clock_now() - s->started;
    s->cursor += r->consumed;
    s->step++;
    s->short_stop = s->cfg->admission.on_short_batch == SHORT_STOP &&
                    r->n_batch < s->cfg->admission.groups;
    if (s->eval.n &&
        ((s->cfg->eval.every && s->step % s->cfg->eval.every == 0) || finished(s)))
        rc = evaluate_into_all(s, false, f);
    if (!rc)
        rc = write_step_all(s, r, f);
    if (!rc)
        say_step(s, r);
    s->tail_seconds = clock_now() - start;
    return rc;
}

/* One step.  *r is its batch if that was generated ahead, and the next one's
 * afterwards. *stopped if the run was asked to stop: what was being generated is
 * dropped. */
static int step_all(struct session *s, struct settled *r, bool *stopped,
                    struct fault *f)
{
    struct settled next = {0};
    int rc = 0;

    for (int i = METRIC_EVAL_INITIAL; i < METRIC_COUNT; i++)
        s->metrics[i] = NAN;
    s->metrics[METRIC_T_EVAL] = 0;
    if (s->step == 0 && s->eval.n)
        rc = evaluate_into_all(s, true, f);
    s->started = clock_now();
    if (!rc && !r->size)
        rc = generate_next_all(s, r, f);
    *stopped = !rc && r->abandoned;
    if (!rc && !r->abandoned)
        rc = complete_step_all(s, r, &next, f);
    *stopped = *stopped || (!rc && next.abandoned);
    settled_free(r);
    *r = next;
    return rc;
}

static int loop_all(struct session *s, const char *dir, struct fault *f)
{
    struct settled batch = {0};
    int64_t saved = s->step;
    bool stopped = false, save;
    enum stop_why why;
    int rc = 0;

    while (!rc && !stopped && !finished(s)) {
        rc = step_all(s, &batch, &stopped, f);
        if (!rc && !stopped)
            stopped = stop_agreed_all(s, 0) != STOP_NOT;
        if (!rc && !stopped && s->cfg->run.save_every &&
            s->step % s->cfg->run.save_every == 0 && !finished(s)) {
            double start = clock_now();

            rc = save_all(s, f);
            s->files += clock_now() - start;
            saved = s->step;
        }
    }
    settled_free(&batch);
    why = stopped ? stop_agreed_all(s, 0) : STOP_NOT;
    save = !rc && s->step != saved && (why != STOP_TIME || stop_may_save_all(s));
    if (save)
        rc = save_all(s, f);
    if (!rc)
        rc = store_index_all(s->store, f);
    if (rc)
        return rc;
    if (stopped && !finished(s))
        return fault_set(f, FAULT_STOPPED,
                         "%s: stopped %s after step %" PRId64
                         "%s; the same command goes on from there",
                         dir, stop_text(why), s->step,
                         save || (s->step && s->step == saved) ? ", checkpoint saved"
                         : s->step
                             ? ", without time to save it: from the last checkpoint"
                             : "");
    log0_line(LOG_INFO, "done steps=%" PRId64 " stop_reason=%s", s->step,
              s->step >= s->cfg->run.steps ? "steps"
              : s->short_stop              ? "short_batch"
                                           : "data");
    return 0;
}

/* Rank 0 writes the resolved job file and opens log.txt. */
static int open_files(const struct session *s, const char *dir, struct fault *f)
{
    struct bytes job = {0};
    char *path = NULL;
    int rc = 0;

    if (comm_rank(s->comm) != 0)
        return 0;
    path = path_join(dir, "log.txt", f);
    rc = path ? 0 : f->code;
    if (!rc && log_tee(path))
        rc = fault_set(f, FAULT_FILE, "%s: can't be opened for appending", path);
    free(path);
    path = rc ? NULL : path_join(dir, "job.ini", f);
    if (!rc)
        rc = config_print(s->cfg, true, &job, f);
    if (!rc && path)
        rc = file_publish(path, job.data, job.len, f);
    free(path);
    bytes_free(&job);
    return rc;
}

/* A run with another reference model is another run. */
static void identify_reference_all(struct session *s)
{
    unsigned long long sum = s->reference ? model_checksum(s->reference) : 0;
    unsigned long long first, second;
    char *id = s->identity.model;

    comm_bcast_all(s->comm, SCOPE_WORLD, &sum, sizeof sum);
    if (!sum)
        return;
    first = hash64(id, strlen(id), 0);
    second = hash64(&sum, sizeof sum, 0);
    if (model_adapter(s->model)) { /* whose base stays the second half */
        first ^= second;
        second = model_base(s->model);
    }
    snprintf(id, sizeof s->identity.model, "%016llx%016llx", first, second);
}

static int run_all(struct session *s, const char *dir, struct fault *f)
{
    int rc = comm_split_all(s->comm, (int)s->cfg->ranks.learners, f);

    if (!rc)
        rc = open_roles(s, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc)
        rc = same_inputs_all(s, f);
    if (!rc) {
        identify_reference_all(s);
        rc = store_open_all(&s->store, s->comm, dir, f);
    }
    if (!rc)
        rc = stop_watch_all(s, dir, f);
    if (!rc)
        rc = resume_all(s, dir, f);
    if (!rc)
        rc = comm_agree_all(s->comm, open_files(s, dir, f), f);
    if (!rc) {
        say_header(s, dir);
        rc = stop_measure_all(s, dir, f);
    }
    if (!rc && comm_rank(s->comm) == 0)
        rc = poison_load(s, dir, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc) {
        /* Everyone starts from the root's weights, unless the next step is due on those
         * of the step before. */
        rc = s->published == s->updates ? publish_all(s, f) : 0;
    }
    if (!rc)
        rc = loop_all(s, dir, f);
    pulse_phase(PHASE_END, s->step);
    watch_stop_all(s->watch);
    store_close_all(s->store);
    log_tee(NULL);
    return rc;
}

/* Before anything that takes time: is this a place where the run can go? */
static int look_around_all(struct comm *c, const struct config *cfg, const char *dir,
                           struct fault *f)
{
    struct doctor_job job = {.dir = dir};
    struct fault why = FAULT_INIT; /* the run will say it by itself */

    if (train_needs(cfg, comm_size(c), &job, &why) == FAULT_SYSTEM)
        log_line(LOG_WARN, "%s", why.text);
    return doctor_run_all(c, &job, DOCTOR_START, 0, f);
}

int train_run_all(struct comm *c, const struct config *cfg, struct fault *f)
{
    struct session s = {0};
    char *dir = path_join(cfg->run.dir, cfg->run.name, f);
    double start = clock_now();
    int rc;

    rc = comm_agree_all(c, dir ? 0 : f->code, f);
    if (!rc)
        rc = look_around_all(c, cfg, dir, f);
    if (!rc)
        rc = inject_arm(cfg->debug.fault, comm_rank(c), f);
    if (!rc)
        rc = session_open(&s, c, cfg, f);
    s.started = start;
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = same_job_all(c, cfg, f);
    if (!rc)
        rc = run_all(&s, dir, f);
    session_close(&s);
    free(dir);
    return rc;
}
