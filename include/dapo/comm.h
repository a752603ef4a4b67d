/* comm.h - roles, agreement on failure, ticks, delivery, publishing.
 *
 * The only module that knows communicators.  A function that communicates ends in _all
 * and must be called by every rank it names; it returns the same value on each of them.
 * An MPI call that fails aborts the job: there is nothing to unwind to.
 */
#ifndef DAPO_COMM_H
#define DAPO_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

struct comm; /* opaque; src/comm/comm_mpi.h has the communicators for store */

/* Whom a collective is among.  Before there are roles each rank is a learner by itself.
 */
enum scope { SCOPE_WORLD, SCOPE_LEARNERS, SCOPE_ADMISSION };

/* Start MPI (world only: everyone is rank 0..size-1, no roles yet). */
void comm_open_all(struct comm **out, int *argc, char ***argv);
void comm_close_all(struct comm *c);
/* End the job now with this exit status; for faults that can't be agreed on. */
void comm_abort(struct comm *c, int status) __attribute__((noreturn));

/* Divide the world: ranks 0..learners-1 learn, the others generate.  With one rank it
 * does both.  FAULT_CONFIG if learners >= size > 1. */
int comm_split_all(struct comm *c, int learners, struct fault *f);

int comm_rank(const struct comm *c); /* world rank; 0 is the learner root */
int comm_size(const struct comm *c);
bool comm_learns(const struct comm *c);
bool comm_generates(const struct comm *c);
int comm_learners(const struct comm *c);
int comm_replicas(const struct comm *c);
/* World rank of the leader of a replica, and this rank's replica (-1: none). */
int comm_leader(const struct comm *c, int replica);
int comm_replica(const struct comm *c);
const char *comm_host(const struct comm *c);

/* -- agreement and reductions
 * ------------------------------------------------------------ */
/* Turn one rank's failure into everyone's: code, rank and text of the lowest failing
 * world rank, on every rank; 0 if none failed. */
int comm_agree_all(struct comm *c, int rc, struct fault *f);
/* The same among a few; the others hear of a failure by the next agreement of all. */
int comm_agree_among_all(struct comm *c, enum scope s, int rc, struct fault *f);
void comm_barrier_all(struct comm *c);
void comm_bcast_all(struct comm *c, enum scope s, void *data,
                    size_t n); /* root: rank 0 */
void comm_sum_f32_all(struct comm *c, enum scope s, float *x, size_t n);
void comm_sum_f64_all(struct comm *c, enum scope s, double *x, size_t n);
void comm_sum_i64_all(struct comm *c, enum scope s, int64_t *x, size_t n);
void comm_max_f64_all(struct comm *c, enum scope s, double *x, size_t n);
/* Every rank's value, in rank order: out[size]. */
void comm_gather_i64_all(struct comm *c, int64_t mine, int64_t *out);

/* -- ticks: one gather up, one broadcast down, both non-blocking
 * --------------------------- Tick t carries what each replica's leader has to say
 * after its slice t, often nothing, and the root's decision, which the leader obeys
 * before its slice t + TICK_LAG: so a generator goes on decoding while a tick is on its
 * way, no tick waits for a completion, and what is decided when depends on slices and
 * verdicts, never on the clock. */
#define TICK_LAG 2

struct ticks; /* opaque: the tick state of one rank for one step */

/* Start ticking (admission scope: root and leaders).  Decisions hold at most
 * `most_decision` bytes. */
int ticks_new(struct ticks **out, struct comm *c, size_t most_decision,
              struct fault *f);
void ticks_free(struct ticks *t);
/* Leader: contribute `n` bytes to the next tick.  Never blocks. */
int ticks_report(struct ticks *t, const void *data, size_t n, struct fault *f);
/* Leader: the decision of the oldest tick not yet received, in order.  Blocks (with
 * back-off) only if `wait`.  *n = decision bytes; false if none has come. */
bool ticks_decision(struct ticks *t, bool wait, const void **data, size_t *n);
/* Root: poll for the next tick's reports; true once all leaders' have come: then
 * ticks_view gives replica r's bytes.  Never blocks; the caller backs off. */
bool ticks_poll(struct ticks *t);
const void *ticks_view(const struct ticks *t, int replica, size_t *n);
/* Root: answer the tick just polled. */
int ticks_decide(struct ticks *t, const void *data, size_t n, struct fault *f);
/* Ticks answered (root) or decisions received (leader), and CPU seconds spent inside.
 * Not the clock's: where ranks share cores, a poll that finds nothing hands its core to
 * a neighbour, and that time is not lost. */
int64_t ticks_count(const struct ticks *t);
double ticks_seconds(const struct ticks *t);
/* Root: messages and bytes of all ticks between it and the leaders, a broadcast counted
 * once per leader (in a tree the root itself sends fewer). */
void ticks_traffic(const struct ticks *t, int64_t *messages, int64_t *bytes);

/* -- delivery and publishing
 * --------------------------------------------------------------- */
/* Personalised exchange over the world: send[r] (send_n[r] bytes) to each rank; recv_n
 * known by the receiver, recv[r] allocated by the caller.  Pieces over 1 GiB are cut.
 */
void comm_exchange_all(struct comm *c, const void *const *send, const size_t *send_n,
                       void *const *recv, const size_t *recv_n);

#endif
