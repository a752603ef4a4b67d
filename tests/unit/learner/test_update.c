/* Whole updates of a tiny Qwen2 against PyTorch (tests/ref/make_update.py): losses,
 * metrics, gradients, norm, and the weights after two AdamW steps, for each reduction.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dapo/learner.h"
#include "unit/learner/ranks.h"

#define FOLDER "tests/ref/update/"

enum { SEQUENCES = 9, TOKENS = 16 };

static struct sequence seq[SEQUENCES];
static int prompt[SEQUENCES][TOKENS], ids[SEQUENCES][TOKENS];
static float old_logp[SEQUENCES][TOKENS], ref_logp[SEQUENCES][TOKENS];
static float prox_logp[SEQUENCES][TOKENS], prox_want[SEQUENCES][TOKENS];

static double number(const json_t *o, const char *key)
{
    const json_t *x = json_object_get(o, key);

    CHECK(json_is_number(x));
    return json_number_value(x);
}

static bool flag(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

static int read_ids(const json_t *list, int *out)
{
    int n = (int)json_array_size(list);

    CHECK(n > 0 && n <= TOKENS);
    for (int i = 0; i < n; i++)
        out[i] = (int)json_integer_value(json_array_get(list, (size_t)i));
    return n;
}

/* Delivered out of order: the microbatches must follow `order`. */
static void read_batch(const json_t *list)
{
    CHECK_INT(json_array_size(list), SEQUENCES);
    for (int i = 0; i < SEQUENCES; i++) {
        const json_t *o = json_array_get(list, (size_t)i);
        const json_t *old = json_object_get(o, "old_logp");
        const json_t *prox = json_object_get(o, "prox_logp");
        struct sequence *s = &seq[(4 * i + 2) % SEQUENCES];

        *s = (struct sequence){.prompt = prompt[i],
                               .ids = ids[i],
                               .old_logp = old_logp[i],
                               .ref_logp = ref_logp[i],
                               .order = (int64_t)number(o, "order"),
                               .advantage = number(o, "advantage"),
                               .truncated = flag(o, "truncated"),
                               .stale = flag(o, "stale")};
        s->n_prompt = read_ids(json_object_get(o, "prompt"), prompt[i]);
        s->n = read_ids(json_object_get(o, "ids"), ids[i]);
        CHECK_INT(json_array_size(old), s->n);
        for (size_t t = 0; t < (size_t)s->n; t++) {
            old_logp[i][t] = (float)json_number_value(json_array_get(old, t));
            prox_want[i][t] = (float)json_number_value(json_array_get(prox, t));
        }
    }
}

static struct model *open_model(const char *name, const char *part)
{
    struct fault f = FAULT_INIT;
    struct model *m = NULL;
    char path[256];

    snprintf(path, sizeof path, FOLDER "%s%s", name, part);
    CHECK_OK(backend_cpu.open(0, 1, &f), &f);
    CHECK_OK(model_open(&m, path, &backend_cpu, COMPUTE_F32, 0, &f), &f);
    return m;
}

/* got and the parameters of a stored model differ by at most `within` anywhere, or by
 * that times the largest value. */
static void same_values(const float *got, const char *name, const char *part,
                        double within, bool relative)
{
    struct model *want = open_model(name, part);
    double most = 0, size = 0;

    for (size_t i = 0; want && i < model_n_params(want); i++) {
        double w = (double)model_params(want)[i];

        most = fmax(most, fabs((double)got[i] - w));
        size = fmax(size, fabs(w));
    }
    CHECK(size > 0);
    CHECK_NEAR(most, 0, relative ? within * size : within);
    model_free(want);
}

static void same_metrics(const struct update_metrics *u, const json_t *want)
{
    const struct {
        const char *key;
        double got;
    } near[] = {
        {"loss", u->loss},
        {"kl", u->kl},
        {"entropy", u->entropy},
        {"ratio_mean", u->ratio_mean},
        {"max_abs_log_ratio", u->max_abs_log_ratio},
        {"mismatch_mean", u->mismatch_mean},
        {"clip_fraction", u->clip_fraction},
        {"lower_clip_fraction", u->lower_clip_fraction},
        {"upper_clip_fraction", u->upper_clip_fraction},
        {"dual_clip_fraction", u->dual_clip_fraction},
        {"tis_weight_mean", u->tis_weight_mean},
        {"tis_capped_fraction", u->tis_capped_fraction},
        {"tis_tokens", (double)u->tis_tokens},
        {"grad_norm", u->grad_norm},
        {"learning_rate", u->learning_rate},
        {"tokens", (double)u->tokens},
        {"sequences", (double)u->sequences},
        {"microbatches", (double)u->microbatches},
        {"gradient_active_tokens", (double)u->gradient_active_tokens},
    };

    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        if (json_object_get(want, near[i].key)) {
            double w = number(want, near[i].key);

            check_near(near[i].got, w, 1e-6 * fmax(1, fabs(w)), near[i].key, __FILE__,
                       __LINE__);
        }
}

static struct optimizer_config read_optimizer(const json_t *o)
{
    return (struct optimizer_config){
        .lr = number(o, "lr"),
        .beta1 = number(o, "beta1"),
        .beta2 = number(o, "beta2"),
        .eps = number(o, "eps"),
        .weight_decay = number(o, "weight_decay"),
        .grad_clip = number(o, "grad_clip"),
        .warmup_updates = (int64_t)number(o, "warmup_updates"),
    };
}

static enum reduction reduction_of(const char *name)
{
    static const char *const names[] = {
#define X(name, text) text,
        REDUCTION_LIST(X)
#undef X
    };

    for (int i = 0; i < REDUCTION_COUNT; i++)
        if (!strcmp(names[i], name))
            return (enum reduction)i;
    return REDUCTION_COUNT;
}

/* With tis_cap, only the stale ones have room for them. */
static void fill_prox(struct learner *l, bool wanted)
{
    struct fault f = FAULT_INIT;

    for (int i = 0; i < SEQUENCES; i++) {
        struct sequence *s = &seq[(4 * i + 2) % SEQUENCES];

        s->prox_logp = wanted && s->stale ? prox_logp[i] : NULL;
    }
    if (!wanted)
        return;
    CHECK_OK(learner_prox(l, seq, SEQUENCES, &f), &f);
    for (int i = 0; i < SEQUENCES; i++) {
        const struct sequence *s = &seq[(4 * i + 2) % SEQUENCES];

        for (int t = 0; s->stale && t < s->n; t++)
            CHECK_NEAR(prox_logp[i][t], prox_want[i][t], 1e-5);
    }
}

static void run_case(const json_t *all, const json_t *c)
{
    struct loss_config loss = {
        .clip_low = number(all, "clip_low"),
        .clip_high = number(c, "clip_high"),
        .dual_clip = number(c, "dual_clip"),
        .kl_coef = number(c, "kl_coef"),
        .reduction = reduction_of(json_string_value(json_object_get(c, "reduction"))),
        .mask_truncated = flag(c, "mask_truncated"),
        .tis_cap = number(c, "tis_cap"),
        .temperature = (float)number(all, "temperature")};
    struct optimizer_config o = read_optimizer(json_object_get(all, "optimizer"));
    const char *name = json_string_value(json_object_get(c, "name"));
    const json_t *want = json_object_get(c, "updates");
    struct model *m = open_model("model", ""), *ref = open_model("reference", "");
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    struct learner *l;

    CHECK_OK(learner_new(&l, m, &loss, &o, (int)number(all, "microbatch_tokens"), &f),
             &f);
    CHECK_OK(learner_reference(l, ref, seq, SEQUENCES, &f), &f);
    fill_prox(l, loss.tis_cap > 0);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(learner_update_all(l, seq, SEQUENCES, &alone, &u, &f), &f);
        same_metrics(&u, json_array_get(want, i));
        if (i == 0 && loss.kl_coef > 0)
            same_values(model_grad(m, &f), name, ".grad", 1e-5, true);
    }
    same_values(model_params(m), name, ".weights", 1e-6, false);
    learner_free(l);
    model_free(ref);
    model_free(m);
}

static json_t *read_all(void)
{
    json_t *all = json_load_file(FOLDER "update.json", 0, NULL);

    CHECK(all != NULL);
    if (all)
        read_batch(json_object_get(all, "sequences"));
    return all;
}

static void updates_match_pytorch(void)
{
    json_t *all = read_all();
    const json_t *cases = json_object_get(all, "cases");

    CHECK_INT(json_array_size(cases), 5);
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_case(all, json_array_get(cases, i));
    json_decref(all);
}

static void supervised_matches_pytorch(void)
{
    json_t *all = read_all();
    struct optimizer_config o = read_optimizer(json_object_get(all, "optimizer"));
    struct model *m = open_model("model", "");
    struct fault f = FAULT_INIT;
    struct update_metrics u;
    struct learner *l;

    CHECK_OK(learner_new(&l, m, NULL, &o, 12, &f), &f);
    CHECK_OK(learner_supervised_all(l, seq, SEQUENCES, &alone, &u, &f), &f);
    same_metrics(&u, json_object_get(all, "supervised"));
    same_values(model_params(m), "supervised", ".weights", 1e-6, false);
    learner_free(l);
    model_free(m);
    json_decref(all);
}

CASES(CASE(updates_match_pytorch), CASE(supervised_matches_pytorch))
