/* verify_run.c - a run directory as a whole: what is there, whole, and resumable. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapo/config.h"
#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define MOST_JOB ((size_t)1 << 20)
#define AGAIN 3 /* looks at checkpoints that go while they are looked at */

struct check {
    const char *dir;
    struct inspect_findings *out;
    void (*progress)(size_t done, size_t all, const char *file);
    size_t done, all;
    bool moving; /* a file of the list had gone when its turn came */
    struct fault *f;
};

/* One more finding about a file; an empty text says that it is whole. */
static int find(struct check *c, enum inspect_level level, const char *file,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
static int find(struct check *c, enum inspect_level level, const char *file,
                const char *format, ...)
{
    struct inspect_findings *x = c->out;
    struct inspect_finding *item;
    va_list ap;

    if (mem_grow((void **)&x->item, &x->cap, x->n + 1, sizeof *x->item,
                 "what was found", c->f))
        return c->f->code;
    item = &x->item[x->n++];
    item->level = level;
    snprintf(item->file, sizeof item->file, "%s", file);
    va_start(ap, format);
    vsnprintf(item->text, sizeof item->text, format, ap);
    va_end(ap);
    text_tame(item->text);
    return 0;
}

/* The sentence behind "PATH: ". */
static const char *without_path(const char *text, const char *path)
{
    size_t n = strlen(path);

    return !strncmp(text, path, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

static bool gone(const char *path)
{
    struct stat st;

    return lstat(path, &st) && errno == ENOENT;
}

/* One HDF5 file through its check; *whole.  Not the file's fault: a fault. */
static int check_file(struct check *c, const char *file,
                      int (*check)(const char *, struct fault *), bool *whole)
{
    char *path = path_join(c->dir, file, c->f);
    struct fault why = FAULT_INIT;
    int rc = path ? 0 : c->f->code;

    if (c->progress)
        c->progress(c->done++, c->all, file);
    if (!rc) {
        int bad = check(path, &why);

        *whole = !bad;
        if (bad == FAULT_SYSTEM) {
            *c->f = why;
            rc = bad;
        } else if (bad && gone(path)) {
            c->moving = true;
            rc = find(c, INSPECT_WARNING, file,
                      "has gone meanwhile: a job is at work here");
        } else if (bad) {
            rc = find(c, INSPECT_DAMAGED, file, "%s", without_path(why.text, path));
        } else {
            rc = find(c, INSPECT_OK, file, "%s", "");
        }
    }
    free(path);
    return rc;
}

static int check_steps(struct check *c, const struct inspect_run *r)
{
    int64_t expected = 1;
    int rc = 0;

    for (size_t i = 0; i < r->n_steps && !rc; i++) {
        char file[64];
        bool whole;

        if (r->steps[i] > expected)
            rc = find(c, INSPECT_WARNING, "rollouts",
                      "steps %" PRId64 " to %" PRId64 " have no file", expected,
                      r->steps[i] - 1);
        snprintf(file, sizeof file, "rollouts/step-%06" PRId64 ".h5", r->steps[i]);
        if (!rc)
            rc = check_file(c, file, inspect_check_step, &whole);
        expected = r->steps[i] + 1;
    }
    return rc;
}

/* The newest whole checkpoint into c->out->resumes. */
static int check_checkpoints(struct check *c, const struct inspect_run *r)
{
    int64_t serial = -1;
    int rc = 0;

    for (size_t i = 0; i < r->n_checkpoints && !rc; i++) {
        struct fault why = FAULT_INIT;
        struct head head;
        bool whole = false;
        char file[64], *path;

        snprintf(file, sizeof file, "checkpoints/step-%06" PRId64 ".h5",
                 r->checkpoints[i]);
        if ((rc = check_file(c, file, inspect_check_checkpoint, &whole)) || !whole)
            continue;
        path = path_join(c->dir, file, c->f);
        if (!path)
            return c->f->code;
        if (!head_read(&head, path, NULL, &why) && head.serial > serial) {
            serial = head.serial;
            c->out->resumes = r->checkpoints[i];
        }
        free(path);
    }
    return rc;
}

/* Again, if all that were there have been replaced before their turn. */
static int check_newest(struct check *c, const struct inspect_run *r)
{
    int rc = check_checkpoints(c, r);

    for (int i = 0; i < AGAIN && !rc && c->moving && c->out->resumes < 0; i++) {
        struct inspect_run now;

        c->moving = false;
        if ((rc = inspect_list(&now, c->dir, c->f)))
            return rc;
        c->all += now.n_checkpoints;
        rc = check_checkpoints(c, &now);
        inspect_run_free(&now);
    }
    return rc;
}

/* checkpoints/latest is for people and scripts: it should name what resuming takes. */
static int check_latest(struct check *c, const struct inspect_run *r)
{
    static const char file[] = "checkpoints/latest";
    char *path = path_join(c->dir, file, c->f);
    bool there;
    int64_t named = path ? latest_names(path, &there) : -1;
    int rc = path ? 0 : c->f->code;

    if (!rc && named == c->out->resumes && named >= 0)
        rc = find(c, INSPECT_OK, file, "%s", "");
    else if (!rc && named >= 0)
        rc =
            find(c, INSPECT_WARNING, file,
                 "names step-%06" PRId64 ".h5, not the newest whole checkpoint", named);
    else if (!rc && r->n_checkpoints)
        rc = find(c, INSPECT_WARNING, file,
                  "names none, not the newest whole checkpoint");
    free(path);
    return rc;
}

/* The steps that the index lists are those that have files. */
static int same_steps(const char *path, const struct inspect_run *r, bool *same,
                      struct fault *f)
{
    struct fault memory = FAULT_INIT;
    struct h5 h;
    hid_t file;
    int64_t *listed;
    int rc = h5_open_file(&h, &file, path, f);

    if (rc)
        return rc;
    listed = h5_read_i64(&h, file, "/step", (int64_t)r->n_steps, &memory);
    *same = listed &&
            (!r->n_steps || !memcmp(listed, r->steps, r->n_steps * sizeof *listed));
    free(listed);
    rc = h5_end(&h, path, f);
    if (memory.code)
        *f = memory;
    return memory.code ? memory.code : rc;
}

static int check_index(struct check *c, const struct inspect_run *r)
{
    static const char file[] = "run.h5";
    struct fault why = FAULT_INIT;
    char *path = path_join(c->dir, file, c->f);
    bool same = false;
    int rc = path ? 0 : c->f->code, bad = 0;

    if (!rc && access(path, F_OK))
        rc =
            find(c, INSPECT_WARNING, file,
                 "is not there yet; a run writes it when it ends, dapo repair at once");
    else if (!rc) {
        bad = same_steps(path, r, &same, &why);
        if (bad == FAULT_SYSTEM) {
            *c->f = why;
            rc = bad;
        } else if (same) {
            rc = find(c, INSPECT_OK, file, "%s", "");
        } else {
            rc =
                find(c, INSPECT_WARNING, file,
                     "doesn't list the step files that are there; dapo repair rebuilds "
                     "it");
        }
    }
    free(path);
    return rc;
}

static int check_job(struct check *c)
{
    static const char file[] = "job.ini";
    struct fault why = FAULT_INIT;
    struct config job;
    struct bytes text = {0};
    char *path = path_join(c->dir, file, c->f);
    int rc = path ? 0 : c->f->code;

    if (!rc && (file_read(path, MOST_JOB, &text, &why) ||
                config_parse(&job, path, text.data, NULL, 0, &why)))
        rc = find(c, INSPECT_WARNING, file, "%s", without_path(why.text, path));
    else if (!rc)
        rc = find(c, INSPECT_OK, file, "%s", "");
    bytes_free(&text);
    free(path);
    return rc;
}

/* Temporary files: a job is writing, or was killed while it did. */
static int check_leftovers(struct check *c, const char *folder)
{
    char *path = path_join(c->dir, folder, c->f);
    DIR *d = path ? opendir(path) : NULL;
    int rc = path ? 0 : c->f->code;

    for (struct dirent *e; d && !rc && (e = readdir(d));) {
        char file[64];

        if (!is_tmp(e->d_name))
            continue;
        snprintf(file, sizeof file, "%s/%.40s", folder, e->d_name);
        rc = find(c, INSPECT_WARNING, file,
                  "is being written, or was when a job was killed; the next start "
                  "removes it");
    }
    if (d)
        closedir(d);
    free(path);
    return rc;
}

int inspect_check_run(struct inspect_findings *out, const char *dir,
                      void (*progress)(size_t done, size_t all, const char *file),
                      struct fault *f)
{
    struct check c = {.dir = dir, .out = out, .progress = progress, .f = f};
    struct inspect_run r;
    int rc = inspect_list(&r, dir, f);

    *out = (struct inspect_findings){.resumes = -1};
    if (rc)
        return rc;
    c.all = r.n_steps + r.n_checkpoints;
    if (!(rc = check_job(&c)) && !(rc = check_steps(&c, &r)) &&
        !(rc = check_newest(&c, &r)) && !(rc = check_latest(&c, &r)) &&
        !(rc = check_index(&c, &r)) && !(rc = check_leftovers(&c, "rollouts")))
        rc = check_leftovers(&c, "checkpoints");
    inspect_run_free(&r);
    if (rc)
        inspect_findings_free(out);
    return rc;
}

void inspect_findings_free(struct inspect_findings *x)
{
    free(x->item);
    *x = (struct inspect_findings){.resumes = -1};
}
