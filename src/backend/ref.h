/* ref.h - private: the reference backend.  Plain loops and double accumulators; it is
 * what the others are tested against, so it has no cleverness. */
#ifndef DAPO_BACKEND_REF_H
#define DAPO_BACKEND_REF_H

#include "backend/ops.h"

#define DECLARE_REF(op) OP_TYPE(op) ref_##op;
OWN_OPS(DECLARE_REF)
#undef DECLARE_REF

#endif
