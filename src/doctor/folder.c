/* folder.c - the run directory's file system: seen by all, room, locks, syncing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/mem.h"
#include "doctor/report.h"

#define SLOW_SYNC 0.5 /* s */
#define SYNCS 5

static const char name_of_ours[] = ".dapo-doctor-XXXXXX";

/* The nearest folder above or at `dir` that is there; "." in the end. False: `out` is
 * in its way, and no folder. */
static bool nearest(const char *dir, char *out, size_t n)
{
    struct stat st;
    int len = (int)strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    snprintf(out, n, "%.*s", len ? len : 1, len ? dir : ".");
    while (stat(out, &st)) {
        char *slash;

        for (slash = strrchr(out, '/'); slash > out && slash[-1] == '/';)
            slash--;
        if (!slash)
            snprintf(out, n, ".");
        else
            slash[slash == out] = '\0'; /* the root is above all */
        if (!strcmp(out, ".") || !strcmp(out, "/"))
            return true;
    }
    return S_ISDIR(st.st_mode);
}

/* Rank 0's part: make the folder. */
static int make_scratch(struct report *r)
{
    char at[PATH_MAX - sizeof name_of_ours];

    if (!nearest(r->job->dir, at, sizeof at)) {
        say_failure(r, FAULT_FILE, "run folder", "set run.dir or run.name to another",
                    "%s is not a folder", at);
        return -1;
    }
    snprintf(r->scratch, sizeof r->scratch, "%s/%s", at, name_of_ours);
    if (mkdtemp(r->scratch))
        return 0;
    say_failure(r, FAULT_FILE, "run folder",
                "set run.dir to a folder that can be written to",
                "%s: can't make a folder in it: %s", at, strerror(errno));
    *r->scratch = '\0';
    return -1;
}

struct seen {
    int rank;
    char host[64];
};

void open_scratch_all(struct report *r)
{
    struct seen x = {.rank = comm_rank(r->comm)};
    bool there;

    snprintf(x.host, sizeof x.host, "%.63s", comm_host(r->comm));
    stage(r, "a folder made beside the run's");
    if (x.rank == 0)
        make_scratch(r);
    comm_bcast_all(r->comm, SCOPE_WORLD, r->scratch, sizeof r->scratch);
    stage(r, NULL);
    if (!*r->scratch)
        return;
    there = r->local_rank > 0 || access(r->scratch, F_OK) == 0;
    for (int i = 0; !there && i < 4; i++) { /* a network file system may be late */
        clock_sleep(0.25 * (i + 1));
        there = access(r->scratch, F_OK) == 0;
    }
    if (worst_all(r->comm, !there, &x, sizeof x) > 0) {
        say_failure(r, FAULT_FILE, "run folder",
                    "set run.dir to a file system that all nodes share",
                    "%s does not see what rank 0 makes in %.*s", x.host,
                    (int)(strrchr(r->scratch, '/') - r->scratch), r->scratch);
        close_scratch_all(r);
    }
}

static void empty(const char *dir)
{
    DIR *d = opendir(dir);

    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        unlinkat(dirfd(d), e->d_name, 0); /* a folder stays, and the removal fails */
    }
    if (d)
        closedir(d);
}

void close_scratch_all(struct report *r)
{
    static const char *const folders[] = {"run/rollouts", "run/checkpoints", "run", ""};
    char path[PATH_MAX + 32];

    if (!*r->scratch)
        return;
    comm_barrier_all(r->comm);
    for (size_t i = 0; comm_rank(r->comm) == 0 && i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", r->scratch, folders[i]);
        empty(path);
        rmdir(path);
    }
    *r->scratch = '\0';
}

/* -- locks ------------------------------------------------------------------------- */

enum lock { LOCK_HELD, LOCK_GOT, LOCK_NONE, LOCK_UNKNOWN };

/* Try to lock a file that rank 0 holds. */
static enum lock try_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC), bad;

    if (fd < 0)
        return LOCK_UNKNOWN;
    bad = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
    close(fd);
    return !bad ? LOCK_GOT : bad == EWOULDBLOCK ? LOCK_HELD : LOCK_NONE;
}

/* The same from another process on this node. */
static enum lock try_lock_beside(char *path)
{
    char *argv[] = {"flock", "-n", "-E", "9", path, "echo", "got", NULL};
    char *there[] = {"flock", "--version", NULL}, text[128];

    if (site_ask(argv, text, sizeof text))
        return LOCK_GOT;
    return site_ask(there, text, sizeof text) ? LOCK_HELD : LOCK_UNKNOWN;
}

void check_locks_all(struct report *r)
{
    static const char remedy[] = "never start two jobs in one run directory, or mount "
                                 "it with locks (Lustre: -o flock)";
    char path[PATH_MAX + 8];
    int fd = -1, me = comm_rank(r->comm);
    double here = 0, got = LOCK_UNKNOWN;

    if (!*r->scratch)
        return;
    snprintf(path, sizeof path, "%s/lock", r->scratch);
    stage(r, "a lock in the run folder");
    if (me == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        here = fd < 0 ? errno : flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
    }
    comm_max_f64_all(r->comm, SCOPE_WORLD, &here, 1);
    if (here == 0 && me == r->peer && r->how != DOCTOR_START)
        got = r->peer ? try_lock(path) : try_lock_beside(path);
    got = -got; /* LOCK_UNKNOWN of the others loses */
    comm_max_f64_all(r->comm, SCOPE_WORLD, &got, 1);
    got = -got;
    if (fd >= 0)
        close(fd);
    stage(r, NULL);
    if (here > 0)
        say_warning(r, "locks", remedy, "the run folder's file system has none: %s",
                    strerror((int)here));
    else if (got == LOCK_GOT || got == LOCK_NONE)
        say_warning(r, "locks", remedy, "another process%s does not meet rank 0's lock",
                    r->nodes > 1 ? " on another node" : "");
    else if (got == LOCK_UNKNOWN)
        say_ok(r, "locks", "granted; no other process was there to try");
    else
        say_ok(r, "locks", "another process%s is kept out",
               r->nodes > 1 ? " on another node" : "");
}

/* -- room -------------------------------------------------------------------------- */

static void check_files_left(struct report *r, const struct statvfs *disk)
{
    if (disk->f_files == 0 || (double)disk->f_favail >= r->job->run_files)
        return; /* 0: the file system counts none */
    say_warning(r, "space", "delete files, or ask for more inodes",
                "%.0f files can still be made, the run makes up to %.0f",
                (double)disk->f_favail, r->job->run_files);
}

void check_space(struct report *r)
{
    static const char remedy[] =
        "free some, choose another run.dir, lower run.keep (dapo plan)";
    const struct doctor_job *j = r->job;
    char room[32], need[32];
    struct statvfs disk;
    double left;

    if (comm_rank(r->comm) != 0 || !*r->scratch)
        return;
    if (statvfs(r->scratch, &disk)) {
        say_warning(r, "space", remedy, "can't be asked for: %s", strerror(errno));
        return;
    }
    left = (double)disk.f_bavail * (double)disk.f_frsize;
    size_text(left, room);
    if (left < j->checkpoint_bytes)
        say_failure(r, FAULT_FILE, "space", remedy,
                    "%s left for the run, and a checkpoint needs %s", room,
                    size_text(j->checkpoint_bytes, need));
    else if (left < j->checkpoint_bytes + j->step_bytes)
        say_warning(r, "space", remedy,
                    "%s left for the run; a checkpoint and a step file need up to %s",
                    room, size_text(j->checkpoint_bytes + j->step_bytes, need));
    else if (r->how != DOCTOR_START && left < j->run_bytes)
        say_warning(r, "space", remedy, "%s left; the whole run needs up to %s", room,
                    size_text(j->run_bytes, need));
    else if (j->given)
        say_ok(r, "space", "%s left; the whole run needs up to %s", room,
               size_text(j->run_bytes, need));
    else
        say_ok(r, "space", "%s left", room);
    check_files_left(r, &disk);
}

/* -- syncing ----------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void check_sync(struct report *r)
{
    char path[PATH_MAX + 8], block[4096] = {1};
    double took[SYNCS] = {0};
    int fd, bad = 0;

    if (comm_rank(r->comm) != 0 || !*r->scratch)
        return;
    stage(r, "fsync in the run folder");
    snprintf(path, sizeof path, "%s/sync", r->scratch);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        bad = errno;
    for (int i = 0; !bad && i < SYNCS; i++) {
        double start = clock_now();

        if (write(fd, block, sizeof block) != (ssize_t)sizeof block || fsync(fd))
            bad = errno;
        took[i] = clock_now() - start;
    }
    if (fd >= 0)
        close(fd);
    stage(r, NULL);
    if (bad) {
        say_failure(r, FAULT_FILE, "fsync", "free some room, or use another run.dir",
                    "a small file can't be written: %s", strerror(bad));
        return;
    }
    qsort(took, SYNCS, sizeof *took, ascending);
    if (took[SYNCS / 2] > SLOW_SYNC)
        say_warning(r, "fsync", "raise run.save_every, or use another file system",
                    "%.2f s for 4 KiB: each step waits for some of these",
                    took[SYNCS / 2]);
    else
        say_ok(r, "fsync", "%.1f ms for 4 KiB", 1000 * took[SYNCS / 2]);
}
