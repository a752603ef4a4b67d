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

/* The parameter's domain at the end of `a`, k \in \mathbb{Z} in "k\pi, k \in
 * \mathbb{Z}": its place, or 0.  Where k is what the relations are about it is a
 * condition. */
static int domain_at(const struct node *a)
{
    const struct node *last = a->n > 1 ? a->kid[a->n - 1] : NULL;
    bool used = false;

    if ((!is_bare(a) && a->kind != NODE_AND) || !last || last->kind != NODE_RELATION ||
        last->n != 2 || last->u.ops[0] != REL_IN || last->kid[0]->kind != NODE_SYMBOL ||
        last->kid[1]->kind != NODE_NAMED_SET || strcmp(last->kid[1]->u.name, "Z"))
        return 0;
    for (int i = 0; i + 1 < a->n; i++) {
        const struct node *k = a->kid[i];

        for (int j = 0; k->kind == NODE_RELATION && j < k->n; j++)
            if (tree_same(k->kid[j], last->kid[0]))
                return 0;
        used = used || has_part(k, last->kid[0]);
    }
    return used ? a->n - 1 : 0;
}

/* That a parameter is an integer may be left unsaid. */
bool stage_domain(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    int g = domain_at(gold), p = domain_at(pred);

    if (!g == !p)
        return false;
    if (g)
        *r = tree_compare(m, list_of(m, gold->kid, g, 0, 0), pred);
    else
        *r = tree_compare(m, gold, list_of(m, pred->kid, p, 0, 0));
    return true;
}

/* 1,5 as the decimal 1.5. */
static const struct node *decimal_of(struct math *m, const struct node *a)
{
    bool minus = a->kid[0]->kind == NODE_NEGATE;
    const struct node *whole = minus ? a->kid[0]->kid[0] : a->kid[0], *part = a->kid[1];
    struct node *d = tree_node(m, NODE_NUMBER, 0);
    mpq_ptr q = d ? tree_literal(m) : NULL;

    if (!q || whole->kind != NODE_NUMBER || part->kind != NODE_NUMBER)
        return NULL;
    mpz_ui_pow_ui(mpq_denref(q), 10, a->u.list.places);
    mpz_mul(mpq_numref(q), mpq_numref(whole->u.number.q), mpq_denref(q));
    if (mpq_sgn(whole->u.number.q) < 0)
        mpz_sub(mpq_numref(q), mpq_numref(q), mpq_numref(part->u.number.q));
    else
        mpz_add(mpq_numref(q), mpq_numref(q), mpq_numref(part->u.number.q));
    mpq_canonicalize(q);
    d->u.number.q = q;
    d->u.number.places = a->u.list.places;
    return minus ? tree_one(m, NODE_NEGATE, d) : d;
}

static bool may_be_decimal(const struct node *a)
{
    return is_bare(a) && a->n == 2 && a->u.list.places;
}

/* A comma between two integers separates them, unless the other side is one number. */
bool stage_decimal_comma(struct math *m, const struct node *gold,
                         const struct node *pred, struct math_result *r)
{
    const struct node *d;

    if (may_be_decimal(gold) && pred->kind < NODE_LIST) {
        d = decimal_of(m, gold);
        *r = d ? tree_compare(m, d, pred) : found(MATH_DIFFERENT, MATH_STEP_SHAPE);
        return true;
    }
    if (may_be_decimal(pred) && gold->kind < NODE_LIST) {
        d = decimal_of(m, pred);
        *r = d ? tree_compare(m, gold, d) : found(MATH_DIFFERENT, MATH_STEP_SHAPE);
        return true;
    }
    return false;
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
