/* plusminus.c - \pm and \mp become the values they stand for. */
#include "math/compare.h"

enum { MAX_SIGNS = 4 };

/* Signs in `a`; *opposite: one is \mp. */
static int count_signs(const struct node *a, bool *opposite)
{
    int n = a->kind == NODE_PLUSMINUS;

    if (n && a->u.minus_plus)
        *opposite = true;
    for (int i = 0; i < a->n; i++)
        n += count_signs(a->kid[i], opposite);
    return n;
}

/* `a` with its signs taken from the bits of `minus`: all from bit 0, or each from the
 * bit of its place, which *at counts. */
static const struct node *choose(struct math *m, const struct node *a, unsigned minus,
                                 bool free, int *at)
{
    struct node *copy;

    if (!has_kind(a, NODE_PLUSMINUS))
        return a;
    if (a->kind == NODE_PLUSMINUS) {
        unsigned bit = minus >> (free ? (*at)++ : 0) & 1;
        const struct node *first = choose(m, a->kid[0], minus, free, at);
        const struct node *second =
            a->n == 2 ? choose(m, a->kid[1], minus, free, at) : first;

        if (a->u.minus_plus)
            bit = !bit;
        if (bit)
            second = tree_one(m, NODE_NEGATE, second);
        return a->n == 2 ? tree_two(m, NODE_SUM, first, second) : second;
    }
    if (!(copy = tree_node(m, a->kind, a->n)))
        return NULL;
    copy->u = a->u;
    for (int i = 0; i < a->n; i++)
        if (!(copy->kid[i] = choose(m, a->kid[i], minus, free, at)))
            return NULL;
    return copy;
}

/* Add the values of one item to a list under construction. */
static bool add_values(struct math *m, const struct node *a, bool free,
                       const struct node **item, int *n)
{
    bool opposite = false;
    int signs = count_signs(a, &opposite);
    unsigned values = 1;

    if (signs) {
        free = free && !opposite && signs <= MAX_SIGNS;
        values = free ? 1u << signs : 2;
    }
    for (unsigned v = 0; v < values; v++) {
        int at = 0;

        if (*n == MAX_ITEMS || !(item[*n] = choose(m, a, v, free, &at))) {
            m->over = true;
            return false;
        }
        ++*n;
    }
    return true;
}

const struct node *plusminus_values(struct math *m, const struct node *a, bool free)
{
    const struct node **item = tree_take(m, MAX_ITEMS * sizeof *item);
    bool many = is_bare(a) || is_braces(a);
    int n = 0;

    if (!item)
        return NULL;
    for (int i = 0; many && i < a->n; i++)
        if (!add_values(m, a->kid[i], free, item, &n))
            return NULL;
    if (!many && !add_values(m, a, free, item, &n))
        return NULL;
    return list_of(m, item, n, many ? a->u.list.open : 0, many ? a->u.list.close : 0);
}

/* Two signs in one expression go together, or each by itself: both readings are in
 * use, so either may agree. */
bool stage_plusminus(struct math *m, const struct node *gold, const struct node *pred,
                     struct math_result *r)
{
    const struct node *g, *p;
    bool opposite = false;

    if (!has_kind(gold, NODE_PLUSMINUS) && !has_kind(pred, NODE_PLUSMINUS))
        return false;
    g = plusminus_values(m, gold, false);
    p = plusminus_values(m, pred, false);
    *r = tree_compare(m, g, p);
    if (is_equal(*r) ||
        count_signs(gold, &opposite) + count_signs(pred, &opposite) < 2 || opposite)
        return true;
    g = plusminus_values(m, gold, true);
    p = plusminus_values(m, pred, true);
    *r = either(*r, tree_compare(m, g, p));
    return true;
}
