/* check.h - private: a backend that watches another, "check:NAME". */
#ifndef DAPO_BACKEND_CHECK_H
#define DAPO_BACKEND_CHECK_H

#include "backend/ops.h"

/* *out runs `inner` and fails with FAULT_BUG, naming op and array, when an op leaves a
 * value that is not finite (or does not write one: outputs are filled with NaN before)
 * or changes what it was only to read.  A process watches one backend at a time:
 * FAULT_CONFIG while another is open. */
int check_wrap(const struct backend **out, const struct backend *inner,
               struct fault *f);

#endif
