/* report.h - private: what the checks share, and their list.
 *
 * A check is a collective function over all ranks; what it says is rank 0's.
 */
#ifndef DAPO_DOCTOR_REPORT_H
#define DAPO_DOCTOR_REPORT_H

#include <limits.h>
#include <stddef.h>
#include "dapo/doctor.h"
#include "dapo/watch.h"

struct report {
    struct comm *comm;
    const struct doctor_job *job;
    enum doctor_how how;
    double message;
    struct site site;
    int local_rank;         /* on this node */
    int peer;               /* first rank on another node than rank 0's; else 1 */
    int nodes;              /* as MPI sees them */
    int warnings, failures; /* rank 0's */
    struct fault first;     /* rank 0's first failure */
    char scratch[PATH_MAX]; /* a folder of ours on the run's file system; "": none */
};

/* Say a line of the check `what` (rank 0; on the others nothing happens). */
void say_ok(struct report *r, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void say_warning(struct report *r, const char *what, const char *remedy,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
void say_failure(struct report *r, enum fault_code code, const char *what,
                 const char *remedy, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* From now on the test `what` is under way on this rank: one that takes over two
 * minutes without a further word of this function ends the job.  NULL: none is. */
void stage(const struct report *r, const char *what);

/* Every rank gets the `data` of the one whose badness is the largest; returns it. */
double worst_all(struct comm *c, double badness, void *data, size_t n);

/* Bytes that processes may still take on this node: what is free, within the limit of
 * this process's control group. */
double memory_free(void);

/* -- launch.c: who was started, and by whom ---------------------------------------- */
void check_ranks(struct report *r);
void check_pmix(struct report *r);
void check_time(struct report *r);

/* -- node.c: what each node has ---------------------------------------------------- */
void find_nodes_all(struct report *r); /* local_rank, peer, nodes */
void check_cpus_all(struct report *r);
void check_processors_all(struct report *r);
void check_memory_all(struct report *r);
void check_limits_all(struct report *r);
void check_devices_all(struct report *r);

/* -- network.c: messages between ranks --------------------------------------------- */
void check_ring_all(struct report *r);
void check_messages_all(struct report *r);
void check_clocks_all(struct report *r);

/* -- folder.c: the run directory's file system ------------------------------------- */
/* Make r->scratch on it, seen by all nodes; drop it. */
void open_scratch_all(struct report *r);
void close_scratch_all(struct report *r);
void check_locks_all(struct report *r);
void check_space(struct report *r);
void check_sync(struct report *r);

/* -- files.c: what store writes there ---------------------------------------------- */
void check_files_all(struct report *r);

/* -- software.c: libraries and programs -------------------------------------------- */
void check_libraries(struct report *r);
void check_python(struct report *r);

#endif
