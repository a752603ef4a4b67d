/* cpu.c - the table of the CPU backend. */
#include "backend/ref.h"

#define CPU_ENTRY(op) .op = ref_##op,

const struct backend backend_cpu = {
    .name = "cpu",
    HOST_OPS(HOST_ENTRY) /**/
    OWN_OPS(CPU_ENTRY)   /**/
};
