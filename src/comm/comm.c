/* comm.c - roles, agreement, reductions, exchange. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_mpi.h"
#include "dapo/clock.h"
#include "dapo/inject.h"
#include "dapo/mem.h"
#include "dapo/pulse.h"

/* MPI 3 counts are ints, and no message should exceed 1 GiB. */
#define PIECE ((size_t)1 << 30)

struct comm {
    MPI_Comm world, learners, admission, decisions;
    int rank, size, n_learners;
    char host[64];
};

void comm_must(int rc, const char *call, const char *file, int line)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int n = 0;

    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_string(rc, why, &n);
    fprintf(stderr, "dapo: %s:%d: %s: %s\n", file, line, call, why);
    MPI_Abort(MPI_COMM_WORLD, FAULT_SYSTEM);
    abort();
}

void comm_finish(MPI_Request *request)
{
    double pause = 0;
    int done = 0;

    /* Short waits are the rule: look a few times before sleeping. */
    for (int spin = 0; !done; spin++) {
        MUST(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (!done && spin > 50)
            clock_backoff(&pause);
    }
    pulse_beat();
}

/* Messages above this travel in fragments, and each needs a look from both sides. */
#define LARGE ((size_t)1 << 15)

/* Before a large transfer: wait, with back-off, until everyone is there.  The transfer
 * itself then finds all sides looking, and no fragment waits for a sleeper. */
static void meet_all(MPI_Comm where, size_t bytes)
{
    MPI_Request r;

    if (bytes <= LARGE)
        return;
    MUST(MPI_Ibarrier(where, &r));
    comm_finish(&r);
}

/* Finish a transfer that everyone takes part in now: yield, never sleep. */
static void finish_now(MPI_Request *request, size_t bytes)
{
    int done = 0;

    if (bytes <= LARGE) {
        comm_finish(request);
        return;
    }
    while (!done) {
        MUST(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (!done)
            sched_yield();
    }
    pulse_beat();
}

void comm_open_all(struct comm **out, int *argc, char ***argv)
{
    struct comm *c = calloc(1, sizeof *c);
    int provided;

    if (!c || MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided)) {
        fprintf(stderr, "dapo: MPI could not be started\n");
        exit(FAULT_SYSTEM);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    c->world = MPI_COMM_WORLD;
    c->learners = c->admission = c->decisions = MPI_COMM_NULL;
    MUST(MPI_Comm_rank(c->world, &c->rank));
    MUST(MPI_Comm_size(c->world, &c->size));
    if (gethostname(c->host, sizeof c->host - 1))
        snprintf(c->host, sizeof c->host, "unknown");
    *out = c;
}

static void drop_roles(struct comm *c)
{
    if (c->learners != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&c->learners));
    if (c->admission != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&c->admission));
    if (c->decisions != MPI_COMM_NULL)
        MUST(MPI_Comm_free(&c->decisions));
}

void comm_close_all(struct comm *c)
{
    if (!c)
        return;
    drop_roles(c);
    free(c);
    MPI_Finalize();
}

void comm_abort(struct comm *c, int status)
{
    MPI_Abort(c ? c->world : MPI_COMM_WORLD, status);
    _exit(status);
}

int comm_split_all(struct comm *c, int learners, struct fault *f)
{
    bool learns, ticks;

    if (c->size > 1 && learners >= c->size)
        return fault_set(
            f, FAULT_CONFIG,
            "ranks.learners = %d leaves no rank to generate in a job of %d "
            "ranks; start more ranks or set it below %d",
            learners, c->size, c->size);
    drop_roles(c);
    c->n_learners = c->size == 1 ? 1 : learners;
    learns = c->rank < c->n_learners;
    ticks = c->rank == 0 || !learns;
    MUST(MPI_Comm_split(c->world, learns ? 0 : MPI_UNDEFINED, c->rank, &c->learners));
    MUST(MPI_Comm_split(c->world, ticks ? 0 : MPI_UNDEFINED, c->rank, &c->admission));
    if (ticks)
        MUST(MPI_Comm_dup(c->admission, &c->decisions));
    return 0;
}

MPI_Comm comm_mpi(const struct comm *c)
{
    return c->world;
}

MPI_Comm comm_mpi_admission(const struct comm *c)
{
    return c->admission;
}

MPI_Comm comm_mpi_decisions(const struct comm *c)
{
    return c->decisions;
}

MPI_Comm comm_node_all(const struct comm *c)
{
    MPI_Comm node;

    MUST(MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    return node;
}

int comm_rank(const struct comm *c)
{
    return c->rank;
}

int comm_size(const struct comm *c)
{
    return c->size;
}

bool comm_learns(const struct comm *c)
{
    return c->rank < c->n_learners;
}

bool comm_generates(const struct comm *c)
{
    return c->size == 1 || c->rank >= c->n_learners;
}

int comm_learners(const struct comm *c)
{
    return c->n_learners;
}

int comm_replicas(const struct comm *c)
{
    return c->size == 1 ? 1 : c->size - c->n_learners;
}

int comm_leader(const struct comm *c, int replica)
{
    return c->size == 1 ? 0 : c->n_learners + replica;
}

int comm_replica(const struct comm *c)
{
    if (c->size == 1)
        return 0;
    return c->rank < c->n_learners ? -1 : c->rank - c->n_learners;
}

const char *comm_host(const struct comm *c)
{
    return c->host;
}

MPI_Comm comm_mpi_of(const struct comm *c, enum scope s)
{
    switch (s) {
    case SCOPE_WORLD:
        return c->world;
    case SCOPE_LEARNERS: /* before there are roles each rank stands for itself */
        return c->n_learners ? c->learners : MPI_COMM_SELF;
    case SCOPE_ADMISSION:
        return c->admission;
    }
    return MPI_COMM_NULL;
}

int comm_agree_among_all(struct comm *c, enum scope s, int rc, struct fault *f)
{
    MPI_Comm where = comm_mpi_of(c, s);
    int rank, mine, first;
    MPI_Request r;

    if (!rc)
        rc = inject_pass(INJECT_AGREE, f);
    MUST(MPI_Comm_rank(where, &rank));
    mine = rc ? rank : INT_MAX;
    MUST(MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, where, &r));
    comm_finish(&r);
    if (first == INT_MAX)
        return 0;
    if (rank == first) {
        f->code = rc;
        /* A fault that has been agreed on before keeps the rank it comes from. */
        if (f->rank < 0)
            f->rank = c->rank;
    }
    MUST(MPI_Ibcast(f, (int)sizeof *f, MPI_BYTE, first, where, &r));
    comm_finish(&r);
    return f->code;
}

int comm_agree_all(struct comm *c, int rc, struct fault *f)
{
    return comm_agree_among_all(c, SCOPE_WORLD, rc, f);
}

void comm_barrier_all(struct comm *c)
{
    MPI_Request r;

    MUST(MPI_Ibarrier(c->world, &r));
    comm_finish(&r);
}

void comm_bcast_all(struct comm *c, enum scope s, void *data, size_t n)
{
    char *p = data;
    MPI_Request r;

    meet_all(comm_mpi_of(c, s), n);
    for (size_t k; n > 0; n -= k, p += k) {
        k = n < PIECE ? n : PIECE;
        MUST(MPI_Ibcast(p, (int)k, MPI_BYTE, 0, comm_mpi_of(c, s), &r));
        finish_now(&r, k);
    }
}

static void reduce_all(MPI_Comm where, void *x, size_t n, size_t width,
                       MPI_Datatype type, MPI_Op op)
{
    char *p = x;
    MPI_Request r;

    meet_all(where, n * width);
    for (size_t k; n > 0; n -= k, p += k * width) {
        k = n < PIECE / width ? n : PIECE / width;
        MUST(MPI_Iallreduce(MPI_IN_PLACE, p, (int)k, type, op, where, &r));
        finish_now(&r, k * width);
    }
}

void comm_sum_f32_all(struct comm *c, enum scope s, float *x, size_t n)
{
    reduce_all(comm_mpi_of(c, s), x, n, sizeof *x, MPI_FLOAT, MPI_SUM);
}

void comm_sum_f64_all(struct comm *c, enum scope s, double *x, size_t n)
{
    reduce_all(comm_mpi_of(c, s), x, n, sizeof *x, MPI_DOUBLE, MPI_SUM);
}

void comm_sum_i64_all(struct comm *c, enum scope s, int64_t *x, size_t n)
{
    reduce_all(comm_mpi_of(c, s), x, n, sizeof *x, MPI_INT64_T, MPI_SUM);
}

void comm_max_f64_all(struct comm *c, enum scope s, double *x, size_t n)
{
    reduce_all(comm_mpi_of(c, s), x, n, sizeof *x, MPI_DOUBLE, MPI_MAX);
}

void comm_gather_i64_all(struct comm *c, int64_t mine, int64_t *out)
{
    MPI_Request r;

    MUST(MPI_Iallgather(&mine, 1, MPI_INT64_T, out, 1, MPI_INT64_T, c->world, &r));
    comm_finish(&r);
}

static size_t pieces(size_t n)
{
    return (n + PIECE - 1) / PIECE;
}

void comm_exchange_all(struct comm *c, const void *const *send, const size_t *send_n,
                       void *const *recv, const size_t *recv_n)
{
    size_t n = 0, k = 0;
    MPI_Request *r;

    for (int i = 0; i < c->size; i++)
        n += pieces(send_n[i]) + pieces(recv_n[i]);
    r = calloc(n + 1, sizeof *r);
    if (!r)
        comm_abort(c, FAULT_SYSTEM);
    meet_all(c->world, LARGE + 1);
    for (int i = 0; i < c->size; i++)
        for (size_t at = 0, m; at < recv_n[i]; at += m) {
            m = recv_n[i] - at < PIECE ? recv_n[i] - at : PIECE;
            MUST(MPI_Irecv((char *)recv[i] + at, (int)m, MPI_BYTE, i, 1, c->world,
                           &r[k++]));
        }
    for (int i = 0; i < c->size; i++)
        for (size_t at = 0, m; at < send_n[i]; at += m) {
            m = send_n[i] - at < PIECE ? send_n[i] - at : PIECE;
            MUST(MPI_Isend((const char *)send[i] + at, (int)m, MPI_BYTE, i, 1, c->world,
                           &r[k++]));
        }
    for (size_t i = 0; i < k; i++)
        finish_now(&r[i], LARGE + 1);
    free(r);
}
