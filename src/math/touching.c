/* touching.c - factors that touch: powers, mixed numbers, degrees, units behind them.
 */
#include <string.h>

#include "math/parse.h"

/* A bracket that closes as in [0,1[. */
static bool closes(const struct parser *p)
{
    const struct token *t = peek_at(p, 1);

    return peek(p)->id == '[' &&
           (t->kind == T_END || t->kind == T_CUP || t->kind == T_CAP ||
            t->kind == T_COMMA || t->kind == T_CLOSE || t->kind == T_OR ||
            t->kind == T_AND || t->kind == T_REL || t->kind == T_RBRACE ||
            t->kind == T_SETMINUS || t->kind == T_WORD);
}

bool starts_factor(const struct parser *p)
{
    switch (peek(p)->kind) {
    case T_NUMBER:
    case T_BASED:
        return !p->at || p->tok[p->at - 1].kind != T_NUMBER;
    case T_OPEN:
        return !closes(p) && peek_at(p, 1)->kind != T_BMOD && condition_at(p) < 0;
    case T_BAR:
        return !p->bars && !p->no_bar;
    case T_SYMBOL:
    case T_FN:
    case T_LBRACE:
    case T_LBAR:
    case T_LFLOOR:
    case T_LCEIL:
    case T_FRAC:
    case T_SQRT:
    case T_BINOM:
    case T_PI:
    case T_INFINITY:
    case T_BIG:
    case T_BEGIN:
    case T_BLACKBOARD:
    case T_EMPTY:
    case T_ACCENT:
    case T_PLAIN_ACCENT:
    case T_SHAPE:
    case T_DOTS:
        return true;
    default:
        return false;
    }
}

static bool is_integer(const struct node *a)
{
    return a->kind == NODE_NUMBER && a->u.number.places < 0 &&
           !mpz_cmp_ui(mpq_denref(a->u.number.q), 1) && mpq_sgn(a->u.number.q) > 0;
}

int raised_degree(const struct parser *p)
{
    if (!at_kind(p, T_CARET))
        return 0;
    if (peek_at(p, 1)->kind == T_DEGREE)
        return 2;
    return peek_at(p, 1)->kind == T_LBRACE && peek_at(p, 2)->kind == T_DEGREE &&
                   peek_at(p, 3)->kind == T_RBRACE
               ? 4
               : 0;
}

/* 3 1/2: a whole number, a space and a proper fraction. */
static const struct node *spaced_fraction(struct parser *p)
{
    const struct node *a, *b;

    if (peek(p)->kind != T_NUMBER || !(peek(p)->flags & F_SPACE) ||
        p->tok[p->at - 1].kind != T_NUMBER || peek_at(p, 1)->kind != T_DIV ||
        peek_at(p, 2)->kind != T_NUMBER)
        return NULL;
    a = parse_number(p);
    p->at++;
    b = parse_number(p);
    a = a && b ? tree_two(p->m, NODE_QUOTIENT, a, b) : NULL;
    if (a && take(p, T_PERCENT))
        return quantity(p, a, unit_percent(p));
    if (!a || !raised_degree(p))
        return a;
    p->at += raised_degree(p);
    return quantity(p, a, unit_degree(p));
}

/* The item on the stack is a whole number and b a proper fraction: a mixed number, with
 * what stands behind it: 33\frac13\%. */
static bool mixed(struct parser *p, int base, bool number, const struct node *b)
{
    const struct node *a = p->stack[p->top - 1];
    const struct unit *u = b && b->kind == NODE_QUANTITY ? b->u.unit : NULL;

    b = u ? b->kid[0] : b;
    if (p->top - base != 1 || !number || !b || !is_integer(a) ||
        b->kind != NODE_QUOTIENT || !is_integer(b->kid[0]) || !is_integer(b->kid[1]) ||
        mpq_cmp(b->kid[0]->u.number.q, b->kid[1]->u.number.q) >= 0)
        return false;
    p->top--;
    a = tree_two(p->m, NODE_SUM, a, b);
    return push(p, u ? quantity(p, a, u) : a);
}

/* "1.8 billion": the power of ten; 0 if the word is another. */
static int magnitude(const struct parser *p)
{
    static const struct {
        const char *words;
        int power;
    } list[] = {{"hundred 百", 2},         {"thousand 千", 3}, {"万", 4},
                {"million millions", 6},   {"亿", 8},          {"billion billions", 9},
                {"trillion trillions", 12}};

    if (!at_kind(p, T_WORD))
        return 0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (token_in(p, peek(p), list[i].words))
            return list[i].power;
    return 0;
}

static bool scale(struct parser *p, int power)
{
    const struct node *a = tree_integer(p->m, 1);

    if (!a)
        return false;
    mpz_ui_pow_ui(mpq_numref((mpq_ptr)a->u.number.q), 10, (unsigned long)power);
    p->at++;
    return push(p, a);
}

static const struct node *degree(struct parser *p, const struct node *a)
{
    a = quantity(p, a, unit_degree(p));
    return a && a->u.unit->degrees && a->kid[0]->kind == NODE_NUMBER ? minutes(p, a)
                                                                     : a;
}

static const struct node *factorial(struct parser *p, const struct node *a)
{
    p->at++;
    if (at_kind(p, T_BANG) && !(peek(p)->flags & F_SPACE)) {
        p->at++;
        a = lower(p, a);
        return named(p, NODE_CALL, "!!", &a, 1);
    }
    return tree_one(p->m, NODE_FACTORIAL, lower(p, a));
}

static const struct node *parse_postfix(struct parser *p)
{
    const struct node *a = parse_atom(p);

    if (a && a->kind == NODE_NUMBER)
        p->at += ordinal(p);
    while (a) {
        int k = raised_degree(p);

        if (!k && at_kind(p, T_DEGREE) && a->kind == NODE_SYMBOL) {
            p->at++; /* f \circ g */
            a = named(p, NODE_OPAQUE, "circ", (const struct node *[]){a, parse_atom(p)},
                      2);
        } else if (k || at_kind(p, T_DEGREE)) {
            p->at += k ? k : 1;
            a = degree(p, a);
        } else if (take(p, T_CARET)) {
            a = tree_two(p->m, NODE_POWER, lower(p, a), parse_argument(p, ARG_POWER));
        } else if (at_kind(p, T_BANG)) {
            a = factorial(p, a);
        } else if (take(p, T_PERCENT)) {
            a = quantity(p, a, unit_percent(p));
        } else {
            break;
        }
    }
    return a;
}

/* "$36", "\euro 5". */
static const struct node *priced(struct parser *p)
{
    int id = peek(p)->id;
    const struct node *a;
    bool minus;

    p->at++;
    if (!enter(p))
        return NULL;
    minus = take(p, T_MINUS);
    a = at_kind(p, T_CURRENCY) ? NULL : parse_touching(p, false);
    leave(p);
    return quantity(p, minus ? negate(p, a) : a, unit_currency(p, id));
}

const struct node *parse_touching(struct parser *p, bool argument)
{
    int base = p->top;
    const struct unit *u;

    if (at_kind(p, T_CURRENCY))
        return priced(p);
    if (!push(p, parse_postfix(p)))
        return NULL;
    for (;;) {
        bool number = p->tok[p->at - 1].kind == T_NUMBER;
        const struct node *b;
        int power;

        if (!argument && (power = magnitude(p)) != 0) {
            if (!scale(p, power))
                return NULL;
            continue;
        }
        if (!argument)
            skip_rate(p);
        if (!argument && (u = parse_unit(p)))
            return compound(p, quantity(p, product_of(p, base), u));
        b = p->m->over ? NULL : spaced_fraction(p);
        if (!b) {
            if (p->m->over || !starts_factor(p))
                break;
            if (argument && (at_kind(p, T_FN) || at_kind(p, T_BIG)))
                break;
            b = parse_postfix(p);
        } else if (p->top - base > 1) {
            return NULL;
        }
        if (!mixed(p, base, number, b) && !push(p, b))
            return NULL;
    }
    return p->m->over ? NULL : product_of(p, base);
}
