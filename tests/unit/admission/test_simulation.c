/* test_simulation.c - what admission's decisions cost, on a virtual machine.
 *
 * The known answers are the figures of the simulation in Python (300 steps of B = 4 and
 * 10 of B = 512): time over the bound of whoever can't foresee verdicts, tokens of
 * complete groups without signal, and of surplus, cancelled and stale ones, in percent.
 * That simulation knew the law's q[k]; here they are learned from the run.  Its own
 * standard error of a ratio of times is about 2%.
 */
#include "unit/admission/decode_clock.h"

enum policy { WAVES, FULL3, STREAM, COMPLETION, RESUME };

static struct admission_config config(int groups, int size, enum policy p,
                                      double speculation)
{
    static const enum refill refill[] = {REFILL_WAVES, REFILL_FULL, REFILL_STREAM,
                                         REFILL_STREAM, REFILL_STREAM};

    return (struct admission_config){
        .groups = groups,
        .size = size,
        .max_candidates = 12 * (int64_t)groups,
        .refill = refill[p],
        .full_multiplier = 3,
        .order = p == COMPLETION ? ORDER_COMPLETION : ORDER_CANDIDATE,
        .surplus = p == RESUME ? SURPLUS_RESUME : SURPLUS_DISCARD,
        .max_age = 1,
        .dynamic = true,
        .speculation = speculation,
        .prior_trainable = 0.5,
        .prior_weight = 8};
}

static struct cost four(double trainable, enum policy p, double speculation, int slots,
                        int replicas)
{
    struct admission_config c = config(4, 8, p, speculation);

    return simulate(&c, trainable, slots, replicas, 300, false);
}

static double degenerate(const struct cost *c)
{
    return 100.0 * (double)(c->tokens[FATE_ALL_CORRECT] + c->tokens[FATE_ALL_WRONG]) /
           (double)c->all;
}

static double speculated(const struct cost *c)
{
    return 100.0 *
           (double)(c->tokens[FATE_SURPLUS] + c->tokens[FATE_CANCELLED] +
                    c->tokens[FATE_STALE]) /
           (double)c->all;
}

/* -- against the figures ----------------------------------------------------------- */

static void figures_of_b_4(void)
{
    static const struct {
        int slots;
        double trainable;
        enum policy policy;
        double speculation, time_8, time_200, degenerate, speculated;
    } t[] = {
        {32, 0.3, STREAM, 0.5, 1.16, 1.34, 67.6, 5.2},
        {32, 0.5, STREAM, 0.5, 1.12, 1.23, 48.5, 6.9},
        {32, 0.5, FULL3, 0, 1.66, 1.69, 52.2, 18.7},
        {32, 0.5, RESUME, 0.5, 0.98, 0.80, 49.9, 4.4},
        {32, 0.8, STREAM, 0.5, 1.08, 1.07, 19.5, 7.0},
        {64, 0.3, WAVES, 0, 1.66, 3.90, 71.8, 0},
        {64, 0.3, FULL3, 0, 1.48, 1.66, 70.6, 8.7},
        {64, 0.3, STREAM, 0.5, 1.17, 1.23, 65.2, 9.0},
        {64, 0.3, RESUME, 0.5, 1.04, 0.78, 67.6, 6.2},
        {64, 0.5, WAVES, 0, 1.43, 2.49, 52.1, 0},
        {64, 0.5, FULL3, 0, 1.55, 1.31, 52.2, 18.7},
        {64, 0.5, STREAM, 1, 1.32, 2.11, 52.1, 0},
        {64, 0.5, STREAM, 0.5, 1.13, 1.09, 46.3, 11.8},
        {64, 0.5, STREAM, 0, 1.26, 1.06, 40.4, 23.6},
        {64, 0.5, RESUME, 0.5, 0.99, 0.65, 48.7, 8.3},
        {64, 0.8, WAVES, 0, 1.17, 1.45, 21.1, 0},
        {64, 0.8, STREAM, 0.5, 1.08, 1.05, 19.6, 8.8},
        {64, 0.8, RESUME, 0.5, 0.90, 0.58, 20.2, 8.4},
        {128, 0.3, STREAM, 0.5, 1.19, 1.14, 62.4, 13.2},
        {128, 0.5, STREAM, 0.5, 1.13, 1.08, 46.4, 11.6},
        {128, 0.5, RESUME, 0.5, 1.01, 0.62, 49.6, 8.9},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct cost c =
            four(t[i].trainable, t[i].policy, t[i].speculation, t[i].slots, 1);

        CHECK_NEAR(c.time[0] / c.bound[0] / t[i].time_8, 1, 0.06);
        CHECK_NEAR(c.time[1] / c.bound[1] / t[i].time_200, 1, 0.06);
        CHECK_NEAR(degenerate(&c), t[i].degenerate, 4);
        CHECK_NEAR(speculated(&c), t[i].speculated, t[i].speculated > 0 ? 3 : 0);
        CHECK_INT(c.trained, 300 * 4);
    }
}

/* The same slots in four replicas cost the same. */
static void replicas_share_the_work(void)
{
    for (int i = 0; i < 3; i++) {
        enum policy p = i == 2 ? RESUME : i ? STREAM : WAVES;
        struct cost one = four(0.5, p, 0.5, 64, 1);
        struct cost some = four(0.5, p, 0.5, 64, 4);

        for (int h = 0; h < HALVES; h++)
            CHECK_NEAR(some.time[h] / one.time[h], 1, 0.04);
        CHECK_NEAR(speculated(&some), speculated(&one), 2);
    }
}

static void figures_of_b_512(void)
{
    static const struct {
        double trainable;
        enum policy policy;
        double time_200, speculated;
    } t[] = {
        {0.3, STREAM, 1.02, 0.4}, {0.5, WAVES, 1.25, 0},    {0.5, FULL3, 1.51, 15.8},
        {0.5, STREAM, 1.03, 0.2}, {0.5, RESUME, 1.02, 1.1}, {0.8, STREAM, 1.05, 0.3},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct admission_config config_512 = config(512, 16, t[i].policy, 0.5);
        struct cost c = simulate(&config_512, t[i].trainable, 1024, 1, 6, false);

        CHECK_NEAR(c.time[1] / c.bound[1] / t[i].time_200, 1, 0.03);
        CHECK_NEAR(speculated(&c), t[i].speculated, 1.5);
        CHECK_INT(c.trained, 6 * 512);
        if (t[i].policy == STREAM) {
            CHECK(c.bound[1] / c.time[1] > 0.95);
            CHECK(speculated(&c) < 2);
        }
    }
}

/* -- claims about the default policy ------------------------------------------------
 */

/* At least 80% of what is possible without foresight, 88% with slots for 2B groups, and
 * at most 13% of the tokens for speculation, where half of the groups or more are
 * trainable; at 30% the last of 13 candidates that a step takes come one after the
 * other more often. */
static void the_default_is_efficient(void)
{
    static const int slots[3] = {32, 64, 128};
    static const double trainable[3] = {0.3, 0.5, 0.8};

    for (int i = 0; i < 3; i++)
        for (int s = 0; s < 3; s++) {
            struct cost c = four(trainable[i], STREAM, 0.5, slots[s], 1);
            double least = s > 0 ? 0.88 : 0.80;

            if (i == 0)
                least = s > 0 ? 0.81 : 0.75;
            for (int h = 0; h < HALVES; h++)
                CHECK(c.bound[h] / c.time[h] > least);
            CHECK(speculated(&c) < 13);
        }
}

/* Why less is asked for at 30%: who starts at once exactly the candidates that will
 * prove needed, and no other, scores 0.79 on 32 and 0.87 on 64 slots that are
 * memory-bound.  So no launch rule reaches 0.80 and 0.88 there: what is missing is to
 * know lengths. */
static void no_launch_rule_could_reach_more(void)
{
    static const struct {
        int slots;
        double most, share; /* of what is possible; of it, that the default reaches */
    } t[] = {{32, 0.80, 0.94}, {64, 0.88, 0.91}};

    for (int i = 0; i < 2; i++) {
        struct admission_config c = config(4, 8, STREAM, 0);
        struct cost seer = simulate(&c, 0.3, t[i].slots, 1, 1200, true);
        struct cost ours = four(0.3, STREAM, 0.5, t[i].slots, 1);
        double possible = seer.bound[1] / seer.time[1];

        CHECK_INT(seer.trained, 1200 * 4);
        CHECK_NEAR(speculated(&seer), 0, 0);
        CHECK(possible < t[i].most);
        CHECK(possible > t[i].most - 0.03);
        CHECK(ours.bound[1] / ours.time[1] > t[i].share * possible);
    }
}

/* Mean length of all trainable groups, from other draws of the same law. */
static double lengths_of_trainable(double trainable)
{
    double middle = middle_share(trainable, 8), sum = 0;
    int n = 0;

    for (int64_t i = 0; i < 20000; i++) {
        struct prompt p = draw(1000000 + i, middle, 8);
        int correct = 0;

        for (int j = 0; j < 8; j++)
            correct += p.correct[j];
        if (group_trainable(correct, 8)) {
            sum += mean_length(&p, 8);
            n++;
        }
    }
    return sum / n;
}

/* The batches of stream and full rounds are those of waves to the last group; resumed
 * ones are unbiased within two standard errors; completion order is not (-14%). */
static void only_completion_order_prefers_the_short(void)
{
    double all = lengths_of_trainable(0.5);
    struct cost waves = four(0.5, WAVES, 0, 64, 1);
    struct cost stream = four(0.5, STREAM, 0.5, 64, 1);
    struct cost full = four(0.5, FULL3, 0, 64, 1);
    struct cost resume = four(0.5, RESUME, 0.5, 64, 1);
    struct cost hasty = four(0.5, COMPLETION, 0.5, 64, 1);
    double n = (double)waves.trained, mean = waves.length / n;
    double error = sqrt((waves.length2 / n - mean * mean) / n);

    CHECK_NEAR(stream.length, waves.length, 0);
    CHECK_NEAR(full.length, waves.length, 0);
    CHECK_NEAR(mean, all, 2 * error);
    CHECK_NEAR(resume.length / n, all, 2 * error);
    CHECK_NEAR(100 * (hasty.length / n / all - 1), -14, 3);
}

/* What the run taught is the law's q, which the other simulation was given. */
static void estimates_find_the_law(void)
{
    static const double trainable[3] = {0.3, 0.5, 0.8};
    static const double q[3][5] = {{0.30, 0.30, 0.21, 0.15, 0.11},
                                   {0.50, 0.50, 0.36, 0.27, 0.19},
                                   {0.80, 0.80, 0.69, 0.57, 0.45}};

    for (int i = 0; i < 3; i++) {
        struct cost c = four(trainable[i], STREAM, 0.5, 64, 1);

        for (int k = 0; k < 5; k++)
            CHECK_NEAR(c.q[k], q[i][k], 0.07);
    }
}

static void invariant_1_every_decoded_token_is_billed(void)
{
    for (int i = 0; i < 3; i++) {
        struct cost c = four(0.5, STREAM, i / 2.0, 64, 3);
        int64_t sum = 0;

        for (int k = 0; k < FATE_COUNT; k++)
            sum += c.tokens[k];
        CHECK_INT(sum, c.all);
    }
}

CASES(CASE(figures_of_b_4), CASE(replicas_share_the_work), CASE(figures_of_b_512),
      CASE(the_default_is_efficient), CASE(no_launch_rule_could_reach_more),
      CASE(only_completion_order_prefers_the_short), CASE(estimates_find_the_law),
      CASE(invariant_1_every_decoded_token_is_billed));
