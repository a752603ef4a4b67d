/* launch.c - who was started, and by whom. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doctor/report.h"

#define SHORT_TIME 300.0 /* s that a job should have left */

/* Processes that Slurm has started, or would start for this allocation; 0: no Slurm.
 * Below mpirun, which starts its daemons by srun, a step's number is theirs. */
static int slurm_tasks(const struct site *s)
{
    if (!strcmp(s->launcher, "mpirun"))
        return s->step_tasks ? 0 : s->slurm_tasks;
    return s->step_tasks ? s->step_tasks : s->slurm_tasks;
}

void check_ranks(struct report *r)
{
    static const char launch[] = "start it by `srun --mpi=pmix` (`srun --mpi=list` "
                                 "has to name what MPI was built for), or by mpirun";
    const struct site *s = &r->site;
    int size = comm_size(r->comm), tasks = slurm_tasks(s);
    bool alone = !strcmp(s->launcher, "none");

    if (size == 1 && tasks > 1 && s->step_tasks > 1)
        say_failure(r, FAULT_CONFIG, "ranks", launch,
                    "srun started %d processes and each believes that it is alone",
                    tasks);
    else if (size == 1 && tasks > 1 && alone)
        say_failure(r, FAULT_CONFIG, "ranks", launch,
                    "1 rank, but SLURM_NTASKS = %d: the others are not started", tasks);
    else if (tasks && size != tasks)
        say_warning(r, "ranks", "ask Slurm for as many tasks as mpirun starts",
                    "%d ranks, but SLURM_NTASKS = %d", size, tasks);
    else if (alone)
        say_ok(r, "ranks", "%d, without a launcher", size);
    else
        say_ok(r, "ranks", "%d on %d node%s, started by %s%s", size, r->nodes,
               r->nodes > 1 ? "s" : "", s->launcher, tasks ? ", as Slurm's tasks" : "");
}

/* "4.2.2" and "4.1.0rc1" can talk to each other; 2 and 4 may not. */
static bool same_major(const char *a, const char *b)
{
    return strtol(a, NULL, 10) == strtol(b, NULL, 10);
}

static void check_srun(struct report *r)
{
    char *argv[] = {"sh", "-c",
                    "srun --mpi=list 2>&1 | tr -s ' \\t\\n' ' ' | "
                    "sed 's/^.*are\\.\\.\\. *//; s/ *$//'",
                    NULL};
    char text[512];

    if (!r->site.slurm_job || r->how != DOCTOR_FULL || comm_rank(r->comm) != 0)
        return;
    stage(r, "srun --mpi=list");
    if (!site_ask(argv, text, sizeof text))
        say_warning(r, "pmi", "see whether srun is in PATH on the nodes",
                    "`srun --mpi=list` does not answer");
    else if (!strstr(text, "pmix"))
        say_warning(r, "pmi",
                    "have Slurm built with PMIx, or use mpirun (DAPO_LAUNCH=mpirun)",
                    "Slurm has no pmix: %s", text);
    else
        say_ok(r, "pmi", "%s", text);
    stage(r, NULL);
}

/* Seen with Slurm 22.05: slurm/lib.sh says what happens otherwise. */
static void check_fence(struct report *r)
{
    const char *fence = getenv("SLURM_PMIX_FENCE");

    if (strcmp(r->site.launcher, "srun") != 0 || r->nodes < 2)
        return;
    if (!fence || strcmp(fence, "ring") != 0)
        say_warning(r, "fence", "export SLURM_PMIX_FENCE=ring, as slurm/lib.sh does",
                    "SLURM_PMIX_FENCE is %s: a start of many ranks may now and then "
                    "die in MPI_Init",
                    fence ? fence : "not set");
    else
        say_ok(r, "fence", "by %s", fence);
}

void check_pmix(struct report *r)
{
    const struct site *s = &r->site;

    if (!strcmp(s->pmix_client, "none"))
        say_warning(r, "pmix", "set PMIX_CFLAGS and PMIX_LIBS in env/site.sh",
                    "this build has none: deaths on other nodes are not named");
    else if (!strcmp(s->launcher, "none"))
        say_ok(r, "pmix", "client %s", s->pmix_client);
    else if (!*s->pmix_server)
        say_ok(r, "pmix", "client %s, the server's is not said", s->pmix_client);
    else if (!same_major(s->pmix_client, s->pmix_server))
        say_warning(r, "pmix", "build MPI and Slurm against the same PMIx",
                    "client %s, server %s", s->pmix_client, s->pmix_server);
    else
        say_ok(r, "pmix", "client %s, server %s", s->pmix_client, s->pmix_server);
    check_fence(r);
    check_srun(r);
}

void check_time(struct report *r)
{
    double left;

    if (comm_rank(r->comm) != 0)
        return;
    left = site_time_left();
    if (!isfinite(left))
        say_ok(r, "time", "no limit known");
    else if (left < SHORT_TIME)
        say_warning(r, "time", "submit with a longer --time",
                    "%.0f s left in this allocation", left);
    else
        say_ok(r, "time", "%.1f h left in this allocation", left / 3600);
}
