/* look.c - questions about trees, and small new ones. */
#include <string.h>

#include "math/compare.h"

bool is_relation(const struct node *a)
{
    if (a->kind == NODE_RELATION)
        return true;
    if (a->kind != NODE_AND && a->kind != NODE_OR && !is_bare(a))
        return false;
    for (int i = 0; i < a->n; i++)
        if (!is_relation(a->kid[i]))
            return false;
    return a->n > 0;
}

bool has_symbol(const struct node *a)
{
    return has_kind(a, NODE_SYMBOL);
}

bool has_part(const struct node *a, const struct node *part)
{
    if (tree_same(a, part))
        return true;
    for (int i = 0; i < a->n; i++)
        if (has_part(a->kid[i], part))
            return true;
    return false;
}

bool is_call(const struct node *a, const char *name)
{
    return a->kind == NODE_CALL && !strcmp(a->u.name, name);
}

bool is_list(const struct node *a, char open, char close)
{
    return a->kind == NODE_LIST && a->u.list.open == open && a->u.list.close == close;
}

bool is_tuple(const struct node *a)
{
    return is_list(a, '(', ')') || is_list(a, '<', '>') ||
           (is_list(a, '[', ']') && a->n != 2);
}

bool is_interval(const struct node *a)
{
    return a->kind == NODE_LIST && a->n == 2 &&
           strchr("([]", a->u.list.open ? a->u.list.open : '?') &&
           strchr(")][", a->u.list.close ? a->u.list.close : '?');
}

bool is_vector(const struct node *a)
{
    return a->kind == NODE_MATRIX && (a->u.matrix.rows == 1 || a->u.matrix.cols == 1);
}

const struct node *named_set(struct math *m, const char *name)
{
    struct node *a = tree_node(m, NODE_NAMED_SET, 0);

    if (a)
        a->u.name = name;
    return a;
}

const struct node *tree_times(struct math *m, const struct node *a,
                              const struct node *b)
{
    return tree_two(m, NODE_PRODUCT, a, b);
}

const struct node *tree_minus(struct math *m, const struct node *a,
                              const struct node *b)
{
    return tree_two(m, NODE_SUM, a, tree_one(m, NODE_NEGATE, b));
}

const struct node *tree_plain(struct math *m, const struct node *a)
{
    struct node *copy;

    if (!a || tree_scalar(a))
        return a;
    if (a->kind == NODE_QUANTITY) {
        const struct unit *u = a->u.unit;
        const struct node *v = tree_plain(m, a->kid[0]);

        if (u->power[UNIT_PERCENT])
            return tree_two(m, NODE_QUOTIENT, v, tree_integer(m, 100));
        if (!u->power[UNIT_ANGLE])
            return NULL;
        v = tree_times(m, v, tree_rational(m, u->factor));
        if (!u->degrees)
            return v;
        v = tree_times(m, v, tree_node(m, NODE_PI, 0));
        return tree_two(m, NODE_QUOTIENT, v, tree_integer(m, 180));
    }
    if (a->kind >= NODE_LIST || !(copy = tree_node(m, a->kind, a->n)))
        return NULL;
    copy->u = a->u;
    for (int i = 0; i < a->n; i++)
        if (!(copy->kid[i] = tree_plain(m, a->kid[i])))
            return NULL;
    return copy;
}
