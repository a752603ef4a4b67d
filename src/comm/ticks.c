/* ticks.c - one non-blocking gather up and one broadcast down, pipelined.
 *
 * Per tick and rank, in this order on the admission communicator: MPI_Igather of the
 * report's size, MPI_Igatherv of the report, MPI_Ibcast of the decision's first HEAD
 * bytes.  A leader posts all three at once and goes on decoding; the root posts each as
 * the one before it completes.  Most decisions are that short; the rest of a longer one
 * follows in a broadcast of its own size on a second communicator, so that a tick in
 * which nothing happens costs the same however long decisions may get.  In a job of one
 * rank the root is the leader too, and nothing is sent.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/comm_mpi.h"
#include "dapo/clock.h"
#include "dapo/inject.h"
#include "dapo/mem.h"
#include "dapo/pulse.h"

/* A leader has at most TICK_LAG ticks under way, and one more being handed out. */
#define RING (TICK_LAG + 1)

/* Bytes of a decision, its length included, that every tick has room for: an empty one,
 * or three starts. */
#define HEAD 96

struct tick {
    int size; /* leader: bytes of its report */
    struct bytes report;
    char *decision;    /* int64 length, then up to most_decision bytes */
    MPI_Request up[2]; /* leader: gather, gatherv; root: the one under way in up[0] */
    MPI_Request down, rest;
    bool rest_asked; /* leader: for the rest of this tick's decision */
};

struct ticks {
    MPI_Comm comm, long_comm;
    int n;            /* ranks in comm */
    bool root, alone; /* alone: root and leader in one */
    size_t most;      /* bytes of a decision with its length */
    struct tick ring[RING];
    int64_t posted, received; /* leader: ticks reported, decisions handed out */
    int64_t answered;         /* root */
    int stage;                /* root: 0 nothing posted, 1 sizes, 2 reports, 3 ready */
    int *sizes, *first;       /* [n] */
    char *gathered;
    size_t gathered_cap;
    double seconds;
    int64_t messages, bytes; /* root: through it */
};

int ticks_new(struct ticks **out, struct comm *c, size_t most_decision, struct fault *f)
{
    struct ticks *t = mem_new(1, sizeof *t, "ticks", f);
    bool bad = false;
    int rank;

    *out = NULL;
    if (!t)
        return f->code;
    t->comm = comm_mpi_admission(c);
    MUST(MPI_Comm_size(t->comm, &t->n));
    MUST(MPI_Comm_rank(t->comm, &rank));
    t->root = rank == 0;
    t->alone = t->n == 1;
    t->long_comm = comm_mpi_decisions(c);
    t->most = most_decision + sizeof(int64_t);
    if (t->most < HEAD)
        t->most = HEAD;
    t->sizes = mem_new((size_t)t->n, sizeof(int), "ticks", f);
    t->first = mem_new((size_t)t->n, sizeof(int), "ticks", f);
    for (int i = 0; i < RING; i++) {
        t->ring[i].decision = mem_new(t->most, 1, "ticks", f);
        t->ring[i].up[0] = t->ring[i].up[1] = MPI_REQUEST_NULL;
        t->ring[i].down = t->ring[i].rest = MPI_REQUEST_NULL;
        bad |= !t->ring[i].decision;
    }
    if (bad || !t->sizes || !t->first) {
        ticks_free(t);
        return f->code;
    }
    *out = t;
    return 0;
}

static struct tick *at(struct ticks *t, int64_t number)
{
    return &t->ring[number % RING];
}

static void finish_tick(struct tick *k)
{
    comm_finish(&k->up[0]);
    comm_finish(&k->up[1]);
    comm_finish(&k->down);
    comm_finish(&k->rest);
}

void ticks_free(struct ticks *t)
{
    if (!t)
        return;
    for (int i = 0; i < RING; i++) {
        if (t->ring[i].decision)
            finish_tick(&t->ring[i]);
        free(t->ring[i].decision);
        bytes_free(&t->ring[i].report);
    }
    free(t->sizes);
    free(t->first);
    free(t->gathered);
    free(t);
}

int ticks_report(struct ticks *t, const void *data, size_t n, struct fault *f)
{
    struct tick *k = at(t, t->posted);
    double start = clock_cpu();

    if (inject_pass(INJECT_TICK, f))
        return f->code;
    finish_tick(k); /* RING ticks ago: its decision was handed out long since */
    k->report.len = 0;
    if (bytes_add(&k->report, data, n, f))
        return f->code;
    k->size = (int)n;
    if (!t->alone) {
        MUST(
            MPI_Igather(&k->size, 1, MPI_INT, NULL, 0, MPI_INT, 0, t->comm, &k->up[0]));
        MUST(MPI_Igatherv(k->report.data, k->size, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE,
                          0, t->comm, &k->up[1]));
        MUST(MPI_Ibcast(k->decision, HEAD, MPI_BYTE, 0, t->comm, &k->down));
        k->rest_asked = false;
    }
    pulse_tick(t->posted++);
    t->seconds += clock_cpu() - start;
    return 0;
}

/* Bytes of a decision behind the head, given its first HEAD. */
static size_t rest_of(const struct tick *k)
{
    int64_t len;

    memcpy(&len, k->decision, sizeof len);
    return (size_t)len + sizeof len > HEAD ? (size_t)len + sizeof len - HEAD : 0;
}

static void send_rest(const struct ticks *t, struct tick *k)
{
    MUST(MPI_Ibcast(k->decision + HEAD, (int)rest_of(k), MPI_BYTE, 0, t->long_comm,
                    &k->rest));
}

static bool arrived(struct ticks *t, struct tick *k)
{
    int done = 0;

    if (t->alone)
        return t->received < t->answered;
    MUST(MPI_Test(&k->down, &done, MPI_STATUS_IGNORE));
    if (!done || !rest_of(k))
        return done;
    if (!k->rest_asked)
        send_rest(t, k);
    k->rest_asked = true;
    MUST(MPI_Test(&k->rest, &done, MPI_STATUS_IGNORE));
    return done;
}

bool ticks_decision(struct ticks *t, bool wait, const void **data, size_t *n)
{
    struct tick *k = at(t, t->received);
    double pause = 0, start = clock_cpu();
    int64_t len;
    bool here;

    if (t->received >= t->posted)
        return false;
    while (!(here = arrived(t, k)) && wait && !t->alone)
        clock_backoff(&pause);
    t->seconds += clock_cpu() - start;
    if (!here)
        return false;
    memcpy(&len, k->decision, sizeof len);
    *data = k->decision + sizeof len;
    *n = (size_t)len;
    t->received++;
    return true;
}

/* Make room for all reports, whose sizes have come, and ask for them. */
static void start_reports(struct ticks *t, MPI_Request *r)
{
    int total = 0;

    for (int i = 0; i < t->n; i++) {
        t->first[i] = total;
        if (__builtin_add_overflow(total, t->sizes[i], &total))
            MPI_Abort(t->comm, FAULT_BUG);
    }
    if ((size_t)total > t->gathered_cap) {
        free(t->gathered);
        t->gathered_cap = 2 * (size_t)total;
        t->gathered = malloc(t->gathered_cap);
        if (!t->gathered)
            MPI_Abort(t->comm, FAULT_SYSTEM);
    }
    MUST(MPI_Igatherv(NULL, 0, MPI_BYTE, t->gathered, t->sizes, t->first, MPI_BYTE, 0,
                      t->comm, r));
    t->messages += 2 * (t->n - 1);
    t->bytes += (int64_t)sizeof(int) * (t->n - 1) + total;
}

bool ticks_poll(struct ticks *t)
{
    static const int nothing = 0; /* the root's own report */
    MPI_Request *r = &at(t, t->answered)->up[0];
    double start = clock_cpu();
    int done = 1;

    if (t->alone)
        return t->posted > t->answered;
    if (t->stage == 0) {
        MUST(MPI_Igather(&nothing, 1, MPI_INT, t->sizes, 1, MPI_INT, 0, t->comm, r));
        t->stage = 1;
    }
    while (t->stage < 3) {
        MUST(MPI_Test(r, &done, MPI_STATUS_IGNORE));
        if (!done)
            break;
        if (t->stage == 1)
            start_reports(t, r);
        t->stage++;
    }
    t->seconds += clock_cpu() - start;
    return t->stage == 3;
}

const void *ticks_view(const struct ticks *t, int replica, size_t *n)
{
    if (t->alone) {
        const struct tick *k = &t->ring[t->answered % RING];

        *n = (size_t)k->size;
        return k->report.data;
    }
    *n = (size_t)t->sizes[1 + replica];
    return t->gathered + t->first[1 + replica];
}

int ticks_decide(struct ticks *t, const void *data, size_t n, struct fault *f)
{
    struct tick *k = at(t, t->answered);
    int64_t len = (int64_t)n;
    double start = clock_cpu();

    if (inject_pass(INJECT_TICK, f))
        return f->code;
    if (n + sizeof len > t->most)
        return fault_set(f, FAULT_BUG, "a tick's decision of %zu bytes is over %zu", n,
                         t->most - sizeof len);
    comm_finish(&k->down);
    comm_finish(&k->rest);
    memcpy(k->decision, &len, sizeof len);
    if (n)
        memcpy(k->decision + sizeof len, data, n);
    if (!t->alone) {
        MUST(MPI_Ibcast(k->decision, HEAD, MPI_BYTE, 0, t->comm, &k->down));
        if (rest_of(k))
            send_rest(t, k);
        t->messages += (t->n - 1) * (1 + (rest_of(k) > 0));
        t->bytes += (t->n - 1) * (int64_t)(HEAD + rest_of(k));
    }
    pulse_tick(t->answered++);
    t->stage = 0;
    t->seconds += clock_cpu() - start;
    return 0;
}

int64_t ticks_count(const struct ticks *t)
{
    return t->root ? t->answered : t->received;
}

void ticks_traffic(const struct ticks *t, int64_t *messages, int64_t *bytes)
{
    *messages = t->messages;
    *bytes = t->bytes;
}

double ticks_seconds(const struct ticks *t)
{
    return t->seconds;
}
