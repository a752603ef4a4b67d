/* store.c - opening a run directory, and which of its checkpoints is the newest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/comm_mpi.h"
#include "dapo/inject.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define WINDOW ((size_t)1 << 20) /* bytes packed at a time: they stay in the cache */
#define PIECE ((int64_t)1 << 20) /* values under one checksum: 4 MiB */
#define SIGNATURE 128            /* bytes of DIR/lock at most */
#define CALL ((size_t)1 << 30)   /* bytes in one call: MPI counts are int */

/* Remove what a killed run left half written. */
static void sweep(const char *folder)
{
    DIR *d = opendir(folder);

    for (struct dirent *e; d && (e = readdir(d));)
        if (is_tmp(e->d_name) && unlinkat(dirfd(d), e->d_name, 0) == 0)
            log0_line(LOG_INFO, "removed %s/%s, left by a killed run", folder,
                      e->d_name);
    if (d)
        closedir(d);
}

/* Who holds the lock, for whoever does not get it; only of use, so it may fail. */
static void sign_lock(const struct store *s)
{
    const char *job = getenv("SLURM_JOB_ID");
    char text[SIGNATURE];
    int n = snprintf(text, sizeof text, "%s%.20s%sprocess %d on %.64s\n",
                     job ? "Slurm job " : "", job ? job : "", job ? ", " : "",
                     (int)getpid(), comm_host(s->comm));

    if (!ftruncate(s->lock, 0) && pwrite(s->lock, text, (size_t)n, 0) < n)
        log_line(LOG_DEBUG, "%s/lock: can't be signed: %s", s->dir, strerror(errno));
}

static int refuse_lock(const struct store *s, const char *path, struct fault *f)
{
    char text[SIGNATURE] = "";
    ssize_t n = pread(s->lock, text, sizeof text - 1, 0);

    text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
    return fault_set(
        f, FAULT_FILE,
        "%s: another job is writing into this run%s%s%s; wait until it has "
        "ended, or choose another run.name",
        path, *text ? " (" : "", text, *text ? ")" : "");
}

/* Two jobs in one directory would sweep away and replace each other's files.  A file
 * system without locks lets both in. */
static int lock_run(struct store *s, struct fault *f)
{
    char *path = path_join(s->dir, "lock", f);
    int rc = path ? 0 : f->code;

    if (!rc) {
        s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (s->lock < 0)
            rc = fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                           strerror(errno));
        else if (flock(s->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
            rc = refuse_lock(s, path, f);
        else
            sign_lock(s);
    }
    free(path);
    return rc;
}

static int make_folders(struct store *s, struct fault *f)
{
    char *index = path_join(s->dir, "run.h5" TMP_SUFFIX, f);
    int rc = index ? 0 : f->code;

    if (!rc)
        rc = dir_make(s->rollouts, f);
    if (!rc)
        rc = dir_make(s->checkpoints, f);
    if (!rc)
        rc = lock_run(s, f);
    if (!rc) {
        sweep(s->rollouts);
        sweep(s->checkpoints);
        unlink(index);
    }
    free(index);
    return rc;
}

/* -- which checkpoint is the newest --------------------------------------------------
 *
 * Each carries a serial number, one above that of any before it, so that one written
 * after going back to an earlier step is newer than those it went back from.
 */
static int newest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return (x->serial < y->serial) - (x->serial > y->serial);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What was found of a file that has not changed since. */
static const struct found *known(const struct store *s, int64_t step,
                                 const struct stat *now)
{
    for (size_t i = 0; i < s->n_found; i++)
        if (s->found[i].step == step && same_file(&s->found[i].stat, now))
            return s->found + i;
    return NULL;
}

/* Look at the checkpoint of a step: 0, or why it is none. */
static int look_at(const struct store *s, int64_t step, bool anew, struct found *out,
                   struct fault *f)
{
    char *path = step_path(s->checkpoints, step, f);
    const struct found *before = NULL;
    struct head head;
    int rc = 0;

    *out = (struct found){.step = step};
    if (!path)
        return f->code;
    if (!stat(path, &out->stat) && !anew)
        before = known(s, step, &out->stat);
    if (!before && !(rc = head_read(&head, path, NULL, f)))
        rc = named_for(path, head.step, f);
    if (!rc)
        out->serial = before ? before->serial : head.serial;
    free(path);
    return rc;
}

/* Find the checkpoints that open: s->found.  `anew`: read the heads of all, and name
 * those that don't open; else only of those that have changed since the last look. */
static int find_checkpoints(struct store *s, bool anew, struct fault *f)
{
    struct found *found;
    int64_t *steps;
    size_t n_steps, n = 0;
    int rc = step_list(s->checkpoints, &steps, &n_steps, f);

    found = rc ? NULL : mem_new(n_steps, sizeof *found, "a list of checkpoints", f);
    if (!rc && !found)
        rc = f->code;
    for (size_t i = 0; !rc && i < n_steps; i++) {
        struct fault why = FAULT_INIT;

        if (!look_at(s, steps[i], anew, found + n, &why))
            n++;
        else if (why.code == FAULT_SYSTEM) { /* says nothing about the file */
            *f = why;
            rc = f->code;
        } else if (anew)
            log0_line(LOG_WARN, "%s: not usable as a checkpoint", why.text);
    }
    free(steps);
    if (rc) {
        free(found);
        return rc;
    }
    if (n)
        qsort(found, n, sizeof *found, newest_first);
    free(s->found);
    s->found = found;
    s->n_found = n;
    return 0;
}

/* The step that checkpoints/latest names; -1 if there is no such file or name. */
static int64_t read_latest(const struct store *s)
{
    struct fault why = FAULT_INIT;
    char *path = path_join(s->checkpoints, "latest", &why);
    bool there = false;
    int64_t step = path ? latest_names(path, &there) : -1;

    if (there && step < 0)
        log0_line(LOG_WARN, "%s: doesn't name a checkpoint", path);
    free(path);
    return step;
}

int store_latest_all(struct store *s, int64_t *step, struct fault *f)
{
    int rc = 0;

    *step = -1;
    if (comm_rank(s->comm) == 0) {
        int64_t named = read_latest(s);
        bool there = named < 0;

        rc = find_checkpoints(s, true, f);
        for (size_t i = 0; !rc && i < s->n_found; i++)
            there = there || s->found[i].step == named;
        if (!rc && s->n_found)
            *step = s->found[0].step;
        if (!rc && !there)
            log0_line(LOG_WARN,
                      "%s/latest names step %" PRId64 ", which isn't there; taking %s",
                      s->checkpoints, named,
                      s->n_found ? "the newest that opens" : "none");
    }
    if ((rc = comm_agree_all(s->comm, rc, f)))
        return rc;
    comm_bcast_all(s->comm, SCOPE_WORLD, step, sizeof *step);
    return 0;
}

static int delete_checkpoint(const struct store *s, int64_t step, struct fault *f)
{
    char *path = step_path(s->checkpoints, step, f);
    int rc;

    if (!path)
        return f->code;
    rc = inject_pass(INJECT_DELETE, f);
    if (!rc && unlink(path))
        rc =
            fault_set(f, FAULT_FILE, "%s: can't be deleted: %s", path, strerror(errno));
    free(path);
    return rc;
}

int store_retain_all(struct store *s, int keep, int64_t every, struct fault *f)
{
    bool root = comm_rank(s->comm) == 0 && keep > 0;
    int rc = root ? find_checkpoints(s, false, f) : 0;

    for (size_t i = (size_t)keep; root && !rc && i < s->n_found; i++)
        if (!every || s->found[i].step % every)
            rc = delete_checkpoint(s, s->found[i].step, f);
    return comm_agree_all(s->comm, rc, f);
}

/* Rank 0's work. */
static int discard(struct store *s, struct fault *f)
{
    static const char *const rest[] = {"checkpoints/latest", "words",    "lock",
                                       "checkpoints",        "rollouts", ""};
    int rc = find_checkpoints(s, false, f);

    for (size_t i = 0; !rc && i < s->n_found; i++)
        rc = delete_checkpoint(s, s->found[i].step, f);
    /* A folder that isn't empty stays, with whatever somebody has put there. */
    for (size_t i = 0; !rc && i < sizeof rest / sizeof rest[0]; i++) {
        char *path = path_join(s->dir, rest[i], f);

        rc = path ? 0 : f->code;
        if (path && remove(path))
            log_line(LOG_DEBUG, "%s: stays: %s", path, strerror(errno));
        free(path);
    }
    return rc;
}

int store_discard_all(struct store *s, struct fault *f)
{
    return comm_agree_all(s->comm, comm_rank(s->comm) == 0 ? discard(s, f) : 0, f);
}

/* Rank 0's work: rollouts/step-N.h5 to rollouts/abandoned/ for every N > step, beside
 * what a branch left before has put there. */
static int set_aside(const struct store *s, int64_t step, struct fault *f)
{
    char *folder = path_join(s->rollouts, "abandoned", f);
    int64_t *steps = NULL;
    size_t n = 0, first;
    int rc = folder ? step_list(s->rollouts, &steps, &n, f) : f->code;

    for (first = 0; first < n && steps[first] <= step;)
        first++;
    if (!rc && first < n)
        rc = dir_make(folder, f);
    for (size_t i = first; !rc && i < n; i++) {
        char *from = step_path(s->rollouts, steps[i], f);
        char *to = from ? free_path(folder, strrchr(from, '/') + 1, f) : NULL;

        if (!from || !to)
            rc = f->code;
        else if (rename(from, to))
            rc = fault_set(f, FAULT_FILE, "%s: can't be moved to %s: %s", from, folder,
                           strerror(errno));
        free(from);
        free(to);
    }
    if (!rc && first < n)
        log0_line(LOG_INFO, "steps %" PRId64 "-%" PRId64 " of before moved to %s",
                  steps[first], steps[n - 1], folder);
    free(steps);
    free(folder);
    return rc;
}

int store_set_aside_all(struct store *s, int64_t step, struct fault *f)
{
    return comm_agree_all(s->comm, comm_rank(s->comm) == 0 ? set_aside(s, step, f) : 0,
                          f);
}

/* -- opening -------------------------------------------------------------------------
 */
static int new_store(struct store **out, struct comm *c, const char *dir,
                     struct fault *f)
{
    struct store *s = mem_new(1, sizeof *s, "the store", f);

    *out = s;
    if (!s)
        return f->code;
    *s = (struct store){.comm = c, .window = WINDOW, .piece = PIECE, .call = CALL};
    s->reserve = s->read_back = true;
    s->lock = -1;
    s->dir = path_join(dir, "", f);
    s->rollouts = path_join(dir, "rollouts", f);
    s->checkpoints = path_join(dir, "checkpoints", f);
    s->scratch = mem_new(WINDOW, 1, "the store's scratch", f);
    return s->dir && s->rollouts && s->checkpoints && s->scratch ? 0 : f->code;
}

static bool first_of_node_all(const struct comm *c)
{
    MPI_Comm node = comm_node_all(c);
    int rank;

    MUST(MPI_Comm_rank(node, &rank));
    MUST(MPI_Comm_free(&node));
    return rank == 0;
}

static int open_all(struct store **out, struct comm *c, const char *dir, bool own,
                    struct fault *f)
{
    struct store *s;
    bool first = first_of_node_all(c);
    int rc = new_store(&s, c, dir, f);

    if (s)
        s->syncs = first;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* main() reports, once */
    if (!rc && own && comm_rank(c) == 0) {
        rc = make_folders(s, f);
        if (!rc)
            rc = find_checkpoints(s, false, f);
        if (!rc && s->n_found)
            s->serial = s->found[0].serial;
    }
    if (!rc && !own && access(s->checkpoints, F_OK))
        rc = fault_set(f, FAULT_FILE, "%s: is not a run directory: %s", dir,
                       strerror(errno));
    rc = comm_agree_all(c, rc, f);
    if (rc) {
        store_close_all(s);
        s = NULL;
    }
    *out = s;
    return rc;
}

int store_open_all(struct store **out, struct comm *c, const char *dir, struct fault *f)
{
    return open_all(out, c, dir, true, f);
}

int store_view_all(struct store **out, struct comm *c, const char *dir, struct fault *f)
{
    return open_all(out, c, dir, false, f);
}

void store_close_all(struct store *s)
{
    if (!s)
        return;
    if (s->lock >= 0)
        close(s->lock);
    free(s->dir);
    free(s->rollouts);
    free(s->checkpoints);
    free(s->scratch);
    free(s->found);
    free(s);
}
