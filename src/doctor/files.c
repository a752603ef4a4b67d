/* files.c - checkpoints as store writes them, in the run directory's file system.
 *
 * One is written by all ranks and read back by all; one is given up before its rename,
 * as by a kill, and must not be there; a torn copy must be refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/inject.h"
#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "dapo/store.h"
#include "doctor/report.h"

#define VALUES ((int64_t)4 << 20)      /* of each of the three arrays */
#define FEW_VALUES ((int64_t)16 << 10) /* where the disk is almost full */
#define ENOUGH_ROOM 512e6              /* bytes free for VALUES */

struct trial {
    struct report *r;
    struct store *store;
    char dir[PATH_MAX + 8];
    int64_t n;
    float *x, *back; /* [n] */
    double write_s, read_s;
};

static float value(int64_t i)
{
    return (float)(i % 65521) * 0.25f;
}

static int open_all(struct trial *t, struct fault *f)
{
    struct comm *c = t->r->comm;
    int size = comm_size(c), rc;

    rc = comm_split_all(c, size > 1 ? size - 1 : 1, f); /* learners write */
    if (!rc)
        rc = store_open_all(&t->store, c, t->dir, f);
    if (rc)
        return rc;
    t->x = mem_new((size_t)t->n, sizeof *t->x, "a checkpoint to try", f);
    t->back = mem_new((size_t)t->n, sizeof *t->back, "a checkpoint to try", f);
    rc = comm_agree_all(c, t->x && t->back ? 0 : f->code, f);
    for (int64_t i = 0; !rc && i < t->n; i++)
        t->x[i] = value(i);
    return rc;
}

static int write_all(struct trial *t, int64_t step, struct fault *f)
{
    struct identity id = {.build = "doctor"};
    const struct model_tensor whole = {
        .name = "doctor", .rows = 1, .cols = (int)t->n, .vector = true};
    struct checkpoint k = {
        .step = step,
        .n_params = t->n,
        .params = t->x,
        .moment1 = t->x,
        .moment2 = t->x,
        .previous_updates = -1,
        .n_tensors = 1,
        .tensors = &whole,
        .identity = &id,
        .config = "",
    };

    return store_checkpoint_all(t->store, &k, f);
}

static int read_all(struct trial *t, struct fault *f)
{
    struct comm *c = t->r->comm;
    struct checkpoint k = {0};
    struct identity id;
    int64_t wrong = 0;
    int rc = store_checkpoint_head_all(t->store, 1, &k, &id, f);

    if (rc)
        return rc;
    if (k.n_params != t->n || k.n_state)
        rc = fault_set(f, FAULT_DATA, "another number of values is read than written");
    k.params = t->back;
    if (!rc)
        rc = store_checkpoint_read_all(t->store, 1, &k, f);
    for (int64_t i = 0; !rc && i < t->n; i++)
        wrong += t->back[i] != value(i);
    if (wrong)
        rc = fault_set(f, FAULT_DATA, "%lld values are read that were not written",
                       (long long)wrong);
    return comm_agree_all(c, rc, f);
}

/* Given up just before the rename: nothing carries its name, the first one stays. */
static int give_up_all(struct trial *t, struct fault *f)
{
    struct comm *c = t->r->comm;
    struct fault gone = FAULT_INIT;
    char path[PATH_MAX + 64];
    int64_t latest;
    int rc = inject_arm("rename:0:1", comm_rank(c), f), bad;

    bad = write_all(t, 2, &gone);
    if (!rc)
        rc = inject_arm("", comm_rank(c), f);
    snprintf(path, sizeof path, "%s/checkpoints/step-000002.h5", t->dir);
    if (!rc && bad != FAULT_FILE)
        rc = fault_set(f, FAULT_SYSTEM, "%s: not given up: %.300s", path, gone.text);
    if (!rc && access(path, F_OK) == 0)
        rc = fault_set(f, FAULT_SYSTEM, "%s: is there though it was given up", path);
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = store_latest_all(t->store, &latest, f);
    if (!rc && latest != 1)
        rc = fault_set(f, FAULT_SYSTEM, "%s: the checkpoint before is lost", t->dir);
    return rc;
}

/* Rank 0: half of a file must not pass for one. */
static int refuse_torn(const struct trial *t, struct fault *f)
{
    char whole[PATH_MAX + 64], torn[PATH_MAX + 64];
    struct inspect_checkpoint k;
    struct fault why = FAULT_INIT;
    struct stat st = {0};
    int in, out, rc = 0;

    snprintf(whole, sizeof whole, "%s/checkpoints/step-000001.h5", t->dir);
    snprintf(torn, sizeof torn, "%s/checkpoints/step-000003.h5", t->dir);
    in = open(whole, O_RDONLY | O_CLOEXEC);
    out = open(torn, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (in < 0 || out < 0 || fstat(in, &st) ||
        sendfile(out, in, NULL, (size_t)st.st_size / 2) != st.st_size / 2)
        rc =
            fault_set(f, FAULT_FILE, "%s: can't be copied: %s", whole, strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (!rc) {
        rc = inspect_checkpoint(&k, whole, f);
        inspect_checkpoint_free(&k);
    }
    if (!rc && !inspect_checkpoint(&k, torn, &why)) {
        inspect_checkpoint_free(&k);
        rc = fault_set(f, FAULT_SYSTEM, "%s: half of a file passes for a whole one",
                       torn);
    }
    unlink(torn);
    return rc;
}

static int try_all(struct trial *t, struct fault *f)
{
    double start;
    int rc;

    stage(t->r, "opening a run directory to try");
    rc = open_all(t, f);
    stage(t->r, "writing a checkpoint to try");
    start = clock_now();
    if (!rc)
        rc = write_all(t, 1, f);
    t->write_s = clock_now() - start;
    stage(t->r, "reading a checkpoint back");
    start = clock_now();
    if (!rc)
        rc = read_all(t, f);
    t->read_s = clock_now() - start;
    stage(t->r, "a checkpoint given up");
    if (!rc)
        rc = give_up_all(t, f);
    if (!rc)
        rc = comm_rank(t->r->comm) == 0 ? refuse_torn(t, f) : 0;
    rc = comm_agree_all(t->r->comm, rc, f);
    stage(t->r, NULL);
    return rc;
}

void check_files_all(struct report *r)
{
    struct trial t = {.r = r, .n = VALUES};
    struct fault f = FAULT_INIT;
    struct statvfs disk;
    double few, bytes;
    char size[32];

    if (!*r->scratch)
        return;
    few = comm_rank(r->comm) == 0 && !statvfs(r->scratch, &disk) &&
          (double)disk.f_bavail * (double)disk.f_frsize < ENOUGH_ROOM;
    comm_max_f64_all(r->comm, SCOPE_WORLD, &few, 1);
    if (few > 0)
        t.n = FEW_VALUES;
    snprintf(t.dir, sizeof t.dir, "%s/run", r->scratch);
    if (try_all(&t, &f))
        say_failure(r, (enum fault_code)f.code, "files",
                    "use another file system for run.dir, or another MPI-IO "
                    "(OMPI_MCA_io)",
                    "%s", f.text);
    else {
        bytes = 3 * sizeof(float) * (double)t.n;
        say_ok(r, "files",
               "%s by %d rank%s: %.3g GB/s written, verified and synced, %.3g GB/s "
               "read; given up, it is not there; torn, it is refused",
               size_text(bytes, size), comm_learners(r->comm),
               comm_learners(r->comm) > 1 ? "s" : "", bytes / t.write_s / 1e9,
               bytes / 3 / t.read_s / 1e9);
    }
    store_close_all(t.store);
    free(t.x);
    free(t.back);
}
