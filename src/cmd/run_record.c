/* run_record.c - see run_record.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/run_record.h"
#include "dapo/log.h"

#define MOST_JOB ((size_t)1 << 20)

/* -- metrics ----------------------------------------------------------------------- */

void run_metrics_free(struct run_metrics *m)
{
#define X(field, metric) free(m->field);
    RUN_METRIC_LIST(X)
#undef X
    free(m->step);
    free(m->ledger);
    *m = (struct run_metrics){0};
}

static int allocate(struct run_metrics *m, size_t n, struct fault *f)
{
#define X(field, metric)                                        \
    if (!(m->field = mem_new(n, sizeof *m->field, "steps", f))) \
        return FAULT_SYSTEM;
    RUN_METRIC_LIST(X)
#undef X
    m->step = mem_new(n, sizeof *m->step, "steps", f);
    m->ledger = mem_new(n, sizeof *m->ledger, "steps", f);
    return m->step && m->ledger ? 0 : FAULT_SYSTEM;
}

static int read_metrics(struct run_metrics *m, const char *dir, int64_t step,
                        struct fault *f)
{
    char *path = inspect_step_path(dir, step, f);
    struct inspect_step s = {0};
    int rc = path ? inspect_step(&s, path, f) : f->code, i = m->n;

    free(path);
    if (rc)
        return rc;
    m->step[i] = step;
#define X(field, name) m->field[i] = inspect_metric(&s, name);
    RUN_METRIC_LIST(X)
#undef X
    memcpy(m->ledger[i], s.ledger_tokens, sizeof m->ledger[i]);
    m->exhausted = !strcmp(s.closed_by, closed_text(CLOSED_DATA_EXHAUSTED));
    m->replicas = (int)fmin(fmax(inspect_metric(&s, "job/replicas"), 1), 1 << 20);
    m->n++;
    inspect_step_free(&s);
    return 0;
}

int run_metrics_read(struct run_metrics *out, const char *dir, int64_t first,
                     int64_t last, struct fault *f)
{
    struct inspect_run r;
    int rc = inspect_list(&r, dir, f);

    *out = (struct run_metrics){0};
    if (rc)
        return rc;
    rc = allocate(out, r.n_steps, f);
    for (size_t i = 0; !rc && i < r.n_steps; i++) {
        log_progress("read", (long)i, (long)r.n_steps, "step files");
        if (r.steps[i] >= first && r.steps[i] <= last)
            rc = read_metrics(out, dir, r.steps[i], f);
    }
    log_progress_end();
    inspect_run_free(&r);
    if (!rc && out->n == 0)
        rc = fault_set(f, FAULT_DATA,
                       "%s: has no step files in steps %" PRId64 " to %" PRId64, dir,
                       first, last);
    if (rc)
        run_metrics_free(out);
    return rc;
}

int run_speed(struct sim_speed *out, const char *dir, struct fault *f)
{
    struct run_metrics m;
    int rc = run_metrics_read(&m, dir, 0, INT64_MAX, f);

    if (rc)
        return rc;
    rc = sim_fit(out, m.iterations, m.tokens, m.decode, m.n, f);
    run_metrics_free(&m);
    return rc;
}

/* -- candidates -------------------------------------------------------------------- */

struct room {
    size_t groups, members, batch;
};

static int take_members(struct run_record *r, struct room *room,
                        const struct inspect_rows *x, struct fault *f)
{
    size_t n = (size_t)(x->candidates * x->size), at = (size_t)r->r.n_members;

    if (mem_grow((void **)&r->r.members, &room->members, at + n, sizeof *r->r.members,
                 "a run's completions", f))
        return f->code;
    for (size_t k = 0; k < n; k++) {
        if (x->length[k] > INT32_MAX)
            return fault_set(f, FAULT_DATA, "a completion has an impossible length");
        r->r.members[at + k] = (struct sim_record_member){
            (int)x->length[k], finish_complete((enum finish)x->finish[k]),
            x->correct[k] == 1};
    }
    r->r.n_members += (int64_t)n;
    return 0;
}

/* A step's candidates; `cursor` before it. */
static int take_rows(struct run_record *r, struct room *room, int i, int64_t cursor,
                     const struct inspect_rows *x, struct fault *f)
{
    size_t at = (size_t)r->r.n_groups, n = (size_t)x->candidates;
    size_t trained = (size_t)r->batch_first[i];

    if (mem_grow((void **)&r->r.groups, &room->groups, at + n, sizeof *r->r.groups,
                 "a run's candidates", f) ||
        mem_grow((void **)&r->batch, &room->batch, trained + n, sizeof *r->batch,
                 "a run's batches", f))
        return f->code;
    for (size_t c = 0; c < n; c++) {
        if (x->index[c] != (int64_t)c)
            return fault_set(f, FAULT_DATA, "a candidate is missing");
        r->r.groups[at + c] = (struct sim_record_group){
            x->prompt[c], r->r.n_members + (int64_t)c * x->size};
        if (x->fate[c] == FATE_TRAINED)
            r->batch[trained++] = cursor + (int64_t)c;
    }
    r->batch_first[i + 1] = (int64_t)trained;
    r->r.steps[i] = (struct sim_record_step){cursor, (int64_t)r->m.cursor[i] - cursor,
                                             (int64_t)at, (int64_t)n};
    r->r.n_groups += (int64_t)n;
    return take_members(r, room, x, f);
}

/* The cursor before the first step that is read: where it began if that is the run's
 * first step, else behind the step before it. */
static int first_cursor(const struct run_record *r, const char *dir, int64_t *cursor,
                        struct fault *f)
{
    struct run_metrics before;
    int rc;

    *cursor = 0;
    if (r->m.step[0] <= 1)
        return 0;
    rc = run_metrics_read(&before, dir, r->m.step[0] - 1, r->m.step[0] - 1, f);
    if (!rc && !(before.cursor[0] >= 0 && before.cursor[0] < 0x1p52)) {
        run_metrics_free(&before);
        rc = FAULT_DATA;
    }
    if (rc)
        return fault_set(f, FAULT_DATA,
                         "%s: step %" PRId64
                         " can't be replayed without the file of the "
                         "step before it, which says where its prompts begin",
                         dir, r->m.step[0]);
    *cursor = (int64_t)before.cursor[0];
    run_metrics_free(&before);
    return 0;
}

/* What the step cost, as the file bills it. */
static void add_cost(struct run_record *r, int i)
{
    struct sim_step o = {.groups = (int)(r->batch_first[i + 1] - r->batch_first[i]),
                         .started = r->r.steps[i].n,
                         .seconds = r->m.generate[i],
                         .iterations = (int64_t)fmax(r->m.most_iterations[i], 0),
                         .decoded = (int64_t)fmax(r->m.tokens[i], 0),
                         .rounds = -1};

    memcpy(o.tokens, r->m.ledger[i], sizeof o.tokens);
    sim_add(&r->t, &o, (int)r->cfg.admission.groups);
}

static int read_step(struct run_record *r, struct room *room, int i, const char *path,
                     int64_t *cursor, struct fault *f)
{
    struct inspect_rows x;
    struct fault why = FAULT_INIT;
    int rc;

    if (!(r->m.cursor[i] >= (double)*cursor && r->m.cursor[i] < 0x1p52))
        return fault_set(f, FAULT_DATA, "%s: its cursor lies before the last step's",
                         path);
    if ((rc = inspect_rows(&x, path, f)))
        return rc;
    if (x.candidates && x.size != r->r.size)
        rc = fault_set(f, FAULT_DATA, "%s: groups of %" PRId64 ", job.ini says %d",
                       path, x.size, r->r.size);
    else if (take_rows(r, room, i, *cursor, &x, &why))
        rc = fault_set(f, (enum fault_code)why.code, "%s: %s", path, why.text);
    inspect_rows_free(&x);
    if (rc)
        return rc;
    add_cost(r, i);
    *cursor = (int64_t)r->m.cursor[i];
    return 0;
}

static int read_steps(struct run_record *r, const char *dir, struct fault *f)
{
    struct room room = {0};
    size_t n = (size_t)r->m.n;
    int64_t cursor = 0;
    int rc = first_cursor(r, dir, &cursor, f);

    if (rc)
        return rc;
    r->r.steps = mem_new(n, sizeof *r->r.steps, "steps", f);
    r->batch_first = mem_new(n + 1, sizeof *r->batch_first, "steps", f);
    if (!r->r.steps || !r->batch_first)
        return f->code;
    r->r.n_steps = r->m.n;
    for (int i = 0; !rc && i < r->m.n; i++) {
        char *path = inspect_step_path(dir, r->m.step[i], f);

        log_progress("read", i, r->m.n, "steps' candidates");
        rc = path ? 0 : f->code;
        if (!rc && i > 0 && r->m.step[i] != r->m.step[i - 1] + 1)
            rc = fault_set(f, FAULT_DATA,
                           "%s: the file of step %" PRId64 " is missing; choose steps "
                           "around it with --first and --last",
                           dir, r->m.step[i - 1] + 1);
        if (!rc)
            rc = read_step(r, &room, i, path, &cursor, f);
        free(path);
    }
    log_progress_end();
    return rc;
}

int run_record_read(struct run_record *out, const char *dir, int64_t first,
                    int64_t last, struct fault *f)
{
    char *path = path_join(dir, "job.ini", f);
    int rc = path ? 0 : f->code;

    *out = (struct run_record){0};
    if (!rc)
        rc = file_read(path, MOST_JOB, &out->job, f);
    if (!rc)
        rc = config_parse(&out->cfg, path, out->job.data ? out->job.data : "", NULL, 0,
                          f);
    free(path);
    if (!rc)
        rc = run_metrics_read(&out->m, dir, first, last, f);
    out->r.size = (int)out->cfg.admission.group_size;
    out->r.max_tokens = (int)out->cfg.rollout.max_tokens;
    if (!rc)
        rc = read_steps(out, dir, f);
    if (rc)
        run_record_free(out);
    return rc;
}

void run_record_free(struct run_record *r)
{
    bytes_free(&r->job);
    run_metrics_free(&r->m);
    free(r->r.steps);
    free(r->r.groups);
    free(r->r.members);
    free(r->batch);
    free(r->batch_first);
    *r = (struct run_record){0};
}
