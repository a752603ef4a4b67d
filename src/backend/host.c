/* host.c - memory ops of the backends that live in host memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/ops.h"
#include "dapo/mem.h"

#define LINE 64u
#define HUGE_PAGE ((size_t)2 << 20)

int host_alloc(void **out, size_t bytes, struct fault *f)
{
    /* Huge pages: the first touch of memory costs a third, and one stream of reads
     * gains a fifth. */
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE, total;

    *out = NULL;
    if (size_add(bytes ? bytes : 1, align - 1, &total))
        *out = aligned_alloc(align, total / align * align);
    if (!*out)
        return fault_set(f, FAULT_SYSTEM, "no memory for an array of %zu bytes", bytes);
    total = total / align * align;
    if (align == HUGE_PAGE)
        madvise(*out, total, MADV_HUGEPAGE); /* a hint; refusal is no failure */
    memset(*out, 0, total);
    return 0;
}

void host_free(void *p)
{
    free(p);
}

int host_put(void *dst, const void *host, size_t bytes, struct fault *f)
{
    (void)f;
    if (bytes)
        memcpy(dst, host, bytes);
    return 0;
}

int host_get(void *host, const void *src, size_t bytes, struct fault *f)
{
    return host_put(host, src, bytes, f);
}

int host_zero(void *p, size_t bytes, struct fault *f)
{
    (void)f;
    if (bytes)
        memset(p, 0, bytes);
    return 0;
}

int host_sync(struct fault *f)
{
    (void)f;
    return 0;
}
