/* The learner as a whole: the first ratio, skipped updates, schedule, reference. */
#include <math.h>

#include "check.h"
#include "dapo/learner.h"
#include "unit/learner/batch.h"
#include "unit/learner/ranks.h"
#include "unit/model/tiny.h"

static struct batch batch;

static struct learner *new_learner(struct model *m, const struct loss_config *c,
                                   const struct optimizer_config *o)
{
    struct fault f = FAULT_INIT;
    struct learner *l = NULL;

    CHECK_OK(learner_new(&l, m, c, o, 30, &f), &f);
    return l;
}

/* The stored log-probs of one completion as a generator makes them: the prompt in one
 * piece, then a token at a time over a paged cache. */
static void generate(struct model *m, const struct sequence *s, float *logp)
{
    enum { PAGES = 3 };
    static const int page[PAGES] = {2, 0, 1}, zero = 0;
    int first[PAGES], seq[BATCH_MOST] = {0}, pos[BATCH_MOST];
    struct attend_rows r = {
        .seq = seq, .pos = pos, .map = {KV_PAGE, PAGES, first, NULL}};
    struct fault f = FAULT_INIT;
    struct kv *kv = NULL;

    CHECK_OK(kv_new(&kv, m, PAGES, 1, &f), &f);
    for (int i = 0; i < PAGES; i++)
        first[i] = page[i] * KV_PAGE;
    for (int t = 0; t < s->n; t++) {
        const int *ids = t ? &s->ids[t - 1] : s->prompt;
        int last;
        float *logits;

        r.rows = t ? 1 : s->n_prompt;
        for (int i = 0; i < r.rows; i++)
            pos[i] = t ? s->n_prompt + t - 1 : i;
        last = r.rows - 1;
        CHECK_OK(model_step(m, kv, ids, &r, t ? &zero : &last, 1, &logits, &f), &f);
        CHECK_OK(model_backend(m)->logprob(&logp[t], NULL, NULL, logits, &s->ids[t], 1,
                                           model_real_vocab(m), model_cfg(m)->vocab,
                                           batch_loss.temperature, &f),
                 &f);
    }
    kv_free(kv);
}

/* Generator and learner share one forward: the same bits, so the ratio is 1 and nothing
 * is clipped, even with an empty clip range. */
static void first_ratio_of(enum arch arch, enum compute compute)
{
    struct model *m = tiny_model(arch, &backend_cpu, compute, 59);
    struct loss_config c = {.temperature = batch_loss.temperature};
    struct learner *l = new_learner(m, &c, &batch_optimizer);
    struct fault f = FAULT_INIT;
    struct update_metrics u;

    batch_make(&batch, model_real_vocab(m));
    for (int i = 0; i < BATCH; i++)
        generate(m, &batch.seq[i], batch.old_logp[i]);
    CHECK_OK(learner_update_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    CHECK(u.max_abs_log_ratio == 0);
    CHECK(u.mismatch_mean == 0);
    CHECK_NEAR(u.ratio_mean, 1, 1e-15);
    CHECK(u.clip_fraction == 0);
    CHECK_INT(u.gradient_active_tokens, u.tokens);
    CHECK_OK(learner_update_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    CHECK(u.max_abs_log_ratio > 0); /* the weights have moved */
    learner_free(l);
    model_free(m);
}

static void invariant_5_first_ratio_is_one(void)
{
    first_ratio_of(ARCH_QWEN2, COMPUTE_F32);
    first_ratio_of(ARCH_QWEN3, COMPUTE_F32);
    first_ratio_of(ARCH_LLAMA, COMPUTE_BF16);
    first_ratio_of(ARCH_QWEN35, COMPUTE_F32);
    first_ratio_of(ARCH_QWEN35, COMPUTE_BF16);
}

static void count(void *n)
{
    ++*(int *)n;
}

/* Where prox is old, tis_cap changes no bit of the weights; where old is another
 * policy's it does.  Between microbatches the caller is let in. */
static void fresh_tokens_train_alike_with_tis(void)
{
    unsigned long long sum[3];
    int calls = 0;

    for (int way = 0; way < 3; way++) {
        struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
        struct loss_config c = batch_loss;
        struct fault f = FAULT_INIT;
        struct update_metrics u;
        struct learner *l;

        c.tis_cap = way ? 1 : 0;
        l = new_learner(m, &c, &batch_optimizer);
        batch_make(&batch, model_real_vocab(m));
        for (int i = 0; i < BATCH; i++) {
            struct sequence *s = &batch.seq[i];

            generate(m, s, batch.old_logp[i]);
            if (way == 2)
                batch.old_logp[i][0] += .5f;
            s->stale = way > 0;
            s->prox_logp = way ? batch.prox_logp[i] : NULL;
        }
        learner_set_pause(l, count, &calls);
        CHECK_OK(learner_prox(l, batch.seq, BATCH, &f), &f);
        CHECK_OK(learner_update_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
        CHECK_INT(u.tis_tokens, way ? u.tokens : 0);
        CHECK((u.tis_weight_mean == 1) == (way < 2));
        if (way == 0) /* and after the only piece of the gradient's sum */
            CHECK_INT(calls, u.microbatches + 1);
        if (way == 1) {
            batch.seq[3].prox_logp = NULL;
            CHECK_INT(learner_update_all(l, batch.seq, BATCH, &alone, &u, &f),
                      FAULT_BUG);
        }
        sum[way] = model_checksum(m);
        learner_free(l);
        model_free(m);
    }
    CHECK(sum[0] == sum[1]);
    CHECK(sum[0] != sum[2]);
}

/* learner_reference under the same model gives the stored log-probs, so k3 is 0; under
 * another it is not. */
static void reference_is_the_models_own(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct model *other = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct learner *l = new_learner(m, &batch_loss, &batch_optimizer);
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    float want[BATCH_MOST];

    batch_make(&batch, model_real_vocab(m));
    CHECK_OK(learner_reference(l, m, batch.seq, BATCH, &f), &f);
    for (int i = 0; i < BATCH; i++) {
        generate(m, &batch.seq[i], want);
        CHECK(!memcmp(want, batch.ref_logp[i], (size_t)batch.seq[i].n * sizeof *want));
    }
    CHECK_OK(learner_gradient_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    CHECK(u.kl == 0);
    model_params(other)[5] += 1;
    CHECK_OK(model_refresh(other, &f), &f);
    CHECK_OK(learner_reference(l, other, batch.seq, BATCH, &f), &f);
    CHECK_OK(learner_gradient_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    CHECK(u.kl > 1e-6);
    learner_free(l);
    model_free(other);
    model_free(m);
}

static void check_skipped(struct learner *l, struct model *m, int n)
{
    unsigned long long before = model_checksum(m);
    struct fault f = FAULT_INIT;
    struct update_metrics u;

    CHECK_OK(learner_update_all(l, batch.seq, n, &alone, &u, &f), &f);
    CHECK(u.skipped);
    CHECK(model_checksum(m) == before);
    CHECK_INT(learner_updates(l), 0);
    for (size_t i = 0; i < model_n_params(m); i++)
        CHECK(learner_moment1(l)[i] == 0 && learner_moment2(l)[i] == 0);
}

/* No sequence, only masked ones, a broken log-prob: weights, moments and counter stay,
 * and the next good update trains as if nothing had been. */
static void skipped_updates_change_nothing(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct loss_config c = batch_loss;
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    struct learner *l;

    c.mask_truncated = true;
    l = new_learner(m, &c, &batch_optimizer);
    batch_make(&batch, model_real_vocab(m));
    check_skipped(l, m, 0);
    for (int i = 0; i < BATCH; i++)
        batch.seq[i].truncated = true;
    check_skipped(l, m, BATCH);
    batch_make(&batch, model_real_vocab(m));
    batch.old_logp[0][0] = NAN;
    check_skipped(l, m, BATCH);
    batch_make(&batch, model_real_vocab(m));
    CHECK_OK(learner_update_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
    CHECK(!u.skipped && isfinite(u.grad_norm));
    CHECK_NEAR(u.learning_rate, .25e-3, 1e-18);
    CHECK_INT(learner_updates(l), 1);
    learner_free(l);
    model_free(m);
}

/* Masked completions are left out of every count: the update is that of the others. */
static void masked_completions_are_not_there(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct loss_config c = batch_loss;
    struct sequence kept[BATCH];
    struct update_metrics u, v;
    struct fault f = FAULT_INIT;
    struct learner *l;
    int n = 0, tokens = 0;

    batch_make(&batch, model_real_vocab(m));
    for (int i = 0; i < BATCH; i++)
        if (!batch.seq[i].truncated) {
            tokens += batch.seq[i].n;
            kept[n++] = batch.seq[i];
        }
    c.mask_truncated = true;
    for (int r = 0; r < REDUCTION_COUNT; r++) {
        c.reduction = (enum reduction)r;
        l = new_learner(m, &c, &batch_optimizer);
        CHECK_OK(learner_gradient_all(l, batch.seq, BATCH, &alone, &u, &f), &f);
        CHECK_OK(learner_gradient_all(l, kept, n, &alone, &v, &f), &f);
        CHECK(u.loss == v.loss && u.grad_norm == v.grad_norm);
        CHECK_INT(u.sequences, n);
        CHECK_INT(u.tokens, tokens);
        learner_free(l);
    }
    model_free(m);
}

/* lr min(1, (u + 1) / 4): 1/4, 1/2, 3/4, 1, 1; and from the counter on a resume. */
static void warm_up_counts_updates(void)
{
    static const double want[] = {.25e-3, .5e-3, .75e-3, 1e-3, 1e-3};
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct optimizer_config o = batch_optimizer;
    struct learner *l = new_learner(m, &batch_loss, &o);
    struct fault f = FAULT_INIT;
    struct update_metrics u;

    batch_make(&batch, model_real_vocab(m));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(learner_update_all(l, batch.seq, 2, &alone, &u, &f), &f);
        CHECK_NEAR(u.learning_rate, want[i], 1e-18);
    }
    CHECK_INT(learner_updates(l), 5);
    learner_set_updates(l, 1);
    CHECK_OK(learner_update_all(l, batch.seq, 2, &alone, &u, &f), &f);
    CHECK_NEAR(u.learning_rate, .5e-3, 1e-18);
    learner_free(l);
    o.warmup_updates = 0;
    l = new_learner(m, &batch_loss, &o);
    CHECK_OK(learner_update_all(l, batch.seq, 2, &alone, &u, &f), &f);
    CHECK_NEAR(u.learning_rate, 1e-3, 1e-18);
    learner_free(l);
    model_free(m);
}

/* Supervised training needs no loss settings and learns its examples by heart. */
static void supervised_learns(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct optimizer_config o = batch_optimizer;
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    struct learner *l;
    double first = 0;

    o.lr = 3e-2;
    o.weight_decay = 0;
    l = new_learner(m, NULL, &o);
    batch_make(&batch, model_real_vocab(m));
    for (int i = 0; i < 4; i++) {
        batch.seq[i].old_logp = NULL;
        batch.seq[i].ref_logp = NULL;
    }
    for (int i = 0; i < 40; i++) {
        CHECK_OK(learner_supervised_all(l, batch.seq, 4, &alone, &u, &f), &f);
        first = i ? first : u.loss;
    }
    CHECK(first > 3 && u.loss < .2);
    CHECK(u.ratio_mean == 0 && u.clip_fraction == 0 && u.entropy > 0);
    learner_free(l);
    model_free(m);
}

static void refuse(struct model *m, struct loss_config c, struct optimizer_config o,
                   int microbatch, const char *about)
{
    struct fault f = FAULT_INIT;
    struct learner *l;

    CHECK_INT(learner_new(&l, m, &c, &o, microbatch, &f), FAULT_CONFIG);
    CHECK(l == NULL && strstr(f.text, about) != NULL);
}

static void bad_settings_are_refused(void)
{
    struct model *m = tiny_model(ARCH_QWEN2, &backend_cpu, COMPUTE_F32, 0);
    struct loss_config c = batch_loss;
    struct optimizer_config o = batch_optimizer;

    refuse(m, c, o, 0, "microbatch");
    c.clip_low = 1.5;
    refuse(m, c, o, 8, "clip range");
    c = batch_loss, c.dual_clip = 1;
    refuse(m, c, o, 8, "dual clip");
    c = batch_loss, c.kl_coef = NAN;
    refuse(m, c, o, 8, "KL");
    c = batch_loss, c.tis_cap = .5;
    refuse(m, c, o, 8, "stale tokens");
    c = batch_loss, c.temperature = 0;
    refuse(m, c, o, 8, "temperature");
    c = batch_loss, c.reduction = REDUCTION_COUNT;
    refuse(m, c, o, 8, "reduction");
    o.beta2 = 1;
    refuse(m, batch_loss, o, 8, "AdamW");
    o = batch_optimizer, o.lr = NAN;
    refuse(m, batch_loss, o, 8, "learning rate");
    model_free(m);
}

CASES(CASE(invariant_5_first_ratio_is_one), CASE(fresh_tokens_train_alike_with_tis),
      CASE(reference_is_the_models_own), CASE(skipped_updates_change_nothing),
      CASE(masked_completions_are_not_there), CASE(warm_up_counts_updates),
      CASE(supervised_learns), CASE(bad_settings_are_refused))
