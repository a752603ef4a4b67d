/* assign.c - what stands behind the equals sign: x = 5 against 5.
 *
 * The left side is a name if it is a symbol, a call f(x), a function, product,
 * quotient, ratio or tuple of such: something a problem can ask for.  So `\frac{NO}{BO}
 * = 2` may be answered by 2, and `x^2 + y^2 = 1`, `2x = 6` or `x + z = 1` may not by
 * their right sides: those are equations.
 */
#include <string.h>

#include "math/compare.h"

struct named {
    const struct node *name; /* NULL: a computation, 2 + 3 = 5 */
    const struct node *value;
    bool in; /* x \in value */
};

static bool all_names(const struct node *a);

/* Something that can be asked for. */
static bool is_name(const struct node *a)
{
    switch (a->kind) {
    case NODE_SYMBOL:
    case NODE_E: /* e and i may be names of other things, in front of a sign */
    case NODE_I:
    case NODE_OPAQUE:
    case NODE_WORDS:
        return true;
    case NODE_CALL:
        return !is_call(a, "base");
    case NODE_FUNCTION:
        return has_symbol(a);
    case NODE_ABS: /* |x| = 3 is an equation for x; |AB| = 3 and |z| = 3 are lengths */
        return has_symbol(a) &&
               (a->kid[0]->kind != NODE_SYMBOL ||
                !strchr("abcknmtuvwxy", a->kid[0]->u.name[0]) || a->kid[0]->u.name[1]);
    case NODE_PRODUCT:
    case NODE_QUOTIENT:
    case NODE_RATIO:
        return all_names(a);
    case NODE_LIST:
        return a->n > 1 && is_tuple(a) && all_names(a);
    default:
        return false;
    }
}

static bool all_names(const struct node *a)
{
    for (int i = 0; i < a->n; i++)
        if (!is_name(a->kid[i]))
            return false;
    return true;
}

/* dy/dx, whose value may contain y and x. */
static bool is_derivative(const struct node *a)
{
    for (int i = 0; a->kind == NODE_QUOTIENT && i < 2; i++) {
        const struct node *p = a->kid[i];
        const struct node *d = p->kind == NODE_PRODUCT ? p->kid[0] : p;

        if (d->kind != NODE_SYMBOL || d->u.name[0] != 'd' || d->u.name[1])
            return false;
    }
    return a->kind == NODE_QUOTIENT;
}

static bool shares_symbol(const struct node *name, const struct node *value)
{
    if (name->kind == NODE_SYMBOL && has_part(value, name))
        return true;
    for (int i = 0; i < name->n; i++)
        if (shares_symbol(name->kid[i], value))
            return true;
    return false;
}

/* Whether `name = value` says what `name` is, instead of being an equation for it. */
static bool defines(const struct node *name, const struct node *value)
{
    return is_name(name) && (name->kind == NODE_CALL || name->kind == NODE_OPAQUE ||
                             is_derivative(name) || !shares_symbol(name, value));
}

/* The last side before an approximation, unless the first is all there is before it:
 * 5 + 5 + 1 = 1/3 \approx 0.3 is 1/3, x \approx 11 is 11. */
static const struct node *last_value(const struct node *a)
{
    int i = 1;

    while (i + 1 < a->n && a->u.ops[i] == REL_EQ)
        i++;
    return a->kid[i];
}

static bool read_relation(const struct node *a, struct named *out)
{
    if (a->kind != NODE_RELATION)
        return false;
    *out = (struct named){.name = a->kid[0], .value = a->kid[a->n - 1]};
    if (a->n == 2 && a->u.ops[0] == REL_IN) {
        out->in = true;
        return is_name(out->name);
    }
    if (!is_equation(a))
        return false;
    out->value = last_value(a);
    if (defines(out->name, out->value))
        return true;
    if (out->name->kind < NODE_LIST && !has_symbol(out->name) &&
        !has_symbol(out->value)) {
        out->name = NULL;
        return true;
    }
    *out = (struct named){.name = a->kid[1], .value = a->kid[0]};
    return a->n == 2 && defines(out->name, out->value);
}

/* f(x) and f(t); y or f and f(x); text and anything. */
static bool same_name(struct math *m, const struct node *a, const struct node *b)
{
    const struct node *call = a && a->kind == NODE_CALL ? a : b;
    const struct node *other = call == a ? b : a;

    if (!a || !b || a->kind == NODE_WORDS || b->kind == NODE_WORDS || tree_same(a, b))
        return true;
    if (call->kind == NODE_CALL && other->kind == NODE_CALL)
        return !strcmp(a->u.name, b->u.name) && a->n == b->n &&
               has_symbol(a) == has_symbol(b) &&
               (has_symbol(a) ||
                is_equal(match_items(m, a->kid, a->n, b->kid, b->n, IN_ORDER)));
    if (call->kind == NODE_CALL)
        return other->kind == NODE_SYMBOL && has_symbol(call) &&
               !has_part(call, other) &&
               (!strcmp(other->u.name, "y") || !strcmp(other->u.name, call->u.name));
    if (a->kind == NODE_SYMBOL && b->kind == NODE_SYMBOL)
        return false;
    return is_equal(tree_compare(m, a, b));
}

/* x = 1 or x = 2; a = 4, -8, -10: one name, several values.  What x is in becomes a
 * union. */
static bool read_values(struct math *m, const struct node *a, struct named *out)
{
    struct named one;
    const struct node **value;
    bool list = is_bare(a) || is_braces(a) || a->kind == NODE_OR || a->kind == NODE_AND;

    if (!list || !a->n || !read_relation(a->kid[0], out) || !out->name ||
        !(value = tree_take(m, (size_t)a->n * sizeof *value)))
        return false;
    value[0] = out->value;
    for (int i = 1; i < a->n; i++) {
        value[i] = a->kid[i];
        if (read_relation(a->kid[i], &one)) {
            if (!one.name || one.in != out->in || !same_name(m, out->name, one.name))
                return false;
            value[i] = one.value;
        } else if (is_relation(a->kid[i]) || out->in) {
            return false;
        }
    }
    out->value =
        out->in ? tree_many(m, NODE_UNION, value, a->n) : list_of(m, value, a->n, 0, 0);
    return out->value != NULL;
}

static bool read_named(struct math *m, const struct node *a, struct named *out)
{
    return read_relation(a, out) || read_values(m, a, out);
}

bool stage_assignment(struct math *m, const struct node *gold, const struct node *pred,
                      struct math_result *r)
{
    struct named g, p;
    bool has_g = read_named(m, gold, &g), has_p = read_named(m, pred, &p);

    if (has_g && has_p) {
        if (!same_name(m, g.name, p.name))
            return false;
        *r = tree_compare(m, g.value, p.value);
        return true;
    }
    if (!has_g == !has_p || is_relation(has_g ? pred : gold))
        return false;
    *r = has_g ? tree_compare(m, g.value, pred) : tree_compare(m, gold, p.value);
    return true;
}

/* -- systems: x = 1, y = 2 --------------------------------------------------------- */
struct system {
    int n;
    bool ordered; /* names stand in a tuple: (y, x) = (1, 2) */
    const struct node *name[MAX_MATCH], *value[MAX_MATCH];
};

static bool system_add(struct system *s, const struct node *name,
                       const struct node *value)
{
    if (s->n == MAX_MATCH || !name)
        return false;
    s->name[s->n] = name;
    s->value[s->n++] = value;
    return true;
}

/* (x, y) = (1, 2), also of a column. */
static bool read_tuples(const struct node *a, struct system *s)
{
    const struct node *l, *v;

    if (a->kind != NODE_RELATION || a->n != 2 || a->u.ops[0] != REL_EQ)
        return false;
    l = a->kid[0];
    v = a->kid[1];
    s->ordered = true;
    if (l->kind != NODE_LIST || !is_name(l) || l->n != v->n ||
        (v->kind != NODE_LIST && v->kind != NODE_MATRIX) ||
        (is_bare(v) && v->kid[0]->kind == NODE_LIST))
        return false;
    for (int i = 0; i < l->n; i++)
        if (!system_add(s, l->kid[i], v->kid[i]))
            return false;
    return true;
}

/* a = b = 2 */
static bool read_chain(const struct node *a, struct system *s)
{
    if (a->kind != NODE_RELATION || a->n < 3 || has_symbol(a->kid[a->n - 1]))
        return false;
    for (int i = 0; i + 1 < a->n; i++)
        if (a->u.ops[i] != REL_EQ || a->kid[i]->kind != NODE_SYMBOL ||
            !system_add(s, a->kid[i], a->kid[a->n - 1]))
            return false;
    return true;
}

/* Relations that name different things, at least two. */
static bool read_system(struct math *m, const struct node *a, struct system *s)
{
    struct named one;

    s->n = 0;
    s->ordered = false;
    if (a->kind == NODE_RELATION) {
        if (read_tuples(a, s))
            return true;
        s->n = 0;
        s->ordered = false;
        return read_chain(a, s);
    }
    if ((a->kind != NODE_LIST && a->kind != NODE_AND) || a->n < 2)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (!read_relation(a->kid[i], &one) || one.in ||
            !system_add(s, one.name, one.value))
            return false;
        for (int j = 0; j < i; j++)
            if (same_name(m, s->name[j], one.name))
                return false;
    }
    return true;
}

/* p = 5, q = 2, p = 7, q = 2: names in rounds.  The rounds as a list, or NULL. */
static const struct node *read_rounds(struct math *m, const struct node *a)
{
    const struct node *round[MAX_MATCH];
    struct named first, one;
    int length = 0, n;

    if ((!is_bare(a) && a->kind != NODE_AND && a->kind != NODE_OR) ||
        a->n > MAX_MATCH || !a->n || !read_relation(a->kid[0], &first) || !first.name)
        return NULL;
    for (int i = 1; i < a->n && !length; i++)
        if (read_relation(a->kid[i], &one) && one.name &&
            same_name(m, first.name, one.name))
            length = i;
    if (length < 2 || a->n % length)
        return NULL;
    n = a->n / length;
    for (int i = 0; i < a->n; i++)
        if (!read_relation(a->kid[i % length], &first) ||
            !read_relation(a->kid[i], &one) || !first.name ||
            !same_name(m, first.name, one.name))
            return NULL;
    for (int i = 0; i < n; i++)
        round[i] = tree_many(m, NODE_AND, a->kid + i * length, length);
    return list_of(m, round, n, 0, 0);
}

/* Several solutions, each a system, as a list of them; NULL if it isn't that. */
static const struct node *read_solutions(struct math *m, const struct node *a)
{
    struct system s;

    if (!is_bare(a) && !is_braces(a) && a->kind != NODE_OR)
        return read_rounds(m, a);
    for (int i = 0; i < a->n; i++)
        if (!read_system(m, a->kid[i], &s))
            return read_rounds(m, a);
    return a->n > 1 ? list_of(m, a->kid, a->n, 0, 0) : NULL;
}

/* Letters that follow each other, x and y, a, b and c, are read in that order. */
static void system_sort(struct system *s)
{
    struct system sorted = {.n = s->n};
    char first = 'z';

    for (int i = 0; i < s->n; i++) {
        const struct node *a = s->name[i];

        if (a->kind != NODE_SYMBOL || a->u.name[1])
            return;
        first = a->u.name[0] < first ? a->u.name[0] : first;
    }
    for (int i = 0; i < s->n; i++) {
        int at = s->name[i]->u.name[0] - first;

        if (at < 0 || at >= s->n)
            return;
        sorted.name[at] = s->name[i];
        sorted.value[at] = s->value[i];
    }
    *s = sorted;
}

/* x_1 = 2, x_2 = 3: roots, whose numbering doesn't matter where only values are given.
 */
static bool is_numbered(const struct system *s)
{
    size_t length = 0;

    for (int i = 0; i < s->n; i++) {
        const char *name = s->name[i]->kind == NODE_SYMBOL ? s->name[i]->u.name : "";
        const char *mark = strchr(name, '_');

        if (!mark || !mark[1] || strspn(mark + 1, "0123456789") != strlen(mark + 1))
            return false;
        if (i && ((size_t)(mark - name) != length ||
                  memcmp(name, s->name[0]->u.name, length)))
            return false;
        length = (size_t)(mark - name);
    }
    return true;
}

/* The values against a tuple, a list or a column. */
static bool system_to_list(struct math *m, struct system *s, const struct node *a,
                           struct math_result *r)
{
    bool free = (is_bare(a) || is_braces(a)) && is_numbered(s);

    if (is_relation(a) || (!is_vector(a) && !is_bare(a) && !is_tuple(a) && !free))
        return false;
    if (!s->ordered)
        system_sort(s);
    *r = match_items(m, s->value, s->n, a->kid, a->n, free ? ANY_ORDER : IN_ORDER);
    return true;
}

/* x_1 = 2, x_2 = 3 against x = 2 or x = 3. */
static bool system_to_values(struct math *m, const struct system *s,
                             const struct node *a, struct math_result *r)
{
    struct named one;
    size_t n;

    if (!is_numbered(s) || !read_named(m, a, &one) || !one.name ||
        one.name->kind != NODE_SYMBOL || one.value->kind != NODE_LIST)
        return false;
    n = strlen(one.name->u.name);
    if (strncmp(one.name->u.name, s->name[0]->u.name, n) ||
        s->name[0]->u.name[n] != '_')
        return false;
    *r = match_items(m, s->value, s->n, one.value->kid, one.value->n, ANY_ORDER);
    return true;
}

/* Both by their names.  False: names differ, and it may still be the same equations. */
static bool system_to_system(struct math *m, const struct system *a,
                             const struct system *b, struct math_result *r)
{
    *r = found(MATH_EQUAL, MATH_STEP_TEXT);
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        int j = 0;

        while (j < b->n && !same_name(m, a->name[i], b->name[j]))
            j++;
        if (j == b->n)
            return false;
        *r = both(*r, tree_compare(m, a->value[i], b->value[j]));
    }
    if (r->verdict == MATH_DIFFERENT)
        r->step = MATH_STEP_ELEMENT;
    return true;
}

bool stage_system(struct math *m, const struct node *gold, const struct node *pred,
                  struct math_result *r)
{
    const struct node *g = read_solutions(m, gold), *p = read_solutions(m, pred);
    struct system sg, sp;
    bool has_g, has_p;

    if (g || p) {
        g = g ? g : gold;
        p = p ? p : pred;
        if ((!is_bare(g) && !is_braces(g)) || (!is_bare(p) && !is_braces(p)))
            return false;
        *r = match_items(m, g->kid, g->n, p->kid, p->n, AS_SET);
        return true;
    }
    has_g = read_system(m, gold, &sg);
    has_p = read_system(m, pred, &sp);
    if (has_g && has_p)
        return system_to_system(m, &sg, &sp, r);
    if (has_g)
        return system_to_list(m, &sg, pred, r) || system_to_values(m, &sg, pred, r);
    return has_p &&
           (system_to_list(m, &sp, gold, r) || system_to_values(m, &sp, gold, r));
}
