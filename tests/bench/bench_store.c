/* bench_store.c - writing a checkpoint and a step file, beside plain parallel pwrite +
 * fsync of as many bytes by the same ranks.  Run under mpirun; the folder to write in
 * is the first argument (default: the current one; a file system in memory says
 * nothing).
 *
 * Data are random bits (disks store repeated blocks faster) and the two are measured in
 * turn (disks throttle, neighbours disturb).  A line is
 *     name seconds seconds_of_pwrite ratio
 * with medians, ratio = plain / ours: 1 is as fast as plain writing, 0.8 the goal.
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

#define ROUNDS 7
#define N_PARAMS ((int64_t)22 << 20) /* three arrays: 264 MiB */
#define GROUPS 512 /* by 16 completions of 2000 to 3000 tokens: 165 MB */
#define SIZE 16

struct bench {
    struct comm *comm;
    struct store *store;
    const char *dir;
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

/* Every rank writes its share of `bytes`, 4 MiB at a time, and syncs. */
static double plain(struct bench *b, size_t bytes, const char *data, size_t room)
{
    char path[600];
    int size = comm_size(b->comm), fd;
    size_t share = bytes / (size_t)size, base = share * (size_t)comm_rank(b->comm);
    double start;

    snprintf(path, sizeof path, "%s/plain.bin", b->dir);
    comm_barrier_all(b->comm);
    start = clock_now();
    fd = open(path, O_CREAT | O_WRONLY, 0666);
    for (size_t done = 0, n; done < share; done += n) {
        n = share - done < 4u << 20 ? share - done : 4u << 20;
        if (pwrite(fd, data + done % (room - n), n, (off_t)(base + done)) != (ssize_t)n)
            die(b, strerror(errno));
    }
    if (fsync(fd) || close(fd))
        die(b, strerror(errno));
    comm_barrier_all(b->comm);
    start = clock_now() - start;
    if (comm_rank(b->comm) == 0)
        unlink(path);
    return start;
}

typedef int work_all(struct bench *b, struct fault *f);

static int checkpoint_all(struct bench *b, struct fault *f)
{
    return store_checkpoint_all(b->store, &b->k, f);
}

static int step_all(struct bench *b, struct fault *f)
{
    return store_step_all(b->store, &b->step, f);
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

static void measure(struct bench *b, const char *name, const char *file, work_all *work)
{
    double ours[ROUNDS], raw[ROUNDS], a, c;
    char path[600], *data = (char *)b->k.params;
    size_t room = (size_t)N_PARAMS * sizeof(float);
    struct fault f = FAULT_INIT;
    struct stat st = {0};

    snprintf(path, sizeof path, "%s/%s", b->dir, file);
    for (int r = -1; r < ROUNDS; r++) { /* -1 finds the size and warms up */
        double start;

        comm_barrier_all(b->comm);
        start = clock_now();
        if (work(b, &f))
            die(b, f.text);
        comm_barrier_all(b->comm);
        start = clock_now() - start;
        if (stat(path, &st))
            die(b, strerror(errno));
        comm_barrier_all(b->comm);
        if (comm_rank(b->comm) == 0)
            unlink(path);
        if (r < 0)
            continue;
        ours[r] = start;
        raw[r] = plain(b, (size_t)st.st_size, data, room);
    }
    a = median(ours);
    c = median(raw);
    if (comm_rank(b->comm) == 0)
        printf("%-17s %8.4f s %8.4f s ratio %.2f (%.1f MB, %d ranks, %.0f MB/s)\n",
               name, a, c, c / a, (double)st.st_size / 1e6, comm_size(b->comm),
               (double)st.st_size / 1e6 / a);
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

int main(int argc, char **argv)
{
    static struct group *groups[GROUPS];
    static struct metric metrics[80];
    struct bench b = {0};
    struct fault f = FAULT_INIT;
    char dir[500];

    comm_open_all(&b.comm, &argc, &argv);
    snprintf(dir, sizeof dir, "%s/bench_store.run", argc > 1 ? argv[1] : "build");
    b.dir = dir;
    if (comm_split_all(b.comm, comm_size(b.comm) > 1 ? comm_size(b.comm) - 1 : 1, &f) ||
        store_open_all(&b.store, b.comm, dir, &f))
        die(&b, f.text);
    b.k = (struct checkpoint){.step = 1, .n_params = N_PARAMS, .config = ""};
    b.k.params = noise(&b, N_PARAMS, 1 + (uint64_t)comm_rank(b.comm));
    if (comm_learns(b.comm)) {
        b.k.moment1 = noise(&b, N_PARAMS, 2);
        b.k.moment2 = noise(&b, N_PARAMS, 3);
    }
    make_groups(&b, groups);
    make_metrics(metrics, 80);
    b.step.step = 1;
    b.step.n_metrics = 80;
    b.step.metrics = metrics;
    measure(&b, "store_checkpoint", "checkpoints/step-000001.h5", checkpoint_all);
    measure(&b, "store_step", "rollouts/step-000001.h5", step_all);
    if (comm_rank(b.comm) == 0)
        clean(dir);
    store_close_all(b.store);
    comm_close_all(b.comm);
    return 0;
}
