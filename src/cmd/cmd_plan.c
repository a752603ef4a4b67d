/* cmd_plan.c - dapo plan JOB.ini: what the job will need. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "dapo/mem.h"
#include "dapo/train.h"

#define GIB 1073741824.0

static void show_bytes(const char *name, double n, const char *what)
{
    char text[32];

    show_line(name, "%-12s %s", size_text(n, text), what);
}

static void show_batch(const struct plan *p)
{
    double longest = (double)p->max_completion;

    show_line("batch",
              "%" PRId64 " groups, %" PRId64 " completions, %" PRId64 " update%s",
              p->groups, p->completions, p->updates, p->updates == 1 ? "" : "s");
    show_line("candidates", "%s%" PRId64 ", %" PRId64 " completions",
              p->unbounded ? "no bound (admission.strict); below for "
                             "groups * max_multiplier = "
                           : "at most ",
              p->max_candidates, p->candidate_completions);
    show_line("sequence",
              "at most %" PRId64 " tokens of prompt, %" PRId64 " of completion",
              p->max_prompt, p->max_completion);
    show_line("tokens trained", "at most %.0f a step",
              (double)p->completions * longest);
    show_line("tokens generated", "at most %.0f a step",
              (double)p->candidate_completions * longest);
}

static void show_plan(const struct config *c, int64_t ranks, const struct plan *p)
{
    show_line("model", "%s", c->model.path);
    show_line("parameters", "%.0f", p->params);
    if (p->adapted > 0)
        show_line("trained", "%.0f, an adapter of rank %" PRId64 " on %.0f", p->trained,
                  c->lora.rank, p->adapted);
    if (ranks == 1)
        show_line("ranks", "1, learning and generating in turn");
    else
        show_line("ranks", "%" PRId64 " learning, %" PRId64 " generating", p->learners,
                  p->replicas);
    show_batch(p);
    show_bytes("learner rank", p->learner_bytes,
               "masters, packed weights, gradient, moments, activations, batch");
    show_bytes("  activations", p->activation_bytes, "of a microbatch");
    show_bytes("rollout rank", p->rollout_bytes,
               "masters, packed weights, cache, a step's tokens");
    show_bytes("  KV cache", p->kv_bytes, "and states of linear attention");
    show_bytes("step file", p->step_file_bytes, "at most, each step");
    show_bytes("checkpoint", p->checkpoint_bytes, "");
    show_bytes("run on disk", p->run_bytes,
               "at most, all steps and the checkpoints kept");
}

/* Plan for another folder's config.json. */
static int take_model(struct config *c, const char *dir, struct fault *f)
{
    if (strlen(dir) >= sizeof c->model.path)
        return fault_set(f, FAULT_USAGE, "--config: the path is too long");
    if (access(dir, F_OK))
        return fault_set(f, FAULT_FILE, "--config %s: can't be opened: %s", dir,
                         strerror(errno));
    snprintf(c->model.path, sizeof c->model.path, "%s", dir);
    return 0;
}

int cmd_plan(struct cmd_env *e, struct fault *f)
{
    int64_t ranks = e->cfg.ranks.learners + 1;
    const char *dir = NULL;
    double memory = 0;
    struct plan p;
    int rc = cmd_real(e, "--memory", 0, 1e9, &memory, f);

    if (!rc)
        rc = cmd_int(e, "--ranks", 1, 1 << 24, &ranks, f);
    if (!rc)
        rc = cmd_option(e, "--config", &dir, f);
    if (!rc)
        rc = cmd_rest(e, 0, 0, f);
    if (!rc && dir)
        rc = take_model(&e->cfg, dir, f);
    if (!rc)
        rc = train_plan(&e->cfg, ranks, memory * GIB, &p, f);
    if (!rc)
        show_plan(&e->cfg, ranks, &p);
    return rc;
}
