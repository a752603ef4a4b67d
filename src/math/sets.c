/* sets.c - lists, sets and tuples; what is compared by its parts. */
#include <string.h>

#include "math/compare.h"

enum order_kind {
    AN_ORDERED, /* a tuple */
    A_SET,      /* braces */
    A_BARE,     /* items and commas, which say nothing */
    A_SPAN      /* an interval, or other brackets */
};

static bool all_lists(const struct node *a, char open)
{
    for (int i = 0; i < a->n; i++)
        if (a->kid[i]->kind != NODE_LIST || (open && a->kid[i]->u.list.open != open))
            return false;
    return true;
}

/* A list of tuples may stand in square brackets, the rows of a matrix too. */
static enum order_kind order_of(const struct node *a)
{
    if (is_braces(a))
        return A_SET;
    if (is_bare(a))
        return A_BARE;
    if (is_list(a, '[', ']') && all_lists(a, 0))
        return all_lists(a, '[') ? AN_ORDERED : A_BARE;
    return is_tuple(a) ? AN_ORDERED : A_SPAN;
}

bool stage_list(struct math *m, const struct node *gold, const struct node *pred,
                struct math_result *r)
{
    enum order_kind g, p;
    enum order order = IN_ORDER;

    if (gold->kind != NODE_LIST || pred->kind != NODE_LIST)
        return false;
    g = order_of(gold);
    p = order_of(pred);
    *r = found(MATH_DIFFERENT, MATH_STEP_SHAPE);
    if (g == A_SPAN || p == A_SPAN)
        return true;
    if (g == AN_ORDERED || p == AN_ORDERED) {
        /* An ordered pair isn't a set; without brackets it may be that pair. */
        if (g == A_SET || p == A_SET)
            return true;
    } else {
        bool as_set =
            g == A_SET || p == A_SET || (all_lists(gold, 0) && all_lists(pred, 0));

        order = as_set ? AS_SET : ANY_ORDER;
    }
    *r = match_items(m, gold->kid, gold->n, pred->kid, pred->n, order);
    return true;
}

/* A point with its name, A(1, 2), against the pair. */
static bool is_point(const struct node *a)
{
    return a->kind == NODE_CALL && a->n > 1 && a->u.name[0] >= 'A' &&
           a->u.name[0] <= 'Z' && !a->u.name[1];
}

bool stage_point(struct math *m, const struct node *gold, const struct node *pred,
                 struct math_result *r)
{
    const struct node *point = is_point(gold) ? gold : pred;
    const struct node *pair = point == gold ? pred : gold;

    if (!is_point(point) || !is_tuple(pair))
        return false;
    *r = match_items(m, point->kid, point->n, pair->kid, pair->n, IN_ORDER);
    return true;
}

/* Unions and the like that aren't sets of reals; equal parts prove equality, unequal
 * ones nothing. */
bool stage_parts(struct math *m, const struct node *gold, const struct node *pred,
                 struct math_result *r)
{
    enum order order = gold->kind == NODE_MINUS_SET ? IN_ORDER : AS_SET;

    if (gold->kind != pred->kind ||
        (gold->kind != NODE_UNION && gold->kind != NODE_INTERSECT &&
         gold->kind != NODE_MINUS_SET && gold->kind != NODE_AND &&
         gold->kind != NODE_OR))
        return false;
    *r = match_items(m, gold->kid, gold->n, pred->kid, pred->n, order);
    if (!is_equal(*r))
        *r = found(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    return true;
}
