/* solve.c - trees as sets of real numbers; linear inequalities are solved. */
#include <string.h>

#include "math/reals.h"

static bool is_infinite(const struct node *a)
{
    return a->kind == NODE_INFINITY ||
           (a->kind == NODE_NEGATE && a->kid[0]->kind == NODE_INFINITY);
}

static bool may_be_end(const struct node *a)
{
    return a->kind < NODE_LIST || a->kind == NODE_QUANTITY;
}

/* -- intervals --------------------------------------------------------------------- */
static bool read_interval(const struct node *a, struct reals *out)
{
    const struct node *lo = a->kid[0], *hi = a->kid[1];
    struct span s = {.lo_in = a->u.list.open == '[', .hi_in = a->u.list.close == ']'};

    if (!may_be_end(lo) || !may_be_end(hi) || lo->kind == NODE_INFINITY ||
        (is_infinite(hi) && hi->kind == NODE_NEGATE))
        return false;
    s.lo = is_infinite(lo) ? NULL : lo;
    s.hi = is_infinite(hi) ? NULL : hi;
    out->n = 1;
    out->at[0] = s;
    return true;
}

static bool read_points(const struct node *a, struct reals *out)
{
    if (a->n > MAX_SPANS)
        return false;
    for (int i = 0; i < a->n; i++) {
        const struct node *k = a->kid[i];

        if (!may_be_end(k))
            return false;
        out->at[i] = (struct span){.lo = k, .hi = k, .lo_in = true, .hi_in = true};
    }
    out->n = a->n;
    return true;
}

static bool read_named_set(struct math *m, const struct node *a, struct reals *out)
{
    struct span s = {0};

    if (!strcmp(a->u.name, "empty"))
        return true;
    if (!strcmp(a->u.name, "R+"))
        s.lo = tree_integer(m, 0);
    else if (!strcmp(a->u.name, "R-"))
        s.hi = tree_integer(m, 0);
    else if (strcmp(a->u.name, "R"))
        return false;
    out->n = 1;
    out->at[0] = s;
    return true;
}

/* -- linear forms: slope * x + rest; NULL is zero ---------------------------------- */
struct line {
    const struct node *slope, *rest;
};

static const struct node *plus(struct math *m, const struct node *a,
                               const struct node *b)
{
    return !a ? b : !b ? a : tree_two(m, NODE_SUM, a, b);
}

static bool read_line(struct math *m, const struct node *a, const struct node *x,
                      struct line *out);

static bool line_sum(struct math *m, const struct node *a, const struct node *x,
                     struct line *out)
{
    for (int i = 0; i < a->n; i++) {
        struct line term;

        if (!read_line(m, a->kid[i], x, &term))
            return false;
        out->slope = plus(m, out->slope, term.slope);
        out->rest = plus(m, out->rest, term.rest);
    }
    return true;
}

static bool line_product(struct math *m, const struct node *a, const struct node *x,
                         struct line *out)
{
    const struct node *factor = NULL;

    for (int i = 0; i < a->n; i++) {
        if (!has_part(a->kid[i], x))
            factor = factor ? tree_times(m, factor, a->kid[i]) : a->kid[i];
        else if (out->slope || !read_line(m, a->kid[i], x, out))
            return false;
    }
    if (out->slope && factor)
        out->slope = tree_times(m, factor, out->slope);
    if (out->rest && factor)
        out->rest = tree_times(m, factor, out->rest);
    return true;
}

static bool line_divide(struct math *m, const struct node *a, const struct node *x,
                        struct line *out)
{
    if (has_part(a->kid[1], x) || !read_line(m, a->kid[0], x, out))
        return false;
    if (out->slope)
        out->slope = tree_two(m, NODE_QUOTIENT, out->slope, a->kid[1]);
    if (out->rest)
        out->rest = tree_two(m, NODE_QUOTIENT, out->rest, a->kid[1]);
    return true;
}

static bool read_line(struct math *m, const struct node *a, const struct node *x,
                      struct line *out)
{
    *out = (struct line){0};
    if (!a)
        return false;
    if (!has_part(a, x)) {
        out->rest = a;
        return true;
    }
    if (tree_same(a, x)) {
        out->slope = tree_integer(m, 1);
        return out->slope != NULL;
    }
    switch (a->kind) {
    case NODE_SUM:
        return line_sum(m, a, x, out);
    case NODE_PRODUCT:
        return line_product(m, a, x, out);
    case NODE_QUOTIENT:
        return line_divide(m, a, x, out);
    case NODE_NEGATE:
        if (!read_line(m, a->kid[0], x, out))
            return false;
        if (out->slope)
            out->slope = tree_one(m, NODE_NEGATE, out->slope);
        if (out->rest)
            out->rest = tree_one(m, NODE_NEGATE, out->rest);
        return true;
    default:
        return false;
    }
}

/* Sign of a constant, 0 if it isn't known. */
static int sign_of(struct math *m, const struct node *a)
{
    bool known = true;
    const struct node *zero = tree_integer(m, 0);
    int sign;

    a = tree_plain(m, a);
    if (!a || !zero)
        return 0;
    sign = scalar_order(m, a, zero, &known);
    return known ? sign : 0;
}

/* -- relations of two sides -------------------------------------------------------- */
static enum rel turned(enum rel op)
{
    return op == REL_LT   ? REL_GT
           : op == REL_LE ? REL_GE
           : op == REL_GT ? REL_LT
           : op == REL_GE ? REL_LE
                          : op;
}

/* x op end. */
static bool ray(struct math *m, enum rel op, const struct node *end, struct reals *out)
{
    struct span s = {.lo_in = op == REL_GE, .hi_in = op == REL_LE};

    if (!end || !may_be_end(end))
        return false;
    if (is_infinite(end)) {
        bool below = end->kind == NODE_NEGATE;

        /* x > -infinity says nothing */
        out->n = 1;
        out->at[0] = (struct span){0};
        return below ? op == REL_GT || op == REL_GE : op == REL_LT || op == REL_LE;
    }
    if (op == REL_LT || op == REL_LE)
        s.hi = end;
    else if (op == REL_GT || op == REL_GE)
        s.lo = end;
    else if (op == REL_EQ || op == REL_NE)
        s = (struct span){.lo = end, .hi = end, .lo_in = true, .hi_in = true};
    else
        return false;
    out->n = 1;
    out->at[0] = s;
    return op != REL_NE || reals_complement(m, out);
}

/* slope * x + rest op 0. */
static bool solve_line(struct math *m, const struct line *f, enum rel op,
                       struct reals *out)
{
    int sign = f->slope ? sign_of(m, f->slope) : 0;
    const struct node *end;

    if (!sign)
        return false;
    end = f->rest
              ? tree_two(m, NODE_QUOTIENT, tree_one(m, NODE_NEGATE, f->rest), f->slope)
              : tree_integer(m, 0);
    return ray(m, sign < 0 ? turned(op) : op, end, out);
}

static bool solve(struct math *m, const struct node *l, enum rel op,
                  const struct node *r, const struct node *x, struct reals *out);

static bool is_zero(const struct node *a)
{
    return a->kind == NODE_NUMBER && !mpq_sgn(a->u.number.q);
}

/* |u| < c is -c < u < c; |u| > c its opposite. */
static bool solve_abs(struct math *m, const struct node *u, enum rel op,
                      const struct node *c, const struct node *x, struct reals *out)
{
    const struct node *minus = tree_one(m, NODE_NEGATE, c);
    struct reals other = {0};

    if (op == REL_GT && is_zero(c))
        return solve(m, u, REL_NE, c, x, out);
    if (has_part(c, x) || sign_of(m, c) <= 0 || op == REL_NE ||
        !solve(m, u, op, c, x, out) || !solve(m, u, turned(op), minus, x, &other))
        return false;
    return op == REL_LT || op == REL_LE ? reals_intersect(m, out, &other)
                                        : reals_union(out, &other);
}

static bool solve(struct math *m, const struct node *l, enum rel op,
                  const struct node *r, const struct node *x, struct reals *out)
{
    struct line f;

    if (!l || !r)
        return false;
    out->var = x;
    if (tree_same(l, x) && !has_part(r, x))
        return ray(m, op, r, out);
    if (tree_same(r, x) && !has_part(l, x))
        return ray(m, turned(op), l, out);
    if (l->kind == NODE_ABS)
        return solve_abs(m, l->kid[0], op, r, x, out);
    if (r->kind == NODE_ABS)
        return solve_abs(m, r->kid[0], turned(op), l, x, out);
    return read_line(m, tree_minus(m, l, r), x, &f) && solve_line(m, &f, op, out);
}

/* -- relations --------------------------------------------------------------------- */
/* The one symbol in it; *many if there are several. */
static const struct node *only_symbol(const struct node *a, const struct node *seen,
                                      bool *many)
{
    if (a->kind == NODE_SYMBOL) {
        *many = *many || (seen && !tree_same(seen, a));
        return a;
    }
    for (int i = 0; i < a->n; i++)
        seen = only_symbol(a->kid[i], seen, many);
    return seen;
}

static bool is_variable(const struct node *a)
{
    return a->kind == NODE_SYMBOL || (a->kind == NODE_CALL && !is_call(a, "base"));
}

/* What a relation is about: the middle of a chain, a side by itself, the only symbol.
 */
static const struct node *variable(const struct node *a)
{
    bool many = false;
    const struct node *x = only_symbol(a, NULL, &many);

    if (x && !many)
        return x;
    if (a->n == 3 && is_variable(a->kid[1]))
        return a->kid[1];
    if (a->n == 2 && is_variable(a->kid[0]))
        return a->kid[0];
    return a->n == 2 && is_variable(a->kid[1]) ? a->kid[1] : NULL;
}

/* x in a set, or D = a set. */
static bool read_member(struct math *m, const struct node *a, struct reals *out)
{
    const struct node *set = a->kid[1];
    enum rel op = a->u.ops[0];

    if (!is_variable(a->kid[0]) ||
        (op == REL_EQ && !is_interval(set) && set->kind < NODE_UNION) ||
        !reals_read(m, set, out))
        return false;
    out->var = op == REL_EQ ? NULL : a->kid[0];
    return op != REL_NOT_IN || reals_complement(m, out);
}

static bool read_relation(struct math *m, const struct node *a, struct reals *out)
{
    enum rel op = a->u.ops[0];
    const struct node *x = variable(a);

    if (a->n == 2 && (op == REL_IN || op == REL_NOT_IN ||
                      (op == REL_EQ && a->kid[1]->kind >= NODE_LIST)))
        return read_member(m, a, out);
    if (!x || !solve(m, a->kid[0], op, a->kid[1], x, out))
        return false;
    for (int i = 1; i + 1 < a->n; i++) {
        struct reals next = {0};

        if (!solve(m, a->kid[i], a->u.ops[i], a->kid[i + 1], x, &next) ||
            !reals_intersect(m, out, &next))
            return false;
    }
    out->var = x;
    return true;
}

/* -- several ----------------------------------------------------------------------- */
enum join { JOIN_UNION, JOIN_INTERSECT };

static bool join(struct math *m, const struct node *a, enum join how, struct reals *out)
{
    if (!a->n || !reals_read(m, a->kid[0], out))
        return false;
    for (int i = 1; i < a->n; i++) {
        struct reals next = {0};

        if (!reals_read(m, a->kid[i], &next) ||
            (next.var && out->var && !tree_same(next.var, out->var)))
            return false;
        if (how == JOIN_UNION ? !reals_union(out, &next)
                              : !reals_intersect(m, out, &next))
            return false;
    }
    return true;
}

/* x \ne -2, 3 */
static bool read_excluded(struct math *m, const struct node *a, struct reals *out)
{
    const struct node *first = a->n ? a->kid[0] : NULL;

    if (!first || first->kind != NODE_RELATION || first->n != 2 ||
        first->u.ops[0] != REL_NE || !is_variable(first->kid[0]))
        return false;
    for (int i = 0; i < a->n; i++) {
        const struct node *end = i ? a->kid[i] : first->kid[1];

        if (end->kind >= NODE_LIST || i == MAX_SPANS)
            return false;
        out->at[i] = (struct span){.lo = end, .hi = end, .lo_in = true, .hi_in = true};
    }
    out->n = a->n;
    out->var = first->kid[0];
    return reals_complement(m, out);
}

/* \{x \in \mathbb{R} : x > 2, ...\}, the parser's opaque "set" of a head and
 * conditions.
 */
static bool read_builder(struct math *m, const struct node *a, struct reals *out)
{
    const struct node *x = a->n > 1 ? a->kid[0] : NULL;

    if (!x || strcmp(a->u.name, "set"))
        return false;
    if (x->kind == NODE_RELATION) {
        const struct node *from = x->kid[x->n - 1];

        if (x->n != 2 || x->u.ops[0] != REL_IN || from->kind != NODE_NAMED_SET ||
            strcmp(from->u.name, "R"))
            return false;
        x = x->kid[0];
    }
    if (x->kind != NODE_SYMBOL || !reals_read(m, a->kid[1], out))
        return false;
    for (int i = 1; i < a->n; i++) {
        struct reals next = {0};

        if (!reals_read(m, a->kid[i], &next) || !next.var || !tree_same(next.var, x) ||
            (i > 1 && !reals_intersect(m, out, &next)))
            return false;
    }
    out->var = NULL;
    return true;
}

static bool read_difference(struct math *m, const struct node *a, const struct node *b,
                            struct reals *out)
{
    struct reals other = {0};

    return reals_read(m, a, out) && reals_read(m, b, &other) &&
           reals_complement(m, &other) && reals_intersect(m, out, &other);
}

/* Conditions in a row hold together if they can: x > 1, x < 3; else they are
 * alternatives: x < 1, x > 3. */
static bool read_conditions(struct math *m, const struct node *a, struct reals *out)
{
    if (read_excluded(m, a, out))
        return true;
    *out = (struct reals){0};
    if (!is_relation(a) || !join(m, a, JOIN_INTERSECT, out))
        return false;
    if (out->n && reals_sort(m, out) && out->n)
        return true;
    *out = (struct reals){0};
    return join(m, a, JOIN_UNION, out);
}

static bool read_list(struct math *m, const struct node *a, struct reals *out)
{
    if (is_interval(a))
        return read_interval(a, out);
    if (is_braces(a))
        return read_points(a, out);
    if (!is_bare(a))
        return false;
    if (is_relation(a))
        return read_conditions(m, a, out);
    for (int i = 0; i < a->n; i++)
        if (!is_interval(a->kid[i]) && !is_braces(a->kid[i]))
            return false;
    return join(m, a, JOIN_UNION, out);
}

bool reals_read(struct math *m, const struct node *a, struct reals *out)
{
    *out = (struct reals){0};
    switch (a->kind) {
    case NODE_LIST:
        return read_list(m, a, out);
    case NODE_NAMED_SET:
        return read_named_set(m, a, out);
    case NODE_RELATION:
        return read_relation(m, a, out);
    case NODE_UNION:
    case NODE_OR:
        return join(m, a, JOIN_UNION, out);
    case NODE_INTERSECT:
        return join(m, a, JOIN_INTERSECT, out);
    case NODE_AND:
        return read_conditions(m, a, out);
    case NODE_OPAQUE:
        return read_builder(m, a, out);
    case NODE_MINUS_SET:
        return read_difference(m, a->kid[0], a->kid[1], out);
    case NODE_SUM: /* \mathbb{R} - \{2\} */
        return a->n == 2 && a->kid[1]->kind == NODE_NEGATE &&
               read_difference(m, a->kid[0], a->kid[1]->kid[0], out);
    default:
        return false;
    }
}
