/* cpu.c - the table of the CPU backend, its threads and work space. */
#include <dlfcn.h>
#include <stdlib.h>

#include "backend/cpu.h"

static struct {
    void *p;
    size_t bytes;
} scratch[N_SCRATCH];

void *cpu_scratch(enum scratch which, size_t bytes, struct fault *f)
{
    size_t want = bytes + bytes / 2; /* so that growing by ones is rare */

    if (bytes <= scratch[which].bytes && scratch[which].p)
        return scratch[which].p;
    host_free(scratch[which].p);
    scratch[which].bytes = 0;
    if (host_alloc(&scratch[which].p, want, f))
        return NULL;
    scratch[which].bytes = want;
    return scratch[which].p;
}

/* oneDNN takes its threads from the OpenMP runtime that it was built with, which is
 * whichever it loaded; nothing else here uses OpenMP. */
static void set_threads(int threads)
{
    void (*set)(int);
    void *symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads");

    if (!symbol)
        return;
    memcpy(&set, &symbol, sizeof set); /* ISO C has no cast from object to function */
    set(threads < 1 ? 1 : threads);
}

int cpu_open(int device, int threads, struct fault *f)
{
    (void)device;
    set_threads(threads);
    return cpu_dense_open(f);
}

void cpu_close(void)
{
    cpu_dense_close();
    cpu_rope_close();
    for (int i = 0; i < N_SCRATCH; i++) {
        host_free(scratch[i].p);
        scratch[i].p = NULL;
        scratch[i].bytes = 0;
    }
}

#define CPU_ENTRY(op) .op = cpu_##op,

const struct backend backend_cpu = {
    .name = "cpu",
    HOST_OPS(HOST_ENTRY) /**/
    OWN_OPS(CPU_ENTRY)   /**/
};
