/* network.c - messages between ranks, the way training sends them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "comm/comm_mpi.h"
#include "dapo/clock.h"
#include "dapo/mem.h"
#include "doctor/report.h"

#define SMALL ((size_t)1 << 20)
#define SPARE 536870912.0 /* bytes left alone beside a large message */
#define MOST_SKEW 1.0     /* s */
#define LEAST_SPEED 0.2e9 /* bytes/s */

/* Each rank sends to the next, so that every neighbour is reached once. */
void check_ring_all(struct report *r)
{
    struct comm *c = r->comm;
    int n = comm_size(c), me = comm_rank(c);
    int to = (me + 1) % n, from = (me + n - 1) % n, got = -1;
    MPI_Request q[2];
    char what[64];
    struct {
        int rank, got;
    } bad = {me, -1};

    if (n == 1)
        return;
    snprintf(what, sizeof what, "a message from rank %d", from);
    stage(r, what);
    MUST(MPI_Irecv(&got, 1, MPI_INT, from, 2, comm_mpi(c), &q[0]));
    MUST(MPI_Isend(&me, 1, MPI_INT, to, 2, comm_mpi(c), &q[1]));
    comm_finish(&q[0]);
    comm_finish(&q[1]);
    bad.got = got;
    stage(r, "the ring of all ranks");
    if (worst_all(c, got != from, &bad, sizeof bad) > 0)
        say_failure(r, FAULT_SYSTEM, "ring", "MPI mixes up messages: ask its keepers",
                    "rank %d got %d from the rank before it", bad.rank, bad.got);
    else
        say_ok(r, "ring", "%d ranks, each heard the one before it", n);
    stage(r, NULL);
}

/* -- one large message ------------------------------------------------------------- */

static uint64_t word(size_t i, uint64_t key)
{
    return (i + key) * UINT64_C(0x9e3779b97f4a7c15);
}

static size_t wrong_words(const uint64_t *x, size_t n, uint64_t key)
{
    size_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += x[i] != word(i, key);
    return wrong;
}

/* What this rank has in a transfer from rank 0 to the peer: both halves if they are one
 * and the same. */
struct transfer {
    size_t words;
    uint64_t *out, *in; /* NULL: not this rank's */
    const void **send;  /* [ranks], as comm_exchange_all wants them */
    void **recv;
    size_t *send_n, *recv_n;
};

static void *map(size_t bytes)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE); /* the first touch costs a third */
    return p;
}

static int transfer_open(struct transfer *t, const struct report *r, size_t bytes)
{
    size_t n = (size_t)comm_size(r->comm);
    int me = comm_rank(r->comm);
    struct fault f = FAULT_INIT;

    *t = (struct transfer){.words = bytes / sizeof *t->out};
    t->send = mem_new(n, sizeof *t->send, "a transfer", &f);
    t->recv = mem_new(n, sizeof *t->recv, "a transfer", &f);
    t->send_n = mem_new(n, sizeof *t->send_n, "a transfer", &f);
    t->recv_n = mem_new(n, sizeof *t->recv_n, "a transfer", &f);
    if (!t->send || !t->recv || !t->send_n || !t->recv_n)
        return -1;
    bytes = t->words * sizeof *t->out;
    if (me == 0) {
        t->send[r->peer] = t->out = map(bytes);
        t->send_n[r->peer] = bytes;
    }
    if (me == r->peer) {
        t->recv[0] = t->in = map(bytes);
        t->recv_n[0] = bytes;
    }
    if ((me == 0 && !t->out) || (me == r->peer && !t->in))
        return -1;
    for (size_t i = 0; i < t->words; i++) {
        if (t->out)
            t->out[i] = word(i, 1);
        if (t->in)
            t->in[i] = 0; /* so that its time is not in the message's */
    }
    return 0;
}

static void transfer_close(struct transfer *t)
{
    if (t->out)
        munmap(t->out, t->words * sizeof *t->out);
    if (t->in)
        munmap(t->in, t->words * sizeof *t->in);
    free(t->send);
    free(t->recv);
    free(t->send_n);
    free(t->recv_n);
}

/* Best seconds of `tries`; -1 without memory.  *wrong: words that did not arrive. */
static double send_all(const struct report *r, size_t bytes, int tries, double *wrong)
{
    struct fault f = FAULT_INIT;
    struct transfer t;
    int rc = transfer_open(&t, r, bytes);
    double best = -1;

    rc = comm_agree_all(
        r->comm, rc ? fault_set(&f, FAULT_SYSTEM, "no memory for a message") : 0, &f);
    for (int i = 0; !rc && i < tries; i++) {
        double start, took;

        comm_barrier_all(r->comm);
        start = clock_now();
        comm_exchange_all(r->comm, t.send, t.send_n, t.recv, t.recv_n);
        took = clock_now() - start;
        comm_max_f64_all(r->comm, SCOPE_WORLD, &took, 1);
        if (best < 0 || took < best)
            best = took;
    }
    *wrong = t.in && !rc ? (double)wrong_words(t.in, t.words, 1) : 0;
    comm_max_f64_all(r->comm, SCOPE_WORLD, wrong, 1);
    transfer_close(&t);
    return best;
}

/* The memory that the pair needs is free on its nodes. */
static bool room_all(const struct report *r, double bytes)
{
    int me = comm_rank(r->comm);
    double copies = r->nodes > 1 || r->peer == 0 ? 1 + (r->peer == 0) : 2, lack = 0;

    if (me == 0 || me == r->peer)
        lack = copies * bytes + SPARE - memory_free();
    comm_max_f64_all(r->comm, SCOPE_WORLD, &lack, 1);
    return lack <= 0;
}

static void message_all(struct report *r, size_t bytes, int tries, bool judge)
{
    char size[32], where[64], what[96];
    double seconds = -1, wrong = 0, speed;

    snprintf(where, sizeof where, r->peer == 0 ? "to itself" : "from rank 0 to rank %d",
             r->peer);
    snprintf(what, sizeof what, "a message of %s %s", size_text((double)bytes, size),
             where);
    stage(r, what);
    if (!judge || room_all(r, (double)bytes))
        seconds = send_all(r, bytes, tries, &wrong);
    stage(r, NULL);
    speed = (double)bytes / seconds;
    if (wrong > 0)
        say_failure(r, FAULT_SYSTEM, "message", "the network or MPI damages data",
                    "%.0f of %zu words of %s are wrong, %s", wrong, bytes / 8, size,
                    where);
    else if (seconds < 0)
        say_warning(r, "message", "run this on free nodes, or with less: --message",
                    "%s was not sent: memory is short", size);
    else if (judge && speed < LEAST_SPEED)
        say_warning(r, "message",
                    "see which network MPI uses (ompi_info, OMPI_MCA_pml, "
                    "UCX_NET_DEVICES) and whether cores are shared",
                    "%s %s%s: %.2f GB/s", size, where,
                    r->nodes > 1 ? " on another node" : "", speed / 1e9);
    else
        say_ok(r, "message", "%s %s%s: %.2f GB/s", size, where,
               r->nodes > 1 ? " on another node" : "", speed / 1e9);
}

void check_messages_all(struct report *r)
{
    message_all(r, SMALL, 5, false);
    if (r->how == DOCTOR_FULL)
        message_all(r, (size_t)r->message, 1, true);
}

/* -- clocks ------------------------------------------------------------------------ */

struct skew {
    double seconds; /* against rank 0's clock */
    int rank;
    char host[64];
};

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All look at their clocks when a barrier lets them go; the best of a few.  Late
 * leaving only makes a clock look ahead, by milliseconds. */
void check_clocks_all(struct report *r)
{
    struct comm *c = r->comm;
    struct skew mine = {.rank = comm_rank(c)};
    double best = INFINITY;

    if (comm_size(c) == 1)
        return;
    snprintf(mine.host, sizeof mine.host, "%.63s", comm_host(c));
    for (int i = 0; i < 5; i++) {
        double now, zero;

        comm_barrier_all(c);
        now = zero = wall();
        comm_bcast_all(c, SCOPE_WORLD, &zero, sizeof zero);
        if (fabs(now - zero) < best)
            best = fabs(mine.seconds = now - zero);
    }
    best = worst_all(c, best, &mine, sizeof mine);
    if (best > MOST_SKEW)
        say_warning(r, "clocks", "have the nodes' clocks synchronised (chrony, ntpd)",
                    "rank %d on %s is %+.1f s off rank 0's", mine.rank, mine.host,
                    mine.seconds);
    else
        say_ok(r, "clocks", "equal to %.1f ms", 1000 * best);
}
