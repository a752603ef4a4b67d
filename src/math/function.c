/* function.c - functions, sums over an index, matrices. */
#include <string.h>

#include "math/parse.h"

/* -- functions --------------------------------------------------------------------- */
static bool is_trig(int fn)
{
    return fn <= FN_COTH || fn == FN_CIS;
}

static bool takes_list(int fn)
{
    return fn == FN_GCD || fn == FN_LCM || fn == FN_MAX || fn == FN_MIN;
}

static const struct node *function_node(struct parser *p, int fn,
                                        const struct node *const *kid, int n)
{
    struct node *a = tree_node(p->m, NODE_FUNCTION, n);

    if (!a)
        return NULL;
    a->u.fn = (enum fn)fn;
    for (int i = 0; i < n; i++)
        if (!(a->kid[i] = lower(p, kid[i])))
            return NULL;
    return a;
}

/* What a function is applied to: brackets, or what touches up to the next function. */
static const struct node *applied_to(struct parser *p, int fn)
{
    bool minus = false;
    const struct node *a;

    if (at_kind(p, T_OPEN) || at_kind(p, T_LBRACE) || at_kind(p, T_LBAR) ||
        at_kind(p, T_BAR))
        return parse_atom(p);
    while (at_kind(p, T_MINUS) || at_kind(p, T_PLUS)) {
        minus ^= at_kind(p, T_MINUS);
        p->at++;
    }
    a = lower(p, at_kind(p, T_FN) ? parse_function(p) : parse_touching(p, true));
    if (a && is_trig(fn) && at_kind(p, T_DIV) && peek_at(p, 1)->kind == T_NUMBER &&
        has_kind(a, NODE_PI)) { /* \sin\pi/12 */
        p->at++;
        a = tree_two(p->m, NODE_QUOTIENT, a, parse_number(p));
    }
    return a && minus ? tree_one(p->m, NODE_NEGATE, a) : a;
}

/* \sin^{-1}: the inverse function; fn itself if there is none. */
static int inverse_of(int fn)
{
    if (fn <= FN_CSC)
        return fn + FN_ASIN - FN_SIN;
    if (fn >= FN_SINH && fn <= FN_TANH)
        return fn + FN_ASINH - FN_SINH;
    return fn;
}

static bool is_minus_one(const struct node *a)
{
    return (a->kind == NODE_NUMBER && !mpq_cmp_si(a->u.number.q, -1, 1)) ||
           (a->kind == NODE_NEGATE && a->kid[0]->kind == NODE_NUMBER &&
            !mpq_cmp_si(a->kid[0]->u.number.q, 1, 1));
}

/* The base of a logarithm: \log_2, \log_{10}, \log_28 (TeX: base 2), log2(8). */
static const struct node *log_base(struct parser *p, bool *glued)
{
    const struct token *t = peek(p), *then = peek_at(p, 2);

    *glued = false;
    if (t->kind == T_NUMBER && !(t->flags & F_SPACE) && then[-1].kind == T_OPEN &&
        !(p->tok[p->at - 1].flags & F_COMMAND) &&
        (token_is(p, t, "2") || token_is(p, t, "10"))) {
        *glued = true;
        return parse_number(p);
    }
    if (!take(p, T_UNDER))
        return NULL;
    if (at_kind(p, T_NUMBER) && peek(p)->len > 1) {
        p->at++;
        if (starts_factor(p) || at_kind(p, T_CARET) ||
            (at_kind(p, T_NUMBER) && peek(p)->flags & F_SPACE)) {
            p->at--;
            return parse_number(p);
        }
        p->at--;
        return parse_argument(p, ARG_FRAC);
    }
    return parse_argument(p, ARG_SCRIPT);
}

/* log, lg, ln: FN_LOG has argument and base. */
static const struct node *logarithm(struct parser *p, int fn, const struct node *base,
                                    const struct node *x)
{
    const struct node *kid[2] = {x, base};

    if (fn == FN_LN && !base)
        return function_node(p, FN_LN, kid, 1);
    if (!base)
        kid[1] = tree_integer(p->m, fn == FN_LB ? 2 : 10);
    return kid[1] ? function_node(p, FN_LOG, kid, 2) : NULL;
}

static const struct node *apply(struct parser *p, int fn, const struct node *base,
                                const struct node *x)
{
    bool list = x->kind == NODE_LIST && x->u.list.open;

    if (fn == FN_LOG || fn == FN_LN || fn == FN_LG || fn == FN_LB) {
        if (list && x->n == 2 && !base) /* log(8, 2) of a program */
            return logarithm(p, fn, x->kid[1], x->kid[0]);
        return logarithm(p, fn, base, x);
    }
    if (fn == FN_CIS)
        return tree_two(
            p->m, NODE_POWER, tree_node(p->m, NODE_E, 0),
            tree_two(p->m, NODE_PRODUCT, tree_node(p->m, NODE_I, 0), lower(p, x)));
    if (fn == FN_ABS)
        return tree_one(p->m, NODE_ABS, lower(p, x));
    if (takes_list(fn) && list)
        return function_node(p, fn, x->kid, x->n);
    return function_node(p, fn, &x, 1);
}

/* \max_{x \in A} f(x) and the like stay opaque. */
static bool under_big(const struct parser *p)
{
    return peek_at(p, 1)->kind == T_UNDER && takes_list(peek(p)->id);
}

const struct node *parse_function(struct parser *p)
{
    int fn = peek(p)->id;
    bool is_log = fn == FN_LOG || fn == FN_LN || fn == FN_LG, glued = false;
    const struct node *base = NULL, *power = NULL, *x;

    if (under_big(p))
        return parse_big(p);
    if (!enter(p))
        return NULL;
    p->at++;
    if (is_log)
        base = log_base(p, &glued);
    if (take(p, T_CARET)) {
        power = parse_argument(p, ARG_SCRIPT);
        if (!power)
            return NULL;
        if (is_log && !base)
            base = log_base(p, &glued);
    }
    if (power && is_minus_one(power) && inverse_of(fn) != fn) {
        fn = inverse_of(fn);
        power = NULL;
    }
    x = applied_to(p, fn);
    leave(p);
    x = x ? apply(p, fn, base, x) : NULL;
    return x && power ? tree_two(p->m, NODE_POWER, x, power) : x;
}

/* -- sums, integrals, limits ------------------------------------------------------- */
/* Bounds in either order, then the body. */
const struct node *parse_big(struct parser *p)
{
    const struct token *t = peek(p);
    const struct node *low = NULL, *high = NULL, *kid[3];
    char name[24];
    int n = 0, len = t->len < 16 ? t->len : 16;
    bool integral =
        token_is(p, t, "\\int") || token_is(p, t, "\\oint") || token_is(p, t, "\\iint");

    if (!enter(p))
        return NULL;
    p->at++;
    while (at_kind(p, T_UNDER) || at_kind(p, T_CARET)) {
        const struct node **side = at_kind(p, T_UNDER) ? &low : &high;

        p->at++;
        if (*side || !(*side = parse_argument(p, ARG_SCRIPT)))
            return NULL;
    }
    memcpy(name, p->s + t->at, (size_t)len);
    if (low) {
        name[len++] = '_';
        kid[n++] = low;
    }
    if (high) {
        name[len++] = '^';
        kid[n++] = high;
    }
    name[len] = 0;
    if (starts_factor(p) || at_kind(p, T_MINUS)) {
        kid[n] = integral ? parse_sum(p) : parse_product(p);
        if (!kid[n++])
            return NULL;
    }
    leave(p);
    return named(p, NODE_OPAQUE, name, kid, n);
}

/* -- environments ------------------------------------------------------------------ */
struct grid {
    int rows, cols, n; /* cells in the row that is being read */
    bool ragged;
};

static bool end_row(struct grid *g)
{
    if (g->rows && g->n != g->cols)
        g->ragged = true;
    g->cols = g->n > g->cols ? g->n : g->cols;
    g->rows++;
    g->n = 0;
    return g->rows <= MAX_ITEMS;
}

/* Cells onto the stack, up to \end. */
static bool cells(struct parser *p, struct grid *g)
{
    while (!at_kind(p, T_ENDENV)) {
        if (!push(p, parse_item(p)))
            return false;
        g->n++;
        take(p, T_COMMA);
        if (take(p, T_AMP))
            continue;
        if (!at_kind(p, T_ROW) && !at_kind(p, T_ENDENV))
            return false;
        if (!end_row(g))
            return false;
        while (take(p, T_ROW))
            ;
    }
    return true;
}

static const struct node *matrix(struct parser *p, int base, const struct grid *g,
                                 char open)
{
    int n = p->top - base;
    struct node *a;

    p->top = base;
    if (g->ragged || !n || n > MAX_ITEMS) {
        p->m->over |= n > MAX_ITEMS;
        return NULL;
    }
    a = tree_many(p->m, NODE_MATRIX, &p->stack[base], n);
    if (!a)
        return NULL;
    a->u.matrix.rows = g->rows;
    a->u.matrix.cols = g->cols;
    a->u.matrix.open = open;
    return open == '|' ? tree_function(p->m, FN_DET, a) : a;
}

const struct node *parse_environment(struct parser *p)
{
    static const struct {
        const char *name;
        char open; /* 'c': cases; 'a': only lines */
    } list[] = {
        {"pmatrix", '('},  {"bmatrix", '['},   {"matrix", 0},     {"vmatrix", '|'},
        {"Vmatrix", '|'},  {"Bmatrix", '{'},   {"array", 0},      {"smallmatrix", 0},
        {"tabular", 0},    {"cases", 'c'},     {"dcases", 'c'},   {"aligned", 'a'},
        {"align", 'a'},    {"align*", 'a'},    {"gathered", 'a'}, {"split", 'a'},
        {"equation", 'a'}, {"equation*", 'a'}, {"gather*", 'a'}};
    const struct token *t = peek(p);
    struct grid g = {0};
    int base = p->top, bars = p->bars;
    char open = 'x';
    bool ok;
    const struct node *a;

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (token_is(p, t, list[i].name))
            open = list[i].open;
    if (open == 'x' || !enter(p))
        return NULL;
    p->at++;
    p->bars = 0;
    if (open == 'a') {
        a = parse_items(p);
        leave(p);
        return take(p, T_ENDENV) ? a : NULL;
    }
    ok = cells(p, &g);
    p->bars = bars;
    leave(p);
    if (!ok || !take(p, T_ENDENV))
        return NULL;
    if (open != 'c')
        return matrix(p, base, &g, open);
    a = p->top - base > MAX_ITEMS
            ? NULL
            : named(p, NODE_OPAQUE, "cases", &p->stack[base], p->top - base);
    p->top = base;
    return a;
}
