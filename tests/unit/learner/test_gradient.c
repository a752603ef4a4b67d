/* The update's gradient: invariants 3 and 5, reductions, and what is nobody's share. */
#include <math.h>

#include "check.h"
#include "dapo/learner.h"
#include "learner/learner_private.h"
#include "unit/learner/batch.h"
#include "unit/learner/ranks.h"
#include "unit/model/tiny.h"

static struct batch batch;

/* Per-token losses of S completions under a reduction, cut after `micro` of them. */
static double reduce(enum reduction r, int micro, int n, const int *length,
                     const double loss[][3])
{
    struct counts all = {0, n};
    double total = 0;

    for (int i = 0; i < n; i++)
        all.tokens += length[i];
    for (int first = 0; first < n; first += micro) {
        struct counts part = {0, 0};

        for (int i = first; i < first + micro && i < n; i++, part.sequences++)
            part.tokens += length[i];
        for (int i = first; i < first + micro && i < n; i++)
            for (int t = 0; t < length[i]; t++)
                total += loss[i][t] * reduction_weight(r, &all, &part, length[i]);
    }
    return total;
}

/* Values of SkyRL's and verl's own tests; 64/7 by hand. */
static void reductions_have_the_published_values(void)
{
    static const double a[][3] = {{1, 2}, {4, 5, 6}}, b[][3] = {{1, 2}, {3}};
    static const double c[][3] = {{2, 4}, {6}, {10, 12}, {14, 16}};
    static const int la[] = {2, 3}, lb[] = {2, 1}, lc[] = {2, 1, 2, 2};

    for (int micro = 1; micro <= 4; micro++) {
        CHECK_NEAR(reduce(REDUCTION_TOKEN_MEAN, micro, 2, la, a), 3.6, 1e-12);
        CHECK_NEAR(reduce(REDUCTION_SAMPLE_MEAN, micro, 2, lb, b), 2.25, 1e-12);
        CHECK_NEAR(reduce(REDUCTION_TOKEN_MEAN, micro, 4, lc, c), 64.0 / 7, 1e-12);
    }
    CHECK_NEAR(reduce(REDUCTION_TOKEN_MEAN_MICROBATCH, 2, 4, lc, c), 8.5, 1e-12);
    CHECK_NEAR(reduce(REDUCTION_TOKEN_MEAN_MICROBATCH, 4, 4, lc, c), 64.0 / 7, 1e-12);
}

/* Ways to share a batch: dealt by cost; runs of uneven length; all on the last rank. */
enum { DEALT, RUNS, LAST, WAYS };

static void share(const struct batch *b, int ranks, int way, struct rank *rank,
                  struct sequence room[][BATCH])
{
    struct fault f = FAULT_INIT;
    int length[BATCH], owner[BATCH];

    for (int i = 0; i < BATCH; i++)
        length[i] = b->seq[i].n_prompt + b->seq[i].n;
    CHECK_OK(plan_deal(length, BATCH, ranks, owner, &f), &f);
    for (int r = 0; r < ranks; r++)
        rank[r] = (struct rank){.seq = room[r]};
    for (int i = BATCH - 1; i >= 0; i--) { /* delivered in any order */
        int r = way == DEALT ? owner[i] : way == RUNS ? i * i / 60 : ranks - 1;
        struct rank *k = &rank[r < ranks ? r : ranks - 1];

        k->seq[k->n++] = b->seq[i];
    }
}

static double furthest(const float *a, const float *b, size_t n)
{
    double most = 0, size = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
    }
    return most / size;
}

static void same_metrics(const struct update_metrics *a, const struct update_metrics *b)
{
    CHECK_NEAR(a->loss, b->loss, 1e-12);
    CHECK_NEAR(a->kl, b->kl, 1e-12);
    CHECK_NEAR(a->entropy, b->entropy, 1e-12);
    CHECK_NEAR(a->ratio_mean, b->ratio_mean, 1e-12);
    CHECK_NEAR(a->mismatch_mean, b->mismatch_mean, 1e-12);
    CHECK(a->max_abs_log_ratio == b->max_abs_log_ratio);
    CHECK(a->clip_fraction == b->clip_fraction);
    CHECK(a->lower_clip_fraction == b->lower_clip_fraction);
    CHECK(a->upper_clip_fraction == b->upper_clip_fraction);
    CHECK(a->dual_clip_fraction == b->dual_clip_fraction);
    CHECK_INT(a->tokens, b->tokens);
    CHECK_INT(a->sequences, b->sequences);
    CHECK_INT(a->gradient_active_tokens, b->gradient_active_tokens);
    CHECK_NEAR(a->grad_norm, b->grad_norm, 2e-6 * b->grad_norm);
    CHECK(!a->skipped && !a->non_finite);
}

static struct learner *new_learner(struct model *m, const struct loss_config *c,
                                   int microbatch)
{
    struct fault f = FAULT_INIT;
    struct learner *l = NULL;

    CHECK_OK(learner_new(&l, m, c, &batch_optimizer, microbatch, &f), &f);
    return l;
}

static void cuts_agree(struct model *m, const struct loss_config *c)
{
    static const int rank_counts[] = {1, 2, 3, 5}, microbatches[] = {1, 16, 41, 4096};
    static struct sequence room[MOST_RANKS][BATCH];
    struct rank whole, rank[MOST_RANKS];

    for (int i = 3; i >= 0; i--) {
        struct learner *l = new_learner(m, c, microbatches[i]);

        if (i == 3) {
            share(&batch, 1, LAST, &whole, room);
            ranks_gradient(l, m, &whole, 1);
            CHECK_INT(whole.metrics.microbatches, 1);
        }
        for (int j = 0; j < 4 * WAYS; j++) {
            int n = rank_counts[j % 4];

            share(&batch, n, j / 4, rank, room);
            ranks_gradient(l, m, rank, n);
            same_metrics(&rank[0].metrics, &whole.metrics);
            CHECK(furthest(rank[0].grad, whole.grad, model_n_params(m)) < 1e-6);
            for (int r = 1; r < n; r++) {
                same_metrics(&rank[r].metrics, &rank[0].metrics);
                CHECK(memcmp(rank[r].grad, rank[0].grad,
                             model_n_params(m) * sizeof(float)) == 0);
            }
            ranks_free(rank, n);
        }
        learner_free(l);
    }
    ranks_free(&whole, 1);
}

static void invariant_3_cutting_keeps_the_gradient(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct loss_config c = batch_loss;

    batch_make(&batch, model_real_vocab(m));
    cuts_agree(m, &c);
    c.reduction = REDUCTION_SAMPLE_MEAN;
    c.mask_truncated = true;
    cuts_agree(m, &c);
    model_free(m);
}

/* The published example of what a mean is taken over: token losses {1} and {3, 3, 3}
 * are 2.5 over tokens and 2.0 over completions; averaging two ranks' token means would
 * give 2.0 too.  With a stored log-prob of 0 every ratio is under 0.8, so that a
 * token's loss is 0.8 times its negative advantage. */
static void a_long_completion_counts_by_its_tokens(void)
{
    static const double want[] = {
        [REDUCTION_TOKEN_MEAN] = 2.5, [REDUCTION_SAMPLE_MEAN] = 2.0};
    static int ids[] = {1, 2, 3};
    static float old_logp[3];
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct sequence seq[2] = {{.n = 1, .advantage = -1.25, .order = 0},
                              {.n = 3, .advantage = -3.75, .order = 1}};

    for (int i = 0; i < 2; i++) {
        seq[i].n_prompt = 1;
        seq[i].prompt = seq[i].ids = ids;
        seq[i].old_logp = old_logp;
    }
    for (int r = 0; r < 2; r++)
        for (int ranks = 1; ranks <= 2; ranks++) {
            struct loss_config c = {.clip_low = 0.2,
                                    .clip_high = 0.28,
                                    .temperature = 1,
                                    .reduction = (enum reduction)r};
            struct learner *l = new_learner(m, &c, 1); /* each in a microbatch */
            struct rank rank[2] = {{.seq = seq, .n = 3 - ranks},
                                   {.seq = seq + 1, .n = 1}};

            ranks_gradient(l, m, rank, ranks);
            for (int k = 0; k < ranks; k++)
                CHECK_NEAR(rank[k].metrics.loss, want[r], 1e-12);
            ranks_free(rank, ranks);
            learner_free(l);
        }
    model_free(m);
}

/* The same share in another order of delivery: the same bits. */
static void gradient_repeats_to_the_bit(void)
{
    struct model *m = tiny_model(ARCH_QWEN3, &backend_cpu, COMPUTE_F32, 0);
    struct learner *l = new_learner(m, &batch_loss, 30);
    struct sequence other[BATCH];
    struct update_metrics u, v;
    struct fault f = FAULT_INIT;
    size_t bytes = model_n_params(m) * sizeof(float);
    float *first = malloc(bytes);

    batch_make(&batch, model_real_vocab(m));
    for (int i = 0; i < BATCH; i++)
        other[i] = batch.seq[(5 * i + 3) % BATCH];
    CHECK_OK(learner_gradient_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    memcpy(first, model_grad(m, &f), bytes);
    CHECK_OK(learner_gradient_all(l, other, BATCH, &alone, &v, &f), &f);
    CHECK(memcmp(first, model_grad(m, &f), bytes) == 0);
    CHECK(u.loss == v.loss && u.grad_norm == v.grad_norm && u.entropy == v.entropy);
    free(first);
    learner_free(l);
    model_free(m);
}

/* Sequences stay whole, no row is padding, a longer one is by itself, and the row that
 * predicts a token is the one before it. */
static void packing_by_hand(void)
{
    static const int prompt[] = {40, 41, 42}, ids[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int n_prompt[] = {3, 1, 2, 1}, n[] = {2, 2, 9, 1}, ends[] = {2, 3, 4};
    static const int rows[] = {40, 41, 42, 1, 2, 40, 1, 2};
    static const int at[] = {2, 3, 5, 6}, targets[] = {1, 2, 1, 2};
    struct sequence seq[4] = {{0}};
    struct packer p = {0};
    struct fault f = FAULT_INIT;

    for (int i = 0; i < 4; i++)
        seq[3 - i] = (struct sequence){.n_prompt = n_prompt[i],
                                       .n = n[i],
                                       .prompt = prompt,
                                       .ids = ids,
                                       .order = i};
    CHECK_OK(packer_take(&p, seq, 4, false, &f), &f);
    for (int i = 0, first = 0; i < 3; first = ends[i++])
        CHECK_INT(packer_cut(&p, first, 8), ends[i]);
    CHECK_INT(packer_cut(&p, 0, 7), 1);
    CHECK_OK(packer_fill(&p, 0, 2, &f), &f);
    CHECK_INT(packer_view(&p).rows, 8);
    CHECK_INT(packer_view(&p).n_seq, 2);
    CHECK(memcmp(p.ids, rows, sizeof rows) == 0);
    CHECK(p.start[0] == 0 && p.start[1] == 5 && p.start[2] == 8);
    CHECK_INT(p.n_out, 4);
    CHECK(memcmp(p.at, at, sizeof at) == 0);
    CHECK(memcmp(p.targets, targets, sizeof targets) == 0);
    packer_free(&p);
}

/* A rank with a bad sequence fails all ranks, with its own sentence on each. */
static void one_ranks_fault_reaches_all(void)
{
    static struct sequence room[MOST_RANKS][BATCH];
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct learner *l = new_learner(m, &batch_loss, 30);
    struct rank rank[3];

    for (int bad = 0; bad < 3; bad++) {
        batch_make(&batch, model_real_vocab(m));
        share(&batch, 3, DEALT, rank, room);
        batch.ids[rank[bad].seq[0].order][0] = 1000;
        if (bad == 2)
            rank[0].seq[0].n = 0;
        ranks_gradient(l, m, rank, 3);
        for (int r = 0; r < 3; r++) {
            CHECK_INT(rank[r].rc, rank[0].rc);
            CHECK_TEXT(rank[r].fault.text, rank[0].fault.text);
            CHECK_INT(rank[r].fault.rank, rank[0].rc == FAULT_BUG ? 0 : bad);
        }
        /* with two different faults it is one of them, not a mixture */
        CHECK((rank[0].rc == FAULT_DATA && strstr(rank[0].fault.text, " id 1000,")) ||
              (bad == 2 && rank[0].rc == FAULT_BUG &&
               strstr(rank[0].fault.text, "and 0 completion tokens can't")));
        ranks_free(rank, 3);
    }
    learner_free(l);
    model_free(m);
}

/* One NaN on one rank: all ranks see it and none steps. */
static void non_finite_norm_is_everyones(void)
{
    static struct sequence room[MOST_RANKS][BATCH];
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct learner *l = new_learner(m, &batch_loss, 30);
    struct rank rank[3];

    batch_make(&batch, model_real_vocab(m));
    share(&batch, 3, RUNS, rank, room);
    batch.old_logp[BATCH - 1][0] = NAN;
    ranks_gradient(l, m, rank, 3);
    for (int r = 0; r < 3; r++)
        CHECK(rank[r].rc == 0 && rank[r].metrics.non_finite && rank[r].metrics.skipped);
    ranks_free(rank, 3);
    learner_free(l);
    model_free(m);
}

CASES(CASE(reductions_have_the_published_values),
      CASE(a_long_completion_counts_by_its_tokens),
      CASE(invariant_3_cutting_keeps_the_gradient), CASE(gradient_repeats_to_the_bit),
      CASE(packing_by_hand), CASE(one_ranks_fault_reaches_all),
      CASE(non_finite_norm_is_everyones))
