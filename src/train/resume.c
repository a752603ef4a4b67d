/* resume.c - what a checkpoint holds of a session; who may continue from it. */
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/carry.h"
#include "train/resume.h"

bool train_may_change(const char *setting)
{
    /* Where it runs, how long, and what is only watched; nothing that an update sees.
     */
    static const char *const may[] = {
        "run.name",
        "run.dir",
        "run.steps",
        "run.resume",
        "run.save_every",
        "run.keep",
        "run.keep_every",
        "run.log",
        "ranks.learners",
        "ranks.threads",
        "model.path",
        "model.tokenizer",
        "data.train",
        "data.epochs",
        "data.on_bad_gold", /* which prompts remain is in the identity */
        "rollout.slots",
        "rollout.kv_tokens",
        "rollout.slice",
        "rollout.prefill_chunk",
        "admission.refill",
        "admission.speculation",
        "optimizer.microbatch_tokens",
        "train.poison_deaths",
        "train.watchdog_s",
        "train.margin_s",
        "train.max_hours",
        "loss.reference",
        "lora.init", /* only ever the first step's */
    };

    if (!strncmp(setting, "eval.", 5) || !strncmp(setting, "sft.", 4) ||
        !strncmp(setting, "debug.", 6) || !strcmp(setting, "data.eval"))
        return true;
    for (size_t i = 0; i < sizeof may / sizeof may[0]; i++)
        if (!strcmp(setting, may[i]))
            return true;
    return false;
}

static struct checkpoint view(struct session *s, double *state)
{
    struct checkpoint k = {
        .step = s->step,
        .updates = s->updates,
        .cursor = s->cursor,
        .n_params = (int64_t)model_n_params(s->model),
        .params = model_params(s->model),
        .previous = s->previous,
        .previous_updates = s->previous ? s->previous_updates : -1,
        .identity = &s->identity,
        .state = state,
    };

    k.tensors = model_tensors(s->model, &k.n_tensors);
    if (s->learner) {
        k.moment1 = learner_moment1(s->learner);
        k.moment2 = learner_moment2(s->learner);
    }
    return k;
}

/* What a checkpoint of this session holds, in memory; `job` and the parcels are the
 * caller's to free, after a fault too. */
static int content(struct session *s, struct checkpoint *k, struct bytes *job,
                   struct parcel **parcels, struct fault *f)
{
    const struct past *past = s->admission ? carry_past(s) : NULL; /* the root's */
    int n = 0, rc = s->carry ? carry_pack(s, parcels, &n, f) : 0;

    if (!rc && comm_rank(s->comm) == 0)
        rc = config_print(s->cfg, true, job, f);
    *k = view(s, past ? past->state : NULL);
    k->n_state = past ? past->n_state : 0;
    k->n_parcels = n;
    k->parcels = *parcels;
    k->config = job->data;
    return rc;
}

int save_all(struct session *s, struct fault *f)
{
    struct bytes job = {0};
    struct parcel *parcels = NULL;
    struct checkpoint k = {0};
    double start = clock_now();
    int rc = session_enter(s, PHASE_CHECKPOINT, INJECT_CHECKPOINT, f);

    if (!rc)
        rc = content(s, &k, &job, &parcels, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc)
        rc = store_checkpoint_all(s->store, &k, f);
    /* What followed an earlier step that the run has gone back to is there no more once
     * a checkpoint has been saved: this job writes steps in their order. */
    if (!rc && !s->saved)
        rc = store_set_aside_all(s->store, s->step, f);
    if (!rc) {
        s->saved = true;
        rc = store_retain_all(s->store, (int)s->cfg->run.keep, s->cfg->run.keep_every,
                              f);
    }
    s->save_seconds = clock_now() - start;
    if (!rc)
        log0_line(LOG_INFO, "checkpoint step=%lld", (long long)s->step);
    parcels_free(parcels, k.n_parcels);
    bytes_free(&job);
    return rc;
}

/* Names the settings that differ from those the checkpoint was written under and may
 * not.  Always FAULT_CONFIG or worse. */
static int refuse_settings_all(struct session *s, int64_t step, const char *dir,
                               struct fault *f)
{
    struct config old;
    struct bytes names = {0}, bad = {0};
    struct fault ignored = FAULT_INIT;
    char *text, *save = NULL;
    int rc = store_checkpoint_config_all(s->store, step, &text, f);

    if (rc)
        return rc;
    if (!config_parse(&old, dir, text, NULL, 0, &ignored) &&
        !config_diff(&old, s->cfg, &names, &ignored) && names.data)
        for (char *p = strtok_r(names.data, "\n", &save); p;
             p = strtok_r(NULL, "\n", &save))
            if (!train_may_change(p))
                bytes_printf(&bad, &ignored, "%s%s", bad.len ? ", " : "", p);
    rc =
        fault_set(f, FAULT_CONFIG,
                  "%s: the run can't be resumed with other settings (%.200s); set them "
                  "back, or start a new run with another run.name",
                  dir, bad.len ? bad.data : "of a build that has other ones");
    free(text);
    bytes_free(&names);
    bytes_free(&bad);
    return comm_agree_all(s->comm, rc, f);
}

static int check_identity(const struct session *s, const struct identity *id,
                          int64_t n_params, const char *dir, struct fault *f)
{
    const struct identity *mine = &s->identity;
    const char *what = NULL;

    if (strcmp(id->model, mine->model) || n_params != (int64_t)model_n_params(s->model))
        what = s->cfg->loss.kl_coef > 0 ? "model.path or the reference is another model"
               : model_adapter(s->model) ? "model.path holds another base model"
                                         : "model.path holds another model";
    else if (strcmp(id->tokenizer, mine->tokenizer))
        what = "the tokenizer is another";
    else if (strcmp(id->data, mine->data))
        what = "data.train holds other prompts";
    else if (!reward_version_in(id->grader, (enum grader)s->cfg->reward.grader))
        what = "reward.grader, or its version, is another";
    if (what)
        return fault_set(
            f, FAULT_CONFIG,
            "%s: the run can't be resumed: %s than the checkpoint's; use the "
            "original, or start a new run with another run.name",
            dir, what);
    return 0;
}

static int take_over(struct session *s, const struct checkpoint *k, struct fault *f)
{
    int rc = model_refresh(s->model, f);

    s->step = k->step;
    s->cursor = k->cursor;
    s->updates = k->updates;
    s->published = k->previous_updates >= 0 ? k->previous_updates : k->updates;
    if (s->learner)
        learner_set_updates(s->learner, k->updates);
    if (!rc && s->admission)
        rc = admission_state_set(s->admission, k->state, k->n_state, f);
    if (!rc && s->admission)
        rc = carry_note(s->carry, s, k->step, f);
    return rc;
}

/* The groups that go on, each to its replica. */
static int read_groups_all(struct session *s, int64_t step, int64_t total,
                           struct fault *f)
{
    struct parcel *want =
        mem_new((size_t)total, sizeof *want, "a checkpoint's parcels", f);
    int n = 0, rc = comm_agree_all(s->comm, want ? 0 : f->code, f);

    if (!rc) {
        carry_wanted(s, want, &n);
        rc = store_parcels_all(s->store, step, want, n, &total, f);
    }
    if (!rc)
        rc = comm_agree_all(s->comm, carry_unpack(s, want, n, f), f);
    parcels_free(want, n);
    return rc;
}

static int read_carry_all(struct session *s, int64_t step, struct fault *f)
{
    struct parcel root = {0};
    int64_t total;
    int rc = store_parcels_all(s->store, step, &root, 1, &total, f);

    if (!rc)
        rc = carry_unpack_root(s, &root, total, f);
    if (!rc && s->admission && admission_carried(s->admission) != s->carry->n_all)
        rc = fault_set(f, FAULT_DATA,
                       "the checkpoint of step %lld carries %d groups, of which "
                       "admission knows %lld; take an earlier one",
                       (long long)step, s->carry->n_all,
                       (long long)admission_carried(s->admission));
    free(root.data);
    rc = comm_agree_all(s->comm, rc, f);
    return rc ? rc : read_groups_all(s, step, total, f);
}

static int read_all(struct session *s, int64_t step, const char *dir, struct fault *f)
{
    struct checkpoint head = {0}, k;
    struct identity id = {0};
    double *state;
    int rc = session_enter_all(s, PHASE_RESUME, INJECT_RESUME, f);

    if (!rc)
        rc = store_checkpoint_head_all(s->store, step, &head, &id, f);
    if (rc)
        return rc;
    /* First the settings: with another lora.rank the tensors differ too. */
    if (strcmp(id.config, s->identity.config))
        return refuse_settings_all(s, step, dir, f);
    rc = comm_agree_all(s->comm, check_identity(s, &id, head.n_params, dir, f), f);
    if (rc)
        return rc;
    state = mem_new((size_t)head.n_state, sizeof *state, "admission's estimates", f);
    rc = comm_agree_all(s->comm, state ? 0 : f->code, f);
    if (!rc) {
        k = view(s, state);
        k.n_state = head.n_state;
        k.previous_updates = head.previous_updates;
        if (head.previous_updates >= 0 &&
            !s->learner) { /* they generate the next step */
            k.previous = k.params;
            k.params = NULL;
        } else {
            k.previous = NULL;
        }
        rc = store_checkpoint_read_all(s->store, step, &k, f);
    }
    if (!rc)
        rc = comm_agree_all(s->comm, take_over(s, &k, f), f);
    if (!rc && s->carry)
        rc = read_carry_all(s, step, f);
    if (!rc)
        log0_line(LOG_INFO, "resumed from step=%lld policy_version=%lld",
                  (long long)s->step, (long long)s->updates);
    free(state);
    return rc;
}

int resume_all(struct session *s, const char *dir, struct fault *f)
{
    const char *how = s->cfg->run.resume;
    int64_t step;
    int rc = store_latest_all(s->store, &step, f);

    if (rc)
        return rc;
    if (!strcmp(how, "never")) {
        if (step < 0)
            return 0;
        return fault_set(
            f, FAULT_CONFIG,
            "%s: holds checkpoints up to step %lld, and run.resume = never; "
            "choose another run.name or resume",
            dir, (long long)step);
    }
    if (strcmp(how, "auto"))
        step = strtoll(how, NULL, 10);
    return step < 0 ? 0 : read_all(s, step, dir, f);
}
