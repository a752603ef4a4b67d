/* test_draws.c - what is drawn: its distribution, greedy decoding, padding. */
#include <math.h>

#include "unit/rollout/drive.h"

/* softmax(logits / t) after a prompt in doubles, from the model's most likely list. */
static void distribution(struct model *m, const struct group *g, double t, double *p)
{
    int start[2] = {0, g->n_prompt}, ids[REAL_VOCAB];
    struct pack pack = {g->n_prompt, 1, g->prompt_ids, start};
    float logp[REAL_VOCAB];
    struct fault f = FAULT_INIT;
    double sum = 0;

    CHECK_OK(model_forward(m, &pack, &f), &f);
    CHECK_OK(model_top(m, g->n_prompt - 1, REAL_VOCAB, ids, logp, &f), &f);
    for (int i = 0; i < REAL_VOCAB; i++)
        sum += p[ids[i]] = exp((double)logp[i] / t);
    for (int i = 0; i < REAL_VOCAB; i++)
        p[i] /= sum;
}

/* Pearson's statistic of the first tokens of `size` members; cells under 5 expected
 * draws are pooled.  *df is the degrees of freedom. */
static double chi_square(const struct group *g, const double *p, int *df)
{
    int count[REAL_VOCAB] = {0}, rare = 0;
    double stat = 0, rare_p = 0, n = g->size;

    for (int k = 0; k < g->size; k++)
        count[g->members[k].ids[0]]++;
    *df = -1;
    for (int i = 0; i < REAL_VOCAB; i++) {
        if (n * p[i] < 5) {
            rare += count[i];
            rare_p += p[i];
            continue;
        }
        stat += (count[i] - n * p[i]) * (count[i] - n * p[i]) / (n * p[i]);
        ++*df;
    }
    if (rare_p > 0) {
        stat += (rare - n * rare_p) * (rare - n * rare_p) / (n * rare_p);
        ++*df;
    }
    return stat;
}

/* At temperatures 1 and 0.5, no cut: 4,000 members of one group, fixed seed.  The mean
 * of chi-square is df, its deviation sqrt(2 df); 4 deviations are allowed. */
static void first_tokens_follow_the_softmax(void)
{
    struct model *m = drive_model();

    for (int hot = 0; hot < 2; hot++) {
        struct rollout_config c = drive_config(64);
        struct group *g = drive_group(3, 9, 4000);
        double p[REAL_VOCAB], other[REAL_VOCAB], stat;
        int df;

        c.max_tokens = 1;
        c.sampling = (struct sampling){hot ? 1.0f : 0.5f, 0, 1.0f};
        drive(m, &c, g);
        distribution(m, g, hot ? 1.0 : 0.5, p);
        distribution(m, g, hot ? 0.5 : 1.0, other);
        stat = chi_square(g, p, &df);
        CHECK(df > 5);
        CHECK(stat < df + 4 * sqrt(2.0 * df));
        stat = chi_square(g, other, &df); /* the test can tell them apart */
        CHECK(stat > df + 40 * sqrt(2.0 * df));
        for (int k = 0; k < 50; k++) { /* stored at the training temperature, 1 */
            const struct completion *o = &g->members[k];

            distribution(m, g, 1.0, p);
            CHECK_NEAR(o->logprobs[0], log(p[o->ids[0]]), 1e-4);
        }
        group_free(g);
    }
    model_free(m);
}

/* Along a sequence, greedy takes the first of model_top at every position. */
static void greedy_takes_the_most_likely(void)
{
    static const struct sampling ways[] = {{0, 0, 1}, {1, 1, 1}, {0, 5, 0.5f}};
    struct model *m = drive_model();

    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct rollout_config c = drive_config(3);
        struct group *g = drive_group(2, 20, 2);
        struct fault f = FAULT_INIT;
        int ids[64], start[2];

        c.sampling = ways[w];
        c.n_stop = 0;
        drive(m, &c, g);
        CHECK(same_tokens(&g->members[0], &g->members[1], 24));
        memcpy(ids, g->prompt_ids, 20 * sizeof *ids);
        memcpy(ids + 20, g->members[0].ids, 24 * sizeof *ids);
        start[0] = 0;
        start[1] = 44;
        CHECK_OK(model_forward(m, &(struct pack){44, 1, ids, start}, &f), &f);
        for (int i = 0; i < 24; i++) {
            float logp;
            int top = -1;

            CHECK_OK(model_top(m, 19 + i, 1, &top, &logp, &f), &f);
            CHECK_INT(g->members[0].ids[i], top);
        }
        group_free(g);
    }
    model_free(m);
}

/* Padded rows of the embedding, by far the most likely if they counted: their logits
 * are -100 times others' or +100 times, so one of two prompts would draw them. */
static void padded_columns_are_never_drawn(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(16);
    struct fault f = FAULT_INIT;
    int dim = model_cfg(m)->dim, drawn = 0;
    float *embed = model_params(m); /* tied: also the head */

    for (int i = REAL_VOCAB; i < model_cfg(m)->vocab; i++)
        for (int j = 0; j < dim; j++)
            embed[i * dim + j] = (i % 2 ? 100.0f : -100.0f) * embed[(i - 40) * dim + j];
    CHECK_OK(model_refresh(m, &f), &f);
    c.sampling = (struct sampling){1.5f, 0, 1.0f};
    c.n_stop = 0;
    for (int n = 0; n < 4; n++) {
        struct group *g = drive_group(n, 6, 20);

        c.sampling.temperature = n % 2 ? 1.5f : 0.0f;
        drive(m, &c, g);
        for (int k = 0; k < g->size; k++) {
            const struct completion *o = &g->members[k];

            CHECK_INT(o->finish, FINISH_LENGTH);
            for (int i = 0; i < o->n_tokens; i++, drawn++)
                CHECK(o->ids[i] >= 0 && o->ids[i] < REAL_VOCAB && o->logprobs[i] <= 0);
        }
        group_free(g);
    }
    CHECK_INT(drawn, 4 * 20 * 24);
    model_free(m);
}

/* Members, candidates, steps, seeds and uses all draw differently; repeats don't. */
static void every_key_draws_its_own(void)
{
    struct model *m = drive_model();
    struct rollout_config c = drive_config(4), d = drive_config(4);
    struct group *a, *b;

    c.n_stop = d.n_stop = 0;
    a = drive_group(1, 8, 2);
    drive(m, &c, a);
    CHECK(!same_tokens(&a->members[0], &a->members[1], 24));
    b = drive_group(1, 8, 2);
    drive(m, &c, b);
    CHECK(same_group(a, b));
    group_free(b);
    for (int what = 0; what < 3; what++) {
        d.seed = c.seed + (what == 0);
        d.use = what == 1 ? RANDOM_EVAL : RANDOM_SAMPLE;
        b = drive_group(1, 8, 2);
        b->index += what == 2; /* the same prompt, drawn again */
        drive(m, &d, b);
        CHECK(!same_tokens(&a->members[0], &b->members[0], 24));
        CHECK(!same_tokens(&a->members[1], &b->members[1], 24));
        group_free(b);
    }
    group_free(a);
    model_free(m);
}

CASES(CASE(first_tokens_follow_the_softmax), CASE(greedy_takes_the_most_likely),
      CASE(padded_columns_are_never_drawn), CASE(every_key_draws_its_own));
