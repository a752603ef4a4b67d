/* show_run.c - dapo inspect of a run directory, a step file, a checkpoint. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/show.h"
#include "dapo/config.h"
#include "dapo/inspect.h"
#include "dapo/log.h"
#include "dapo/mem.h"

#define MOST_JOB ((size_t)1 << 20)

static void show_identity(const struct identity *id)
{
    show_line("config hash", "%s", id->config);
    show_line("model hash", "%s", id->model);
    show_line("tokenizer hash", "%s", id->tokenizer);
    show_line("data hash", "%s", id->data);
    show_line("grader", "%s", id->grader);
    show_line("build", "%s", id->build);
}

static void show_fates(const int64_t tokens[FATE_COUNT], const double *seconds)
{
    int64_t all = 0;

    for (int i = 0; i < FATE_COUNT; i++)
        all += tokens[i];
    for (int i = 0; i < FATE_COUNT; i++) {
        double share = all ? 100.0 * (double)tokens[i] / (double)all : 0.0;
        char name[40];

        snprintf(name, sizeof name, "tokens %s", fate_text((enum fate)i));
        if (seconds)
            show_line(name, "%12" PRId64 " %5.1f%% %10.2f s", tokens[i], share,
                      seconds[i]);
        else
            show_line(name, "%12" PRId64 " %5.1f%%", tokens[i], share);
    }
    show_line("tokens", "%12" PRId64, all);
}

/* Those that this step has; the rest are NaN. */
static void show_metrics(const struct inspect_step *s)
{
    for (size_t i = 0; i < s->n_metrics; i++)
        if (!isnan(s->metrics[i].value))
            show_line("metric", "%-40s %.10g", s->metrics[i].name, s->metrics[i].value);
}

int show_step(const char *path, struct fault *f)
{
    struct inspect_step s;
    int rc = inspect_step(&s, path, f);

    if (rc)
        return rc;
    show_line("kind", "step file");
    show_line("step", "%" PRId64, s.step);
    show_line("policy version", "%" PRId64 " updates", s.policy_version);
    show_line("closed by", "%s", s.closed_by);
    show_line("candidates", "%" PRId64, s.candidates);
    show_line("completions", "%" PRId64, s.completions);
    show_line("token rows", "%" PRId64, s.tokens);
    show_fates(s.ledger_tokens, s.ledger_seconds);
    show_identity(&s.identity);
    show_metrics(&s);
    inspect_step_free(&s);
    return 0;
}

/* What the parameters are added to, of a run that trains an adapter. */
static void show_adapter(const char *path, const struct inspect_checkpoint *k)
{
    struct fault why = FAULT_INIT;
    struct config c;

    if (!config_parse(&c, path, k->config, NULL, 0, &why) && c.lora.rank)
        show_line("adapter", "rank %" PRId64 ", alpha %g, targets %s, base checksum %s",
                  c.lora.rank, c.lora.alpha, c.lora.targets, k->identity.model + 16);
}

int show_checkpoint(const char *path, struct fault *f)
{
    struct inspect_checkpoint k;
    int rc = inspect_checkpoint(&k, path, f);

    if (rc)
        return rc;
    show_line("kind", "checkpoint");
    show_line("step", "%" PRId64 " done", k.step);
    show_line("policy version", "%" PRId64 " updates", k.updates);
    show_line("prompts consumed", "%" PRId64, k.cursor);
    show_line("parameters", "%" PRId64 " in %d tensors, f32 with two moments",
              k.n_params, k.n_tensors);
    show_adapter(path, &k);
    show_identity(&k.identity);
    rc = show_settings(path, k.config, f);
    for (int i = 0; i < k.n_tensors && !rc; i++) {
        const struct model_tensor *t = &k.tensors[i];

        if (t->vector)
            show_line("tensor", "%-48s %d", t->name, t->cols);
        else
            show_line("tensor", "%-48s %d x %d", t->name, t->rows, t->cols);
    }
    inspect_checkpoint_free(&k);
    return rc;
}

/* -- a run ------------------------------------------------------------------------- */

/* "1-7, 9" of ascending numbers. */
static void show_numbers(const char *name, const int64_t *x, size_t n)
{
    printf("%-22s %zu", name, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && x[j] == x[j - 1] + 1; j++)
            ;
        printf("%s%" PRId64, i ? ", " : ": ", x[i]);
        if (j > i + 1)
            printf("-%" PRId64, x[j - 1]);
    }
    putchar('\n');
}

static int show_job(const char *dir, struct fault *f)
{
    char *path = path_join(dir, "job.ini", f);
    struct bytes text = {0};
    int rc = path ? 0 : f->code;

    if (!rc && access(path, F_OK))
        show_line("settings", "no job.ini");
    else if (!rc && !(rc = file_read(path, MOST_JOB, &text, f)))
        rc = show_settings(path, text.data, f);
    bytes_free(&text);
    free(path);
    return rc;
}

/* All steps' ledgers, and the head and metrics of the last that can be read. */
static int show_steps(const struct inspect_run *r, const char *dir, struct fault *f)
{
    struct inspect_step last = {0};
    int64_t tokens[FATE_COUNT] = {0};
    size_t good = 0;

    for (size_t i = 0; i < r->n_steps; i++) {
        char *path = inspect_step_path(dir, r->steps[i], f);
        struct fault why = FAULT_INIT;
        struct inspect_step s;

        if (!path)
            return f->code;
        if (inspect_step(&s, path, &why)) {
            log_line(LOG_WARN, "%s", why.text);
        } else {
            for (int k = 0; k < FATE_COUNT; k++)
                tokens[k] += s.ledger_tokens[k];
            inspect_step_free(&last);
            last = s;
            good++;
        }
        free(path);
    }
    if (good == 0)
        return 0;
    show_line("last step", "%" PRId64 ", closed by %s, from policy version %" PRId64,
              last.step, last.closed_by, last.policy_version);
    show_fates(tokens, NULL);
    show_identity(&last.identity);
    show_metrics(&last);
    inspect_step_free(&last);
    return 0;
}

int show_run(const char *dir, struct fault *f)
{
    struct inspect_run r;
    int rc = inspect_run(&r, dir, f);

    if (rc)
        return rc;
    show_line("kind", "run directory");
    show_numbers("step files", r.steps, r.n_steps);
    show_numbers("checkpoints", r.checkpoints, r.n_checkpoints);
    if (r.newest >= 0)
        show_line("resumes from", "step %" PRId64, r.newest);
    rc = show_steps(&r, dir, f);
    if (!rc)
        rc = show_job(dir, f);
    inspect_run_free(&r);
    return rc;
}
