/* inspect.c - see inspect.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/inspect.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define MOST_METRICS 4096

int inspect_kind(enum inspect_kind *out, const char *path, struct fault *f)
{
    struct h5 h;
    hid_t file;
    char kind[16] = "";
    int rc = h5_open_file(&h, &file, path, f);

    if (rc)
        return rc;
    *out = INSPECT_INDEX;
    if (!h.bad && H5Aexists(file, "kind") > 0) {
        h5_get_text(&h, file, "kind", kind, sizeof kind);
        *out = strcmp(kind, "step") ? INSPECT_CHECKPOINT : INSPECT_STEP;
        if (strcmp(kind, "step") && strcmp(kind, "checkpoint"))
            h5_fail(&h, "is neither a step file nor a checkpoint");
    } else if (!h.bad && (H5Aexists(file, "schema") <= 0 ||
                          H5Lexists(file, "steps", H5P_DEFAULT) <= 0))
        h5_fail(&h, "is an HDF5 file of another program");
    return h5_end(&h, path, f);
}

/* -- a run ------------------------------------------------------------------------- */

static char *file_of(const char *dir, const char *folder, int64_t step, struct fault *f)
{
    char *in = path_join(dir, folder, f);
    char *path = in ? step_path(in, step, f) : NULL;

    free(in);
    return path;
}

char *inspect_step_path(const char *dir, int64_t step, struct fault *f)
{
    return file_of(dir, "rollouts", step, f);
}

char *inspect_checkpoint_path(const char *dir, int64_t step, struct fault *f)
{
    return file_of(dir, "checkpoints", step, f);
}

/* A resumed run may write an earlier step again: the serial number tells. */
static int find_newest(struct inspect_run *r, const char *dir, struct fault *f)
{
    int64_t serial = -1;

    r->newest = -1;
    for (size_t i = 0; i < r->n_checkpoints; i++) {
        char *path = inspect_checkpoint_path(dir, r->checkpoints[i], f);
        struct fault why = FAULT_INIT;
        struct head head;

        if (!path)
            return f->code;
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        if (head_read(&head, path, NULL, &why))
            log_line(LOG_WARN, "%s", why.text);
        else if (head.serial > serial) {
            serial = head.serial;
            r->newest = r->checkpoints[i];
        }
        free(path);
    }
    return 0;
}

int inspect_list(struct inspect_run *out, const char *dir, struct fault *f)
{
    char *rollouts = path_join(dir, "rollouts", f);
    char *checkpoints = path_join(dir, "checkpoints", f);
    int rc = rollouts && checkpoints ? 0 : f->code;

    *out = (struct inspect_run){.newest = -1};
    if (!rc)
        rc = step_list(rollouts, &out->steps, &out->n_steps, f);
    if (!rc)
        rc = step_list(checkpoints, &out->checkpoints, &out->n_checkpoints, f);
    free(rollouts);
    free(checkpoints);
    if (rc)
        inspect_run_free(out);
    return rc;
}

int inspect_run(struct inspect_run *out, const char *dir, struct fault *f)
{
    int rc = inspect_list(out, dir, f);

    if (!rc && (rc = find_newest(out, dir, f)))
        inspect_run_free(out);
    return rc;
}

void inspect_run_free(struct inspect_run *r)
{
    free(r->steps);
    free(r->checkpoints);
    *r = (struct inspect_run){.newest = -1};
}

/* -- a step file ------------------------------------------------------------------- */

struct visit {
    struct inspect_step *s;
    size_t cap;
    struct h5 *h;
    struct fault *f;
};

/* H5Lvisit calls this for each link below /metrics. */
static herr_t take_metric(hid_t group, const char *name, const H5L_info_t *link,
                          void *context)
{
    struct visit *v = context;
    struct inspect_step *s = v->s;
    struct h5 *h = v->h;
    int mark = h->n;
    hid_t object, space;

    if (link->type != H5L_TYPE_HARD)
        return 0;
    object = h5_keep(h, H5Oopen(group, name, H5P_DEFAULT));
    if (!h->bad && H5Iget_type(object) == H5I_DATASET) {
        space = h5_keep(h, H5Dget_space(object));
        if (s->n_metrics == MOST_METRICS || strlen(name) >= sizeof s->metrics->name ||
            H5Sget_simple_extent_type(space) != H5S_SCALAR)
            h5_fail(h, "a metric is no number, its name is too long, or there are too "
                       "many");
        else if (!mem_grow((void **)&s->metrics, &v->cap, s->n_metrics + 1,
                           sizeof *s->metrics, "the metrics", v->f)) {
            struct metric *m = &s->metrics[s->n_metrics++];

            memcpy(m->name, name, strlen(name) + 1);
            h5_check(h, H5Dread(object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                H5P_DEFAULT, &m->value));
        }
    }
    h5_drop(h, mark);
    return h->bad || v->f->code ? -1 : 0;
}

static void read_ledger(struct h5 *h, hid_t file, const char *name, hid_t type,
                        void *out)
{
    int mark = h->n;
    hid_t column = h->bad ? -1 : h5_keep(h, H5Dopen2(file, name, H5P_DEFAULT));
    hid_t space = h->bad ? -1 : h5_keep(h, H5Dget_space(column));

    if (!h->bad && (H5Sget_simple_extent_ndims(space) != 1 ||
                    H5Sget_simple_extent_npoints(space) != FATE_COUNT))
        h5_fail(h, "the ledger has other fates than this build knows");
    if (!h->bad)
        h5_check(h, H5Dread(column, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out));
    h5_drop(h, mark);
}

int inspect_step(struct inspect_step *out, const char *path, struct fault *f)
{
    struct visit v = {.s = out, .f = f};
    struct h5 h;
    hid_t file, metrics;
    int rc = h5_open_file(&h, &file, path, f);

    *out = (struct inspect_step){0};
    if (rc)
        return rc;
    v.h = &h;
    read_identity(&h, file, "step", &out->identity);
    out->step = h5_get_i64(&h, file, "step");
    out->policy_version = h5_get_i64(&h, file, "policy_version");
    h5_get_text(&h, file, "closed_by", out->closed_by, sizeof out->closed_by);
    read_ledger(&h, file, "/ledger/tokens", H5T_NATIVE_INT64, out->ledger_tokens);
    read_ledger(&h, file, "/ledger/seconds", H5T_NATIVE_DOUBLE, out->ledger_seconds);
    out->candidates = h5_items(&h, file, "/candidates/index", H5T_NATIVE_INT64);
    out->completions = h5_items(&h, file, "/completions/candidate", H5T_NATIVE_INT64);
    out->tokens = h5_items(&h, file, "/tokens/ids", H5T_NATIVE_INT32);
    metrics = h.bad ? -1 : h5_keep(&h, H5Gopen2(file, "/metrics", H5P_DEFAULT));
    if (!h.bad)
        h5_check(&h, H5Lvisit(metrics, H5_INDEX_NAME, H5_ITER_INC, take_metric, &v));
    rc = f->code;
    if (h5_end(&h, path, f))
        rc = rc == FAULT_SYSTEM ? rc : f->code;
    if (rc)
        inspect_step_free(out);
    return rc;
}

void inspect_step_free(struct inspect_step *s)
{
    free(s->metrics);
    *s = (struct inspect_step){0};
}

double inspect_metric(const struct inspect_step *s, const char *name)
{
    for (size_t i = 0; i < s->n_metrics; i++)
        if (!strcmp(s->metrics[i].name, name))
            return s->metrics[i].value;
    return NAN;
}

/* -- a checkpoint ------------------------------------------------------------------ */

struct tensor_columns {
    char (*name)[sizeof((struct model_tensor *)0)->name];
    int64_t *rows, *cols, *vector, *first;
};

static void *read_column(struct h5 *h, hid_t file, const char *name, hid_t type,
                         size_t width, int64_t want, struct fault *f)
{
    int mark = h->n;
    hsize_t n;
    hid_t column = h5_open_column(h, file, name, type, &n);
    void *data = NULL;

    if (!h->bad && (int64_t)n != want)
        h5_fail(h, "a column of its head has an impossible length");
    if (!h->bad)
        data = mem_new((size_t)n + 1, width, "a checkpoint's head", f);
    if (data)
        h5_read(h, column, type, 0, n, data);
    h5_drop(h, mark);
    return data;
}

/* Tensors must lie one after another and cover the array: readers index by them. */
static void fill_tensors(struct inspect_checkpoint *k, const struct tensor_columns *c,
                         struct h5 *h)
{
    int64_t next = 0;

    for (int i = 0; i < k->n_tensors && !h->bad; i++) {
        struct model_tensor *t = &k->tensors[i];

        if (c->rows[i] < 1 || c->cols[i] < 1 || c->rows[i] > INT32_MAX ||
            c->cols[i] > INT32_MAX || c->first[i] != next ||
            c->rows[i] > (k->n_params - next) / c->cols[i] ||
            !memchr(c->name[i], '\0', sizeof c->name[i]))
            h5_fail(h, "its tensor table doesn't fit its parameters");
        memcpy(t->name, c->name[i], sizeof t->name);
        t->name[sizeof t->name - 1] = '\0';
        t->rows = (int)c->rows[i];
        t->cols = (int)c->cols[i];
        t->vector = c->vector[i] != 0;
        t->first = (size_t)c->first[i];
        next += h->bad ? 0 : c->rows[i] * c->cols[i];
    }
    if (!h->bad && next != k->n_params)
        h5_fail(h, "its tensor table doesn't fit its parameters");
}

static int read_tensors(struct inspect_checkpoint *k, const char *path, struct fault *f)
{
    struct tensor_columns c = {0};
    struct h5 h;
    hid_t file;
    int rc = h5_open_file(&h, &file, path, f);
    const int64_t n = k->n_tensors;
    const hid_t i64 = H5T_NATIVE_INT64;

    if (rc)
        return rc;
    k->tensors = mem_new((size_t)n, sizeof *k->tensors, "the tensors", f);
    c.name = read_column(&h, file, "/tensors/name", h5_text_type(&h, sizeof c.name[0]),
                         sizeof c.name[0], n, f);
    c.rows = read_column(&h, file, "/tensors/rows", i64, 8, n, f);
    c.cols = read_column(&h, file, "/tensors/cols", i64, 8, n, f);
    c.vector = read_column(&h, file, "/tensors/vector", i64, 8, n, f);
    c.first = read_column(&h, file, "/tensors/first", i64, 8, n, f);
    rc = f->code;
    if (!rc && !h.bad)
        fill_tensors(k, &c, &h);
    if (h5_end(&h, path, rc ? &(struct fault){0} : f) && !rc)
        rc = f->code;
    free(c.name);
    free(c.rows);
    free(c.cols);
    free(c.vector);
    free(c.first);
    return rc;
}

int inspect_checkpoint(struct inspect_checkpoint *out, const char *path,
                       struct fault *f)
{
    struct head_data data = {0};
    struct head head;
    int rc;

    *out = (struct inspect_checkpoint){0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if ((rc = head_read(&head, path, &data, f)))
        return rc;
    *out = (struct inspect_checkpoint){
        .step = head.step,
        .updates = head.updates,
        .cursor = head.cursor,
        .n_params = head.n_params,
        .n_state = head.n_state,
        .n_tensors = (int)head.n_tensors,
        .identity = head.id,
        .config = data.config,
    };
    data.config = NULL;
    head_data_free(&data);
    rc = read_tensors(out, path, f);
    if (rc)
        inspect_checkpoint_free(out);
    return rc;
}

void inspect_checkpoint_free(struct inspect_checkpoint *k)
{
    free(k->config);
    free(k->tensors);
    *k = (struct inspect_checkpoint){0};
}

static void read_pieces(struct h5 *h, hid_t file, const struct head *head, float *x,
                        uint64_t *sums)
{
    hsize_t n, n_sums;
    hid_t column = h5_open_column(h, file, head_big[0], H5T_NATIVE_FLOAT, &n);
    hid_t checks = h5_open_column(h, file, head_sums[0], H5T_NATIVE_UINT64, &n_sums);

    if (!h->bad &&
        ((int64_t)n != head->n_params || (int64_t)n_sums != head_pieces(head)))
        h5_fail(h, "its arrays disagree in length");
    h5_read(h, checks, H5T_NATIVE_UINT64, 0, n_sums, sums);
    if (!h->bad && head_read_pieces(h, column, head, 0, head->n_params, sums, x, true) <
                       head->n_params)
        h5_fail(h, "its weights are damaged (checksum); take an earlier checkpoint");
}

int inspect_params(const char *path, float *params, int64_t n_params, struct fault *f)
{
    uint64_t *sums = NULL;
    struct head head;
    struct h5 h;
    hid_t file;
    int rc;

    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if ((rc = head_read(&head, path, NULL, f)))
        return rc;
    if (head.n_params != n_params)
        return fault_set(f, FAULT_DATA,
                         "%s: holds %" PRId64 " parameters, the model has %" PRId64,
                         path, head.n_params, n_params);
    sums = mem_new((size_t)head_pieces(&head), sizeof *sums, "checksums", f);
    rc = sums ? h5_open_file(&h, &file, path, f) : f->code;
    if (!rc) {
        read_pieces(&h, file, &head, params, sums);
        rc = h5_end(&h, path, f);
    }
    free(sums);
    return rc;
}
