/* loss.c - one token of the clipped policy loss, and its slope. */
#include <math.h>

#include "dapo/learner.h"

/* exp(20) is 5e8: beyond this the estimate is noise and its gradient an accident. */
#define MOST_LOG_RATIO 20.0

/* NaN stays NaN, so that a broken log-prob shows in the gradient's norm. */
static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double exp_clamped(double log_r)
{
    return exp(clamp(log_r, -MOST_LOG_RATIO, MOST_LOG_RATIO));
}

static void add_policy(struct token_loss *t, const struct loss_config *c, double log_r,
                       double a)
{
    double low = 1 - c->clip_low, high = 1 + c->clip_high;
    bool constant = fabs(log_r) > MOST_LOG_RATIO;
    double loss;

    t->ratio = exp_clamped(log_r);
    t->clipped_low = a < 0 && t->ratio < low;
    t->clipped_high = a > 0 && t->ratio > high;
    t->clipped = t->clipped_low || t->clipped_high;
    loss = -a * (t->clipped ? clamp(t->ratio, low, high) : t->ratio);
    t->clipped_dual = c->dual_clip > 0 && a < 0 && loss > -c->dual_clip * a;
    if (t->clipped_dual)
        loss = -c->dual_clip * a;
    t->active = a != 0 && !t->clipped && !t->clipped_dual && !constant;
    t->loss += loss;
    if (t->active)
        t->slope -= a * t->ratio;
}

static void add_kl(struct token_loss *t, double coef, double log_q)
{
    double d = clamp(log_q, -MOST_LOG_RATIO, MOST_LOG_RATIO);

    t->kl = exp(d) - d - 1;
    t->loss += coef * t->kl;
    if (!(fabs(log_q) > MOST_LOG_RATIO))
        t->slope += coef * (1 - exp(d));
}

static void weigh(struct token_loss *t, double cap, double log_w)
{
    double w = exp_clamped(log_w);

    t->weight_capped = w > cap;
    t->weight = t->weight_capped ? cap : w;
    t->loss *= t->weight;
    t->slope *= t->weight;
}

struct token_loss loss_token(const struct loss_config *c, double logp, double old,
                             double ref, double advantage)
{
    struct token_loss t = {.weight = 1};

    add_policy(&t, c, logp - old, advantage);
    if (c->kl_coef > 0)
        add_kl(&t, c->kl_coef, ref - logp);
    return t;
}

struct token_loss loss_token_stale(const struct loss_config *c, double logp,
                                   double prox, double old, double ref,
                                   double advantage)
{
    struct token_loss t = {0};

    add_policy(&t, c, logp - prox, advantage);
    weigh(&t, c->tis_cap, prox - old);
    if (c->kl_coef > 0)
        add_kl(&t, c->kl_coef, ref - logp);
    return t;
}
