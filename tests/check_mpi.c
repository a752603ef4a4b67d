/* check_mpi.c - see check_mpi.h. */
#include "check_mpi.h"

struct comm *check_comm;

int check_main_all(int argc, char **argv, const char *file,
                   const struct check_case *cases)
{
    double worst;
    int rc;

    comm_open_all(&check_comm, &argc, &argv);
    rc = check_main(argc, argv, file, cases);
    worst = rc;
    comm_max_f64_all(check_comm, SCOPE_WORLD, &worst, 1);
    comm_close_all(check_comm);
    return (int)worst;
}
