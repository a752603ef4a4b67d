/* cpu.h - private: the fast backend of the host. */
#ifndef DAPO_BACKEND_CPU_H
#define DAPO_BACKEND_CPU_H

#include "backend/ops.h"

#define DECLARE_CPU(op) OP_TYPE(op) cpu_##op;
OWN_OPS(DECLARE_CPU)
#undef DECLARE_CPU

#endif
