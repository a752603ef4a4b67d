/* analyzer_cpu.h - analyzer.h, and what backend/cpu.h promises its own sources. */
#include "analyzer.h"
#include "backend/cpu.h"

static inline void *analyzer_lent(struct fault *f)
{
    void *p = analyzer_pointer();

    if (!p)
        f->code = FAULT_SYSTEM;
    return p;
}

#define cpu_scratch(which, bytes, f) ((void)(which), (void)(bytes), analyzer_lent((f)))
