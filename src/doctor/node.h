/* node.h - private: the ranks of one node. */
#ifndef DAPO_DOCTOR_NODE_H
#define DAPO_DOCTOR_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include "doctor/report.h"

/* Reduce x [n] over the ranks of a node, in place. */
void node_reduce_all(MPI_Comm node, void *x, int n, MPI_Datatype type, MPI_Op op);

/* The value of the first line "KEY : value" of a file in /proc; false if there is none.
 */
bool proc_value(const char *path, const char *key, char *out, size_t n);

#endif
