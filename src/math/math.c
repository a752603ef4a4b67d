/* math.c - the work space of one thread; names of verdicts, steps and libraries. */
#include <gmp.h>
#include <stdlib.h>

#include "dapo/mem.h"
#include "math/ball.h"
#include "math/tree.h"

const char *math_verdict_text(enum math_verdict v)
{
    static const char *const texts[MATH_VERDICT_COUNT] = {
#define X(name, text) text,
        MATH_VERDICT_LIST(X)
#undef X
    };

    return texts[v];
}

const char *math_step_text(enum math_step s)
{
    static const char *const texts[MATH_STEP_COUNT] = {
#define X(name, text) text,
        MATH_STEP_LIST(X)
#undef X
    };

    return texts[s];
}

const char *math_libraries(void)
{
    return MATH_LIBRARIES;
}

bool math_has_flint(void)
{
#ifdef HAVE_FLINT
    return true;
#else
    return false;
#endif
}

int math_new(struct math **out, struct fault *f)
{
    struct math *m = mem_new(1, sizeof *m, "the comparison of answers", f);
    int rc;

    *out = NULL;
    if (!m)
        return f->code;
    for (int i = 0; i < MAX_LITERALS; i++)
        mpq_init(m->literal[i]);
    rc = scalar_open(m, f);
    if (rc)
        math_free(m);
    else
        *out = m;
    return rc;
}

void math_free(struct math *m)
{
    if (!m)
        return;
    scalar_close(m);
    for (int i = 0; i < MAX_LITERALS; i++)
        mpq_clear(m->literal[i]);
    free(m);
}
