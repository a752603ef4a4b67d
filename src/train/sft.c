/* sft.c - supervised training: every rank learns, one count, one division.  It goes on
 * from where it was stopped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "dapo/train.h"
#include "train/learn.h"
#include "train/resume.h"
#include "train/same.h"
#include "train/stop.h"

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

static int update_all(struct session *s, struct example *e, struct sequence *seq,
                      struct fault *f)
{
    int n = (int)s->cfg->sft.batch, count = 0, rc = 0;
    struct update_metrics m;

    pulse_phase(PHASE_LEARN, s->step + 1);
    for (int i = 0; i < n && !rc; i++) {
        uint64_t at = (uint64_t)(s->cursor + i);

        e[i].ids.n = 0;
        rc = encode(s, s->train.kept[order_at(s->order, at)], &e[i], f);
    }
    if (!rc)
        rc = make_share(s, e, n, seq, &count, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc)
        rc = learner_supervised_all(s->learner, seq, count, &s->reduce, &m, f);
    if (rc)
        return rc;
    if (s->step % 20 == 0 || s->step + 1 == s->cfg->run.steps)
        log0_line(LOG_INFO,
                  "sft update=%" PRId64 " loss=%.4f norm=%.3f lr=%.3g tokens=%" PRId64
                  " seconds=%.2f",
                  s->step + 1, m.loss, m.grad_norm, m.learning_rate, m.tokens,
                  m.seconds);
    s->updates = ++s->step;
    s->cursor += n;
    log_progress("sft", (long)s->step, (long)s->cfg->run.steps, NULL);
    return 0;
}

/* Up to the last update, or until there is a reason to stop: *why. */
static int updates_all(struct session *s, enum stop_why *why, struct fault *f)
{
    size_t n = (size_t)s->cfg->sft.batch;
    struct example *e = mem_new(n, sizeof *e, "a batch", f);
    struct sequence *seq = mem_new(n, sizeof *seq, "a batch", f);
    int rc = comm_agree_all(s->comm, e && seq ? 0 : f->code, f);

    *why = STOP_NOT;
    while (!rc && *why == STOP_NOT && s->step < s->cfg->run.steps) {
        double start = clock_now();

        rc = update_all(s, e, seq, f);
        if (!rc) /* or is there time for another one? */
            *why = stop_agreed_all(s, clock_now() - start);
    }
    log_progress_end();
    for (size_t i = 0; e && i < n; i++)
        ids_free(&e[i].ids);
    free(e);
    free(seq);
    return rc;
}

static int stopped_all(struct session *s, enum stop_why why, int64_t resumed,
                       const char *dir, struct fault *f)
{
    bool save = why != STOP_TIME || stop_may_save_all(s);
    int rc = save ? save_all(s, f) : 0;

    if (rc)
        return rc;
    return fault_set(f, FAULT_STOPPED,
                     "%s: stopped %s after update %" PRId64 " of %" PRId64
                     "%s; the same command goes on from %s",
                     dir, stop_text(why), s->step, s->cfg->run.steps,
                     save ? ", checkpoint saved" : ", without time to save it",
                     save      ? "there"
                     : resumed ? "the last checkpoint"
                               : "the start");
}

/* Beside the merged model, in its folder's `adapter`. */
static int save_adapter(const struct session *s, struct fault *f)
{
    char *dir = path_join(s->cfg->sft.out, "adapter", f);
    int rc = dir ? model_lora_save(s->model, dir, f) : f->code;

    free(dir);
    return rc;
}

static int finish_all(struct session *s, struct fault *f)
{
    const struct config *c = s->cfg;
    int rc = 0;

    pulse_phase(PHASE_END, s->step);
    if (comm_rank(s->comm) == 0) {
        rc = model_save(s->model, model_params(s->model), c->sft.out,
                        *c->model.tokenizer ? c->model.tokenizer : c->model.path,
                        c->sft.dtype == COMPUTE_BF16, f);
        if (!rc && model_adapter(s->model))
            rc = save_adapter(s, f);
        if (!rc)
            log0_line(LOG_INFO, "wrote %s", c->sft.out);
    }
    return comm_agree_all(s->comm, rc, f);
}

/* What was learned outlives a result that can't be written: *f, and where it is kept.
 */
static int keep_all(struct session *s, const char *dir, struct fault *f)
{
    struct fault was = *f, unsaved = FAULT_INIT;

    if (save_all(s, &unsaved))
        return f->code; /* the first fault is the one to know */
    fault_set(f, (enum fault_code)was.code,
              "%.250s; what was learned is kept in %.120s, and the same command, with "
              "another sft.out if need be, goes on from there",
              was.text, dir);
    f->rank = was.rank;
    return f->code;
}

/* Examples of an update decide its bits, and a checkpoint says how many there were.
 * Whoever asks for fewer updates would get more, and lose the moments. */
static int check_progress(const struct session *s, const char *dir, struct fault *f)
{
    if (s->step > s->cfg->run.steps)
        return fault_set(f, FAULT_CONFIG,
                         "%s: is at update %" PRId64
                         " already, and run.steps = %" PRId64
                         "; set that higher, or start anew with another run.name",
                         dir, s->step, s->cfg->run.steps);
    if (s->cursor == s->step * s->cfg->sft.batch)
        return 0;
    return fault_set(f, FAULT_CONFIG,
                     "%s: can't be resumed with sft.batch = %" PRId64 ": its %" PRId64
                     " updates took %" PRId64
                     " examples; set it back, or start anew with another run.name",
                     dir, s->cfg->sft.batch, s->step, s->cursor);
}

static int train_all(struct session *s, const char *dir, struct fault *f)
{
    enum stop_why why = STOP_NOT;
    int64_t resumed;
    int rc = store_open_all(&s->store, s->comm, dir, f);

    if (!rc)
        rc = stop_watch_all(s, dir, f);
    if (!rc)
        rc = resume_all(s, dir, f);
    if (!rc)
        rc = check_progress(s, dir, f);
    if (!rc)
        rc = stop_measure_all(s, dir, f);
    resumed = s->step;
    if (!rc)
        rc = updates_all(s, &why, f);
    if (!rc && s->step < s->cfg->run.steps)
        rc = stopped_all(s, why, resumed, dir, f);
    else if (!rc && (rc = finish_all(s, f)))
        rc = keep_all(s, dir, f);
    watch_stop_all(s->watch);
    if (!rc)
        rc = store_discard_all(s->store, f);
    store_close_all(s->store);
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
    if (!rc && path_same(cfg->sft.out, cfg->model.path))
        rc =
            fault_set(f, FAULT_CONFIG,
                      "sft.out = %.200s is the folder of model.path, whose model would "
                      "be lost: name another",
                      cfg->sft.out);
    if (!rc)
        rc = prompt_set_read(&s->train, s, cfg->data.train, f);
    if (!rc)
        rc = order_new(&s->order, (size_t)s->train.n, (uint64_t)cfg->run.seed,
                       cfg->data.shuffle, f);
    if (!rc)
        rc = session_identify(s, f);
    if (!rc)
        rc = learn_open(s, f);
    if (!rc)
        rc = inject_arm(cfg->debug.fault, comm_rank(c), f);
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = same_job_all(c, cfg, f);
    return rc ? rc : same_inputs_all(s, f);
}

int train_supervised_all(struct comm *c, const struct config *cfg, struct fault *f)
{
    struct bytes dir = {0};
    struct session s;
    int rc = open_all(&s, c, cfg, f);

    if (!rc)
        rc = comm_agree_all(
            c, bytes_printf(&dir, f, "%s/%s.sft", cfg->run.dir, cfg->run.name), f);
    if (!rc)
        rc = train_all(&s, dir.data, f);
    session_close(&s);
    bytes_free(&dir);
    return rc;
}
