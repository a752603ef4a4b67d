/* learner.h - from groups to new weights: advantages, batch plan, loss, optimizer.
 *
 * The reduction is exact: an update's token losses are summed over all microbatches and
 * learner ranks and divided once, by a count that is reduced over all of them, so no
 * cut into ranks or microbatches changes the gradient (invariant 3), empty ranks
 * included.  Communication is passed in as `struct learner_reduce`; the module itself
 * knows no MPI. Source: Yu et al., DAPO, arXiv:2503.14476, eqs. 8-13; Shao et al.,
 * GRPO, arXiv:2402.03300; dual clip: Ye et al. 2020, arXiv:1912.09729.  Stale tokens:
 * Hilton et al., Batch size-invariance for policy optimization, arXiv:2110.00641.
 */
#ifndef DAPO_LEARNER_H
#define DAPO_LEARNER_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/group.h"
#include "dapo/model.h"

/* -- advantages -------------------------------------------------------------------- */

/* A_i = (r_i - mean) / (std + eps), std with ddof = 1, two passes in double, eps
 * outside the root; n = 1 gives r - mean = 0; all equal gives 0 exactly, whatever
 * eps and whatever the rounding of the mean.  out may be reward. */
void advantage(const double *reward, int n, double eps, double *out);
/* Fill members[].advantage of a group from its shaped rewards.  Does not ask whether
 * the group may be trained: that is group_trainable's, on the raw outcomes. */
void advantage_group(struct group *g, double eps);

/* -- loss -------------------------------------------------------------------------- */

/* X(name, printed) - order of loss.reduction's choices.  With L_it the loss of token t
 * of completion i, n_i its tokens, N = sum n_i and S the number of completions of the
 * update, all after mask_truncated, over all learners:
 *   token_mean            sum_it L_it / N                                (DAPO)
 *   sample_mean           sum_i (1/S) (1/n_i) sum_t L_it                 (GRPO)
 *   token_mean_microbatch sum_b (S_b/S) (1/N_b) sum_{it in b} L_it over microbatches b
 *                         (what the published DAPO run used).  Here, by its
 *                         definition, the cut into microbatches and ranks matters;
 *                         it is the one exception to invariant 3. */
#define REDUCTION_LIST(X)         \
    X(TOKEN_MEAN, "token_mean")   \
    X(SAMPLE_MEAN, "sample_mean") \
    X(TOKEN_MEAN_MICROBATCH, "token_mean_microbatch")
enum reduction {
#define X(name, text) REDUCTION_##name,
    REDUCTION_LIST(X)
#undef X
        REDUCTION_COUNT
};

struct loss_config {
    double clip_low, clip_high; /* ratio is clipped to [1 - low, 1 + high] */
    double dual_clip;           /* > 1; 0 = off.  For A < 0: loss <= -c A */
    double kl_coef;             /* of the k3 estimate to the reference; 0 = off */
    enum reduction reduction;
    bool mask_truncated; /* truncated completions are left out of the update: they add
                          * no loss, count in no denominator and in no metric */
    float temperature;   /* of the log-probs: the training temperature */
    double tis_cap;      /* >= 1: of stale tokens' weights; 0 = none, see below */
};

/* One token's loss and its slope d loss / d logp; `old` and `ref` are stored log-probs.
 *   r    = exp(logp - old)
 *   L    = max(-A r, -A clip(r, 1 - low, 1 + high)), for A < 0 at most -c A
 *   kl   = exp(ref - logp) - (ref - logp) - 1     (k3; Schulman 2020), >= 0
 *   loss = L + kl_coef kl
 * `ref` is not read if kl_coef = 0, and kl is then 0.  Both differences are clamped to
 * +-20 first; beyond that they are constants, so their slope is 0. */
struct token_loss {
    double loss, slope, ratio, kl;
    double weight;      /* of a stale token; else 1 */
    bool weight_capped; /* by tis_cap */
    /* clipped: the clipped objective is below the unclipped one, because r < 1 - low
     * and A < 0 (clipped_low) or r > 1 + high and A > 0 (clipped_high).  clipped_dual:
     * the bound -c A acts.  active: A != 0 and L has a slope in logp. */
    bool clipped, clipped_low, clipped_high, clipped_dual, active;
};
struct token_loss loss_token(const struct loss_config *c, double logp, double old,
                             double ref, double advantage);
/* The same of a token that an older policy than the step's first sampled: the clip
 * keeps the policy near `prox`, its log-prob under the policy at the step's start, and
 * a weight that is constant in logp corrects for the sampling (decoupled objective,
 * Hilton et al. 2021, eq. 5, the weight truncated as in Espeholt et al. 2018,
 * arXiv:1802.01561):
 *   r    = exp(logp - prox)
 *   w    = min(exp(prox - old), tis_cap)
 *   loss = w L(r) + kl_coef kl
 * The slope of L is weighted by w too; active and the clip flags are as above with this
 * r.  With prox = old this is loss_token to the bit. */
struct token_loss loss_token_stale(const struct loss_config *c, double logp,
                                   double prox, double old, double ref,
                                   double advantage);

/* -- the batch --------------------------------------------------------------------- */

/* One completion as the learner sees it.  Pointers are views. */
struct sequence {
    int n_prompt, n;       /* tokens, each >= 1 */
    const int *prompt;     /* [n_prompt] */
    const int *ids;        /* [n] */
    const float *old_logp; /* [n] as stored by the generator */
    float *ref_logp;       /* [n] reference model; NULL without KL */
    float *prox_logp;      /* [n] policy at the step's start, of a stale one; NULL
                            * without tis_cap */
    double advantage;
    bool truncated;
    bool stale; /* an older policy than the step's first sampled some of its tokens */
    int64_t order; /* position in the step's batch: candidate order, then member */
};

/* Deal n completions of an update to `learners` ranks by estimated cost
 * a*T + b*T^2 with T = lengths[i] = n_prompt + n >= 0 (b/a = 1/8192: attention's share
 * in a decoder of width about 700): longest first, to the least loaded rank, ties to
 * the lower index and rank.  So no two ranks' costs differ by more than the costliest
 * completion.  owner[n].  Integer arithmetic: every rank computes the same.  Returns 0
 * or FAULT_SYSTEM. */
int plan_deal(const int *lengths, int n, int learners, int *owner, struct fault *f);
/* Split B groups in candidate order into `updates` runs of equal size (the first ones
 * get one more): first group of update u, for u = 0..updates. */
int plan_update_first(int groups, int updates, int u);

/* -- the learner ------------------------------------------------------------------- */

struct optimizer_config {
    double lr, beta1, beta2, eps, weight_decay;
    double grad_clip; /* the gradient is scaled by min(1, grad_clip / (norm + 1e-6)),
                       * as PyTorch's clip_grad_norm_; 0 = off */
    int64_t warmup_updates; /* lr * min(1, (u + 1) / warmup) for update u = 0, 1, ... */
};

/* The learners' collectives; each rank's n-th call meets the other ranks' n-th.  The
 * result has the same bits on every rank, and again when the same is summed again.
 * Return 0 or a fault that every rank gets. */
struct learner_reduce {
    void *ctx;
    int (*sum_f32_all)(void *ctx, float *x, size_t n, struct fault *f);
    int (*sum_f64_all)(void *ctx, double *x, size_t n, struct fault *f);
    int (*max_f64_all)(void *ctx, double *x, size_t n, struct fault *f);
    int rank; /* this rank's number in the job, for the faults it causes */
};

/* Of the whole update, equal on all learners.  Means are over its tokens; `loss` is
 * the reduction's value, KL term included.  What `old_logp` is compared with is the
 * forward before this update: in a step's first update on fresh weights
 * max_abs_log_ratio is 0 on the CPU backend (invariant 5).  With tis_cap > 0 the ratio
 * of a stale token is to prox_logp, while these compare with old_logp as ever. */
struct update_metrics {
    double loss, kl, entropy, ratio_mean;
    double max_abs_log_ratio; /* max |logp - old_logp|, not clamped */
    double mismatch_mean;     /* mean |logp - old_logp| */
    double clip_fraction, lower_clip_fraction, upper_clip_fraction; /* of the tokens */
    double dual_clip_fraction;
    double tis_weight_mean;     /* over the tis_tokens: those of stale sequences; */
    double tis_capped_fraction; /* 1 and 0 without any */
    int64_t tokens, gradient_active_tokens, sequences, microbatches, tis_tokens;
    double grad_norm; /* before clipping */
    double learning_rate;
    bool skipped;    /* the weights are unchanged: nothing to train, or ... */
    bool non_finite; /* ... the gradient's norm is not a finite number */
    double seconds;  /* of this rank */
};

struct learner; /* opaque: moments, update counter, scratch; the model is a view */

/* A learner of `m`, which must outlive it.  A microbatch holds whole sequences of at
 * most microbatch_tokens (prompt and completion), in their `order`; a longer sequence
 * is one by itself.  `l` may be NULL for supervised training only.  FAULT_CONFIG for a
 * value out of its range, FAULT_SYSTEM. */
int learner_new(struct learner **out, struct model *m, const struct loss_config *l,
                const struct optimizer_config *o, int microbatch_tokens,
                struct fault *f);
void learner_free(struct learner *l);

/* One optimizer update on this rank's share seq[n] (n may be 0); collective over the
 * learners through r.  On return the model's masters and compute form are new, unless
 * skipped (then nothing is, the update counter neither).
 *
 * A rank's failure (a bad sequence, no memory) is every rank's: all return the same
 * code and sentence, and no weight has changed, unless it was AdamW or model_refresh
 * that failed: then some ranks' have.  Sequences with an id outside the model's
 * vocabulary are FAULT_DATA. */
int learner_update_all(struct learner *l, const struct sequence *seq, int n,
                       const struct learner_reduce *r, struct update_metrics *out,
                       struct fault *f);
/* Gradient of the update only (tests, bench): leaves it, summed over the learners and
 * not clipped, in model_grad. */
int learner_gradient_all(struct learner *l, const struct sequence *seq, int n,
                         const struct learner_reduce *r, struct update_metrics *out,
                         struct fault *f);
/* Log-probs of the sequences under `m` (the reference model), at the training
 * temperature, into their ref_logp.  Local. */
int learner_reference(struct learner *l, struct model *m, const struct sequence *seq,
                      int n, struct fault *f);
/* Log-probs of the sequences that have a prox_logp under the learner's own model as it
 * is, into those; before a step's first update.  Local. */
int learner_prox(struct learner *l, const struct sequence *seq, int n, struct fault *f);
/* Supervised: one update of mean negative log-prob (at temperature 1) over the n
 * sequences' completion tokens; advantage, old_logp, ref_logp and truncated unused.
 * The metrics about ratios and clipping are 0. */
int learner_supervised_all(struct learner *l, const struct sequence *seq, int n,
                           const struct learner_reduce *r, struct update_metrics *out,
                           struct fault *f);

/* Have `pause` called between microbatches (NULL: no longer), so that a rank with other
 * duties is never away from them for longer than one of them takes, or one piece of the
 * gradient's sum over the learners. */
void learner_set_pause(struct learner *l, void (*pause)(void *ctx), void *ctx);
/* Turn one learner's failure into every learner's: 0 if none failed, else the code and
 * sentence of one that did, with its rank, on each. */
int learner_agree_all(const struct learner_reduce *r, int rc, struct fault *f);

/* State for checkpoints: moments, each [model_n_params], and updates done (those not
 * skipped; AdamW's step and the warm-up count from it). */
float *learner_moment1(struct learner *l);
float *learner_moment2(struct learner *l);
int64_t learner_updates(const struct learner *l);
void learner_set_updates(struct learner *l, int64_t updates);

#endif
