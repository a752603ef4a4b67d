/* ref.c - the table of the reference backend. */
#include "backend/ref.h"

int ref_open(int device, int threads, struct fault *f)
{
    (void)device;
    (void)threads;
    (void)f;
    return 0;
}

void ref_close(void)
{
}

#define REF_ENTRY(op) .op = ref_##op,

const struct backend backend_ref = {
    .name = "ref",
    HOST_OPS(HOST_ENTRY) /**/
    OWN_OPS(REF_ENTRY)   /**/
};
