/* index.c - run.h5: links to the step files and their metrics as tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/log.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define MOST_METRICS 4096

/* One metric over the steps. */
struct series {
    char name[128];
    double *value; /* [n_steps] */
};
struct tables {
    size_t n_steps, n, cap;
    struct series *series;
    size_t now; /* step being read */
    hid_t file; /* its file */
    struct h5 *h;
    struct fault *f;
};

static struct series *find(struct tables *t, const char *name)
{
    struct series *s;

    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->series[i].name, name) == 0)
            return t->series + i;
    if (t->n == MOST_METRICS || strlen(name) >= sizeof s->name) {
        h5_fail(t->h, "has too many metrics, or too long a name");
        return NULL;
    }
    if (mem_grow((void **)&t->series, &t->cap, t->n + 1, sizeof *s, "an index", t->f))
        return NULL;
    s = t->series + t->n;
    s->value = mem_new(t->n_steps, sizeof *s->value, "an index", t->f);
    if (!s->value)
        return NULL;
    snprintf(s->name, sizeof s->name, "%s", name);
    for (size_t i = 0; i < t->n_steps; i++)
        s->value[i] = NAN;
    t->n++;
    return s;
}

/* H5Lvisit calls this for each link below /metrics. */
static herr_t read_metric(hid_t group, const char *name, const H5L_info_t *link,
                          void *p)
{
    struct tables *t = p;
    struct h5 *h = t->h;
    struct series *s;
    int mark = h->n;
    hid_t object, space;

    if (link->type != H5L_TYPE_HARD)
        return 0;
    object = h5_keep(h, H5Oopen(group, name, H5P_DEFAULT));
    if (!h->bad && H5Iget_type(object) == H5I_DATASET) {
        space = h5_keep(h, H5Dget_space(object));
        s = H5Sget_simple_extent_type(space) == H5S_SCALAR ? find(t, name) : NULL;
        if (s)
            h5_check(h, H5Dread(object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                H5P_DEFAULT, s->value + t->now));
    }
    h5_drop(h, mark);
    return h->bad || t->f->code ? -1 : 0;
}

/* A step file's metrics into column t->now; why not in *why.  Memory faults in t->f. */
static int read_step(struct tables *t, const char *path, int64_t step,
                     struct fault *why)
{
    struct h5 h;
    struct identity id;
    hid_t metrics;
    int rc = h5_open_file(&h, &t->file, path, why);

    if (rc)
        return rc;
    t->h = &h;
    read_identity(&h, t->file, "step", &id);
    if (!h.bad && h5_get_i64(&h, t->file, "step") != step)
        h5_fail(&h, "is the file of another step");
    metrics = h.bad ? -1 : h5_keep(&h, H5Gopen2(t->file, "/metrics", H5P_DEFAULT));
    if (!h.bad)
        h5_check(&h, H5Lvisit(metrics, H5_INDEX_NAME, H5_ITER_INC, read_metric, t));
    t->h = NULL;
    return h5_end(&h, path, why);
}

static void write_tables(struct h5 *h, hid_t file, const struct tables *t,
                         const int64_t *steps)
{
    hsize_t n = t->n_steps;
    hid_t column = h5_column(h, file, "/step", H5T_NATIVE_INT64, n);

    h5_write(h, column, H5T_NATIVE_INT64, 0, n, steps);
    h5_group(h, file, "/metrics");
    for (size_t i = 0; i < t->n; i++) {
        int mark = h->n;
        char name[sizeof t->series->name + 16];

        snprintf(name, sizeof name, "/metrics/%s", t->series[i].name);
        h5_groups_to(h, file, name);
        column = h5_column(h, file, name, H5T_NATIVE_DOUBLE, n);
        h5_write(h, column, H5T_NATIVE_DOUBLE, 0, n, t->series[i].value);
        h5_drop(h, mark);
    }
    h5_group(h, file, "/steps");
    for (size_t i = 0; i < t->n_steps; i++) {
        char link[32], target[64];

        snprintf(link, sizeof link, "/steps/%06lld", (long long)steps[i]);
        snprintf(target, sizeof target, "rollouts/step-%06lld.h5", (long long)steps[i]);
        h5_check(h,
                 H5Lcreate_external(target, "/", file, link, H5P_DEFAULT, H5P_DEFAULT));
    }
}

/* The index as the bytes of a file.  HDF5 makes it in memory: out of a file on a disk
 * that is full it can't get in an orderly way, and crashes when MPI ends. */
static int make_index(const char *path, const struct tables *t, const int64_t *steps,
                      struct bytes *out, struct fault *f)
{
    struct h5 h = H5_INIT;
    struct fault later = FAULT_INIT;
    hid_t access = h5_access(&h), props = h5_file_props(&h), file;
    ssize_t size;
    int rc = 0, closing;

    h5_check(&h, H5Pset_fapl_core(access, (size_t)1 << 20, false));
    /* A head with a checksum has a wrong one in an image (HDF5 1.10.8); the first
     * format has none. */
    h5_check(&h, H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110));
    file = h5_keep(&h, H5Fcreate(path, H5F_ACC_TRUNC, props, access));
    h5_set_i64(&h, file, "schema", STORE_SCHEMA);
    write_tables(&h, file, t, steps);
    h5_check(&h, H5Fflush(file, H5F_SCOPE_LOCAL));
    size = H5Fget_file_image(file, NULL, 0);
    if (size > 0)
        rc = mem_grow((void **)&out->data, &out->cap, (size_t)size, 1, "an index", f);
    if (!rc)
        size = H5Fget_file_image(file, out->data, out->cap);
    if (size > 0)
        out->len = (size_t)size;
    h5_check(&h, size > 0 ? 0 : -1);
    closing = h5_end(&h, path, rc ? &later : f);
    return rc ? rc : closing;
}

static int write_index(const struct store *s, const struct tables *t,
                       const int64_t *steps, struct fault *f)
{
    char *path = path_join(s->dir, "run.h5", f);
    struct bytes image = {0};
    int rc = path ? make_index(path, t, steps, &image, f) : f->code;

    if (!rc)
        rc = file_publish(path, image.data, image.len, f);
    bytes_free(&image);
    free(path);
    return rc;
}

/* Rank 0's work. */
static int index_steps(const struct store *s, struct fault *f)
{
    struct fault memory = FAULT_INIT;
    struct tables t = {.f = &memory};
    int64_t *steps;
    int rc = step_list(s->rollouts, &steps, &t.n_steps, f);
    size_t good = 0;

    for (size_t i = 0; !rc && i < t.n_steps; i++) {
        struct fault why = FAULT_INIT;
        char *path = step_path(s->rollouts, steps[i], f);

        t.now = good;
        for (size_t k = 0; k < t.n; k++)
            t.series[k].value[good] = NAN;
        if (!path)
            rc = f->code;
        else if (!read_step(&t, path, steps[i], &why))
            steps[good++] = steps[i];
        else if (memory.code) {
            *f = memory;
            rc = f->code;
        } else
            log0_line(LOG_WARN, "%s: left out of the index", why.text);
        free(path);
    }
    t.n_steps = good; /* what a refused step left behind it is not written */
    if (!rc)
        rc = write_index(s, &t, steps, f);
    for (size_t i = 0; i < t.n; i++)
        free(t.series[i].value);
    free(t.series);
    free(steps);
    return rc;
}

int store_index_all(struct store *s, struct fault *f)
{
    int rc = comm_rank(s->comm) == 0 ? index_steps(s, f) : 0;

    return comm_agree_all(s->comm, rc, f);
}
