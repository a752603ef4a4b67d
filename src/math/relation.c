/* relation.c - equations and inequalities, as such. */
#include "math/compare.h"

/* One relation of two sides; > and >= turned round. */
static const struct node *one_relation(struct math *m, enum rel op,
                                       const struct node *l, const struct node *r)
{
    bool turn = op == REL_GT || op == REL_GE;
    struct node *a = tree_node(m, NODE_RELATION, 2);
    enum rel *ops = tree_take(m, sizeof *ops);

    if (!a || !ops || !l || !r)
        return NULL;
    *ops = op == REL_GT ? REL_LT : op == REL_GE ? REL_LE : op;
    a->u.ops = ops;
    a->kid[0] = turn ? r : l;
    a->kid[1] = turn ? l : r;
    return a;
}

/* Relations of two sides that hold together, at most MAX_ITEMS; what can't be taken
 * apart is one item. */
static bool flatten(struct math *m, const struct node *a, const struct node **item,
                    int *n)
{
    if (a->kind == NODE_AND || is_bare(a)) {
        for (int i = 0; i < a->n; i++)
            if (!flatten(m, a->kid[i], item, n))
                return false;
        return true;
    }
    for (int i = 0; i + 1 < a->n || !i; i++) {
        bool whole = a->kind != NODE_RELATION || a->u.ops[0] == REL_EQUIV;

        if (*n == MAX_ITEMS)
            return false;
        item[*n] = whole ? a : one_relation(m, a->u.ops[i], a->kid[i], a->kid[i + 1]);
        if (!item[(*n)++])
            return false;
        if (whole)
            break;
    }
    return true;
}

/* The sides one by one, in either order for an equation. */
static struct math_result by_sides(struct math *m, const struct node *a,
                                   const struct node *b, bool swap)
{
    struct math_result r = match_items(m, a->kid, 2, b->kid, 2, IN_ORDER);

    if (swap && !is_equal(r)) {
        const struct node *turned[] = {b->kid[1], b->kid[0]};

        r = either(r, match_items(m, a->kid, 2, turned, 2, IN_ORDER));
    }
    if (r.verdict == MATH_DIFFERENT)
        r.step = MATH_STEP_RELATION;
    return r;
}

/* a mod m: the same modulus, and a difference divisible by it. */
static struct math_result congruent(struct math *m, const struct node *a,
                                    const struct node *b)
{
    struct math_result r;
    const struct node *gap, *div;

    if (a->n != 3 || b->n != 3)
        return match_items(m, a->kid, a->n, b->kid, b->n, IN_ORDER);
    r = both(tree_compare(m, a->kid[0], b->kid[0]),
             tree_compare(m, a->kid[2], b->kid[2]));
    if (!is_equal(r) || is_equal(tree_compare(m, a->kid[1], b->kid[1])))
        return r;
    gap = tree_minus(m, a->kid[1], b->kid[1]);
    div = tree_two(m, NODE_QUOTIENT, gap, a->kid[2]);
    return tree_compare(m, div, tree_function(m, FN_FLOOR, div));
}

static struct math_result compare_one(struct math *m, const struct node *a,
                                      const struct node *b)
{
    enum rel x = a->u.ops[0], y = b->u.ops[0];
    const struct node *f, *g;
    struct math_result r;
    int sign = 0;

    if (x != y && !(is_equation(a) && is_equation(b)))
        return found(MATH_DIFFERENT, MATH_STEP_RELATION);
    if (x == REL_EQUIV)
        return congruent(m, a, b);
    if (x == REL_IN || x == REL_NOT_IN || x == REL_SUBSET)
        return by_sides(m, a, b, false);
    f = tree_plain(m, tree_minus(m, a->kid[0], a->kid[1]));
    g = tree_plain(m, tree_minus(m, b->kid[0], b->kid[1]));
    /* Constants are always proportional: f(2) = 5 and f(3) = 5. */
    if (!f || !g || !has_symbol(f) || !has_symbol(g))
        return by_sides(m, a, b, is_equation(a) || x == REL_NE);
    r = scalar_proportional(m, f, g, &sign);
    if (is_equal(r) && (x == REL_LT || x == REL_LE) && sign <= 0)
        r.verdict = sign ? MATH_DIFFERENT : MATH_UNKNOWN;
    if (r.verdict == MATH_DIFFERENT)
        r.step = MATH_STEP_RELATION;
    return r;
}

static struct math_result compare_relations(struct math *m, const struct node *gold,
                                            const struct node *pred)
{
    const struct node **g = tree_take(m, MAX_ITEMS * sizeof *g);
    const struct node **p = tree_take(m, MAX_ITEMS * sizeof *p);
    int ng = 0, np = 0;
    struct math_result r;

    if (!g || !p || !flatten(m, gold, g, &ng) || !flatten(m, pred, p, &np))
        return found(MATH_UNKNOWN, MATH_STEP_LIMIT);
    if (ng == 1 && np == 1) {
        if (g[0]->kind != NODE_RELATION || p[0]->kind != NODE_RELATION)
            return found(MATH_DIFFERENT, MATH_STEP_RELATION);
        return compare_one(m, g[0], p[0]);
    }
    r = match_items(m, g, ng, p, np, AS_SET);
    if (r.verdict == MATH_DIFFERENT)
        r.step = MATH_STEP_RELATION;
    return r;
}

bool stage_relation(struct math *m, const struct node *gold, const struct node *pred,
                    struct math_result *r)
{
    struct math_result solved;

    if (!is_relation(gold) || !is_relation(pred))
        return false;
    if (gold->kind == NODE_OR && pred->kind == NODE_OR)
        *r = match_items(m, gold->kid, gold->n, pred->kid, pred->n, AS_SET);
    else
        *r = compare_relations(m, gold, pred);
    if (!is_equal(*r) && stage_reals(m, gold, pred, &solved))
        *r = solved;
    return true;
}
