/* site.c - what the environment says of this process and its allocation. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "watch/watch_private.h"

#define PATIENCE 10.0 /* s for a program's answer */

static long long number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoll(text, NULL, 10) : 0;
}

static int cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

void site_read(struct site *out)
{
    *out = (struct site){.size = 1, .local_size = 1, .nodes = 1};
    snprintf(out->launcher, sizeof out->launcher, "%s",
             getenv("OMPI_COMM_WORLD_SIZE") && getenv("OMPI_MCA_ess_base_jobid")
                 ? "mpirun"
             : getenv("SLURM_STEP_ID") && getenv("PMIX_RANK") ? "srun"
                                                              : "none");
    if (gethostname(out->host, sizeof out->host - 1))
        snprintf(out->host, sizeof out->host, "unknown");
    out->slurm_job = number("SLURM_JOB_ID");
    out->slurm_tasks = (int)number("SLURM_NTASKS");
    if (getenv("SLURM_STEP_ID"))
        out->step_tasks = (int)number("SLURM_STEP_NUM_TASKS");
    out->cpus = cpus();
    pmix_facts(out);
}

void site_close(void)
{
    pmix_unwatch();
}

/* Spawned, not forked: an MPI library's memory must not be copied. */
bool site_ask(char *const argv[], char *out, size_t n)
{
    posix_spawn_file_actions_t files;
    double end = clock_now() + PATIENCE;
    int ends[2], status = -1;
    size_t got = 0;
    ssize_t k = 1;
    pid_t pid;

    if (pipe(ends))
        return false;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
    status = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    while (!status && k > 0 && got + 1 < n) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        double left = end - clock_now();

        if (left <= 0 || poll(&p, 1, (int)(left * 1000)) <= 0)
            break;
        k = read(ends[0], out + got, n - 1 - got);
        got += k > 0 ? (size_t)k : 0;
    }
    out[got] = '\0';
    close(ends[0]);
    if (status)
        return false;
    if (k != 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return k == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double site_seconds(const char *text)
{
    unsigned long part[4] = {0};
    int n = 0, used;
    bool days = strchr(text, '-') != NULL;

    while (n < 4 && sscanf(text, "%lu%n", &part[n], &used) == 1) {
        text += used;
        n++;
        if (*text != '-' && *text != ':')
            break;
        text++;
    }
    if (n == 0 || (*text && *text != '\n'))
        return INFINITY;
    if (days) /* D-HH[:MM[:SS]] */
        return (double)part[0] * 86400 + (double)part[1] * 3600 + (double)part[2] * 60 +
               (double)part[3];
    return n == 1   ? (double)part[0] * 60
           : n == 2 ? (double)part[0] * 60 + (double)part[1]
                    : (double)part[0] * 3600 + (double)part[1] * 60 + (double)part[2];
}

double site_time_left(void)
{
    const char *job = getenv("SLURM_JOB_ID"), *end = getenv("SLURM_JOB_END_TIME");
    char id[32], answer[64];
    char *argv[] = {"squeue", "-h", "-j", id, "-o", "%L", NULL};

    if (!job)
        return INFINITY;
    snprintf(id, sizeof id, "%.31s", job);
    if (site_ask(argv, answer, sizeof answer))
        return site_seconds(answer);
    if (end)
        return difftime((time_t)strtoll(end, NULL, 10), time(NULL));
    return INFINITY;
}
