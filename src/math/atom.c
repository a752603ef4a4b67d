/* atom.c - numbers, brackets, fractions, roots. */
#include <string.h>

#include "math/parse.h"

/* -- groups ------------------------------------------------------------------------ */
static bool closes_with(const struct token *t, char open)
{
    switch (open) {
    case '(':
        return t->kind == T_CLOSE && (t->id == ')' || t->id == ']');
    case '[':
    case ']':
        return (t->kind == T_CLOSE && (t->id == ')' || t->id == ']')) ||
               (t->kind == T_OPEN && t->id == '[');
    case '{':
        return t->kind == T_CLOSE && t->id == '}';
    case '<':
        return t->kind == T_CLOSE && t->id == '>';
    default:
        return t->kind == T_RBRACE;
    }
}

/* What stands in brackets, as a list if it is one or if only a list has them. */
static const struct node *bracketed(struct parser *p, const struct node *a, char open,
                                    char close)
{
    bool one = a && (a->kind != NODE_LIST || a->u.list.open);

    if (!a || (one && open != '{'))
        return a && (open == '{' || (open == '(' && close == ')') ||
                     (open == '[' && close == ']'))
                   ? a
                   : NULL;
    return list_of(p->m, one ? &a : a->kid, one ? 1 : a->n, open, close);
}

/* {x | x > 0}, {x : x > 0}: opaque, of the element and its condition. */
static const struct node *builder(struct parser *p, const struct node *a)
{
    const struct node *kid[2] = {a, NULL};

    p->at++;
    p->no_bar = false;
    kid[1] = parse_items(p);
    return named(p, NODE_OPAQUE, "set", kid, 2);
}

/* \left\{ \begin{array} ... \end{array} \right. : relations one below the other. */
static const struct node *open_array(struct parser *p)
{
    const struct node *a = parse_atom(p);

    if (!a || a->kind != NODE_MATRIX || at_kind(p, T_CLOSE))
        return NULL;
    return named(p, NODE_OPAQUE, "cases", a->kid, a->n);
}

static const struct node *inside(struct parser *p, char open)
{
    const struct node *a;

    if (open == '{' && closes_with(peek(p), open))
        return named(p, NODE_NAMED_SET, "empty", NULL, 0);
    a = parse_items(p);
    if (a && open == '{' &&
        (at_kind(p, T_BAR) || at_kind(p, T_MID) || at_kind(p, T_COLON)))
        return builder(p, a);
    return a;
}

/* Whether an environment begins here and nothing closes the bracket before it. */
static bool at_open_array(const struct parser *p)
{
    int deep = 0, k = 0;

    if (!at_kind(p, T_BEGIN) || !token_is(p, peek(p), "array"))
        return false;
    do {
        deep += (peek_at(p, k)->kind == T_BEGIN) - (peek_at(p, k)->kind == T_ENDENV);
        k++;
    } while (deep && peek_at(p, k)->kind != T_END);
    return peek_at(p, k)->kind != T_CLOSE;
}

const struct node *parse_bracket(struct parser *p)
{
    const struct token *t = peek(p);
    char open = t->kind == T_LBRACE ? 0 : (char)t->id;
    int bars = p->bars;
    bool no_bar = p->no_bar;
    const struct node *a;

    if (!enter(p))
        return NULL;
    p->at++;
    if (open == '{' && at_open_array(p)) {
        a = open_array(p);
        leave(p);
        return a;
    }
    p->bars = 0;
    p->no_bar = open == '{';
    a = inside(p, open);
    p->bars = bars;
    p->no_bar = no_bar;
    leave(p);
    if (a && !open && (at_kind(p, T_CHOOSE) || at_kind(p, T_OVER))) {
        enum node_kind kind = at_kind(p, T_CHOOSE) ? NODE_BINOMIAL : NODE_QUOTIENT;

        p->at++;
        a = tree_two(p->m, kind, lower(p, a), lower(p, parse_sum(p)));
    }
    t = peek(p);
    if (a && open == '(' && t->kind == T_END) /* (1, 2 without its end */
        return bracketed(p, a, '(', ')');
    if (!a || !closes_with(t, open))
        return NULL;
    p->at++;
    if ((a->kind == NODE_NAMED_SET &&
         (open != '{' || p->tok[p->at - 2].kind == T_OPEN ||
          strcmp(a->u.name, "empty"))) ||
        (a->kind == NODE_OPAQUE && open == '{'))
        return a;
    if (!open)
        return a->kind == NODE_LIST && !a->u.list.open &&
                       a->kid[0]->kind != NODE_RELATION
                   ? bracketed(p, a, '{', '}')
                   : a;
    return bracketed(p, a, open, (char)t->id);
}

/* Between two marks: |x|, \lfloor x \rfloor. */
static const struct node *between(struct parser *p, enum token_kind close)
{
    int bars = p->bars;
    bool no_bar = p->no_bar;
    const struct node *a;

    if (!enter(p))
        return NULL;
    p->at++;
    p->bars = close == T_BAR;
    p->no_bar = false;
    a = lower(p, parse_side(p));
    p->bars = bars;
    p->no_bar = no_bar;
    leave(p);
    if (close == T_BAR ? !take(p, T_BAR) && !take(p, T_RBAR) : !take(p, close))
        return NULL;
    return a;
}

static const struct node *absolute(struct parser *p)
{
    const struct node *a = between(p, at_kind(p, T_BAR) ? T_BAR : T_RBAR);

    if (a && a->kind == NODE_MATRIX)
        return tree_function(p->m, FN_DET, a);
    return a ? tree_one(p->m, NODE_ABS, a) : NULL;
}

/* -- arguments --------------------------------------------------------------------- */
/* The first digit of the number here: \frac12. */
static const struct node *digit(struct parser *p)
{
    struct token *t = &p->tok[p->at];
    const struct node *a;

    if (t->len == 1 || !is_digit(p->s[t->at]))
        return parse_number(p);
    a = tree_integer(p->m, p->s[t->at] - '0');
    t->at++;
    t->len--;
    t->flags &= (uint8_t)~F_SPACE;
    return a;
}

const struct node *parse_argument(struct parser *p, enum argument how)
{
    const struct node *a;
    bool minus = false;

    if (!enter(p))
        return NULL;
    while (how != ARG_FRAC && (at_kind(p, T_MINUS) || at_kind(p, T_PLUS))) {
        minus ^= at_kind(p, T_MINUS);
        p->at++;
    }
    if (at_kind(p, T_NUMBER))
        a = how == ARG_FRAC ? digit(p) : parse_number(p);
    else if (at_kind(p, T_SYMBOL))
        a = parse_symbol(p, false);
    else
        a = parse_atom(p);
    a = lower(p, a);
    if (a && how == ARG_POWER && at_kind(p, T_CARET) && !raised_degree(p)) {
        p->at++; /* 2^3^2 is 2^(3^2) */
        a = tree_two(p->m, NODE_POWER, a, parse_argument(p, ARG_POWER));
    }
    leave(p);
    return minus ? negate(p, a) : a;
}

static const struct node *fraction(struct parser *p, enum node_kind kind)
{
    const struct node *a;

    p->at++;
    a = parse_argument(p, ARG_FRAC);
    take(p, T_DIV); /* \frac1/2 */
    return a ? tree_two(p->m, kind, a, parse_argument(p, ARG_FRAC)) : NULL;
}

static const struct node *root(struct parser *p)
{
    const struct node *index = NULL, *a;
    int id = peek(p)->id;

    p->at++;
    if (!id && at_kind(p, T_OPEN) && peek(p)->id == '[') {
        p->at++;
        index = parse_sum(p);
        if (!index || !at_kind(p, T_CLOSE) || peek(p)->id != ']')
            return NULL;
        p->at++;
    }
    if (!index)
        index = tree_integer(p->m, id ? id : 2);
    a = parse_argument(p, ARG_SCRIPT);
    return a ? tree_two(p->m, NODE_ROOT, a, index) : NULL;
}

/* -- bases ------------------------------------------------------------------------- */
static int word_base(const struct parser *p, const struct token *t)
{
    static const char *const names[] = {"two", "three",  "four",  "five",
                                        "six", "seven",  "eight", "nine",
                                        "ten", "eleven", "twelve"};

    for (int i = 0; i < 11; i++)
        if (token_is(p, t, names[i]))
            return i + 2;
    return token_is(p, t, "sixteen") ? 16 : 0;
}

/* 204_5, 101_{\text{two}}, (101)_2: the digits are token t, the base is next. */
static const struct node *based(struct parser *p, const struct token *t)
{
    bool brace = peek_at(p, 1)->kind == T_LBRACE, alone;
    bool round = brace && peek_at(p, 2)->kind == T_OPEN &&
                 peek_at(p, 4)->kind == T_CLOSE; /* 101_{(2)} */
    const struct token *b = peek_at(p, 1 + brace + round);
    const struct node *a;
    int base = 0, first = (int)(t - p->tok), end;

    if (b->kind == T_NUMBER && b->len <= 2)
        for (int i = 0; i < b->len && is_digit(p->s[b->at + i]); i++)
            base = 10 * base + p->s[b->at + i] - '0';
    else if (b->kind == T_WORD)
        base = word_base(p, b);
    if (!base || (brace && peek_at(p, 3 + 2 * round)->kind != T_RBRACE))
        return NULL;
    p->at += 2 + 2 * brace + 2 * round;
    a = parse_based(p, t, base);
    /* Inside an expression only the value counts. */
    first -= first > p->start && p->tok[first - 1].kind == T_OPEN;
    first -= first > p->start && p->tok[first - 1].kind == T_MINUS;
    end = peek(p)->kind;
    alone = (first == p->start || p->tok[first - 1].kind == T_REL ||
             p->tok[first - 1].kind == T_COMMA) &&
            (end == T_END || end == T_COMMA || end == T_REL);
    return a && !alone ? a->kid[0] : a;
}

static const struct node *number(struct parser *p)
{
    const struct token *t = peek(p);

    if (t->kind == T_BASED || peek_at(p, 1)->kind == T_UNDER ||
        (token_is(p, peek_at(p, 1), "base") && peek_at(p, 2)->kind == T_NUMBER)) {
        p->at++;
        return based(p, t);
    }
    return parse_number(p);
}

static const struct node *in_brackets(struct parser *p)
{
    const struct token *t = peek_at(p, 1);

    if (t->kind == T_NUMBER && peek_at(p, 2)->kind == T_CLOSE &&
        peek_at(p, 3)->kind == T_UNDER && peek(p)->id == '(') {
        p->at += 3;
        return based(p, t);
    }
    return parse_bracket(p);
}

/* -- atoms ------------------------------------------------------------------------- */
const struct node *parse_atom(struct parser *p)
{
    const struct node *a;

    switch (peek(p)->kind) {
    case T_NUMBER:
    case T_BASED:
        return number(p);
    case T_SYMBOL:
        return parse_symbol(p, true);
    case T_PI:
        p->at++;
        return tree_node(p->m, NODE_PI, 0);
    case T_INFINITY:
        p->at++;
        return tree_node(p->m, NODE_INFINITY, 0);
    case T_EMPTY:
        p->at++;
        return named(p, NODE_NAMED_SET, "empty", NULL, 0);
    case T_DOTS:
        p->at++;
        return named(p, NODE_OPAQUE, "...", NULL, 0);
    case T_OPEN:
        return in_brackets(p);
    case T_LBRACE:
        return parse_bracket(p);
    case T_CLOSE: /* ]0,1[ */
        return peek(p)->id == ']' ? parse_bracket(p) : NULL;
    case T_BAR:
    case T_LBAR:
        return absolute(p);
    case T_LFLOOR:
        a = between(p, T_RFLOOR);
        return tree_function(p->m, FN_FLOOR, a);
    case T_LCEIL:
        a = between(p, T_RCEIL);
        return tree_function(p->m, FN_CEIL, a);
    case T_FRAC:
        return fraction(p, NODE_QUOTIENT);
    case T_BINOM:
        return fraction(p, NODE_BINOMIAL);
    case T_SQRT:
        return root(p);
    case T_FN:
        return parse_function(p);
    case T_BIG:
        return parse_big(p);
    case T_BEGIN:
        return parse_environment(p);
    default:
        return parse_named(p);
    }
}
