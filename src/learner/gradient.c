/* gradient.c - the gradient of one update: forward and backward of each microbatch of
 * this rank's share with the slopes already divided by the update's counts, then one
 * sum over the learners.  So nothing is rescaled afterwards, and a microbatch or a rank
 * more or less changes no factor. */
#include <limits.h>
#include <math.h>

#include "dapo/clock.h"
#include "learner/learner_private.h"

/* Values per call of sum_f32_all: fixed, so that the number of calls depends on the
 * model only, and a transport's buffers stay small. */
#define PIECE ((size_t)1 << 22)

/* Sums over the tokens of an update, and what else is summed over the learners. */
enum {
    LOSS,
    KL,
    ENTROPY,
    RATIO,
    MISMATCH,
    CLIPPED,
    LOW,
    HIGH,
    DUAL,
    ACTIVE,
    CUTS,
    WEIGHT,
    CAPPED,
    WEIGHED,
    SUMS
};

/* One rank's way through one update. */
struct pass {
    struct learner *l;
    enum objective objective;
    struct counts all, part; /* of the update, of the current microbatch */
    double sum[SUMS];
    double most; /* max |logp - old_logp| */
};

double reduction_weight(enum reduction r, const struct counts *all,
                        const struct counts *part, int n)
{
    switch (r) {
    case REDUCTION_SAMPLE_MEAN:
        return 1 / (all->sequences * n);
    case REDUCTION_TOKEN_MEAN_MICROBATCH:
        return part->sequences / (all->sequences * part->tokens);
    default:
        return 1 / all->tokens;
    }
}

static float policy_token(struct pass *p, const struct sequence *s, int t, double logp)
{
    const struct loss_config *c = &p->l->loss;
    double old = s->old_logp[t], away = fabs(logp - old);
    double weight = reduction_weight(c->reduction, &p->all, &p->part, s->n);
    double ref = c->kl_coef > 0 ? s->ref_logp[t] : 0;
    bool stale = c->tis_cap > 0 && s->stale;
    struct token_loss x =
        stale ? loss_token_stale(c, logp, s->prox_logp[t], old, ref, s->advantage)
              : loss_token(c, logp, old, ref, s->advantage);

    p->sum[LOSS] += weight * x.loss;
    p->sum[KL] += x.kl;
    p->sum[RATIO] += x.ratio;
    p->sum[MISMATCH] += away;
    p->sum[CLIPPED] += x.clipped;
    p->sum[LOW] += x.clipped_low;
    p->sum[HIGH] += x.clipped_high;
    p->sum[DUAL] += x.clipped_dual;
    p->sum[ACTIVE] += x.active;
    p->sum[WEIGHT] += stale ? x.weight : 0;
    p->sum[CAPPED] += x.weight_capped;
    p->sum[WEIGHED] += stale;
    p->most = away > p->most ? away : p->most;
    return (float)(weight * x.slope);
}

static float supervised_token(struct pass *p, double logp)
{
    p->sum[LOSS] -= logp / p->all.tokens;
    return (float)(-1 / p->all.tokens);
}

static void slope(void *ctx, int first, int n, const float *logp, const float *entropy,
                  float *dlogp)
{
    struct pass *p = ctx;
    const struct packer *k = &p->l->packer;

    for (int i = 0; i < n; i++) {
        const struct sequence *s = k->list[k->first + k->of[first + i]];

        p->sum[ENTROPY] += entropy[i];
        dlogp[i] = p->objective == OBJECTIVE_POLICY
                       ? policy_token(p, s, k->nth[first + i], logp[i])
                       : supervised_token(p, logp[i]);
    }
}

static int microbatch(struct pass *p, int first, int end, struct fault *f)
{
    struct packer *k = &p->l->packer;
    struct model *m = p->l->model;
    float temperature =
        p->objective == OBJECTIVE_POLICY ? p->l->loss.temperature : 1.0f;
    struct pack view;
    int rc;

    if ((rc = packer_fill(k, first, end, f)))
        return rc;
    p->part = (struct counts){k->n_out, k->n_seq};
    p->sum[CUTS]++;
    view = packer_view(k);
    if ((rc = model_forward(m, &view, f)) ||
        (rc = model_head(m, k->at, k->targets, k->n_out, temperature, k->logp,
                         k->entropy, slope, p, f)))
        return rc;
    return model_backward(m, f);
}

/* What model_forward and model_head take on trust. */
static int check_ids(const int *ids, int n, int vocab, const char *what,
                     struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return fault_set(f, FAULT_DATA,
                             "%s to train on has the token id %d, but the model knows "
                             "0 to %d: tokenizer and model do not belong together",
                             what, ids[i], vocab - 1);
    return 0;
}

static int check(const struct learner *l, const struct sequence *s,
                 enum objective objective, struct fault *f)
{
    int vocab = model_real_vocab(l->model), rc;
    bool policy = objective == OBJECTIVE_POLICY;

    if (s->n_prompt < 1 || s->n < 1 || s->n > INT_MAX - s->n_prompt || !s->prompt ||
        !s->ids)
        return fault_set(f, FAULT_BUG,
                         "a sequence of %d prompt and %d completion tokens can't be "
                         "trained on",
                         s->n_prompt, s->n);
    if (policy && (!s->old_logp || (l->loss.kl_coef > 0 && !s->ref_logp)))
        return fault_set(f, FAULT_BUG, "a sequence came without its %s log-probs",
                         s->old_logp ? "reference" : "stored");
    if (policy && l->loss.tis_cap > 0 && s->stale && !s->prox_logp)
        return fault_set(f, FAULT_BUG,
                         "a stale sequence came without the log-probs of "
                         "the policy at the step's start");
    if ((rc = check_ids(s->prompt, s->n_prompt, vocab, "a prompt", f)))
        return rc;
    return check_ids(s->ids, s->n, vocab, "a completion", f);
}

static int prepare(struct pass *p, const struct sequence *seq, int n, struct fault *f)
{
    struct learner *l = p->l;
    bool policy = p->objective == OBJECTIVE_POLICY;
    int rc;

    for (int i = 0; i < n; i++)
        if ((rc = check(l, &seq[i], p->objective, f)))
            return rc;
    rc = packer_take(&l->packer, seq, n, policy && l->loss.mask_truncated, f);
    for (int i = 0; !rc && i < l->packer.n; i++)
        p->all.tokens += l->packer.list[i]->n;
    p->all.sequences = l->packer.n;
    return rc ? rc : model_grad_zero(l->model, f);
}

static int run(struct pass *p, struct fault *f)
{
    const struct packer *k = &p->l->packer;
    int rc = 0;

    for (int first = 0, end; !rc && first < k->n; first = end) {
        end = packer_cut(k, first, p->l->microbatch);
        rc = microbatch(p, first, end, f);
        learner_rest(p->l);
    }
    return rc;
}

static int sum_gradient_all(const struct learner *l, float *grad,
                            const struct learner_reduce *r, struct fault *f)
{
    size_t n = model_n_params(l->model);
    int rc = 0;

    for (size_t k; !rc && n > 0; n -= k, grad += k) {
        k = n < PIECE ? n : PIECE;
        rc = r->sum_f32_all(r->ctx, grad, k, f);
        learner_rest(l);
    }
    return rc;
}

static void report(const struct pass *p, struct update_metrics *out)
{
    double n = p->all.tokens > 0 ? p->all.tokens : 1, weighed = p->sum[WEIGHED];

    out->loss = p->sum[LOSS];
    out->kl = p->sum[KL] / n;
    out->entropy = p->sum[ENTROPY] / n;
    out->ratio_mean = p->sum[RATIO] / n;
    out->max_abs_log_ratio = p->most;
    out->mismatch_mean = p->sum[MISMATCH] / n;
    out->clip_fraction = p->sum[CLIPPED] / n;
    out->lower_clip_fraction = p->sum[LOW] / n;
    out->upper_clip_fraction = p->sum[HIGH] / n;
    out->dual_clip_fraction = p->sum[DUAL] / n;
    out->tis_weight_mean = weighed > 0 ? p->sum[WEIGHT] / weighed : 1;
    out->tis_capped_fraction = weighed > 0 ? p->sum[CAPPED] / weighed : 0;
    out->tis_tokens = (int64_t)weighed;
    out->gradient_active_tokens = (int64_t)p->sum[ACTIVE];
    out->microbatches = (int64_t)p->sum[CUTS];
    out->tokens = (int64_t)p->all.tokens;
    out->sequences = (int64_t)p->all.sequences;
}

/* The gradient is summed already, so each rank has the same norm; that it is not finite
 * is still agreed on, because a rank that steps alone would never be noticed. */
static int measure_all(struct pass *p, const struct learner_reduce *r,
                       const float *grad, struct update_metrics *out, struct fault *f)
{
    double squares = 0, most[2];
    int rc = model_backend(p->l->model)
                 ->sumsq(&squares, grad, model_n_params(p->l->model), f);

    if ((rc = learner_agree_all(r, rc, f)))
        return rc;
    most[0] = p->most;
    most[1] = isfinite(squares) ? 0 : 1;
    if ((rc = r->max_f64_all(r->ctx, most, 2, f)))
        return rc;
    p->most = most[0];
    out->non_finite = most[1] > 0;
    out->grad_norm = sqrt(squares);
    return 0;
}

int gradient_all(struct learner *l, const struct sequence *seq, int n,
                 enum objective objective, const struct learner_reduce *r,
                 struct update_metrics *out, struct fault *f)
{
    struct pass p = {.l = l, .objective = objective};
    double since = clock_now(), counts[2];
    float *grad = NULL;
    int rc;

    *out = (struct update_metrics){0};
    if ((rc = learner_agree_all(r, prepare(&p, seq, n, f), f)))
        return rc;
    counts[0] = p.all.tokens;
    counts[1] = p.all.sequences;
    if ((rc = r->sum_f64_all(r->ctx, counts, 2, f)))
        return rc;
    p.all = (struct counts){counts[0], counts[1]};
    if (p.all.tokens > 0) {
        rc = run(&p, f);
        if (!rc && !(grad = model_grad(l->model, f)))
            rc = f->code;
        if ((rc = learner_agree_all(r, rc, f)) ||
            (rc = sum_gradient_all(l, grad, r, f)) ||
            (rc = r->sum_f64_all(r->ctx, p.sum, SUMS, f)) ||
            (rc = measure_all(&p, r, grad, out, f)))
            return rc;
    }
    report(&p, out);
    out->skipped = p.all.tokens == 0 || out->non_finite;
    out->seconds = clock_now() - since;
    return 0;
}

int learner_gradient_all(struct learner *l, const struct sequence *seq, int n,
                         const struct learner_reduce *r, struct update_metrics *out,
                         struct fault *f)
{
    return gradient_all(l, seq, n, OBJECTIVE_POLICY, r, out, f);
}

/* -- log-probs without a gradient ----------------------------------------------------
 */

enum whose { REFERENCE, PROX };

static float *room_of(const struct sequence *s, enum whose whose)
{
    return whose == PROX ? s->prox_logp : s->ref_logp;
}

/* Leave out those that want none. */
static void keep_wanted(struct packer *k, enum whose whose)
{
    int n = 0;

    for (int i = 0; i < k->n; i++)
        if (room_of(k->list[i], whose))
            k->list[n++] = k->list[i];
    k->n = n;
}

/* Forward of one microbatch, its log-probs into their rooms. */
static int look(struct learner *l, struct model *m, int first, int end,
                enum whose whose, struct fault *f)
{
    struct packer *k = &l->packer;
    struct pack view;
    int rc = packer_fill(k, first, end, f);

    if (rc)
        return rc;
    view = packer_view(k);
    if ((rc = model_forward(m, &view, f)) ||
        (rc = model_head(m, k->at, k->targets, k->n_out, l->loss.temperature, k->logp,
                         NULL, NULL, NULL, f)))
        return rc;
    for (int i = 0; i < k->n_out; i++)
        room_of(k->list[k->first + k->of[i]], whose)[k->nth[i]] = k->logp[i];
    return 0;
}

static int logprobs(struct learner *l, struct model *m, const struct sequence *seq,
                    int n, enum whose whose, struct fault *f)
{
    struct packer *k = &l->packer;
    int rc = 0;

    for (int i = 0; !rc && i < n; i++)
        rc = check(l, &seq[i], OBJECTIVE_SUPERVISED, f);
    if (!rc)
        rc = packer_take(k, seq, n, false, f);
    if (rc)
        return rc;
    keep_wanted(k, whose);
    for (int first = 0, end; !rc && first < k->n; first = end) {
        end = packer_cut(k, first, l->microbatch);
        rc = look(l, m, first, end, whose, f);
        learner_rest(l);
    }
    return rc;
}

int learner_reference(struct learner *l, struct model *m, const struct sequence *seq,
                      int n, struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (!seq[i].ref_logp)
            return fault_set(f, FAULT_BUG,
                             "no room for a sequence's reference log-probs");
    return logprobs(l, m, seq, n, REFERENCE, f);
}

int learner_prox(struct learner *l, const struct sequence *seq, int n, struct fault *f)
{
    return logprobs(l, l->model, seq, n, PROX, f);
}
