/* machine.h - private: slots, queues and the clock of the virtual replicas.
 *
 * Candidates are known by a serial number that is theirs for good (uid); those still
 * remembered are [base, base + n).  An event costs O(log(running)), whatever the number
 * of replicas.
 */
#ifndef DAPO_SIM_MACHINE_H
#define DAPO_SIM_MACHINE_H

#include <stddef.h>
#include "dapo/sim.h"

enum member_state { MEMBER_WAITING, MEMBER_RUNNING, MEMBER_ENDED };

struct member {
    struct sim_member law; /* what it will be */
    enum member_state state;
    int64_t start; /* iteration in which it got its slot */
};

/* A launched candidate. */
struct seat {
    int replica;
    int next; /* member that gets a slot next */
    bool cancelled;
    int64_t behind; /* uid of the candidate behind it in the replica's queue; -1 */
    int64_t step;   /* that launched it */
    int64_t prompt;
};

/* A member ends in iteration `at`. */
struct ending {
    int64_t at, order; /* order: of starting, breaks ties */
    int64_t uid;
    int member;
};

/* Candidates with members that wait, by uid; all that start here do so in this order.
 */
struct queue {
    int64_t head, tail; /* uids; -1: empty */
    int active;         /* busy slots */
};

struct machine {
    struct sim_machine c;
    int size;
    struct seat *seats;     /* [n], of uids base, base + 1, ... */
    struct member *members; /* [n][size] */
    size_t n, seat_cap, member_cap;
    int64_t base;
    struct queue *queues; /* [replicas] */
    int *with;            /* [slots + 1] replicas with so many busy slots */
    int busiest;          /* most busy slots of a replica */
    int64_t active;       /* busy slots of all replicas */
    struct ending *heap;  /* earliest first */
    size_t n_heap, heap_cap;
    int64_t started; /* members ever */
    int64_t now;     /* iterations done */
    double seconds;  /* in them */
    int64_t decoded;
};

int machine_new(struct machine *m, const struct sim_machine *c, int size,
                struct fault *f);
void machine_free(struct machine *m);

/* Room for one candidate more, not yet submitted; NULL with a fault. */
struct seat *machine_seat(struct machine *m, int64_t *uid, struct fault *f);
static inline struct seat *seat_of(const struct machine *m, int64_t uid)
{
    return &m->seats[uid - m->base];
}
static inline struct member *member_of(const struct machine *m, int64_t uid, int k)
{
    return &m->members[(size_t)(uid - m->base) * (size_t)m->size + (size_t)k];
}
/* Forget the first `n` candidates, all of whose members have ended. */
void machine_forget(struct machine *m, int64_t n);

/* Put it into its replica's queue; its members start as slots are free. */
int machine_submit(struct machine *m, int64_t uid, struct fault *f);
/* End its members; cut[k] is what member k had decoded, -1 if it had ended before. */
int machine_cancel(struct machine *m, int64_t uid, int *cut, struct fault *f);

/* Decode until the end of the next iteration in which a member ends, but no more than
 * `most` iterations; none if no slot is busy. */
void machine_run(struct machine *m, int64_t most);
/* *any and the next member that ends with the iteration just done, in the order in
 * which they started; its slot goes to the next in the queue. */
int machine_ended(struct machine *m, struct ending *out, bool *any, struct fault *f);

#endif
