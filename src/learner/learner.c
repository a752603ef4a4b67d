/* learner.c - the learner's state and its optimizer step. */
#include <stdlib.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "learner/learner_private.h"

static int refuse(struct fault *f, const char *what)
{
    return fault_set(f, FAULT_CONFIG, "the learner's %s", what);
}

/* Comparisons are written so that NaN fails them. */
static int check_loss(const struct loss_config *c, struct fault *f)
{
    if (!(c->clip_low >= 0 && c->clip_low <= 1 && c->clip_high >= 0))
        return refuse(f, "clip range must have 0 <= low <= 1 and high >= 0");
    if (!(c->dual_clip == 0 || c->dual_clip > 1))
        return refuse(f, "dual clip must be over 1, or 0 for none");
    if (!(c->kl_coef >= 0))
        return refuse(f, "KL coefficient may not be negative");
    if (!((unsigned)c->reduction < REDUCTION_COUNT))
        return refuse(f, "loss reduction is unknown");
    if (!(c->tis_cap == 0 || c->tis_cap >= 1))
        return refuse(f, "cap of stale tokens' weights must be at least 1, or 0 for "
                         "none");
    if (!(c->temperature > 0))
        return refuse(f, "temperature must be over 0");
    return 0;
}

static int check_optimizer(const struct optimizer_config *o, struct fault *f)
{
    if (!(o->lr >= 0 && o->weight_decay >= 0 && o->grad_clip >= 0 &&
          o->warmup_updates >= 0))
        return refuse(f, "learning rate, weight decay, gradient clip and warm-up may "
                         "not be negative");
    if (!(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1 && o->eps > 0))
        return refuse(f, "AdamW constants must have 0 <= beta < 1 and eps > 0");
    return 0;
}

int learner_new(struct learner **out, struct model *m, const struct loss_config *l,
                const struct optimizer_config *o, int microbatch_tokens,
                struct fault *f)
{
    const struct backend *be = model_backend(m);
    struct learner *x;
    size_t bytes;
    int rc;

    *out = NULL;
    if ((l && (rc = check_loss(l, f))) || (rc = check_optimizer(o, f)))
        return rc;
    if (microbatch_tokens < 1)
        return refuse(f, "microbatch must hold at least 1 token");
    if (!size_mul(model_n_params(m), sizeof(float), &bytes))
        return fault_set(f, FAULT_SYSTEM, "no memory for the optimizer's moments");
    x = mem_new(1, sizeof *x, "a learner", f);
    if (!x)
        return f->code;
    *x = (struct learner){.model = m, .optimizer = *o, .microbatch = microbatch_tokens};
    x->loss = l ? *l : (struct loss_config){.temperature = 1};
    if ((rc = be->alloc((void **)&x->m1, bytes, f)) ||
        (rc = be->alloc((void **)&x->m2, bytes, f))) {
        learner_free(x);
        return rc;
    }
    *out = x;
    return 0;
}

void learner_free(struct learner *l)
{
    if (!l)
        return;
    if (l->m1)
        model_backend(l->model)->free(l->m1);
    if (l->m2)
        model_backend(l->model)->free(l->m2);
    packer_free(&l->packer);
    free(l);
}

/* Linear in updates and never 0: the first update already trains.  (The published run's
 * schedule starts at 0 and counts rollout steps, which wasted its first 16 updates.) */
static double rate(const struct learner *l)
{
    double warmup = (double)l->optimizer.warmup_updates;
    double done = (double)l->updates + 1;

    return l->optimizer.lr * (done < warmup ? done / warmup : 1);
}

static int step(struct learner *l, const struct update_metrics *u, struct fault *f)
{
    const struct optimizer_config *o = &l->optimizer;
    double scale = o->grad_clip > 0 ? o->grad_clip / (u->grad_norm + 1e-6) : 1;
    float *grad = model_grad(l->model, f);
    int rc;

    if (!grad)
        return f->code;
    rc = model_backend(l->model)->adamw(
        model_params(l->model), l->m1, l->m2, grad, model_n_params(l->model),
        (float)u->learning_rate, (float)o->beta1, (float)o->beta2, (float)o->eps,
        (float)o->weight_decay, l->updates + 1, scale < 1 ? (float)scale : 1.0f, f);
    if (rc)
        return rc;
    l->updates++;
    return model_refresh(l->model, f);
}

static int update_all(struct learner *l, const struct sequence *seq, int n,
                      enum objective objective, const struct learner_reduce *r,
                      struct update_metrics *out, struct fault *f)
{
    double since = clock_now();
    int rc = gradient_all(l, seq, n, objective, r, out, f);

    if (rc)
        return rc;
    out->learning_rate = rate(l);
    if (!out->skipped)
        rc = learner_agree_all(r, step(l, out, f), f);
    out->seconds = clock_now() - since;
    return rc;
}

int learner_update_all(struct learner *l, const struct sequence *seq, int n,
                       const struct learner_reduce *r, struct update_metrics *out,
                       struct fault *f)
{
    return update_all(l, seq, n, OBJECTIVE_POLICY, r, out, f);
}

int learner_supervised_all(struct learner *l, const struct sequence *seq, int n,
                           const struct learner_reduce *r, struct update_metrics *out,
                           struct fault *f)
{
    return update_all(l, seq, n, OBJECTIVE_SUPERVISED, r, out, f);
}

void learner_set_pause(struct learner *l, void (*pause)(void *ctx), void *ctx)
{
    l->pause = pause;
    l->pause_ctx = ctx;
}

void learner_rest(const struct learner *l)
{
    if (l->pause)
        l->pause(l->pause_ctx);
}

float *learner_moment1(struct learner *l)
{
    return l->m1;
}

float *learner_moment2(struct learner *l)
{
    return l->m2;
}

int64_t learner_updates(const struct learner *l)
{
    return l->updates;
}

void learner_set_updates(struct learner *l, int64_t updates)
{
    l->updates = updates;
}
