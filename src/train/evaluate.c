/* evaluate.c - avg@n, pass@n, answer-found rate over MPI ranks. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/clock.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "train/evaluate.h"
#include "train/generate.h"
#include "train/same.h"
#include "train/stop.h"

/* Per problem, summed over ranks (each problem has one rank that is not zero). */
struct score {
    int64_t correct, found, tokens, truncated;
};

static int submit(struct session *s, int64_t i, struct ids *prompt, struct fault *f)
{
    int64_t row = s->eval.kept[i];
    struct group *g;
    int rc;

    prompt->n = 0;
    rc = prompt_ids(s, &s->eval.file.row[row], prompt, f);
    if (rc)
        return rc;
    g = group_new(i, row, prompt->id, (int)prompt->n, (int)s->cfg->eval.samples, f);
    if (!g)
        return f->code;
    rc = rollout_submit(s->evaluator, g, f);
    if (rc)
        group_free(g);
    return rc;
}

static int collect(struct session *s, struct score *score, int64_t *open,
                   struct fault *f)
{
    struct group *g;
    int member, rc = 0;

    while (!rc && rollout_next(s->evaluator, &g, &member)) {
        struct completion *m = &g->members[member];
        struct score *x = &score[g->index];

        if (m->finish == FINISH_FAILED)
            return fault_set(f, FAULT_DATA,
                             "%s: the model's logits are not finite on prompt %s",
                             s->cfg->model.path, s->eval.file.row[g->prompt].id);
        rc = session_judge(s, m, s->eval.file.row[g->prompt].answer, f);
        x->correct += m->correct;
        x->found += m->answer_found;
        x->tokens += m->n_tokens;
        x->truncated += m->finish == FINISH_LENGTH;
        --*open;
    }
    return rc;
}

/* This replica's problems. */
static int evaluate(struct session *s, int64_t n, struct score *score, struct fault *f)
{
    int replicas = comm_replicas(s->comm), rc = 0;
    int64_t open = 0;
    struct ids prompt = {0};

    if (!s->evaluator)
        rc = session_generator(s, RANDOM_EVAL, &s->evaluator, f);
    if (rc)
        return rc;
    rollout_begin(s->evaluator, 0, s->updates);
    for (int64_t i = comm_replica(s->comm); i < n && !rc; i += replicas) {
        rc = submit(s, i, &prompt, f);
        open += s->cfg->eval.samples;
    }
    /* Asked to stop before the first step there is nothing to save: why go on? */
    while (open > 0 && !rc && !(s->step == 0 && stop_requested())) {
        rc = rollout_slice(s->evaluator, 64, false, NULL, f);
        if (!rc)
            rc = collect(s, score, &open, f);
    }
    rollout_begin(s->evaluator, 0, s->updates); /* let the groups go */
    ids_free(&prompt);
    return rc;
}

static void summarise(const struct session *s, const struct score *score, int64_t n,
                      struct eval_result *out)
{
    double samples = (double)s->cfg->eval.samples, total = samples * (double)n;

    out->problems = n;
    out->completions = (int64_t)total;
    for (int64_t i = 0; i < n; i++) {
        out->average_at_n += (double)score[i].correct / total;
        out->pass_at_n += (score[i].correct > 0) / (double)n;
        out->found_rate += (double)score[i].found / total;
        out->truncated_rate += (double)score[i].truncated / total;
        out->mean_tokens += (double)score[i].tokens / total;
    }
}

static int write_rows(const struct session *s, const struct score *score, int64_t n,
                      const char *path, struct fault *f)
{
    struct bytes out = {0};
    int rc = 0;

    for (int64_t i = 0; i < n && !rc; i++) {
        json_t *row = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I}", "id",
            s->eval.file.row[s->eval.kept[i]].id, "samples",
            (json_int_t)s->cfg->eval.samples, "correct", (json_int_t)score[i].correct,
            "found", (json_int_t)score[i].found, "truncated",
            (json_int_t)score[i].truncated, "tokens", (json_int_t)score[i].tokens);
        char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;

        rc = text ? bytes_printf(&out, f, "%s\n", text)
                  : fault_set(f, FAULT_SYSTEM, "no memory for %s", path);
        free(text);
        json_decref(row);
    }
    if (!rc)
        rc = file_publish(path, out.data, out.len, f);
    bytes_free(&out);
    return rc;
}

int evaluate_all(struct session *s, const char *rows, struct eval_result *out,
                 struct fault *f)
{
    int64_t limit = s->cfg->eval.limit, n = s->eval.n;
    struct score *score;
    double start = clock_now();
    int rc = session_enter_all(s, PHASE_EVALUATE, INJECT_EVALUATE, f);

    *out = (struct eval_result){0};
    if (rc)
        return rc;
    if (limit && limit < n)
        n = limit;
    score = mem_new((size_t)n, sizeof *score, "the evaluation", f);
    rc = score ? 0 : f->code;
    if (!rc && comm_generates(s->comm))
        rc = evaluate(s, n, score, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc) {
        comm_sum_i64_all(s->comm, SCOPE_WORLD, (int64_t *)score,
                         (size_t)n * sizeof *score / sizeof(int64_t));
        summarise(s, score, n, out);
        out->seconds = clock_now() - start;
        if (rows && comm_rank(s->comm) == 0)
            rc = write_rows(s, score, n, rows, f);
        rc = comm_agree_all(s->comm, rc, f);
    }
    free(score);
    return rc;
}

int train_evaluate_all(struct comm *c, const struct config *cfg, const char *rows,
                       struct eval_result *out, struct fault *f)
{
    struct session s;
    int rc;

    rc = comm_agree_all(c, session_open(&s, c, cfg, f), f);
    if (!rc)
        rc = same_job_all(c, cfg, f);
    if (!rc)
        rc = comm_split_all(c, (int)cfg->ranks.learners, f);
    if (!rc && !*cfg->data.eval)
        rc = fault_set(f, FAULT_CONFIG, "data.eval is not set: name a prompt file");
    if (!rc)
        rc = prompt_set_read(&s.eval, &s, cfg->data.eval, f);
    if (!rc)
        rc = prompt_set_judge(&s.eval, &s, cfg->data.eval, f);
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = same_inputs_all(&s, f);
    if (!rc)
        rc = evaluate_all(&s, rows, out, f);
    session_close(&s);
    return rc;
}
