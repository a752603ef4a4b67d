/* same.c - see same.h. */
#include <string.h>

#include "dapo/mem.h"
#include "train/same.h"

int same_job_all(struct comm *c, const struct config *cfg, struct fault *f)
{
    struct config root = *cfg;
    struct bytes names = {0};
    int rc;

    comm_bcast_all(c, SCOPE_WORLD, &root, sizeof root);
    root.ranks.threads = cfg->ranks.threads;
    rc = config_diff(&root, cfg, &names, f);
    for (char *p = names.data; p && (p = strchr(p, '\n'));)
        *p = p[1] ? ' ' : '\0';
    if (!rc && names.len)
        rc = fault_set(f, FAULT_CONFIG,
                       "these settings are not those of rank 0: %.300s; give all ranks "
                       "the same job file and options",
                       names.data);
    bytes_free(&names);
    return comm_agree_all(c, rc, f);
}

/* The numbers that must be alike, and what they are of. */
enum input {
    INPUT_TOKENIZER,
    INPUT_SHAPE,
    INPUT_BASE,
    INPUT_WEIGHTS,
    INPUT_REFERENCE,
    INPUT_TRAIN,
    INPUT_TRAIN_N,
    INPUT_EVAL,
    INPUT_EVAL_N,
    INPUT_COUNT
};

static void sign(const struct session *s, unsigned long long x[INPUT_COUNT])
{
    memset(x, 0, INPUT_COUNT * sizeof *x);
    x[INPUT_TOKENIZER] = tokenizer_hash(s->tok);
    x[INPUT_SHAPE] = model_n_params(s->model);
    x[INPUT_BASE] = model_base(s->model);
    x[INPUT_WEIGHTS] = model_checksum(s->model);
    if (s->reference)
        x[INPUT_REFERENCE] = model_checksum(s->reference);
    x[INPUT_TRAIN] = s->train.file.hash;
    x[INPUT_TRAIN_N] = (unsigned long long)s->train.n;
    x[INPUT_EVAL] = s->eval.file.hash;
    x[INPUT_EVAL_N] = (unsigned long long)s->eval.n;
}

int same_inputs_all(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    const char *tok = *c->model.tokenizer ? c->model.tokenizer : c->model.path;
    const char *reference = *c->loss.reference ? c->loss.reference : c->model.path;
    const char *trained = *c->lora.init ? c->lora.init : c->model.path;
    const char *const of[INPUT_COUNT] = {tok,           c->model.path, c->model.path,
                                         trained,       reference,     c->data.train,
                                         c->data.train, c->data.eval,  c->data.eval};
    static const char *const what[INPUT_COUNT] = {"tokenizer", "model",   "weights",
                                                  "weights",   "weights", "prompts",
                                                  "prompts",   "prompts", "prompts"};
    unsigned long long mine[INPUT_COUNT], root[INPUT_COUNT];
    int rc = 0;

    sign(s, mine);
    memcpy(root, mine, sizeof root);
    comm_bcast_all(s->comm, SCOPE_WORLD, root, sizeof root);
    if (!s->reference) /* only learners have one */
        root[INPUT_REFERENCE] = 0;
    for (int i = 0; i < INPUT_COUNT && !rc; i++)
        if (mine[i] != root[i])
            rc = fault_set(f, FAULT_DATA,
                           "%s: on %s its %s are not those that rank 0 has; give all "
                           "ranks the same files",
                           of[i], comm_host(s->comm), what[i]);
    return comm_agree_all(s->comm, rc, f);
}
