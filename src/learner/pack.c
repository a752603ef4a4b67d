/* pack.c - sequences into microbatches without padding. */
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "learner/learner_private.h"

static int by_order(const void *a, const void *b)
{
    const struct sequence *x = *(const struct sequence *const *)a;
    const struct sequence *y = *(const struct sequence *const *)b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x < y ? -1 : x > y; /* both lie in the caller's array */
}

int packer_take(struct packer *p, const struct sequence *seq, int n, bool whole_only,
                struct fault *f)
{
    int rc = mem_grow((void **)&p->list, &p->list_cap, (size_t)n, sizeof *p->list,
                      "a batch", f);

    p->n = 0;
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        if (!(whole_only && seq[i].truncated))
            p->list[p->n++] = &seq[i];
    /* A microbatch's content, and so the rounding of the sum, is then independent of
     * the order in which groups happened to be delivered. */
    if (p->n > 1)
        qsort(p->list, (size_t)p->n, sizeof *p->list, by_order);
    return 0;
}

int packer_cut(const struct packer *p, int first, int most)
{
    int end = first, left = most;

    while (end < p->n) {
        int rows = p->list[end]->n_prompt + p->list[end]->n;

        if (end > first && rows > left)
            break;
        left -= rows;
        end++;
    }
    return end;
}

static int reserve(struct packer *p, struct fault *f)
{
    void **out[] = {(void **)&p->at,  (void **)&p->targets, (void **)&p->of,
                    (void **)&p->nth, (void **)&p->logp,    (void **)&p->entropy};
    int rc = mem_grow((void **)&p->ids, &p->ids_cap, (size_t)p->rows, sizeof *p->ids,
                      "a microbatch", f);

    if (!rc)
        rc = mem_grow((void **)&p->start, &p->start_cap, (size_t)p->n_seq + 1,
                      sizeof *p->start, "a microbatch", f);
    _Static_assert(sizeof(int) == 4 && sizeof(float) == 4, "all six are 4 bytes wide");
    for (size_t i = 0; !rc && i < sizeof out / sizeof out[0]; i++)
        rc = mem_grow(out[i], &p->out_cap[i], (size_t)p->n_out, 4, "a microbatch", f);
    return rc;
}

/* Completion token t is predicted by the row before it; the prompt's tokens, given and
 * not drawn, are nobody's target. */
static int place(struct packer *p, int s, int row, int out)
{
    const struct sequence *q = p->list[p->first + s];

    memcpy(p->ids + row, q->prompt, (size_t)q->n_prompt * sizeof *p->ids);
    memcpy(p->ids + row + q->n_prompt, q->ids, (size_t)q->n * sizeof *p->ids);
    p->start[s] = row;
    for (int t = 0; t < q->n; t++, out++) {
        p->at[out] = row + q->n_prompt - 1 + t;
        p->targets[out] = q->ids[t];
        p->of[out] = s;
        p->nth[out] = t;
    }
    return out;
}

int packer_fill(struct packer *p, int first, int end, struct fault *f)
{
    int rc, out = 0, row = 0;

    p->first = first;
    p->n_seq = end - first;
    p->rows = p->n_out = 0;
    for (int i = first; i < end; i++) {
        p->rows += p->list[i]->n_prompt + p->list[i]->n;
        p->n_out += p->list[i]->n;
    }
    if ((rc = reserve(p, f)))
        return rc;
    for (int s = 0; s < p->n_seq; s++) {
        out = place(p, s, row, out);
        row += p->list[first + s]->n_prompt + p->list[first + s]->n;
    }
    p->start[p->n_seq] = row;
    return 0;
}

struct pack packer_view(const struct packer *p)
{
    return (struct pack){p->rows, p->n_seq, p->ids, p->start};
}

void packer_free(struct packer *p)
{
    free(p->list);
    free(p->ids);
    free(p->start);
    free(p->at);
    free(p->targets);
    free(p->of);
    free(p->nth);
    free(p->logp);
    free(p->entropy);
    *p = (struct packer){0};
}
