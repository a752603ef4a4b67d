/* session.c - opening model, tokenizer and prompts; identity; generators; judging. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/carry.h"
#include "train/plan.h"

#ifndef BUILD_ID
#define BUILD_ID "unknown"
#endif

static int sum_f32_all(void *ctx, float *x, size_t n, struct fault *f)
{
    const struct among *a = ctx;

    (void)f;
    comm_sum_f32_all(a->comm, a->scope, x, n);
    return 0;
}

static int sum_f64_all(void *ctx, double *x, size_t n, struct fault *f)
{
    const struct among *a = ctx;

    (void)f;
    comm_sum_f64_all(a->comm, a->scope, x, n);
    return 0;
}

static int max_f64_all(void *ctx, double *x, size_t n, struct fault *f)
{
    const struct among *a = ctx;

    (void)f;
    comm_max_f64_all(a->comm, a->scope, x, n);
    return 0;
}

static int open_base(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    enum compute compute = (enum compute)c->model.compute;
    int vocab = tokenizer_size(s->tok), rc;
    struct model_config mc;

    if (c->model.init == INIT_PRETRAINED)
        return model_open(&s->model, c->model.path, s->backend, compute, vocab, f);
    rc = model_config_read(&mc, c->model.path, f);
    if (rc)
        return rc;
    rc = model_random(&s->model, &mc, s->backend, compute, vocab, (uint64_t)c->run.seed,
                      f);
    model_config_free(&mc);
    return rc;
}

static int open_model(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    struct lora_config l;
    int rc = open_base(s, f);

    if (!rc && train_adapter(c, &l))
        rc = model_lora(s->model, &l, (uint64_t)c->run.seed, f);
    if (!rc && *c->lora.init)
        rc = model_lora_load(s->model, c->lora.init, f);
    return rc;
}

int session_open(struct session *s, struct comm *c, const struct config *cfg,
                 struct fault *f)
{
    const char *tok = *cfg->model.tokenizer ? cfg->model.tokenizer : cfg->model.path;
    int rc;

    *s = (struct session){.comm = c, .cfg = cfg};
    s->learners = (struct among){c, SCOPE_LEARNERS};
    s->reduce = (struct learner_reduce){&s->learners, sum_f32_all, sum_f64_all,
                                        max_f64_all, comm_rank(c)};
    if (!*cfg->model.path)
        return fault_set(f, FAULT_CONFIG,
                         "model.path is not set: name a Hugging Face directory");
    rc = backend_find(&s->backend, cfg->model.backend, f);
    if (!rc)
        rc = s->backend->open(0, (int)cfg->ranks.threads, f);
    if (!rc)
        rc = tokenizer_open(&s->tok, tok, f);
    if (!rc)
        rc = open_model(s, f);
    if (!rc)
        rc = plan_model(cfg, model_cfg(s->model), f);
    if (!rc)
        rc = judge_new(&s->judge, (enum grader)cfg->reward.grader,
                       (int)cfg->reward.answer_window, f);
    return rc;
}

void session_close(struct session *s)
{
    rollout_free(s->generator);
    rollout_free(s->evaluator);
    learner_free(s->learner);
    carry_free(s->carry);
    admission_free(s->admission);
    model_free(s->reference);
    model_free(s->model);
    order_free(s->order);
    free(s->previous);
    judge_free(s->judge);
    prompt_set_free(&s->train);
    prompt_set_free(&s->eval);
    tokenizer_free(s->tok);
    free(s->poison);
}

int session_enter(struct session *s, enum phase p, enum inject_point i, struct fault *f)
{
    pulse_phase(p, s->step + 1);
    return inject_pass(i, f);
}

int session_enter_all(struct session *s, enum phase p, enum inject_point i,
                      struct fault *f)
{
    return comm_agree_all(s->comm, session_enter(s, p, i, f), f);
}

int prompt_ids(const struct session *s, const struct prompt *p, struct ids *out,
               struct fault *f)
{
    const struct config *c = s->cfg;
    struct bytes user = {0};
    int rc = bytes_printf(&user, f, "%s%s%s", c->prompt.prefix, p->question,
                          c->prompt.suffix);

    if (!rc)
        rc = chat_encode(s->tok, (enum chat)c->prompt.template, c->prompt.custom,
                         c->prompt.system, user.data, out, f);
    bytes_free(&user);
    return rc;
}

/* Composing (NFC) leaves ASCII alone; other texts may get longer by it. */
static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 127)
            return false;
    return true;
}

/* Byte-level BPE makes at most one token a byte, so only long texts need a count. */
static int fits(const struct session *s, const struct prompt *p, struct ids *scratch,
                bool *yes, struct fault *f)
{
    const struct config *c = s->cfg;
    size_t around = 3 * (strlen(c->prompt.prefix) + strlen(c->prompt.suffix) +
                         strlen(c->prompt.system) + strlen(c->prompt.custom)) +
                    256;
    size_t most = (size_t)c->prompt.max_tokens;
    int rc;

    *yes = strlen(p->question) + around <= most && is_ascii(p->question);
    if (*yes)
        return 0;
    scratch->n = 0;
    rc = prompt_ids(s, p, scratch, f);
    *yes = scratch->n <= most;
    return rc;
}

int prompt_set_read(struct prompt_set *p, const struct session *s, const char *path,
                    struct fault *f)
{
    struct ids scratch = {0};
    int rc = prompts_read(&p->file, path, f);

    if (rc)
        return rc;
    p->kept = mem_new(p->file.n, sizeof *p->kept, "the prompt list", f);
    if (!p->kept)
        return f->code;
    for (size_t i = 0; i < p->file.n && !rc; i++) {
        bool yes;

        rc = fits(s, &p->file.row[i], &scratch, &yes, f);
        if (!rc && yes)
            p->kept[p->n++] = (int64_t)i;
    }
    ids_free(&scratch);
    p->too_long = (int64_t)p->file.n - p->n;
    if (!rc && p->n == 0)
        rc = fault_set(f, FAULT_DATA,
                       "%s: every prompt is over prompt.max_tokens = %lld", path,
                       (long long)s->cfg->prompt.max_tokens);
    return rc;
}

void prompt_set_free(struct prompt_set *p)
{
    prompts_free(&p->file);
    free(p->kept);
    *p = (struct prompt_set){0};
}

int session_generator(struct session *s, enum random_use use, struct rollout **out,
                      struct fault *f)
{
    const struct config *c = s->cfg;
    const struct model_config *m = model_cfg(s->model);
    bool eval = use == RANDOM_EVAL;
    struct rollout_config r = {
        .slots = (int)c->rollout.slots,
        .kv_pages = (int)((c->rollout.kv_tokens + KV_PAGE - 1) / KV_PAGE),
        .max_prompt = (int)c->prompt.max_tokens,
        .max_tokens = (int)c->rollout.max_tokens,
        .prefill_chunk = (int)c->rollout.prefill_chunk,
        .sampling = {(float)c->rollout.temperature, (int)c->rollout.top_k,
                     (float)c->rollout.top_p},
        .train_temperature = (float)c->rollout.temperature,
        .n_stop = m->n_stop,
        .stop = m->stop,
        .seed = (uint64_t)c->run.seed,
        .use = use,
        .iteration_s = eval ? 0 : c->debug.iteration_s,
    };

    if (eval)
        r.sampling = (struct sampling){(float)c->eval.temperature, (int)c->eval.top_k,
                                       (float)c->eval.top_p};
    return rollout_new(out, s->model, &r, f);
}

static void shape_reward(const struct config *c, struct completion *m)
{
    int64_t limit = c->rollout.max_tokens, cache = c->reward.overlong_cache;
    double raw = m->correct ? c->reward.correct : c->reward.wrong, shaped = raw;

    if (c->reward.overlong == OVERLONG_ADD)
        shaped += reward_overlong(m->n_tokens, limit, cache, c->reward.overlong_factor);
    if (c->reward.overlong == OVERLONG_MIN)
        shaped = reward_overlong_min(raw, m->n_tokens, limit, cache,
                                     c->reward.overlong_factor);
    m->raw_reward = raw;
    m->shaped_reward = shaped;
    m->length_penalty = shaped - raw;
}

int session_judge(const struct session *s, struct completion *m, const char *gold,
                  struct fault *f)
{
    const struct config *c = s->cfg;
    struct bytes text = {0};
    const char *said;
    struct verdict v;
    int rc = tokenizer_decode(s->tok, m->ids, (size_t)m->n_tokens, true, &text, f);

    said = text.data ? text.data : "";
    if (!rc)
        rc = judge_run(s->judge, gold, strlen(gold), said, text.len, &v, f);
    if (!rc) {
        m->verdict = v.kind;
        m->correct = v.correct;
        m->answer_found = v.found;
        m->answer_offset = v.found ? (int64_t)v.offset : -1;
        if (v.found) {
            m->answer = mem_new(v.n_answer + 1, 1, "an answer", f);
            if (m->answer)
                memcpy(m->answer, v.answer, v.n_answer);
            else
                rc = f->code;
        }
        shape_reward(c, m);
    }
    bytes_free(&text);
    return rc;
}

bool session_spans(const struct session *s)
{
    return s->cfg->admission.surplus == SURPLUS_RESUME;
}

static void hex_of(unsigned long long a, unsigned long long b, char out[33])
{
    snprintf(out, 33, "%016llx%016llx", a, b);
}

/* A setting that a run must keep; those of an adapter say nothing where there is none.
 */
static bool must_stay(const struct config *c, const char *name)
{
    return !train_may_change(name) && (c->lora.rank || strncmp(name, "lora.", 5) != 0);
}

/* Hash of the settings that may not change between a run and its resumption. */
static int hash_config(const struct config *c, char out[33], struct fault *f)
{
    struct bytes names = {0}, fixed = {0};
    struct config other = *c;
    int rc = 0;

    /* Lists every setting that is not zero or empty: those say all there is to say. */
    memset(&other, 0, sizeof other);
    rc = config_diff(c, &other, &names, f);
    for (char *p = names.data; p && *p && !rc; p += strlen(p) + 1) {
        p[strcspn(p, "\n")] = '\0';
        if (!must_stay(c, p))
            continue;
        rc = bytes_printf(&fixed, f, "%s=", p);
        if (!rc)
            rc = config_value(c, p, &fixed, f);
        if (!rc)
            rc = bytes_printf(&fixed, f, "\n");
    }
    hex_of(hash64(fixed.data, fixed.len, 1), hash64(fixed.data, fixed.len, 2), out);
    bytes_free(&names);
    bytes_free(&fixed);
    return rc;
}

/* What the model computes but for the weights that are trained: hyperparameters, stop
 * ids, tensors; of one with an adapter the second half is the base's checksum. */
static void hash_model(const struct model *m, char out[33])
{
    const struct model_config *c = model_cfg(m);
    const double numbers[] = {c->arch,     c->vocab,    c->dim,        c->layers,
                              c->heads,    c->kv_heads, c->head_dim,   c->ffn,
                              c->norm_eps, c->tied,     c->rope_mscale};
    unsigned long long h[2];
    int n;
    const struct model_tensor *t = model_tensors(m, &n);

    for (int k = 0; k < 2; k++) {
        h[k] = hash64(numbers, sizeof numbers, (unsigned long long)k + 1);
        h[k] = hash64(c->inv_freq, (size_t)(c->rotary / 2) * sizeof *c->inv_freq, h[k]);
        h[k] = hash64(c->stop, (size_t)c->n_stop * sizeof *c->stop, h[k]);
        if (model_n_linear(c)) { /* which layers, and what shapes don't tell */
            h[k] = hash64(c->linear, sizeof c->linear, h[k]);
            h[k] = hash64(&c->delta, sizeof c->delta, h[k]);
        }
        for (int i = 0; i < n; i++) {
            int shape[2] = {t[i].rows, t[i].cols};

            h[k] = hash64(shape, sizeof shape, h[k]);
            h[k] = hash64(t[i].name, strlen(t[i].name), h[k]);
        }
    }
    hex_of(h[0], model_adapter(m) ? model_base(m) : h[1], out);
}

int session_identify(struct session *s, struct fault *f)
{
    struct identity *id = &s->identity;

    hex_of(tokenizer_hash(s->tok), 0, id->tokenizer);
    hex_of(s->train.file.hash, (unsigned long long)s->train.n, id->data);
    hash_model(s->model, id->model);
    snprintf(id->grader, sizeof id->grader, "%s",
             reward_version((enum grader)s->cfg->reward.grader));
    snprintf(id->build, sizeof id->build, "%s", BUILD_ID);
    return hash_config(s->cfg, id->config, f);
}
