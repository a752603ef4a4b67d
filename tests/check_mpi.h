/* check_mpi.h - tests under mpirun: one MPI start, one communicator, the worst verdict.
 */
#ifndef DAPO_CHECK_MPI_H
#define DAPO_CHECK_MPI_H

#include "check.h"
#include "dapo/comm.h"

extern struct comm *check_comm;

/* As check_main, with MPI around it and the worst rank's exit status on all. */
int check_main_all(int argc, char **argv, const char *file,
                   const struct check_case *cases);

#define CASES_MPI(...)                                                        \
    int main(int argc, char **argv)                                           \
    {                                                                         \
        static const struct check_case cases[] = {__VA_ARGS__, {NULL, NULL}}; \
        return check_main_all(argc, argv, __FILE__, cases);                   \
    }

#endif
