/* cmd_prepare.c - dapo prepare IN... --out FILE; the demo's task is in task.c. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/task.h"
#include "dapo/data.h"

static int clean_options(struct prepare *p, struct cmd_env *e, struct fault *f)
{
    int64_t dev = 50;
    int rc = cmd_option(e, "--dev", &p->dev_out, f);

    if (!rc)
        rc = cmd_option(e, "--manifest", &p->manifest, f);
    if (!rc)
        rc = cmd_option(e, "--prefix", &p->prefix, f);
    if (!rc)
        rc = cmd_option(e, "--suffix", &p->suffix, f);
    if (!rc)
        rc = cmd_int(e, "--dev-rows", 1, 1 << 30, &dev, f);
    p->dev = (int)dev;
    return rc ? rc : cmd_rest(e, 1, 1 << 20, f);
}

static int clean(struct cmd_env *e, const char *out, int64_t seed, struct fault *f)
{
    struct prepare p = {.out = out, .seed = (uint64_t)seed};
    struct prepare_counts n;
    int rc = clean_options(&p, e, f);

    if (rc)
        return rc;
    p.inputs = (const char *const *)e->argv;
    p.n_inputs = e->argc;
    rc = prepare_run(&p, &n, f);
#define X(name, meaning) \
    if (!rc)             \
        printf("%-22s %8ld  %s\n", #name, n.name, meaning);
    PREPARE_COUNT_LIST(X)
#undef X
    return rc;
}

int cmd_prepare(struct cmd_env *e, struct fault *f)
{
    const char *task, *out;
    int64_t seed = 42;
    int rc = cmd_option(e, "--task", &task, f);

    if (!rc && task && strcmp(task, "arithmetic"))
        rc = fault_set(f, FAULT_USAGE, "--task %.60s: want arithmetic", task);
    if (!rc)
        rc = cmd_option(e, "--out", &out, f);
    if (!rc)
        rc = cmd_int(e, "--seed", 0, INT64_MAX, &seed, f);
    if (!rc && !out)
        rc = fault_set(f, FAULT_USAGE,
                       "dapo prepare needs --out %s; see dapo help "
                       "prepare",
                       task ? "DIR" : "FILE");
    if (rc)
        return rc;
    return task ? task_make(e, out, (uint64_t)seed, f) : clean(e, out, seed, f);
}
