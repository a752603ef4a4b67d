/* analyzer.h - read by clang-tidy before each source, by no compiler.
 *
 * The analyzer sees one file at a time and so takes `return fault_set(...)` and
 * `p ? 0 : f->code` for perhaps 0, a success without a result.  Here is what the
 * headers promise, as bodies it can see.
 */
#include <stdlib.h>
#include "dapo/fault.h"
#include "dapo/mem.h"
#include "dapo/comm.h"

void analyzer_use(const char *format, ...);
void *analyzer_pointer(void); /* to what someone else owns, or NULL */

static inline void *analyzer_new(size_t n, size_t width, struct fault *f)
{
    void *p = calloc(n ? n : 1, width);

    if (!p)
        f->code = FAULT_SYSTEM;
    return p;
}

static inline int analyzer_agree(int rc, struct fault *f)
{
    int other = rand();

    if (!rc && other)
        f->code = other;
    return rc ? rc : other;
}

static inline int analyzer_text(struct bytes *b, struct fault *f)
{
    b->data = analyzer_pointer();
    return b->data ? 0 : (f->code = FAULT_SYSTEM);
}

#define fault_set(f, what, ...) (analyzer_use(__VA_ARGS__), (f)->code = (int)(what))
#define mem_new(n, width, what, f) (analyzer_use(what), analyzer_new((n), (width), (f)))
#define path_join(dir, name, f) \
    ((char *)(analyzer_use(dir, name), analyzer_new(1, 1, (f))))
#define comm_agree_all(c, rc, f) ((void)(c), analyzer_agree((rc), (f)))
#define bytes_printf(b, f, ...) (analyzer_use(__VA_ARGS__), analyzer_text((b), (f)))
