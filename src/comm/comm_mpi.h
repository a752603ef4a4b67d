/* comm_mpi.h - private: the way out of comm.h into MPI, for ticks, store and doctor. */
#ifndef DAPO_COMM_MPI_H
#define DAPO_COMM_MPI_H

#include <mpi.h>
#include "dapo/comm.h"

MPI_Comm comm_mpi(const struct comm *c);           /* world */
MPI_Comm comm_mpi_admission(const struct comm *c); /* root and replica leaders */
MPI_Comm comm_mpi_decisions(const struct comm *c); /* the same ranks: long decisions */
/* MPI_COMM_NULL where this rank is not among them. */
MPI_Comm comm_mpi_of(const struct comm *c, enum scope s);

/* The ranks of this one's node; the caller's, for MPI_Comm_free. */
MPI_Comm comm_node_all(const struct comm *c);

/* An MPI call that fails has nothing to unwind to: say which, end the job. */
#define MUST(call) comm_must((call), #call, __FILE__, __LINE__)
void comm_must(int rc, const char *call, const char *file, int line);

/* Wait for a request without stealing a working rank's core: test, then sleep with
 * back-off (waiting ranks burn all the CPU they get, yield or not). */
void comm_finish(MPI_Request *request);

#endif
