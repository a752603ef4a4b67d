/* bpe.c - merging the bytes of one piece into tokens.
 *
 * Always the pair of lowest rank, the leftmost of equals, until no pair has a rank.
 * Source: Sennrich et al. 2016, alg. 1, with ranks in place of counts.  Short pieces
 * (nearly all) are searched through; long ones keep their pairs in a heap, so that a
 * piece of n bytes takes O(n log n).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

enum { SHORT = 32 };

struct symbol { /* of a long piece, linked */
    int id, prev, next;
};

struct candidate {
    int rank, at; /* of the left symbol */
    int left, right, id;
};

static void look(const struct merges *m, int left, int right, int *rank, int *made)
{
    const struct merge *found = merges_find(m, left, right);

    *rank = found ? found->rank : INT_MAX;
    *made = found ? found->id : -1;
}

/* Merge id[n] in place; returns what is left of n. */
static size_t merge_short(const struct merges *m, int *id, size_t n)
{
    int rank[SHORT], made[SHORT];

    for (size_t i = 0; i + 1 < n; i++)
        look(m, id[i], id[i + 1], &rank[i], &made[i]);
    while (n > 1) {
        size_t best = 0, after;

        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == INT_MAX)
            break;
        id[best] = made[best];
        n--;
        after = n - best - 1; /* symbols behind the new one */
        memmove(&id[best + 1], &id[best + 2], after * sizeof id[0]);
        memmove(&rank[best], &rank[best + 1], after * sizeof rank[0]);
        memmove(&made[best], &made[best + 1], after * sizeof made[0]);
        if (best > 0)
            look(m, id[best - 1], id[best], &rank[best - 1], &made[best - 1]);
        if (after > 0)
            look(m, id[best], id[best + 1], &rank[best], &made[best]);
    }
    return n;
}

static bool before(const struct candidate *a, const struct candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static int push(struct bpe *b, int at, struct fault *f)
{
    int right = b->symbol[at].next;
    const struct merge *m;
    struct candidate c;
    size_t i = b->n_heap;

    if (at < 0 || right < 0)
        return 0;
    m = merges_find(&b->t->merges, b->symbol[at].id, b->symbol[right].id);
    if (!m)
        return 0;
    if (mem_grow((void **)&b->heap, &b->cap_heap, i + 1, sizeof b->heap[0],
                 "a long word", f))
        return f->code;
    c = (struct candidate){m->rank, at, m->left, m->right, m->id};
    b->n_heap++;
    for (; i > 0 && before(&c, &b->heap[(i - 1) / 2]); i = (i - 1) / 2)
        b->heap[i] = b->heap[(i - 1) / 2];
    b->heap[i] = c;
    return 0;
}

static struct candidate pop(struct bpe *b)
{
    struct candidate top = b->heap[0], last = b->heap[--b->n_heap];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < b->n_heap) {
        if (child + 1 < b->n_heap && before(&b->heap[child + 1], &b->heap[child]))
            child++;
        if (!before(&b->heap[child], &last))
            break;
        b->heap[i] = b->heap[child];
        i = child;
    }
    b->heap[i] = last;
    return top;
}

static int merge_long(struct bpe *b, const char *piece, size_t n, struct fault *f)
{
    struct symbol *s;
    int rc = 0;

    if (n > INT_MAX / 2)
        return fault_set(f, FAULT_DATA, "a word of %zu bytes is too long", n);
    if (mem_grow((void **)&b->symbol, &b->n_symbol, n, sizeof *s, "a long word", f))
        return f->code;
    s = b->symbol;
    for (int i = 0; i < (int)n; i++)
        s[i] = (struct symbol){b->t->byte_id[(unsigned char)piece[i]], i - 1,
                               i + 1 < (int)n ? i + 1 : -1};
    b->n_heap = 0;
    for (int i = 0; i < (int)n && !rc; i++)
        rc = push(b, i, f);
    while (b->n_heap && !rc) {
        struct candidate c = pop(b);
        struct symbol *left = &s[c.at], *right = left->next < 0 ? NULL : &s[left->next];

        if (left->id != c.left || !right || right->id != c.right)
            continue; /* one of the two has been merged since */
        left->id = c.id;
        left->next = right->next;
        right->id = -1;
        if (left->next >= 0)
            s[left->next].prev = c.at;
        rc = push(b, c.at, f);
        if (!rc && left->prev >= 0)
            rc = push(b, left->prev, f);
    }
    for (int i = 0; i >= 0 && !rc; i = s[i].next)
        rc = ids_add(b->out, s[i].id, f);
    return rc;
}

int bpe_piece(void *with, const char *piece, size_t n, struct fault *f)
{
    struct bpe *b = with;
    int id[SHORT];

    if (b->t->ignore_merges) {
        int whole = words_find(&b->t->words, piece, n, false);

        if (whole >= 0)
            return ids_add(b->out, whole, f);
    }
    if (n > SHORT)
        return merge_long(b, piece, n, f);
    for (size_t i = 0; i < n; i++)
        id[i] = b->t->byte_id[(unsigned char)piece[i]];
    n = merge_short(&b->t->merges, id, n);
    for (size_t i = 0; i < n; i++)
        if (ids_add(b->out, id[i], f))
            return f->code;
    return 0;
}

void bpe_free(struct bpe *b)
{
    free(b->symbol);
    free(b->heap);
}
