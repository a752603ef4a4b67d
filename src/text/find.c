/* find.c - added tokens in a text: the leftmost, and there the longest. */
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

int finder_add(struct finder *d, const char *s, size_t n, int id, bool special,
               struct fault *f)
{
    if (mem_grow((void **)&d->item, &d->cap, d->n + 1, sizeof d->item[0],
                 "the added tokens", f))
        return f->code;
    d->item[d->n++] = (struct found){s, n, id, special};
    return 0;
}

static int by_first_byte(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    int x = (unsigned char)a->text[0], y = (unsigned char)b->text[0];

    if (x != y)
        return x < y ? -1 : 1;
    return a->n != b->n ? (a->n > b->n ? -1 : 1) : a->id - b->id;
}

void finder_ready(struct finder *d)
{
    size_t i = 0;

    if (d->n)
        qsort(d->item, d->n, sizeof d->item[0], by_first_byte);
    for (unsigned b = 0; b <= 256; b++) {
        while (i < d->n && (unsigned char)d->item[i].text[0] < b)
            i++;
        d->first[b] = i;
    }
}

void finder_free(struct finder *d)
{
    free(d->item);
}

/* Whether a guard forbids a match at [begin, end): special ones inside it, all across
 * its edges. */
static bool forbidden(const struct found *item, size_t begin, const struct guard *g)
{
    size_t end = begin + item->n;

    if (g->end <= begin || end <= g->begin)
        return false;
    return item->special || begin < g->begin || end > g->end;
}

const struct found *finder_next(const struct finder *d, const char *s, size_t n,
                                size_t from, const struct guard *guard, size_t n_guard,
                                size_t *at)
{
    size_t g = 0;

    if (!d->n)
        return NULL;
    for (size_t i = from; i < n; i++) {
        unsigned b = (unsigned char)s[i];

        for (size_t k = d->first[b]; k < d->first[b + 1]; k++) {
            const struct found *item = &d->item[k];

            if (item->n > n - i || memcmp(item->text, s + i, item->n))
                continue;
            while (g < n_guard && guard[g].end <= i)
                g++;
            if (g < n_guard && forbidden(item, i, &guard[g]))
                continue;
            *at = i;
            return item;
        }
    }
    return NULL;
}
