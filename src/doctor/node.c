/* node.c - which ranks share a node, and the processors and devices they have there. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_mpi.h"
#include "dapo/backend.h"
#include "doctor/node.h"

void node_reduce_all(MPI_Comm node, void *x, int n, MPI_Datatype type, MPI_Op op)
{
    MPI_Request q;

    MUST(MPI_Iallreduce(MPI_IN_PLACE, x, n, type, op, node, &q));
    comm_finish(&q);
}

void find_nodes_all(struct report *r)
{
    MPI_Comm node = comm_node_all(r->comm);
    int me = comm_rank(r->comm), first = me;
    double elsewhere, heads;

    MUST(MPI_Comm_rank(node, &r->local_rank));
    node_reduce_all(node, &first, 1, MPI_INT, MPI_MIN);
    MUST(MPI_Comm_free(&node));
    /* Of the ranks not on rank 0's node the lowest, as the largest of negatives. */
    elsewhere = first != 0 ? -(double)me : -INFINITY;
    comm_max_f64_all(r->comm, SCOPE_WORLD, &elsewhere, 1);
    heads = r->local_rank == 0;
    comm_sum_f64_all(r->comm, SCOPE_WORLD, &heads, 1);
    r->nodes = (int)heads;
    r->peer = isfinite(elsewhere) ? (int)-elsewhere : comm_size(r->comm) > 1;
}

/* -- processors -------------------------------------------------------------------- */

struct cpus {
    int rank, mine;  /* processors this rank may run on ... */
    int ranks, node; /* ... and all ranks of its node may */
    char host[64];
};

static struct cpus count_cpus_all(const struct report *r)
{
    struct cpus out = {.rank = comm_rank(r->comm), .ranks = 1};
    MPI_Comm node = comm_node_all(r->comm);
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set))
        CPU_SET(0, &set);
    out.mine = CPU_COUNT(&set);
    node_reduce_all(node, &set, (int)sizeof set, MPI_BYTE, MPI_BOR);
    node_reduce_all(node, &out.ranks, 1, MPI_INT, MPI_SUM);
    out.node = CPU_COUNT(&set);
    MUST(MPI_Comm_free(&node));
    snprintf(out.host, sizeof out.host, "%.63s", comm_host(r->comm));
    return out;
}

void check_cpus_all(struct report *r)
{
    struct cpus x = count_cpus_all(r);
    int threads = r->job->threads > 0 ? r->job->threads : 1;
    double share = (double)x.ranks * threads / x.node, bound = (double)threads / x.mine;
    double worst = worst_all(r->comm, share > bound ? share : bound, &x, sizeof x);
    int used = x.ranks * threads;
    char text[160];

    snprintf(text, sizeof text, "%d rank%s of %d thread%s on %d processor%s of %s",
             x.ranks, x.ranks > 1 ? "s" : "", threads, threads > 1 ? "s" : "", x.node,
             x.node > 1 ? "s" : "", x.host);
    if (worst > 1 && x.mine < threads && used <= x.node)
        say_warning(r, "cpus", "srun --cpus-per-task=N, mpirun --bind-to none",
                    "%s, but rank %d is bound to %d", text, x.rank, x.mine);
    else if (worst > 1)
        say_warning(r, "cpus",
                    "start fewer ranks, or give each more (--cpus-per-task); "
                    "ranks that share one wait for each other",
                    "%s", text);
    else if (r->how != DOCTOR_START && r->job->given && r->site.slurm_job &&
             2 * used <= x.node)
        say_warning(r, "cpus", "raise ranks.threads, or ask for fewer processors",
                    "%s: most are paid for and idle", text);
    else
        say_ok(r, "cpus", "%s, each bound to %d", text, x.mine);
}

bool proc_value(const char *path, const char *key, char *out, size_t n)
{
    FILE *in = fopen(path, "r");
    char line[4096];
    bool found = false;

    while (in && !found && fgets(line, sizeof line, in)) {
        char *value = strchr(line, ':');

        if (strncmp(line, key, strlen(key)) || !value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(out, n, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    if (in)
        fclose(in);
    return found;
}

struct processor {
    int rank;
    char name[96], host[64];
};

/* Ranks compare bits, which other processors need not give. */
void check_processors_all(struct report *r)
{
    struct processor x = {.rank = comm_rank(r->comm)}, zero;
    const char *bf16 = "no";

    if (!proc_value("/proc/cpuinfo", "model name", x.name, sizeof x.name))
        snprintf(x.name, sizeof x.name, "unknown");
    snprintf(x.host, sizeof x.host, "%.63s", comm_host(r->comm));
    zero = x;
    comm_bcast_all(r->comm, SCOPE_WORLD, &zero, sizeof zero);
#if defined(__x86_64__)
    __builtin_cpu_init();
    bf16 = __builtin_cpu_supports("avx512bf16") ? "yes" : "no";
#endif
    if (worst_all(r->comm, strcmp(x.name, zero.name) != 0, &x, sizeof x) > 0)
        say_warning(r, "processor",
                    "ask for one kind of node (--constraint): results are equal to "
                    "the bit on one kind only",
                    "rank 0 on %s has %s, rank %d on %s has %s", zero.host, zero.name,
                    x.rank, x.host, x.name);
    else
        say_ok(r, "processor", "%s; products in bf16 by hardware: %s", x.name, bf16);
}

/* -- devices ----------------------------------------------------------------------- */

/* GPUs given to this rank's job or seen on its node. */
static bool gpu_here(void)
{
    static const char *const given[] = {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS",
                                        "SLURM_GPUS_ON_NODE"};
    static const char *const seen[] = {"/dev/nvidia0", "/dev/kfd"};
    bool any = false;

    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        any = any || getenv(given[i]);
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
        any = any || !access(seen[i], F_OK);
    return any;
}

void check_devices_all(struct report *r)
{
    const struct backend *cuda;
    struct fault f = FAULT_INIT;
    double any = gpu_here(), built = !backend_find(&cuda, "cuda", &f);

    comm_max_f64_all(r->comm, SCOPE_WORLD, &any, 1);
    if (built > 0)
        say_ok(r, "gpu", "backend cuda, %s", any > 0 ? "GPUs found" : "no GPU found");
    else if (any > 0)
        say_warning(r, "gpu", "ask for nodes without GPUs",
                    "this build has no CUDA backend: the GPUs here would be idle");
    else
        say_ok(r, "gpu", "none found, and this build has no CUDA backend");
}
