/* bench_store.c - writing a checkpoint and a step file, beside plain parallel pwrite +
 * fsync of as many bytes by the same ranks; reading a checkpoint.
 *
 *     [mpirun -n N] bench_store [DIR] [MIB]
 *
 * DIR is the folder to write in (default: build; a file system in memory says nothing),
 * MIB the size of the checkpoint (default 96; memory per learner; 1024 says how it is
 * in earnest).  Data are random bits (disks store repeated blocks faster) and all are
 * measured in turn (disks throttle, neighbours disturb).  A line is
 *     name seconds seconds_of_pwrite ratio
 * with medians, ratio = plain / ours: 1 is as fast as plain writing, 0.8 the goal.
 * Files are read from the disk: the system is told to forget what it holds of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/comm.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/random.h"
#include "dapo/store.h"
#include "store/rundir.h"

#define ROUNDS 5
#define GROUPS 128 /* by 16 completions of 2000 to 3000 tokens: 41 MB */
#define SIZE 16

struct bench {
    struct comm *comm;
    struct store *store;
    const char *dir;
    int writers;  /* ranks that write */
    size_t bytes; /* of the file of ours */
    struct checkpoint k;
    struct step_record step;
};

static void die(struct bench *b, const char *why)
{
    fprintf(stderr, "bench_store: %s\n", why);
    comm_abort(b->comm, FAULT_SYSTEM);
}

static uint32_t bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) | 1u << 23; /* any but denormal: they are as fast */
}

static void *noise(struct bench *b, int64_t n, uint64_t seed)
{
    uint32_t *x = malloc((size_t)n * sizeof *x);

    if (!x)
        die(b, "no memory");
    for (int64_t i = 0; i < n; i++)
        x[i] = bits(&seed);
    return x;
}

/* Every writer writes its share of `bytes`, 4 MiB at a time, and syncs. */
static int plain_all(struct bench *b, struct fault *f)
{
    const char *data = (const char *)b->k.params;
    size_t share = b->bytes / (size_t)b->writers, n = 4u << 20;
    size_t room = (size_t)b->k.n_params * sizeof(float) - 2 * n;
    char path[600];
    int fd;

    (void)f;
    if (comm_rank(b->comm) >= b->writers)
        return 0;
    snprintf(path, sizeof path, "%s/plain.bin", b->dir);
    fd = open(path, O_CREAT | O_WRONLY, 0666);
    for (size_t done = 0; done < share; done += n) {
        /* The second time round from another place: no block repeats. */
        const char *from = data + done % room + done / room * 52;

        n = share - done < n ? share - done : n;
        if (pwrite(fd, from, n, (off_t)(share * (size_t)comm_rank(b->comm) + done)) !=
            (ssize_t)n)
            die(b, strerror(errno));
    }
    if (fsync(fd) || close(fd))
        die(b, strerror(errno));
    return 0;
}

static int checkpoint_all(struct bench *b, struct fault *f)
{
    b->store->read_back = true;
    return store_checkpoint_all(b->store, &b->k, f);
}

static int unread_all(struct bench *b, struct fault *f)
{
    b->store->read_back = false;
    return store_checkpoint_all(b->store, &b->k, f);
}

static int restore_all(struct bench *b, struct fault *f)
{
    return store_checkpoint_read_all(b->store, 1, &b->k, f);
}

static int step_all(struct bench *b, struct fault *f)
{
    return store_step_all(b->store, &b->step, f);
}

struct trial {
    const char *name;
    int (*work_all)(struct bench *b, struct fault *f);
    double seconds[ROUNDS];
};

/* What the system holds of a file is forgotten, so that reading it is reading. */
static void forget(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd >= 0) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
}

static double run_all(struct bench *b, const struct trial *t)
{
    struct fault f = FAULT_INIT;
    double start;

    comm_barrier_all(b->comm);
    start = clock_now();
    if (t->work_all(b, &f))
        die(b, f.text);
    comm_barrier_all(b->comm);
    return clock_now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, ROUNDS, sizeof *x, by_value);
    return x[ROUNDS / 2];
}

/* The trials in turn; the first is plain_all, the others leave or need `file`. */
static void measure_all(struct bench *b, const char *file, struct trial *t, int n)
{
    char path[600], raw[600];
    struct stat st = {0};
    double base;

    snprintf(path, sizeof path, "%s/%s", b->dir, file);
    snprintf(raw, sizeof raw, "%s/plain.bin", b->dir);
    run_all(b, &t[1]); /* finds the size and warms up */
    if (stat(path, &st))
        die(b, strerror(errno));
    b->bytes = (size_t)st.st_size;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < n; i++) {
            comm_barrier_all(b->comm);
            if (comm_rank(b->comm) == 0 && t[i].work_all != restore_all)
                unlink(path); /* replacing a file costs its removal */
            forget(path);
            t[i].seconds[r] = run_all(b, &t[i]);
            if (comm_rank(b->comm) == 0)
                unlink(raw);
        }
    base = median(t[0].seconds);
    if (comm_rank(b->comm) == 0)
        unlink(path);
    for (int i = 1; i < n && comm_rank(b->comm) == 0; i++) {
        double s = median(t[i].seconds);

        printf("%-17s %8.4f s %8.4f s ratio %.2f (%.1f MB, %d ranks, %d write, %.0f "
               "MB/s)\n",
               t[i].name, s, base, base / s, (double)b->bytes / 1e6, comm_size(b->comm),
               b->writers, (double)b->bytes / 1e6 / s);
    }
}

static void make_groups(struct bench *b, struct group **groups)
{
    struct fault f = FAULT_INIT;
    uint64_t seed = 9;
    int n = 0;

    for (int64_t i = 0; i < GROUPS; i++) {
        struct group *g = group_new(i, i, NULL, 0, SIZE, &f);
        bool mine = i % comm_size(b->comm) == comm_rank(b->comm);

        if (!g)
            die(b, f.text);
        for (int m = 0; m < SIZE; m++) {
            int tokens = 2000 + (int)(bits(&seed) % 1000);

            b->step.ledger_tokens[FATE_TRAINED] += tokens;
            for (int t = 0; mine && t < tokens; t++)
                if (completion_add(g->members + m, (int)bits(&seed) >> 14,
                                   (float)bits(&seed), &f))
                    die(b, f.text);
            /* Every rank draws the same lengths. */
            seed = (uint64_t)(i * SIZE + m) * 0x9e3779b97f4a7c15u;
            g->members[m].answer = mine ? strdup("\\frac{1}{3}") : NULL;
        }
        g->fate = FATE_TRAINED;
        if (mine)
            groups[n++] = g;
        else
            group_free(g);
    }
    b->step.n_groups = n;
    b->step.groups = (const struct group *const *)groups;
}

static void clean(const char *dir)
{
    static const char *const left[] = {"checkpoints/latest", "checkpoints", "rollouts",
                                       ""};
    char path[600];

    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, left[i]);
        remove(path);
    }
}

static void make_metrics(struct metric *m, int n)
{
    for (int i = 0; i < n; i++) {
        snprintf(m[i].name, sizeof m[i].name, "rollout/metric_%03d", i);
        m[i].value = i / 3.0;
    }
}

static void bench_all(struct bench *b)
{
    struct trial checkpoint[] = {{"plain", plain_all, {0}},
                                 {"store_checkpoint", checkpoint_all, {0}},
                                 {"  restored", restore_all, {0}},
                                 {"  not read back", unread_all, {0}}};
    struct trial step[] = {{"plain", plain_all, {0}}, {"store_step", step_all, {0}}};

    b->writers = comm_learners(b->comm);
    measure_all(b, "checkpoints/step-000001.h5", checkpoint, 4);
    b->writers = comm_size(b->comm);
    measure_all(b, "rollouts/step-000001.h5", step, 2);
}

int main(int argc, char **argv)
{
    static struct group *groups[GROUPS];
    static struct metric metrics[80];
    struct bench b = {0};
    struct fault f = FAULT_INIT;
    int64_t n, mib;
    char dir[500];

    comm_open_all(&b.comm, &argc, &argv);
    snprintf(dir, sizeof dir, "%s/bench_store.run", argc > 1 ? argv[1] : "build");
    b.dir = dir;
    mib = argc > 2 ? strtoll(argv[2], NULL, 10) : 96;
    if (mib < 48 || mib > 100000)
        die(&b, "want DIR and MIB, 48 to 100000");
    n = (mib << 20) / 3 / (int64_t)sizeof(float);
    if (comm_split_all(b.comm, comm_size(b.comm) > 1 ? comm_size(b.comm) - 1 : 1, &f) ||
        store_open_all(&b.store, b.comm, dir, &f))
        die(&b, f.text);
    b.k = (struct checkpoint){
        .step = 1, .n_params = n, .previous_updates = -1, .config = ""};
    b.k.params = noise(&b, n, 1 + (uint64_t)comm_rank(b.comm));
    if (comm_learns(b.comm)) {
        b.k.moment1 = noise(&b, n, 2);
        b.k.moment2 = noise(&b, n, 3);
    }
    make_groups(&b, groups);
    make_metrics(metrics, 80);
    b.step.step = 1;
    b.step.n_metrics = 80;
    b.step.metrics = metrics;
    bench_all(&b);
    if (comm_rank(b.comm) == 0)
        clean(dir);
    store_close_all(b.store);
    comm_close_all(b.comm);
    return 0;
}
