/* test_ref.c - the reference backend against values from outside. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "dapo/backend.h"

static const struct backend *const ref = &backend_ref;

/* rms of (3, 4) is sqrt(25 / 2); y = x / rms * w. */
static void rmsnorm_by_hand(void)
{
    float x[] = {3, 4}, w[] = {1, 2}, y[2], rstd;
    struct fault f = FAULT_INIT;

    CHECK_OK(ref->rmsnorm(y, &rstd, x, w, 1, 2, 0, &f), &f);
    CHECK_NEAR((double)rstd, sqrt(2.0) / 5, 1e-7);
    CHECK_NEAR((double)y[0], 3 * sqrt(2.0) / 5, 1e-6);
    CHECK_NEAR((double)y[1], 8 * sqrt(2.0) / 5, 1e-6);
}

CASES(CASE(rmsnorm_by_hand));
