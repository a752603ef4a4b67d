/* plan.c - what a job will need, from its settings and the model's config.json. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "dapo/admission.h"
#include "dapo/doctor.h"
#include "dapo/reward.h"
#include "dapo/rollout.h"
#include "dapo/train.h"
#include "train/plan.h"

#define GIB 1073741824.0
#define HEAD_ROWS 128 /* rows of logits that the learner holds at once */

/* -- the pieces, in bytes ---------------------------------------------------------- */

/* Values that dense products keep a packed copy of: all matrices but an embedding that
 * is only looked up.  Vectors are under 0.1% of a model and counted in. */
static double packed_values(const struct model_config *m)
{
    double all = (double)model_count(m);

    return m->tied ? all : all - (double)m->vocab * m->dim;
}

/* Bytes of a value in a packed copy. */
static double packed_width(const struct config *c)
{
    return c->model.compute == COMPUTE_BF16 ? 2 : 4;
}

/* Masters and what the forward multiplies by, of a model without an adapter. */
static double model_bytes(const struct config *c, const struct model_config *m)
{
    return 4.0 * (double)model_count(m) + packed_width(c) * packed_values(m);
}

/* Of the one that is trained: an adapter keeps the base of what it is added to, and has
 * masters and packed copies of its own. */
static double weights_bytes(const struct config *c, const struct model_config *m,
                            const struct plan *p)
{
    double own =
        p->adapted > 0 ? 4 * p->adapted + (4 + packed_width(c)) * p->trained : 0;

    return model_bytes(c, m) + own;
}

static int at_most(double x, int most)
{
    return x < most ? (int)x : most;
}

/* Forward of the largest microbatch, its backward, and a chunk of logits. */
static int plan_activations(const struct config *c, const struct model_config *m,
                            struct plan *p, struct fault *f)
{
    double longest = (double)(c->prompt.max_tokens + c->rollout.max_tokens);
    double all = (double)(c->admission.groups * c->admission.group_size) * longest;
    double most = (double)c->optimizer.microbatch_tokens;
    double whole = all < most ? all : most, rows = longest > whole ? longest : whole;
    const struct backend *be;
    size_t bytes;

    if (backend_find(&be, c->model.backend, f) ||
        model_train_bytes(&bytes, m, be, at_most(rows, INT_MAX),
                          at_most(longest, INT_MAX), f))
        return f->code;
    p->activation_bytes = (double)bytes + 4 * HEAD_ROWS * (3.0 * m->dim + 1 + m->vocab);
    return 0;
}

/* Without the weights: gradient, moments, the backward's packed copies, activations,
 * and the frozen reference model where there is one. */
static double learning_bytes(const struct config *c, const struct model_config *m,
                             const struct plan *p)
{
    bool base = p->adapted > 0 && !*c->loss.reference; /* is the reference */
    double back = c->model.compute == COMPUTE_BF16 ? 2 * packed_values(m) : 0;
    double reference = c->loss.kl_coef > 0 && !base ? model_bytes(c, m) : 0;

    return 12 * p->trained + back + reference + p->activation_bytes;
}

/* One iteration: every slot and a chunk of a prompt. */
static double decode_bytes(const struct config *c, const struct model_config *m)
{
    int slots = (int)c->rollout.slots, chunk = (int)c->rollout.prefill_chunk;

    return (double)model_step_bytes(m, slots + chunk, slots);
}

/* A replica's groups: ids, log-probs and policy versions, kept until the step's file is
 * written. */
static double groups_bytes(const struct plan *p)
{
    return 12.0 * (double)p->candidate_completions * (double)p->max_completion /
           (double)p->replicas;
}

/* Widths of the columns of a step file, by row. */
static double step_file(const struct config *c, const struct plan *p)
{
    double answer = 4.0 * (double)c->reward.answer_window; /* UTF-8 at its widest */
    double text = 4.0 * (double)p->max_completion;
    /* Groups that span steps also say where they began and what drew each token. */
    bool spans = c->admission.surplus == SURPLUS_RESUME;

    if (c->reward.answer_window == 0 || answer > text)
        answer = text;
    return 65536 + (spans ? 96.0 : 80.0) * (double)p->max_candidates +
           (double)p->candidate_completions *
               ((spans ? 112 : 104) + answer +
                (spans ? 12.0 : 8.0) * (double)p->max_completion);
}

/* Everything that the run directory will hold. */
static void plan_run(const struct config *c, struct plan *p)
{
    double steps = (double)c->run.steps, every = (double)c->run.save_every;
    double saves = every > 0 ? 1 + floor(steps / every) : 1, kept = saves;

    if (c->run.keep)
        kept = (double)c->run.keep + 1; /* one more while the oldest goes */
    if (c->run.keep && c->run.keep_every)
        kept += floor(steps / (double)c->run.keep_every);
    kept = fmin(kept, saves);
    p->run_bytes = steps * p->step_file_bytes + kept * p->checkpoint_bytes;
    p->run_files = steps + kept + 16; /* folders, log, index and others */
}

/* -- checks ------------------------------------------------------------------------ */

int plan_model(const struct config *c, const struct model_config *m, struct fault *f)
{
    int64_t longest = c->prompt.max_tokens + c->rollout.max_tokens;

    if (m->n_stop == 0)
        return fault_set(f, FAULT_DATA,
                         "%s: neither config.json nor generation_config.json has an "
                         "eos_token_id; completions could never end",
                         c->model.path);
    if (longest > m->max_position)
        return fault_set(f, FAULT_CONFIG,
                         "prompt.max_tokens + rollout.max_tokens = %" PRId64
                         " is over the model's max_position_embeddings = %d",
                         longest, m->max_position);
    return 0;
}

/* How many values there are and how many of them are trained. */
static int plan_trained(const struct config *c, const struct model_config *m,
                        struct plan *p, struct fault *f)
{
    struct lora_config l;
    size_t trained = model_count(m), adapted = 0;
    int rc = 0;

    p->params = (double)trained;
    if (train_adapter(c, &l))
        rc = model_lora_count(m, &l, &trained, &adapted, f);
    p->trained = (double)trained;
    p->adapted = (double)adapted;
    return rc;
}

static int64_t pages_of(int64_t tokens)
{
    return (tokens + KV_PAGE - 1) / KV_PAGE;
}

/* Bytes of one replica's cache, or what rollout_new would refuse: a longest sequence
 * has the pages of its prompt but for the last token, and its own. */
static int plan_cache(const struct config *c, const struct model_config *m,
                      struct plan *p, struct fault *f)
{
    int64_t prompt = c->prompt.max_tokens, longest = prompt + c->rollout.max_tokens;
    int64_t rest = (prompt < KV_PAGE ? prompt : KV_PAGE) - 1;
    int64_t pages = pages_of(prompt - 1) + pages_of(rest + c->rollout.max_tokens);
    struct rollout_config r = {
        .slots = (int)c->rollout.slots,
        .kv_pages = (int)((c->rollout.kv_tokens + KV_PAGE - 1) / KV_PAGE),
        .max_prompt = (int)c->prompt.max_tokens,
        .max_tokens = (int)c->rollout.max_tokens,
    };

    if ((c->rollout.slots + 1) * pages > INT_MAX / KV_PAGE)
        return fault_set(f, FAULT_CONFIG,
                         "rollout.slots = %" PRId64 " of %" PRId64
                         " tokens are more than a cache can address; lower one of "
                         "them",
                         c->rollout.slots, longest);
    if (r.kv_pages && r.kv_pages < pages)
        return fault_set(f, FAULT_CONFIG,
                         "rollout.kv_tokens = %" PRId64
                         " can't hold one longest sequence, which needs %" PRId64
                         " with whole pages",
                         c->rollout.kv_tokens, pages * KV_PAGE);
    p->kv_bytes = (double)kv_bytes(m, rollout_pages(&r), rollout_states(&r, m));
    return 0;
}

int plan_overlap(const struct config *c, int64_t ranks, struct fault *f)
{
    if (ranks > 1 || !c->train.max_staleness)
        return 0;
    return fault_set(f, FAULT_CONFIG,
                     "train.max_staleness = 1 needs a rank that only generates; "
                     "start the job with more ranks, or set it to 0");
}

static int plan_roles(const struct config *c, int64_t ranks, struct plan *p,
                      struct fault *f)
{
    if (ranks > 1 && c->ranks.learners >= ranks)
        return fault_set(f, FAULT_CONFIG,
                         "ranks.learners = %" PRId64 " leaves no rank to generate in a "
                         "job of %" PRId64 " ranks; start more ranks or set it below "
                         "%" PRId64,
                         c->ranks.learners, ranks, ranks);
    p->learners = ranks > 1 ? c->ranks.learners : 1;
    p->replicas = ranks > 1 ? ranks - c->ranks.learners : 1;
    return plan_overlap(c, ranks, f);
}

static void plan_batch(const struct config *c, struct plan *p)
{
    p->groups = c->admission.groups;
    p->max_candidates =
        c->admission.dynamic ? p->groups * c->admission.max_multiplier : p->groups;
    p->unbounded = c->admission.dynamic && c->admission.strict;
    p->completions = p->groups * c->admission.group_size;
    p->candidate_completions = p->max_candidates * c->admission.group_size;
    p->updates = c->optimizer.updates_per_step;
    p->max_prompt = c->prompt.max_tokens;
    p->max_completion = c->rollout.max_tokens;
}

static void plan_memory(const struct config *c, const struct model_config *m,
                        int64_t ranks, struct plan *p)
{
    double weights = weights_bytes(c, m, p), learning = learning_bytes(c, m, p);
    double caches = *c->data.eval ? 2 : 1; /* evaluation keeps one of its own */
    double generating = caches * p->kv_bytes + decode_bytes(c, m) + groups_bytes(p);
    double batch = 8.0 * (double)p->completions *
                   (double)(p->max_prompt + p->max_completion) / (double)p->learners;

    if (c->train.max_staleness) /* the weights of before the step */
        learning += sizeof(float) * p->trained;
    p->learner_bytes = weights + learning + batch;
    p->rollout_bytes = weights + generating;
    if (ranks == 1)
        p->learner_bytes = p->rollout_bytes = weights + learning + batch + generating;
}

static int check_memory(const struct plan *p, double memory, struct fault *f)
{
    bool learner = p->learner_bytes >= p->rollout_bytes;
    double need = learner ? p->learner_bytes : p->rollout_bytes;

    if (memory <= 0 || need <= memory)
        return 0;
    return fault_set(f, FAULT_CONFIG,
                     "a %s rank needs %.4g GiB and has %.4g GiB; lower %s, take a "
                     "smaller model or more memory per rank",
                     learner ? "learner" : "rollout", need / GIB, memory / GIB,
                     learner ? "optimizer.microbatch_tokens"
                             : "rollout.slots or rollout.kv_tokens");
}

static int read_config(struct model_config *m, const char *dir, struct fault *f)
{
    if (!*dir)
        return fault_set(f, FAULT_CONFIG,
                         "model.path is not set: name a Hugging Face directory");
    if (access(dir, F_OK))
        return fault_set(f, FAULT_FILE,
                         "model.path = %s: the model directory is missing here: %s; "
                         "copy it there, or name a folder with its config.json",
                         dir, strerror(errno));
    return model_config_read(m, dir, f);
}

int train_plan(const struct config *cfg, int64_t ranks, double memory, struct plan *out,
               struct fault *f)
{
    struct model_config m;
    int rc;

    *out = (struct plan){0};
    if ((rc = read_config(&m, cfg->model.path, f)))
        return rc;
    plan_batch(cfg, out);
    rc = plan_roles(cfg, ranks, out, f);
    if (!rc)
        rc = plan_model(cfg, &m, f);
    if (!rc)
        rc = plan_trained(cfg, &m, out, f);
    if (!rc)
        rc = plan_cache(cfg, &m, out, f);
    if (!rc)
        rc = plan_activations(cfg, &m, out, f);
    if (!rc) {
        out->checkpoint_bytes = (cfg->train.max_staleness ? 16 : 12) * out->trained;
        out->checkpoint_bytes += 1048576;
        out->step_file_bytes = step_file(cfg, out);
        plan_run(cfg, out);
        plan_memory(cfg, &m, ranks, out);
        rc = check_memory(out, memory, f);
    }
    model_config_free(&m);
    return rc;
}

int train_needs(const struct config *cfg, int64_t ranks, struct doctor_job *out,
                struct fault *f)
{
    struct plan p;
    int rc = train_plan(cfg, ranks, 0, &p, f);

    *out = (struct doctor_job){
        .dir = out->dir,
        .given = true,
        .learners = ranks > 1 ? (int)cfg->ranks.learners : 1,
        .threads = (int)cfg->ranks.threads,
        .math = cfg->reward.grader == GRADER_MATH,
    };
    if (rc)
        return rc;
    out->learn_bytes = p.learner_bytes;
    out->roll_bytes = p.rollout_bytes;
    out->checkpoint_bytes = p.checkpoint_bytes;
    out->step_bytes = p.step_file_bytes;
    out->run_bytes = p.run_bytes;
    out->run_files = p.run_files;
    return 0;
}
