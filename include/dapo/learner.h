/* learner.h - from groups to new weights: advantages, batch plan, loss, optimizer.
 *
 * The reduction is exact: an update's token losses are summed over all microbatches and
 * learner ranks and divided once, by a count that is reduced over all of them, so no
 * cut into ranks or microbatches changes the gradient (invariant 3), empty ranks
 * included. Communication is passed in as `struct learner_reduce`; the module itself
 * knows no MPI. Source: Yu et al., DAPO, arXiv:2503.14476, eqs. 8-13; Shao et al.,
 * GRPO, arXiv:2402.03300; dual clip: Ye et al. 2020, arXiv:1912.09729.
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
 * outside the root; n = 1 gives r - mean = 0; all equal gives 0 exactly. */
void advantage(const double *reward, int n, double eps, double *out);
/* Fill members[].advantage of a group from its shaped rewards. */
void advantage_group(struct group *g, double eps);

/* -- loss ----------------------------------------------------------------------------
 */
/* X(name, printed) - order of loss.reduction's choices. */
#define REDUCTION_LIST(X)                                                             \
    X(TOKEN_MEAN, "token_mean") /* sum over tokens / tokens of the update (DAPO) */   \
    X(SAMPLE_MEAN,                                                                    \
      "sample_mean") /* mean over completions of their token means (GRPO) */          \
    X(TOKEN_MEAN_MICROBATCH, "token_mean_microbatch") /* the published run's: mean of \
        each microbatch's token mean, weighted by its share of completions */
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
    bool mask_truncated; /* completions with FINISH_LENGTH add no loss; the count
                          * then leaves their tokens out as well */
    float temperature;   /* of the log-probs: the training temperature */
};

/* One token's loss and its slope d loss / d logp; `old` and `ref` are stored log-probs.
 * The log-ratio is clamped to +-20 before exp. */
struct token_loss {
    double loss, slope, ratio, kl;
    bool clipped, clipped_low, clipped_high; /* in the sense of REFERENCE 1.2 */
};
struct token_loss loss_token(const struct loss_config *c, double logp, double old,
                             double ref, double advantage);

/* -- the batch ------------------------------------------------------------------------
 */
/* One completion as the learner sees it.  Pointers are views. */
struct sequence {
    int n_prompt, n;       /* tokens; n >= 1 */
    const int *prompt;     /* [n_prompt] */
    const int *ids;        /* [n] */
    const float *old_logp; /* [n] as stored by the generator */
    float *ref_logp;       /* [n] reference model; NULL without KL */
    double advantage;
    bool truncated;
    int64_t order; /* position in the step's batch: candidate order, then member */
};

/* Deal n completions of an update to `learners` ranks by estimated cost
 * a*T + b*T^2 with T = n_prompt + n: longest first, to the least loaded rank. owner[n].
 * Deterministic; every rank computes the same. */
void plan_deal(const int *lengths, int n, int learners, int *owner);
/* Split B groups in candidate order into `updates` runs of equal size (the first ones
 * get one more): first group of update u, for u = 0..updates. */
int plan_update_first(int groups, int updates, int u);

/* -- the learner
 * ----------------------------------------------------------------------- */
struct optimizer_config {
    double lr, beta1, beta2, eps, weight_decay, grad_clip; /* grad_clip 0 = off */
    int64_t warmup_updates; /* lr * min(1, (u + 1) / warmup) for update u = 0, 1, ... */
};

struct learner_reduce { /* sums over all learners, the same bits on each; in order of
                           call */
    void *ctx;
    int (*sum_f32_all)(void *ctx, float *x, size_t n, struct fault *f);
    int (*sum_f64_all)(void *ctx, double *x, size_t n, struct fault *f);
    int (*max_f64_all)(void *ctx, double *x, size_t n, struct fault *f);
};

struct update_metrics { /* of the whole update, equal on all learners */
    double loss, kl, entropy, ratio_mean, max_abs_log_ratio;
    double mismatch_mean; /* mean |logp - stored logp| before the update */
    double clip_fraction, lower_clip_fraction, upper_clip_fraction;
    int64_t tokens, gradient_active_tokens, sequences, microbatches;
    double grad_norm, learning_rate;
    bool skipped; /* non-finite norm, on all ranks together, or nothing to train */
    bool non_finite;
    double seconds;
};

struct learner; /* opaque: model, moments, update counter, scratch */

int learner_new(struct learner **out, struct model *m, const struct loss_config *l,
                const struct optimizer_config *o, int microbatch_tokens,
                struct fault *f);
void learner_free(struct learner *l);

/* One optimizer update on this rank's share seq[n] (n may be 0); collective over the
 * learners through r.  On return the model's masters and compute form are new, unless
 * skipped. */
int learner_update_all(struct learner *l, const struct sequence *seq, int n,
                       const struct learner_reduce *r, struct update_metrics *out,
                       struct fault *f);
/* Gradient of the update only (tests, bench): leaves it in model_grad. */
int learner_gradient_all(struct learner *l, const struct sequence *seq, int n,
                         const struct learner_reduce *r, struct update_metrics *out,
                         struct fault *f);
/* Log-probs of the sequences under `m` into ref_logp (the reference model). */
int learner_reference(struct learner *l, struct model *m, const struct sequence *seq,
                      int n, struct fault *f);
/* Supervised: one update of mean negative log-prob over the n sequences' completion
 * tokens (advantage, old_logp unused). */
int learner_supervised_all(struct learner *l, const struct sequence *seq, int n,
                           const struct learner_reduce *r, struct update_metrics *out,
                           struct fault *f);

/* State for checkpoints: moments, each [model_n_params], and updates done. */
float *learner_moment1(struct learner *l);
float *learner_moment2(struct learner *l);
int64_t learner_updates(const struct learner *l);
void learner_set_updates(struct learner *l, int64_t updates);

#endif
