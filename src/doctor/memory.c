/* memory.c - memory of each node, and limits of each process. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "comm/comm_mpi.h"
#include "dapo/mem.h"
#include "doctor/node.h"

/* -- memory ------------------------------------------------------------------------ */

static double number_in(const char *path)
{
    FILE *in = fopen(path, "r");
    double v = NAN;

    if (in && fscanf(in, "%lf", &v) != 1) /* "max": no limit */
        v = NAN;
    if (in)
        fclose(in);
    return v;
}

/* Limit less use of one control group: NAN without a limit. */
static double room_of(const char *folder, const char *group, const char *limit,
                      const char *use)
{
    char path[8192];
    double most;

    snprintf(path, sizeof path, "%s%s/%s", folder, group, limit);
    most = number_in(path);
    snprintf(path, sizeof path, "%s%s/%s", folder, group, use);
    return most - number_in(path);
}

/* The room that this process's control group and those around it leave, in either
 * version of them. */
static double group_room(void)
{
    FILE *in = fopen("/proc/self/cgroup", "r");
    double room = INFINITY;
    char line[4096];

    while (in && fgets(line, sizeof line, in)) {
        char *group = strchr(line, '/');
        bool first = strstr(line, ":memory:") != NULL;

        if (!group || (!first && strncmp(line, "0::", 3) != 0))
            continue;
        group[strcspn(group, "\n")] = '\0';
        for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
            *end = '\0';
            room =
                fmin(room, /* of a number and NAN fmin is the number */
                     first ? room_of("/sys/fs/cgroup/memory", group,
                                     "memory.limit_in_bytes", "memory.usage_in_bytes")
                           : room_of("/sys/fs/cgroup", group, "memory.max",
                                     "memory.current"));
        }
    }
    if (in)
        fclose(in);
    return room;
}

double memory_free(void)
{
    char text[64];
    double kib = INFINITY;

    if (proc_value("/proc/meminfo", "MemAvailable", text, sizeof text))
        kib = strtod(text, NULL);
    return fmin(1024 * kib, group_room());
}

struct memory {
    double need, free;
    int ranks;
    char host[64];
};

void check_memory_all(struct report *r)
{
    struct memory x = {.free = memory_free(), .ranks = 1};
    MPI_Comm node = comm_node_all(r->comm);
    char need[32], has[32], text[256];

    x.need = comm_rank(r->comm) < r->job->learners ? r->job->learn_bytes
                                                   : r->job->roll_bytes;
    node_reduce_all(node, &x.need, 1, MPI_DOUBLE, MPI_SUM);
    node_reduce_all(node, &x.free, 1, MPI_DOUBLE, MPI_MIN);
    node_reduce_all(node, &x.ranks, 1, MPI_INT, MPI_SUM);
    MUST(MPI_Comm_free(&node));
    snprintf(x.host, sizeof x.host, "%.63s", comm_host(r->comm));
    worst_all(r->comm, x.need - x.free, &x, sizeof x);
    size_text(x.need, need);
    size_text(x.free, has);
    snprintf(text, sizeof text, "%d rank%s of %s need%s up to %s, and %s are free",
             x.ranks, x.ranks > 1 ? "s" : "", x.host, x.ranks > 1 ? "" : "s", need,
             has);
    if (!r->job->given || r->job->broken)
        say_ok(r, "memory", "%s free on %s", has, x.host);
    else if (x.need > x.free)
        say_warning(r, "memory",
                    "fewer ranks a node, lower optimizer.microbatch_tokens or "
                    "rollout.kv_tokens (dapo plan), --mem=0",
                    "%s", text);
    else
        say_ok(r, "memory", "%s", text);
}

/* -- limits ------------------------------------------------------------------------ */

enum { CORE, FILES, LOCKED, SPACE, LIMITS };

static double limit(int which)
{
    static const int of[LIMITS] = {
        [CORE] = RLIMIT_CORE,
        [FILES] = RLIMIT_NOFILE,
        [LOCKED] = RLIMIT_MEMLOCK,
        [SPACE] = RLIMIT_AS,
    };
    struct rlimit l;

    return getrlimit((__rlimit_resource_t)of[which], &l) || l.rlim_cur == RLIM_INFINITY
               ? INFINITY
               : (double)l.rlim_cur;
}

static bool any_entry(const char *folder)
{
    DIR *d = opendir(folder);
    bool any = false;

    for (struct dirent *e; d && !any && (e = readdir(d));)
        any = e->d_name[0] != '.';
    if (d)
        closedir(d);
    return any;
}

static const char *limit_text(double bytes, char text[32])
{
    return bytes == 0 ? "none" : isfinite(bytes) ? size_text(bytes, text) : "unlimited";
}

void check_limits_all(struct report *r)
{
    double lowest[LIMITS + 1], most;
    char text[3][32];

    for (int i = 0; i < LIMITS; i++)
        lowest[i] = -limit(i); /* the lowest, as the largest of negatives */
    lowest[LIMITS] = any_entry("/sys/class/infiniband");
    comm_max_f64_all(r->comm, SCOPE_WORLD, lowest, LIMITS + 1);
    for (int i = 0; i < LIMITS; i++)
        lowest[i] = -lowest[i];
    most = fmax(r->job->learn_bytes, r->job->roll_bytes);
    if (lowest[SPACE] < most)
        say_failure(r, FAULT_CONFIG, "limits", "ulimit -v unlimited",
                    "address space %s, and a rank needs up to %s",
                    size_text(lowest[SPACE], text[0]), size_text(most, text[1]));
    else if (lowest[FILES] < 1024)
        say_warning(r, "limits", "ulimit -n 65536",
                    "%.0f open files: too few for MPI between many ranks",
                    lowest[FILES]);
    else if (lowest[LIMITS] > 0 && isfinite(lowest[LOCKED]))
        say_warning(r, "limits", "ulimit -l unlimited, before slurmd starts",
                    "%s of locked memory: InfiniBand wants more",
                    size_text(lowest[LOCKED], text[0]));
    else
        say_ok(r, "limits",
               "core files %s, %.0f open files, locked memory %s, address space %s",
               limit_text(lowest[CORE], text[0]), lowest[FILES],
               limit_text(lowest[LOCKED], text[1]), limit_text(lowest[SPACE], text[2]));
}
