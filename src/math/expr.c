/* expr.c - sides of a relation: sets of sums of products of what touches. */
#include <string.h>

#include "math/parse.h"

/* -- quantities -------------------------------------------------------------------- */
const struct node *quantity(struct parser *p, const struct node *a,
                            const struct unit *u)
{
    struct node *q;

    if (!a || !u)
        return NULL;
    if (a->kind == NODE_QUANTITY) /* "\$5 dollars", "30^\circ degrees" */
        return a;
    q = tree_one(p->m, NODE_QUANTITY, a);
    if (q)
        q->u.unit = u;
    return q;
}

const struct node *lower(struct parser *p, const struct node *a)
{
    const struct node *value, *scale;

    if (!a || a->kind != NODE_QUANTITY)
        return a;
    value = a->kid[0];
    if (a->u.unit->degrees)
        scale = tree_two(p->m, NODE_QUOTIENT, tree_node(p->m, NODE_PI, 0),
                         tree_integer(p->m, 180));
    else if (a->u.unit->power[UNIT_PERCENT] || a->u.unit->power[UNIT_ANGLE])
        scale = NULL;
    else
        scale = named(p, NODE_SYMBOL, a->u.unit->name, NULL, 0);
    if (scale && (!a->u.unit->degrees || !mpq_cmp_ui(a->u.unit->factor, 1, 1)))
        return tree_two(p->m, NODE_PRODUCT, value, scale);
    value = tree_two(p->m, NODE_PRODUCT, value, tree_rational(p->m, a->u.unit->factor));
    return scale ? tree_two(p->m, NODE_PRODUCT, value, scale) : value;
}

static bool lower_items(struct parser *p, int base)
{
    for (int i = base; i < p->top; i++)
        if (!(p->stack[i] = lower(p, p->stack[i])))
            return false;
    return true;
}

static int count_quantities(const struct parser *p, int base)
{
    int n = 0;

    for (int i = base; i < p->top; i++)
        n += p->stack[i]->kind == NODE_QUANTITY;
    return n;
}

/* The values of the items with one unit: 20^\circ + 30^\circ, 3 + 4\sqrt2 cm. */
static const struct node *with_unit(struct parser *p, enum node_kind kind, int base)
{
    const struct unit *u = p->stack[p->top - 1]->u.unit;

    for (int i = base; i < p->top; i++)
        if (p->stack[i]->kind == NODE_QUANTITY)
            p->stack[i] = p->stack[i]->kid[0];
    return quantity(p, gather(p, kind, base), u);
}

static const struct node *sum_of(struct parser *p, int base)
{
    int n = p->top - base, units = count_quantities(p, base);
    const struct node *last = p->stack[p->top - 1];
    bool same = units == n;

    for (int i = base; i < p->top && same; i++)
        same = !strcmp(p->stack[i]->u.unit->name, last->u.unit->name);
    if (units &&
        (same || (units == 1 && last->kind == NODE_QUANTITY && !last->u.unit->degrees &&
                  !last->u.unit->power[UNIT_PERCENT])))
        return with_unit(p, NODE_SUM, base);
    return n == 1 || lower_items(p, base) ? gather(p, NODE_SUM, base) : NULL;
}

const struct node *product_of(struct parser *p, int base)
{
    int n = p->top - base, units = count_quantities(p, base);

    if (units == 1 && p->stack[p->top - 1]->kind == NODE_QUANTITY)
        return with_unit(p, NODE_PRODUCT, base);
    return n == 1 || lower_items(p, base) ? gather(p, NODE_PRODUCT, base) : NULL;
}

/* -204_5: the base call of the negative numbers. */
static const struct node *negate_base(struct parser *p, const struct node *a)
{
    const struct node *kid[3] = {negate(p, a->kid[0]), a->kid[1], a->kid[2]};

    if (kid[2]->kind == NODE_NUMBER)
        kid[2] = negate(p, kid[2]);
    return named(p, NODE_CALL, "base", kid, 3);
}

const struct node *negate(struct parser *p, const struct node *a)
{
    mpq_ptr q;

    if (!a)
        return NULL;
    if (a->kind == NODE_QUANTITY)
        return quantity(p, negate(p, a->kid[0]), a->u.unit);
    if (a->kind == NODE_CALL && !strcmp(a->u.name, "base") && a->n == 3)
        return negate_base(p, a);
    if (a->kind == NODE_NEGATE)
        return a->kid[0];
    if (a->kind != NODE_NUMBER)
        return tree_one(p->m, NODE_NEGATE, a);
    q = tree_literal(p->m);
    if (q)
        mpq_neg(q, a->u.number.q);
    return tree_number(p->m, q, a->u.number.places);
}

/* -- products, sums ---------------------------------------------------------------- */
/* One factor of an explicit product, which may have a sign. */
static const struct node *signed_factor(struct parser *p)
{
    bool minus = false;
    const struct node *a;

    while (at_kind(p, T_MINUS) || at_kind(p, T_PLUS)) {
        minus ^= at_kind(p, T_MINUS);
        p->at++;
    }
    a = parse_touching(p, false);
    return minus ? negate(p, a) : a;
}

static const struct node *divide(struct parser *p, const struct node *a,
                                 const struct node *b)
{
    if (a && b && a->kind != NODE_QUANTITY && b->kind == NODE_QUANTITY &&
        !b->u.unit->degrees && !b->u.unit->power[UNIT_PERCENT]) /* 3/4 cup */
        return quantity(p, tree_two(p->m, NODE_QUOTIENT, a, b->kid[0]), b->u.unit);
    b = lower(p, b);
    if (a && a->kind == NODE_QUANTITY)
        return quantity(p, tree_two(p->m, NODE_QUOTIENT, a->kid[0], b), a->u.unit);
    return a ? tree_two(p->m, NODE_QUOTIENT, a, b) : NULL;
}

static const struct node *modulo(struct parser *p, const struct node *a,
                                 const struct node *b)
{
    struct node *f = a && b ? tree_node(p->m, NODE_FUNCTION, 2) : NULL;

    if (!f)
        return NULL;
    f->u.fn = FN_MOD;
    f->kid[0] = lower(p, a);
    f->kid[1] = lower(p, b);
    return f->kid[0] && f->kid[1] ? f : NULL;
}

const struct node *parse_product(struct parser *p)
{
    int base = p->top;
    const struct node *a;

    if (!push(p, signed_factor(p)))
        return NULL;
    for (;;) {
        int kind = peek(p)->kind;

        if (kind != T_TIMES && kind != T_DIV && kind != T_BMOD)
            break;
        p->at++;
        a = signed_factor(p);
        if (!a)
            return NULL;
        if (kind != T_TIMES) {
            const struct node *left = product_of(p, base);

            p->top = base;
            a = kind == T_DIV ? divide(p, left, a) : modulo(p, left, a);
        }
        if (!push(p, a))
            return NULL;
    }
    return product_of(p, base);
}

/* a \pm b, the sum so far being a. */
static const struct node *plus_minus(struct parser *p, int base, bool first)
{
    bool minus_plus = at_kind(p, T_MP);
    const struct node *b;
    struct node *a;

    p->at++;
    b = parse_product(p);
    if (!b)
        return NULL;
    if (first) {
        a = tree_one(p->m, NODE_PLUSMINUS, b->kind == NODE_QUANTITY ? b->kid[0] : b);
    } else {
        const struct node *left = lower(p, sum_of(p, base));

        p->top = base;
        a = left ? tree_two(p->m, NODE_PLUSMINUS, left,
                            b->kind == NODE_QUANTITY ? b->kid[0] : b)
                 : NULL;
    }
    if (a)
        a->u.minus_plus = minus_plus;
    return a && b->kind == NODE_QUANTITY ? quantity(p, a, b->u.unit) : a;
}

static bool is_sign(const struct parser *p)
{
    return at_kind(p, T_PLUS) || at_kind(p, T_MINUS) || at_kind(p, T_PM) ||
           at_kind(p, T_MP);
}

const struct node *parse_sum(struct parser *p)
{
    int base = p->top;
    bool first = true;

    if (!enter(p))
        return NULL;
    do {
        const struct node *a;

        if (at_kind(p, T_PM) || at_kind(p, T_MP)) {
            a = plus_minus(p, base, first);
        } else {
            bool minus = take(p, T_MINUS);

            if (!minus)
                take(p, T_PLUS);
            a = parse_product(p);
            a = minus ? negate(p, a) : a;
        }
        if (!push(p, a)) {
            p->top = base;
            return NULL;
        }
        first = false;
    } while (is_sign(p));
    leave(p);
    return sum_of(p, base);
}

/* -- sets, ratios, times of day ---------------------------------------------------- */
static const struct node *intersections(struct parser *p)
{
    int base = p->top;

    do {
        const struct node *a = parse_sum(p);

        while (a && take(p, T_SETMINUS))
            a = tree_two(p->m, NODE_MINUS_SET, a, parse_sum(p));
        if (!push(p, a))
            return NULL;
    } while (take(p, T_CAP));
    return gather(p, NODE_INTERSECT, base);
}

static const struct node *sets(struct parser *p)
{
    int base = p->top;

    do
        if (!push(p, intersections(p)))
            return NULL;
    while (take(p, T_CUP));
    return gather(p, NODE_UNION, base);
}

static int two_digits(const struct parser *p, int k, int least)
{
    const struct token *t = peek_at(p, k);
    const char *s = p->s + t->at;

    if (t->kind != T_NUMBER || t->len > 2 || t->len < least || !is_digit(s[0]) ||
        (t->len == 2 && !is_digit(s[1])))
        return -1;
    return t->len == 2 ? 10 * (s[0] - '0') + s[1] - '0' : s[0] - '0';
}

/* 4:30 p.m., 9 a.m., 12:00, 20:34:00: the call "clock" of hours, minutes and seconds,
 * of which seconds of 0 are left off.  NULL for a ratio like 7:32. */
static const struct node *time_of_day(struct parser *p)
{
    int part[3] = {two_digits(p, 0, 1), 0, 0}, n = 1;
    const struct node *kid[3];
    const struct token *t;
    bool zero = false;

    while (n < 3 && part[n - 1] >= 0 && peek_at(p, 2 * n - 1)->kind == T_COLON) {
        part[n] = two_digits(p, 2 * n, 2);
        zero |= part[n] >= 0 && part[n] < 10;
        n++;
    }
    t = peek_at(p, 2 * n - 1);
    if (part[0] < 0 || part[0] > 24 || part[1] < 0 || part[1] > 59 || part[2] < 0 ||
        part[2] > 59 || (t->kind != T_MERIDIEM && !zero && n < 3) ||
        (t->kind != T_MERIDIEM && t->kind != T_END && n < 2))
        return NULL;
    if (t->kind == T_MERIDIEM && part[0] <= 12)
        part[0] = part[0] % 12 + t->id;
    p->at += 2 * n - 1 + (t->kind == T_MERIDIEM);
    n = part[2] ? 3 : 2;
    for (int i = 0; i < n; i++)
        kid[i] = tree_integer(p->m, part[i]);
    return named(p, NODE_CALL, "clock", kid, n);
}

/* 3 to 2, but not x \to 2. */
static bool take_to(struct parser *p)
{
    if (p->tok[p->at - 1].kind != T_NUMBER || !at_kind(p, T_WORD) ||
        !token_is(p, peek(p), "to") || peek_at(p, 1)->kind != T_NUMBER)
        return false;
    p->at++;
    return true;
}

const struct node *parse_side(struct parser *p)
{
    int base = p->top;
    const struct node *a = time_of_day(p);

    if (a)
        return a;
    do
        if (!push(p, sets(p)))
            return NULL;
    while (!p->no_bar && (take(p, T_COLON) || take_to(p)));
    return gather(p, NODE_RATIO, base);
}
