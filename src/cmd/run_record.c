/* run_record.c - see run_record.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/run_record.h"
#include "dapo/config.h"

#define MOST_JOB ((size_t)1 << 20)

/* The run's resolved job file as text and struct. */
static int read_job(const char *dir, struct config *out, struct fault *f)
{
    char *path = path_join(dir, "job.ini", f);
    int rc = path ? config_read(out, path, NULL, 0, f) : f->code;

    free(path);
    return rc;
}

static double metric(const struct inspect_step *s, const char *name)
{
    for (size_t i = 0; i < s->n_metrics; i++)
        if (!strcmp(s->metrics[i].name, name))
            return s->metrics[i].value;
    return NAN;
}

static int read_speeds(double *x[3], const struct inspect_run *r, const char *dir,
                       double slots, struct fault *f)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < r->n_steps; i++) {
        char *path = inspect_step_path(dir, r->steps[i], f);
        struct inspect_step s = {0};

        rc = path ? inspect_step(&s, path, f) : f->code;
        free(path);
        if (rc)
            break;
        x[1][i] = metric(&s, "rollout/completion_tokens");
        x[0][i] = x[1][i] / (metric(&s, "rollout/slot_occupancy") * slots);
        x[2][i] = metric(&s, "time/decode_seconds");
        inspect_step_free(&s);
    }
    return rc;
}

int run_speed(struct sim_speed *out, const char *dir, struct fault *f)
{
    struct inspect_run r;
    struct config cfg;
    double *x[3] = {0};
    int rc = inspect_list(&r, dir, f);

    if (rc)
        return rc;
    for (int i = 0; i < 3; i++)
        if (!(x[i] = mem_new(r.n_steps, sizeof *x[i], "steps", f)))
            rc = f->code;
    if (!rc)
        rc = read_job(dir, &cfg, f);
    if (!rc)
        rc = read_speeds(x, &r, dir, (double)cfg.rollout.slots, f);
    if (!rc)
        rc = sim_fit(out, x[0], x[1], x[2], (int)r.n_steps, f);
    for (int i = 0; i < 3; i++)
        free(x[i]);
    inspect_run_free(&r);
    return rc;
}
