/* ids.c - a growing list of token ids. */
#include <stdlib.h>

#include "dapo/text.h"

void ids_free(struct ids *v)
{
    free(v->id);
    *v = (struct ids){0};
}

int ids_add(struct ids *v, int id, struct fault *f)
{
    if (v->n == v->cap &&
        mem_grow((void **)&v->id, &v->cap, v->n + 1, sizeof v->id[0], "token ids", f))
        return f->code;
    v->id[v->n++] = id;
    return 0;
}
