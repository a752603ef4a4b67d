/* sft.c - supervised training: every rank learns, one count, one division. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/learn.h"
#include "train/same.h"

/* Ids of one example, prompt and solution in one array. */
struct example {
    struct ids ids;
    int n_prompt;
};

/* Prompt, solution, and the first stop id: what generation is to end with. */
static int encode(const struct session *s, int64_t row, struct example *e,
                  struct fault *f)
{
    const struct prompt *p = &s->train.file.row[row];
    int rc = prompt_ids(s, p, &e->ids, f);

    e->n_prompt = (int)e->ids.n;
    if (!rc && !*p->solution)
        rc = fault_set(f, FAULT_DATA,
                       "%s: row %s has no \"solution\"; dapo sft needs worked answers",
                       s->cfg->data.train, p->id);
    if (!rc)
        rc = tokenizer_encode(s->tok, p->solution, strlen(p->solution), false, &e->ids,
                              f);
    if (!rc)
        rc = ids_add(&e->ids, model_cfg(s->model)->stop[0], f);
    if (!rc && e->ids.n > (size_t)model_cfg(s->model)->max_position)
        rc = fault_set(f, FAULT_DATA, "%s: row %s has %zu tokens, over the model's %d",
                       s->cfg->data.train, p->id, e->ids.n,
                       model_cfg(s->model)->max_position);
    return rc;
}

static int make_share(const struct session *s, const struct example *e, int n,
                      struct sequence *seq, int *count, struct fault *f)
{
    int *length = mem_new((size_t)n, sizeof(int), "a batch", f);
    int *owner = mem_new((size_t)n, sizeof(int), "a batch", f);
    int rc = length && owner ? 0 : f->code;

    for (int i = 0; i < n && !rc; i++)
        length[i] = (int)e[i].ids.n;
    if (!rc)
        rc = plan_deal(length, n, comm_size(s->comm), owner, f);
    *count = 0;
    for (int i = 0; i < n && !rc; i++)
        if (owner[i] == comm_rank(s->comm))
            seq[(*count)++] = (struct sequence){
                .n_prompt = e[i].n_prompt,
                .n = length[i] - e[i].n_prompt,
                .prompt = e[i].ids.id,
                .ids = e[i].ids.id + e[i].n_prompt,
                .order = i,
            };
    free(length);
    free(owner);
    return rc;
}

static int update_all(struct session *s, int64_t number, struct example *e,
                      struct sequence *seq, struct fault *f)
{
    int n = (int)s->cfg->sft.batch, count = 0, rc = 0;
    struct update_metrics m;

    for (int i = 0; i < n && !rc; i++) {
        uint64_t at = (uint64_t)(number * n + i);

        e[i].ids.n = 0;
        rc = encode(s, s->train.kept[order_at(s->order, at)], &e[i], f);
    }
    if (!rc)
        rc = make_share(s, e, n, seq, &count, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc)
        rc = learner_supervised_all(s->learner, seq, count, &s->reduce, &m, f);
    if (!rc && (number % 20 == 0 || number + 1 == s->cfg->run.steps))
        log0_line(LOG_INFO,
                  "sft update=%" PRId64 " loss=%.4f norm=%.3f lr=%.3g tokens=%" PRId64
                  " seconds=%.2f",
                  number + 1, m.loss, m.grad_norm, m.learning_rate, m.tokens,
                  m.seconds);
    log_progress("sft", (long)number + 1, (long)s->cfg->run.steps, NULL);
    return rc;
}

static int train_all(struct session *s, struct fault *f)
{
    size_t n = (size_t)s->cfg->sft.batch;
    struct example *e = mem_new(n, sizeof *e, "a batch", f);
    struct sequence *seq = mem_new(n, sizeof *seq, "a batch", f);
    int rc = comm_agree_all(s->comm, e && seq ? 0 : f->code, f);

    for (int64_t u = 0; u < s->cfg->run.steps && !rc; u++)
        rc = update_all(s, u, e, seq, f);
    log_progress_end();
    for (size_t i = 0; e && i < n; i++)
        ids_free(&e[i].ids);
    free(e);
    free(seq);
    return rc;
}

static int open_all(struct session *s, struct comm *c, const struct config *cfg,
                    struct fault *f)
{
    int rc = session_open(s, c, cfg, f);

    s->learners.scope = SCOPE_WORLD; /* every rank learns */
    if (!rc && !*cfg->sft.out)
        rc = fault_set(f, FAULT_CONFIG, "sft.out is not set: name a folder to write");
    if (!rc && !*cfg->data.train)
        rc = fault_set(f, FAULT_CONFIG,
                       "data.train is not set: name a file of rows with a solution");
    if (!rc)
        rc = prompt_set_read(&s->train, s, cfg->data.train, f);
    if (!rc)
        rc = order_new(&s->order, (size_t)s->train.n, (uint64_t)cfg->run.seed,
                       cfg->data.shuffle, f);
    if (!rc)
        rc = learn_open(s, f);
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = same_job_all(c, cfg, f);
    return rc ? rc : same_inputs_all(s, f);
}

/* Beside the merged model, in its folder's `adapter`. */
static int save_adapter(const struct session *s, struct fault *f)
{
    char *dir = path_join(s->cfg->sft.out, "adapter", f);
    int rc = dir ? model_lora_save(s->model, dir, f) : f->code;

    free(dir);
    return rc;
}

int train_supervised_all(struct comm *c, const struct config *cfg, struct fault *f)
{
    struct session s;
    int rc = open_all(&s, c, cfg, f);

    if (!rc)
        rc = train_all(&s, f);
    if (!rc && comm_rank(c) == 0) {
        const char *tok =
            *cfg->model.tokenizer ? cfg->model.tokenizer : cfg->model.path;

        rc = model_save(s.model, model_params(s.model), cfg->sft.out, tok,
                        cfg->sft.dtype == COMPUTE_BF16, f);
        if (!rc && model_adapter(s.model))
            rc = save_adapter(&s, f);
        if (!rc)
            log0_line(LOG_INFO, "wrote %s", cfg->sft.out);
    }
    rc = comm_agree_all(c, rc, f);
    session_close(&s);
    return rc;
}
