/* learn.c - updates, reference log-probs, publishing. */
#include <stdlib.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "train/learn.h"

/* A run that trains an adapter stays close to its base, which the model holds anyway.
 */
static bool base_is_reference(const struct session *s)
{
    return model_adapter(s->model) && !*s->cfg->loss.reference;
}

static int open_reference(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    const char *dir = *c->loss.reference ? c->loss.reference : c->model.path;

    if (c->loss.kl_coef == 0 || base_is_reference(s))
        return 0;
    if (c->model.init == INIT_RANDOM && !*c->loss.reference)
        return fault_set(
            f, FAULT_CONFIG,
            "loss.kl_coef = %g with model.init = random needs "
            "loss.reference: there is no pretrained model to stay close to",
            c->loss.kl_coef);
    return model_open(&s->reference, dir, s->backend, (enum compute)c->model.compute,
                      tokenizer_size(s->tok), f);
}

int learn_open(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    struct loss_config l = {
        .clip_low = c->loss.clip_low,
        .clip_high = c->loss.clip_high,
        .dual_clip = c->loss.dual_clip,
        .kl_coef = c->loss.kl_coef,
        .reduction = (enum reduction)c->loss.reduction,
        .mask_truncated = c->loss.mask_truncated,
        .temperature = (float)c->rollout.temperature,
        .tis_cap = c->loss.tis_cap,
    };
    struct optimizer_config o = {
        .lr = c->optimizer.lr,
        .beta1 = c->optimizer.beta1,
        .beta2 = c->optimizer.beta2,
        .eps = c->optimizer.eps,
        .weight_decay = c->optimizer.weight_decay,
        .grad_clip = c->optimizer.grad_clip,
        .warmup_updates = c->optimizer.warmup_updates,
    };
    int rc = learner_new(&s->learner, s->model, &l, &o,
                         (int)c->optimizer.microbatch_tokens, f);

    return rc ? rc : open_reference(s, f);
}

/* Under the base alone; the adapter is back afterwards whatever comes of it. */
static int base_logprobs(struct session *s, struct share *share, struct fault *f)
{
    struct fault later = FAULT_INIT;
    int rc = model_lora_mute(s->model, true, f), back;

    if (!rc)
        rc = learner_reference(s->learner, s->model, share->seq, share->n, f);
    back = model_lora_mute(s->model, false, rc ? &later : f);
    return rc ? rc : back;
}

static int reference_logprobs(struct session *s, struct share *share, struct fault *f)
{
    int rc = 0;

    if (s->cfg->loss.kl_coef == 0)
        return 0;
    for (int i = 0; i < share->n && !rc; i++) {
        share->seq[i].ref_logp =
            mem_new((size_t)share->seq[i].n, sizeof(float), "reference log-probs", f);
        rc = share->seq[i].ref_logp ? 0 : f->code;
    }
    if (!rc && !s->reference)
        return base_logprobs(s, share, f);
    return rc ? rc
              : learner_reference(s->learner, s->reference, share->seq, share->n, f);
}

/* What stale sequences' ratios are taken to. */
static int prox_logprobs(struct session *s, struct share *share, struct fault *f)
{
    int stale = 0;

    if (!(s->cfg->loss.tis_cap > 0))
        return 0;
    for (int i = 0; i < share->n; i++) {
        struct sequence *q = &share->seq[i];

        if (!q->stale)
            continue;
        q->prox_logp = mem_new((size_t)q->n, sizeof(float), "log-probs", f);
        if (!q->prox_logp)
            return f->code;
        stale++;
    }
    return stale ? learner_prox(s->learner, share->seq, share->n, f) : 0;
}

/* Sums over the step's updates; means are weighted by tokens, like the loss. */
struct tally {
    double loss, kl, entropy, ratio, clip, low, high, dual, norm, weight, capped;
    int64_t tokens, active, sequences, weighed;
    int updates, skipped, non_finite;
};

static void add_update(struct tally *t, const struct update_metrics *u)
{
    double n = (double)u->tokens;

    t->skipped += u->skipped;
    t->non_finite += u->non_finite;
    t->tokens += u->tokens;
    t->active += u->gradient_active_tokens;
    t->sequences += u->sequences;
    t->kl += n * u->kl;
    t->entropy += n * u->entropy;
    t->ratio += n * u->ratio_mean;
    t->clip += n * u->clip_fraction;
    t->low += n * u->lower_clip_fraction;
    t->high += n * u->upper_clip_fraction;
    t->dual += n * u->dual_clip_fraction;
    t->weighed += u->tis_tokens;
    t->weight += (double)u->tis_tokens * u->tis_weight_mean;
    t->capped += (double)u->tis_tokens * u->tis_capped_fraction;
    if (u->skipped)
        return;
    t->updates++;
    t->loss += u->loss;
    t->norm += u->grad_norm;
}

static void put_tally(struct session *s, const struct tally *t)
{
    double n = t->tokens ? (double)t->tokens : 1.0, u = t->updates ? t->updates : 1.0;
    double *m = s->metrics;

    m[METRIC_LOSS] = t->loss / u;
    m[METRIC_GRAD_NORM] = t->norm / u;
    m[METRIC_KL] = t->kl / n;
    m[METRIC_ENTROPY] = t->entropy / n;
    m[METRIC_RATIO] = t->ratio / n;
    m[METRIC_CLIP] = t->clip / n;
    m[METRIC_CLIP_LOW] = t->low / n;
    m[METRIC_CLIP_HIGH] = t->high / n;
    m[METRIC_CLIP_DUAL] = t->dual / n;
    m[METRIC_TIS] = t->weighed ? t->weight / (double)t->weighed : 1.0;
    m[METRIC_TIS_CAPPED] = t->weighed ? t->capped / (double)t->weighed : 0.0;
    m[METRIC_PPO_TOKENS] = (double)t->tokens;
    m[METRIC_ACTIVE] = (double)t->active;
    m[METRIC_SEQUENCES] = (double)t->sequences;
    m[METRIC_UPDATES] = t->updates;
    m[METRIC_SKIPPED] = t->skipped;
    m[METRIC_NON_FINITE] = t->non_finite;
}

int learn_all(struct session *s, struct share *share, struct fault *f)
{
    struct tally t = {0};
    double start = clock_now();
    int rc;

    /* A step without an update says 0, not what the last one with an update said. */
    s->metrics[METRIC_LR] = 0;
    s->metrics[METRIC_MAX_LOG_RATIO] = 0;
    s->metrics[METRIC_MISMATCH] = 0;
    pulse_phase(PHASE_LEARN, s->step + 1);
    rc = inject_pass(INJECT_LEARN, f);
    if (!rc)
        rc = reference_logprobs(s, share, f);
    if (!rc)
        rc = prox_logprobs(s, share, f);
    rc = learner_agree_all(&s->reduce, rc, f);
    for (int u = 0; u < share->updates && !rc; u++) {
        int a = share->first[u], b = share->first[u + 1];
        struct update_metrics m;

        rc = learner_update_all(s->learner, share->seq + a, b - a, &s->reduce, &m, f);
        if (rc)
            break;
        add_update(&t, &m);
        s->metrics[METRIC_LR] = m.learning_rate;
        if (u == 0) {
            s->metrics[METRIC_MAX_LOG_RATIO] = m.max_abs_log_ratio;
            s->metrics[METRIC_MISMATCH] = m.mismatch_mean;
        }
    }
    if (share->updates == 0)
        t.skipped = 1; /* nothing was admitted: the step's update is skipped */
    put_tally(s, &t);
    s->updates = learner_updates(s->learner);
    s->metrics[METRIC_T_LEARN] = clock_now() - start;
    return rc;
}

int publish_all(struct session *s, struct fault *f)
{
    int size = comm_size(s->comm);
    bool root = comm_rank(s->comm) == 0;
    double start = clock_now();
    unsigned long long sum;
    int64_t *all;
    int rc = session_enter_all(s, PHASE_PUBLISH, INJECT_PUBLISH, f);

    if (rc)
        return rc;
    all = mem_new((size_t)size, sizeof *all, "checksums", f);
    rc = comm_agree_all(s->comm, all ? 0 : f->code, f);
    if (rc) {
        free(all);
        return rc;
    }
    comm_bcast_all(s->comm, SCOPE_WORLD, &s->updates, sizeof s->updates);
    if (size > 1) {
        comm_bcast_all(s->comm, SCOPE_WORLD, model_params(s->model),
                       model_n_params(s->model) * sizeof(float));
        if (!root)
            rc = model_refresh(s->model, f);
    }
    sum = model_checksum(s->model);
    comm_gather_i64_all(s->comm, (int64_t)sum, all);
    for (int i = 1; i < size && !rc; i++)
        if (all[i] != all[0])
            rc =
                fault_set(f, FAULT_BUG,
                          "the published weights of rank %d differ from the root's", i);
    s->metrics[METRIC_CHECKSUM_LOW] = (double)(sum & 0xffffffffu);
    s->metrics[METRIC_CHECKSUM_HIGH] = (double)(sum >> 32);
    s->metrics[METRIC_VERSION] = (double)s->updates;
    s->published = s->updates;
    s->metrics[METRIC_T_PUBLISH] = clock_now() - start;
    free(all);
    return comm_agree_all(s->comm, rc, f);
}
