/* One token's loss: values by hand, the clip metrics' definitions, odd inputs. */
#include <math.h>

#include "check.h"
#include "dapo/learner.h"

static const struct loss_config dapo = {
    .clip_low = .2, .clip_high = .28, .temperature = 1};

static struct token_loss at(const struct loss_config *c, double ratio, double a)
{
    return loss_token(c, -1 + log(ratio), -1, 0, a);
}

/* By hand from DAPO eq. 8 with the range [0.8, 1.28]: -min(r A, clip(r) A), its slope
 * in logp (d r / d logp = r), and which side clips. */
static void clipped_loss_by_hand(void)
{
    static const struct {
        double ratio, a, loss, slope;
        bool low, high;
    } want[] = {
        {1.0, +1, -1.00, -1.0, false, false}, {1.2, +1, -1.20, -1.2, false, false},
        {2.0, +1, -1.28, 0.0, false, true},   {0.5, +1, -0.50, -0.5, false, false},
        {0.5, -1, +0.80, 0.0, true, false},   {2.0, -1, +2.00, +2.0, false, false},
        {1.3, +2, -2.56, 0.0, false, true},   {0.7, -3, +2.40, 0.0, true, false},
        {0.9, -3, +2.70, +2.7, false, false}, {1.25, +2, -2.5, -2.5, false, false},
        {3.0, 0, 0.00, 0.0, false, false},
    };

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct token_loss t = at(&dapo, want[i].ratio, want[i].a);

        CHECK_NEAR(t.ratio, want[i].ratio, 1e-12);
        CHECK_NEAR(t.loss, want[i].loss, 1e-12);
        CHECK_NEAR(t.slope, want[i].slope, 1e-12);
        CHECK_INT(t.clipped_low, want[i].low);
        CHECK_INT(t.clipped_high, want[i].high);
        CHECK_INT(t.clipped, want[i].low || want[i].high);
        CHECK_INT(t.active, want[i].a != 0 && !t.clipped);
        CHECK(!t.clipped_dual && t.kl == 0);
    }
}

/* GRPO's symmetric range [0.8, 1.2] differs from DAPO's at r = 1.25. */
static void grpo_clips_lower(void)
{
    struct loss_config c = dapo;

    c.clip_high = .2;
    CHECK_NEAR(at(&c, 1.25, 1).loss, -1.2, 1e-12);
    CHECK(at(&c, 1.25, 1).slope == 0);
    CHECK_NEAR(at(&dapo, 1.25, 1).loss, -1.25, 1e-12);
}

/* Ye et al. 2020, eq. 5: for A < 0 the loss is min(c (-A), max(...)). */
static void dual_clip_by_hand(void)
{
    struct loss_config c = dapo;
    struct token_loss t;

    c.dual_clip = 3;
    t = at(&c, 10, -2); /* 20 unbounded */
    CHECK_NEAR(t.loss, 6, 1e-12);
    CHECK(t.slope == 0 && t.clipped_dual && !t.clipped && !t.active);
    t = at(&c, 2.9, -2);
    CHECK_NEAR(t.loss, 5.8, 1e-12);
    CHECK_NEAR(t.slope, 5.8, 1e-12);
    CHECK(!t.clipped_dual && t.active);
    t = at(&c, 10, +2); /* only for A < 0 */
    CHECK_NEAR(t.loss, -2.56, 1e-12);
    CHECK(t.clipped_high && !t.clipped_dual);
    t = at(&dapo, 10, -2);
    CHECK_NEAR(t.loss, 20, 1e-11);
}

/* Exactly at a bound nothing is clipped and the slope is whole, as in torch.clamp. */
static void bounds_belong_to_the_range(void)
{
    struct loss_config c = {.clip_low = 0, .clip_high = 0, .temperature = 1};
    struct token_loss t = loss_token(&c, -1, -1, 0, 1);

    CHECK(t.ratio == 1 && t.slope == -1 && !t.clipped);
    t = loss_token(&c, -1, -1, 0, -1);
    CHECK(t.ratio == 1 && t.slope == 1 && !t.clipped);
}

/* kl = q - log q - 1 with q = pi_ref / pi: q = 2: 2 - ln 2 - 1; slope 1 - q = -1. */
static void k3_by_hand(void)
{
    struct loss_config c = dapo;
    struct token_loss t;

    c.kl_coef = .5;
    t = loss_token(&c, -1, -1, -1 + log(2), 0);
    CHECK_NEAR(t.kl, 0.306852819440055, 1e-12);
    CHECK_NEAR(t.loss, 0.153426409720027, 1e-12);
    CHECK_NEAR(t.slope, -0.5, 1e-12);
    CHECK(!t.active);
    t = loss_token(&c, -1, -1, -1, 1);
    CHECK(t.kl == 0 && t.loss == -1 && t.slope == -1);
    t = loss_token(&c, -1, -1, -1 - log(2), 1); /* q = 1/2: kl .193147, slope .5 */
    CHECK_NEAR(t.loss, -1 + .5 * 0.193147180559945, 1e-12);
    CHECK_NEAR(t.slope, -1 + .5 * .5, 1e-12);
}

/* Beyond +-20 the log-ratio is a constant: finite loss, no slope. */
static void log_ratio_is_clamped(void)
{
    struct loss_config c = dapo;
    struct token_loss t = loss_token(&dapo, 0, -500, 0, -1);

    CHECK_NEAR(t.ratio / 485165195.40979, 1, 1e-12);
    CHECK_NEAR(t.loss / 485165195.40979, 1, 1e-12);
    CHECK(t.slope == 0 && !t.active);
    t = loss_token(&dapo, -500, 0, 0, 1);
    CHECK_NEAR(t.ratio, 2.0611536224386e-9, 1e-20);
    CHECK(t.slope == 0);
    c.kl_coef = 1;
    t = loss_token(&c, -500, -500, 0, 0);
    CHECK_NEAR(t.kl, 485165195.40979 - 21, 1e-3);
    CHECK(t.slope == 0);
}

/* Decoupled: ratio r to prox, weight w = min(prox / old, cap); by hand with the range
 * [0.8, 1.28], cap 2, e.g. r = 0.7, A = -3, w = 1.5: 1.5 * 2.4 = 3.6, clipped. */
static void stale_tokens_by_hand(void)
{
    static const struct {
        double ratio, weight, a, loss, slope;
        bool clipped, capped;
    } want[] = {
        {1.0, 1.0, +1, -1.00, -1.0, false, false},
        {1.2, 0.5, +1, -0.60, -0.6, false, false},
        {1.2, 3.0, +1, -2.40, -2.4, false, true},
        {2.0, 1.5, +1, -1.92, 0.0, true, false},
        {0.7, 1.5, -3, 3.60, 0.0, true, false},
        {1.1, 0.1, -2, 0.22, 0.22, false, false},
        {0.5, 9.0, +2, -2.00, -2.0, false, true},
    };
    struct loss_config c = dapo;

    c.tis_cap = 2;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        double prox = -1 + log(want[i].weight), logp = prox + log(want[i].ratio);
        struct token_loss t = loss_token_stale(&c, logp, prox, -1, 0, want[i].a);

        CHECK_NEAR(t.ratio, want[i].ratio, 1e-12);
        CHECK_NEAR(t.weight, want[i].capped ? 2 : want[i].weight, 1e-12);
        CHECK_NEAR(t.loss, want[i].loss, 1e-12);
        CHECK_NEAR(t.slope, want[i].slope, 1e-12);
        CHECK_INT(t.clipped, want[i].clipped);
        CHECK_INT(t.active, !want[i].clipped);
        CHECK_INT(t.weight_capped, want[i].capped);
    }
    /* The weight is the policy loss's: a KL term of q = 2 has slope -1 whatever it is.
     */
    c.kl_coef = .5;
    CHECK_NEAR(loss_token_stale(&c, -1, -1, -1 - log(1.5), -1 + log(2), 1).slope,
               -1.5 - .5, 1e-12);
}

/* A fresh token's loss is what it was, to the bit, however awkward the numbers. */
static void fresh_is_stale_by_nothing(void)
{
    struct loss_config c = dapo;

    c.dual_clip = 3;
    c.kl_coef = .1;
    c.tis_cap = 1;
    for (int i = 0; i < 200; i++) {
        double old = -3.0 / (1 + i), logp = old + sin(i), a = cos(3 * i);
        struct token_loss x = loss_token(&c, logp, old, -1.0 / 3, a);
        struct token_loss y = loss_token_stale(&c, logp, old, old, -1.0 / 3, a);

        CHECK(x.loss == y.loss && x.slope == y.slope && x.ratio == y.ratio);
        CHECK(x.weight == 1 && y.weight == 1 && !y.weight_capped);
        CHECK_INT(x.active, y.active);
    }
}

/* A broken log-prob must reach the gradient's norm, not vanish in a comparison. */
static void nan_goes_through(void)
{
    struct loss_config c = dapo;
    struct token_loss t;

    c.dual_clip = 3;
    for (int sign = -1; sign <= 1; sign += 2) {
        t = loss_token(&c, NAN, -1, 0, sign);
        CHECK(isnan(t.loss) && isnan(t.slope));
        c.tis_cap = 1;
        t = loss_token_stale(&c, -1, NAN, -1, 0, sign);
        CHECK(isnan(t.loss) && isnan(t.slope));
        t = loss_token_stale(&c, -1, -1, NAN, 0, sign);
        CHECK(isnan(t.loss) && isnan(t.slope));
    }
    c.kl_coef = 1;
    t = loss_token(&c, -1, -1, NAN, 1);
    CHECK(isnan(t.loss) && isnan(t.slope));
}

CASES(CASE(clipped_loss_by_hand), CASE(grpo_clips_lower), CASE(dual_clip_by_hand),
      CASE(bounds_belong_to_the_range), CASE(k3_by_hand), CASE(log_ratio_is_clamped),
      CASE(stale_tokens_by_hand), CASE(fresh_is_stale_by_nothing),
      CASE(nan_goes_through))
